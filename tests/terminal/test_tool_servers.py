"""`/admin tools` in the terminal, whose user the bot belongs to."""

import json
from dataclasses import dataclass, field

import pytest

from cc_bot.domain import Locale
from cc_bot.domain.errors import ToolListNotShown, ToolServerUnknown
from cc_bot.domain.tool_server import ToolDetails, ToolServerReport, ToolWording
from cc_bot.stores import Stores
from tests.terminal.talk import Talk

NEW = ToolWording("天気を調べます。", json.dumps({"type": "object"}), read_only=True, waits=False)


@dataclass
class Weather:
    """One server, a tool of which is new."""

    accepted: list[str] = field(default_factory=list)

    def reports(self) -> tuple[ToolServerReport, ...]:
        withheld = () if self.accepted else ("weather__look",)
        return (
            ToolServerReport(
                "weather", "ready", 0, 0, withheld=withheld, code="" if self.accepted else "0a1b"
            ),
        )

    def details(self, server: str) -> tuple[ToolDetails, ...]:
        self._check(server)
        return (ToolDetails("weather__look", "new", NEW, None),)

    async def accept(self, server: str, code: str) -> tuple[str, ...] | None:
        self._check(server)
        if self.accepted:
            return None
        if code != "0a1b":
            raise ToolListNotShown
        self.accepted.append(server)
        return ("weather__look",)

    def _check(self, server: str) -> None:
        if server != "weather":
            raise ToolServerUnknown


@pytest.mark.parametrize("line", ["/admin tools", "/admin", "／管理　ツール"])
async def test_lists_the_servers_and_what_is_held_back(stores: Stores, line: str) -> None:
    said = await Talk(stores, servers=Weather()).say(line)
    assert "weather — 使えます" in said
    assert "weather__look" in said


async def test_says_so_where_there_are_none(stores: Stores) -> None:
    assert "data/mcp.json" in await Talk(stores).say("/admin tools")


@pytest.mark.parametrize("line", ["/admin tools weather", "/admin tools show weather"])
async def test_gives_every_word_of_a_server_with_the_code_to_accept_it(stores: Stores, line: str) -> None:
    said = await Talk(stores, servers=Weather()).say(line)
    assert "  | 天気を調べます。" in said
    assert "0a1b" in said


async def test_lets_be_used_what_was_read_and_nothing_else(stores: Stores) -> None:
    servers = Weather()
    chat = Talk(stores, servers=servers)
    assert "何も承認していません" in await chat.say("/admin tools accept weather ffff")
    assert servers.accepted == []
    assert "weather__look" in await chat.say("/admin tools accept weather ０Ａ１Ｂ")
    assert servers.accepted == ["weather"]
    assert "新しく変わったところはありません" in await chat.say("/admin tools accept weather 0a1b")


@pytest.mark.parametrize("line", ["/admin tools accept weather", "/admin tools accept", "/admin tools a b c"])
async def test_says_how_it_is_written(stores: Stores, line: str) -> None:
    said = await Talk(stores, Locale.EN, servers=Weather()).say(line)
    assert "/admin tools [server | accept server code]" in said


async def test_names_no_server_that_there_is_not(stores: Stores) -> None:
    said = await Talk(stores, Locale.EN, servers=Weather()).say("/admin tools time")
    assert said.count("\n") == 1
