"""`cc-bot chat` with a model that follows a script, as a process of its own.

    python -m tests.terminal.program DATABASE_URL LOCALE [HISTORY_FILE]

The model answers by what the question contains: `slow` never ends by itself, `long` is longer than a screen,
`remember` calls the tool, `cut` breaks off, `down` raises, anything else is repeated.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import structlog

import cc_bot.tools
from cc_bot.agents import Agents
from cc_bot.assistant import Assistant
from cc_bot.domain import Locale, SessionKey
from cc_bot.domain.errors import (
    ModelError,
    ModelNotFound,
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelUnavailable,
    ModelUnreachable,
    ToolServerUnknown,
)
from cc_bot.domain.privacy import Retention
from cc_bot.domain.tool_server import ToolDetails, ToolServerReport
from cc_bot.llm.model import ChatRequest, Delta, Finish, ModelEvent, ToolRequest, ToolResultPart, UserPart
from cc_bot.privacy import Privacy
from cc_bot.stores import Stores, open_stores
from cc_bot.terminal import ChatProfile, run_chat
from cc_bot.terminal.commands import Chat
from cc_bot.terminal.plain import PlainView
from cc_bot.terminal.rich import RichView
from cc_bot.tools.registry import discover
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
        if "slow" in asked:
            yield Delta("ここまでは")
            await asyncio.Event().wait()
        text = LONG if "long" in asked else f"答え: **{asked}**"
        for start in range(0, len(text), 7):
            yield Delta(text[start : start + 7])
            await asyncio.sleep(0)
        yield Finish("cut" if "cut" in asked else "stop")


def profile(locale: Locale, history_file: Path | None = None) -> ChatProfile:
    return ChatProfile(
        SessionKey(0, 0), locale, ZoneInfo("Asia/Tokyo"), "scripted", history_file=history_file
    )


TOOLS = discover(cc_bot.tools)


def assistant(stores: Stores) -> Assistant:
    return Assistant(stores, only(ScriptedModel()), TOOLS)


class NoServers:
    """An operator's file that names none."""

    def reports(self) -> tuple[ToolServerReport, ...]:
        return ()

    def details(self, server: str) -> tuple[ToolDetails, ...]:
        raise ToolServerUnknown

    async def accept(self, server: str, code: str) -> tuple[str, ...] | None:
        raise ToolServerUnknown


def chat_of(
    stores: Stores,
    who: ChatProfile,
    view: PlainView | RichView,
    *,
    answering: Assistant | None = None,
    agents_file: Path = Path("no agents"),
    forget_typed: Callable[[], None] = lambda: None,
) -> Chat:
    """A chat in which the scripted model answers, unless another assistant does."""
    answering = answering or assistant(stores)
    agents = Agents(agents_file, tools=TOOLS.names, locale=who.locale)
    privacy = Privacy(stores, answering.without_turns_of, retention=Retention())
    return Chat(answering, stores, who, view, agents, privacy, forget_typed, NoServers())


async def main(url: str, locale: str, history_file: Path | None) -> None:
    asyncio.get_running_loop().slow_callback_duration = 60  # a busy machine is nothing to complain of
    async with open_stores(url) as stores:
        chat = chat_of(stores, profile(Locale(locale), history_file), PlainView(sys.stdout, sys.stderr))
        await run_chat(chat.assistant, stores, chat.profile, chat.agents, chat.privacy, servers=chat.servers)


if __name__ == "__main__":
    url, locale, *rest = sys.argv[1:]
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    asyncio.run(main(url, locale, Path(rest[0]) if rest else None))
