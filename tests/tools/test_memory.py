"""`remember` and `recall`, called as models call them: also sloppily."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from freezegun import freeze_time

from cc_bot.domain import Locale
from cc_bot.stores import Stores
from cc_bot.tools.memory import recall, remember
from cc_bot.tools.registry import ToolContext


@pytest.fixture
def context(stores: Stores) -> ToolContext:
    return ToolContext(7, "public", Locale.JA, ZoneInfo("Asia/Tokyo"), stores.memories)


async def remembered(context: ToolContext, **arguments: Any) -> dict[str, Any]:
    outcome = await remember.call(context, json.dumps(arguments))
    assert outcome.ok, outcome.text
    return dict(json.loads(outcome.text)["remembered"])


async def recalled(context: ToolContext, **arguments: Any) -> list[dict[str, Any]]:
    outcome = await recall.call(context, json.dumps(arguments))
    assert outcome.ok, outcome.text
    return list(json.loads(outcome.text)["memories"])


class TestRemember:
    async def test_keeps_one_fact_with_tags_and_category(self, context: ToolContext, stores: Stores) -> None:
        made = await remembered(context, content="猫の名前はモチ", tags=["猫", "家族"], category="pets")
        memory = await stores.memories.get(7, made["id"])
        assert memory is not None
        assert (memory.content, memory.tags, memory.category) == ("猫の名前はモチ", ("猫", "家族"), "pets")

    @pytest.mark.parametrize(("tags", "kept"), [("猫, 家族", ("猫", "家族")), (None, ()), ([], ())])
    async def test_takes_tags_as_small_models_write_them(
        self, context: ToolContext, stores: Stores, tags: object, kept: tuple[str, ...]
    ) -> None:
        made = await remembered(context, content="猫の名前はモチ", tags=tags, category=None)
        memory = await stores.memories.get(7, made["id"])
        assert memory is not None
        assert (memory.tags, memory.category) == (kept, "general")

    async def test_refuses_what_is_too_long(self, context: ToolContext) -> None:
        outcome = await remember.call(context, json.dumps({"content": "あ" * 4001}))
        assert (outcome.ok, "4000" in outcome.text) == (False, True)

    async def test_from_a_private_turn_is_for_private_ones(self, context: ToolContext) -> None:
        private = replace(context, visibility="private")
        await remembered(private, content="持病は喘息")
        assert await recalled(context, query="喘息") == []
        assert len(await recalled(private, query="喘息")) == 1


class TestRecall:
    async def test_tells_content_and_date_where_the_user_is(self, context: ToolContext) -> None:
        with freeze_time(datetime(2026, 3, 14, 23, 0, tzinfo=UTC), real_asyncio=True):
            await remembered(context, content="歯医者は火曜", tags=["予定"])
        found = await recalled(context, query="歯医者")
        assert [(each["content"], each["tags"], each["date"]) for each in found] == [
            ("歯医者は火曜", ["予定"], "2026-03-15")
        ]

    async def test_finds_nothing_of_another_user(self, context: ToolContext) -> None:
        await remembered(replace(context, user_id=8), content="他人の歯医者")
        assert await recalled(context, query="歯医者") == []

    @pytest.mark.parametrize("limit", [0, -3, 1])
    async def test_gives_at_least_one(self, context: ToolContext, limit: int) -> None:
        await remembered(context, content="好きな色は緑")
        await remembered(context, content="好きな色は青")
        assert len(await recalled(context, query="好きな色", limit=limit)) == 1

    async def test_gives_at_most_twenty(self, context: ToolContext) -> None:
        for number in range(25):
            await remembered(context, content=f"本 {number}")
        assert len(await recalled(context, query="本", limit=1000)) == 20
