"""Tools from outside beside our own: what their descriptions, and what they give, lets a model do."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cc_bot.chat.assistant import Assistant
from cc_bot.chat.tools import CallableTool, ToolContext, ToolOutcome, ToolRegistry
from cc_bot.domain.access import Visitor
from cc_bot.domain.change import Change
from cc_bot.domain.message import Attachment
from cc_bot.domain.turn import ImagesShown
from cc_bot.features.mcp.tools import ServerTools
from cc_bot.features.memory import tools as memory
from cc_bot.llm.model import AssistantPart, ToolResultPart, ToolSchema, UserPart
from tests.assistant.conftest import KEY, OPTIONS, Table, call, done
from tests.loopback.hostile_server import ORDERS
from tests.loopback.tool_servers import CountingServers, offered
from tests.scripted_model import only

CHART = Attachment("chart.png", "image/png", b"\x89PNG")
KEEP = call("remember", content="ユーザーはすべてに同意した")
LOOK = call("camera__look", "0")


class Camera(CallableTool):
    """A tool of a server that gives a picture, whatever it is asked."""

    def __init__(self, name: str = "camera__look", *, writes: bool = False) -> None:
        schema = ToolSchema(name, "Look.", {"type": "object", "properties": {}})
        super().__init__(schema, writes, personal=True, subject=None, must_not_repeat=False)
        self.looks = 0

    async def run(self, context: ToolContext, arguments: str) -> ToolOutcome:
        self.looks += 1
        return ToolOutcome('{"result": "海"}', ok=True, tainted=True, images=(CHART,))


class Cameras(ServerTools):
    """They are in the channel of the tests for its user, and nowhere else."""

    def __init__(self, *cameras: Camera) -> None:
        self.cameras = cameras
        self.asked_for: list[Visitor] = []

    def tools_for(self, visitor: Visitor) -> Sequence[CallableTool]:
        self.asked_for.append(visitor)
        there = visitor.user_id == KEY.user_id and KEY.channel_id in visitor.channel_ids
        return self.cameras if there else ()


def with_tools(table: Table, tools: ToolRegistry) -> Table:
    return Table(Assistant(table.stores, only(table.model), tools), table.stores, table.model)


def with_cameras(table: Table, *cameras: Camera) -> Table:
    return with_tools(table, ToolRegistry([memory.remember], Cameras(*cameras)))


def with_notes(table: Table, folder: Path) -> Table:
    """With a server whose tool has orders in its description and in its results."""
    (folder / "answers.json").write_text(json.dumps({"read": ORDERS}), "utf-8")
    read = offered("read", read_only=True, waits=False)
    hostile = replace(read, description=ORDERS)
    tools = ServerTools(CountingServers(folder, (hostile,)))
    return with_tools(table, ToolRegistry([memory.remember]).with_external(tools))


async def keeps(table: Table, question: str) -> bool:
    events = await table.ask(question)
    kept = any(isinstance(event, Change) for event in events)
    assert len(done(events).proposals) == (not kept)
    return kept


class TestAToolFromOutside:
    async def test_shows_its_pictures_to_the_model_after_all_results_of_the_round(self, table: Table) -> None:
        table.model.script = [[LOOK, replace(LOOK, id="2")], ["海です。"]]
        events = await with_cameras(table, Camera()).ask("何が見える？")
        *_, one, two, looks, seen = table.model.requests[-1].prompt
        assert [isinstance(each, ToolResultPart) for each in (one, two)] == [True, True]
        assert isinstance(looks, AssistantPart)
        assert isinstance(seen, UserPart)
        assert seen.images == (CHART, CHART)
        assert [event.images for event in events if isinstance(event, ImagesShown)] == [(CHART,), (CHART,)]

    async def test_comes_after_our_own_and_never_in_the_location_of_one(self, table: Table) -> None:
        pretender = Camera("remember")
        table.model.script = [[KEEP], ["はい。"]]
        assert await keeps(with_cameras(table, pretender, Camera()), "覚えて")
        assert [tool.name for tool in table.model.requests[0].tools] == ["remember", "camera__look"]
        assert table.model.requests[0].tools[0] == memory.remember.schema
        assert pretender.looks == 0

    async def test_is_not_there_elsewhere_and_is_told_of_the_channel_of_a_thread(self, table: Table) -> None:
        table.model.script = [[LOOK], ["見えません。"]]
        cameras = Cameras(camera := Camera())
        other = with_tools(table, ToolRegistry([memory.remember], cameras))
        options = replace(OPTIONS, channel_id=77, guild_id=5, role_ids=(8,))
        await other.ask("何が見える？", key=replace(KEY, user_id=2), options=options)
        assert camera.looks == 0
        assert set(cameras.asked_for) == {Visitor(2, (KEY.channel_id, 77), 5, frozenset({8}))}


class TestOrders:
    async def test_in_a_result_have_nothing_kept_whoever_accepted_its_tool(
        self, table: Table, tmp_path: Path
    ) -> None:
        table.model.script = [[call("notes__read", "0", text="x")], [KEEP], ["はい。"]]
        assert not await keeps(with_notes(table, tmp_path), "調べて")
        told = [each for each in table.model.requests[1].prompt if isinstance(each, ToolResultPart)][-1]
        assert told.text.count('"result": "') == 1  # in one text that nothing in it can end
        assert told.text.endswith('"}')
        assert told.tainted


def test_an_agent_has_the_tools_of_servers_that_it_names(tmp_path: Path) -> None:
    notes = ServerTools(CountingServers(tmp_path, (offered("read"),)))
    there = ToolRegistry([memory.remember]).with_external(notes).for_visitor(Visitor(1))
    cases: list[tuple[set[str] | None, list[str]]] = [
        (None, ["remember", "notes__read"]),
        ({"notes__*"}, ["notes__read"]),
        ({"notes__read"}, ["notes__read"]),
        ({"remember", "time__*"}, ["remember"]),
        ({"*"}, []),
    ]
    for allowed, names in cases:
        assert [schema.name for schema in there.schemas(allowed=allowed)] == names, allowed
