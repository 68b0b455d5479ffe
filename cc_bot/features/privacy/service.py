"""Overview, export and erasure of a user's data, retention, and the purge of deleted memories."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import structlog

from cc_bot.chat.stores.opening import Stores
from cc_bot.db.backup import delete_old_copies
from cc_bot.domain.clock import UNDO_TIME, Clock, utc_now
from cc_bot.domain.errors import CcBotError, ErasureUnfinished, StorageError
from cc_bot.features.memory.stores.removal import MemoryRemovalStore
from cc_bot.features.privacy.model import Holdings, Retention
from cc_bot.features.privacy.personal_data import Record
from cc_bot.features.privacy.retention import RetentionStore
from cc_bot.log import bind_job_id, log_errors, log_failure

_log = structlog.get_logger(__name__)

FORMAT: Final = "cc-bot-personal-data"
MAX_FILE_BYTES: Final = 9_500_000
_FRAME_BYTES: Final = 1000  # more than head and tail of a file


async def export_chunks(
    records: AsyncIterator[tuple[str, Record]], user_id: int, now: datetime, *, max_bytes: int | None = None
) -> AsyncIterator[tuple[int, bytes]]:
    """Yield JSON files in chunks of UTF-8, each with its file's number. `records`: each with its list's name,
    list by list. A file is shorter than `max_bytes` unless a single record is longer."""
    number, list_name, left_bytes = 0, "", 0
    async for name, record in records:
        line = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace")
        size = len(line) + len(name) + 16
        if not number or (max_bytes and list_name and size > left_bytes):
            if number:
                yield number, _tail(is_last=False)
            number, list_name, left_bytes = number + 1, "", (max_bytes or 0) - _FRAME_BYTES
            yield number, _head(user_id, now, number)
        separator = ",\n"
        if name != list_name:
            separator = f"{list_name and _LIST_END + separator}{json.dumps(name)}: [\n"
        yield number, separator.encode() + line
        list_name, left_bytes = name, left_bytes - size
    if number:
        yield number, _tail(is_last=True)


_LIST_END: Final = "\n]"


def _head(user_id: int, now: datetime, number: int) -> bytes:
    head = {
        "format": FORMAT,
        "version": 1,
        "user_id": str(user_id),
        "exported_at": now.isoformat(timespec="seconds"),
        "part": number,
    }
    return f'{json.dumps(head)[:-1]}, "data": {{\n'.encode()


def _tail(*, is_last: bool) -> bytes:
    return f'{_LIST_END}\n}}, "last": {json.dumps(is_last)}}}\n'.encode()


RETRY_S: Final = 5.0
MAX_PAUSE_S: Final = 300.0
OTHER_PROCESSES_TIMEOUT_S: Final = 45.0
"""For other processes to end the user's turns. A dead process counts until its lease expires."""
POLL_S: Final = 0.5

BlockTurns = Callable[[int], AbstractAsyncContextManager[None]]
"""Returns a context for a user's id. It is entered when the user has no active turn; inside, none begins."""


