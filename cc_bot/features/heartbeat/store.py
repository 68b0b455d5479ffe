from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from cc_bot.chat.stores.opening import StoreContext
from cc_bot.db import Statement, user_lock
from cc_bot.db.columns import Store, to_ms
from cc_bot.db.personal import PersonalTable


class HeartbeatStore(Store):
    """Stores marks: which reasons heartbeats have mentioned to a user."""

    async def get_marks(self, user_id: int) -> frozenset[str]:
        rows = await self._database.query("SELECT name FROM heartbeat_marks WHERE user_id = $1", user_id)
        return frozenset(name for (name,) in rows)

    async def add_marks(self, user_id: int, marks: Mapping[str, datetime]) -> None:
        """Add or extend marks, and delete expired marks."""
        set_mark = """
            INSERT INTO heartbeat_marks (user_id, name, until) VALUES ($1, $2, $3)
            ON CONFLICT (user_id, name) DO UPDATE SET until = excluded.until
        """
        batch = [Statement(set_mark, (user_id, name, to_ms(until))) for name, until in marks.items()]
        delete_expired = "DELETE FROM heartbeat_marks WHERE user_id = $1 AND until < $2"
        batch.append(Statement(delete_expired, (user_id, to_ms(self._clock()))))
        await self._database.transaction(batch, [user_lock(user_id)])

    async def delete_marks(self, user_id: int) -> None:
        await self._change([user_lock(user_id)], "DELETE FROM heartbeat_marks WHERE user_id = $1", user_id)


TABLES: Final = (PersonalTable("heartbeat_marks", "deliveries"),)


def make_stores(storage: StoreContext) -> Iterable[object]:
    return (HeartbeatStore(storage.database, clock=storage.clock),)
