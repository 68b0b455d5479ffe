"""Servers tried by themselves, as `cc-bot doctor` does: started, asked for their tools, and let go of."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from mcp.client.client import Client

from cc_bot.domain.tool_server import ServerTool, StoredToolList, ToolServerReport
from cc_bot.mcp.file import ServerEntry
from cc_bot.mcp.lists import ListedTool, offer_of, to_text
from cc_bot.mcp.server import ServerConnection

PATIENCE_S: Final = 30.0


async def try_servers(
    entries: Iterable[ServerEntry], cost: Callable[[ServerTool], int]
) -> Sequence[ToolServerReport]:
    """Try servers side by side, and tell how each is: ready with its tools, or away."""
    return await asyncio.gather(*(_try_server(each, cost) for each in entries))


async def _try_server(entry: ServerEntry, cost: Callable[[ServerTool], int]) -> ToolServerReport:
    found = list[ListedTool]()

    async def on_list(tools: Sequence[ListedTool]) -> None:
        found.extend(tools)

    async def leave(_: Client) -> None:
        pass

    connection = ServerConnection(entry, on_list)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await connection.connect(leave)
    except Exception as error:  # noqa: BLE001 - whatever a server does, it is not there
        return ToolServerReport(entry.name, "away", 0, 0, problem=connection.problem(error))
    seen = to_text(found)
    offer = offer_of(entry.name, entry.rules, StoredToolList(entry.digest, seen, seen))
    listed = tuple(tool.name for tool in found)
    return ToolServerReport(
        entry.name, "ready", len(offer.tools), offer.cost(cost), left_out=offer.left_out, listed=listed
    )
