"""Tools are declared from typed functions, and whatever goes wrong in one is a result for the model."""

import json
from typing import Annotated

import pytest
from pydantic import Field

from cc_bot.chat.tools import ToolContext, ToolOutcome, ToolRegistry, succeeded, tool
from cc_bot.features.memory.errors import EmptyMemory
from cc_bot.llm.model import ToolRequest
from tests.tools.conftest import TOOLS


@tool(writes=False)
async def add(
    context: ToolContext, left: Annotated[int, Field(description="One number.")], right: int = 1
) -> ToolOutcome:
    """Add two numbers."""
    return succeeded({"sum": left + right, "for": context.user_id})


@tool(writes=True)
async def explode(context: ToolContext, secret: str) -> ToolOutcome:
    """Raise what was given."""
    raise RuntimeError(secret)


@tool(writes=True)
async def refuse(context: ToolContext) -> ToolOutcome:
    """Refuse."""
    raise EmptyMemory


@pytest.fixture
def registry() -> ToolRegistry:
    return ToolRegistry([explode, add, refuse])


async def call(registry: ToolRegistry, context: ToolContext, name: str, arguments: str) -> ToolOutcome:
    return await registry.call(ToolRequest("1", name, arguments), context, registry.schemas())


class TestCall:
    async def test_gets_its_user_from_the_context(self, registry: ToolRegistry, context: ToolContext) -> None:
        outcome = await call(registry, context, "add", '{"left": 2, "user_id": 8}')
        assert json.loads(outcome.text) == {"sum": 3, "for": 7}
        outcome = await call(registry, context, "add", "")  # an empty object
        assert (outcome.ok, json.loads(outcome.text)) == (False, {"error": "left: Field required"})

    async def test_that_raises_tells_no_secret_and_one_that_refuses_says_why(
        self, registry: ToolRegistry, context: ToolContext
    ) -> None:
        outcome = await call(registry, context, "explode", '{"secret": "hunter2"}')
        assert (outcome.ok, "hunter2" in outcome.text) == (False, False)
        outcome = await call(registry, context, "refuse", "{}")
        assert "覚える内容が空" in json.loads(outcome.text)["error"]

    async def test_of_a_tool_that_was_not_offered_is_an_error(
        self, registry: ToolRegistry, context: ToolContext
    ) -> None:
        request = ToolRequest("1", "explode", '{"secret": "x"}')
        outcome = await registry.call(request, context, registry.schemas(writing=False))
        assert (outcome.ok, "The tools are: add" in outcome.text) == (False, True)

    @pytest.mark.parametrize(
        ("arguments", "secret"),
        [
            ('{"content": "パスワードは Sakura2024!"}', True),
            ('{"contents": ["x", {"y": "パスワードは Sakura2024!"}]}', True),
            ('{"content": "パスワードは Sakura2024!", "expires": "kaput"}', True),
            ('{"content": "パスワードは\\u0020Sakura2024!", "supersedes": 99}', True),
            ('{"content": "パスワードは Sakura2024!', True),
            ('{"content": "猫が好き", "tags": 1}', False),
        ],
    )
    async def test_that_fails_tells_of_a_secret_which_must_not_be_stored_with_it(
        self, context: ToolContext, arguments: str, *, secret: bool
    ) -> None:
        for offered in (TOOLS.schemas(), ()):
            outcome = await TOOLS.call(ToolRequest("1", "remember", arguments), context, offered)
            assert (outcome.ok, outcome.has_secret) == (False, secret)
