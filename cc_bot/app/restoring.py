"""`cc-bot restore`, `erasures apply` and `wipe`: what takes the database's place, what may not come back with
it, and what takes it away."""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from cc_bot.app.clocks import clock_of
from cc_bot.config import Config
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import (
    BackupMissing,
    DatabaseMissing,
    ErasuresBroken,
    ErasuresCut,
    ErasuresMissing,
    ErasuresNotFound,
    ErasuresUnreadable,
    InvalidSetting,
    NotConfirmed,
    RestoreFailed,
)
from cc_bot.domain.message import ChannelKey
from cc_bot.regular_file import read_regular
from cc_bot.storage import Database, place_name
from cc_bot.storage.engines import (
    dialect_of,
    ensure_unused,
    file_of,
    folder_setting,
    kept_beside,
    open_database,
)
from cc_bot.storage.erasures import (
    ErasureLog,
    Erasures,
    Kind,
    copy_name,
    logs_in,
    read_erasures,
    read_logs,
)
from cc_bot.storage.files import ensure_closed, sole_bot, sqlite_path, write_new
from cc_bot.storage.manifest import Progress, manifests_in
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

# ---- restored --------------------------------------------------------------------------------------------
# A backup made fit to take its place: brought up to date, and without what was forgotten since.
#
# This is done to a copy that nobody else sees, with the same stores that erase in daily work; so what an
# erasure covers is said in one place. Their own notes go to a log in the copy's folder and with it: an
# erasure that is only done again happened when it happened first.


@dataclass(frozen=True, slots=True)
class ReappliedErasures:
    """The counts of what was erased again."""

    users: int = 0
    memories: int = 0
    sessions: int = 0
    deleted: int = 0
    """Messages and places that were deleted on Discord."""

    def __bool__(self) -> bool:
        return bool(self.users or self.memories or self.sessions or self.deleted)


@dataclass(frozen=True, slots=True)
class _AllLogs:
    """The logs of erasures, all together."""

    logs: Sequence[Erasures]
    since: datetime | None

    def knows_user(self, user_id: int) -> bool:
        """Return whether a user was erased; one who was erased earlier came back before the backup was
        made."""
        return any(log.match("user", user_id, self.since) for log in self.logs)

    def knows(self, kind: Kind, name: int | str) -> bool:
        """Return whether a name was erased, whenever that was: anything but a user has its name for ever, and
        it may have been erased while the backup was made."""
        return any(log.match(kind, name, None) for log in self.logs)

    def knows_place(self, key: ChannelKey) -> bool:
        """Return whether a place was erased; a thread goes with its channel."""
        return any(self.knows("place", place_name(key.channel_id, thread)) for thread in {0, key.thread_id})


class _Erasers(NamedTuple):
    """The stores that erase, without a log of their own."""

    users: PersonalErasureStore
    memories: MemoryRemovalStore
    sessions: ArchiveStore
    channels: ChannelStore

    @classmethod
    def over(cls, database: Database, clock: Clock) -> "_Erasers":
        return cls(
            PersonalErasureStore(database, clock=clock),
            MemoryRemovalStore(database, clock=clock),
            ArchiveStore(database, clock=clock),
            ChannelStore(database, clock=clock),
        )


async def reapply_erasures(
    copy: Path,
    logs: Sequence[Erasures],
    made_at: datetime | None,
    *,
    mark: str,
    clock: Clock,
    progress: Progress,
) -> ReappliedErasures:
    """Upgrade the copy, drop what was on its way and erase again what the logs say.

    `made_at` is when the backup was made, None where nobody knows; `mark` takes the place of erased messages.
    Raises StorageError.
    """
    async with open_database(f"sqlite:///{copy}") as database:
        progress("upgrading", 0, 0)
        await apply_pending(database, clock=clock, preserve=False)  # the backup itself is the copy
        rows = ErasedRows(database)
        await rows.let_go()
        since = made_at or await rows.get_newest()
        progress("erasing", 0, 0)
        return await _reapply(database, _AllLogs(logs, since), mark, clock)


async def _reapply(database: Database, known: _AllLogs, mark: str, clock: Clock) -> ReappliedErasures:
    restored, erasers = ErasedRows(database), _Erasers.over(database, clock)
    return ReappliedErasures(
        users=await _forget_users(erasers, known),
        memories=await _forget_memories(erasers, restored, known, mark),
        sessions=await _forget_sessions(erasers, restored, known),
        deleted=await _forget_messages(erasers, restored, known),
    )


async def _forget_users(erasers: _Erasers, known: _AllLogs) -> int:
    found = await erasers.users.list_users()
    with ThreadPoolExecutor() as threads:  # to ask for one takes milliseconds, so that nobody tries them all
        erased = await asyncio.to_thread(lambda: list(threads.map(known.knows_user, found)))
    users = list(compress(found, erased))
    for user in users:
        await erasers.users.erase(user)
    return len(users)


