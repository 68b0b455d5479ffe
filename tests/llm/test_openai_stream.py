import json
from collections.abc import AsyncIterator

import pytest

from cc_bot.domain.errors import ModelRefusedKey, ModelRefusedRequest, ModelUnavailable
from cc_bot.domain.turn import Usage
from cc_bot.llm.model import Delta, Finish, Thinking, ToolRequest
from cc_bot.llm.openai.reply import json_events
from cc_bot.llm.openai.wires import read_chunk
from tests.llm.asking import CONTINUATION, Heard, hear, loopback
from tests.loopback.model_server import (
    Call,
    Chunk,
    CutConnection,
    End,
    Fragment,
    Raw,
    Reply,
    Say,
    Step,
    calls,
    fails,
    says,
)


def test_a_thought_is_a_sign_of_life_and_a_role_is_none() -> None:
    for said, alive in (({}, False), ({"reasoning_content": "…"}, True), ({"tool_calls": [{}]}, True)):
        assert read_chunk({"choices": [{"delta": {"role": "assistant", **said}}]}).alive is alive


async def heard_from(*steps: Step) -> Heard:
    async with loopback(Reply(*steps)) as (model, _):
        return await hear(model)


def choice(delta: object, finish_reason: str | None = None, **more: object) -> Chunk:
    return Chunk({"choices": [{"delta": delta, "finish_reason": finish_reason}], **more})


class TestText:
    async def test_comes_piece_by_piece_and_ends_with_usage(self) -> None:
        async with loopback(says("東京", "です", "。", usage=(40, 3))) as (model, _):
            heard = await hear(model)
        pieces = (Delta("東京"), Delta("です"), Delta("。"))
        assert heard.events == (*pieces, Finish("stop", usage=Usage(40, 3), model="loopback"))
        async with loopback(Reply(Say("東"), Say("京", delay_s=60))) as (model, _):
            events = model.stream(CONTINUATION)
            assert await anext(events) == Delta("東"), "it is there before the stream is over"
            await events.aclose()

    async def test_begins_with_a_word_and_may_be_a_refusal(self) -> None:
        heard = await heard_from(Say("\n"), Say("\n"), Say("    print(1)"), Say("\n"), End())
        assert heard.events[0] == Delta("\n\n    print(1)")
        assert heard.text == "\n\n    print(1)\n"
        heard = await heard_from(choice({"content": None, "refusal": "お手伝いできません。"}), End())
        assert heard.text == "お手伝いできません。"

    async def test_has_no_half_of_a_character(self) -> None:
        for pieces, expected in ((("はい\\ud83d", "\\ude00！"), "はい😀！"), (("a\\ude00b",), "a\ufffdb")):
            steps = [Raw(f'data: {{"choices":[{{"delta":{{"content":"{half}"}}}}]}}\n\n') for half in pieces]
            assert (await heard_from(*steps, End())).text == expected


