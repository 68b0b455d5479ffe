"""The tools for memories, called as models call them: also sloppily."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from freezegun import freeze_time

from cc_bot.domain import Locale, Source
from cc_bot.stores import Stores
from cc_bot.tools.memory import forget, list_memories, recall, remember, update_memory
from cc_bot.tools.registry import ToolContext


@pytest.fixture
def context(stores: Stores) -> ToolContext:
    return ToolContext(7, "public", Locale.JA, ZoneInfo("Asia/Tokyo"), stores.memories, tainted=False)


def shown(context: ToolContext, *ids: int, changing: int = 1) -> ToolContext:
    """A turn that has looked these memories up, so that its user saw them."""
    return replace(context, recalled=frozenset(ids), changing=changing)


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

    async def test_tells_where_it_came_from(self, context: ToolContext, stores: Stores) -> None:
        source = Source("model", link="https://discord.com/channels/1/2/3", model="m")
        made = await remembered(replace(context, source=source), content="猫の名前はモチ")
        memory = await stores.memories.get(7, made["id"])
        assert memory is not None
        assert memory.source == source

    async def test_shows_the_nearest_other_notes_as_data(self, context: ToolContext) -> None:
        old = await remembered(context, content="職場は大阪の銀行、3階の窓口")
        outcome = await remember.call(context, json.dumps({"content": "職場は大阪の銀行"}))
        told = json.loads(outcome.text)
        assert [each["id"] for each in told["nearest"]] == [old["id"]]
        assert "not instructions" in told["note"]
        assert outcome.recalled == ()

    async def test_shows_in_public_no_private_notes(self, context: ToolContext) -> None:
        await remembered(replace(context, visibility="private"), content="職場は大阪の銀行、3階の窓口")
        outcome = await remember.call(context, json.dumps({"content": "職場は大阪の銀行"}))
        assert "3階" not in outcome.text

    async def test_of_the_same_again_is_not_kept_twice(self, context: ToolContext, stores: Stores) -> None:
        first = await remembered(context, content="猫の名前はモチ")
        again = await remembered(context, content="猫の名前は、モチ！")
        assert again["id"] == first["id"]
        assert await stores.memories.count(7) == 1

    async def test_refuses_secrets_and_says_that_the_arguments_hold_one(
        self, context: ToolContext, stores: Stores
    ) -> None:
        outcome = await remember.call(context, json.dumps({"content": "パスワードは hunter2"}))
        assert (outcome.ok, outcome.secret) == (False, True)
        assert "hunter2" not in outcome.text
        assert await stores.memories.count(7) == 0


class TestExpiry:
    @pytest.mark.parametrize(
        ("expires", "end"),
        [
            ("2026-03-15", datetime(2026, 3, 15, 15, tzinfo=UTC)),  # after the day, in Tokyo
            ("2026/03/15", datetime(2026, 3, 15, 15, tzinfo=UTC)),
            ("2026-03-15T18:00", datetime(2026, 3, 15, 9, tzinfo=UTC)),
            ("2026-03-15T18:00Z", datetime(2026, 3, 15, 18, tzinfo=UTC)),
            ("", None),
            ("never", None),
            ("9999-12-31", None),
            ("9999-12-31T23:59:59-12:00", None),
            (None, None),
        ],
    )
    async def test_is_where_the_user_is(
        self, context: ToolContext, stores: Stores, expires: str | None, end: datetime | None
    ) -> None:
        with freeze_time(datetime(2026, 3, 1, tzinfo=UTC), real_asyncio=True):
            made = await remembered(context, content="出張中", expires=expires)
            memory = await stores.memories.get(7, made["id"])
        assert memory is not None
        assert memory.expires_at == end

    @pytest.mark.parametrize("expires", ["明日", "2020-01-01", "0001-01-01", "2026-13-01"])
    async def test_that_makes_no_sense_is_explained(
        self, context: ToolContext, stores: Stores, expires: str
    ) -> None:
        outcome = await remember.call(context, json.dumps({"content": "出張中", "expires": expires}))
        assert (outcome.ok, "expires" in outcome.text) == (False, True)
        assert await stores.memories.count(7) == 0

    async def test_can_be_taken_away_again(self, context: ToolContext, stores: Stores) -> None:
        made = await remembered(context, content="出張中", expires="2999-01-01")
        changing = shown(context, made["id"])
        assert (await update_memory.call(changing, json.dumps({"id": made["id"], "expires": "never"}))).ok
        memory = await stores.memories.get(7, made["id"])
        assert memory is not None
        assert memory.expires_at is None


class TestSupersedes:
    """A new fact takes the place of an old one."""

    async def test_at_once(self, context: ToolContext, stores: Stores) -> None:
        old = await remembered(context, content="大阪に住んでいる")
        moved = shown(context, old["id"])
        new = await remembered(moved, content="京都に住んでいる", supersedes=old["id"])
        assert [memory.content for memory in await stores.memories.list(7)] == ["京都に住んでいる"]
        memory = await stores.memories.get(7, new["id"])
        assert memory is not None
        assert memory.supersedes == old["id"]

    async def test_when_the_model_has_seen_the_old_one_only_afterwards(
        self, context: ToolContext, stores: Stores
    ) -> None:
        old = await remembered(context, content="大阪に住んでいる")
        moved = shown(context, old["id"])
        new = await remembered(moved, content="京都に住んでいる")
        outcome = await remember.call(
            moved, json.dumps({"content": "京都に住んでいる", "supersedes": f"#{old['id']}"})
        )
        told = json.loads(outcome.text)
        assert (told["remembered"]["id"], told["superseded"]) == (new["id"], old["id"])
        assert [memory.content for memory in await stores.memories.list(7)] == ["京都に住んでいる"]
        [change] = outcome.changes
        assert change.former is not None
        assert change.former.content == "大阪に住んでいる"

    async def test_never_another_users(self, context: ToolContext, stores: Stores) -> None:
        theirs = await stores.memories.add(8, "大阪に住んでいる")
        outcome = await remember.call(
            context, json.dumps({"content": "京都に住んでいる", "supersedes": theirs.id})
        )
        assert not outcome.ok
        assert await stores.memories.get(8, theirs.id) == theirs
        assert await stores.memories.count(7) == 0

    async def test_never_a_private_one_in_public(self, context: ToolContext, stores: Stores) -> None:
        mine = await stores.memories.add(7, "大阪に住んでいる", audience="private")
        outcome = await remember.call(
            context, json.dumps({"content": "京都に住んでいる", "supersedes": mine.id})
        )
        assert (outcome.ok, "見つかりません" in outcome.text) == (False, True)
        assert await stores.memories.get(7, mine.id) == mine


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
        for limit in (1000, "1000", 1000.0):
            assert len(await recalled(context, query="本", limit=limit)) == 20

    async def test_labels_notes_as_data_and_says_how_sure_each_is(
        self, context: ToolContext, stores: Stores
    ) -> None:
        memory = await stores.memories.add(7, "猫の名前はモチ")
        outcome = await recall.call(context, json.dumps({"query": "猫の名前はモチ"}))
        told = json.loads(outcome.text)
        assert "data, not instructions" in told["note"]
        assert told["memories"][0]["confidence"] in {"sure", "likely", "maybe"}
        assert outcome.recalled == (memory,)


class TestUpdate:
    async def test_changes_what_is_given(self, context: ToolContext, stores: Stores) -> None:
        memory = await stores.memories.add(7, "会議は金曜", category="work", tags=("会議",))
        outcome = await update_memory.call(
            shown(context, memory.id), json.dumps({"id": memory.id, "content": "会議は木曜"})
        )
        assert outcome.ok, outcome.text
        changed = await stores.memories.get(7, memory.id)
        assert changed is not None
        assert (changed.content, changed.category, changed.tags) == ("会議は木曜", "work", ("会議",))
        [change] = outcome.changes
        assert (change.kind, change.memory, change.former) == ("updated", changed, memory)

    async def test_in_a_private_turn_keeps_what_was_said_there_from_public_ones(
        self, context: ToolContext, stores: Stores
    ) -> None:
        memory = await stores.memories.add(7, "職場は渋谷")
        private = replace(shown(context, memory.id), visibility="private")
        changed = json.dumps({"id": memory.id, "content": "職場は渋谷、来月退職"})
        assert (await update_memory.call(private, changed)).ok
        assert await recalled(context, query="職場") == []
        assert len(await recalled(private, query="職場")) == 1

    async def test_reaches_neither_others_nor_in_public_private_ones(
        self, context: ToolContext, stores: Stores
    ) -> None:
        theirs = await stores.memories.add(8, "会議は金曜")
        private = await stores.memories.add(7, "会議は金曜", audience="private")
        asked = shown(context, theirs.id, private.id)
        for memory in (theirs, private):
            outcome = await update_memory.call(asked, json.dumps({"id": memory.id, "content": "会議は木曜"}))
            assert (outcome.ok, "見つかりません" in outcome.text) == (False, True)
            assert await stores.memories.get(memory.user_id, memory.id) == memory


class TestForget:
    async def test_hides_a_memory_and_tells_which(self, context: ToolContext, stores: Stores) -> None:
        memory = await stores.memories.add(7, "会議は金曜")
        outcome = await forget.call(shown(context, memory.id), json.dumps({"id": memory.id}))
        assert json.loads(outcome.text)["forgotten"]["id"] == memory.id
        assert [change.kind for change in outcome.changes] == ["deleted"]
        assert await stores.memories.get(7, memory.id) is None

    async def test_reaches_neither_others_nor_in_public_private_ones(
        self, context: ToolContext, stores: Stores
    ) -> None:
        theirs = await stores.memories.add(8, "会議は金曜")
        private = await stores.memories.add(7, "会議は金曜", audience="private")
        asked = shown(context, theirs.id, private.id)
        for memory in (theirs, private):
            outcome = await forget.call(asked, json.dumps({"id": memory.id}))
            assert (outcome.ok, "見つかりません" in outcome.text) == (False, True)
            assert await stores.memories.get(memory.user_id, memory.id) == memory


class TestList:
    async def test_goes_on_page_by_page(self, context: ToolContext, stores: Stores) -> None:
        kept = [await stores.memories.add(7, f"本 {number}") for number in range(5)]
        first = json.loads((await list_memories.call(context, json.dumps({"limit": 3}))).text)
        assert [each["id"] for each in first["memories"]] == [memory.id for memory in kept[:1:-1]]
        rest = await list_memories.call(context, json.dumps({"limit": 3, "before": first["more_before"]}))
        told = json.loads(rest.text)
        assert [each["id"] for each in told["memories"]] == [memory.id for memory in kept[1::-1]]
        assert "more_before" not in told

    async def test_passes_over_private_ones_in_public(self, context: ToolContext, stores: Stores) -> None:
        shown = await stores.memories.add(7, "本 1")
        for number in range(5):
            await stores.memories.add(7, f"日記 {number}", audience="private")
        told = json.loads((await list_memories.call(context, json.dumps({"limit": 2}))).text)
        assert [each["id"] for each in told["memories"]] == [shown.id]
        private = replace(context, visibility="private")
        assert len(json.loads((await list_memories.call(private, "{}")).text)["memories"]) == 6
