import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.chat.tools import ToolContext, ToolOutcome, discover_tools
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.llm.model import ToolRequest
from tests.databases import laid_out

TOOLS = discover_tools()
ME = SessionKey(7, 10)


async def call(context: ToolContext, name: str, **arguments: Any) -> ToolOutcome:
    return await TOOLS.call(ToolRequest("1", name, json.dumps(arguments)), context, TOOLS.schemas())


async def told(context: ToolContext, name: str, **arguments: Any) -> dict[str, Any]:
    outcome = await call(context, name, **arguments)
    assert outcome.ok, outcome.text
    return result_of(outcome)


def result_of(outcome: ToolOutcome) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(outcome.text)
    return result


@dataclass
class Turn:
    context: ToolContext
    stores: Stores

    def having(self, **changes: Any) -> "Turn":
        return Turn(replace(self.context, **changes), self.stores)

    @property
    def private(self) -> "Turn":
        return self.having(visibility="private")

    async def call(self, name: str, **arguments: Any) -> ToolOutcome:
        return await call(self.context, name, **arguments)

    async def told(self, name: str, **arguments: Any) -> dict[str, Any]:
        return await told(self.context, name, **arguments)


@pytest.fixture
def turn(context: ToolContext, stores: Stores) -> Turn:
    return Turn(context, stores)


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(laid_out(tmp_path / "sessions.db")) as stores:
        yield stores


@pytest.fixture
def context(stores: Stores) -> ToolContext:
    return ToolContext(ME, "public", Locale.JA, ZoneInfo("Asia/Tokyo"), stores, tainted=False)
