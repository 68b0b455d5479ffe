from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import cc_bot.tools
from cc_bot.assistant import Assistant, AssistantSettings, Stop, TurnOptions
from cc_bot.domain import Done, Locale, Message, Session, SessionKey, TurnEvent
from cc_bot.domain.message import Visibility
from cc_bot.stores import Stores, open_stores
from cc_bot.tools.registry import discover
from tests.databases import laid_out
from tests.scripted_model import ScriptedModel, only

KEY = SessionKey(user_id=1, channel_id=10)
OPTIONS = TurnOptions(Locale.JA, ZoneInfo("Asia/Tokyo"))


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

    async def session(self, key: SessionKey = KEY, visibility: Visibility = "private") -> Session:
        return await self.stores.sessions.open(key, visibility=visibility)

    async def said(self, key: SessionKey = KEY, visibility: Visibility = "private") -> list[str]:
        return [message.content for message in (await self.session(key, visibility)).history]


def done(events: list[TurnEvent]) -> Done:
    last = events[-1]
    assert isinstance(last, Done)
    return last


@asynccontextmanager
async def laid_table(
    folder: Path, history_limit: int = 20, *, profile_notes: int = 0
) -> AsyncIterator[Table]:
    async with open_stores(
        laid_out(folder / "sessions.db"), history_limit=history_limit, profile_notes=profile_notes
    ) as stores:
        model = ScriptedModel()
        yield Table(
            Assistant(stores, only(model), discover(cc_bot.tools), AssistantSettings(max_turns=4)),
            stores,
            model,
        )


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid_table(tmp_path) as table:
        yield table
