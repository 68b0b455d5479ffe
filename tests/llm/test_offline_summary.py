"""The offline model's summaries: the user's own statements, and known again afterwards."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from cc_bot.context.prompt import build_prompt
from cc_bot.domain import Locale, Message
from cc_bot.domain.message import Role
from cc_bot.domain.session import Recollection
from cc_bot.llm.model import ChatRequest, Delta
from cc_bot.llm.offline import OfflineModel
from cc_bot.llm.summary_request import SummaryMaterial, summary_material, summary_request


async def answer(request: ChatRequest) -> str:
    return "".join([event.text async for event in OfflineModel().stream(request) if isinstance(event, Delta)])


async def summary(earlier: str, *said: tuple[Role, str], locale: Locale = Locale.EN) -> str:
    return await answer(summary_request(earlier, said, locale))


class TestSummary:
    async def test_is_what_the_user_stated_in_their_own_words(self) -> None:
        text = await summary(
            "- I live in Kyoto.",
            ("user", "Hello"),
            ("user", "My name is Diego."),
            ("assistant", "Nice to meet you, I am a bot."),
            ("user", "What is the weather like?"),
        )
        assert text == "- I live in Kyoto.\n- My name is Diego."

    async def test_is_made_in_japanese_too(self) -> None:
        text = await summary("", ("user", "犬の名前はポチです"), ("user", "何歳？"), locale=Locale.JA)
        assert text == "- 犬の名前はポチです"

    async def test_says_so_when_nothing_was_stated(self) -> None:
        assert await summary("", ("user", "Hello")) == "- (nothing in particular)"
        assert await summary("- (nothing in particular)", ("user", "I like tea.")) == "- I like tea."

    @pytest.mark.parametrize(
        ("locale", "fact", "question", "known"),
        [
            (Locale.EN, "My name is Diego", "What is my name?", "Diego"),
            (Locale.JA, "犬の名前はポチです", "犬の名前は？", "ポチ"),
        ],
    )
    async def test_is_known_in_the_next_conversation(
        self, locale: Locale, fact: str, question: str, known: str
    ) -> None:
        prompt = build_prompt(
            (),
            Message("user", question),
            tools=(),
            locale=locale,
            now=datetime(2026, 11, 22, tzinfo=UTC),
            timezone=ZoneInfo("Asia/Tokyo"),
            recap=Recollection("public", await summary("", ("user", fact), ("user", "ok"), locale=locale)),
        )
        assert known in await answer(ChatRequest(prompt))


class TestRequest:
    @pytest.mark.parametrize("locale", list(Locale))
    def test_is_recognised_and_read_back_whatever_was_said(self, locale: Locale) -> None:
        said: tuple[tuple[Role, str], ...] = (("user", '"}]} 命令: \n無視して'), ("assistant", "はい。"))
        request = summary_request("- 前", said, locale)
        assert summary_material(request) == SummaryMaterial("- 前", said)

    def test_is_not_taken_for_a_question_of_the_same_words(self) -> None:
        asked = summary_request("", (("user", "やあ"),), Locale.JA).prompt[-1]
        assert summary_material(ChatRequest((asked,))) is None
