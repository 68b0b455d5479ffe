"""Tools are declared from typed functions, and whatever goes wrong in one is a result for the model."""

import asyncio
import json
from collections.abc import Mapping
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import Field

import cc_bot.tools
from cc_bot.domain import Locale
from cc_bot.domain.errors import EmptyMemory
from cc_bot.llm.model import ToolRequest
from cc_bot.stores import Stores
from cc_bot.tools.registry import LONGEST_TEXT, ToolContext, ToolOutcome, ToolRegistry, discover, tool


@tool(writes=False)
async def add(
    context: ToolContext,
    left: Annotated[int, Field(description="One number.")],
    right: int = 1,
) -> Mapping[str, Any]:
    """Add two numbers."""
    return {"sum": left + right, "for": context.user_id}


@tool(writes=True)
async def explode(context: ToolContext, secret: str) -> Mapping[str, Any]:
    """Raise what was given."""
    raise RuntimeError(secret)


@tool(writes=True)
async def refuse(context: ToolContext) -> Mapping[str, Any]:
    """Refuse."""
    raise EmptyMemory


@pytest.fixture
def registry() -> ToolRegistry:
    return ToolRegistry([explode, add, refuse])


@pytest.fixture
def context(stores: Stores) -> ToolContext:
    return ToolContext(7, "public", Locale.JA, ZoneInfo("Asia/Tokyo"), stores.memories)


async def call(registry: ToolRegistry, context: ToolContext, name: str, arguments: str) -> ToolOutcome:
    return await registry.call(ToolRequest("1", name, arguments), context, registry.schemas())


class TestSchema:
    def test_comes_from_the_function(self) -> None:
        assert (add.schema.name, add.schema.description) == ("add", "Add two numbers.")
        assert add.schema.parameters == {
            "type": "object",
            "properties": {
                "left": {"type": "integer", "description": "One number."},
                "right": {"type": "integer", "default": 1},
            },
            "required": ["left"],
        }

    def test_order_does_not_depend_on_who_declared_first(self) -> None:
        orders = [ToolRegistry(tools).schemas() for tools in ([add, explode], [explode, add])]
        assert orders[0] == orders[1]

    def test_of_writing_tools_can_be_left_out(self, registry: ToolRegistry) -> None:
        assert [schema.name for schema in registry.schemas(writing=False)] == ["add"]

    def test_of_every_tool_in_the_folder_is_found(self) -> None:
        assert [schema.name for schema in discover(cc_bot.tools).schemas()] == [
            "cancel_schedule",
            "canvas_add_card",
            "canvas_add_chart",
            "canvas_remove_element",
            "canvas_set_mode",
            "canvas_show_text",
            "canvas_update_card",
            "forget",
            "list_memories",
            "list_schedules",
            "read_file",
            "read_page",
            "recall",
            "remember",
            "schedule",
            "update_memory",
            "web_search",
        ]


class TestCall:
    async def test_gets_its_user_from_the_context(self, registry: ToolRegistry, context: ToolContext) -> None:
        outcome = await call(registry, context, "add", '{"left": 2, "user_id": 8}')
        assert json.loads(outcome.text) == {"sum": 3, "for": 7}

    async def test_takes_no_arguments_for_an_empty_object(
        self, registry: ToolRegistry, context: ToolContext
    ) -> None:
        outcome = await call(registry, context, "add", "")
        assert (outcome.ok, json.loads(outcome.text)) == (False, {"error": "left: Field required"})

    async def test_that_raises_tells_no_secret(self, registry: ToolRegistry, context: ToolContext) -> None:
        outcome = await call(registry, context, "explode", '{"secret": "hunter2"}')
        assert not outcome.ok
        assert "hunter2" not in outcome.text

    async def test_that_refuses_says_why_in_the_users_language(
        self, registry: ToolRegistry, context: ToolContext
    ) -> None:
        outcome = await call(registry, context, "refuse", "{}")
        assert "覚える内容が空" in json.loads(outcome.text)["error"]

    async def test_of_a_tool_that_was_not_offered_is_an_error(
        self, registry: ToolRegistry, context: ToolContext
    ) -> None:
        request = ToolRequest("1", "explode", '{"secret": "x"}')
        outcome = await registry.call(request, context, registry.schemas(writing=False))
        assert (outcome.ok, "The tools are: add" in outcome.text) == (False, True)

    async def test_can_be_cancelled(self, context: ToolContext) -> None:
        @tool(writes=False)
        async def wait(context: ToolContext) -> Mapping[str, Any]:
            """Wait."""
            await asyncio.Event().wait()
            return {}

        task = asyncio.create_task(wait.call(context, "{}"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


class TestACallThatIsTooLong:
    """What is in it would fit a pattern of secrets, or a parser; neither is asked."""

    async def test_is_answered_with_an_error_before_anything_is_done_with_it(
        self, context: ToolContext
    ) -> None:
        arguments = '{"content": "' + "パスワードは Sakura2024! " * 500_000 + '"}'
        outcome = await call(discover(cc_bot.tools), context, "remember", arguments)
        assert (outcome.ok, outcome.secret) == (False, False)
        assert json.loads(outcome.text) == {
            "error": "Too long: the arguments of a call have 32768 characters at most."
        }

    @pytest.mark.parametrize("length", [LONGEST_TEXT, LONGEST_TEXT + 1])
    async def test_in_one_of_its_texts_is_answered_likewise(self, context: ToolContext, length: int) -> None:
        given: list[str] = []

        @tool(writes=False)
        async def keep(context: ToolContext, text: str) -> Mapping[str, Any]:
            """Keep it."""
            given.append(text)
            return {}

        outcome = await call(ToolRegistry([keep]), context, "keep", json.dumps({"text": "x" * length}))
        assert outcome.ok == bool(given) == (length == LONGEST_TEXT)
        assert outcome.ok or "text: 6000 characters at most" in outcome.text


class TestSecretInACallThatFailed:
    """It must not be stored with the call either, whatever was wrong with that."""

    @pytest.mark.parametrize(
        "arguments",
        [
            '{"content": "パスワードは Sakura2024!"}',
            '{"contents": ["x", {"y": "パスワードは Sakura2024!"}]}',
            '{"content": "パスワードは Sakura2024!", "expires": "kaput"}',
            '{"content": "パスワードは\\u0020Sakura2024!", "supersedes": 99}',
            '{"content": "パスワードは Sakura2024!',
        ],
    )
    async def test_is_told(self, context: ToolContext, arguments: str) -> None:
        registry = discover(cc_bot.tools)
        outcome = await call(registry, context, "remember", arguments)
        assert (outcome.ok, outcome.secret) == (False, True)
        outcome = await registry.call(ToolRequest("1", "remember", arguments), context, ())
        assert (outcome.ok, outcome.secret) == (False, True)

    async def test_is_not_seen_where_there_is_none(self, context: ToolContext) -> None:
        outcome = await call(
            discover(cc_bot.tools), context, "remember", '{"content": "猫が好き", "tags": 1}'
        )
        assert (outcome.ok, outcome.secret) == (False, False)
