"""The tools of the operator's servers, as these listed them last and as the operator agreed to."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.tool_server import StoredToolList
from cc_bot.storage import Database, Statement
from cc_bot.stores.columns import to_text

_COLUMNS: Final = ", ".join(field.name for field in fields(StoredToolList))

SELECT_LISTS: Final = f"SELECT server, {_COLUMNS} FROM tool_lists ORDER BY server"  # noqa: S608 - constants

# $1 server, $2 entry, $3 seen, $4 accepted, $5 whether somebody vouched for them, $6 now
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
            server: StoredToolList(entry, seen, accepted, bool(vouched))
            for server, entry, seen, accepted, vouched in rows
        }

    async def put(self, server: str, tools: StoredToolList) -> None:
        """Keep the tools of a server. Raises StorageError."""
        told = (tools.entry, tools.seen, tools.accepted, int(tools.vouched))
        params = (server, *told, to_text(self._clock()))
        await self._database.transaction([Statement(_PUT, params)], ())
