import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import (
    ContextTooLong,
    ModelError,
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelUnavailable,
)
from cc_bot.domain.message import Attachment
from cc_bot.llm.model import (
    AssistantPart,
    ChatRequest,
    SystemPart,
    ToolRequest,
    ToolResultPart,
    ToolSchema,
    UserPart,
)
from cc_bot.llm.openai.quirks import MAX_TOOLS, refusal_text
from tests.llm.asking import QUESTION, hear, loopback
from tests.loopback.model_server import Chunk, Json, Raw, Reply, Say, fails, says

RECALL: Final = ToolSchema("recall", "", {"type": "object", "properties": {"query": {"const": "猫"}}})
CALLED: Final = (
    AssistantPart("", (ToolRequest("abcdefghi", "recall", "{}"),)),
    ToolResultPart("abcdefghi", "recall", "{}"),
    AssistantPart("はい。"),
)
PICTURE: Final = UserPart("これは？", (Attachment("猫.png", "image/png", b"\x89PNG"),))
WHOLE: Final = ChatRequest((SystemPart("簡潔に。"), PICTURE, *CALLED, UserPart("次は？")), (RECALL,))
BLIND: Final = "Image inputs are not supported by this model."
NO_TOOLS: Final = "m does not support tools"


def unless(fits: Callable[[Json], bool], refusal: str, status: int = 400) -> Callable[[Json], Reply | str]:
    return lambda body: "はい。" if fits(body) else fails(status, refusal)


def has_picture(body: Json) -> bool:
    return "image_url" in json.dumps(body["messages"])


def has_tools(body: Json) -> bool:
    return "tools" in body


TAUGHT: Final[dict[str, str]] = {
    "This model doesn't support tools.": "no tools",
    "No endpoints found that support tool use. To learn more about provider routing": "no tools",
    "Function calling is not enabled for models/gemma-3-27b-it": "no tools",
    '[{"type": "extra_forbidden", "loc": ["body", "tools"], "msg": "Extra inputs are not permitted"}]': (
        "no tools"
    ),
    "Developer instruction is not enabled for models/gemma-3-27b-it": "no system role",
    "image input is not supported - hint: you may need to provide the mmproj": "no images",
    "At most 0 image(s) may be provided in one prompt.": "no images",
    "Invalid content type. image_url is only supported by certain models.": "no images",
    "Unknown name \"const\" at 'tools[0].function_declarations[0].parameters': Cannot find field.": (
        "plain schemas"
    ),
}


@pytest.mark.parametrize("refusal", TAUGHT)
async def test_a_refusal_teaches_what_it_is_about(refusal: str) -> None:
    async with loopback(fails(400, refusal)) as (model, server):
        assert [(await hear(model, WHOLE)).finish.reason for _ in range(2)] == ["stop"] * 2
        assert len(server.requests) == 3
        assert model.changes == (TAUGHT[refusal],)


TEACHES_NOTHING: Final = {
    "one tool's field": "Unknown parameter: 'tools[0].strict'.",
    "the path of one": '[{"loc": ["body", "tools", 0, "x"], "msg": "Extra inputs are not permitted"}]',
    "another option": "stream_options are not supported with tools",
    "a picture that is broken": "Invalid base64 image_url.",
    "the kind of a picture": "You uploaded an unsupported image. Use one of: ['png', 'jpeg'].",
}


@pytest.mark.parametrize("kind", TEACHES_NOTHING)
async def test_a_refusal_of_one_thing_costs_neither_tools_nor_pictures_for_good(kind: str) -> None:
    async with loopback(fails(400, TEACHES_NOTHING[kind])) as (model, server):
        with suppress(ModelRefusedRequest):
            await hear(model, WHOLE)
        await hear(model, WHOLE)
        last = server.requests[-1].body
    assert has_tools(last)
    assert has_picture(last)


async def test_a_refusal_teaches_only_about_what_was_sent() -> None:
    for refusal, request in ((NO_TOOLS, replace(WHOLE, tools=())), (BLIND, replace(WHOLE, prompt=CALLED))):
        async with loopback(fails(400, refusal)) as (model, _):
            with pytest.raises(ModelRefusedRequest):
                await hear(model, request)
            assert model.changes == ()


async def test_a_picture_that_is_refused_is_left_out_of_that_request_alone() -> None:
    responder = unless(lambda body: not has_picture(body), "Could not read image 1")
    async with loopback(responder=responder) as (model, server):
        for _ in range(2):
            assert (await hear(model, WHOLE)).text == "はい。"
        assert [has_picture(request.body) for request in server.requests] == [True, False] * 2


QUOTES: Final[dict[str, Callable[[str], str]]] = {
    "as it is": lambda said: f"bad request: {said}",
    "as JSON": lambda said: json.dumps({"input": said}),
    "as Python": repr,
    "shortened": lambda said: f"{said[:20]}...{said[-8:]}",
}
ATTACKS: Final = (
    "m does not support tools",
    "it is unsupportedです tools",
    "m does not support\n" + "あ" * 200 + " tools",
)


