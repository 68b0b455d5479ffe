"""The Responses API: requests and streams."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from cc_bot.domain.errors import (
    ContextTooLong,
    ModelError,
    ModelOutOfRoom,
    ModelRefusedRequest,
    ModelUnavailable,
)
from cc_bot.domain.turn import Usage
from cc_bot.llm.model import (
    AssistantPart,
    ChatRequest,
    Finish,
    PromptPart,
    SystemPart,
    ToolRequest,
    ToolResultPart,
    UserPart,
)
from cc_bot.llm.openai import OpenAIChatModel
from tests.llm.asking import Heard, hear
from tests.loopback.local_server import LocalServer
from tests.loopback.model_server import Json

CAT, DOG = '{"query": "猫"}', '{"query": "犬"}'
END: Json = {"type": "response.completed", "response": {"status": "completed"}}


class ResponsesServer(LocalServer):
    """Sends each reply as a stream if it is a list of events, else as JSON."""

    def __init__(self, *replies: list[Json] | Json) -> None:
        self._replies = [*replies]
        self.bodies: list[Json] = []

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/chat/completions", self._refuse), web.post("/v1/responses", self._respond)]

    async def _refuse(self, _: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "Use the Responses API."}}, status=400)

    async def _respond(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.json())
        reply = self._replies.pop(0)
        if isinstance(reply, list):
            text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in reply)
            return web.Response(text=text, content_type="text/event-stream")
        return web.json_response(reply)


@asynccontextmanager
async def model_of(*replies: list[Json] | Json) -> AsyncIterator[tuple[OpenAIChatModel, ResponsesServer]]:
    async with ResponsesServer(*replies) as server:
        model = OpenAIChatModel("m", base_url=server.base_url, max_retries=0)
        try:
            yield model, server
        finally:
            await model.close()


async def heard_from(reply: list[Json] | Json) -> Heard:
    async with model_of(reply) as (model, _):
        return await hear(model)


def says(text: str) -> Json:
    return {"type": "response.output_text.delta", "delta": text}


def done(index: int, item: Json) -> Json:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def thought(name: str) -> Json:
    return {"type": "reasoning", "id": name, "summary": [], "encrypted_content": f"sealed{name}"}


def call(number: int, arguments: str) -> Json:
    named = {"type": "function_call", "call_id": f"call_{number}", "name": "recall"}
    return {**named, "id": f"fc_{number}", "arguments": arguments}


MESSAGE: Json = {
    "type": "message",
    "phase": "commentary",
    "content": [{"type": "output_text", "text": "調べます。"}],
}
TEXTS: dict[str, tuple[list[Json] | Json, str]] = {
    "a stream": ([says("東"), says("京"), END], "東京"),
    "a refusal": ([{"type": "response.refusal.delta", "delta": "できません"}, END], "できません"),
    "events of other kinds": (
        [{"type": "response.created", "response": {}}, {"type": "?"}, says("東京"), {"type": "x.delta"}, END],
        "東京",
    ),
}


@pytest.mark.parametrize("case", TEXTS.values(), ids=TEXTS)
async def test_the_words_of_an_answer_are_read(case: tuple[list[Json] | Json, str]) -> None:
    reply, text = case
    heard = await heard_from(reply)
    assert (heard.text, heard.finish) == (text, Finish("stop", model="m"))


async def test_usage_is_read() -> None:
    usage = {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}
    heard = await heard_from([says("東京"), {**END, "response": {"usage": usage}}])
    assert heard.finish.usage == Usage(9, 2, 4)


CALLS: dict[str, list[Json] | Json] = {
    "in order": [done(0, thought("a")), done(1, call(1, CAT)), done(2, call(2, DOG)), END],
    "with deltas, which are skipped": [
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": DOG},
        {"type": "response.output_item.added", "output_index": 0, "item": call(1, "")},
        done(0, call(1, CAT)),
        done(1, call(2, DOG)),
        END,
    ],
}


@pytest.mark.parametrize("reply", CALLS.values(), ids=CALLS)
async def test_several_calls_are_whole(reply: list[Json] | Json) -> None:
    requests = (await heard_from(reply)).finish.tool_requests
    assert [(each.id, each.arguments) for each in requests] == [("call_1", CAT), ("call_2", DOG)]


def ended(kind: str, **response: object) -> Json:
    return {"type": f"response.{kind}", "response": response}


ENDS: dict[str, tuple[list[Json] | Json, type[ModelError]]] = {
    "failed": ([ended("failed", error={"code": "server_error", "message": "?"})], ModelUnavailable),
    "failed, unsaid": ([ended("failed")], ModelUnavailable),
    "an error": ([{"type": "error", "message": "overloaded"}], ModelUnavailable),
    "too long": ([{"type": "error", "code": "context_length_exceeded"}], ContextTooLong),
    "a filter": ([ended("incomplete", incomplete_details={"reason": "content_filter"})], ModelRefusedRequest),
    "incomplete, unsaid": ([ended("incomplete")], ModelUnavailable),
    "only thought": (
        [done(0, thought("a")), ended("incomplete", incomplete_details={"reason": "max_output_tokens"})],
        ModelOutOfRoom,
    ),
    "no end": ([done(0, thought("a"))], ModelUnavailable),
    "a body in place of a stream": ({"object": "response", "output": []}, ModelUnavailable),
}


@pytest.mark.parametrize("case", ENDS.values(), ids=ENDS)
async def test_what_ends_badly_is_an_error_before_a_word_and_a_cut_after_it(
    case: tuple[list[Json] | Json, type[ModelError]],
) -> None:
    reply, error = case
    with pytest.raises(error):
        await heard_from(reply)
    if isinstance(reply, list):
        heard = await heard_from([says("東京"), *reply])
        assert (heard.text, heard.finish.reason) == ("東京", "cut")


def results(finish: Finish) -> list[PromptPart]:
    return [ToolResultPart(each.id, each.name, "{}") for each in finish.tool_requests]


async def sent_back(events: list[Json], text: str, *, made: int = 64) -> list[Json]:
    """Return the second request's items after its question, following these events and `made` calls."""
    async with model_of(events, [says("はい"), END]) as (model, server):
        finish = (await hear(model)).finish
        requests = finish.tool_requests[:made]
        answer = AssistantPart(text, requests, native=finish.native)
        prompt = (SystemPart("簡潔に。"), UserPart("?"), answer, *results(finish)[:made])
        await hear(model, ChatRequest(prompt))
        body = server.bodies[-1]
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    items: list[Json] = body["input"][2:]
    return items


