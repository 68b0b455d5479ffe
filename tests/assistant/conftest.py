import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from cc_bot.chat.active import Stop
from cc_bot.chat.assistant import Assistant
from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.chat.tools import ExternalTools, discover_tools
from cc_bot.chat.turn import TurnOptions
from cc_bot.domain.measures import NULL_METER, Meter
from cc_bot.domain.message import ChannelKey, Message, Visibility
from cc_bot.domain.session import Session, SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import Done, TurnEvent
from cc_bot.features.voice.openai import OpenAITranscriber
from cc_bot.features.voice.speech import TranscribedHearing
from cc_bot.llm.model import ToolRequest
from tests.databases import laid_out
from tests.scripted_model import ScriptedModel, only

BOT = 99
KEY = SessionKey(user_id=1, channel_id=10)
OPTIONS = TurnOptions(Locale.JA, ZoneInfo("Asia/Tokyo"), guild_id=1)
LATER = datetime(2099, 1, 1, tzinfo=UTC)


@dataclass
class Table:
    """An assistant over real stores and a scripted model, with the words that tests need."""

    assistant: Assistant
    stores: Stores
    model: ScriptedModel

    async def ask(
        self,
        question: str | Message,
        *,
        key: SessionKey = KEY,
        options: TurnOptions = OPTIONS,
        visibility: Visibility = "public",
        stop: Stop | None = None,
        seen: Callable[[TurnEvent], None] = lambda _: None,
    ) -> list[TurnEvent]:
        if isinstance(question, str):
            question = Message("user", question, visibility=visibility)
        events = []
        async for event in self.assistant.ask(key, question, options, stop):
            seen(event)
            events.append(event)
        return events

    async def answer(self, question: str, **given: object) -> Message:
        events = await self.ask(question, **given)  # type: ignore[arg-type]  # passed on as it is
        return done(events).answer

    async def begin(self, question: str | Message, **given: object) -> asyncio.Task[list[TurnEvent]]:
        """Start a turn; its model has been asked when this returns."""
        before = len(self.model.requests)
        turn = asyncio.create_task(self.ask(question, **given))  # type: ignore[arg-type]  # passed on as it is
        while len(self.model.requests) == before:
            await self.model.asked()
        return turn

    async def ask_in(
        self, channel: ChannelKey, *questions: Message, answer_id: int | None = None
    ) -> list[TurnEvent]:
        """Store the questions of a channel as the front end does, and answer them together."""
        for question in questions:
            await self.stores.channels.add(channel, question, is_question=True)
        return await self.answer_in(channel, questions, answer_id=answer_id)

    async def answer_in(
        self,
        channel: ChannelKey,
        questions: Sequence[Message],
        *,
        answer_id: int | None = None,
        seen: Callable[[TurnEvent], None] = lambda _: None,
    ) -> list[TurnEvent]:
        """Answer questions that are stored."""
        options = replace(
            OPTIONS, bot_id=BOT, answer_discord_id=answer_id or (questions[-1].discord_id or 0) + 1
        )
        events = []
        async for event in self.assistant.ask(channel, questions, options):
            seen(event)
            events.append(event)
        return events

    async def regenerate(
        self,
        answer: Message | int,
        key: SessionKey | ChannelKey = KEY,
        options: TurnOptions = OPTIONS,
        questions: Sequence[Message] = (),
    ) -> list[TurnEvent]:
        answer_id = answer.id if isinstance(answer, Message) else answer
        assert answer_id is not None
        turn = self.assistant.ask(key, questions, options, replaces=answer_id)
        return [event async for event in turn]

    def shown(self, number: int = -1) -> str:
        """Every text of a request, in order."""
        return "\n".join(part.text for part in self.model.requests[number].prompt)

    async def session(self, key: SessionKey = KEY, visibility: Visibility = "private") -> Session:
        return await self.stores.sessions.open(key, visibility=visibility)

    async def said(self, key: SessionKey = KEY, visibility: Visibility = "private") -> list[str]:
        return [message.content for message in (await self.session(key, visibility)).history]


def call(name: str, id_: str = "1", **arguments: object) -> ToolRequest:
    return ToolRequest(id_, name, json.dumps(arguments, ensure_ascii=False))


def asked(
    discord_id: int, text: str, author: int = KEY.user_id, name: str = "花子", **fields: object
) -> Message:
    """A question in a channel."""
    return Message("user", text, discord_id=discord_id, author_id=author, author_name=name, **fields)  # type: ignore[arg-type]


def done(events: list[TurnEvent]) -> Done:
    last = events[-1]
    assert isinstance(last, Done)
    return last


@asynccontextmanager
async def laid_table(
    folder: Path,
    *,
    max_prompt_memories: int = 0,
    max_turns: int = 4,
    outside: ExternalTools | None = None,
    transcriber: OpenAITranscriber | None = None,
    meter: Meter = NULL_METER,
) -> AsyncIterator[Table]:
    url, tools = laid_out(folder / "sessions.db"), discover_tools()
    async with open_stores(url, max_prompt_memories=max_prompt_memories) as stores:
        chains = only(model := ScriptedModel())
        tools = tools if outside is None else tools.with_external(outside)
        assistant = Assistant(stores, chains, tools, max_turns=max_turns, meter=meter)
        assistant.transcriber = TranscribedHearing(transcriber, stores.ledger, stores.channels)
        yield Table(assistant, stores, model)
        if transcriber:
            await transcriber.close()


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid_table(tmp_path) as table:
        yield table
