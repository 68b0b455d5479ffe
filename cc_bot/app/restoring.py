"""`cc-bot restore`, `erasures apply` and `wipe`."""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from itertools import compress
from pathlib import Path

from cc_bot.config import Config
from cc_bot.domain.errors import (
    DatabaseMissing,
    ErasuresBroken,
    ErasuresCut,
    ErasuresMissing,
    ErasuresNotFound,
    ErasuresUnreadable,
    InvalidSetting,
    NotConfirmed,
    RestoreFailed,
    StartupError,
)
from cc_bot.storage import Database, open_database, place_name
from cc_bot.storage.engines import dialect_of, ensure_unused, file_of, folder_setting, state_path
from cc_bot.storage.erasures import (
    ErasureLog,
    Erasures,
    UnreadableLine,
    copy_in,
    find_unreadable_logs,
    logs_in,
    merge_log,
    read_erasures,
)
from cc_bot.storage.files import instance_lock, sqlite_path
from cc_bot.storage.manifest import Announce, manifests_in
from cc_bot.storage.migrate import apply_pending
from cc_bot.storage.restoring import (
    StagedBackup,
    data_of,
    ensure_own_file,
    finish,
    put_in_place,
    release,
    staged,
    wipe,
)
from cc_bot.stores import ArchiveStore, ChannelStore, MemoryRemovalStore, PersonalErasureStore
from cc_bot.stores.retention import ErasedRows
from cc_bot.texts import texts

# ---- erasing again -----------------------------------------------------------------------------------------
# Uses the normal stores without an erasure log: the original entries keep their time.


@dataclass(frozen=True, slots=True)
class ErasedAgain:
    users: int = 0
    memories: int = 0
    sessions: int = 0
    deleted: int = 0
    """Messages and channels that were deleted on Discord."""
    since: datetime | None = field(default=None, compare=False)
    """Users are erased if the log has them since then (None: at any time). All other ids are never reused, so
    these are erased regardless of the time."""

    def __bool__(self) -> bool:
        return bool(self.users or self.memories or self.sessions or self.deleted)


async def erase_again(
    database: Database, known: Erasures, restored: datetime | None, config: Config
) -> ErasedAgain:
    """Discard pending work, and repeat the erasures logged since `restored` (None: the newest time in the
    database). Raises StorageError."""
    rows, clock = ErasedRows(database), config.clock
    await rows.let_go()
    since = restored or await rows.get_newest()
    erased = ErasedAgain(
        users=await _erase_users(PersonalErasureStore(database, clock=clock), known, since),
        memories=await _erase_memories(rows, MemoryRemovalStore(database, clock=clock), known, config),
        sessions=await _erase_sessions(rows, ArchiveStore(database, clock=clock), known),
        deleted=await _erase_messages(rows, ChannelStore(database, clock=clock), known),
        since=since,
    )
    await MemoryRemovalStore(database, clock=clock).clean(vacuum=True)
    return erased


async def _erase_users(store: PersonalErasureStore, known: Erasures, since: datetime | None) -> int:
    found = await store.list_users()
    with ThreadPoolExecutor() as threads:  # hashes are slow by design
        erased = await asyncio.to_thread(
            lambda: list(threads.map(lambda user: known.match("user", user, since), found))
        )
    users = list(compress(found, erased))
    for user in users:
        await store.erase(user)
    return len(users)


async def _erase_memories(
    rows: ErasedRows, store: MemoryRemovalStore, known: Erasures, config: Config
) -> int:
    count, mark = 0, texts(config.locale).erasure.mark
    for (user, number), name in (await rows.list_memories()).items():
        with_messages = known.match("memory_and_messages", name, None)
        if with_messages or known.match("memory", name, None):
            erased = await store.erase(user, number, mark=mark if with_messages else None)
            count += erased.memories if erased else 0
    return count


async def _erase_sessions(rows: ErasedRows, store: ArchiveStore, known: Erasures) -> int:
    found = await rows.list_sessions()
    erased = [(user, session) for user, session in found if known.match("session", session, None)]
    for user, session in erased:
        await store.delete_session(user, session)
    return len(erased)


async def _erase_messages(rows: ErasedRows, store: ChannelStore, known: Erasures) -> int:
    count = 0
    for key in await rows.list_places():  # a thread goes with its channel
        names = (place_name(key.channel_id, thread) for thread in {0, key.thread_id})
        if any(known.match("place", name, None) for name in names):
            await store.forget_place(key)
            count += 1
    deleted = [message for message in await rows.list_messages() if known.match("message", message, None)]
    return count + (await store.delete(deleted) if deleted else 0)


@dataclass(frozen=True, slots=True)
class ErasuresRequest:
    """The options of `cc-bot erasures apply`, for databases that were not restored by `cc-bot restore`: from
    a dump, by a server or by Litestream."""

    files: tuple[Path, ...] = ()
    """Erasure logs; default: the one beside the database, and copies in its folder."""
    since: datetime | None = None
    """The restored point in time, by default in the operator's time zone; None: the newest time in the
    database."""