class Privacy:
    def __init__(
        self,
        stores: Stores,
        block_turns: BlockTurns,
        *,
        get_counted_day: Callable[[int], Awaitable[date | None]],
        retention: Retention,
        clock: Clock = utc_now,
    ) -> None:
        """`get_counted_day` returns today's date if the user's tokens are limited, else None."""
        self._stores = stores
        self._block_turns = block_turns
        self._clock = clock
        self._get_counted_day = get_counted_day
        self._wake = asyncio.Event()
        self._unreported = set[asyncio.Future[None]]()
        self._stop_waiting = asyncio.Event()
        self.retention = retention
        self.is_closed = False

    async def get_overview(self, user_id: int) -> Holdings:
        return await self._stores.personal_data.get_overview(user_id)

    async def export(self, user_id: int) -> AsyncIterator[bytes]:
        """Yield JSON files that fit into messages; none if nothing is stored."""
        file_number, file = 0, bytearray()
        async for number, chunk in self._export(user_id, max_bytes=MAX_FILE_BYTES):
            if number != file_number and file:
                yield bytes(file)
                file.clear()
            file_number = number
            file += chunk
        if file:
            yield bytes(file)

    async def export_whole(self, user_id: int) -> AsyncIterator[bytes]:
        async for _, chunk in self._export(user_id):
            yield chunk

    def _export(self, user_id: int, *, max_bytes: int | None = None) -> AsyncIterator[tuple[int, bytes]]:
        records = self._stores.personal_data.read_records(user_id)
        return export_chunks(records, user_id, self._clock(), max_bytes=max_bytes)

    async def erase(self, user_id: int) -> Holdings:
        """Erase all data of a user for good, once no turn is active. Returns the amounts stored before.

        Token counts stay until their limits reset; free pages of a large SQLite file stay until night. Raises
        ErasureUnfinished if `keep_finishing` will finish it, and another StorageError if nothing was erased.
        """
        try:
            with self.hold_shutdown():
                async with self._block_turns(user_id):
                    return await self._erase(user_id)
        except ErasureUnfinished:
            self._wake.set()
            raise

    @contextmanager
    def hold_shutdown(self) -> Iterator[None]:
        """Keep the program running until the user sees an erasure's outcome."""
        reported: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._unreported.add(reported)
        try:
            yield
        finally:
            self._unreported.discard(reported)
            reported.set_result(None)

    async def drain(self, grace_s: float) -> None:
        """Wait up to `grace_s` seconds for erasures. After that, they no longer wait for other processes."""
        await self._wait_idle(grace_s)
        self._stop_waiting.set()

    async def close(self, deadline_s: float) -> None:
        """Wait until all outcomes are reported, but not beyond `deadline_s` in the loop's time; then reject
        new erasures."""
        await self._wait_idle(deadline_s - asyncio.get_running_loop().time())
        self.is_closed = True

    async def _wait_idle(self, timeout_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self._unreported:
                    await asyncio.wait(self._unreported)

    async def _erase(self, user_id: int) -> Holdings:
        stored = await self._stores.personal_data.get_overview(user_id)
        counted_day = await self._get_counted_day(user_id)
        await self._wait_for_processes(user_id)
        await self._stores.personal_data.erase(user_id, counted_day=counted_day, already_begun=True)
        _log.info("user_erased", rows=sum(each.count for each in stored.kinds.values()))
        with log_failure("erased_not_cleaned", StorageError):  # `keep_purging` tries again
            await self._stores.memory_removal.scrub()
        return stored

    async def _wait_for_processes(self, user_id: int) -> None:
        """Wait until other processes have ended the user's turns. Raises ErasureUnfinished."""
        personal_data = self._stores.personal_data
        await personal_data.begin_erasure(user_id)
        try:
            async with asyncio.timeout(OTHER_PROCESSES_TIMEOUT_S):
                while await personal_data.has_turn_elsewhere(user_id):
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._stop_waiting.wait(), POLL_S)
                        raise ErasureUnfinished
        except TimeoutError:  # a process that hangs can't write for the user
            _log.warning("erasure_waits_no_longer")
        except StorageError as error:
            raise ErasureUnfinished from error

    def wake(self) -> None:
        """Wake `keep_finishing`, since another process may have left an erasure unfinished."""
        self._wake.set()

    async def is_being_erased(self, user_id: int) -> bool:
        return user_id in await self._stores.personal_data.list_unfinished()

    async def keep_finishing(self) -> None:
        """Continue unfinished erasures until cancelled, with increasing pauses after failures."""
        pause_s = RETRY_S
        while True:
            self._wake.clear()
            with bind_job_id("erasing"):
                is_any_left = await self._finish_all()
            try:
                async with asyncio.timeout(pause_s if is_any_left else None):
                    await self._wake.wait()
            except TimeoutError:
                pause_s = min(2 * pause_s, MAX_PAUSE_S)
            else:
                pause_s = RETRY_S
                await asyncio.sleep(pause_s)

    async def _finish_all(self) -> bool:
        """Finish erasures. Returns whether any is still unfinished."""
        is_any_left = False
        try:
            user_ids = await self._stores.personal_data.list_unfinished()
        except StorageError as error:
            _log.warning("erasing_failed", error=type(error).__name__)
            return True
        for user_id in user_ids:
            try:
                async with self._block_turns(user_id):
                    if await self.is_being_erased(user_id):  # another request may have finished it
                        await self._erase(user_id)
            except CcBotError as error:
                _log.warning("erasing_failed", error=type(error).__name__)
                is_any_left = True
        return is_any_left


