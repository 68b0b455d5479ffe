"""The tools of the operator's servers, as these listed them last and as an owner accepted them."""

from collections.abc import Mapping
from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.tool_server import StoredToolList
from cc_bot.storage import Database, Statement
from cc_bot.stores.columns import to_text

# Earlier versions accepted the first list of a server by themselves: `vouched` tells what an owner has.
SELECT_LISTS: Final = "SELECT server, entry, seen, accepted, vouched FROM tool_lists ORDER BY server"

# $1 server, $2 entry, $3 seen, $4 accepted, $5 whether an owner has, $6 now
_PUT: Final = """
    INSERT INTO tool_lists (server, entry, seen, accepted, vouched, seen_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (server) DO UPDATE SET
        entry = excluded.entry, seen = excluded.seen, accepted = excluded.accepted,
        vouched = excluded.vouched, seen_at = excluded.seen_at
"""


class ToolListStore:
    """The tools of every server. They say nothing about anybody."""

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def get_all(self) -> Mapping[str, StoredToolList]:
        """Return them by server. Raises StorageError."""
        rows = await self._database.query(SELECT_LISTS)
        return {
            server: StoredToolList(entry, seen, accepted if vouched else "")
            for server, entry, seen, accepted, vouched in rows
        }

    async def put(self, server: str, tools: StoredToolList) -> None:
        """Keep the tools of a server. Raises StorageError."""
        told = (tools.entry, tools.seen, tools.accepted, int(bool(tools.accepted)))
        params = (server, *told, to_text(self._clock()))
        await self._database.transaction([Statement(_PUT, params)], ())
