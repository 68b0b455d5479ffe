from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from cc_bot.chat.assistant import Assistant
from cc_bot.chat.context.instructions import instructions
from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.chat.tools import discover_tools
from cc_bot.chat.turn import TurnOptions
from cc_bot.domain.message import Agent, ChannelKey, Message
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.llm.model import Chains, ChatModel, ChatRequest, SystemPart
from tests.assistant.conftest import call
from tests.databases import laid_out
from tests.scripted_model import ScriptedModel

TUTOR = Agent(
    "tutor", prompt="You teach.", models=("large", "small"), temperature=0.0, tools=frozenset({"recall"})
)
OPTIONS = TurnOptions(Locale.EN, ZoneInfo("Asia/Tokyo"), agent=TUTOR)
KEY = SessionKey(1, 10, "tutor")
QUESTION = Message("user", "Hello", author_id=1)


@dataclass
class Desk:
    stores: Stores
    models: dict[tuple[str, ...], ScriptedModel] = field(default_factory=dict)

    def make(self, names: tuple[str, ...]) -> ChatModel:
        return self.models.setdefault(tuple(names), ScriptedModel())

    def __post_init__(self) -> None:
        chains = Chains(lambda names: self.make(tuple(names)), ("usual",))
        self.assistant = Assistant(self.stores, chains, discover_tools())

    async def ask(self, options: TurnOptions = OPTIONS, key: SessionKey | ChannelKey = KEY) -> Message:
        question = replace(QUESTION, discord_id=7) if isinstance(key, ChannelKey) else QUESTION
        [*_, done] = [event async for event in self.assistant.ask(key, question, options)]
        answer: Message = done.answer  # type: ignore[union-attr]  # the last event is Done
        return answer

    def request(self, *names: str) -> ChatRequest:
        [*_, request] = self.models[names].requests
        return request


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_stores(laid_out(tmp_path / "sessions.db")) as stores:
        yield Desk(stores)


def stable(request: ChatRequest) -> str:
    first = request.prompt[0]
    assert isinstance(first, SystemPart)
    return first.text


class TestAgent:
    @pytest.mark.parametrize("key", [KEY, ChannelKey(10)])
    async def test_answers_with_all_that_it_is(self, desk: Desk, key: SessionKey | ChannelKey) -> None:
        if isinstance(key, ChannelKey):
            await desk.stores.channels.add(key, replace(QUESTION, discord_id=7), is_question=True)
        model = desk.models[("large", "small")] = ScriptedModel()
        model.script = [[call("recall", query="cats"), call("remember", "2", content="x")], ["Cats."]]
        answer = await desk.ask(replace(OPTIONS, answer_discord_id=8), key)
        assert [made.ok for made in answer.tool_calls] == [True, False]
        assert "The tools are: recall." in answer.tool_calls[1].result
        assert await desk.stores.memories.count(1) == 0
        request = desk.request("large", "small")
        persona, markdown, *_ = stable(request).splitlines()
        assert persona == "You teach."
        assert markdown == instructions(Locale.JA if isinstance(key, ChannelKey) else Locale.EN).markdown
        assert [request.temperature for request in model.requests] == [0.0, 0.0]
        assert [tool.name for tool in request.tools] == ["recall"]
        assert ("usual",) not in desk.models
