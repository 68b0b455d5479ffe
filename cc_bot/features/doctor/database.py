"""Checks the database, the files beside it, and the bot's processes."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cc_bot.chat.checks import Finding, failed, ok, warning
from cc_bot.config import Config
from cc_bot.db import Database, Statement, Transaction, list_pending
from cc_bot.db.backup import backups_in, copies_of
from cc_bot.db.engines import config_path, folder_setting, open_database, state_path, without_password
from cc_bot.db.erasure_log import ErasureLog, logs_in, read_erasures
from cc_bot.db.files import free_bytes, has_folder, sidecar
from cc_bot.db.process import ProcessStore, find_differing, find_free_shards, write_shards
from cc_bot.db.schema import Condition, examine, known_migrations
from cc_bot.domain.errors import (
    CcBotError,
    DatabaseFolderMissing,
    DatabaseForbidden,
    DatabaseLocked,
    StorageError,
)
from cc_bot.domain.text import format_size
from cc_bot.features.doctor.texts import DoctorTexts
from cc_bot.operator_file import operator_path
from cc_bot.texts import Texts, explain
from cc_bot.texts.cli import ProcessTexts, StorageTexts, storage_problem

MAX_BACKUP_AGE: Final = timedelta(days=7)
MIN_FREE_BYTES: Final = 64 * 2**20  # with less, writes soon fail
WANTED_BYTES: Final = 512 * 2**20  # beyond twice the database, for copies and VACUUM
_OTHERS: Final = 0o077
_SELECT_FACTS: Final = "SELECT current_setting('server_version'), pg_database_size(current_database())"
_SELECT_FORBIDDEN: Final = """
    SELECT CAST(relname AS TEXT)
    FROM pg_class
    WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'p') AND NOT (
        has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
        AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
    ORDER BY relname
"""


Free = Callable[[Path], int]


async def check_database_file(config: Config, texts: Texts, free: Free = free_bytes) -> Sequence[Finding]:
    """Check the file, the schema, the disk and the file modes."""
    return await asyncio.to_thread(lambda: [*_check_file(config, texts, free)])


def _check_file(config: Config, texts: Texts, free: Free) -> Iterator[Finding]:
    text, path = texts[DoctorTexts], config_path(config.database_url, config.data_folder)
    found = examine(path)
    by_condition: Mapping[Condition, str] = {
        "fine": text.database_ok,
        "missing": text.database_new,
        "no_folder": text.database_folder,
        "foreign": text.database_foreign,
    }
    judge: Callable[[str, str], Finding]
    if found.problem:
        judge = warning if found.problem is DatabaseLocked else failed
        yield judge("database", storage_problem(found.problem(), path, texts[StorageTexts], on_server=False))
    else:
        judge = failed if found.condition in ("no_folder", "foreign") else ok
        names = {"path": path, "folder": path.parent, "size": format_size(found.size_bytes)}
        yield judge("database", by_condition[found.condition].format(**names))
    if found.version is not None:
        yield _check_version(found.version, texts)
    if found.mismatch:
        yield failed("schema", text.schema_changed.format(names=found.mismatch))
    if found.condition != "no_folder":
        yield _check_disk(path, found.size_bytes, texts, free)
    if os.name == "posix":
        shared = " ".join(str(each) for each in _private_files(config, path) if _mode(each) & _OTHERS)
        yield (
            warning("files", text.files_open.format(names=shared)) if shared else ok("files", text.files_ok)
        )


def _check_version(version: int, texts: Texts) -> Finding:
    text, newest = texts[DoctorTexts], known_migrations()[-1].version
    if version > newest:
        return failed("migrations", text.migrations_newer.format(version=version, newest=newest))
    if version < newest:
        return warning("migrations", text.migrations_pending.format(version=version, newest=newest))
    return ok("migrations", text.migrations_ok.format(version=version))


def _check_disk(path: Path, size_bytes: int, texts: Texts, free: Free) -> Finding:
    text, wanted = texts[DoctorTexts], WANTED_BYTES + 2 * size_bytes
    try:
        left = free(next(filter(Path.is_dir, path.absolute().parents)))
    except OSError:
        return failed("disk", text.disk_unknown)
    if left >= wanted:
        return ok("disk", text.disk_ok.format(free=format_size(left)))
    judge = failed if left < MIN_FREE_BYTES else warning
    return judge("disk", text.disk_low.format(free=format_size(left), wanted=format_size(wanted)))


def _private_files(config: Config, path: Path) -> Iterator[Path]:
    yield from (sidecar(path, suffix) for suffix in ("", "-wal", "-shm"))
    yield from (
        Path(".env"),
        Path(".env.txt"),
        operator_path(config, "models.toml"),
        path.with_name("chat_history"),
    )
    database = state_path(config.database_url, config.data_folder)
    yield from (ErasureLog.beside(database).path, *copies_of(database))


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        return 0


async def check_backups(config: Config, texts: Texts, now: datetime) -> Finding:
    text, folder = texts[DoctorTexts], config.backup_folder
    try:
        newest = (await asyncio.to_thread(backups_in, folder))[0].path
        age = now - datetime.fromtimestamp(newest.stat().st_mtime, now.tzinfo)
    except (FileNotFoundError, IndexError):
        return warning("backups", text.backups_none.format(folder=folder))
    except OSError:
        return warning("backups", text.backups_unreadable.format(folder=folder))
    facts = {"name": newest.name, "days": max(age.days, 0)}
    if age > MAX_BACKUP_AGE:
        return warning("backups", text.backups_old.format(**facts))
    return ok("backups", text.backups_ok.format(**facts))


async def check_erasures(config: Config, texts: Texts) -> Finding:
    """Check the erasure log and its copies."""
    text, log = (
        texts[DoctorTexts],
        ErasureLog.beside(state_path(config.database_url, config.data_folder)).path,
    )
    exists = await asyncio.to_thread(log.exists)
    paths = [*logs_in(log.parent), *logs_in(config.backup_folder), *([log] if exists else [])]
    unreadable = (await asyncio.to_thread(read_erasures, *paths)).unreadable
    if found := [str(path) for path in paths if path in unreadable or not os.access(path, os.W_OK)]:
        return failed("erasures", text.erasures_unusable.format(names=" ".join(found)))
    return ok("erasures", text.erasures_ok if exists else text.erasures_none)


async def check_database_server(config: Config, texts: Texts) -> Sequence[Finding]:
    url, found = config.database_url, list[Finding]()
    beside = state_path(url, config.data_folder)
    if not has_folder(beside):  # the bot does not start without it
        missing = DatabaseFolderMissing(path=str(beside.parent), setting=folder_setting(url))
        found.append(failed("database", explain(missing, texts), texts[DoctorTexts].server_unreachable_fix))
    try:
        async with open_database(url) as database:
            return [*await _check_open(database, texts), *found]
    except StorageError as error:
        problem = storage_problem(error, without_password(url), texts[StorageTexts], on_server=True)
    except CcBotError as error:
        problem = explain(error, texts)
    return [failed("database", problem, texts[DoctorTexts].server_unreachable_fix), *found]


async def _check_open(database: Database, texts: Texts) -> Sequence[Finding]:
    text = texts[DoctorTexts]
    [(version, size)] = await database.query(_SELECT_FACTS)
    answers = text.server_answers.format(where=database.location, version=version, size=format_size(size))
    found = [ok("database", answers)]
    try:
        with suppress(_RolledBack):
            await database.write(_make_table, ())
        if await database.query(_SELECT_FORBIDDEN):
            raise DatabaseForbidden
    except StorageError as error:
        problem = storage_problem(error, database.location, texts[StorageTexts], on_server=True)
        return [*found, failed("database", problem, text.server_unreachable_fix)]
    if pending := await list_pending(database):
        return [*found, warning("database", text.server_pending.format(count=len(pending)))]
    return [*found, *await _check_processes(ProcessStore(database), texts)]


class _RolledBack(Exception):
    pass


def _make_table() -> Transaction[None]:
    """Create a table and roll back. Fails as a start would on a standby or without the permission."""
    yield Statement("CREATE TABLE cc_bot_doctor (n BIGINT)")
    raise _RolledBack


async def _check_processes(store: ProcessStore, texts: Texts) -> Sequence[Finding]:
    text, found = texts[ProcessTexts], list[Finding]()
    processes, duties = await store.list_all(), await store.list_duties()
    for each in processes:
        process = each.process
        own = ", ".join(duty.name for duty in duties if duty.process == process.name) or text.no_duties
        shards = text.all_shards if process.shards is None else process.shards_text or "-"
        facts = {"host": process.host, "shards": shards, "duties": own}
        if each.lapsed:
            found.append(warning("database", text.process_lapsed.format(**facts), text.process_lapsed_fix))
        elif each.is_unconnected:
            sentence = text.process_unconnected.format(**facts)
            found.append(warning("database", sentence, text.process_unconnected_fix))
        else:
            found.append(ok("database", text.process.format(**facts)))
    if free := find_free_shards(processes):
        sentence = text.free_shards.format(shards=write_shards(free))
        found.append(warning("database", sentence, text.free_shards_fix))
    if differing := find_differing(processes):
        sentence = text.differing.format(what=", ".join(differing))
        found.append(warning("database", sentence, text.differing_fix))
    return found
