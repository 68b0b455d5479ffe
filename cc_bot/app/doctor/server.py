"""Checks a database server, its rights, the folder for its files, and the bot's processes."""

from collections.abc import Sequence
from typing import Final

from cc_bot.app.doctor.report import Finding, failed, ok, warning
from cc_bot.config import Config
from cc_bot.domain.errors import CcBotError, StartupError, StorageError
from cc_bot.domain.process import find_differing, find_free_shards, write_shards
from cc_bot.domain.text import format_size
from cc_bot.storage import Database, list_pending
from cc_bot.storage.engines import folder_setting, open_database, shown, state_path
from cc_bot.storage.files import ensure_folder
from cc_bot.stores import ProcessStore
from cc_bot.texts import Texts, explain
from cc_bot.texts.cli import storage_problem

MAX_TABLES: Final = 3
_SELECT_FACTS: Final = """
    SELECT
        current_setting('server_version'),
        pg_database_size(current_database()),
        CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END,
        current_setting('default_transaction_read_only'),
        CAST(current_user AS TEXT),
        CAST(coalesce(current_schema(), '') AS TEXT),
        CASE WHEN has_schema_privilege(current_schema(), 'CREATE') THEN 1 ELSE 0 END
"""
_SELECT_FORBIDDEN: Final = """
    SELECT CAST(relname AS TEXT)
    FROM pg_class
    WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'p') AND NOT (
        has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
        AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
    ORDER BY relname
"""


async def check_database_server(config: Config, texts: Texts) -> Sequence[Finding]:
    url, found = config.database_url, list[Finding]()
    try:
        ensure_folder(state_path(url, config.data_folder), folder_setting(url), only_look=True)
    except StartupError as error:  # the bot does not start without it
        found.append(failed("database", explain(error, texts), texts.doctor.server_unreachable_fix))
    try:
        async with open_database(url) as database:
            return [*await _check_open(database, texts), *found]
    except StorageError as error:
        problem = storage_problem(error, shown(url), texts.storage, on_server=True)
    except CcBotError as error:
        problem = explain(error, texts)
    return [failed("database", problem, texts.doctor.server_unreachable_fix), *found]


async def _check_open(database: Database, texts: Texts) -> Sequence[Finding]:
    said = texts.doctor
    [(version, size, standby, read_only, role, schema, may_create)] = await database.query(_SELECT_FACTS)
    answers = said.server_answers.format(where=database.location, version=version, size=format_size(size))
    found = [ok("database", answers)]
    if standby:
        found.append(failed("database", said.server_standby))
    elif read_only != "off":
        found.append(failed("database", said.server_read_only.format(role=role)))
    if not may_create:
        found.append(failed("database", said.server_may_not_make.format(role=role, schema=schema)))
    if forbidden := [name for (name,) in await database.query(_SELECT_FORBIDDEN)]:
        tables = ", ".join(forbidden[:MAX_TABLES]) + (", …" if len(forbidden) > MAX_TABLES else "")
        names = {"role": role, "schema": schema, "count": len(forbidden), "tables": tables}
        found.append(failed("database", said.server_may_not_write.format(**names)))
    if standby or read_only != "off":
        return found
    if pending := await list_pending(database):
        return [*found, warning("database", said.server_pending.format(count=len(pending)))]
    return [*found, *await _check_processes(ProcessStore(database), texts)]


async def _check_processes(store: ProcessStore, texts: Texts) -> Sequence[Finding]:
    said, found = texts.doctor_server, list[Finding]()
    processes, duties = await store.list_all(), await store.list_duties()
    for each in processes:
        process = each.process
        own = ", ".join(duty.name for duty in duties if duty.process == process.name) or said.no_duties
        shards = said.all_shards if process.shards is None else process.told_shards or "-"
        facts = {"host": process.host, "shards": shards, "duties": own}
        if each.lapsed:
            found.append(warning("database", said.process_lapsed.format(**facts), said.process_lapsed_fix))
        elif each.is_unconnected:
            sentence = said.process_unconnected.format(**facts)
            found.append(warning("database", sentence, said.process_unconnected_fix))
        else:
            found.append(ok("database", said.process.format(**facts)))
    if free := find_free_shards(processes):
        sentence = said.free_shards.format(shards=write_shards(free))
        found.append(warning("database", sentence, said.free_shards_fix))
    if differing := find_differing(processes):
        sentence = said.differing.format(what=", ".join(differing))
        found.append(warning("database", sentence, said.differing_fix))
    return found
