"""The contract of every family of models: tools, a restart, another model and back, and Stop."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from structlog.testing import capture_logs

from cc_bot.app.core import Core, open_core
from cc_bot.chat.active import Stop
from cc_bot.chat.turn import TurnOptions
from cc_bot.config import read_config
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import Attachment, Message
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import Done, TextDelta, ToolsUnavailable
from tests.llm.personalities.families import PERSONALITIES, STRICT
from tests.llm.personalities.server import ANSWER, GO_ON, KEEP, REMEMBERED, PersonalityServer

KEY = SessionKey(user_id=1, channel_id=10)
ELSEWHERE = SessionKey(user_id=1, channel_id=11)
OPTIONS = TurnOptions(Locale.JA, ZoneInfo("Asia/Tokyo"))
PICTURE = Attachment("a.png", "image/png", b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize("name", PERSONALITIES)
def test_refuses_a_request_without_the_cure(name: str) -> None:
    personality = PERSONALITIES[name]
    for request in personality.bites:
        assert any(rule(request) for rule in personality.rules), request


@asynccontextmanager
async def process(folder: Path, server: PersonalityServer, model: str) -> AsyncIterator[Core]:
    """Yield the program's core with this model and the database in a folder."""
    environ = {
        "CC_BOT_DATABASE_URL": f"sqlite:///{folder}/sessions.db",
        "OPENAI_BASE_URL": server.base_url,
        "CC_BOT_MODEL": model,
        "CC_BOT_EMBEDDING_MODEL": "off",
        "CC_BOT_SUMMARY_EVERY": "0",
    }
    async with open_core(read_config(environ, folder / "none"), utc_now) as core:
        yield core


async def ask(
    core: Core, question: str | Message, stop: Stop | None = None, *, key: SessionKey = KEY
) -> Message:
    message = Message("user", question) if isinstance(question, str) else question
    answer: Message | None = None
    async for event in core.assistant.ask(key, message, OPTIONS, stop):
        if isinstance(event, TextDelta) and stop:
            stop.request()
        if isinstance(event, Done):
            answer = event.answer
    assert answer is not None
    return answer


async def remembered(core: Core) -> list[str]:
    return sorted(memory.content for memory in await core.stores.memories.list(KEY.user_id))


@pytest.mark.parametrize(
    "known",
    [pytest.param(True, id="by name"), pytest.param(False, id="by its refusals", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("name", PERSONALITIES)
async def test_a_conversation_goes_on_with_tools_through_a_restart_another_model_and_stop(
    name: str, tmp_path: Path, *, known: bool
) -> None:
    personality = PERSONALITIES[name] if known else replace(PERSONALITIES[name], model="custom")
    keeps = personality.tools
    async with PersonalityServer(personality, STRICT) as server:
        with capture_logs() as records:
            async with process(tmp_path, server, personality.model) as core:
                kept = await ask(core, f"猫が好き{KEEP}")
                assert kept.content == (REMEMBERED if keeps else ANSWER)
                assert await remembered(core) == (["猫が好き"] if keeps else [])
            async with process(tmp_path, server, personality.model) as core:
                assert (await ask(core, "元気？")).content == ANSWER
                picture = Message("user", "これは何？", attachments=(PICTURE,))
                for question in (picture, "元気？"):
                    assert (await ask(core, question, key=ELSEWHERE)).content == ANSWER
            async with process(tmp_path, server, STRICT.model) as core:
                assert (await ask(core, f"犬も好き{KEEP}")).content == REMEMBERED
            async with process(tmp_path, server, personality.model) as core:
                assert (await ask(core, "元気？")).content == ANSWER
                stopped = await ask(core, GO_ON, Stop())
                assert (stopped.status, stopped.content[:3]) == ("stopped", "つづき")
                assert (await ask(core, "元気？")).content == ANSWER
        failed = [each for each in records if each["event"] == "model_failed"]
        assert not failed, server.refused


async def test_that_a_model_takes_no_tools_reaches_its_user_once_and_the_operator(tmp_path: Path) -> None:
    personality = PERSONALITIES["Ollama, a model without tools"]
    async with PersonalityServer(personality) as server, process(tmp_path, server, personality.model) as core:
        with capture_logs() as records:
            events = [
                [event async for event in core.assistant.ask(KEY, Message("user", question), OPTIONS)]
                for question in (f"猫が好き{KEEP}", "元気？")
            ]
        assert [ToolsUnavailable() in each for each in events] == [True, False]
        assert core.assistant.chains.changes_to_requests() == {personality.model: ("no tools",)}
    [changed] = [each for each in records if each["event"] == "model_request_changed"]
    assert (changed["model"], changed["changes"]) == (personality.model, ["no tools"])
