"""From a question to a stored answer."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cc_bot.chat.rounds import MAX_CALLS
from cc_bot.domain.errors import (
    EmptyQuestion,
    ModelSaidNothing,
    ModelUnavailable,
    ModelWentInCircles,
    QuestionTooLong,
)
from cc_bot.domain.message import Attachment, Message
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import ToolFinished, ToolStarted
from cc_bot.llm.model import (
    MAX_ANSWER_CHARACTERS,
    AssistantPart,
    Finish,
    SystemPart,
    ToolRequest,
    ToolResultPart,
    UserPart,
)
from cc_bot.texts import explain, texts
from cc_bot.texts.answer import AnswerTexts
from tests.assistant.conftest import KEY, OPTIONS, Table, call, done
from tests.scripted_model import Step

PICTURE = Attachment("cat.png", "image/png", b"png")
LIST = call("list_memories")


def remember(content: str, id_: str = "1") -> ToolRequest:
    return call("remember", id_, content=content)


def files_with(words: bytes, folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if words in file.read_bytes()]


class TestAnswer:
    async def test_knows_what_its_user_said_before_in_this_channel_only(self, table: Table) -> None:
        await table.ask("合言葉は山です")
        await table.ask("The secret is 123", key=SessionKey(1, 11))
        await table.ask("秘密は123", key=SessionKey(2, 10))
        await table.ask("合言葉は？")
        assert UserPart("合言葉は山です") in table.model.requests[-1].prompt
        assert "123" not in table.shown()
        first, second = table.model.requests[0].prompt, table.model.requests[-1].prompt
        assert second[:3] == (first[0], first[2], AssistantPart("You said: 合言葉は山です"))

    @pytest.mark.parametrize(
        ("steps", "error"),
        [
            *(([blank], ModelSaidNothing) for blank in (" \n ", "\u200b", "\ufeff", "\u2800", "\u3164")),
            ([ModelUnavailable()], ModelUnavailable),
        ],
        ids=repr,
    )
    async def test_of_which_nothing_came_leaves_no_trace(
        self, table: Table, steps: list[Step], error: type[Exception]
    ) -> None:
        table.model.script = [steps]
        with pytest.raises(error):
            await table.ask("聞こえる？")
        assert await table.said() == []

    async def test_that_broke_off_or_is_too_long_is_kept_as_cut(self, table: Table) -> None:
        half = "あ" * (MAX_ANSWER_CHARACTERS // 2)
        almost = "あ" * (MAX_ANSWER_CHARACTERS - 1)
        table.model.script = [
            ["昔々、", Finish("cut")],
            [half, half, "い", half, Finish("stop")],
            [almost, LIST],
            ["いい", "うう"],
        ]
        for kept in ("昔々、", half + half, almost):
            answer = await table.answer("お話して")
            assert (answer.content, answer.status) == (kept, "cut")
        history = (await table.session()).history
        assert [message.status for message in history] == ["complete", "cut"] * 3
        assert [len(message.content) for message in history[1::2]] == [3, 2 * len(half), len(almost)]


class TestQuestion:
    async def test_that_is_empty_or_too_long_is_refused(self, table: Table) -> None:
        for content in ("", "  \n\u3000", "\u200b\u2060", "\u3164", "\U000e0041", "\u034f", "\ufe0f"):
            with pytest.raises(EmptyQuestion):
                await table.ask(content)
        with pytest.raises(QuestionTooLong):
            await table.ask("あ" * 6001)
        assert table.model.requests == []

    async def test_may_be_an_attachment_alone_which_stays_for_the_next_question(self, table: Table) -> None:
        await table.ask(Message("user", "", attachments=(PICTURE,)))
        assert table.model.requests[0].prompt[-1] == UserPart("", (PICTURE,))
        await table.ask("何色？")
        assert UserPart("", (PICTURE,)) in table.model.requests[-1].prompt


class TestTools:
    async def test_run_and_their_results_go_back_to_the_model_and_into_the_history(
        self, table: Table
    ) -> None:
        table.model.script = [[remember("誕生日は5月4日")], ["覚えました。"]]
        events = await table.ask("誕生日は5月4日。覚えておいて")
        assert [type(event) for event in events[:2]] == [ToolStarted, ToolFinished]
        assert (done(events).usage.prompt_tokens, done(events).usage.completion_tokens) == (200, 20)
        *_, made, result = table.model.requests[1].prompt
        assert made == AssistantPart("", (remember("誕生日は5月4日"),))
        assert isinstance(result, ToolResultPart)
        assert json.loads(result.text)["remembered"]["content"] == "誕生日は5月4日"
        assert [memory.content for memory in await table.stores.memories.list(1)] == ["誕生日は5月4日"]
        await table.ask("次")
        kinds = [type(part) for part in table.model.requests[-1].prompt]
        turn = [UserPart, AssistantPart, ToolResultPart, AssistantPart]
        assert kinds == [SystemPart, *turn, SystemPart, UserPart]

    async def test_whose_arguments_hold_a_secret_or_are_too_long_are_stored_without_them(
        self, table: Table, tmp_path: Path
    ) -> None:
        table.model.script = [
            [
                remember("パスワードは hunter2"),
                call("format_disk", "2", password="パスワードは hunter2"),
                remember("パスワードは hunter2 " * 500_000, "3"),
                remember("緑が好き", "4"),
            ],
            ["覚えません。"],
        ]
        answer = await table.answer("覚えて: 緑が好き")
        _, stored = (await table.session()).history
        for calls in (answer.tool_calls, stored.tool_calls):
            assert [(each.arguments, each.ok) for each in calls] == [
                *[("{}", False)] * 3,
                ('{"content": "緑が好き"}', True),
            ]
        assert "32768 characters" in answer.tool_calls[2].result
        assert files_with(b"hunter2", tmp_path) == []
        await table.ask("次")
        assert "hunter2" not in table.shown()

    async def test_are_called_so_many_times_in_a_turn_and_no_more(self, table: Table) -> None:
        table.model.script = [[call("list_memories", str(n)) for n in range(14)]] * 5 + [["以上です。"]]
        answer = await table.answer("見せて")
        assert (answer.content, answer.status) == ("以上です。", "complete")
        assert len(answer.tool_calls) == MAX_CALLS
        assert [request.tools != () for request in table.model.requests[-2:]] == [True, False]

    @pytest.mark.parametrize("locale", list(Locale))
    async def test_end_after_eight_rounds_with_what_is_true(self, table: Table, locale: Locale) -> None:
        """It is not busy, and nothing broke off; what was changed stays."""
        table.model.script = [[remember(f"事実{number}")] for number in range(9)]
        answer = await table.answer("ずっと覚え続けて", options=replace(OPTIONS, locale=locale))
        assert answer.content == explain(ModelWentInCircles(), texts(locale))
        assert (answer.status, len(answer.tool_calls)) == ("complete", 8)
        assert table.model.requests[-1].tools == ()
        assert len(await table.stores.memories.list(1)) == 8

    async def test_done_before_the_model_failed_are_kept_with_a_cut_answer(self, table: Table) -> None:
        table.model.script = [[remember("緑が好き")], [ModelUnavailable()]]
        answer = await table.answer("緑が好き。覚えて")
        assert (answer.status, len(answer.tool_calls)) == ("cut", 1)
        assert answer.content == texts(Locale.JA)[AnswerTexts].no_text

    async def test_no_model_is_tried_again_once_a_word_was_seen(self, table: Table) -> None:
        table.model.script = [["調べます。", remember("緑が好き")], ["はい。"]]
        answer = await table.answer("緑が好き。覚えて")
        assert [request.answer_begun for request in table.model.requests] == [False, True]
        assert answer.content == "調べます。\n\nはい。"


class TestPrivateTurn:
    async def test_is_not_seen_by_a_public_one_but_by_private_ones(self, table: Table) -> None:
        await table.ask("公開の話")
        await table.ask("内緒の話", visibility="private")
        await table.ask("何を話した？", visibility="private")
        assert all(text in table.shown() for text in ("公開の話", "内緒の話"))
        await table.ask("何を話した？")
        assert "公開の話" in table.shown()
        assert "内緒" not in table.shown()


async def test_a_temporary_turn_stores_nothing_and_offers_no_writing_tools(table: Table) -> None:
    await table.ask("前の話")
    table.model.script = [[remember("仮の話")], ["覚えられません。"]]
    temporary = replace(OPTIONS, temporary=True)
    events = await table.ask("仮の話を覚えて", options=temporary, visibility="private")
    assert done(events).answer.id is None
    names = [tool.name for tool in table.model.requests[-1].tools]
    assert names == ["list_memories", "list_schedules", "recall"]
    assert await table.said() == ["前の話", "You said: 前の話"]
    assert await table.stores.memories.list(1) == []


async def test_what_is_kept_in_a_dm_of_several_people_is_for_private_answers(table: Table) -> None:
    table.model.script = [[call("remember", content="鍵は玄関")], ["はい。"]]
    await table.ask("鍵は玄関。覚えて", options=replace(OPTIONS, guild_id=None))
    assert [each.audience for each in await table.stores.memories.list(KEY.user_id)] == ["private"]
