"""OpenAIChatModel when a server refuses, fails or hangs, or when a stream is closed."""

import asyncio
import json
import traceback
from contextlib import aclosing
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import (
    ContextTooLong,
    ModelError,
    ModelNotFound,
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelUnavailable,
    ModelUnreachable,
)
from cc_bot.domain.text import Locale
from cc_bot.llm.model import Delta
from cc_bot.llm.openai import OpenAIChatModel
from cc_bot.llm.openai.quirks import find_length_refusal, refusal_text
from cc_bot.texts import explain, texts
from cc_bot.texts.cli import TerminalTexts
from tests.llm.asking import CONTINUATION, QUESTION, hear, loopback
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
    """Return a step repeated for many times the timeout."""
    steps: list[Step] = [step, Pause(TIMEOUT_S / 5)] * 3000
    return Reply(*steps)


class TestRefusal:
    async def test_raises_the_error_of_its_status(self) -> None:
        for status, error in (
            *((each, ModelRefusedKey) for each in (401, 402, 403)),
            *((each, ModelRefusedRequest) for each in (400, 413, 422)),
            (404, ModelNotFound),
        ):
            async with loopback(fails(status), fails(status)) as (model, _):
                with pytest.raises(error):
                    await hear(model)

    async def test_of_a_model_that_there_is_not_names_it(self) -> None:
        for refusal in (
            "The model `gpt-5-mni` does not exist or you do not have access to it.",
            "Invalid model: loopback",
            'model "loopback" not found, try pulling it first',
        ):
            async with loopback(fails(400, refusal), fails(400, refusal)) as (model, _):
                with pytest.raises(ModelNotFound) as raised:
                    await hear(model)
            assert raised.value.params == {"model": "loopback"}


class TestRetry:
    async def test_is_made_twice_of_a_passing_failure(self) -> None:
        for status in (429, 500, 503):
            passing = fails(status, headers=AT_ONCE)
            async with loopback(passing, passing, says("お待たせしました"), *[passing] * 3) as (
                model,
                server,
            ):
                assert (await hear(model)).text == "お待たせしました"
                with pytest.raises(ModelUnavailable):
                    await hear(model)
                assert len(server.requests) == 6

    async def test_reconnects_if_the_connection_breaks_before_the_answer(self) -> None:
        async with loopback(Reply(CutConnection()), says("東京です。")) as (model, _):
            assert (await hear(model)).text == "東京です。"

    async def test_a_closed_port_is_named_to_the_operator_alone(self) -> None:
        async with LoopbackModelServer() as server:
            base_url = server.base_url
        model = OpenAIChatModel("m", base_url=base_url, max_retries=0)
        with pytest.raises(ModelUnreachable) as unreachable:
            await hear(model)
        await model.close()
        host = urlsplit(base_url).netloc
        for locale in Locale:
            words = texts(locale)
            assert host not in explain(unreachable.value, words)
            assert host in words[TerminalTexts].errors[ModelUnreachable].format(**unreachable.value.params)


NO_WORDS = {
    "no status line": Reply(delay_s=60),
    "no chunk": hangs(),
    "comments": drips(Raw(": keep-alive\n\n")),
    "empty chunks": drips(Chunk({"choices": []})),
    "a bare role": Reply(Chunk({"choices": [{"delta": {"role": "assistant", "content": ""}}]}), Hang()),
    "a long wait": fails(429, headers={"Retry-After": "45"}),
}


class TestTimeout:
    async def test_bounds_everything_until_the_first_word(self) -> None:
        for reply in NO_WORDS.values():
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

    async def test_cancelling_the_task_or_a_timeout_ends_the_request(self) -> None:
        for reply in (Reply(delay_s=60), hangs()):
            async with loopback(reply) as (model, server):
                turn = asyncio.create_task(hear(model))
                request = await server.arrived(1)
                turn.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await turn
                async with asyncio.timeout(20):
                    await request.disconnected.wait()
        async with loopback(hangs(), timeout_s=PATIENCE_S) as (model, server):
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
        facts = {"outcome": "ModelUnavailable", "problem": "ServerError", "status": 503}
        named = {"event": "model_failed", "log_level": "warning", "model": "loopback"}
        assert records == [{**named, **facts, "retries": 2, "chunks": 0}]
        async with loopback() as (model, _):
            with capture_logs() as records:
                await hear(model)
        assert records == [], "an answer needs none"

    async def test_neither_key_nor_text_gets_out(self) -> None:
        for status in (400, 401, 500):
            refusal = fails(status, "key sk-secret refused for 日本の首都は？", AT_ONCE)
            async with LoopbackModelServer(*[refusal] * 3) as server:
                model = OpenAIChatModel("m", api_key="sk-secret", base_url=server.base_url)
                with capture_logs() as records, pytest.raises(ModelError) as caught:
                    await hear(model)
                await model.close()
            shown = "".join(traceback.format_exception(caught.value)) + repr(records)
            assert "sk-secret" not in shown
            assert "首都" not in shown


