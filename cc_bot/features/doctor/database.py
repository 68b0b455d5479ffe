"""Checks the database, the files beside it, and the bot's processes."""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cc_bot.chat.checks import Finding, check_processes, failed, ok, warning
from cc_bot.config import Config
from cc_bot.db import Database, Statement, Transaction, list_pending
from cc_bot.db.backup import backups_in, copies_of
from cc_bot.db.engines import (
    folder_setting,
    open_database,
    operator_anchor_path,
    state_path,
    without_password,
)
from cc_bot.db.erasure_log import ErasureLog, logs_in, read_erasures
from cc_bot.db.files import can_use_folder, free_bytes, sidecar
from cc_bot.db.process import ProcessStore
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
from cc_bot.texts.cli import StorageTexts, storage_problem

MAX_BACKUP_AGE: Final = timedelta(days=7)
MIN_FREE_BYTES: Final = 64 * 2**20  # with less, writes soon fail
WANTED_BYTES: Final = 512 * 2**20  # beyond twice the database, for copies and VACUUM
_OTHER_USERS_BITS: Final = 0o077
_SELECT_FACTS: Final = "SELECT current_setting('server_version'), pg_database_size(current_database())"
_SELECT_FORBIDDEN: Final = """
    SELECT CAST(relname AS TEXT)
    FROM pg_class
    WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'p') AND NOT (
        has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
        AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
    ORDER BY relname
"""

GetFreeBytes = Callable[[Path], int]


async def check_database_file(
    config: Config, words: Texts, get_free_bytes: GetFreeBytes = free_bytes
) -> Sequence[Finding]:
    return await asyncio.to_thread(lambda: [*_check_file(config, words, get_free_bytes)])


def _check_file(config: Config, words: Texts, get_free_bytes: GetFreeBytes) -> Iterator[Finding]:
    texts, path = words[DoctorTexts], operator_anchor_path(config.database_url, config.data_folder)
    file = examine(path)
    sentences: Mapping[Condition, str] = {
        "fine": texts.database_ok,
        "missing": texts.database_new,
        "no_folder": texts.database_folder,
        "foreign": texts.database_foreign,
    }
    if file.problem:
        problem = storage_problem(file.problem(), path, words[StorageTexts], on_server=False)
        yield (warning if file.problem is DatabaseLocked else failed)("database", problem)
    else:
        names = {"path": path, "folder": path.parent, "size": format_size(file.size_bytes)}
        sentence = sentences[file.condition].format(**names)
        yield (failed if file.condition in ("no_folder", "foreign") else ok)("database", sentence)
    if file.version is not None:
        yield _check_version(file.version, words)
    if file.mismatch:
        yield failed("schema", texts.schema_changed.format(names=file.mismatch))
    if file.condition != "no_folder":
        yield _check_disk(path, file.size_bytes, words, get_free_bytes)
    if os.name == "posix":
        yield _check_modes(_private_files(config, path), words)


def _check_modes(paths: Iterable[Path], words: Texts) -> Finding:
    texts, open_files = words[DoctorTexts], [str(each) for each in paths if _mode(each) & _OTHER_USERS_BITS]
    if open_files:
        return warning("files", texts.files_open.format(names=" ".join(open_files)))
    return ok("files", texts.files_ok)


def _check_version(version: int, words: Texts) -> Finding:
    texts, newest = words[DoctorTexts], known_migrations()[-1].version
    if version > newest:
        return failed("migrations", texts.migrations_newer.format(version=version, newest=newest))
    if version < newest:
        return warning("migrations", texts.migrations_pending.format(version=version, newest=newest))
    return ok("migrations", texts.migrations_ok.format(version=version))


def _check_disk(path: Path, size_bytes: int, words: Texts, get_free_bytes: GetFreeBytes) -> Finding:
    texts, wanted = words[DoctorTexts], WANTED_BYTES + 2 * size_bytes
    try:
        free = get_free_bytes(next(filter(Path.is_dir, path.absolute().parents)))
    except OSError:
        return failed("disk", texts.disk_unknown)
    if free >= wanted:
        return ok("disk", texts.disk_ok.format(free=format_size(free)))
    sentence = texts.disk_low.format(free=format_size(free), wanted=format_size(wanted))
    return (failed if free < MIN_FREE_BYTES else warning)("disk", sentence)


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


async def check_backups(config: Config, words: Texts, now: datetime) -> Finding:
    texts, folder = words[DoctorTexts], config.backup_folder
    try:
        newest = (await asyncio.to_thread(backups_in, folder))[0].path
        age = now - datetime.fromtimestamp(newest.stat().st_mtime, now.tzinfo)
    except (FileNotFoundError, IndexError):
        return warning("backups", texts.backups_none.format(folder=folder))
    except OSError:
        return warning("backups", texts.backups_unreadable.format(folder=folder))
    facts = {"name": newest.name, "days": max(age.days, 0)}
    if age > MAX_BACKUP_AGE:
        return warning("backups", texts.backups_old.format(**facts))
    return ok("backups", texts.backups_ok.format(**facts))


async def check_erasures(config: Config, words: Texts) -> Finding:
    texts, database = words[DoctorTexts], state_path(config.database_url, config.data_folder)
    log = ErasureLog.beside(database).path
    exists = await asyncio.to_thread(log.exists)
    paths = [*logs_in(log.parent), *logs_in(config.backup_folder), *([log] if exists else [])]
    unreadable = (await asyncio.to_thread(read_erasures, *paths)).unreadable
    if unusable := [str(path) for path in paths if path in unreadable or not os.access(path, os.W_OK)]:
        return failed("erasures", texts.erasures_unusable.format(names=" ".join(unusable)))
    return ok("erasures", texts.erasures_ok if exists else texts.erasures_none)


async def check_database_server(config: Config, words: Texts) -> Sequence[Finding]:
    url, fix, findings = config.database_url, words[DoctorTexts].server_unreachable_fix, list[Finding]()
    local_files = state_path(url, config.data_folder)
    if not can_use_folder(local_files):  # the bot would not start
        missing = DatabaseFolderMissing(path=str(local_files.parent), setting=folder_setting(url))
        findings.append(failed("database", explain(missing, words), fix))
    try:
        async with open_database(url) as database:
            return [*await _check_open(database, words), *findings]
    except StorageError as error:
        problem = storage_problem(error, without_password(url), words[StorageTexts], on_server=True)
    except CcBotError as error:
        problem = explain(error, words)
    return [failed("database", problem, fix), *findings]


async def _check_open(database: Database, words: Texts) -> Sequence[Finding]:
    texts = words[DoctorTexts]
    [(version, size)] = await database.query(_SELECT_FACTS)
    answers = texts.server_answers.format(where=database.location, version=version, size=format_size(size))
    findings = [ok("database", answers)]
    try:
        with suppress(_RolledBack):
            await database.write(_make_table, ())
        if await database.query(_SELECT_FORBIDDEN):
            raise DatabaseForbidden
    except StorageError as error:
        problem = storage_problem(error, database.location, words[StorageTexts], on_server=True)
        return [*findings, failed("database", problem, texts.server_unreachable_fix)]
    if migrations := await list_pending(database):
        return [*findings, warning("database", texts.server_pending.format(count=len(migrations)))]
    store = ProcessStore(database)
    return [*findings, *check_processes(await store.list_all(), await store.list_duties(), words)]


class _RolledBack(Exception):
    pass


def _make_table() -> Transaction[None]:
    """Create a table and roll back. It fails on a standby or without permission, as a start would."""
    yield Statement("CREATE TABLE cc_bot_doctor (n BIGINT)")
    raise _RolledBack
