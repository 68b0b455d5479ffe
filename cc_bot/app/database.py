"""The commands that replace, fill or erase a database: restore, copy, erasures and wipe."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from cc_bot.concurrency import Report, report_nothing
from cc_bot.config import Config
from cc_bot.db import Database, open_database
from cc_bot.db.backup import Announce, manifests_in
from cc_bot.db.copy import CopyPlan, copy_to_file, copy_to_server, ensure_empty, plan_copy
from cc_bot.db.engines import (
    dialect_of,
    ensure_unused,
    folder_setting,
    operator_anchor_path,
    require_file,
    source_url,
    state_path,
    without_password,
)
from cc_bot.db.erasure_log import ErasureLog, Erasures, copied_log_path, logs_in, merge_log, read_erasures
from cc_bot.db.files import EXAMPLE_URLS, database_file, instance_lock, sidecar, sqlite_path
from cc_bot.db.restore import (
    StagedBackup,
    compact_copy,
    ensure_own_file,
    list_data_files,
    remove_wal,
    replace_database,
    stage_backup,
    temporary_folder,
    wipe,
)
from cc_bot.db.schema import apply_pending, list_pending
from cc_bot.domain.errors import (
    CopySourceMissing,
    CopyStopped,
    DatabaseMissing,
    ErasuresBroken,
    ErasuresCut,
    ErasuresMissing,
    ErasuresNotFound,
    ErasuresUnreadable,
    InvalidSetting,
    NotConfirmed,
    PostgresRefused,
    RestoreFailed,
    SameDatabase,
    StartupError,
    StorageError,
)
from cc_bot.features.privacy.restored import ReappliedErasures, reapply_erasures
from cc_bot.features.privacy.texts import ErasureTexts
from cc_bot.operator_file import FILES_WITH_PATH_SETTING
from cc_bot.texts import texts


async def _reapply_erasures(
    database: Database, erasures: Erasures, since: datetime | None, config: Config
) -> ReappliedErasures:
    mark = texts(config.locale)[ErasureTexts].mark
    return await reapply_erasures(database, erasures, since, clock=config.clock, mark=mark)


async def run_apply_erasures(
    config: Config, announce: Announce, files: tuple[Path, ...] = (), since: datetime | None = None
) -> ReappliedErasures:
    """Repeat logged erasures after a restore by other programs. Idempotent. `files`: erasure logs, by default
    those beside the database. `since`: when the restored data was current, by default its newest time. Raises
    StartupError before anything is erased, or StorageError."""
    url, now = config.database_url, config.clock()
    path = state_path(url, config.data_folder)
    if dialect_of(url) == "sqlite" and not path.is_file():
        raise DatabaseMissing(path=str(path))
    if since and not since.tzinfo:
        since = since.replace(tzinfo=config.timezone)
    if since and since > now:
        raise InvalidSetting(name="--since", expected=f"{now.astimezone(config.timezone):%Y-%m-%dT%H:%M}")
    own_log = ErasureLog.beside(path).path
    logs = files or (own_log, *logs_in(path.parent))
    erasures = await asyncio.to_thread(_read_logs, logs)
    with instance_lock(path, folder_setting(url)):
        remove_wal(path)
        async with open_database(url, synchronous=config.synchronous) as database:
            await ensure_unused(database)
            if await list_pending(database):
                announce("upgrading")
            await apply_pending(database, clock=config.clock)
            announce("erasing")
            reapplied = await _reapply_erasures(database, erasures, since, config)
        _merge_logs(logs, own_log, RestoreFailed)
    return reapplied


def _read_logs(paths: Iterable[Path]) -> Erasures:
    """Raises ErasuresNotFound, or ErasuresBroken with the line."""
    for path in paths:
        if not path.exists():
            raise ErasuresNotFound(path=str(path))
    erasures = read_erasures(*paths)
    for path, line in erasures.unreadable.items():
        raise ErasuresBroken(path=str(path), line=line)
    return erasures


def _merge_logs(logs: Iterable[Path], own_log: Path, failure: type[StartupError]) -> None:
    """Add the logs' lines to the database's own log, for later restores. Raises `failure`."""
    try:
        for log in logs:
            if log != own_log:
                merge_log(log, own_log)
    except (OSError, ValueError) as error:
        raise failure(path=str(own_log)) from error


@dataclass(frozen=True, slots=True)
class Restoration:
    old_database: Path | None  # under its new name
    reapplied: ReappliedErasures
    erasures_known: bool


async def run_restore(
    config: Config,
    backup: Path,
    confirm: Callable[[StagedBackup], bool],
    announce: Announce,
    *,
    without_erasures: bool = False,
) -> Restoration:
    """Replace the database by a backup if the operator confirms. A StartupError leaves it unchanged."""
    database, clock = require_file(config.database_url, "restore"), config.clock
    ensure_own_file(database)
    with instance_lock(database):
        remove_wal(database)  # may fail, so it precedes the copying, which takes minutes
        async with stage_backup(backup, database, clock, announce) as copy:
            own_log = ErasureLog.beside(database).path
            logs = [path for path in (own_log, *logs_in(backup.parent)) if path.exists()]
            erasures = await asyncio.to_thread(read_erasures, *logs)
            logs = [path for path in logs if path not in erasures.unreadable]
            problem = _find_problem(own_log, logs, erasures, copy, backup)
            if problem and not without_erasures:
                raise problem
            if not confirm(copy):
                option = " --without-erasures" if without_erasures else ""
                raise NotConfirmed(command=f"cc-bot restore {backup} --yes{option}")
            announce("erasing")
            async with open_database(f"sqlite:///{copy.path}") as opened:
                reapplied = await _reapply_erasures(opened, erasures, copy.made_at, config)
            compact_copy(copy.path, database)
            if own_log.exists() and own_log not in logs:  # an unreadable log would block later erasures
                own_log.replace(own_log.with_name(f"{own_log.name}.unreadable"))
            _merge_logs(logs, own_log, RestoreFailed)
            old_database = replace_database(copy.path, database, clock().astimezone(config.timezone))
            return Restoration(old_database, reapplied, erasures_known=not problem)


def _find_problem(
    own_log: Path, logs: Sequence[Path], erasures: Erasures, copy: StagedBackup, backup: Path
) -> StartupError | None:
    """Return why the logs may lack erasures; None if they are complete."""
    made_at = copy.made_at
    manifests = manifests_in(backup.parent)
    later_counts = [each.erasures for each in manifests if made_at is None or each.made_at >= made_at]
    for path in erasures.unreadable:
        return ErasuresUnreadable(path=str(path))
    if not logs:
        return ErasuresMissing(path=str(own_log))
    if erasures.count < max(later_counts, default=0):
        return ErasuresCut(path=str(backup), name=copied_log_path(backup.parent).name)
    return None


async def run_wipe(config: Config, confirm: Callable[[list[Path]], bool]) -> list[Path]:
    """Delete and return all files with data. `confirm` asks the operator. Raises StartupError."""
    database = require_file(config.database_url, "wipe")
    ensure_own_file(database)
    history = sqlite_path(config.database_url).with_name("chat_history")
    with instance_lock(database):
        if not (paths := list_data_files(database, history)):
            return []
        remove_wal(database)
        if not confirm(paths):
            raise NotConfirmed(command="cc-bot wipe --yes")
        return wipe(database, history)


SOURCE_OPTION: Final = "--from"
_TARGET_OPTION: Final = "--to"
_FILES_TO_COPY: Final = (*FILES_WITH_PATH_SETTING, "models.toml")


@dataclass(frozen=True, slots=True)
class CopyOutcome:
    plan: CopyPlan
    uncopied_files: tuple[Path, ...]  # the operator's files beside the source that the target lacks
    folder: Path  # to which the operator may copy these files
    reapplied: ReappliedErasures | None  # None if the source is the bot's own database


async def run_copy(
    config: Config,
    from_url: str,
    to_url: str,
    announce: Announce,
    *,
    source_setting: str = SOURCE_OPTION,
    report: Report = report_nothing,
) -> CopyOutcome:
    """Copy a database into an empty one. A StartupError leaves the target unchanged."""
    with _name_setting(source_setting):
        origin = source_url(from_url)
    with _name_setting(_TARGET_OPTION):
        to_itself = origin == source_url(to_url)
    if to_itself:
        raise SameDatabase
    own_log = ErasureLog.beside(state_path(to_url, config.data_folder)).path
    with _lock_source_and_target(config, {from_url: source_setting, to_url: _TARGET_OPTION}):
        logs = _find_logs_to_copy(config, from_url)
        erasures = await asyncio.to_thread(read_erasures, *logs)
        for path in erasures.unreadable:
            raise CopyStopped(path=str(path))
        async with _open_unused(from_url, source_setting, read_only=True) as source:
            plan = await plan_copy(source)
            if dialect_of(to_url) == "sqlite":
                await _copy_to_file(source, plan, database_file(to_url), announce, report)
            else:
                async with _open_unused(to_url, _TARGET_OPTION) as target:
                    await ensure_empty(target)
                    await apply_pending(target)
                    announce("copying")
                    await copy_to_server(source, plan, target, report)
        # Before the erasures: if they fail, `cc-bot erasures apply` needs the log.
        await asyncio.to_thread(_merge_logs, logs, own_log, CopyStopped)
        reapplied = None
        if erasures.count and origin != source_url(config.database_url):
            announce("erasing")
            async with open_database(to_url) as target:
                reapplied = await _reapply_erasures(target, erasures, None, config)
        old, new = (operator_anchor_path(url, config.data_folder).parent for url in (from_url, to_url))
        uncopied = (old / name for name in _FILES_TO_COPY if not (new / name).exists())
        return CopyOutcome(plan, tuple(filter(Path.exists, uncopied)), new, reapplied)


def _find_logs_to_copy(config: Config, from_url: str) -> list[Path]:
    """List the logs of the source, of the bot's own database, and beside the source."""
    source, own = (state_path(url, config.data_folder) for url in (from_url, config.database_url))
    logs = (ErasureLog.beside(each).path for each in (source, own))
    return [path for path in dict.fromkeys((*logs, *logs_in(source.parent))) if path.exists()]


