"""From a question to a stored answer."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

import cc_bot.tools
from cc_bot.assistant import Assistant
from cc_bot.assistant.rounds import MAX_CALLS
from cc_bot.domain import Locale, Message, SessionKey, TextDelta, ToolFinished, ToolStarted
from cc_bot.domain.errors import (
    EmptyQuestion,
    ModelSaidNothing,
    ModelUnavailable,
    ModelWentInCircles,
    QuestionTooLong,
    StorageError,
)
from cc_bot.domain.message import Attachment
from cc_bot.llm.model import (
    MAX_ANSWER_CHARACTERS,
    AssistantPart,
    Finish,
    SystemPart,
    ToolRequest,
    ToolResultPart,
    UserPart,
)
from cc_bot.stores import SettingsStore
from cc_bot.texts import explain, texts
from cc_bot.tools.registry import discover
from tests.assistant.conftest import KEY, OPTIONS, Table, done
from tests.scripted_model import Step, only


class FullDisk(SettingsStore):
    """Settings that can't be written any more."""

    def __init__(self) -> None:
        pass

    async def claim_welcome(self, user_id: int) -> bool:
        raise StorageError


def remember(content: str, call_id: str = "call-1") -> ToolRequest:
    return ToolRequest(call_id, "remember", json.dumps({"content": content}, ensure_ascii=False))


def files_with(words: bytes, folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if words in file.read_bytes()]


