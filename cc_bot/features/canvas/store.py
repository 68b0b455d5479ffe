"""Stores which Discord message shows which canvas."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from cc_bot.chat.stores.opening import StoreContext
from cc_bot.db import user_lock
from cc_bot.db.columns import KEY, Columns, Store, key_columns
from cc_bot.db.personal import PersonalTable
from cc_bot.domain.session import SessionKey

# ruff: noqa: S608 - put together from constants alone


TABLES: Final = (PersonalTable("canvas_messages", kind="choices", deleted_with_last_session=True),)


def make_stores(storage: StoreContext) -> Iterable[object]:
    yield CanvasMessageStore(storage.database, clock=storage.clock)


NO_MESSAGE: Final = 0  # deleted by a user, or not posted yet


@dataclass(frozen=True, slots=True)
class CanvasMessage:
    message_id: int  # or NO_MESSAGE
    shown_revision: int  # 0: outdated


_MESSAGE: Final = Columns(CanvasMessage)

_SELECT_MESSAGE: Final = f"""
    SELECT {_MESSAGE.select} FROM canvas_messages
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3
"""

# Does nothing if the sessions were erased while the message was posted.
_RECORD: Final = """
    INSERT INTO canvas_messages (user_id, channel_id, agent, message_id, shown_revision)
    SELECT $1, $2, $3, $4, $5
    WHERE EXISTS (
        SELECT 1 FROM sessions WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND canvas_revision > 0
    )
    ON CONFLICT (user_id, channel_id, agent) DO UPDATE SET message_id = $4, shown_revision = $5
    RETURNING message_id
"""

_FORGET: Final = "DELETE FROM canvas_messages WHERE user_id = $1 AND channel_id = $2 AND agent = $3"

# All users: Discord does not say who deletes a message.
SELECT_KEY: Final = f"SELECT {KEY.select} FROM canvas_messages WHERE message_id = $1 /* scope: all users */"

# All users: when a channel's agent is switched, each of them sees another canvas.
SELECT_CHANNEL_KEYS: Final = f"""
    SELECT {KEY.select} FROM canvas_messages WHERE channel_id = $1 LIMIT $2
    /* scope: channel */
"""

# Erasing a memory changes canvases, but not the messages that show them.
SELECT_OUTDATED_KEYS: Final = f"""
    SELECT {KEY.with_alias("c")} FROM canvas_messages AS c
    WHERE c.shown_revision <> COALESCE(
        (
            SELECT s.canvas_revision FROM sessions AS s
            WHERE s.user_id = c.user_id AND s.channel_id = c.channel_id AND s.agent = c.agent
                AND s.closed_at IS NULL
        ),
        (
            SELECT s.canvas_revision FROM sessions AS s
            WHERE s.user_id = c.user_id AND s.channel_id = c.channel_id AND s.agent = c.agent
                AND s.canvas_revision > 0 AND s.closed_at IS NOT NULL
            ORDER BY s.closed_at DESC LIMIT 1
        ),
        0
    )
    LIMIT $1 /* scope: all users */
"""


class CanvasMessageStore(Store):
    async def get(self, key: SessionKey) -> CanvasMessage | None:
        return _MESSAGE.read_first(await self._database.query(_SELECT_MESSAGE, *key_columns(key)))

    async def record(self, key: SessionKey, message_id: int, revision: int) -> bool:
        """Record which revision a message shows. Returns False if the key's sessions were erased."""
        values = (*key_columns(key), message_id, revision)
        return bool(await self._change([user_lock(key.user_id)], _RECORD, *values))

    async def forget(self, key: SessionKey) -> None:
        await self._change([user_lock(key.user_id)], _FORGET, *key_columns(key))

    async def get_key(self, message_id: int) -> SessionKey | None:
        return KEY.read_first(await self._database.query(SELECT_KEY, message_id))

    async def list_outdated_keys(self, limit: int) -> list[SessionKey]:
        return [*map(KEY.read, await self._database.query(SELECT_OUTDATED_KEYS, limit))]

    async def list_keys_in_channel(self, channel_id: int, limit: int) -> list[SessionKey]:
        return [*map(KEY.read, await self._database.query(SELECT_CHANNEL_KEYS, channel_id, limit))]