class TestOddChunks:
    async def test_they_change_nothing(self) -> None:
        odd: list[Step] = [
            Chunk({"choices": []}),
            Chunk({"choices": None}),
            Chunk({}),
            Chunk(None),
            Chunk(["?"]),
            Chunk({"choices": ["?"]}),
            choice(None),
            choice({"content": None, "tool_calls": None}),
            choice({"content": 7, "tool_calls": [None, {"function": None}]}),
            choice({"reasoning_content": "えーと"}, vendor={"queue": 3}),
            choice({"content": "", "role": "wizard"}, ""),
            Chunk({"usage": {"prompt_tokens": None}}),
            Raw(": keep-alive\n\n"),
            Raw("event: ping\ndata: {}\n\n"),
        ]
        heard = await heard_from(*odd, Say("東京"), *odd, Say("です"), *odd, End(usage=(5, 2)))
        assert heard.events == (
            Thinking(),
            Delta("東京"),
            Delta("です"),
            Finish("stop", usage=Usage(5, 2), model="loopback"),
        )

    async def test_usage_counts_where_it_can_be_right(self) -> None:
        def used(prompt: object, answer: object, cached: object = None) -> dict[str, object]:
            details = {"prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0}}
            return {"prompt_tokens": prompt, "completion_tokens": answer, **(details if cached else {})}

        for sent, usage in (
            (used(5, 2), Usage(5, 2)),
            (used(2000, 2, 1024), Usage(2000, 2, 1024)),
            (used(5, 2, 900), Usage(5, 2, 5)),
            (used(5, 2, 3), Usage(5, 2, 3)),
            *((used(5, 2, cached), Usage(5, 2)) for cached in (-1, "4")),
            *((used(prompt, 2), Usage()) for prompt in (-5, 10**30, True)),
            *((used(5, answer), Usage()) for answer in ("2", 0.5)),
        ):
            heard = await heard_from(Say("はい"), choice({}, "stop", usage=sent))
            assert heard.finish.usage == usage, sent
        heard = await heard_from(Say("はい"), End(usage=None))
        assert heard.finish == Finish("stop", model="loopback")


BREAKS = {
    "cut connection": [CutConnection()],
    "no finish reason": [End(None)],
    "token limit": [End("length")],
    "malformed JSON": [Raw("data: {oops\n\n"), End()],
    "error in the stream": [Chunk({"error": {"message": "overloaded"}})],
}


class TestBreak:
    @pytest.mark.parametrize("ending", BREAKS.values(), ids=BREAKS)
    async def test_is_a_cut_after_a_word_and_no_answer_before_any(self, ending: list[Step]) -> None:
        heard = await heard_from(Say("調べます"), Fragment('{"query": "誕', "recall", "call_1"), *ending)
        cut = Finish("cut", usage=heard.finish.usage, model="loopback")
        assert (heard.text, heard.finish) == ("調べます", cut), "the unfinished call is dropped"
        with pytest.raises(ModelUnavailable):
            await heard_from(choice({"role": "assistant", "content": ""}), *ending)
        async with loopback(Reply(*ending)) as (model, _):
            heard = await hear(model, CONTINUATION)
        assert (heard.text, heard.finish.reason) == ("", "cut")

    async def test_by_a_filter_is_a_refusal_or_a_cut(self) -> None:
        with pytest.raises(ModelRefusedRequest):
            await heard_from(End("content_filter"))
        heard = await heard_from(Say("それは"), End("content_filter"))
        assert heard.finish.reason == "cut"

    async def test_of_an_answer_that_has_begun_is_a_cut_and_nothing_is_asked_twice(self) -> None:
        for status in (400, 401, 429, 503):
            async with loopback(fails(status)) as (model, server):
                heard = await hear(model, CONTINUATION)
                assert heard.events == (Finish("cut", model="loopback"),)
                assert len(server.requests) == 1


CAT = '{"query": "猫"}'
DOG = '{"query": "犬"}'
BOTH = [("recall", CAT), ("recall", DOG)]
IN_ONE_CHUNK = [{"function": {"name": "recall", "arguments": arguments}} for arguments in (CAT, DOG)]
AS_AN_OBJECT = [{"index": 0, "function": {"name": "recall", "arguments": {"query": "猫"}}}]
CALLS: dict[str, tuple[list[Step], list[tuple[str, str]]]] = {
    "fragments alternate": (
        [
            *(Fragment("", "recall", "call_a", 0), Fragment("", "recall", "call_b", 1)),
            *(Fragment(CAT[:5], index=0), Fragment(DOG[:7], index=1)),
            *(Fragment(CAT[5:], index=0), Fragment(DOG[7:], index=1)),
        ],
        BOTH,
    ),
    "no id": ([Fragment(CAT[:5], "recall"), Fragment(CAT[5:]), Fragment(DOG, "recall", index=1)], BOTH),
    "the same id": ([Fragment(CAT, "recall", "call_0", 0), Fragment(DOG, "recall", "call_0", 1)], BOTH),
    "no index": (
        [
            *(Fragment(CAT[:5], "recall", "call_a", None), Fragment(CAT[5:], index=None)),
            Fragment(DOG, "remember", "call_b", None),
        ],
        [("recall", CAT), ("remember", DOG)],
    ),
    "neither": ([Fragment(CAT, "recall", index=None), Fragment(DOG, "recall", index=None)], BOTH),
    "index 0 for each": ([Fragment(CAT, "recall", "call_a", 0), Fragment(DOG, "recall", "call_b", 0)], BOTH),
    "two in one chunk": ([choice({"tool_calls": IN_ONE_CHUNK})], BOTH),
    "name and id in each": (
        [Fragment(part, "recall", "call_a") for part in (CAT[:3], CAT[3:6], CAT[6:])],
        BOTH[:1],
    ),
    "a name in pieces": ([Fragment(name="rec", id="call_a"), Fragment(name="all"), Fragment(CAT)], BOTH[:1]),
    "an object": ([choice({"tool_calls": AS_AN_OBJECT})], BOTH[:1]),
    "no arguments": ([Fragment(name="list_memories", id="call_a")], [("list_memories", "{}")]),
    "no arguments at index 0": (
        [Fragment("", "count", "call_a", 0), Fragment("", "count", "call_b", 0)],
        [("count", "{}")] * 2,
    ),
    "no arguments, index and id": (
        [Fragment("", "count", index=None), Fragment("", "list", index=None)],
        [("count", "{}"), ("list", "{}")],
    ),
    "malformed": ([Fragment("{'query': 猫}", "recall")], [("recall", "{'query': 猫}")]),
}


class TestCalls:
    async def test_are_whole_in_whatever_fragments_they_come(self) -> None:
        for kind, (steps, expected) in CALLS.items():
            finish = (await heard_from(*steps, End("tool_calls"))).finish
            assert finish.reason == "tools", kind
            assert [(each.name, each.arguments) for each in finish.tool_requests] == expected, kind
            ids = {each.id for each in finish.tool_requests}
            assert (len(ids), all(ids)) == (len(expected), True), kind

    async def test_come_after_their_text_whatever_the_finish_reason(self) -> None:
        async with loopback(calls(Call("recall", {}, id="call_1"), text="調べます。")) as (model, _):
            heard = await hear(model)
        assert (heard.text, heard.finish.reason) == ("調べます。", "tools")
        assert heard.finish.tool_requests == (ToolRequest("call_1", "recall", "{}"),)
        finish = (await heard_from(Fragment(CAT, "recall"), End("stop"))).finish
        assert (finish.reason, len(finish.tool_requests)) == ("tools", 1)
        nameless = await heard_from(Say("はい"), Fragment(CAT), End("tool_calls"))
        assert nameless.finish.reason == "stop"

    async def test_have_ids_made_up_here_that_please_the_strictest_server(self) -> None:
        for index in (0, None):
            [request] = (await heard_from(Fragment(CAT, "recall", index=index), End())).finish.tool_requests
            assert (len(request.id), request.id.isalnum()) == (9, True)


WHOLE_BODY = {
    "choices": [
        {
            "message": {"content": "調べます。", "reasoning_content": "うーん", "tool_calls": IN_ONE_CHUNK},
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 5, "completion_tokens": 2},
}


class TestAWholeBodyInLocationOfAStream:
    async def test_is_an_answer_whatever_its_content_type(self) -> None:
        for kind in ("application/json", "text/event-stream", "text/plain"):
            body = Raw(json.dumps(WHOLE_BODY))
            async with loopback(Reply(body, headers={"Content-Type": kind})) as (model, _):
                heard = await hear(model)
            assert (heard.text, heard.finish.reason, heard.finish.usage) == (
                "調べます。",
                "tools",
                Usage(5, 2),
            )
            assert [each.arguments for each in heard.finish.tool_requests] == [CAT, DOG]

    async def test_of_an_error_is_that_error(self) -> None:
        for body, error in (
            ({"error": {"message": "overloaded"}}, ModelUnavailable),
            ({"error": {"code": "insufficient_quota"}}, ModelRefusedKey),
            ({}, ModelUnavailable),
            ([], ModelUnavailable),
        ):
            async with loopback(Reply(Raw(json.dumps(body)))) as (model, _):
                with pytest.raises(error):
                    await hear(model)


def as_stream(*lines: str) -> list[Step]:
    return [Raw(line) for line in lines]


HALF = '{"choices":[{"delta":{"content":"東京"'
STREAMS: dict[str, list[Step]] = {
    "CRLF": as_stream(f"data: {HALF}}}}}]}}\r\n\r\n", 'data: {"choices":[{"finish_reason":"stop"}]}\r\n\r\n'),
    "CR": as_stream(f"data: {HALF}}}}}]}}\r\r", 'data: {"choices":[{"finish_reason":"stop"}]}\r\r'),
    "an event in two lines": as_stream(
        f"data: {HALF}\ndata: }}}}]}}\n\n", 'data:{"choices":[{"finish_reason":"stop"}]}\n\n'
    ),
    "no last blank line": as_stream(f'data: {HALF}}},"finish_reason":"stop"}}]}}'),
    "comments and other fields": as_stream(
        f": hello\n\nid: 1\nretry: 5\n: hello\ndata: {HALF}}}}}]}}\n\n",
        'event: message\ndata: {"choices":[{"finish_reason":"stop"}]}\n\n',
    ),
    "an error of nothing": as_stream(f'data: {HALF}}},"finish_reason":"stop"}}],"error":null}}\n\n'),
}


class TestStreams:
    @pytest.mark.parametrize("steps", STREAMS.values(), ids=STREAMS)
    async def test_are_read_however_their_lines_end(self, steps: list[Step]) -> None:
        heard = await heard_from(*steps)
        assert (heard.text, heard.finish.reason) == ("東京", "stop")

    @pytest.mark.parametrize("steps", STREAMS.values(), ids=STREAMS)
    async def test_are_the_same_byte_by_byte(self, steps: list[Step]) -> None:
        whole = "".join(step.text for step in steps if isinstance(step, Raw)).encode()

        async def pieces(size: int) -> AsyncIterator[bytes]:
            for start in range(0, len(whole), size):
                yield whole[start : start + size]

        events = [event async for event in json_events(pieces(1))]
        assert events == [event async for event in json_events(pieces(len(whole)))]
        assert events

    async def test_with_an_error_as_an_event_are_no_answer(self) -> None:
        for data in ('{"message": "overloaded"}', '{"error": "overloaded"}', '"overloaded"', "overloaded"):
            with pytest.raises(ModelUnavailable):
                await heard_from(Raw(f"event: error\ndata: {data}\n\n"), Say("東京"), End())


class TestContentInParts:
    async def test_is_its_text_without_what_was_thought(self) -> None:
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "うーん"}]}
        heard = await heard_from(
            choice({"content": [thinking]}),
            choice({"content": [thinking, {"type": "text", "text": "東京"}]}),
            Say("です"),
            End(),
        )
        assert heard.text == "東京です"