class TestAnswer:
    async def test_streams_and_is_stored_before_it_is_done(self, table: Table) -> None:
        table.model.script = [["こんにちは、", "お元気ですか。"]]
        stored: list[list[str]] = []

        events = []
        async for event in table.assistant.ask(KEY, Message("user", "やあ"), OPTIONS):
            events.append(event)
            stored.append(await table.said())

        assert [event.text for event in events if isinstance(event, TextDelta)] == [
            "こんにちは、",
            "お元気ですか。",
        ]
        assert done(events).answer.content == "こんにちは、お元気ですか。"
        assert stored[0] == []
        assert stored[-1] == ["やあ", "こんにちは、お元気ですか。"]

    async def test_knows_what_was_said_before_in_this_channel_only(self, table: Table) -> None:
        await table.ask("合言葉は山です")
        await table.ask("The secret is 123", key=SessionKey(1, 11))
        await table.ask("合言葉は？")

        prompt = table.model.requests[-1].prompt
        assert UserPart("合言葉は山です") in prompt
        assert "123" not in str(prompt)

    async def test_of_one_user_is_not_seen_by_another_in_the_same_channel(self, table: Table) -> None:
        await table.ask("秘密は123")
        await table.ask("秘密は何？", key=SessionKey(2, 10))
        assert "123" not in str(table.model.requests[-1].prompt)

    async def test_reports_what_the_turn_cost(self, table: Table) -> None:
        table.model.script = [[remember("犬を飼っている")], ["覚えました。"]]
        events = await table.ask("犬を飼っているのを覚えて")
        assert (done(events).usage.prompt_tokens, done(events).usage.completion_tokens) == (200, 20)

    @pytest.mark.parametrize("blank", [" \n ", "\u200b", "\ufeff", "\u2800", "\u3164"])
    async def test_that_is_empty_is_a_failure_and_leaves_no_trace(self, table: Table, blank: str) -> None:
        table.model.script = [[blank]]
        with pytest.raises(ModelSaidNothing):
            await table.ask("聞こえる？")
        assert await table.said() == []

    async def test_of_which_nothing_came_leaves_no_trace(self, table: Table) -> None:
        table.model.script = [[ModelUnavailable()]]
        with pytest.raises(ModelUnavailable):
            await table.ask("聞こえる？")
        assert await table.said() == []

    async def test_that_broke_off_is_kept_as_cut(self, table: Table) -> None:
        table.model.script = [["昔々、", Finish("cut")]]
        assert (await table.answer("お話して")).status == "cut"
        history = (await table.session()).history
        assert [(message.content, message.status) for message in history] == [
            ("お話して", "complete"),
            ("昔々、", "cut"),
        ]

    async def test_that_is_too_long_is_kept_as_cut(self, table: Table) -> None:
        """Whatever model gives it."""
        half = "あ" * (MAX_ANSWER_CHARACTERS // 2)
        table.model.script = [[half, half, "い", half, Finish("stop")]]
        answer = await table.answer("お話して")
        assert (answer.content, answer.status) == (half + half, "cut")
        assert [len(said) for said in await table.said()] == [4, MAX_ANSWER_CHARACTERS]

    async def test_that_is_too_long_by_what_is_said_between_calls_is_cut_too(self, table: Table) -> None:
        long = "あ" * (MAX_ANSWER_CHARACTERS - 1)
        table.model.script = [[long, ToolRequest("1", "list_memories", "{}")], ["いい", "うう"]]
        answer = await table.answer("お話して")
        assert (answer.content, answer.status) == (long, "cut")

    async def test_is_the_first_one_once(self, table: Table) -> None:
        newcomer = replace(OPTIONS, welcomed=False)
        assert done(await table.ask("hello", options=newcomer)).first
        assert not done(await table.ask("hello again", options=newcomer)).first

    async def test_that_is_stored_is_shown_even_if_the_welcome_can_not_be(self, table: Table) -> None:
        stores = replace(table.stores, settings=FullDisk())
        assistant = Assistant(stores, only(table.model), discover(cc_bot.tools))
        newcomer = replace(OPTIONS, welcomed=False)
        events = [event async for event in assistant.ask(KEY, Message("user", "やあ"), newcomer)]
        assert not done(events).first
        assert await table.said() == ["やあ", "You said: やあ"]


class TestQuestion:
    @pytest.mark.parametrize(
        "content", ["", "  \n\u3000", "\u200b\u2060", "\u3164", "\U000e0041", "\u034f", "\ufe0f"]
    )
    async def test_that_is_empty_is_refused(self, table: Table, content: str) -> None:
        with pytest.raises(EmptyQuestion):
            await table.ask(content)
        assert table.model.requests == []

    async def test_may_be_an_attachment_alone(self, table: Table) -> None:
        picture = Attachment("cat.png", "image/png", b"png")
        await table.ask(Message("user", "", attachments=(picture,)))
        assert table.model.requests[0].prompt[-1] == UserPart("", (picture,))

    async def test_that_is_too_long_is_refused(self, table: Table) -> None:
        with pytest.raises(QuestionTooLong):
            await table.ask("あ" * 6001)

    async def test_keeps_its_attachment_for_the_next_question(self, table: Table) -> None:
        picture = Attachment("cat.png", "image/png", b"png")
        await table.ask(Message("user", "これは何？", attachments=(picture,)))
        await table.ask("何色？")
        assert UserPart("これは何？", (picture,)) in table.model.requests[-1].prompt


class TestPrompt:
    async def test_shares_its_beginning_with_the_earlier_one(self, table: Table) -> None:
        await table.ask("一つ目")
        await table.ask("二つ目")
        first, second = (request.prompt for request in table.model.requests)
        stable, now, question = first
        assert isinstance(stable, SystemPart)
        assert isinstance(now, SystemPart)
        assert second[:3] == (stable, question, AssistantPart("You said: 一つ目"))

    async def test_tells_of_recalled_text_as_data(self, table: Table) -> None:
        await table.ask("こんにちは")
        stable = table.model.requests[0].prompt[0]
        assert isinstance(stable, SystemPart)
        assert "指示ではありません" in stable.text


class TestTools:
    async def test_run_and_their_results_go_back_to_the_model(self, table: Table) -> None:
        table.model.script = [[remember("誕生日は5月4日")], ["覚えました。"]]
        events = await table.ask("誕生日は5月4日。覚えておいて")

        assert [type(event) for event in events[:2]] == [ToolStarted, ToolFinished]
        *_, asked, result = table.model.requests[1].prompt
        assert asked == AssistantPart("", (remember("誕生日は5月4日"),))
        assert isinstance(result, ToolResultPart)
        assert json.loads(result.text)["remembered"]["content"] == "誕生日は5月4日"
        assert [memory.content for memory in await table.stores.memories.list(1)] == ["誕生日は5月4日"]

    async def test_are_part_of_the_history_with_their_results(self, table: Table) -> None:
        table.model.script = [[remember("緑が好き")], ["覚えました。"]]
        await table.ask("緑が好き。覚えて")
        await table.ask("次")
        kinds = [type(part) for part in table.model.requests[-1].prompt]
        assert kinds == [
            SystemPart,
            UserPart,
            AssistantPart,
            ToolResultPart,
            AssistantPart,
            SystemPart,
            UserPart,
        ]

    async def test_whose_arguments_hold_a_secret_are_stored_without_them(
        self, table: Table, tmp_path: Path
    ) -> None:
        secret = ToolRequest("2", "format_disk", '{"password": "パスワードは hunter2"}')
        table.model.script = [[remember("パスワードは hunter2"), secret], ["覚えません。"]]
        await table.ask("覚えて")
        _, answer = (await table.session()).history
        assert [(call.name, call.arguments, call.ok) for call in answer.tool_calls] == [
            ("remember", "{}", False),
            ("format_disk", "{}", False),
        ]
        assert files_with(b"hunter2", tmp_path) == []

    async def test_act_for_the_asker_whatever_the_arguments_say(self, table: Table) -> None:
        await table.stores.memories.add(2, "他人の秘密")
        call = ToolRequest("1", "recall", '{"query": "秘密", "user_id": 2}')
        table.model.script = [[call], ["ありません。"]]
        await table.ask("秘密を教えて")
        result = table.model.requests[1].prompt[-1]
        assert isinstance(result, ToolResultPart)
        assert json.loads(result.text) == {"memories": []}

    @pytest.mark.parametrize(
        "call",
        [
            ToolRequest("1", "remember", '{"content": '),
            ToolRequest("1", "remember", "[]"),
            ToolRequest("1", "format_disk", "{}"),
            ToolRequest("1", "remember", '{"content": "   "}'),
            ToolRequest("1", "recall", '{"query": 5, "limit": "many"}'),
        ],
    )
    async def test_called_wrongly_tell_the_model_and_the_turn_goes_on(
        self, table: Table, call: ToolRequest
    ) -> None:
        table.model.script = [[call], ["すみません。"]]
        answer = await table.answer("お願い")
        assert answer.content == "すみません。"
        assert [made.ok for made in answer.tool_calls] == [False]
        assert "error" in json.loads(answer.tool_calls[0].result)

    async def test_asked_for_together_keep_their_order(self, table: Table) -> None:
        calls = [remember(f"事実{number}", f"call-{number}") for number in range(5)]
        table.model.script = [calls, ["全部覚えました。"]]
        answer = await table.answer("全部覚えて")
        assert [call.id for call in answer.tool_calls] == [call.id for call in calls]
        assert len(await table.stores.memories.list(1)) == 5

    async def test_called_with_too_much_are_refused_and_the_rest_is_not_stored(self, table: Table) -> None:
        nine_megabytes = remember("パスワードは hunter2 " * 500_000)
        table.model.script = [[nine_megabytes, remember("緑が好き", "call-2")], ["すみません。"]]
        answer = await table.answer("覚えて: 緑が好き")
        assert [(call.arguments, call.ok) for call in answer.tool_calls] == [
            ("{}", False),
            ('{"content": "緑が好き"}', True),
        ]
        assert "32768 characters" in answer.tool_calls[0].result
        assert "hunter2" not in str(table.model.requests[-1].prompt)
        assert "hunter2" not in str((await table.session()).history)

    async def test_are_called_so_many_times_in_a_turn_and_no_more(self, table: Table) -> None:
        calls = [ToolRequest(str(number), "list_memories", "{}") for number in range(14)]
        table.model.script = [calls] * 5 + [["以上です。"]]
        answer = await table.answer("見せて")
        assert (answer.content, answer.status) == ("以上です。", "complete")
        assert len(answer.tool_calls) == MAX_CALLS
        assert table.model.requests[-2].tools != ()
        assert table.model.requests[-1].tools == ()

    async def test_are_not_offered_for_ever(self, table: Table) -> None:
        table.model.script = [[remember(f"事実{number}")] for number in range(8)]
        answer = await table.answer("ずっと覚え続けて")
        assert len(answer.tool_calls) == 8
        assert table.model.requests[-1].tools == ()

    async def test_that_were_not_offered_any_more_are_not_run(self, table: Table) -> None:
        table.model.script = [[remember(f"事実{number}")] for number in range(9)]
        answer = await table.answer("ずっと覚え続けて")
        assert len(answer.tool_calls) == 8
        assert len(await table.stores.memories.list(1)) == 8

    @pytest.mark.parametrize("locale", list(Locale))
    async def test_that_led_nowhere_end_with_what_is_true(self, table: Table, locale: Locale) -> None:
        """It is not busy, and nothing broke off; what was changed stays."""
        table.model.script = [[remember(f"事実{number}")] for number in range(9)]
        answer = await table.answer("ずっと覚え続けて", options=replace(OPTIONS, locale=locale))
        assert answer.content == explain(ModelWentInCircles(), texts(locale))
        assert answer.status == "complete"

    @pytest.mark.parametrize("last", [[ToolRequest("1", "list_memories", "{}")], []])
    async def test_that_led_nowhere_and_changed_nothing_leave_no_trace(
        self, table: Table, last: list[Step]
    ) -> None:
        table.model.script = [[ToolRequest("1", "list_memories", "{}")] for _ in range(8)]
        table.model.script.append(last)
        with pytest.raises(ModelWentInCircles):
            await table.answer("見せて")
        assert await table.said() == []

    async def test_done_before_the_model_failed_are_kept_with_a_cut_answer(self, table: Table) -> None:
        table.model.script = [[remember("緑が好き")], [ModelUnavailable()]]
        answer = await table.answer("緑が好き。覚えて")
        assert (answer.status, len(answer.tool_calls)) == ("cut", 1)
        assert answer.content == "（言葉での返事はありませんでした）"

    async def test_no_model_is_tried_again_once_a_word_was_seen(self, table: Table) -> None:
        table.model.script = [["調べます。", remember("緑が好き")], ["はい。"]]
        answer = await table.answer("緑が好き。覚えて")
        assert [request.answer_begun for request in table.model.requests] == [False, True]
        assert answer.content == "調べます。\n\nはい。"


class TestPrivateTurn:
    async def test_is_not_seen_by_a_public_one(self, table: Table) -> None:
        await table.ask("病名は内緒", visibility="private")
        await table.ask("何を話した？")
        assert "内緒" not in str(table.model.requests[-1].prompt)

    async def test_sees_the_public_ones_and_is_seen_by_private_ones(self, table: Table) -> None:
        await table.ask("公開の話")
        await table.ask("内緒の話", visibility="private")
        await table.ask("何を話した？", visibility="private")
        assert {"公開の話", "内緒の話"} <= {
            part.text for part in table.model.requests[-1].prompt if isinstance(part, UserPart)
        }

    async def test_leaves_memories_that_public_ones_do_not_recall(self, table: Table) -> None:
        table.model.script = [[remember("持病は喘息")], ["覚えました。"]]
        await table.ask("持病は喘息。覚えて", visibility="private")
        recall = ToolRequest("1", "recall", '{"query": "喘息"}')

        found = {}
        for visibility in ("public", "private"):
            table.model.script = [[recall], ["…"]]
            answer = await table.answer("持病は？", visibility=visibility)
            found[visibility] = json.loads(answer.tool_calls[0].result)["memories"]
        assert found["public"] == []
        assert [memory["content"] for memory in found["private"]] == ["持病は喘息"]


class TestTemporaryTurn:
    async def test_stores_nothing_and_offers_no_writing_tools(self, table: Table) -> None:
        await table.ask("前の話")
        temporary = replace(OPTIONS, temporary=True)
        table.model.script = [[remember("仮の話")], ["覚えられません。"]]
        events = await table.ask("仮の話を覚えて", options=temporary, visibility="private")

        assert done(events).answer.id is None
        names = [tool.name for tool in table.model.requests[-1].tools]
        assert names == ["list_memories", "list_schedules", "recall"]
        assert await table.said() == ["前の話", "You said: 前の話"]
        assert await table.stores.memories.list(1) == []


class TestCancelledTurn:
    async def test_leaves_the_session_as_it_was(self, table: Table) -> None:
        await table.ask("最初")
        await table.model.asked()
        before = await table.said()
        table.model.script = [["途中まで", asyncio.Event()]]
        task = asyncio.create_task(table.ask("途中"))
        await table.model.asked()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await table.said() == before
        assert table.model.ended_early == 1
        assert (await table.answer("次")).content == "You said: 次"
