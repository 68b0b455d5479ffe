import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from cc_bot.chat.assistant import Assistant
from cc_bot.chat.context.prompt import PromptSettings
from cc_bot.chat.context.tokens import message_tokens
from cc_bot.chat.stores.opening import open_stores
from cc_bot.chat.summaries import Summaries, SummaryPlan
from cc_bot.chat.tools import discover_tools
from cc_bot.domain.message import Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.llm.model import ChatRequest, SystemPart
from tests.assistant.conftest import KEY, OPTIONS, Table
from tests.databases import laid_out
from tests.scripted_model import ScriptedModel, only

NOON = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)
NEXT_DAY = datetime(2026, 11, 23, 3, 0, 1, tzinfo=UTC)


class SummaryMaterial(NamedTuple):
    earlier: str
    said: tuple[tuple[str, str], ...]


@dataclass
class Desk(Table):
    """An assistant with a model of its own for summaries."""

    summaries: Summaries
    writer: ScriptedModel

    async def settle(self) -> None:
        await self.summaries.wait_idle()

    async def talk(
        self,
        *questions: str,
        key: SessionKey = KEY,
        visibility: Visibility = "public",
        temporary: bool = False,
    ) -> None:
        """Turns with what they lead to in the background."""
        options = replace(OPTIONS, temporary=temporary)
        for question in questions:
            await self.ask(question, key=key, visibility=visibility, options=options)
            await self.settle()

    async def kept(self, key: SessionKey = KEY) -> dict[Visibility, str]:
        return {each.visibility: each.content for each in await self.stores.summaries.list_current(key)}

    def told(self, request: ChatRequest | None = None) -> str:
        """The second system message of the newest turn."""
        *_, changing = (
            part for part in (request or self.model.requests[-1]).prompt if isinstance(part, SystemPart)
        )
        return changing.text

    def material(self, number: int = -1) -> SummaryMaterial:
        found = json.loads(self.writer.requests[number].prompt[-1].text)
        said = tuple((line["role"], line["said"]) for line in found["conversation"])
        return SummaryMaterial(found["earlier_summary"], said)


@asynccontextmanager
async def open_desk(
    folder: Path,
    *,
    every: int = 20,
    limit: int = 20,
    budget: int = 80_000,
    pause_s: float = 60.0,
    time_limit_s: float = 60.0,
) -> AsyncIterator[Desk]:
    """A second desk in the same folder is the program after a restart."""
    async with open_stores(laid_out(folder / "sessions.db"), history_limit=limit) as stores:
        writer, model = ScriptedModel(), ScriptedModel()
        plan = SummaryPlan(every, limit, pause_s, time_limit_s)
        summaries = Summaries(stores, writer, plan, count_tokens=message_tokens, locale=Locale.JA)
        assistant = Assistant(
            stores,
            only(model, "m"),
            discover_tools(),
            prompt_settings=PromptSettings(budget),
            summaries=summaries,
        )
        try:
            yield Desk(assistant, stores, model, summaries, writer)
        finally:
            await summaries.close()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """Summaries every two turns."""
    async with open_desk(tmp_path, every=2) as desk:
        yield desk
