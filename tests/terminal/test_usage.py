"""`/usage` at the terminal, and what it says at a limit."""

import re
from collections.abc import Sequence

import pytest

from cc_bot.assistant import Assistant
from cc_bot.domain import Locale, Usage
from cc_bot.domain.member import LimitKey, LimitName, Policy
from cc_bot.llm.model import Finish
from cc_bot.spending import Spending
from cc_bot.stores import Stores
from tests.scripted_model import ScriptedModel, Step, only
from tests.terminal.program import TOOLS
from tests.terminal.talk import Talk


class PaidTalk(Talk):
    """A chat that is paid for."""

    def __init__(self, stores: Stores, locale: Locale) -> None:
        self.policy = Policy()
        answers: list[Sequence[Step]] = [
            ["はい", Finish("stop", usage=Usage(1000, 200), model="small")] for _ in range(3)
        ]
        spending = Spending(stores.usage, self.now)
        answering = Assistant(stores, only(ScriptedModel([*answers])), TOOLS, spending=spending)
        super().__init__(stores, locale, answering=answering)

    async def now(self) -> Policy:
        return self.policy

    def limit(self, name: LimitName, value: int, scope_id: int = 0) -> None:
        self.policy = Policy(limits={LimitKey("user", scope_id, name): value})


@pytest.fixture(params=list(Locale))
def chat(stores: Stores, request: pytest.FixtureRequest) -> PaidTalk:
    return PaidTalk(stores, request.param)


@pytest.fixture
def english(stores: Stores) -> PaidTalk:
    return PaidTalk(stores, Locale.EN)


class TestUsage:
    async def test_of_nothing_says_so(self, english: PaidTalk) -> None:
        assert await english.say("/usage") == "Nothing has been used yet.\n"

    async def test_shows_tokens_models_and_days(self, english: PaidTalk) -> None:
        await english.say("いち")
        lines = (await english.say("/usage")).splitlines()
        assert lines[:3] == [
            "What you used",
            "Today: 1,200 tokens, questions: 1",
            "This month: 1,200 tokens, questions: 1",
        ]
        assert "small: 1,200 tokens" in lines
        assert re.fullmatch(r"1,200 █+ \d+/\d+", lines[-1])

    async def test_shows_what_is_left_until_when(self, english: PaidTalk) -> None:
        english.limit("tokens_per_month", 5000)
        await english.say("いち")
        shown = await english.say("/usage")
        assert "Left this month: 3,800 of 5,000 tokens (all again at " in shown
        assert re.search(r"again at (\d{4}-\d\d-\d\d )?\d\d:\d\d\)", shown)


class TestLimit:
    async def test_is_told_with_a_plain_time(self, chat: PaidTalk) -> None:
        chat.limit("tokens_per_day", 1000)
        await chat.say("いち")
        told = await chat.say("に")
        assert re.search(r"(次に使えるのは|again at )(\d{4}-\d\d-\d\d )?\d\d:\d\d", told)
        assert "<t:" not in told

    async def test_of_others_is_none_of_the_terminals(self, chat: PaidTalk) -> None:
        chat.policy = Policy(limits={LimitKey("everyone", 0, "tokens_per_day"): 1})
        for line in ("いち", "に", "さん"):
            assert "はい" in await chat.say(line)
