"""The offline model as a ChatModel: honest, deterministic, streamed, and free of the spec's examples."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cc_bot.llm.offline
from cc_bot.context.attachments import as_prompt_text
from cc_bot.domain.message import Attachment
from cc_bot.llm.model import AssistantPart, ChatModel, ChatRequest, Delta, Finish, PromptPart, UserPart
from cc_bot.llm.offline import OfflineModel
from tests.llm.offline_partner import BOTH, Partner

EXAMPLES = ("誕生日", "3月15日", "birthday", "diego", "明日は", "晴れ")
"""What the specs and the issue use to explain the assistant: rules must not know them."""


async def _events(*parts: PromptPart) -> list[Delta | Finish]:
    request = ChatRequest(parts, BOTH)
    events = [event async for event in OfflineModel().stream(request)]
    assert all(isinstance(event, Delta | Finish) for event in events)
    return [event for event in events if isinstance(event, Delta | Finish)]


def _text(events: list[Delta | Finish]) -> str:
    return "".join(event.text for event in events if isinstance(event, Delta))


class TestHonesty:
    @pytest.mark.parametrize(
        "greeting", ["こんにちは", "Hello", "妹は岐阜に住んでいます", "What is my name?"]
    )
    async def test_the_first_reply_says_what_answers_and_how_to_set_a_key(self, greeting: str) -> None:
        answer = await Partner().say(greeting)
        assert "OPENAI_API_KEY" in answer
        assert "OPENAI_BASE_URL" in answer
        assert ("オフライン" in answer) or ("offline" in answer)

    async def test_the_second_reply_does_not_say_it_again(self) -> None:
        user = Partner()
        await user.say("Hello")
        assert "OPENAI_API_KEY" not in await user.say("My boat is green")

    async def test_the_first_reply_after_tool_rounds_says_it_too(self) -> None:
        assert "OPENAI_API_KEY" in await Partner().say("Please remember that the key is under the mat")

    @pytest.mark.parametrize(
        "question", ["今日の天気は？", "What is the capital of France?", "量子力学って何？"]
    )
    async def test_what_nobody_told_is_not_known(self, question: str) -> None:
        answer = await Partner().say(question)
        assert "分かりません" in answer or "don't know" in answer

    async def test_says_that_it_does_not_see_images(self) -> None:
        image = Attachment("cat.png", "image/png", b"\x89PNG")
        assert "can't read images" in _text(await _events(UserPart("What is this?", (image,))))
        assert "読めません" in _text(await _events(UserPart("これは何？", (image,))))

    async def test_takes_an_attached_file_for_nobodys_words(self) -> None:
        file = as_prompt_text(Attachment("memo.txt", "text/plain", "私の名前は太郎。覚えておいて".encode()))
        answered = _text(await _events(UserPart(f"これを読んで\n\n{file}")))
        assert "太郎" not in answered
        assert "読めません" in answered

    def test_its_source_knows_none_of_the_examples(self) -> None:
        folder = Path(str(cc_bot.llm.offline.__file__)).parent
        source = "\n".join(
            file.read_text(encoding="utf-8") for file in sorted(folder.rglob("*.py"))
        ).casefold()
        assert len(source) > 10_000
        assert [word for word in EXAMPLES if word in source] == []


class TestLanguage:
    async def test_a_japanese_message_gets_a_japanese_answer_and_an_english_one_an_english(self) -> None:
        user = Partner()
        await user.say("Hello")
        assert "どういたしまして" in await user.say("ありがとう！")
        assert (await user.say("thank you")).isascii()


class TestStream:
    async def test_comes_in_several_pieces_and_ends_with_one_finish(self) -> None:
        events = await _events(UserPart("こんにちは"))
        assert len(events) > 5
        assert [event for event in events if isinstance(event, Finish)] == [Finish("stop")]
        assert events[-1] == Finish("stop")

    async def test_can_be_stopped_between_two_pieces(self) -> None:
        async with aclosing(OfflineModel().stream(ChatRequest((UserPart("Hello"),)))) as stream:
            first = await anext(stream)
        assert isinstance(first, Delta)

    async def test_lets_other_tasks_run_between_two_pieces(self) -> None:
        heard: list[str] = []

        async def answer() -> None:
            async for _ in OfflineModel().stream(ChatRequest((UserPart("Hello"),))):
                heard.append("piece")

        async def another() -> None:
            await asyncio.sleep(0)
            heard.append("other")

        await asyncio.gather(answer(), another())
        assert heard.index("other") < len(heard) - 1

    async def test_is_the_same_for_the_same_prompt(self) -> None:
        prompt = (UserPart("My canoe is called Swift"), AssistantPart("Noted."), UserPart("And my canoe?"))
        assert await _events(*prompt) == await _events(*prompt)

    def test_is_a_chat_model(self) -> None:
        model: ChatModel = OfflineModel()
        asyncio.run(model.close())

    @given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
    def test_answers_whatever_is_said(self, messages: list[str]) -> None:
        async def talk() -> str:
            user = Partner()
            await user.tell(*messages[:-1])
            return await user.say(messages[-1])

        assert asyncio.run(talk())


class TestContinue:
    @pytest.mark.parametrize("more", ["続けてください。", "Please continue.", "続けて"])
    async def test_gives_the_rest_of_a_stopped_answer(self, more: str) -> None:
        whole = _text(await _events(UserPart("こんにちは")))
        cut = whole[:15]
        rest = _text(await _events(UserPart("こんにちは"), AssistantPart(cut), UserPart(more)))
        assert cut + rest == whole

    async def test_says_that_a_whole_answer_was_whole(self) -> None:
        user = Partner()
        await user.say("Hello")
        assert "nothing to add" in await user.say("Please continue.")
