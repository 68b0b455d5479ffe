"""What OpenAIChatModel does when a server refuses, breaks, hangs or is left."""

import asyncio
import time
import traceback
from contextlib import aclosing

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import (
    ModelError,
    ModelNotFound,
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelUnavailable,
)
from cc_bot.llm.model import Delta
from cc_bot.llm.openai import OpenAIChatModel
from tests.llm.asking import QUESTION, hear, loopback
from tests.loopback.model_server import (
    Chunk,
    CutConnection,
    End,
    Hang,
    LoopbackModelServer,
    Pause,
    Raw,
    Reply,
    Say,
    Step,
    fails,
    hangs,
    says,
)

AT_ONCE = {"Retry-After-Ms": "1"}
TIMEOUT_S = 0.2
PATIENCE_S = 1.5
"""The timeout where a word must come first: long enough for a busy machine."""


def drips(step: Step) -> Reply:
    """The step again and again, for many times the timeout."""
    steps: list[Step] = [step, Pause(TIMEOUT_S / 5)] * 3000
    return Reply(*steps)


class TestRefusal:
    @pytest.mark.parametrize(
        ("status", "error"),
        [
            (401, ModelRefusedKey),
            (402, ModelRefusedKey),
            (403, ModelRefusedKey),
            (400, ModelRefusedRequest),
            (404, ModelNotFound),
            (413, ModelRefusedRequest),
            (422, ModelRefusedRequest),
        ],
    )
    async def test_a_status_says_who_must_mend_it(self, status: int, error: type[ModelError]) -> None:
        async with loopback(fails(status), fails(status)) as (model, _):
            with pytest.raises(error):
                await hear(model)

    @pytest.mark.parametrize(
        "told",
        [
            "The model `gpt-5-mni` does not exist or you do not have access to it.",
            "Invalid model: loopback",
            'model "loopback" not found, try pulling it first',
        ],
    )
    async def test_that_there_is_no_such_model_is_told_by_its_name(self, told: str) -> None:
        async with loopback(fails(400, told), fails(400, told)) as (model, _):
            with pytest.raises(ModelNotFound) as raised:
                await hear(model)
        assert raised.value.params == {"model": "loopback"}


class TestRetry:
    @pytest.mark.parametrize("status", [429, 500, 503])
    async def test_a_passing_failure_is_retried(self, status: int) -> None:
        replies = [fails(status, headers=AT_ONCE), fails(status, headers=AT_ONCE), says("お待たせしました")]
        async with loopback(*replies) as (model, _):
            assert (await hear(model)).text == "お待たせしました"

    @pytest.mark.parametrize("status", [429, 500, 503])
    async def test_after_two_retries_the_model_is_unavailable(self, status: int) -> None:
        replies = [fails(status, headers=AT_ONCE)] * 3
        async with loopback(*replies) as (model, server):
            with pytest.raises(ModelUnavailable):
                await hear(model)
            assert len(server.requests) == 3

    async def test_retry_after_is_honoured(self) -> None:
        overloaded = fails(429, headers={"Retry-After": "0.2"})
        async with loopback(overloaded) as (model, _):
            asked = time.monotonic()
            await hear(model)
            assert time.monotonic() - asked >= 0.2

    async def test_a_connection_that_breaks_before_the_answer_is_made_anew(self) -> None:
        async with loopback(Reply(CutConnection()), says("東京です。")) as (model, _):
            assert (await hear(model)).text == "東京です。"

    async def test_nobody_listening_is_unavailable(self) -> None:
        async with LoopbackModelServer() as server:
            base_url = server.base_url
        model = OpenAIChatModel("m", base_url=base_url, max_retries=0)
        with pytest.raises(ModelUnavailable):
            await hear(model)
        await model.close()