async def _forget_memories(erasers: _Erasers, restored: ErasedRows, known: _AllLogs, mark: str) -> int:
    count = 0
    for (user, number), name in (await restored.list_memories()).items():
        with_messages = known.knows("memory_and_messages", name)
        if with_messages or known.knows("memory", name):
            erased = await erasers.memories.erase(user, number, mark=mark if with_messages else None)
            count += erased.memories if erased else 0
    return count


async def _forget_sessions(erasers: _Erasers, restored: ErasedRows, known: _AllLogs) -> int:
    deleted = [each for each in await restored.list_sessions() if known.knows("session", each[1])]
    for user, session in deleted:
        await erasers.sessions.delete_session(user, session)
    return len(deleted)


async def _forget_messages(erasers: _Erasers, restored: ErasedRows, known: _AllLogs) -> int:
    count = 0
    for key in await restored.list_places():
        if known.knows_place(key):
            await erasers.channels.forget_place(key)
            count += 1
    deleted = [message for message in await restored.list_messages() if known.knows("message", message)]
    return count + (await erasers.channels.delete(deleted) if deleted else 0)


# ---- restoring -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """The options of `cc-bot restore`."""

    backup: Path
    confirm: Callable[[StagedBackup], bool]
    """Whether the operator wants this one, asked when it has been checked."""
    without_erasures: bool = False
    any_file: bool = False
    """Whether what is to be replaced may be something else than a database of cc-bot."""

    @property
    def options(self) -> str:
        """The options that stood on the command line beside the backup."""
        named = {
            "--without-erasures": self.without_erasures,
            "--any-file": self.any_file,
        }
        return "".join(f" {option}" for option, given in named.items() if given)


@dataclass(frozen=True, slots=True)
class Restoration:
    """The outcome of a restore."""

    staged: StagedBackup
    replaced: Path | None
    """What the former database is called now."""
    forgotten: ReappliedErasures
    erasures_known: bool


async def run_restore(config: Config, request: RestoreRequest, progress: Progress) -> Restoration:
    """Put a backup in the database's place. Raises a StartupError, with the database as it was."""
    database, clock = file_of(config.database_url, "restore"), clock_of(config)
    command = f"cc-bot restore {request.backup}{request.options} --any-file"
    ensure_own_file(database, command=None if request.any_file else command)
    with sole_bot(database):
        release(database)  # before minutes are spent on copying
        # Path's own way to ask raises for a name that is too long.
        if not await asyncio.to_thread(os.path.isfile, request.backup):
            raise BackupMissing(path=str(request.backup))
        logs, unreadable = await asyncio.to_thread(_read_logs, database, request)
        with staged(request.backup, database, progress=progress) as copy:
            progress("waiting", 0, 0)
            if not request.confirm(copy):
                raise NotConfirmed(command=f"cc-bot restore {request.backup} --yes{request.options}")
            cut = _is_cut(copy, logs, request)
            forgotten = await reapply_erasures(
                copy.path,
                tuple(logs.values()),
                copy.manifest.made_at if copy.manifest else None,
                mark=texts(config.locale).erasure.mark,
                clock=clock,
                progress=progress,
            )
            finish(copy.path, database)
            _adopt(ErasureLog.beside(database).path, logs, unreadable)
            now, known = clock().astimezone(config.timezone), bool(logs) and not unreadable and not cut
            return Restoration(copy, put_in_place(copy.path, database, now), forgotten, known)


def _read_logs(database: Path, request: RestoreRequest) -> tuple[dict[Path, Erasures], list[Path]]:
    """Return all logs that may know who was forgotten: the database's own first, then those beside the
    backup; and which of them can't be read.

    Raises ErasuresUnreadable for such a one, and ErasuresMissing where there is none at all, unless the
    operator goes on without.
    """
    own, beside_backup = ErasureLog.beside(database).path, request.backup.parent
    try:
        logs, unreadable = read_logs([own, *logs_in(beside_backup)])
    except OSError as error:
        raise ErasuresUnreadable(path=str(beside_backup)) from error
    if not request.without_erasures:
        if unreadable:
            raise ErasuresUnreadable(path=str(unreadable[0]))
        if not logs:
            raise ErasuresMissing(path=str(own))
    return logs, unreadable


def _is_cut(copy: StagedBackup, logs: dict[Path, Erasures], request: RestoreRequest) -> bool:
    """Return whether the log that there was when the backup was made is gone, or has less than it, or a later
    backup in its folder, knew of. Raises ErasuresCut, unless the operator goes on without."""
    if not (manifest := copy.manifest) or not (former := manifest.erasures):
        return False
    later = [each for each in manifests_in(request.backup.parent) if each.made_at >= manifest.made_at]
    known = [former, *(each.erasures for each in later if each.erasures)]
    needed = max(extent.noted for extent in known if extent.name == former.name)
    found = [log.noted for log in logs.values() if log.extent.name == former.name]
    cut = max(found, default=-1) < needed
    if cut and not request.without_erasures:
        raise ErasuresCut(path=str(request.backup), name=copy_name(former.name))
    return cut