SAID = {
    "OpenAI": (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
        8192,
    ),
    "OpenAI, newer": ("Your input exceeds the context window of this model. Please adjust your input.", None),
    "vLLM": ("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens", 4096),
    "vLLM, newer": (
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        4096,
    ),
    "llama.cpp": ("the request exceeds the available context size. try increasing the context size", None),
    "llama.cpp, newer": ("request (9000 tokens) exceeds the available context size (4096 tokens)", 4096),
    "llama.cpp, midway": ("Context size has been exceeded.", None),
    "llama-cpp-python": ("Requested tokens (2285) exceed context window of 2048", 2048),
    "LM Studio": (
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with"
        " context length of only 4096 tokens, which is not enough.",
        4096,
    ),
    "Ollama": ("the input length exceeds the context length", None),
    "Ollama, newer": ("prompt too long; exceeded max context length by 12 tokens", None),
    "SGLang": ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", 4096),
    "TGI": ("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", 4096),
    "Mistral": ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32768),
    "Anthropic": ("prompt is too long: 210000 tokens > 200000 maximum", 200000),
    "Gemini": (
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        1048576,
    ),
    "xAI": ("This model's maximum prompt length is 131072 but the request contains 200000 tokens.", 131072),
    "Bedrock": ("Input is too long for requested model.", None),
}


class TestARequestThatIsTooLong:
    def test_is_recognised_by_the_words_of_each_server_with_the_limit(self) -> None:
        for message, limit in SAID.values():
            for body in ({"message": message, "code": 400}, {"error": message}, message, None):
                refusal = find_length_refusal(refusal_text(body) or message)
                assert refusal is not None, message
                assert refusal.limit == limit, message
        assert find_length_refusal(refusal_text({"code": "context_length_exceeded"})) is not None
        llama = {"type": "exceed_context_size_error", "n_prompt_tokens": 1407, "n_ctx": 256, "message": "no"}
        refusal = find_length_refusal(refusal_text({"error": llama}))
        assert refusal is not None
        assert refusal.limit == 256

    def test_is_taken_for_nothing_else_and_nothing_else_for_it(self) -> None:
        for message in (
            "The model `gpt-9` does not exist or you do not have access to it.",
            "Unrecognized request argument supplied: stream_options",
            "Rate limit reached for requests per minute",
            "messages[3].content must be a string",
            "Unsupported value: 'temperature' must be at most 2",
        ):
            assert find_length_refusal(refusal_text({"message": message, "code": None})) is None, message
        bodies: list[object] = [None, [], 7, "", {"error": None}, {"error": {"message": 3}}, {"code": {}}]
        for body in bodies:
            assert find_length_refusal(refusal_text(body)) is None

    async def test_is_recognised_whatever_the_status_and_also_in_the_stream(self) -> None:
        for status in (400, 413, 422, 500):
            replies = [fails(status, SAID["vLLM"][0], headers=AT_ONCE)] * 3
            async with loopback(*replies) as (model, server):
                with pytest.raises(ContextTooLong) as refusal:
                    await hear(model)
                assert refusal.value.limit == 4096
                assert status == 500 or len(server.requests) == 1
        error = {"error": {"message": SAID["llama.cpp"][0], "code": 400}}
        async with loopback(Reply(Raw(f"data: {json.dumps(error)}\n\n"))) as (model, _):
            with pytest.raises(ContextTooLong):
                await hear(model)

    async def test_is_a_cut_in_an_answer_that_has_begun(self) -> None:
        error = {"error": {"message": SAID["llama.cpp, midway"][0], "code": 500}}
        async with loopback(Reply(Say("東京"), Raw(f"data: {json.dumps(error)}\n\n"))) as (model, _):
            heard = await hear(model)
        assert (heard.text, heard.finish.reason) == ("東京", "cut")
        async with loopback(fails(400, SAID["OpenAI"][0])) as (model, _):
            assert (await hear(model, CONTINUATION)).finish.reason == "cut"
