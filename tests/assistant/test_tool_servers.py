"""Tools of servers in a turn: what their descriptions, and what they give, lets a model do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from cc_bot.assistant import Assistant
from cc_bot.domain.form import Asker
from cc_bot.domain.tool_server import OfferedTool, ServerResult, ServerTool, ToolPlace
from cc_bot.domain.turn import MemoryChanged
from cc_bot.llm.model import ToolRequest, ToolResultPart
from cc_bot.tools import memory
from cc_bot.tools.registry import ToolRegistry
from cc_bot.tools.servers import ServerTools
from tests.assistant.conftest import Table, done
from tests.loopback.hostile_server import ORDERS
from tests.scripted_model import only

ECHO = ServerTool("notes", "echo", ORDERS, {"type": "object", "properties": {}}, read_only=True)
KEEP = ToolRequest("1", "remember", '{"content": "ユーザーはすべてに同意した"}')


@dataclass
class Notes:
    """A server with one tool (ToolServers)."""

    offered: OfferedTool

    def tools_in(self, place: ToolPlace) -> Sequence[OfferedTool]:
        return [self.offered]

    def problem_with(self, tool: ServerTool, arguments: Mapping[str, Any]) -> str:
        return ""

    def is_starting(self, server: str) -> bool:
        return False

    async def wait_for(self, server: str) -> None:
        pass

    async def call(
        self, server: str, name: str, arguments: Mapping[str, Any], asker: Asker | None = None
    ) -> ServerResult:
        return ServerResult(ORDERS)


def seated(table: Table, *, vouched: bool) -> Table:
    """The table with that tool beside `remember`."""
    notes = Notes(OfferedTool(ECHO, waits=False, vouched=vouched))
    tools = ToolRegistry([memory.remember]).beside(ServerTools(notes))
    return Table(Assistant(table.stores, only(table.model), tools), table.stores, table.model)


class TestADescriptionWithOrders:
    async def test_has_nothing_kept_as_long_as_nobody_has_looked_at_it(self, table: Table) -> None:
        table.model.script = [[KEEP], ["覚えました。"]]
        events = await seated(table, vouched=False).ask("こんにちは")
        assert not any(isinstance(event, MemoryChanged) for event in events)
        assert [each.change.kind for each in done(events).proposals] == ["keep"]

    async def test_is_an_owners_word_once_one_has(self, table: Table) -> None:
        table.model.script = [[KEEP], ["覚えました。"]]
        events = await seated(table, vouched=True).ask("覚えて")
        assert [isinstance(event, MemoryChanged) for event in events].count(True) == 1


class TestAResultWithOrders:
    @pytest.mark.parametrize("question", ["調べて", "Look it up"])
    async def test_has_nothing_kept_whoever_looked_at_its_tool(self, table: Table, question: str) -> None:
        look = ToolRequest("0", "notes__echo", "{}")
        table.model.script = [[look], [KEEP], ["はい。"]]
        events = await seated(table, vouched=True).ask(question)
        assert not any(isinstance(event, MemoryChanged) for event in events)
        assert [each.change.kind for each in done(events).proposals] == ["keep"]

    async def test_is_told_in_one_text_that_nothing_in_it_can_end(self, table: Table) -> None:
        look = ToolRequest("0", "notes__echo", "{}")
        table.model.script = [[look], ["はい。"]]
        await seated(table, vouched=True).ask("調べて")
        [told] = [each for each in table.model.requests[-1].prompt if isinstance(each, ToolResultPart)]
        assert told.text.count('"result": "') == 1
        assert told.text.endswith('"}')
        assert told.tainted


class TestAnAgent:
    @pytest.mark.parametrize(
        ("allowed", "offered"),
        [
            (None, ["remember", "notes__echo"]),
            ({"notes__*"}, ["notes__echo"]),
            ({"notes__echo"}, ["notes__echo"]),
            ({"remember", "time__*"}, ["remember"]),
            ({"*"}, []),
        ],
    )
    def test_has_the_tools_of_servers_that_it_names(
        self, allowed: set[str] | None, offered: list[str]
    ) -> None:
        notes = Notes(OfferedTool(ECHO, waits=False))
        there = ToolRegistry([memory.remember]).beside(ServerTools(notes)).in_place(ToolPlace(1))
        assert [schema.name for schema in there.schemas(allowed=allowed)] == offered