def _adopt(own: Path, logs: dict[Path, Erasures], unreadable: list[Path]) -> None:
    """Go on with the log that came with the backups, on a new machine. One that can't be read makes room:
    with it, nobody could be erased any more."""
    try:
        if own in unreadable:
            own.replace(own.with_name(f"{own.name}.unreadable"))
        if logs and own not in logs:
            write_new(own, read_regular(next(iter(logs))))
    except OSError as error:
        raise RestoreFailed(path=str(own)) from error


# ---- erasing again -----------------------------------------------------------------------------------------
# A database that was restored by other means than `cc-bot restore`: a dump, a moment that a server or
# Litestream has had back.


@dataclass(frozen=True, slots=True)
class ErasuresRequest:
    """The options of `cc-bot erasures apply`."""

    files: tuple[Path, ...] = ()
    """Logs of erasures; none: the one beside the database, and those of other processes in its folder."""
    since: datetime | None = None
    """The moment that was restored, in the operator's time zone where it tells none; None: up to which
    somebody did something in it."""


@dataclass(frozen=True, slots=True)
class AppliedErasures:
    """The outcome of erasing again."""

    counts: ReappliedErasures
    since: datetime | None
    """From when on users count as erased since; None: whenever they were."""


async def run_apply_erasures(config: Config, request: ErasuresRequest, progress: Progress) -> AppliedErasures:
    """Erase again what logs say was erased after the moment that the database is of.

    Done a second time, it changes nothing. Raises a StartupError with nothing erased, or a StorageError.
    """
    url, clock = config.database_url, clock_of(config)
    beside = kept_beside(url, config.data_folder)
    if dialect_of(url) == "sqlite" and not beside.is_file():
        raise DatabaseMissing(path=str(beside))
    if (restored := _in_zone(request.since, config)) and restored > (now := clock()):
        raise InvalidSetting(name="--since", expected=f"{now.astimezone(config.timezone):%Y-%m-%dT%H:%M}")
    own = ErasureLog.beside(beside).path
    logs = await asyncio.to_thread(_read_named, request.files or (own, *logs_in(beside.parent)))
    with sole_bot(beside, folder_setting(url)):
        ensure_closed(beside)
        async with open_database(url, synchronous=config.synchronous) as database:
            await ensure_unused(database)
            progress("upgrading", 0, 0)
            await apply_pending(database, clock=clock)
            await ErasedRows(database).let_go()
            applied = await erase_again(database, tuple(logs.values()), restored, config, progress)
        _adopt(own, logs, [])
    return applied


async def erase_again(
    database: Database,
    logs: Sequence[Erasures],
    restored: datetime | None,
    config: Config,
    progress: Progress,
) -> AppliedErasures:
    """Erase what the logs say was erased after the restored moment. Raises StorageError."""
    clock = clock_of(config)
    since = restored or await ErasedRows(database).get_newest()
    progress("erasing", 0, 0)
    counts = await _reapply(database, _AllLogs(logs, since), texts(config.locale).erasure.mark, clock)
    await MemoryRemovalStore(database, clock=clock).clean(vacuum=True)
    return AppliedErasures(counts, since)


def _read_named(files: Iterable[Path]) -> dict[Path, Erasures]:
    """Read these logs. Raises ErasuresNotFound, or ErasuresBroken by the line."""
    logs = dict[Path, Erasures]()
    for path in files:
        try:
            log = read_erasures(path)
        except (OSError, ValueError) as error:
            raise ErasuresBroken(path=str(path), line=getattr(error, "line", 1)) from error
        if log is None:
            raise ErasuresNotFound(path=str(path))
        logs[path] = log
    return logs


def _in_zone(moment: datetime | None, config: Config) -> datetime | None:
    return moment.replace(tzinfo=config.timezone) if moment and not moment.tzinfo else moment


# ---- wiping ------------------------------------------------------------------------------------------------


async def run_wipe(
    config: Config, confirm: Callable[[list[Path]], bool], *, any_file: bool = False
) -> list[Path]:
    """Take the database away with all that belongs to it; return what was taken away. `any_file`: also if it
    does not look like one of cc-bot. Raises a StartupError."""
    database = file_of(config.database_url, "wipe")
    ensure_own_file(database, command=None if any_file else "cc-bot wipe --any-file")
    history = sqlite_path(config.database_url).with_name("chat_history")
    with sole_bot(database):
        if not (doomed := data_of(database, history)):
            return []
        release(database)
        if not confirm(doomed):
            raise NotConfirmed(command="cc-bot wipe --yes")
        return wipe(database, history)