@pytest.mark.parametrize("quote", QUOTES.values(), ids=QUOTES)
@pytest.mark.parametrize("said", ATTACKS)
async def test_words_of_a_user_that_a_server_quotes_change_no_later_request(
    quote: Callable[[str], str], said: str
) -> None:
    for prompt in ((UserPart(said),), (SystemPart(f"メモ: {said[:30]} tools"), UserPart(said))):
        async with loopback(fails(400, quote(said)), says("はい。"), says("はい。")) as (model, server):
            with suppress(ModelRefusedRequest):
                await hear(model, ChatRequest(prompt, (RECALL,)))
            await hear(model, replace(WHOLE, prompt=(UserPart("次"),)))
            assert has_tools(server.requests[-1].body)
            assert model.changes == ()


async def test_a_change_after_which_the_refusal_is_the_same_is_taken_back() -> None:
    """The second refusal tells the number of another request."""

    def responder(body: Json) -> Reply | str:
        fits = "stream_options" not in body
        return "はい。" if fits else fails(422, f"{NO_TOOLS} or stream_options, request {len(str(body))}")

    async with loopback(responder=responder) as (model, server):
        await hear(model, WHOLE)
        assert has_tools(server.requests[-1].body)
        assert model.changes == ("no stream_options",)


async def test_a_request_is_changed_four_times_at_most_and_then_nothing_was_learned() -> None:
    refusals = ["roles must alternate", BLIND, "System role not supported", "bad schema", NO_TOOLS, "no"]
    async with loopback(*[fails(400, each) for each in refusals]) as (model, server):
        with pytest.raises(ModelRefusedRequest):
            await hear(model, WHOLE)
        assert len(server.requests) == 5
        assert model.changes == ()


async def test_nothing_is_learned_of_a_change_that_is_refused_in_the_stream() -> None:
    failed = Reply(Chunk({"error": {"message": "overloaded"}}))
    async with loopback(fails(400, NO_TOOLS), failed) as (model, _):
        with pytest.raises(ModelUnavailable):
            await hear(model, WHOLE)
        assert model.changes == ()


async def test_a_refusal_in_the_stream_teaches_as_well() -> None:
    refusal = json.dumps({"error": "Error rendering prompt: roles must alternate"})
    async with loopback(Reply(Raw(f"event: error\ndata: {refusal}\n\n")), says("はい。")) as (model, _):
        assert (await hear(model, WHOLE)).text == "はい。"
        assert model.changes == ("alternate",)


async def test_nothing_is_asked_again_after_the_first_word() -> None:
    event = Raw('data: {"error": {"message": "m does not support tools", "code": "tool_use_failed"}}\n\n')
    async with loopback(Reply(Say("東京"), event)) as (model, server):
        heard = await hear(model, WHOLE)
        assert (heard.text, heard.finish.reason, len(server.requests)) == ("東京", "cut", 1)


async def test_a_call_that_failed_is_asked_for_once_more_with_all_options() -> None:
    failed = Reply(status=400, body=json.dumps({"error": {"message": "?", "code": "tool_use_failed"}}))
    async with loopback(failed, failed, failed, says("はい。")) as (model, server):
        with pytest.raises(ModelRefusedRequest):
            await hear(model, WHOLE)
        assert (await hear(model, WHOLE)).text == "はい。"
        assert all("stream_options" in request.body for request in server.requests)


async def test_turns_side_by_side_forget_nothing_of_each_other() -> None:
    """The second was asked before the first had learned, and is answered after it."""
    late, begun = asyncio.Event(), asyncio.Event()

    async def slow() -> None:
        async for _ in model.stream(replace(WHOLE, tools=())):
            begun.set()
            await late.wait()

    async with loopback(says("一", "二"), fails(400, NO_TOOLS), says("はい。")) as (model, server):
        turn = asyncio.create_task(slow())
        await server.arrived(1)
        learned = await hear(model, WHOLE)
        late.set()
        await turn
        assert learned.finish.without_tools
        assert (await hear(model, WHOLE)).finish.without_tools


MANY: Final = tuple(replace(RECALL, name=f"tool{number}") for number in range(MAX_TOOLS + 2))


async def test_of_more_tools_than_servers_take_the_first_are_sent_and_that_is_on_record_once() -> None:
    async with loopback() as (model, server):
        with capture_logs() as records:
            for _ in range(2):
                await hear(model, replace(QUESTION, tools=MANY))
        names = [tool["function"]["name"] for tool in server.requests[0].body["tools"]]
    assert names == [tool.name for tool in MANY[:MAX_TOOLS]]
    assert [each["event"] for each in records] == ["tools_left_out"]
    assert len(model.changes) == 1


