"""Data that a provider sends with its calls is sent back to it, and stored without readable text."""

import json
from dataclasses import replace
from typing import Any

import pytest

from cc_bot.chat.context.tokens import call_parts, message_tokens
from cc_bot.domain.message import Message, ToolCall
from cc_bot.llm.model import (
    MAX_STORED_NATIVE,
    AssistantPart,
    ChatRequest,
    PromptPart,
    ToolRequest,
    ToolResultPart,
    UserPart,
    storable_native,
)
from cc_bot.llm.openai import OpenAIChatModel
from tests.llm.asking import QUESTION, hear
from tests.loopback.model_server import Chunk, End, Json, LoopbackModelServer, Reply, Step, says

SIGNATURE = {"google": {"thought_signature": "c2ln"}}
TEXT = {"type": "reasoning.text", "index": 0}
SEALED = {"type": "reasoning.encrypted", "data": "c2ln", "index": 0}


def delta(**fields: object) -> Chunk:
    return Chunk({"choices": [{"delta": fields}]})


async def exchange(*steps: Step, model: str, made: int = 64, stored: bool = False) -> Json:
    """Return the second request's message with calls, after an answer of these steps."""
    async with LoopbackModelServer(Reply(*steps, End("tool_calls")), says("はい。")) as server:
        chat = OpenAIChatModel(model, base_url=server.base_url)
        finish = (await hear(chat)).finish
        requests = finish.tool_requests[:made]
        native = storable_native(finish.native) if stored else finish.native
        results = [ToolResultPart(each.id, each.name, "{}") for each in requests]
        prompt: tuple[PromptPart, ...] = (
            *QUESTION.prompt,
            AssistantPart("", requests, native=native),
            *results,
        )
        await hear(chat, ChatRequest(prompt))
        await chat.close()
        message: Json = server.requests[1].body["messages"][1]
    return message


def signed(number: int) -> Chunk:
    function = {"name": "recall", "arguments": "{}"}
    call = {"index": number, "id": f"call_{number}", "function": function}
    return delta(tool_calls=[{**call, **({} if number else {"extra_content": SIGNATURE})}])


@pytest.mark.parametrize("stored", [False, True])
async def test_signatures_and_ids_go_back_also_with_fewer_calls_than_were_asked_for(*, stored: bool) -> None:
    message = await exchange(*map(signed, range(20)), model="gemini-3-pro", made=16, stored=stored)
    calls = message["tool_calls"]
    assert [call["id"] for call in calls] == [f"call_{number}" for number in range(16)]
    assert [call.get("extra_content") for call in calls] == [SIGNATURE, *[None] * 15]


async def test_reasoning_goes_back_while_the_turn_lasts_and_its_location_is_kept_afterwards() -> None:
    steps = (delta(reasoning_content="うー"), delta(reasoning_content="ん"), signed(1))
    assert (await exchange(*steps, model="deepseek-v4"))["reasoning_content"] == "うーん"
    kept = (await exchange(*steps, model="deepseek-v4", stored=True))["reasoning_content"]
    assert kept
    assert not kept.strip()


DETAILS: dict[str, tuple[list[list[dict[str, Any]]], list[dict[str, Any]]]] = {
    "text in pieces": (
        [
            [{**TEXT, "text": "う"}],
            [{**TEXT, "text": "ん", "signature": None}],
            [{**TEXT, "signature": "c2ln"}],
        ],
        [{**TEXT, "text": "うん", "signature": "c2ln"}],
    ),
    "a piece of nothing": ([[{**TEXT, "text": None}], [{**TEXT, "text": "ん"}]], [{**TEXT, "text": "ん"}]),
    "sealed beside text": ([[{**TEXT, "text": "う"}], [SEALED]], [{**TEXT, "text": "う"}, SEALED]),
    "sealed, one for each call": (
        [[{**SEALED, "id": "a"}], [{**SEALED, "id": "b"}]],
        [{**SEALED, "id": "a"}, {**SEALED, "id": "b"}],
    ),
}


