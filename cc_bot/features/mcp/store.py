from collections.abc import Iterable, Mapping
from typing import Final

from cc_bot.chat.stores.opening import StoreContext
from cc_bot.db.columns import Store, upsert
from cc_bot.features.mcp.model import StoredToolList

SELECT_LISTS: Final = "SELECT server, seen, accepted FROM tool_lists ORDER BY server"

_PUT_TOOLS: Final = upsert("tool_lists", "server", "seen accepted")


class ToolListStore(Store):
    """Stores the tools of servers, and nothing about users."""

    async def get_all(self) -> Mapping[str, StoredToolList]:
        rows = await self._database.query(SELECT_LISTS)
        return {server: StoredToolList(*lists) for server, *lists in rows}

    async def put(self, server: str, tool_list: StoredToolList) -> None:
        await self._change((), _PUT_TOOLS, server, tool_list.listed_json, tool_list.accepted_json)


TABLES: Final = ()


def make_stores(storage: StoreContext) -> Iterable[object]:
    return (ToolListStore(storage.database),)
