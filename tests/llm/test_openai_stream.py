"""How OpenAIChatModel reads what servers send, the sloppy ones too."""

import pytest

from cc_bot.domain.errors import ModelRefusedRequest, ModelUnavailable
from cc_bot.domain.turn import Usage
from cc_bot.llm.model import Delta, Finish, Thinking
from tests.llm.asking import CONTINUATION, Heard, hear, loopback
from tests.loopback.model_server import (
    Chunk,
    CutConnection,
    End,
    Fragment,
    Raw,
    Reply,
    Say,
    Step,
    fails,
    says,
)


async def heard_from(*steps: Step) -> Heard:
    async with loopback(Reply(*steps)) as (model, _):
        return await hear(model)


def choice(delta: object, finish_reason: str | None = None, **more: object) -> Chunk:
    return Chunk({"choices": [{"delta": delta, "finish_reason": finish_reason}], **more})


class TestText:
    async def test_it_comes_piece_by_piece_and_ends_with_usage(self) -> None:
        async with loopback(says("東京", "です", "。", usage=(40, 3))) as (model, _):
            heard = await hear(model)
        assert heard.events == (
            Delta("東京"),
            Delta("です"),
            Delta("。"),
            Finish("stop", usage=Usage(40, 3), model="loopback"),
        )

    async def test_it_is_there_before_the_stream_is_over(self) -> None:
        async with loopback(Reply(Say("東"), Say("京", delay_s=60))) as (model, _):
            events = model.stream(CONTINUATION)
            assert await anext(events) == Delta("東")
            await events.aclose()

    async def test_white_space_is_no_answer_until_a_word_follows(self) -> None:
        heard = await heard_from(Say("\n"), Say("\n"), Say("    print(1)"), Say("\n"), End())
        assert heard.events[0] == Delta("\n\n    print(1)")
        assert heard.text == "\n\n    print(1)\n"

    async def test_an_emoji_whose_escape_is_cut_in_two_is_joined(self) -> None:
        halves = [
            Raw(f'data: {{"choices":[{{"delta":{{"content":"{half}"}}}}]}}\n\n')
            for half in ("はい\\ud83d", "\\ude00！")
        ]
        heard = await heard_from(*halves, End())
        assert heard.text == "はい😀！"

    async def test_half_a_character_never_comes_through(self) -> None:
        lone = Raw('data: {"choices":[{"delta":{"content":"a\\ude00b"}}]}\n\n')
        heard = await heard_from(lone, End())
        assert heard.text == "a\ufffdb"

    async def test_a_refusal_is_shown_as_text(self) -> None:
        heard = await heard_from(choice({"content": None, "refusal": "お手伝いできません。"}), End())
        assert heard.text == "お手伝いできません。"


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

    async def test_usage_may_come_with_the_finish_reason(self) -> None:
        usage = {"prompt_tokens": 5, "completion_tokens": 2}
        heard = await heard_from(Say("はい"), choice({}, "stop", usage=usage))
        assert heard.finish.usage == Usage(5, 2)

    async def test_usage_tells_what_was_in_the_cache(self) -> None:
        details = {"cached_tokens": 1024, "audio_tokens": 0}
        usage = {"prompt_tokens": 2000, "completion_tokens": 2, "prompt_tokens_details": details}
        heard = await heard_from(Say("はい"), choice({}, "stop", usage=usage))
        assert heard.finish.usage == Usage(2000, 2, 1024)

    @pytest.mark.parametrize(
        "told",
        [
            {"prompt_tokens": -5, "completion_tokens": 2},
            {"prompt_tokens": 5, "completion_tokens": "2"},
            {"prompt_tokens": 10**30, "completion_tokens": 2},
            {"prompt_tokens": True, "completion_tokens": 2},
            {"prompt_tokens": 5, "completion_tokens": 0.5},
        ],
    )
    async def test_usage_that_cannot_be_right_counts_as_not_told(self, told: dict[str, object]) -> None:
        heard = await heard_from(Say("はい"), choice({}, "stop", usage=told))
        assert heard.finish.usage == Usage()

    @pytest.mark.parametrize(("cached", "taken"), [(-1, 0), (900, 5), ("4", 0), (3, 3)])
    async def test_no_more_was_in_the_cache_than_the_prompt_has(self, cached: object, taken: int) -> None:
        details = {"cached_tokens": cached}
        usage = {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": details}
        heard = await heard_from(Say("はい"), choice({}, "stop", usage=usage))
        assert heard.finish.usage == Usage(5, 2, taken)

    async def test_usage_may_never_come(self) -> None:
        heard = await heard_from(Say("はい"), End(usage=None))
        assert heard.finish == Finish("stop", model="loopback")

    async def test_a_break_after_the_finish_reason_takes_nothing_away(self) -> None:
        heard = await heard_from(Say("はい"), choice({}, "stop"), CutConnection())
        assert heard.finish.reason == "stop"


BREAKS = {
    "cut connection": [CutConnection()],
    "no finish reason": [End(None)],
    "token limit": [End("length")],
    "malformed JSON": [Raw("data: {oops\n\n"), End()],
    "error in the stream": [Chunk({"error": {"message": "overloaded"}})],
}


@pytest.mark.parametrize("ending", BREAKS.values(), ids=BREAKS)
class TestBreak:
    async def test_after_a_word_the_answer_is_cut_and_unfinished_calls_are_dropped(
        self, ending: list[Step]
    ) -> None:
        heard = await heard_from(Say("調べます"), Fragment('{"query": "誕', "recall", "call_1"), *ending)
        assert (heard.text, heard.finish) == (
            "調べます",
            Finish("cut", usage=heard.finish.usage, model="loopback"),
        )

    async def test_before_any_word_the_model_is_unavailable(self, ending: list[Step]) -> None:
        with pytest.raises(ModelUnavailable):
            await heard_from(choice({"role": "assistant", "content": ""}), *ending)

    async def test_an_answer_that_has_begun_is_cut_without_a_word(self, ending: list[Step]) -> None:
        async with loopback(Reply(*ending)) as (model, _):
            heard = await hear(model, CONTINUATION)
        assert (heard.text, heard.finish.reason) == ("", "cut")


class TestContentFilter:
    async def test_without_a_word_it_is_a_refusal(self) -> None:
        with pytest.raises(ModelRefusedRequest):
            await heard_from(End("content_filter"))

    async def test_after_a_word_the_answer_is_cut(self) -> None:
        heard = await heard_from(Say("それは"), End("content_filter"))
        assert heard.finish.reason == "cut"


class TestBegunAnswer:
    @pytest.mark.parametrize("status", [400, 401, 429, 503])
    async def test_nothing_is_asked_twice_and_trouble_is_a_cut(self, status: int) -> None:
        async with loopback(fails(status)) as (model, server):
            heard = await hear(model, CONTINUATION)
            assert heard.events == (Finish("cut", model="loopback"),)
            assert len(server.requests) == 1
