"""The check of a database on a server: whether it answers, takes changes, and has connections to spare."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from cc_bot.doctor.checkup import Finding, FindingWriter
from cc_bot.domain.errors import CcBotError, StorageError
from cc_bot.domain.process import Duty, LivingProcess, find_differing, find_free_shards, write_shards
from cc_bot.domain.text import format_size
from cc_bot.storage import Database, list_pending
from cc_bot.storage.engines import open_database, shown
from cc_bot.stores import ProcessStore
from cc_bot.texts import Texts, explain
from cc_bot.texts.cli import server_problem

_CROWDED: Final = 0.9
"""Of the connections that the server takes."""
_SHORT_MS: Final = 10_000
"""For a statement. As long as others wait for a server that is away."""
_SELECT_FACTS: Final = """
    SELECT
        current_setting('server_version'),
        pg_database_size(current_database()),
        (SELECT CAST(coalesce(sum(numbackends), 0) AS BIGINT) FROM pg_stat_database),
        CAST(current_setting('max_connections') AS BIGINT),
        CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END,
        current_setting('default_transaction_read_only'),
        CAST(current_user AS TEXT),
        (SELECT CAST(setting AS BIGINT) FROM pg_settings WHERE name = 'statement_timeout')
"""
_SELECT_RIGHTS: Final = """
    SELECT
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
_TABLES_NAMED: Final = 3


class _Facts(NamedTuple):
    """The columns of _SELECT_FACTS."""

    version: str
    size: int
    used: int
    most: int
    standby: int
    read_only: str
    role: str
    statement_timeout_ms: int

    @property
    def takes_changes(self) -> bool:
        return not self.standby and self.read_only == "off"


async def check_server(url: str, words: Texts) -> Sequence[Finding]:
    """Check the server, the schema, the rights of the role and the processes that share it."""
    notes, said = FindingWriter("database"), words.doctor_server
    try:
        async with open_database(url) as database:
            return [*await _look(database, words)]
    except StorageError as error:
        told = server_problem(error, shown(url), words.storage)
        return [notes.failed(told, said.unreachable_mend)]
    except CcBotError as error:
        return [notes.failed(explain(error, words), said.unreachable_mend)]


async def _look(database: Database, words: Texts) -> Sequence[Finding]:
    notes, said = FindingWriter("database"), words.doctor_server
    [row] = await database.query(_SELECT_FACTS)
    facts = _Facts(*row)
    size = format_size(facts.size)
    found = [notes.ok(said.answers.format(where=database.location, version=facts.version, size=size))]
    found += _settings(facts, words)
    [(schema, may_make)] = await database.query(_SELECT_RIGHTS)
    forbidden = [name for (name,) in await database.query(_SELECT_FORBIDDEN)]
    found += _rights(facts.role, schema, forbidden, words, may_make=bool(may_make))
    pending = await list_pending(database) if facts.takes_changes else ()
    if pending:
        found.append(notes.warning(said.pending.format(count=len(pending)), said.pending_mend))
    if pending or not facts.takes_changes:
        return found
    processes = ProcessStore(database)
    return [*found, *_processes(await processes.list_all(), await processes.list_duties(), words)]


def _settings(facts: _Facts, words: Texts) -> Iterator[Finding]:
    notes, said = FindingWriter("database"), words.doctor_server
    if facts.standby:
        yield notes.failed(said.standby, said.standby_mend)
    elif facts.read_only != "off":
        yield notes.failed(said.read_only, said.read_only_mend.format(role=facts.role))
    if facts.used > facts.most * _CROWDED:
        yield notes.warning(said.crowded.format(used=facts.used, most=facts.most), said.crowded_mend)
    if 0 < facts.statement_timeout_ms < _SHORT_MS:
        told = said.impatient.format(role=facts.role, ms=facts.statement_timeout_ms)
        yield notes.warning(told, said.impatient_mend.format(role=facts.role))


def _rights(
    role: str, schema: str, forbidden: Sequence[str], words: Texts, *, may_make: bool
) -> Iterator[Finding]:
    """Tell what the role may not do that each start does. `forbidden`: the tables that it may not use."""
    notes, said = FindingWriter("database"), words.doctor_server
    names = {"role": role, "schema": schema}
    if not may_make:
        yield notes.failed(said.may_not_make.format(**names), said.may_not_make_mend.format(**names))
    if forbidden:
        tables = ", ".join(forbidden[:_TABLES_NAMED]) + (", …" if len(forbidden) > _TABLES_NAMED else "")
        told = said.may_not_write.format(role=role, count=len(forbidden), tables=tables)
        yield notes.failed(told, said.may_not_write_mend.format(**names))


def _processes(living: Sequence[LivingProcess], duties: Sequence[Duty], words: Texts) -> Iterator[Finding]:
    """Tell of the processes that are one bot, where there are any."""
    notes, said = FindingWriter("database"), words.doctor_server
    for each in living:
        own = ", ".join(duty.name for duty in duties if duty.process == each.process.name)
        process = each.process
        shards = said.all_shards if process.shards is None else process.told_shards or "-"
        about = {"host": process.host, "shards": shards}
        if each.lapsed:
            yield notes.warning(said.process_lapsed.format(**about), said.process_lapsed_mend)
        elif each.is_unconnected:
            yield notes.warning(said.process_unconnected.format(**about), said.process_unconnected_mend)
        else:
            yield notes.ok(said.process.format(**about, duties=own or said.no_duties))
    if free := find_free_shards(living):
        yield notes.warning(said.free_shards.format(shards=write_shards(free)), said.free_shards_mend)
    if differing := find_differing(living):
        yield notes.warning(said.differing.format(what=", ".join(differing)), said.differing_mend)
