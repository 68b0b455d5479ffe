"""Which models answer in a channel, where an owner has chosen some for it."""

import json
from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.storage import Database, Statement
from cc_bot.stores.columns import to_text

# Of a channel, and of everybody in it: these name no user.
SELECT_MODELS: Final = "SELECT models FROM channel_models WHERE channel_id = $1"
SELECT_ALL_MODELS: Final = "SELECT channel_id, models FROM channel_models ORDER BY channel_id"
SET_MODELS: Final = """
    INSERT INTO channel_models (channel_id, models, set_by, set_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (channel_id) DO UPDATE SET
        models = excluded.models, set_by = excluded.set_by, set_at = excluded.set_at
"""
UNSET_MODELS: Final = "DELETE FROM channel_models WHERE channel_id = $1 RETURNING 1"


class ChannelModelStore:
    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def chain(self, channel_id: int) -> tuple[str, ...]:
        """The models of a channel or thread, the preferred one first; empty where none was chosen for it.
        Raises StorageError."""
        rows = await self._database.query(SELECT_MODELS, channel_id)
        return tuple(json.loads(rows[0][0])) if rows else ()

    async def chains(self) -> dict[int, tuple[str, ...]]:
        """Of every channel and thread that has some. Raises StorageError."""
        rows = await self._database.query(SELECT_ALL_MODELS)
        return {channel_id: tuple(json.loads(models)) for channel_id, models in rows}

    async def put(self, channel_id: int, chain: tuple[str, ...], *, set_by: int) -> None:
        """From now on these answer there. Raises StorageError."""
        params = (channel_id, json.dumps(chain, ensure_ascii=False), set_by, to_text(self._clock()))
        await self._database.transaction([Statement(SET_MODELS, params)])

    async def unset(self, channel_id: int) -> bool:
        """Whether the channel had models of its own. Raises StorageError."""
        [rows] = await self._database.transaction([Statement(UNSET_MODELS, (channel_id,))])
        return bool(rows)
