"""The commands `backup`, `migrate` and `copy`."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from cc_bot.app.restoring import ErasedAgain, erase_again
from cc_bot.config import Config
from cc_bot.domain.errors import (
    CopySourceMissing,
    CopyStopped,
    InvalidSetting,
    PostgresRefused,
    SameDatabase,
    StorageError,
)
from cc_bot.storage import Database
from cc_bot.storage.backup import BackupResult, Rotation, back_up, leftovers_of
from cc_bot.storage.copying import CopyPlan, copy_to_file, copy_to_server, ensure_empty, plan_copy
from cc_bot.storage.engines import (
    config_path,
    dialect_of,
    ensure_unused,
    file_of,
    folder_setting,
    open_database,
    shown,
    source_url,
    state_path,
)
from cc_bot.storage.erasures import ErasureLog, find_unreadable_logs, logs_in, merge_log, read_erasures
from cc_bot.storage.files import DEFAULT_URL, database_file, ensure_free_space, instance_lock, sidecar
from cc_bot.storage.manifest import Announce, announce_nothing
from cc_bot.storage.migrate import Migration, apply_pending, list_pending
from cc_bot.storage.restoring import release


async def run_backup(
    config: Config, folder: Path, rotation: Rotation = Rotation(), announce: Announce = announce_nothing
) -> BackupResult:
    """Back up the database into the folder, and delete expired backups there."""
    now = config.clock().astimezone(config.timezone)
    database = file_of(config.database_url, "backup")
    return await back_up(database, folder, now, rotation=rotation, announce=announce)


async def run_migrate(config: Config, announce: Callable[[Migration], None]) -> tuple[Migration, ...]:
    """Report pending migrations, then apply them."""
    async with open_database(config.database_url, synchronous=config.synchronous) as database:
        for migration in await list_pending(database):
            announce(migration)
        return await apply_pending(database, clock=config.clock)


# ---- copying -----------------------------------------------------------------------------------------------

_EXAMPLES: Final = f"{DEFAULT_URL}, postgresql://cc_bot@db.example/cc_bot"
SOURCE_OPTION: Final = "--from"
_TARGET_OPTION: Final = "--to"
_OPERATORS_FILES: Final = ("agents.toml", "policy.toml", "models.toml", "mcp.json")


@dataclass(frozen=True, slots=True)
class CopyRequest:
    """The options of `cc-bot copy`."""

    source: str
    target: str
    """URLs."""
    source_setting: str = SOURCE_OPTION
    """The setting or option that names the source."""


@dataclass(frozen=True, slots=True)
class CopyOutcome:
    """The content of the target, and the operator's files that are not beside it."""

    plan: CopyPlan
    files: tuple[Path, ...]
    """Files that are only beside the source."""
    folder: Path
    """The folder for the target's files."""
    erased: ErasedAgain | None
    """Erasures repeated in the target; None if the source is the live database, which has no erased data."""


async def run_copy(config: Config, request: CopyRequest, announce: Announce) -> CopyOutcome:
    """Copy a database into an empty one. Raises StartupError and leaves the target unchanged."""
    with _naming(request.source_setting):
        origin = source_url(request.source)
    with _naming(_TARGET_OPTION):
        to_itself = origin == source_url(request.target)
    if to_itself:
        raise SameDatabase
    with _sole_user(config, request):
        logs = await asyncio.to_thread(_find_logs, config, request)
        async with _opened(request.source, request.source_setting, read_only=True) as source:
            plan = await plan_copy(source)
            if dialect_of(request.target) == "sqlite":
                await _copy_to_file(source, plan, database_file(request.target), announce)
            else:
                async with _opened(request.target, _TARGET_OPTION) as target:
                    await ensure_empty(target)
                    await apply_pending(target)
                    announce("copying")
                    await copy_to_server(source, plan, target)
        # Before the erasures: if these fail, `erasures apply` finds the log there.
        await asyncio.to_thread(_merge_logs, config, request, logs)
        erased = None
        if logs and origin != source_url(config.database_url):
            announce("erasing")
            async with open_database(request.target) as target:
                erased = await erase_again(target, read_erasures(*logs), None, config)
        ours, theirs = (config_path(url, config.data_folder) for url in (request.source, request.target))
        files = [
            ours.with_name(name)
            for name in _OPERATORS_FILES
            if ours.with_name(name).exists() and not theirs.with_name(name).exists()
        ]
        return CopyOutcome(plan, tuple(files), theirs.parent, erased)


