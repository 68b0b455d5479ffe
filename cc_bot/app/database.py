"""The commands that replace, fill or erase a database: restore, copy, erasures and wipe."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from cc_bot.config import Config
from cc_bot.db import Database, open_database
from cc_bot.db.backup import Announce, manifests_in
from cc_bot.db.copy import CopyPlan, copy_to_file, copy_to_server, ensure_empty, plan_copy
from cc_bot.db.engines import (
    config_path,
    dialect_of,
    ensure_unused,
    folder_setting,
    require_file,
    source_url,
    state_path,
    without_password,
)
from cc_bot.db.erasure_log import ErasureLog, Erasures, copy_in, logs_in, merge_log, read_erasures
from cc_bot.db.files import DEFAULT_URL, database_file, instance_lock, sidecar, sqlite_path
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
from cc_bot.db.schema import apply_pending
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
from cc_bot.texts import texts


async def _reapply_erasures(
    database: Database, known: Erasures, restored: datetime | None, config: Config
) -> ReappliedErasures:
    mark = texts(config.locale)[ErasureTexts].mark
    return await reapply_erasures(database, known, restored, clock=config.clock, mark=mark)


async def run_apply_erasures(
    config: Config, announce: Announce, files: tuple[Path, ...] = (), since: datetime | None = None
) -> ReappliedErasures:
    """Repeat logged erasures after a restore by other means. Idempotent. `files`: erasure logs, by default
    those beside the database. `since`: the restored time, by default the newest in the database. Raises
    StartupError before anything is erased, or StorageError."""
    url, now = config.database_url, config.clock()
    beside = state_path(url, config.data_folder)
    if dialect_of(url) == "sqlite" and not beside.is_file():
        raise DatabaseMissing(path=str(beside))
    if since and not since.tzinfo:
        since = since.replace(tzinfo=config.timezone)
    if since and since > now:
        raise InvalidSetting(name="--since", expected=f"{now.astimezone(config.timezone):%Y-%m-%dT%H:%M}")
    own = ErasureLog.beside(beside).path
    paths = files or (own, *logs_in(beside.parent))
    known = await asyncio.to_thread(_read_named, paths)
    with instance_lock(beside, folder_setting(url)):
        remove_wal(beside)
        async with open_database(url, synchronous=config.synchronous) as database:
            await ensure_unused(database)
            announce("upgrading")
            await apply_pending(database, clock=config.clock)
            announce("erasing")
            erased = await _reapply_erasures(database, known, since, config)
        _merge_logs(paths, own, RestoreFailed)
    return erased


def _read_named(paths: Iterable[Path]) -> Erasures:
    """Raises ErasuresNotFound, or ErasuresBroken with the line."""
    for path in paths:
        if not path.exists():
            raise ErasuresNotFound(path=str(path))
    known = read_erasures(*paths)
    for path, line in known.unreadable.items():
        raise ErasuresBroken(path=str(path), line=line)
    return known


def _merge_logs(logs: Iterable[Path], own: Path, failure: type[StartupError]) -> None:
    """Add the logs' lines to our own log, for later restores. Raises `failure`."""
    try:
        for log in logs:
            if log != own:
                merge_log(log, own)
    except (OSError, ValueError) as error:
        raise failure(path=str(own)) from error


@dataclass(frozen=True, slots=True)
class Restoration:
    replaced: Path | None  # the new name of the old database
    forgotten: ReappliedErasures
    erasures_known: bool


async def run_restore(
    config: Config,
    backup: Path,
    confirm: Callable[[StagedBackup], bool],
    announce: Announce,
    *,
    without_erasures: bool = False,
) -> Restoration:
    """Replace the database by a backup if the operator confirms. Raises StartupError with it unchanged."""
    database, clock = require_file(config.database_url, "restore"), config.clock
    ensure_own_file(database)
    with instance_lock(database):
        remove_wal(database)  # before copying, which takes minutes
        async with stage_backup(backup, database, clock, announce) as copy:
            own = ErasureLog.beside(database).path
            logs = [path for path in (own, *logs_in(backup.parent)) if path.exists()]
            known = await asyncio.to_thread(read_erasures, *logs)
            logs = [path for path in logs if path not in known.unreadable]
            problem = _find_problem(own, logs, known, copy, backup)
            if problem and not without_erasures:
                raise problem
            if not confirm(copy):
                option = " --without-erasures" if without_erasures else ""
                raise NotConfirmed(command=f"cc-bot restore {backup} --yes{option}")
            announce("erasing")
            async with open_database(f"sqlite:///{copy.path}") as opened:
                forgotten = await _reapply_erasures(opened, known, copy.made_at, config)
            compact_copy(copy.path, database)
            if own.exists() and own not in logs:  # an unreadable log would block later erasures
                own.replace(own.with_name(f"{own.name}.unreadable"))
            _merge_logs(logs, own, RestoreFailed)
            replaced = replace_database(copy.path, database, clock().astimezone(config.timezone))
            return Restoration(replaced, forgotten, erasures_known=not problem)


