"""`cc-bot chat` with a model that follows a script, as a process of its own.

    python -m tests.terminal.program DATABASE_URL LOCALE [HISTORY_FILE]

The model answers by what the question contains: `slow` never ends by itself, `long` is longer than a screen,
`remember` and `draw` call tools, `cut` breaks off, `down` raises, anything else is repeated.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from zoneinfo import ZoneInfo

import structlog

from cc_bot.chat.agents import Agents
from cc_bot.chat.assistant import Assistant
from cc_bot.chat.parts import Parts
from cc_bot.chat.policy import Policies
from cc_bot.chat.spending import Spending
from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.chat.tools import discover_tools
from cc_bot.concurrency import ExportQueue
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import (
    ModelError,
    ModelNotFound,
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelUnavailable,
    ModelUnreachable,
)
from cc_bot.domain.measures import GatewayHealth, Meter
from cc_bot.domain.message import BUILT_IN_AGENT
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.features.memory.service import MemoryService
from cc_bot.features.privacy.model import Retention
from cc_bot.features.privacy.service import Privacy
from cc_bot.features.reminders.resolver import TimeResolver
from cc_bot.llm.model import ChatRequest, Delta, Finish, ModelEvent, ToolRequest, ToolResultPart, UserPart
from cc_bot.terminal.chat import run_chat
from cc_bot.terminal.commands import Chat, ChatProfile
from cc_bot.terminal.view import View
from tests.scripted_model import only

LONG = "\n\n".join(f"段落 {number}: これは画面より長い回答の一部です。" for number in range(1, 41))

TROUBLE: dict[str, ModelError] = {
    "down": ModelUnavailable(),
    "wrong-port": ModelUnreachable(host="models.example:1"),
    "wrong-key": ModelRefusedKey(),
    "wrong-model": ModelNotFound(model="gpt-9"),
    "wrong-question": ModelRefusedRequest(),
}


class ScriptedModel:
    """Answers by what the question contains."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        asked = next(part.text for part in reversed(request.prompt) if isinstance(part, UserPart))
        told = isinstance(request.prompt[-1], ToolResultPart)
        for trouble, error in TROUBLE.items():
            if trouble in asked:
                raise error
        if "remember" in asked and not told:
            call = ToolRequest("1", "remember", '{"content": "誕生日は3月15日", "tags": ["誕生日"]}')
            yield Finish("tools", (call,))
            return
        if "draw" in asked and not told:
            series = '[{"name": "", "values": [78000, 42000]}]'
            chart = f'{{"title": "支出", "kind": "pie", "labels": ["家賃", "食費"], "series": {series}}}'
            yield Finish("tools", (ToolRequest("1", "canvas_add_chart", chart),))
            return
        if "slow" in asked:
            yield Delta("ここまでは")
            await asyncio.Event().wait()
        text = LONG if "long" in asked else f"答え: **{asked}**"
        for start in range(0, len(text), 7):
            yield Delta(text[start : start + 7])
            await asyncio.sleep(0)
        yield Finish("cut" if "cut" in asked else "stop")


def profile(locale: Locale, history_file: Path | None = None) -> ChatProfile:
    key = SessionKey(0, 0)
    return ChatProfile(key, locale, ZoneInfo("Asia/Tokyo"), "scripted", BUILT_IN_AGENT, history_file)


TOOLS = discover_tools()


def parts_of(answering: Assistant, stores: Stores) -> Parts:
    spending = Spending(stores.usage)
    block, get_day = answering.turns.block_user, spending.get_counted_day
    privacy = Privacy(stores, block, get_counted_day=get_day, retention=Retention())
    return Parts(
        clock=utc_now,
        gateway_health=GatewayHealth(),
        meter=Meter(),
        stores=stores,
        assistant=answering,
        agents=Agents(),
        policies=Policies(Path("policy.toml"), locale=Locale.JA),
        spending=spending,
        privacy=privacy,
        feature_parts={
            MemoryService: MemoryService(stores, ExportQueue(), utc_now),
            TimeResolver: TimeResolver(ScriptedModel(), utc_now),
        },
    )


def assistant(stores: Stores) -> Assistant:
    return Assistant(stores, only(ScriptedModel()), TOOLS)


def chat_of(stores: Stores, who: ChatProfile, view: View, answering: Assistant | None = None) -> Chat:
    """A chat in which the scripted model answers, unless another assistant does."""
    return Chat(parts_of(answering or assistant(stores), stores), who, view)


async def main(url: str, locale: str, history_file: Path | None) -> None:
    asyncio.get_running_loop().slow_callback_duration = 60  # a busy machine is nothing to complain of
    async with open_stores(url) as stores:
        await run_chat(parts_of(assistant(stores), stores), profile(Locale(locale), history_file))


if __name__ == "__main__":
    url, locale, *rest = sys.argv[1:]
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    asyncio.run(main(url, locale, Path(rest[0]) if rest else None))
