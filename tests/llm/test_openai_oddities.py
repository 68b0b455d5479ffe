"""Reading any JSON of a server raises only errors that a turn expects."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.llm.model import storable_native
from cc_bot.llm.openai.quirks import refusal_text
from cc_bot.llm.openai.reply import StreamedAnswer
from cc_bot.llm.openai.wires import read_chunk, read_event

NAMES = (
    *("choices", "delta", "message", "content", "tool_calls", "function", "name", "arguments", "index", "id"),
    *("reasoning_content", "reasoning_details", "type", "text", "data", "extra_content", "usage", "refusal"),
    *("item", "output", "response", "status", "incomplete_details", "reason", "error", "code", "phase"),
    *("encrypted_content", "summary", "call_id", "finish_reason", "output_index", "object", "detail"),
)
KINDS = (
    *("response.output_item.done", "response.completed", "response.incomplete", "response.output_text.delta"),
    *("reasoning", "function_call", "message", "reasoning.text", "reasoning.encrypted", "response", "stop"),
)
SCALARS = st.none() | st.booleans() | st.integers() | st.sampled_from(KINDS) | st.text(max_size=3)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=12,
)
DELTAS = st.fixed_dictionaries(
    {},
    optional={
        "content": VALUES,
        "reasoning_content": VALUES,
        "reasoning_details": VALUES | st.lists(st.dictionaries(st.sampled_from(NAMES), VALUES), max_size=4),
        "tool_calls": VALUES,
    },
)
CALL = {"choices": [{"delta": {"tool_calls": [{"id": "a", "function": {"name": "recall"}}]}}]}
EVENTS = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS)},
    optional={
        "object": st.just("response"),
        **dict.fromkeys(("item", "response", "output"), st.dictionaries(st.sampled_from(NAMES), VALUES)),
    },
)


def finished(*chunks: Any) -> str:
    reply = StreamedAnswer()
    for chunk in chunks:
        reply.add(chunk)
    return reply.finish("m", "host/m").native


@pytest.mark.slow
@given(st.lists(DELTAS, max_size=4))
def test_chunks(deltas: list[Any]) -> None:
    chunks = [read_chunk({"choices": [{"delta": delta}]}) for delta in deltas]
    json.loads(storable_native(finished(read_chunk(CALL), *chunks)))


@pytest.mark.slow
@given(st.lists(EVENTS, max_size=4))
def test_events(events: list[Any]) -> None:
    json.loads(storable_native(finished(read_chunk(CALL), *map(read_event, events))))


@pytest.mark.slow
@given(VALUES)
def test_refusals(body: Any) -> None:
    assert isinstance(refusal_text(body), str)
    assert isinstance(refusal_text(json.dumps(body)), str)
    read_chunk(body)
    read_event(body)
