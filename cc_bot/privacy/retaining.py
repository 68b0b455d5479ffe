"""Deleting what is older than the operator keeps it, in the background and a little at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import structlog

from cc_bot.correlation import job
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.privacy import Retention
from cc_bot.storage.copies import Copies, delete_old_copies
from cc_bot.storage.erasures import ErasureLog
from cc_bot.stores.retention import Pruned, RetentionStore

EVERY_S: Final = 3600.0
SLACK: Final = timedelta(days=1)
"""The names of backups tell a moment in the zone of whoever made them."""
PAUSE_S: Final = 0.05
"""Between two steps, for turns to be stored meanwhile."""

_log = structlog.get_logger(__name__)


async def retain(
    store: RetentionStore, retention: Retention, clock: Clock, zone: ZoneInfo, *, pause_s: float = PAUSE_S
) -> int:
    """Delete all that is too old now. Of how many messages, conversations and days that was. Days begin where
    the operator is (`zone`). Raises StorageError."""
    now, count = clock(), 0
    if retention.session_days:
        before = now - timedelta(days=retention.session_days)
        count += await _all(lambda after: store.prune_sessions(before, after), pause_s)
    if retention.archive_days:
        said_before = now - timedelta(days=retention.archive_days)
        count += await _all(lambda after: store.prune_messages(said_before, after), pause_s)
    if retention.usage_days:
        first_kept = now.astimezone(zone).date() - timedelta(days=retention.usage_days)
        count += await store.prune_usage(first_kept)
    return count


async def keep_to_retention(
    store: RetentionStore, retention: Retention, clock: Clock, zone: ZoneInfo
) -> None:
    """Do that now and every hour, until cancelled; a failure is tried again then."""
    while True:
        with job("retention"):
            try:
                if count := await retain(store, retention, clock, zone):
                    _log.info("old_data_deleted", count=count)
            except CcBotError as error:
                _log.warning("retention_failed", error=type(error).__name__)
        await asyncio.sleep(EVERY_S)


async def keep_copies_to_retention(
    database: Path, retention: Retention, clock: Clock, zone: ZoneInfo
) -> None:
    """Delete copies beside the database that are too old, now and every hour, until cancelled; a failure is
    tried again then. Their names are in the operator's `zone`."""
    while True:
        with job("retention"):
            try:
                deleted = await asyncio.to_thread(
                    delete_old_copies, database, clock(), retention.copy_days, zone
                )
                if deleted:
                    _log.info("old_copies_deleted", names=[path.name for path in deleted])
            except OSError as error:
                _log.warning("old_copies_kept", error=str(error))
        await asyncio.sleep(EVERY_S)


async def keep_log_thin(log: ErasureLog, copies: Copies, retention: Retention, clock: Clock) -> None:
    """Take out of the log of erasures what no copy is old enough for any more, now and every hour, until
    cancelled; a failure is tried again then."""
    while True:
        with job("retention"):
            try:
                before = await asyncio.to_thread(_needed_since, copies, retention, clock())
                if before and (count := await log.thin(before)):
                    _log.info("erasures_thinned", count=count)
            except (CcBotError, OSError) as error:
                _log.warning("erasures_not_thinned", error=type(error).__name__)
        await asyncio.sleep(EVERY_S)


def _needed_since(copies: Copies, retention: Retention, now: datetime) -> datetime | None:
    """Erasures before that moment are done in every copy: in those that are known, and in those that were
    carried elsewhere, which the operator keeps for so many days at most. None: all are needed. Raises
    OSError."""
    if not retention.erasure_days:
        return None
    elsewhere = now - timedelta(days=retention.erasure_days)
    oldest = copies.oldest()
    return min(elsewhere, oldest - SLACK) if oldest else elsewhere


async def _all(step: Callable[[int], Awaitable[Pruned]], pause_s: float) -> int:
    count, after = 0, 0
    while True:
        pruned = await step(after)
        count += pruned.count
        if pruned.after is None:
            return count
        after = pruned.after
        await asyncio.sleep(pause_s)
