"""Checks the database file and its sidecars: disk, modes, backups, erasure log."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cc_bot.app.doctor.report import Finding, Verdict, failed, finding, ok, warning
from cc_bot.app.files import path_of
from cc_bot.config import Config
from cc_bot.domain.text import format_size
from cc_bot.storage.backup import backups_in, copies_of
from cc_bot.storage.engines import config_path, state_path
from cc_bot.storage.erasures import ErasureLog, find_unreadable_logs, logs_in
from cc_bot.storage.examination import Condition, Examination, examine
from cc_bot.storage.files import free_bytes, sidecar
from cc_bot.texts import Texts

MAX_BACKUP_AGE: Final = timedelta(days=7)
MIN_FREE_BYTES: Final = 64 * 2**20
"""With less, writes soon fail."""
WANTED_BYTES: Final = 512 * 2**20
"""In addition to twice the database: it is copied before upgrades and vacuumed after erasures."""
OTHERS: Final = 0o077

Free = Callable[[Path], int]


async def check_database_file(config: Config, texts: Texts, free: Free = free_bytes) -> Sequence[Finding]:
    """`free` returns the free bytes of a folder's disk."""
    return await asyncio.to_thread(lambda: [*_check_file(config, texts, free)])


def _check_file(config: Config, texts: Texts, free: Free) -> Iterator[Finding]:
    said, path = texts.doctor, config_path(config.database_url, config.data_folder)
    examined = examine(path)
    size = format_size(examined.size_bytes)
    sentences: Mapping[Condition, tuple[Verdict, str]] = {
        "fine": ("ok", said.database_ok),
        "missing": ("ok", said.database_new),
        "locked": ("warning", said.database_locked),
        "no_folder": ("failed", said.database_folder),
        "foreign": ("failed", said.database_foreign),
        "damaged": ("failed", said.database_damaged),
        "read_only": ("failed", said.database_read_only),
    }
    verdict, sentence = sentences[examined.condition]
    yield finding("database", verdict, sentence.format(path=path, folder=path.parent, size=size))
    if examined.version is not None:
        yield _check_version(examined.version, examined, texts)
    if examined.mismatch:
        yield failed("schema", said.schema_changed.format(names=examined.mismatch))
    if examined.condition != "no_folder":
        yield _check_disk(path, examined.size_bytes, texts, free)
    if os.name == "posix":
        open_files = " ".join(str(each) for each in _private_files(config, path) if _mode(each) & OTHERS)
        yield (
            warning("files", said.files_open.format(names=open_files))
            if open_files
            else ok("files", said.files_ok)
        )


def _check_version(version: int, examined: Examination, texts: Texts) -> Finding:
    said, versions = texts.doctor, {"version": version, "newest": examined.newest}
    if version > examined.newest:
        return failed("migrations", said.migrations_newer.format(**versions))
    if version < examined.newest:
        return warning("migrations", said.migrations_pending.format(**versions))
    return ok("migrations", said.migrations_ok.format(**versions))


def _check_disk(path: Path, size_bytes: int, texts: Texts, free: Free) -> Finding:
    said, wanted = texts.doctor, WANTED_BYTES + 2 * size_bytes
    try:
        left = free(next(filter(Path.is_dir, path.absolute().parents)))
    except OSError:
        return failed("disk", said.disk_unknown)
    if left >= wanted:
        return ok("disk", said.disk_ok.format(free=format_size(left)))
    judge = failed if left < MIN_FREE_BYTES else warning
    return judge("disk", said.disk_low.format(free=format_size(left), wanted=format_size(wanted)))


def _private_files(config: Config, path: Path) -> Iterator[Path]:
    yield from (sidecar(path, suffix) for suffix in ("", "-wal", "-shm"))
    yield from (
        Path(".env"),
        Path(".env.txt"),
        path_of(config, "models.toml"),
        path.with_name("chat_history"),
    )
    database = state_path(config.database_url, config.data_folder)
    yield from (ErasureLog.beside(database).path, *copies_of(database))


def _mode(path: Path) -> int:
    """Return 0 if the file does not exist or can't be examined."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        return 0


async def check_backups(config: Config, texts: Texts, now: datetime) -> Sequence[Finding]:
    said, folder = texts.doctor, config.backup_folder
    try:
        newest = next((each.path for each in await asyncio.to_thread(backups_in, folder)), None)
        made_s = newest.stat().st_mtime if newest else 0
    except FileNotFoundError:
        newest = None
    except OSError:
        return [warning("backups", said.backups_unreadable.format(folder=folder))]
    if newest is None:
        return [warning("backups", said.backups_none.format(folder=folder))]
    age = now - datetime.fromtimestamp(made_s, now.tzinfo)
    facts = {"name": newest.name, "days": max(age.days, 0)}
    if age > MAX_BACKUP_AGE:
        return [warning("backups", said.backups_old.format(**facts))]
    return [ok("backups", said.backups_ok.format(**facts))]


async def check_erasures(config: Config, texts: Texts) -> Sequence[Finding]:
    """Check the erasure log and its copies: without them nothing can be erased or restored."""
    said, log = texts.doctor, ErasureLog.beside(state_path(config.database_url, config.data_folder)).path
    if found := await asyncio.to_thread(_find_unusable_logs, log, config.backup_folder):
        return [failed("erasures", said.erasures_unusable.format(names=" ".join(map(str, found))))]
    return [ok("erasures", said.erasures_ok if await asyncio.to_thread(log.exists) else said.erasures_none)]


def _find_unusable_logs(log: Path, backups: Path) -> list[Path]:
    paths = [*logs_in(log.parent), *logs_in(backups), *([log] if log.exists() else [])]
    unreadable = find_unreadable_logs(paths)
    return [path for path in paths if path in unreadable or not os.access(path, os.W_OK)]
