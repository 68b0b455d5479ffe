"""Limits of what a server may send, so that no other user has to wait for one answer or its calls."""

import time
from collections.abc import Callable

import pytest

from cc_bot.domain.errors import ModelUnavailable
from cc_bot.llm import openai
from cc_bot.llm.model import MAX_ANSWER_CHARACTERS, MAX_ARGUMENTS_CHARACTERS, MAX_CALLS, ToolRequest
from cc_bot.llm.openai import OpenAIChatModel
from cc_bot.llm.openai.reply import ToolCallAssembler, ToolCallDelta
from tests.llm.asking import hear, loopback
from tests.loopback.model_server import (
    Chunk,
    End,
    Fragment,
    LoopbackModelServer,
    Pause,
    Raw,
    Reply,
    Say,
    Step,
    fails,
    says,
)

MIB = 2**20
LATE = (Say("Zu spät"), End())


class TestAnswer:
    async def test_that_is_too_long_is_cut_where_it_may_be_no_longer(self) -> None:
        for pieces in (1, 50):
            text = "あ" * ((MAX_ANSWER_CHARACTERS + 5000) // pieces)
            async with loopback(says(*[text] * pieces)) as (model, _):
                heard = await hear(model)
            assert heard.text == "あ" * MAX_ANSWER_CHARACTERS
            assert heard.finish.reason == "cut"
        async with loopback(says("あ" * MAX_ANSWER_CHARACTERS)) as (model, _):
            heard = await hear(model)
        assert (len(heard.text), heard.finish.reason) == (MAX_ANSWER_CHARACTERS, "stop")

    async def test_of_white_space_without_end_is_none(self) -> None:
        async with loopback(Reply(*[Say(" " * 5000)] * 25, End()), max_retries=0) as (model, _):
            with pytest.raises(ModelUnavailable):
                await hear(model)


FLOODS = {
    "one line": Reply(Chunk({"choices": [{"delta": {"reasoning": "x" * 2 * MIB}}]}), *LATE),
    "one event of many lines": Reply(
        Raw("data: [\n"), *[Raw("data: 1,\n" * 100_000)] * 2, Raw("data: 1]\n\n"), *LATE
    ),
    "one comment": Reply(Raw(":" * 2 * MIB + "\n\n"), *LATE),
    "comments": Reply(*[Raw(f": {'x' * (MIB // 2)}\n\n")] * 130, *LATE),
    "nesting": Reply(Raw("data: " + "[" * (MIB // 2) + "\n\n"), *LATE),
    "an error": fails(400, "x" * 65 * MIB),
}


class TestStream:
    @pytest.mark.slow
    @pytest.mark.parametrize("reply", FLOODS.values(), ids=FLOODS)
    async def test_of_too_many_bytes_is_no_answer(self, reply: Reply) -> None:
        async with loopback(reply, max_retries=0) as (model, _):
            with pytest.raises(ModelUnavailable):
                await hear(model)

    async def test_that_grows_too_long_after_the_first_words_is_a_cut_answer(self) -> None:
        async with loopback(Reply(Say("はい、"), Raw("data: " + "x" * 2 * MIB))) as (model, _):
            heard = await hear(model)
        assert (heard.text, heard.finish.reason) == ("はい、", "cut")

    async def test_whose_events_end_in_any_way_is_measured_event_by_event(self) -> None:
        event = 'data: {"choices":[{"delta":{"reasoning":"' + "x" * 100_000 + '"}}]}'
        for blank in ("\n\n", "\r\n\r\n", "\r\r"):
            pieces = [Raw(event + blank[:1]), Raw(blank[1:])] * 12
            async with loopback(Reply(*pieces, Say("はい"), End())) as (model, _):
                assert (await hear(model)).text == "はい"

    async def test_with_signs_of_life_between_its_words_is_whole(self) -> None:
        steps: list[Step] = [Raw(": ping\n\n" * 10_000), Say("は")] * 20
        async with loopback(Reply(*steps, End())) as (model, _):
            assert (await hear(model)).text == "は" * 20

    async def test_that_goes_on_for_ever_is_ended(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(openai, "MAX_ANSWER_S", 0.5)
        for sign in ({"content": ""}, {"reasoning_content": "うーん"}, {"content": " "}):
            steps: list[Step] = [Chunk({"choices": [{"delta": sign}]}), Pause(0.05)] * 200
            async with LoopbackModelServer(Reply(*steps, *LATE)) as server:
                model = OpenAIChatModel("m", base_url=server.base_url, timeout_s=0.3, max_retries=0)
                try:
                    with pytest.raises(ModelUnavailable):
                        await hear(model)
                finally:
                    await model.close()


async def calls_of(*steps: Step) -> tuple[ToolRequest, ...]:
    async with loopback(Reply(*steps, End("tool_calls"))) as (model, _):
        return (await hear(model)).finish.tool_requests


class TestCalls:
    async def test_of_too_long_arguments_are_known_as_such_and_not_kept_in_full(self) -> None:
        begun = Fragment('{"content": "', "remember", "a")
        [request] = await calls_of(begun, *[Fragment("あ" * 50_000)] * 20)
        assert (request.is_oversized, len(request.arguments)) == (True, MAX_ARGUMENTS_CHARACTERS + 1)
        arguments = '{"content": "' + "あ" * (MAX_ARGUMENTS_CHARACTERS - 15) + '"}'
        [request] = await calls_of(Fragment(arguments, "remember", "a"))
        assert (request.is_oversized, request.arguments) == (False, arguments)

    async def test_beyond_number_are_left_out_and_have_names_and_ids_of_bounded_length(self) -> None:
        many = [Fragment("{}", "recall", f"id{number}", number) for number in range(300)]
        in_one = [{"index": n, "function": {"name": "recall"}} for n in range(5000)]
        requests = await calls_of(*many, Chunk({"choices": [{"delta": {"tool_calls": in_one}}]}))
        assert [request.id for request in requests] == [f"id{number}" for number in range(MAX_CALLS)]
        long = Fragment(None, "x" * 1000, "y" * 100_000)
        [request] = await calls_of(long, *[Fragment(None, "z" * 1000)] * 50)
        assert max(len(request.name), len(request.id)) <= 256


FRAGMENTS: dict[str, Callable[[int], ToolCallDelta]] = {
    "a call each": lambda n: ToolCallDelta(n, f"id{n}", "remember", "{}"),
    "one call": lambda n: ToolCallDelta(0, arguments="x"),
    "the name in each": lambda n: ToolCallDelta(0, "a", "remember", '{"a": "' if not n else "x"),
    "brackets in each": lambda n: ToolCallDelta(0, "a", "remember", '{"a": [' if not n else "[],"),
    "what looks whole in each": lambda n: ToolCallDelta(None, "a", "remember", '{"a": "' if not n else "}"),
    "an object and no more": lambda n: ToolCallDelta(0, "a", "remember", "[{}]"),
    "a longer name each": lambda n: ToolCallDelta(0, "a", "n" * (n % 5000)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FRAGMENTS)
def test_fragments_cost_the_same_however_many_came_before(kind: str) -> None:
    few, many = (min(seconds_for(kind, count) for _ in range(3)) for count in (5_000, 40_000))
    assert many < few * 8 * 3  # 8 where growth is linear, 64 where it is quadratic


def seconds_for(kind: str, count: int) -> float:
    """Return the processor time of this process, which doesn't depend on other processes."""
    fragments = [FRAGMENTS[kind](number) for number in range(count)]
    assembler = ToolCallAssembler()
    begun = time.process_time()
    for fragment in fragments:
        assembler.add(fragment)
    assembler.requests()
    return time.process_time() - begun