async def _copy_to_file(
    source: Database, plan: CopyPlan, target: Path, announce: Announce, report: Report
) -> None:
    if await asyncio.to_thread(target.exists):
        async with _open_unused(f"sqlite:///{target}", _TARGET_OPTION) as old_database:
            await ensure_empty(old_database)
    with temporary_folder(target, await source.size()) as folder:
        new = folder / target.name
        async with _open_unused(f"sqlite:///{new}", _TARGET_OPTION) as database:
            await apply_pending(database)
        announce("copying")
        await copy_to_file(source, plan, new, target, report)


@contextmanager
def _name_setting(setting: str) -> Iterator[None]:
    """Make errors about a URL name the setting or option that has the URL."""
    try:
        yield
    except InvalidSetting as error:
        raise InvalidSetting(name=setting, expected=EXAMPLE_URLS) from error
    except PostgresRefused as error:
        raise PostgresRefused(**{**error.params, "setting": setting}) from error


@contextmanager
def _lock_source_and_target(config: Config, settings: Mapping[str, str]) -> Iterator[None]:
    """Lock the target, and a source with a lock file. `settings`: the names of their settings or options, by
    URL, the source first. Raises AlreadyRunning, DatabaseInUse, CopySourceMissing."""
    source, target = (state_path(url, config.data_folder) for url in settings)
    if dialect_of(next(iter(settings))) == "sqlite" and not source.is_file():
        raise CopySourceMissing(path=str(source))
    named = {
        state_path(url, config.data_folder): setting if dialect_of(url) == "sqlite" else folder_setting(url)
        for url, setting in settings.items()
    }
    with ExitStack() as locks:
        for database, setting in sorted(named.items()):  # two server databases share a lock
            if database == target or sidecar(database, ".lock").exists():
                locks.enter_context(instance_lock(database, setting))
        for database in (source, target):
            remove_wal(database)
        yield


@asynccontextmanager
async def _open_unused(url: str, setting: str, *, read_only: bool = False) -> AsyncIterator[Database]:
    """Open a database that no bot uses. Raises CopyStopped for a StorageError, also for one in the block."""
    try:
        async with AsyncExitStack() as opened:
            with _name_setting(setting):  # not in errors of the block, which concern another database
                database = await opened.enter_async_context(open_database(url, read_only=read_only))
            await ensure_unused(database)
            yield database
    except StorageError as error:
        raise CopyStopped(path=without_password(url)) from error