def _find_problem(
    own: Path, logs: Sequence[Path], known: Erasures, copy: StagedBackup, backup: Path
) -> StartupError | None:
    """Return why the logs may lack erasures; None if they are complete."""
    made_at = copy.made_at
    manifests = manifests_in(backup.parent)
    later = [each.erasures for each in manifests if made_at is None or each.made_at >= made_at]
    for path in known.unreadable:
        return ErasuresUnreadable(path=str(path))
    if not logs:
        return ErasuresMissing(path=str(own))
    if known.count < max(later, default=0):
        return ErasuresCut(path=str(backup), name=copy_in(backup.parent).name)
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


_EXAMPLES: Final = f"{DEFAULT_URL}, postgresql://cc_bot@db.example/cc_bot"
SOURCE_OPTION: Final = "--from"
_TARGET_OPTION: Final = "--to"
_OPERATORS_FILES: Final = ("agents.toml", "policy.toml", "models.toml", "mcp.json")


@dataclass(frozen=True, slots=True)
class CopyOutcome:
    plan: CopyPlan
    files: tuple[Path, ...]  # the operator's files beside the source that the target lacks
    folder: Path  # the folder of the target's files
    erased: ReappliedErasures | None  # None if the source is the bot's own database


async def run_copy(
    config: Config, source_at: str, target_at: str, announce: Announce, *, source_setting: str = SOURCE_OPTION
) -> CopyOutcome:
    """Copy a database into an empty one, by URL. Raises StartupError with the target unchanged."""
    with _name_setting(source_setting):
        origin = source_url(source_at)
    with _name_setting(_TARGET_OPTION):
        to_itself = origin == source_url(target_at)
    if to_itself:
        raise SameDatabase
    beside = state_path(target_at, config.data_folder)
    with _lock_source_and_target(config, {source_at: source_setting, target_at: _TARGET_OPTION}):
        logs = _find_logs_to_copy(config, source_at)
        known = await asyncio.to_thread(read_erasures, *logs)
        for path in known.unreadable:
            raise CopyStopped(path=str(path))
        async with _open_unused(source_at, source_setting, read_only=True) as source:
            plan = await plan_copy(source)
            if dialect_of(target_at) == "sqlite":
                await _copy_to_file(source, plan, database_file(target_at), announce)
            else:
                async with _open_unused(target_at, _TARGET_OPTION) as target:
                    await ensure_empty(target)
                    await apply_pending(target)
                    announce("copying")
                    await copy_to_server(source, plan, target)
        # If the erasures fail, `erasures apply` finds the log there.
        await asyncio.to_thread(_merge_logs, logs, ErasureLog.beside(beside).path, CopyStopped)
        erased = None
        if logs and origin != source_url(config.database_url):
            announce("erasing")
            async with open_database(target_at) as target:
                erased = await _reapply_erasures(target, known, None, config)
        source_path, target_path = (config_path(url, config.data_folder) for url in (source_at, target_at))
        files = [
            source_path.with_name(name)
            for name in _OPERATORS_FILES
            if source_path.with_name(name).exists() and not target_path.with_name(name).exists()
        ]
        return CopyOutcome(plan, tuple(files), target_path.parent, erased)


def _find_logs_to_copy(config: Config, source_at: str) -> list[Path]:
    """List the logs of the source and of the bot's own database, and those beside a backup."""
    source, live = (state_path(url, config.data_folder) for url in (source_at, config.database_url))
    own = (ErasureLog.beside(each).path for each in (source, live))
    return [path for path in dict.fromkeys((*own, *logs_in(source.parent))) if path.exists()]


async def _copy_to_file(source: Database, plan: CopyPlan, target: Path, announce: Announce) -> None:
    if await asyncio.to_thread(target.exists):
        async with _open_unused(f"sqlite:///{target}", _TARGET_OPTION) as former:
            await ensure_empty(former)
    with temporary_folder(target, await source.size()) as folder:
        new = folder / target.name
        async with _open_unused(f"sqlite:///{new}", _TARGET_OPTION) as database:
            await apply_pending(database)
        announce("copying")
        await copy_to_file(source, plan, new, target)


@contextmanager
def _name_setting(setting: str) -> Iterator[None]:
    """Replace the setting's name in errors about its URL."""
    try:
        yield
    except InvalidSetting as error:
        raise InvalidSetting(name=setting, expected=_EXAMPLES) from error
    except PostgresRefused as error:
        raise PostgresRefused(**{**error.params, "setting": setting}) from error


@contextmanager
def _lock_source_and_target(config: Config, settings: Mapping[str, str]) -> Iterator[None]:
    """Lock the target, and a source with a lock. Raises AlreadyRunning, DatabaseInUse, CopySourceMissing."""
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
    """Open a database that no bot uses. Raises CopyStopped for a StorageError, also one of the body."""
    try:
        async with AsyncExitStack() as opened:
            with _name_setting(setting):  # only for errors of this database
                database = await opened.enter_async_context(open_database(url, read_only=read_only))
            await ensure_unused(database)
            yield database
    except StorageError as error:
        raise CopyStopped(path=without_password(url)) from error
