"""The loopback model server keeps to the real protocol, and its script to what tests rely on."""

import json
from typing import Any

import aiohttp
import pytest

from tests.loopback.model_server import (
    DEFAULT_ANSWER,
    Call,
    Json,
    LoopbackModelServer,
    Reply,
    calls,
    fails,
    new_tool_results,
    says,
)

USER = {"role": "user", "content": "元気？"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "recall", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "3月15日"}


async def post(server: LoopbackModelServer, *messages: Json, **more: object) -> tuple[int, str]:
    body = {"model": "m", "stream": True, "messages": [*messages] or [USER], **more}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.base_url}/chat/completions", json=body) as response,
    ):
        return response.status, await response.text()


def chunks(stream: str) -> list[Any]:
    *events, done = [line.removeprefix("data: ") for line in stream.split("\n\n") if line]
    assert done == "[DONE]"
    return [json.loads(event) for event in events]


def said(stream: str) -> str:
    deltas = [choice["delta"] for chunk in chunks(stream) for choice in chunk["choices"]]
    return "".join(delta.get("content", "") for delta in deltas)


class TestScript:
    async def test_replies_come_in_order_then_the_responder_decides(self) -> None:
        async with LoopbackModelServer(says("一"), fails(429)) as server:
            server.responder = lambda body: f"{len(body['messages'])}件"
            assert said((await post(server))[1]) == "一"
            assert (await post(server))[0] == 429
            assert said((await post(server))[1]) == "1件"

    async def test_without_a_script_there_is_an_answer(self) -> None:
        async with LoopbackModelServer() as server:
            assert said((await post(server))[1]) == DEFAULT_ANSWER

    async def test_requests_are_recorded(self) -> None:
        async with LoopbackModelServer() as server:
            await post(server)
            assert (await server.arrived(1)).last_user_text == "元気？"

    async def test_a_tool_round_is_a_responder_of_three_lines(self) -> None:
        def respond(body: Json) -> Reply | str:
            results = new_tool_results(body)
            return f"{results[0]}です" if results else calls(Call("recall", {"query": "誕生日"}))

        async with LoopbackModelServer(responder=respond) as server:
            asked = chunks((await post(server))[1])
            assert asked[0]["choices"][0]["delta"]["tool_calls"][0]["function"]["name"] == "recall"
            assert said((await post(server, USER, CALL, RESULT))[1]) == "3月15日です"


class TestProtocol:
    async def test_usage_comes_only_when_asked_for(self) -> None:
        async with LoopbackModelServer() as server:
            plain = chunks((await post(server))[1])
            asked = chunks((await post(server, stream_options={"include_usage": True}))[1])
            assert "usage" not in plain[-1]
            assert asked[-1]["choices"] == []
            assert asked[-1]["usage"]["total_tokens"] == 18

    @pytest.mark.parametrize(
        "messages",
        [[USER, RESULT], [USER, CALL], [USER, CALL, USER], [USER, CALL, RESULT, RESULT]],
        ids=["result without call", "call without result", "result forgotten", "result twice"],
    )
    async def test_calls_and_results_must_match(self, messages: list[Json]) -> None:
        async with LoopbackModelServer() as server:
            assert (await post(server, *messages))[0] == 400
            assert (await post(server, USER, CALL, RESULT))[0] == 200

    async def test_an_empty_list_of_tools_is_refused(self) -> None:
        async with LoopbackModelServer() as server:
            assert (await post(server, tools=[]))[0] == 400
