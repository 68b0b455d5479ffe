"""Repeats in a restored database the erasures since its backup. The SQL spans all users."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from itertools import compress
from typing import Final

from cc_bot.chat.stores.archive import ArchiveStore
from cc_bot.chat.stores.channels import ChannelStore
from cc_bot.db import MAINTENANCE_LOCK, Database, Erasures, Statement, memory_log_id, thread_log_id
from cc_bot.db.columns import CHANNEL
from cc_bot.domain.clock import Clock
from cc_bot.features.memory.stores.removal import MemoryRemovalStore
from cc_bot.features.privacy.personal_data import PersonalDataStore

# Turns and approved calls that may have ended since the backup, and browsers that may have signed out.
_DELETE_PENDING: Final = (
    *("DELETE FROM turns WHERE kind <> 'mention'", "DELETE FROM proposals WHERE state <> 'open'"),
    *("DELETE FROM web_codes", "DELETE FROM web_sessions"),
)
_SELECT_NEWEST: Final = """
    SELECT max(at) FROM (
        SELECT max(last_active) AS at FROM sessions UNION ALL SELECT max(created_at) FROM memories
    ) AS either
"""
_SELECT_MEMORIES: Final = "SELECT user_id, id, created_at FROM memories ORDER BY user_id, id DESC"
_SELECT_SESSIONS: Final = "SELECT user_id, id FROM sessions"
_SELECT_MESSAGES: Final = """
    SELECT discord_id FROM messages WHERE discord_id IS NOT NULL
    UNION ALL SELECT discord_id FROM answer_pages
"""


@dataclass(frozen=True, slots=True)
class ReappliedErasures:
    users: int = 0
    memories: int = 0
    sessions: int = 0
    deleted: int = 0  # messages and channels deleted on Discord
    since: datetime | None = field(default=None, compare=False)
    """Users erased since then are erased again (None: users erased at any time). Other items are erased again
    at whatever time they were erased: their ids are never reused."""

    def __bool__(self) -> bool:
        return bool(self.users or self.memories or self.sessions or self.deleted)


async def reapply_erasures(
    database: Database, erasures: Erasures, since: datetime | None, *, clock: Clock, mark: str
) -> ReappliedErasures:
    """Discard pending work, and repeat the erasures logged since a time (None: the database's newest time).
    `mark` replaces messages that repeat an erased memory."""
    # These stores have no erasure log, so the repeated erasures are not logged again.
    removal = MemoryRemovalStore(database, clock=clock)
    await database.transaction([*map(Statement, _DELETE_PENDING)], [MAINTENANCE_LOCK])
    if since is None:
        [(newest,)] = await database.query(_SELECT_NEWEST)
        since = datetime.fromisoformat(newest) if newest else None
    erased = ReappliedErasures(
        users=await _erase_users(PersonalDataStore(database, clock=clock), erasures, since),
        memories=await _erase_memories(database, removal, erasures, mark),
        sessions=await _erase_sessions(database, ArchiveStore(database, clock=clock), erasures),
        deleted=await _erase_messages(database, ChannelStore(database, clock=clock), erasures),
        since=since,
    )
    await removal.scrub(vacuum=True)
    return erased


async def _erase_users(store: PersonalDataStore, erasures: Erasures, since: datetime | None) -> int:
    users = await store.list_users()
    with ThreadPoolExecutor() as threads:  # each hash takes milliseconds
        matches = await asyncio.to_thread(
            lambda: list(threads.map(lambda user: erasures.match("user", user, since), users))
        )
    erased = list(compress(users, matches))
    for user in erased:
        await store.erase(user)
    return len(erased)


async def _erase_memories(
    database: Database, store: MemoryRemovalStore, erasures: Erasures, mark: str
) -> int:
    count = 0
    for user, number, created_at in await database.query(_SELECT_MEMORIES):
        name = memory_log_id(user, number, created_at)
        with_messages = erasures.match("memory_and_messages", name, None)
        if with_messages or erasures.match("memory", name, None):
            counts = await store.erase(user, number, stub=mark if with_messages else None)
            count += counts.memories if counts else 0
    return count


async def _erase_sessions(database: Database, store: ArchiveStore, erasures: Erasures) -> int:
    sessions = await database.query(_SELECT_SESSIONS)
    erased = [(user, session) for user, session in sessions if erasures.match("session", session, None)]
    for user, session in erased:
        await store.delete_session(user, session)
    return len(erased)


async def _erase_messages(database: Database, store: ChannelStore, erasures: Erasures) -> int:
    count = 0
    sql = """
        SELECT DISTINCT parent_channel_id, thread_id FROM messages
        WHERE user_id IS NULL AND discord_id IS NOT NULL
    """
    for key in map(CHANNEL.read, await database.query(sql)):  # a thread is deleted with its channel
        names = (thread_log_id(key.channel_id, thread) for thread in {0, key.thread_id})
        if any(erasures.match("place", name, None) for name in names):
            await store.forget_channel(key)
            count += 1
    messages = [id_ for (id_,) in await database.query(_SELECT_MESSAGES)]
    deleted = [message for message in messages if erasures.match("message", message, None)]
    return count + (await store.delete(deleted) if deleted else 0)
