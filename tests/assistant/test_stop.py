"""Ending turns early, and what is kept of them."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import cc_bot.tools
from cc_bot.assistant import Assistant, AssistantSettings, Stop
from cc_bot.domain import TextDelta, ToolFinished, TurnEvent
from cc_bot.domain.errors import ModelUnavailable, NotNewest, ShuttingDown
from cc_bot.llm.model import ToolRequest
from cc_bot.tools.registry import discover
from tests.assistant.conftest import KEY, OPTIONS, Table, done, laid_table
from tests.scripted_model import only


def stop_at(kind: type, stop: Stop) -> Callable[[TurnEvent], None]:
    def seen(event: TurnEvent) -> None:
        if isinstance(event, kind):
            stop.request()

    return seen


class TestStop:
    async def test_keeps_what_was_streamed_as_the_answer(self, table: Table) -> None:
        stop = Stop()
        table.model.script = [["昔々、", asyncio.Event(), "続きません"]]
        events = await table.ask("お話して", stop=stop, seen=stop_at(TextDelta, stop))
        assert (done(events).answer.content, done(events).answer.status) == ("昔々、", "stopped")
        assert await table.said() == ["お話して", "昔々、"]

    async def test_really_ends_the_request(self, table: Table) -> None:
        stop = Stop()
        table.model.script = [["昔々、", asyncio.Event()]]
        await table.ask("お話して", stop=stop, seen=stop_at(TextDelta, stop))
        assert table.model.ended_early == 1

    async def test_between_tools_ends_the_turn_and_keeps_their_calls(self, table: Table) -> None:
        stop = Stop()
        call = ToolRequest("1", "remember", json.dumps({"content": "緑が好き"}))
        table.model.script = [[call], [asyncio.Event(), "覚えました。"]]
        events = await table.ask("緑が好き。覚えて", stop=stop, seen=stop_at(ToolFinished, stop))
        answer = done(events).answer
        assert (answer.status, len(answer.tool_calls)) == ("stopped", 1)
        assert len(table.model.requests) <= 2

    async def test_before_the_first_word_stores_nothing(self, table: Table) -> None:
        stop = Stop()
        gate = asyncio.Event()
        table.model.script = [[gate]]
        task = asyncio.create_task(table.ask("お話して", stop=stop))
        await table.model.asked()
        stop.request()
        assert done(await task).answer.status == "stopped"
        assert await table.said() == []

    async def test_of_a_waiting_turn_asks_no_model(self, table: Table) -> None:
        gate = asyncio.Event()
        table.model.script = [["一つ目", gate]]
        first = asyncio.create_task(table.ask("一つ目"))
        await table.model.asked()
        stop = Stop()
        second = asyncio.create_task(table.ask("二つ目", stop=stop))
        await asyncio.sleep(0)
        stop.request()
        assert done(await second).answer.status == "stopped"
        gate.set()
        await first
        assert await table.said() == ["一つ目", "一つ目"]
        assert len(table.model.requests) == 1


class TestTimeLimit:
    async def test_cuts_an_answer_that_never_ends(self, table: Table) -> None:
        assistant = Assistant(
            table.stores, only(table.model), discover(cc_bot.tools), AssistantSettings(turn_limit_s=0.05)
        )
        table.assistant = assistant
        table.model.script = [["昔々、", asyncio.Event()]]
        assert (await table.answer("お話して")).status == "cut"


class TestDrain:
    async def test_lets_running_turns_finish(self, table: Table) -> None:
        gate = asyncio.Event()
        table.model.script = [["はじめ", gate, "おわり"]]
        turn = asyncio.create_task(table.ask("お話して"))
        await table.model.asked()
        drain = asyncio.create_task(table.assistant.drain(5))
        await asyncio.sleep(0)
        gate.set()
        assert done(await turn).answer.content == "はじめおわり"
        await drain

    async def test_cuts_the_rest_and_keeps_what_came(self, table: Table) -> None:
        table.model.script = [["はじめ", asyncio.Event()]]
        turn = asyncio.create_task(table.ask("お話して"))
        await table.model.asked()
        await table.assistant.drain(0.01)
        assert done(await turn).answer.status == "cut"
        assert await table.said() == ["お話して", "はじめ"]

    async def test_tells_those_who_had_no_word_yet(self, table: Table) -> None:
        table.model.script = [[asyncio.Event()]]
        turn = asyncio.create_task(table.ask("お話して"))
        await table.model.asked()
        await table.assistant.drain(0.01)
        with pytest.raises(ShuttingDown):
            await turn

    async def test_takes_no_new_turns(self, table: Table) -> None:
        await table.assistant.drain(0)
        with pytest.raises(ShuttingDown):
            await table.ask("まだいい？")


class TestRegenerate:
    async def test_puts_a_new_answer_in_the_place_of_the_newest(self, table: Table) -> None:
        table.model.script = [["古い答え"], ["新しい答え"]]
        old = await table.answer("質問")
        events = [event async for event in table.assistant.regenerate(KEY, old.id or 0, OPTIONS)]
        assert done(events).answer.content == "新しい答え"
        assert await table.said() == ["質問", "新しい答え"]
        assert "古い答え" not in str(table.model.requests[-1].prompt)

    async def test_is_refused_when_something_was_said_since(self, table: Table) -> None:
        old = await table.answer("質問")
        await table.ask("別の質問")
        with pytest.raises(NotNewest):
            [event async for event in table.assistant.regenerate(KEY, old.id or 0, OPTIONS)]
        assert len(await table.said()) == 4

    async def test_that_fails_leaves_the_old_answer(self, table: Table) -> None:
        old = await table.answer("質問")
        table.model.script = [[ModelUnavailable()]]
        with pytest.raises(ModelUnavailable):
            [event async for event in table.assistant.regenerate(KEY, old.id or 0, OPTIONS)]
        assert await table.said() == ["質問", "You said: 質問"]

    async def test_without_a_word_leaves_the_old_answer(self, table: Table) -> None:
        old = await table.answer("質問")
        table.model.script = [[ToolRequest("1", "recall", '{"query": "質問"}')], [ModelUnavailable()]]
        with pytest.raises(ModelUnavailable):
            [event async for event in table.assistant.regenerate(KEY, old.id or 0, OPTIONS)]
        assert await table.said() == ["質問", "You said: 質問"]

    async def test_of_a_public_answer_does_not_see_private_turns_before_it(self, table: Table) -> None:
        await table.ask("内緒の話", visibility="private")
        old = await table.answer("公開の話")
        events = [event async for event in table.assistant.regenerate(KEY, old.id or 0, OPTIONS)]
        assert done(events).answer.visibility == "public"
        assert "内緒" not in str(table.model.requests[-1].prompt)

    async def test_sees_as_much_as_the_first_answer_did(self, table: Table) -> None:
        await table.ask("名前はディエゴ")
        for number in range(10):
            await table.ask(f"内緒の話{number}", visibility="private")
        old = await table.answer("私の名前は？")
        first = table.model.requests[-1].prompt
        [event async for event in table.assistant.regenerate(KEY, old.id or 0, OPTIONS)]
        assert table.model.requests[-1].prompt[:-2] == first[:-2]

    async def test_has_a_whole_window_before_the_question(self, table: Table) -> None:
        for number in range(12):
            old = await table.answer(f"質問{number}")
        first = table.model.requests[-1].prompt
        [event async for event in table.assistant.regenerate(KEY, old.id or 0, OPTIONS)]
        assert table.model.requests[-1].prompt[:-2] == first[:-2]


class TestShortestHistory:
    @pytest.mark.parametrize("limit", [1, 2, 3])
    async def test_is_answered_and_answered_again(self, tmp_path: Path, limit: int) -> None:
        async with laid_table(tmp_path, limit) as table:
            await table.ask("一つ目")
            old = await table.answer("二つ目")
            assert old.id is not None
            events = [event async for event in table.assistant.regenerate(KEY, old.id, OPTIONS)]
            assert done(events).answer.id not in (None, old.id)