@pytest.mark.parametrize("case", DETAILS.values(), ids=DETAILS)
async def test_details_of_reasoning_go_back_whole(
    case: tuple[list[list[dict[str, Any]]], list[dict[str, Any]]],
) -> None:
    pieces, whole = case
    native = await native_of(*[delta(reasoning_details=piece) for piece in pieces], signed(1))
    assert json.loads(native)["reasoning"] == {"reasoning_details": whole}


async def native_of(*steps: Step) -> str:
    async with LoopbackModelServer(Reply(*steps, End("tool_calls"))) as server:
        chat = OpenAIChatModel("m", base_url=server.base_url)
        native = (await hear(chat)).finish.native
        await chat.close()
    return native


ITEM = {"type": "reasoning", "id": "a"}
SECRET = "My cat is called Tama"
READABLE: dict[str, dict[str, Any]] = {
    "reasoning": {"reasoning": {"reasoning_content": SECRET}},
    "details": {"reasoning": {"reasoning_details": [{**TEXT, "text": SECRET}, {**SEALED, "text": SECRET}]}},
    "words for sealed details": {"reasoning": {"reasoning_details": [{**SEALED, "data": SECRET}]}},
    "a summary": {
        "items": [{"type": "reasoning", "id": "a", "summary": [SECRET], "encrypted_content": "c2ln"}]
    },
    "words for a sealed item": {"items": [{"type": "reasoning", "id": "a", "encrypted_content": SECRET}]},
    "fields beside a signature": {"extras": [{"google": {"thought": SECRET, "thought_signature": "c2ln"}}]},
    "words for a signature": {"extras": [{"google": {"thought_signature": SECRET}}, None]},
    "ids": {"ids": [SECRET]},
    "a phase": {"phase": SECRET},
}


@pytest.mark.parametrize("native", READABLE.values(), ids=READABLE)
def test_nothing_that_can_be_read_is_stored(native: dict[str, Any]) -> None:
    kept = storable_native(json.dumps({"by": "x/y", **native}))
    assert "Tama" not in kept
    assert json.loads(kept)["by"] == "x/y"


def test_what_is_too_long_is_not_stored_and_still_begins_a_step() -> None:
    extras = [{"signature": "c" * MAX_STORED_NATIVE}]
    assert storable_native(json.dumps({"by": "x/y", "extras": extras})) == "{}"
    assert storable_native("") == ""


def stored_call(name: str, native: str) -> ToolCall:
    return ToolCall("x", name, "{}", "{}", native=native)


def test_the_steps_of_an_answer_stay_apart() -> None:
    calls = (stored_call("a", '{"by": "x"}'), stored_call("b", ""), stored_call("c", "{}"))
    parts = [*call_parts(Message("assistant", "", tool_calls=calls))]
    steps = [part for part in parts if isinstance(part, AssistantPart)]
    assert [[call.name for call in step.tool_requests] for step in steps] == [["a", "b"], ["c"]]


def test_what_goes_back_is_counted() -> None:
    plain = Message("assistant", "はい", tool_calls=(stored_call("a", "{}"),))
    long = replace(plain, tool_calls=(stored_call("a", json.dumps({"by": "c" * 4000})),))
    assert message_tokens(long) > message_tokens(plain) + 500


async def test_calls_of_other_models_go_in_a_form_that_the_strictest_take() -> None:
    foreign = json.dumps({"by": "else/m", "ids": ["toolu_1"], "extras": [SIGNATURE], "reasoning": {"x": 1}})
    call = ToolRequest("toolu_1", "recall", "{}")
    prompt = (
        UserPart("?"),
        AssistantPart("", (call,), native=foreign),
        ToolResultPart("toolu_1", "recall", "{}"),
    )
    async with LoopbackModelServer() as server:
        chat = OpenAIChatModel("m", base_url=server.base_url)
        await hear(chat, ChatRequest(prompt))
        await chat.close()
        [_, message, result] = server.requests[0].body["messages"]
    assert message.keys() == {"role", "content", "tool_calls"}
    [sent] = message["tool_calls"]
    assert sent.keys() == {"id", "type", "function"}
    assert (len(sent["id"]), sent["id"].isalnum(), sent["id"]) == (9, True, result["tool_call_id"])