RETENTION_INTERVAL_S: Final = 3600.0


async def delete_expired(store: RetentionStore, retention: Retention, clock: Clock, zone: ZoneInfo) -> int:
    """Delete what is older than its retention period in the operator's `zone`. Returns the number deleted."""
    now, count = clock(), 0
    if days := retention.session_days:
        count += await store.prune_sessions(now - timedelta(days=days))
    if days := retention.archive_days:
        count += await store.prune_messages(now - timedelta(days=days))
    if days := retention.usage_days:
        count += await store.prune_usage(now.astimezone(zone).date() - timedelta(days=days))
    return count


async def enforce_retention(
    store: RetentionStore, retention: Retention, clock: Clock, zone: ZoneInfo
) -> None:
    async def prune() -> None:
        if count := await delete_expired(store, retention, clock, zone):
            _log.info("old_data_deleted", count=count)

    await _run_hourly(prune)


async def enforce_copy_retention(database: Path, retention: Retention, clock: Clock) -> None:
    async def prune() -> None:
        if deleted := await asyncio.to_thread(delete_old_copies, database, clock(), retention.copy_days):
            _log.info("old_copies_deleted", names=[path.name for path in deleted])

    await _run_hourly(prune)


async def _run_hourly(prune: Callable[[], Awaitable[None]]) -> None:
    while True:
        with log_errors("retention"):
            await prune()
        await asyncio.sleep(RETENTION_INTERVAL_S)


MAX_PURGE_PAUSE_S: Final = 60.0  # far below UNDO_TIME, since the clock may be set forward
VACUUM_HOUR: Final = 4  # in the operator's zone; on a large file it blocks writers for seconds


async def purge_due(stores: Stores, clock: Clock, *, vacuum: bool = False) -> bool:
    """Erase the memories and conversations whose undo period has ended. Returns False to retry soon."""
    until = clock() - UNDO_TIME
    try:
        if count := await stores.memory_removal.purge(until):
            _log.info("memories_purged", count=count)
        if hidden := await stores.archive.list_due(until):
            for user_id, session_id in hidden:
                await stores.archive.delete_session(user_id, session_id)
            _log.info("sessions_purged", count=len(hidden))
        outcome = await stores.memory_removal.scrub(vacuum=vacuum)
    except Exception as error:  # noqa: BLE001 - an error must not end the purge
        _log.warning("purge_failed", error=type(error).__name__)
        return False
    if vacuum and outcome == "no_room":
        _log.warning("no_room_for_vacuum")
    return outcome != "busy"


async def keep_purging(stores: Stores, clock: Clock, zone: ZoneInfo) -> None:
    """Erase deleted memories and conversations until cancelled. VACUUM runs at night if needed, or at the
    start if pending."""
    vacuum_at = clock()
    while True:
        with bind_job_id("purge"):
            vacuum = clock() >= vacuum_at
            done = await purge_due(stores, clock, vacuum=vacuum)
            if vacuum and done:
                vacuum_at = _next_night(clock().astimezone(zone))
        await asyncio.sleep(await _get_pause_s(stores.memory_removal, clock) if done else RETRY_S)


def _next_night(now: datetime) -> datetime:
    tonight = now.replace(hour=VACUUM_HOUR, minute=0, second=0, microsecond=0)
    return tonight if now < tonight else tonight + timedelta(days=1)


async def _get_pause_s(removal: MemoryRemovalStore, clock: Clock) -> float:
    try:
        due = await removal.get_next_purge()
    except Exception:  # noqa: BLE001 - an error must not end the purge
        return RETRY_S
    left_s = MAX_PURGE_PAUSE_S if due is None else (due - clock()).total_seconds()
    return min(max(left_s, 0.0), MAX_PURGE_PAUSE_S)
