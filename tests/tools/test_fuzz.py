import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.chat.tools import ToolContext, ToolRegistry
from cc_bot.features.canvas.drawing import CanvasDraft
from cc_bot.features.canvas.model import Canvas
from cc_bot.llm.model import ToolRequest
from tests.databases import laid_out
from tests.tools.conftest import TOOLS

BEN = 1002
EXAMPLES = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

TEXTS = st.text() | st.sampled_from(
    ["#12", "null", "2026-13-99", "明日9時", "毎日", "'; DROP TABLE memories; --", "\0"]
)
NUMBERS = st.integers() | st.floats() | st.sampled_from([2**63, -(2**63) - 1, 10**400, 0, -1])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def calls(draw: st.DrawFn, registry: ToolRegistry = TOOLS) -> ToolRequest:
    """A tool with the names of its own arguments, and anything as their values; or not even JSON."""
    schema = draw(st.sampled_from(registry.schemas()))
    if draw(st.integers(0, 5)) == 0:
        return ToolRequest("call_1", schema.name, draw(TEXTS))
    names = [*schema.parameters["properties"], "user_id", "__class__", "id"]
    given = {name: draw(VALUES) for name in names if draw(st.integers(0, 3))}
    text = json.dumps(given, ensure_ascii=draw(st.booleans()))
    return ToolRequest("call_1", schema.name, text[: draw(st.sampled_from([None, 1, len(text) - 1]))])


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    """Without an embedder: hypothesis must not see the modules that a thread is loading for one."""
    async with open_stores(laid_out(tmp_path / "sessions.db"), embedder=None) as stores:
        yield stores


@pytest.fixture
def context(context: ToolContext, stores: Stores) -> ToolContext:
    return replace(context, stores=stores, clock=lambda: datetime(2026, 11, 22, tzinfo=UTC))


def unexpected(logs: list[Any]) -> Iterator[str]:
    return (f"{log['tool']}: {log['error']}" for log in logs if log["event"] == "tool_failed")


class TestArguments:
    @EXAMPLES
    @given(call=calls())
    @example(call=ToolRequest("call_1", "recall", '{"query": "\\ud800"}'))
    @example(call=ToolRequest("call_1", "forget", '{"id": 170141183460469231731687303715884105728}'))
    async def test_of_any_kind_are_answered_with_an_object_and_touch_nobody_else(
        self, context: ToolContext, stores: Stores, call: ToolRequest
    ) -> None:
        kept = await stores.memories.add(BEN, "秘密ではないが、ベンのもの")
        with capture_logs() as logs:
            outcome = await TOOLS.call(
                call, replace(context, canvas=CanvasDraft(Canvas(), "public")), TOOLS.schemas()
            )
        assert isinstance(json.loads(outcome.text), dict)
        assert [*unexpected(logs)] == [], call
        assert await stores.memories.get(BEN, kept.id) == kept
        await stores.memories.delete(BEN, kept.id)