async def test_reasoning_goes_back_before_what_it_led_to_as_it_came() -> None:
    events = [
        done(0, thought("a")),
        says("調べます。"),
        done(1, MESSAGE),
        done(2, thought("b")),
        done(3, call(1, CAT)),
        done(4, call(2, DOG)),
        END,
    ]
    items = await sent_back(events, "調べます。")
    kinds = [item.get("type") or item["role"] for item in items]
    assert kinds == [
        "reasoning",
        "assistant",
        "reasoning",
        *["function_call"] * 2,
        *["function_call_output"] * 2,
    ]
    assert (items[0], items[2]) == (thought("a"), thought("b"))
    assert items[1] == {"role": "assistant", "content": "調べます。", "phase": "commentary"}
    assert [item["call_id"] for item in items[3:]] == ["call_1", "call_2"] * 2


async def test_reasoning_of_what_does_not_go_back_stays_away_as_well() -> None:
    events = [done(0, thought("a")), done(1, call(1, CAT)), done(2, thought("b")), done(3, call(2, DOG)), END]
    items = await sent_back(events, "", made=1)
    assert [item["type"] for item in items] == ["reasoning", "function_call", "function_call_output"]


async def test_calls_of_another_model_go_without_reasoning() -> None:
    foreign = AssistantPart(
        "", (ToolRequest("toolu_01", "recall", CAT),), native='{"by": "x/y", "ids": ["z"]}'
    )
    async with model_of([says("はい"), END]) as (model, server):
        await hear(model, ChatRequest((UserPart("?"), foreign, ToolResultPart("toolu_01", "recall", "{}"))))
        [_, sent, result] = server.bodies[0]["input"]
    assert (sent["type"], sent["call_id"]) == ("function_call", result["call_id"])
    assert len(sent["call_id"]) == 9


async def test_the_effort_of_a_request_is_sent() -> None:
    async with model_of([says("はい"), END]) as (model, server):
        await hear(model, ChatRequest((UserPart("?"),), reasoning="high"))
    assert server.bodies[0]["reasoning"] == {"effort": "high"}
