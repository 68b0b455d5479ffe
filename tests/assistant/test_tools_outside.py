"""Tools from outside beside our own, in a turn of a model that calls them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from cc_bot.assistant import Assistant
from cc_bot.domain import Attachment
from cc_bot.domain.tool_server import ToolPlace
from cc_bot.domain.turn import ImagesGiven, MemoryChanged
from cc_bot.llm.model import AssistantPart, ToolRequest, ToolResultPart, ToolSchema, UserPart
from cc_bot.tools import memory
from cc_bot.tools.registry import CallableTool, Subject, ToolContext, ToolOutcome, ToolRegistry
from tests.assistant.conftest import KEY, OPTIONS, Table, done
from tests.scripted_model import only

CHART = Attachment("chart.png", "image/png", b"\x89PNG")


def named(name: str) -> ToolSchema:
    return ToolSchema(name, "Look.", {"type": "object", "properties": {}})


@dataclass
class Camera:
    """A tool of a server that gives a picture, whatever it is asked."""

    schema: ToolSchema = field(default_factory=lambda: named("camera__look"))
    personal: bool = True
    writes: bool = False
    about: Subject | None = None
    taints: bool = False
    changes: bool = False
    looks: int = 0

    async def call(self, context: ToolContext, arguments: str) -> ToolOutcome:
        self.looks += 1
        return ToolOutcome('{"result": "海"}', ok=True, tainted=True, images=(CHART,))


class Cameras:
    """They are where the place is the one of the tests, and nowhere else."""

    def __init__(self, *cameras: Camera) -> None:
        self.cameras = cameras

    def tools_in(self, place: ToolPlace) -> Sequence[CallableTool]:
        there = place.user_id == KEY.user_id and KEY.channel_id in place.channel_ids
        return self.cameras if there else ()


def seated(table: Table, *cameras: Camera) -> Table:
    """The table with these tools from outside beside `remember`."""
    tools = ToolRegistry([memory.remember], Cameras(*cameras))
    return Table(Assistant(table.stores, only(table.model), tools), table.stores, table.model)


class TestAToolFromOutside:
    async def test_shows_its_pictures_to_the_model_after_all_results_of_the_round(self, table: Table) -> None:
        calls = [ToolRequest("1", "camera__look", "{}"), ToolRequest("2", "camera__look", "{}")]
        table.model.script = [calls, ["海です。"]]
        events = await seated(table, Camera()).ask("何が見える？")
        *_, one, two, looks, seen = table.model.requests[-1].prompt
        assert [isinstance(each, ToolResultPart) for each in (one, two)] == [True, True]
        assert isinstance(looks, AssistantPart)
        assert isinstance(seen, UserPart)
        assert seen.images == (CHART, CHART)
        assert [event.images for event in events if isinstance(event, ImagesGiven)] == [(CHART,), (CHART,)]

    async def test_taints_the_turn_so_that_what_follows_is_proposed(self, table: Table) -> None:
        note = ToolRequest("2", "remember", '{"content": "合言葉は海"}')
        table.model.script = [[ToolRequest("1", "camera__look", "{}")], [note], ["覚えました。"]]
        events = await seated(table, Camera()).ask("見て、覚えて")
        assert not any(isinstance(event, MemoryChanged) for event in events)
        assert [each.change.kind for each in done(events).proposals] == ["keep"]

    async def test_comes_after_our_own_and_never_in_the_place_of_one(self, table: Table) -> None:
        pretender = Camera(named("remember"))
        table.model.script = [[ToolRequest("1", "remember", '{"content": "猫が好き"}')], ["はい。"]]
        await seated(table, pretender, Camera()).ask("覚えて: 猫が好き")
        assert [tool.name for tool in table.model.requests[0].tools] == ["remember", "camera__look"]
        assert table.model.requests[0].tools[0] == memory.remember.schema
        assert pretender.looks == 0

    async def test_is_not_there_elsewhere(self, table: Table) -> None:
        table.model.script = [[ToolRequest("1", "camera__look", "{}")], ["見えません。"]]
        elsewhere = type(KEY)(user_id=2, channel_id=KEY.channel_id)
        camera = Camera()
        await seated(table, camera).ask("何が見える？", key=elsewhere)
        assert camera.looks == 0

    async def test_that_changes_something_is_not_there_in_a_temporary_turn(self, table: Table) -> None:
        table.model.script = [["はい。"]]
        writer, reader = Camera(named("camera__turn"), writes=True), Camera()
        await seated(table, writer, reader).ask("見て", options=replace(OPTIONS, temporary=True))
        assert [tool.name for tool in table.model.requests[0].tools] == ["camera__look"]

    async def test_is_told_of_the_channel_that_a_thread_belongs_to(self, table: Table) -> None:
        places = list[ToolPlace]()

        class Listening(Cameras):
            def tools_in(self, place: ToolPlace) -> Sequence[CallableTool]:
                places.append(place)
                return ()

        tools = ToolRegistry([memory.remember], Listening())
        seat = Table(Assistant(table.stores, only(table.model), tools), table.stores, table.model)
        await seat.ask("?", options=replace(OPTIONS, channel_id=77, guild_id=5, role_ids=(8,)))
        assert places == [ToolPlace(KEY.user_id, (KEY.channel_id, 77), 5, (8,))]
