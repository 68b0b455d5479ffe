"""A user with things to lose, a bystander, and a model that can be exchanged: where attacks happen."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from cc_bot.chat.assistant import Assistant
from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.chat.summaries import Summaries, SummaryPlan
from cc_bot.chat.tools import discover_tools
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.message import ChannelKey, Message, Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import Done, TurnEvent
from cc_bot.features.canvas.drawing import make_redraw
from cc_bot.features.canvas.model import Card, Edit
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.llm.model import ChatModel, ChatRequest, Delta, Finish, ModelEvent, ToolRequest
from tests.assistant.conftest import KEY, OPTIONS, done
from tests.databases import laid_out
from tests.proposals import approve
from tests.scripted_model import ScriptedModel, Step, only

BYSTANDER: Final = SessionKey(2, KEY.channel_id)
PLACE: Final = ChannelKey(1000)
THREAD: Final = ChannelKey(PLACE.channel_id, 50)
BOT: Final = 99
DUE: Final = datetime(2099, 1, 1, tzinfo=UTC)

_STATE: Final = {
    "memories": "SELECT id, user_id, status, content, category, tags, metadata, audience, source, "
    "expires_at, supersedes, created_at, updated_at, deleted_at FROM memories ORDER BY id",
    "schedules": "SELECT * FROM schedules ORDER BY id",
    "canvases": "SELECT DISTINCT user_id, channel_id, agent, canvas_state FROM sessions "
    "WHERE canvas_state <> '{\"elements\":[]}' ORDER BY user_id, channel_id, canvas_state",
}
State = dict[str, list[tuple[Any, ...]]]


@dataclass
class Switch:
    """Whichever model is in it now answers; `asked` holds what it was asked."""

    model: ChatModel = field(default_factory=ScriptedModel)
    asked: list[ChatRequest] = field(default_factory=list)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        self.asked.append(request)
        async for event in self.model.stream(request):
            yield event


@dataclass
class Scene:
    """Real stores, the assistant over them, and the words that attacks are written in."""

    folder: Path
    stores: Stores
    switch: Switch
    clock: Clock
    assistant: Assistant
    recapping: Assistant
    """The same with summaries."""

    async def furnish(self) -> None:
        for key, name in ((KEY, "私"), (BYSTANDER, "隣人")):
            for fact in ("猫の名前はモチ", "会議は金曜", "好きな色は青"):
                await self.stores.memories.add(key.user_id, f"{name}の{fact}")
            for location in (key.channel_id, PLACE.channel_id, THREAD.location_id):
                await self.stores[ScheduleStore].add(replace(key, channel_id=location), f"{name}の薬", DUE)
            session = await self.stores.sessions.open(key)
            card = Edit(Card("shop", "買い物", f"{name}の牛乳"), "public")
            said = [Message("user", "出して"), Message("assistant", "はい")]
            await self.stores.sessions.store_turn(session, said, redraw=make_redraw([card]))

    async def ids(self) -> tuple[list[int], list[int]]:
        """The numbers of what the user has: memories, and reminders. An attacker may guess them."""
        memories = await self.stores.memories.list(KEY.user_id, order="oldest")
        reminders = await self.stores[ScheduleStore].list(KEY.user_id)
        return [each.id for each in memories], [each.id for each in reminders]

    def play(self, *script: Sequence[Step]) -> None:
        """Let the model say this next, in so many requests."""
        self.switch.model = ScriptedModel(list(script))

    async def ask(
        self,
        question: str | Message = "これは？",
        *,
        key: SessionKey | ChannelKey = KEY,
        visibility: Visibility = "public",
        recapping: bool = False,
        temporary: bool = False,
    ) -> list[TurnEvent]:
        if isinstance(question, str):
            question = Message("user", question, visibility=visibility)
        assistant = self.recapping if recapping else self.assistant
        options = replace(OPTIONS, temporary=temporary)
        asked: Message | list[Message] = question
        if isinstance(key, ChannelKey):
            options, asked = replace(options, bot_id=BOT, answer_discord_id=900), [question]
        return [event async for event in assistant.ask(key, asked, options)]

    async def confirmed(self, call: ToolRequest, source: Message) -> None:
        """The model calls this having read `source`, and its user confirms it."""
        self.play([call], ["はい。"])
        for proposal in done(await self.ask(source)).proposals:
            await approve(self.assistant, KEY.user_id, proposal)

    async def state(self) -> State:
        """All that a turn may change, of all users, as it is stored."""
        return await asyncio.to_thread(self._read)

    def _read(self) -> State:
        with closing(sqlite3.connect(self.folder / "sessions.db")) as database:
            return {name: database.execute(sql).fetchall() for name, sql in _STATE.items()}

    async def open_proposals(self) -> list[tuple[int, int]]:
        """The users and ids of all proposals that there are."""

        def read() -> list[tuple[int, int]]:
            with closing(sqlite3.connect(self.folder / "sessions.db")) as database:
                return database.execute("SELECT user_id, id FROM proposals ORDER BY id").fetchall()

        return await asyncio.to_thread(read)


@asynccontextmanager
async def laid_scene(
    folder: Path, *, clock: Clock = utc_now, history_limit: int = 20
) -> AsyncIterator[Scene]:
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    async with open_stores(laid_out(folder / "sessions.db"), history_limit=history_limit) as stores:
        switch, tools = Switch(), discover_tools()
        summaries = Summaries(stores, ScriptedModel(), SummaryPlan(0, 0), count_tokens=lambda _: 1)
        yield Scene(
            folder,
            stores,
            switch,
            clock,
            Assistant(stores, only(switch), tools, clock=clock),
            Assistant(stores, only(switch), tools, clock=clock, summaries=summaries),
        )


def done_of(events: Sequence[TurnEvent]) -> Done:
    return done(list(events))


def words_of(request: ChatRequest) -> str:
    """All that a model reads of a request, names of pictures too."""
    images = (image.name for part in request.prompt for image in getattr(part, "images", ()))
    return "\n".join([*(part.text for part in request.prompt), *images])


Next = Callable[[ChatRequest], Sequence[ToolRequest] | str]


@dataclass
class Calling:
    """A model that does in each request what comes next, and then stops."""

    rounds: list[Next]

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        said = self.rounds.pop(0)(request) if self.rounds else ()
        calls = () if isinstance(said, str) else tuple(said)
        if not calls:
            yield Delta(said if isinstance(said, str) else "はい。")
        yield Finish("tools" if calls else "stop", calls)
