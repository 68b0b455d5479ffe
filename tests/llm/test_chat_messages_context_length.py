"""'Too long for the model', in the words of each server."""

import json

import pytest

from cc_bot.domain.errors import ContextTooLong, ModelRefusedRequest
from cc_bot.llm.openai.wire import read_refusal
from tests.llm.asking import CONTINUATION, hear, loopback
from tests.loopback.model_server import Raw, Reply, Say, fails

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


class TestReading:
    @pytest.mark.parametrize(("message", "limit"), SAID.values(), ids=SAID)
    @pytest.mark.parametrize("form", ["object", "text", "bare", "client"])
    def test_finds_the_meaning_and_the_limit(self, message: str, limit: int | None, form: str) -> None:
        body: object = {
            "object": {"message": message, "type": "invalid_request_error", "code": 400},
            "text": {"error": message},
            "bare": message,
            "client": None,
        }[form]
        refusal = read_refusal(body, message)
        assert refusal is not None
        assert refusal.limit == limit

    def test_believes_a_code_without_words(self) -> None:
        assert read_refusal({"code": "context_length_exceeded"}, "400") is not None

    def test_takes_the_limit_from_where_llama_cpp_puts_it(self) -> None:
        body = {
            "type": "exceed_context_size_error",
            "n_prompt_tokens": 1407,
            "n_ctx": 256,
            "message": "too much",
        }
        refusal = read_refusal({"error": body}, "")
        assert refusal is not None
        assert refusal.limit == 256

    @pytest.mark.parametrize(
        "message",
        [
            "The model `gpt-9` does not exist or you do not have access to it.",
            "Unrecognized request argument supplied: stream_options",
            "Invalid schema for function 'recall'",
            "Rate limit reached for requests per minute",
            "messages[3].content must be a string",
            "Unsupported value: 'temperature' must be at most 2",
        ],
    )
    def test_takes_nothing_else_for_it(self, message: str) -> None:
        assert read_refusal({"message": message, "code": None}, message) is None

    @pytest.mark.parametrize(
        "body", [None, [], 7, "", {"error": None}, {"error": {"message": 3}}, {"code": {}}]
    )
    def test_survives_any_body(self, body: object) -> None:
        assert read_refusal(body, "Bad Request") is None


class TestModel:
    @pytest.mark.parametrize("status", [400, 413, 422, 500])
    async def test_tells_of_it_whatever_the_status(self, status: int) -> None:
        replies = [fails(status, SAID["vLLM"][0], headers={"Retry-After-Ms": "1"})] * 3
        async with loopback(*replies) as (model, server):
            with pytest.raises(ContextTooLong) as refusal:
                await hear(model)
            assert refusal.value.limit == 4096
            assert status == 500 or len(server.requests) == 1

    async def test_tells_of_it_when_it_comes_in_the_stream(self) -> None:
        error = {"error": {"message": SAID["llama.cpp"][0], "code": 400}}
        async with loopback(Reply(Raw(f"data: {json.dumps(error)}\n\n"))) as (model, _):
            with pytest.raises(ContextTooLong):
                await hear(model)

    async def test_is_cut_when_it_comes_after_a_word(self) -> None:
        error = {"error": {"message": SAID["llama.cpp, midway"][0], "code": 500}}
        async with loopback(Reply(Say("東京"), Raw(f"data: {json.dumps(error)}\n\n"))) as (model, _):
            heard = await hear(model)
        assert (heard.text, heard.finish.reason) == ("東京", "cut")

    async def test_is_cut_in_an_answer_that_has_begun(self) -> None:
        async with loopback(fails(400, SAID["OpenAI"][0])) as (model, _):
            assert (await hear(model, CONTINUATION)).finish.reason == "cut"

    async def test_refuses_anything_else_as_before(self) -> None:
        async with loopback(fails(400), fails(400)) as (model, _):
            with pytest.raises(ModelRefusedRequest):
                await hear(model)