async def test_a_refusal_that_names_the_most_tools_is_asked_again_with_so_many() -> None:
    refusal = "Invalid 'tools': array too long. Expected an array with maximum length 64, but got 128."
    async with loopback(responder=unless(lambda body: len(body["tools"]) <= 64, refusal)) as (model, server):
        for _ in range(2):
            assert (await hear(model, replace(QUESTION, tools=MANY))).text == "はい。"
        assert [len(request.body["tools"]) for request in server.requests] == [MAX_TOOLS, 64, 64]
        assert "64 tools" in model.changes


async def test_schemas_are_made_plain_for_those_that_want_them_so() -> None:
    schema = {
        "$schema": "x",
        "type": "object",
        "additionalProperties": False,
        "properties": {"const": {"type": "array", "items": {"type": "string", "default": "a"}}},
    }
    tool = replace(RECALL, parameters=schema)
    async with loopback(fails(400, "Invalid schema for function 'recall'")) as (model, server):
        await hear(model, replace(QUESTION, tools=(tool,)))
        [sent] = server.requests[-1].body["tools"]
    plain = {"type": "object", "properties": {"const": {"type": "array", "items": {"type": "string"}}}}
    assert sent["function"]["parameters"] == plain


BODIES: Final[dict[str, tuple[str, str]]] = {
    "an error": ('{"error": {"message": "m does not support tools"}}', NO_TOOLS),
    "a list": ('[{"error": {"message": "m does not support tools", "code": 400}}]', NO_TOOLS),
    "a detail": ('{"detail": "m does not support tools"}', NO_TOOLS),
    "details": ('{"detail": [{"msg": "m does not support tools"}]}', NO_TOOLS),
    "text": (NO_TOOLS, NO_TOOLS),
    "HTML": (f"<html><body>{NO_TOOLS}</body></html>", NO_TOOLS),
    "an error that is text": ('{"error": "m does not support tools"}', NO_TOOLS),
    "a provider's, within": (
        '{"error": {"message": "Provider returned error", "metadata": {"raw": "m does not support tools"}}}',
        NO_TOOLS,
    ),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_a_refusal_is_read_in_whatever_form_it_comes(body: tuple[str, str]) -> None:
    received, words = body
    assert words in refusal_text(received)
    async with loopback(Reply(status=400, body=received), says("はい。")) as (model, _):
        assert (await hear(model, WHOLE)).finish.without_tools


QUOTA: Final[dict[str, tuple[int, dict[str, object], type[ModelError]]]] = {
    "no credit": (429, {"message": "You exceeded your quota", "code": "insufficient_quota"}, ModelRefusedKey),
    "no balance": (400, {"message": "Your credit balance is too low"}, ModelRefusedKey),
    "Gemini's minute": (
        429,
        {"message": "You exceeded your current quota, please check your plan. Please retry in 0.1s."},
        ModelUnavailable,
    ),
    "a limit that names tools": (429, {"message": "Rate limit: does not support tools"}, ModelUnavailable),
}


@pytest.mark.parametrize("case", QUOTA.values(), ids=QUOTA)
async def test_no_credit_is_not_a_busy_server(case: tuple[int, dict[str, object], type[ModelError]]) -> None:
    status, error, raised = case
    reply = Reply(status=status, body=json.dumps({"error": error}), headers={"Retry-After-Ms": "1"})
    async with loopback(*[reply] * 3) as (model, server):
        with pytest.raises(raised):
            await hear(model, WHOLE)
        assert len(server.requests) == (3 if raised is ModelUnavailable else 1)
        assert model.changes == ()


async def test_a_server_that_cuts_prompts_in_silence_is_logged_once() -> None:
    """Whatever shorter requests come in between."""
    cut, short = says("はい。", usage=(2048, 3)), says("はい。", usage=(9, 3))
    async with loopback(*[cut, short] * 8) as (model, _):
        with capture_logs() as records:
            for length in range(1, 9):
                await hear(model, ChatRequest((UserPart("あ" * length * 1000),)))
                await hear(model)
    assert [each["event"] for each in records] == ["prompt_cut_by_server"]


async def test_a_limit_that_a_user_wrote_is_not_the_models() -> None:
    said = "maximum context length is 300 tokens"
    for prompt, limit in ((QUESTION.prompt, 300), ((UserPart(said),), None)):
        async with loopback(fails(400, said)) as (model, _):
            with pytest.raises(ContextTooLong) as refused:
                await hear(model, ChatRequest(prompt))
            assert refused.value.limit == limit


async def test_usage_that_grows_or_requests_that_do_not_are_no_cut_prompts() -> None:
    replies = [says("はい。", usage=(2048 + number, 3)) for number in range(6)]
    async with loopback(*replies, *[says("はい。", usage=(2053, 3))] * 6) as (model, _):
        with capture_logs() as records:
            for length in (*range(6), *[5] * 6):
                await hear(model, ChatRequest((UserPart("あ" * length * 1000),)))
    assert records == []