async def run_apply_erasures(config: Config, request: ErasuresRequest, announce: Announce) -> ErasedAgain:
    """Repeat logged erasures since the database's point in time.

    Idempotent. Raises StartupError before anything is erased, or StorageError.
    """
    url, clock = config.database_url, config.clock
    beside = state_path(url, config.data_folder)
    if dialect_of(url) == "sqlite" and not beside.is_file():
        raise DatabaseMissing(path=str(beside))
    if (restored := _in_zone(request.since, config)) and restored > (now := clock()):
        raise InvalidSetting(name="--since", expected=f"{now.astimezone(config.timezone):%Y-%m-%dT%H:%M}")
    own = ErasureLog.beside(beside).path
    paths = request.files or (own, *logs_in(beside.parent))
    known = await asyncio.to_thread(_read_named, paths)
    with instance_lock(beside, folder_setting(url)):
        release(beside)
        async with open_database(url, synchronous=config.synchronous) as database:
            await ensure_unused(database)
            announce("upgrading")
            await apply_pending(database, clock=clock)
            announce("erasing")
            erased = await erase_again(database, known, restored, config)
        _adopt(own, paths)
    return erased


def _read_named(paths: Iterable[Path]) -> Erasures:
    """Read these logs. Raises ErasuresNotFound, or ErasuresBroken with the line."""
    for path in paths:
        if not path.exists():
            raise ErasuresNotFound(path=str(path))
        try:
            read_erasures(path)
        except (OSError, ValueError) as error:
            raise ErasuresBroken(path=str(path), line=getattr(error, "line", 1)) from error
    return read_erasures(*paths)


def _adopt(own: Path, others: Iterable[Path]) -> None:
    """Merge other logs into the own one: on a new machine they came with the backups."""
    try:
        for path in others:
            if path != own:
                merge_log(path, own)
    except (OSError, UnreadableLine) as error:
        raise RestoreFailed(path=str(own)) from error


def _in_zone(moment: datetime | None, config: Config) -> datetime | None:
    return moment.replace(tzinfo=config.timezone) if moment and not moment.tzinfo else moment


# ---- restoring -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """The options of `cc-bot restore`."""

    backup: Path
    confirm: Callable[[StagedBackup], bool]
    """Asks the operator whether to restore the checked backup."""
    without_erasures: bool = False


@dataclass(frozen=True, slots=True)
class Restoration:
    staged: StagedBackup
    replaced: Path | None
    """New path of the former database."""
    forgotten: ErasedAgain
    erasures_known: bool


async def run_restore(config: Config, request: RestoreRequest, announce: Announce) -> Restoration:
    """Replace the database by a backup. Raises StartupError and leaves the database unchanged."""
    database, clock = file_of(config.database_url, "restore"), config.clock
    ensure_own_file(database)
    with instance_lock(database):
        release(database)  # before copying, which takes minutes
        async with staged(request.backup, database, clock, announce) as copy:
            logs, known = await asyncio.to_thread(_find_logs, database, copy, request)
            if not request.confirm(copy):
                option = " --without-erasures" if request.without_erasures else ""
                raise NotConfirmed(command=f"cc-bot restore {request.backup} --yes{option}")
            announce("erasing")
            async with open_database(f"sqlite:///{copy.path}") as opened:
                forgotten = await erase_again(opened, read_erasures(*logs), copy.made_at, config)
            finish(copy.path, database)
            own = ErasureLog.beside(database).path
            if own.exists() and own not in logs:  # an unreadable log would block later erasures
                own.replace(own.with_name(f"{own.name}.unreadable"))
            _adopt(own, logs)
            replaced = put_in_place(copy.path, database, clock().astimezone(config.timezone))
            return Restoration(copy, replaced, forgotten, known)


def _find_logs(database: Path, copy: StagedBackup, request: RestoreRequest) -> tuple[list[Path], bool]:
    """Return the readable logs beside the database and the backup, and whether they are complete.

    Raises ErasuresUnreadable; ErasuresMissing if there is none; ErasuresCut if they have fewer entries than a
    manifest of this or a later backup in the folder says. With `without_erasures` none of these.
    """
    own, folder = ErasureLog.beside(database).path, request.backup.parent
    there = [path for path in (own, *logs_in(folder)) if path.exists()]
    unreadable = find_unreadable_logs(there)
    logs = [path for path in there if path not in unreadable]
    made_at = copy.made_at
    later = [each.erasures for each in manifests_in(folder) if made_at is None or each.made_at >= made_at]
    needed = max(later, default=0)
    error: StartupError | None = None
    if unreadable:
        error = ErasuresUnreadable(path=str(unreadable[0]))
    elif not logs:
        error = ErasuresMissing(path=str(own))
    elif read_erasures(*logs).count < needed:
        error = ErasuresCut(path=str(request.backup), name=copy_in(folder).name)
    if error and not request.without_erasures:
        raise error
    return logs, error is None


# ---- wiping ------------------------------------------------------------------------------------------------


async def run_wipe(config: Config, confirm: Callable[[list[Path]], bool]) -> list[Path]:
    """Delete the database and its files. Returns their paths. Raises StartupError."""
    database = file_of(config.database_url, "wipe")
    ensure_own_file(database)
    history = sqlite_path(config.database_url).with_name("chat_history")
    with instance_lock(database):
        if not (doomed := data_of(database, history)):
            return []
        release(database)
        if not confirm(doomed):
            raise NotConfirmed(command="cc-bot wipe --yes")
        return wipe(database, history)
