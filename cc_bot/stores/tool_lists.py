"""Tool lists of MCP servers: as last listed, and as accepted by an owner."""

from collections.abc import Mapping
from typing import Final

from cc_bot.domain.tool_server import StoredToolList
from cc_bot.storage import Database, Statement

SELECT_LISTS: Final = "SELECT server, seen, accepted FROM tool_lists ORDER BY server"

_PUT: Final = """
    INSERT INTO tool_lists (server, seen, accepted) VALUES ($1, $2, $3)
    ON CONFLICT (server) DO UPDATE SET seen = excluded.seen, accepted = excluded.accepted
"""


class ToolListStore:
    """No user data."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get_all(self) -> Mapping[str, StoredToolList]:
        """Return the lists by server. Raises StorageError."""
        rows = await self._database.query(SELECT_LISTS)
        return {server: StoredToolList(*tools) for server, *tools in rows}

    async def put(self, server: str, tools: StoredToolList) -> None:
        """Store a server's tools. Raises StorageError."""
        params = (server, tools.seen, tools.accepted)
        await self._database.transaction([Statement(_PUT, params)], ())
