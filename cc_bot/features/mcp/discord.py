"""Tells the owners of newly withheld tools."""

from collections.abc import Iterable
from dataclasses import dataclass

from cc_bot.chat.parts import Parts
from cc_bot.discord.gate import OwnerNews
from cc_bot.domain.text import one_line
from cc_bot.features.mcp.servers import Servers
from cc_bot.features.mcp.texts import ToolServersTexts
from cc_bot.texts import Texts


def make_parts(given: Parts) -> Iterable[object]:
    if servers := given.get(Servers):
        yield WithheldTools(servers)


@dataclass(eq=False, slots=True)
class WithheldTools(OwnerNews):
    servers: Servers

    async def next(self, words: Texts) -> str:
        server = await self.servers.servers_to_report.get()
        return words[ToolServersTexts].servers_to_report.format(server=one_line(server))