class TestTimeout:
    @pytest.mark.parametrize(
        "reply",
        [
            Reply(delay_s=60),
            hangs(),
            drips(Raw(": keep-alive\n\n")),
            drips(Chunk({"choices": []})),
            Reply(Chunk({"choices": [{"delta": {"role": "assistant", "content": ""}}]}), Hang()),
            fails(429, headers={"Retry-After": "45"}),
            fails(429, headers={"Retry-After": "600"}),
        ],
        ids=[
            "no status line",
            "no chunk",
            "comments",
            "empty chunks",
            "a bare role",
            "a long wait",
            "a very long wait",
        ],
    )
    async def test_it_bounds_everything_until_the_first_word(self, reply: Reply) -> None:
        async with loopback(*[reply] * 3, timeout_s=TIMEOUT_S) as (model, _):
            with pytest.raises(ModelUnavailable):
                async with asyncio.timeout(60):
                    await hear(model)

    async def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for(self) -> None:
        async with (
            loopback(fails(429, headers={"Retry-After": "60"}), timeout_s=50) as (model, _),
            asyncio.timeout(40),
        ):
            with pytest.raises(ModelUnavailable):
                await hear(model)

    async def test_silence_after_a_word_is_a_cut(self) -> None:
        async with loopback(Reply(Say("東京"), Hang()), timeout_s=PATIENCE_S) as (model, _):
            heard = await hear(model)
        assert (heard.text, heard.finish.reason) == ("東京", "cut")

    async def test_a_slow_answer_is_whole_while_the_model_lives(self) -> None:
        thinking = Chunk({"choices": [{"delta": {"reasoning": "うーん"}}]})
        reply = Reply(Pause(0.25), thinking, Say("あ", delay_s=0.25), Say("あ", delay_s=0.25), End())
        async with loopback(reply, timeout_s=PATIENCE_S) as (model, _):
            heard = await hear(model)
        assert (heard.text, heard.finish.reason) == ("ああ", "stop")

    async def test_a_slow_reader_is_no_silent_model(self) -> None:
        reply = Reply(Say("東"), Say("京", delay_s=PATIENCE_S * 1.5), End())
        async with loopback(reply, timeout_s=PATIENCE_S) as (model, _):
            events = model.stream(QUESTION)
            assert await anext(events) == Delta("東")
            await asyncio.sleep(PATIENCE_S * 1.2)
            assert await anext(events) == Delta("京")
            await events.aclose()

    async def test_a_server_that_does_not_hang_up_holds_up_nothing(self) -> None:
        end = Chunk({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        async with loopback(Reply(Say("はい"), end, Hang()), timeout_s=PATIENCE_S) as (model, _):
            assert (await hear(model)).finish.reason == "stop"


class TestLeaving:
    async def test_closing_the_iterator_ends_the_request(self) -> None:
        async with loopback(Reply(Say("東"), Hang())) as (model, server):
            async with aclosing(model.stream(QUESTION)) as events:
                assert await anext(events) == Delta("東")
                assert not server.requests[0].disconnected.is_set()
            async with asyncio.timeout(20):
                await server.requests[0].disconnected.wait()

    @pytest.mark.parametrize("reply", [Reply(delay_s=60), hangs()], ids=["no status line", "no chunk"])
    async def test_cancelling_the_task_ends_the_request(self, reply: Reply) -> None:
        async with loopback(reply) as (model, server):
            turn = asyncio.create_task(hear(model))
            request = await server.arrived(1)
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
            async with asyncio.timeout(20):
                await request.disconnected.wait()

    async def test_a_timeout_ends_the_request(self) -> None:
        async with loopback(hangs(), timeout_s=TIMEOUT_S) as (model, server):
            with pytest.raises(ModelUnavailable):
                await hear(model)
            async with asyncio.timeout(20):
                await server.requests[0].disconnected.wait()


class TestLog:
    async def test_a_failure_is_one_record_of_facts(self) -> None:
        replies = [fails(503, headers=AT_ONCE)] * 3
        async with loopback(*replies) as (model, _):
            with capture_logs() as records, pytest.raises(ModelUnavailable):
                await hear(model)
        assert records == [
            {
                "event": "model_failed",
                "log_level": "warning",
                "model": "loopback",
                "outcome": "ModelUnavailable",
                "problem": "InternalServerError",
                "status": 503,
                "retries": 2,
                "chunks": 0,
            }
        ]

    async def test_an_answer_needs_no_record(self) -> None:
        async with loopback() as (model, _):
            with capture_logs() as records:
                await hear(model)
        assert records == []

    @pytest.mark.parametrize("status", [400, 401, 500])
    async def test_neither_key_nor_text_gets_out(self, status: int) -> None:
        told = fails(status, "key sk-secret refused for 日本の首都は？", AT_ONCE)
        async with LoopbackModelServer(*[told] * 3) as server:
            model = OpenAIChatModel("m", api_key="sk-secret", base_url=server.base_url)
            with capture_logs() as records, pytest.raises(ModelError) as caught:
                await hear(model)
            await model.close()
        shown = "".join(traceback.format_exception(caught.value)) + repr(records)
        assert "sk-secret" not in shown
        assert "首都" not in shown