def _find_logs(config: Config, request: CopyRequest) -> list[Path]:
    """Return the erasure logs since the source was made: its own, the live database's, and those beside a
    backup. Raises CopyStopped for an unreadable one."""
    source = state_path(request.source, config.data_folder)
    in_use = state_path(config.database_url, config.data_folder)
    own = (ErasureLog.beside(each).path for each in (source, in_use))
    logs = [path for path in dict.fromkeys((*own, *logs_in(source.parent))) if path.exists()]
    if unreadable := find_unreadable_logs(logs):
        raise CopyStopped(path=str(unreadable[0]))
    return logs


def _merge_logs(config: Config, request: CopyRequest, logs: Iterable[Path]) -> None:
    """Merge these into the target's log, so that a later restore of any copy repeats all erasures."""
    target = ErasureLog.beside(state_path(request.target, config.data_folder)).path
    try:
        for log in logs:
            if log != target:
                merge_log(log, target)
    except (OSError, ValueError) as error:
        raise CopyStopped(path=str(target)) from error


async def _copy_to_file(source: Database, plan: CopyPlan, target: Path, announce: Announce) -> None:
    if await asyncio.to_thread(target.exists):
        async with _opened(f"sqlite:///{target}", _TARGET_OPTION) as former:
            await ensure_empty(former)
    with _folder_beside(target, await source.size()) as folder:
        new = folder / target.name
        async with _opened(f"sqlite:///{new}", _TARGET_OPTION) as database:
            await apply_pending(database)
        announce("copying")
        await copy_to_file(source, plan, new, target)


@contextmanager
def _folder_beside(target: Path, size: int) -> Iterator[Path]:
    """Make a temporary folder for the new file, and delete leftovers of killed runs. Raises NotEnoughRoom."""
    parent = target.absolute().parent
    ensure_free_space(parent, size)
    for leftover in leftovers_of(target):
        shutil.rmtree(leftover)
    with TemporaryDirectory(dir=parent, prefix=f".{target.name}.restoring-") as folder:
        yield Path(folder)


@contextmanager
def _naming(setting: str) -> Iterator[None]:
    """Name the setting in errors about its URL."""
    try:
        yield
    except InvalidSetting as error:
        raise InvalidSetting(name=setting, expected=_EXAMPLES) from error
    except PostgresRefused as error:
        raise PostgresRefused(**{**error.params, "setting": setting}) from error


@contextmanager
def _sole_user(config: Config, request: CopyRequest) -> Iterator[None]:
    """Lock both databases; a source without a lock file, such as a backup, gets none. Raises AlreadyRunning,
    DatabaseInUse and CopySourceMissing."""
    source, target = (state_path(url, config.data_folder) for url in (request.source, request.target))
    named = {
        target: _folder_setting(request.target, _TARGET_OPTION),
        source: _folder_setting(request.source, request.source_setting),
    }
    if dialect_of(request.source) == "sqlite" and not source.is_file():
        raise CopySourceMissing(path=str(source))
    with ExitStack() as locks:
        for database, setting in sorted(named.items()):  # two server databases share a lock
            if database == target or sidecar(database, ".lock").exists():
                locks.enter_context(instance_lock(database, setting))
        for database in (source, target):
            release(database)
        yield


def _folder_setting(url: str, stands_in: str) -> str:
    return stands_in if dialect_of(url) == "sqlite" else folder_setting(url)


@asynccontextmanager
async def _opened(url: str, setting: str, *, read_only: bool = False) -> AsyncIterator[Database]:
    with _telling(url):
        async with AsyncExitStack() as opened:
            with _naming(setting):  # only for errors of this database
                database = await opened.enter_async_context(open_database(url, read_only=read_only))
            await ensure_unused(database)
            yield database


@contextmanager
def _telling(url: str) -> Iterator[None]:
    try:
        yield
    except StorageError as error:
        raise CopyStopped(path=shown(url)) from error
