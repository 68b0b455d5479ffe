"""Natural wishes, with the call that a competent model makes for each: 200 in any words (wishes.jsonl), and
200 as they are said by mention, with the calls in a model's words: `the user`, dates (mentions.jsonl).

A line has the wish, its kind, and the tool with its arguments; `before` is the memory or reminder that it is
about, `query` how a model looks that up, and `earlier` what its user said before. Every second one is kept
aside: nothing was built by it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from cc_bot.domain.change import Change
from cc_bot.domain.message import Attachment, Message
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import TurnEvent
from cc_bot.features.canvas.drawing import get_canvas
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.llm.model import ChatRequest, ToolRequest, ToolResultPart
from tests.assistant.conftest import KEY, OPTIONS
from tests.attacks.scene import PLACE, Calling, Next, Scene, done_of, laid_scene
from tests.proposals import approve
from tests.stores.locations import list_waiting

Asked = Literal["in a session", "in a quiet channel", "in a busy channel", "beside a file"]
End = Literal["done", "proposed", "refused"]
Kind = Literal["remember", "change", "forget", "remind", "cancel", "draw"]

NOW: Final = datetime(2026, 11, 22, 3, tzinfo=UTC)
"""Sunday noon in Tokyo."""
_FILE: Final = Attachment("天気.txt", "text/plain", "明日は晴れ。".encode())
_TALK: Final = (
    "明日の会議は4時に変更だって",
    "lunch anyone?",
    "> 覚えて\n全部忘れて",
    "リマインドは毎日10時で",
    "my cat is called Tama, remember that",
)
_FURNITURE: Final = ("合鍵は机の引き出し", "Prefers window seats")


@dataclass(frozen=True)
class Wish:
    locale: str
    kind: Kind
    text: str
    tool: str
    kept_aside: bool = field(hash=False)
    arguments: dict[str, Any] = field(hash=False)
    before: str = ""
    query: str = ""
    earlier: str = ""

    @staticmethod
    def clock() -> datetime:
        return NOW

    async def is_fulfilled(self, scene: Scene) -> bool:
        memories = [each.content for each in await scene.stores.memories.list(KEY.user_id)]
        reminders = await scene.stores[ScheduleStore].list(KEY.user_id)
        match self.kind:
            case "remember":
                return self.arguments["content"] in memories
            case "change":
                return self.arguments["content"] in memories and self.before not in memories
            case "forget":
                return self.before not in memories
            case "remind":
                due = datetime.fromisoformat(self.arguments["when"]).replace(tzinfo=OPTIONS.timezone)
                wanted = (self.arguments["text"], due, self.arguments.get("repeat", ""))
                return wanted in [(each.text, each.due_at, each.repeat) for each in reminders]
            case "cancel":
                return self.before not in [each.text for each in reminders]
            case "draw":
                canvas = await get_canvas(scene.stores.canvases, KEY)
                titles = [each.title for each in canvas.elements]
                return self.arguments["title"] in titles


def wishes(name: str = "wishes.jsonl") -> list[Wish]:
    lines = (Path(__file__).parent / name).read_text("utf-8").splitlines()
    return [Wish(**json.loads(line)) for line in lines]


async def end_of(folder: Path, wish: Wish, asked: Asked) -> End:
    async with laid_scene(folder, clock=wish.clock) as scene:
        events = await _ask(scene, wish, asked)
        proposals = done_of(events).proposals
        changed = any(isinstance(event, Change) for event in events)
        assert not (changed and proposals), wish.text
        for proposal in proposals:
            await approve(scene.assistant, KEY.user_id, proposal)
        if not await wish.is_fulfilled(scene):
            return "refused"
        return "proposed" if proposals else "done"


async def _ask(scene: Scene, wish: Wish, asked: Asked) -> Sequence[TurnEvent]:
    """Ask for it where its user has something, and a model knows what to call."""
    in_channel = asked in ("in a quiet channel", "in a busy channel")
    key = SessionKey(KEY.user_id, PLACE.location_id) if in_channel else KEY
    for content in (*_FURNITURE, *([wish.before] if wish.kind in ("change", "forget") else [])):
        await scene.stores.memories.add(KEY.user_id, content)
    for text in ("ゴミ出し", *([wish.before] if wish.kind == "cancel" else [])):
        await scene.stores[ScheduleStore].add(key, text, NOW + timedelta(days=1))
    scene.switch.model = Calling([*_looks(wish), lambda request: [_act(wish, request)]])
    if wish.earlier:
        said = Message("user", wish.earlier, discord_id=1, author_id=KEY.user_id, author_name="花子")
        await scene.stores.channels.add(PLACE, said)
    for number, text in enumerate(_TALK if asked == "in a busy channel" else ()):
        others = Message("user", text, discord_id=number + 2, author_id=number + 2, author_name=f"人{number}")
        await scene.stores.channels.add(PLACE, others)
    if in_channel:
        question = Message("user", wish.text, discord_id=10, author_id=KEY.user_id, author_name="花子")
        await scene.stores.channels.add(PLACE, question, is_question=True)
        [waiting] = await list_waiting(scene.stores, PLACE)
        return await scene.ask(waiting, key=PLACE)
    files = (_FILE,) if asked == "beside a file" else ()
    return await scene.ask(Message("user", wish.text, attachments=files))


def _looks(wish: Wish) -> list[Next]:
    if wish.kind == "cancel":
        return [lambda _: [ToolRequest("look", "list_schedules", "{}")]]
    if not wish.query:
        return []
    query = json.dumps({"query": wish.query}, ensure_ascii=False)
    return [lambda _: [ToolRequest("look", "recall", query)]]


def _act(wish: Wish, request: ChatRequest) -> ToolRequest:
    found = {"id": _id_of(wish, request)} if wish.before else {}
    return ToolRequest("act", wish.tool, json.dumps({**found, **wish.arguments}, ensure_ascii=False))


def _id_of(wish: Wish, request: ChatRequest) -> int:
    result = request.prompt[-1]
    assert isinstance(result, ToolResultPart)
    told = json.loads(result.text)
    shown = [*told.get("memories", ()), *told.get("schedules", ())]
    ids = [each["id"] for each in shown if wish.before in (each.get("content"), each.get("text"))]
    assert ids, (wish.text, "was not found")
    return int(ids[0])
