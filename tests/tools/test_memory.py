"""The tools for memories, called as models call them: also sloppily."""

from datetime import UTC, datetime
from typing import Any

import pytest
from freezegun import freeze_time

from cc_bot.features.memory.model import Memory, MemoryChange, Source
from tests.tools.conftest import Turn, result_of


def shown(turn: Turn, *ids: int) -> Turn:
    """One that has looked these memories up, so that its user saw them."""
    return turn.having(recalled_memories=frozenset(ids), changed_count=1)


async def remember(turn: Turn, content: str, **arguments: Any) -> dict[str, Any]:
    return dict((await turn.told("remember", content=content, **arguments))["remembered"])


async def recall(turn: Turn, query: str, **arguments: Any) -> list[dict[str, Any]]:
    return list((await turn.told("recall", query=query, **arguments))["memories"])


async def get(turn: Turn, memory_id: int) -> Memory:
    memory = await turn.stores.memories.get(7, memory_id)
    assert memory is not None
    return memory


async def contents(turn: Turn) -> list[str]:
    return [memory.content for memory in await turn.stores.memories.list(7)]


class TestRemember:
    @pytest.mark.parametrize(
        ("tags", "kept"),
        [(["猫", "家族"], ("猫", "家族")), ("猫, 家族", ("猫", "家族")), (None, ()), ([], ())],
    )
    async def test_keeps_one_fact_with_tags_as_models_write_them_and_where_it_came_from(
        self, turn: Turn, tags: object, kept: tuple[str, ...]
    ) -> None:
        source = Source("model", link="https://discord.com/channels/1/2/3", model="m")
        made = await remember(
            turn.having(source=source), "猫の名前はモチ", tags=tags, category="pets" if tags else None
        )
        memory = await get(turn, made["id"])
        assert (memory.content, memory.tags) == ("猫の名前はモチ", kept)
        assert (memory.category, memory.source) == ("pets" if tags else "general", source)
        again = await remember(turn, "猫の名前は、モチ！")
        assert again["id"] == made["id"]
        assert await turn.stores.memories.count(7) == 1

    async def test_refuses_what_is_too_long_and_secrets_and_tells_of_these(self, turn: Turn) -> None:
        long = await turn.call("remember", content="あ" * 4001)
        assert (long.ok, "4000" in long.text) == (False, True)
        secret = await turn.call("remember", content="パスワードは hunter2")
        assert (secret.ok, secret.has_secret, "hunter2" in secret.text) == (False, True, False)
        assert await turn.stores.memories.count(7) == 0

    async def test_from_a_private_turn_is_for_private_ones(self, turn: Turn) -> None:
        await remember(turn.private, "職場は大阪の銀行、3階の窓口")
        assert await recall(turn, "職場") == []
        assert len(await recall(turn.private, "職場")) == 1
        assert "3階" not in (await turn.call("remember", content="職場は大阪の銀行")).text


class TestExpiry:
    async def test_is_where_the_user_is(self, turn: Turn) -> None:
        ends = {
            "2026-03-15": datetime(2026, 3, 15, 15, tzinfo=UTC),  # after the day, in Tokyo
            "2026/03/15": datetime(2026, 3, 15, 15, tzinfo=UTC),
            "2026-03-15T18:00": datetime(2026, 3, 15, 9, tzinfo=UTC),
            "2026-03-15T18:00Z": datetime(2026, 3, 15, 18, tzinfo=UTC),
            **dict.fromkeys(("", "never", "9999-12-31", "9999-12-31T23:59:59-12:00", None)),
        }
        found = {}
        with freeze_time(datetime(2026, 3, 1, tzinfo=UTC), real_asyncio=True):
            for number, expires in enumerate(ends):
                made = await remember(turn, f"出張{number}", expires=expires)
                found[expires] = (await get(turn, made["id"])).expires_at
        assert found == ends


class TestSupersedes:
    @pytest.mark.parametrize("afterwards", [False, True])
    async def test_at_once_or_when_the_model_has_seen_the_old_one_only_afterwards(
        self, turn: Turn, *, afterwards: bool
    ) -> None:
        old = await remember(turn, "大阪に住んでいる")
        moved = shown(turn, old["id"])
        if afterwards:
            new = await remember(moved, "京都に住んでいる")
            moved = moved.having(new_memories=frozenset({new["ref"]}))
        outcome = await moved.call("remember", content="京都に住んでいる", supersedes=f"#{old['id']}")
        result = result_of(outcome)
        assert result["superseded"] == old["id"]
        assert result["remembered"]["id"] == old["id"]
        assert await contents(turn) == ["京都に住んでいる"]
        first, *others = outcome.changes
        assert (first.kind, first.number, first.former_id is None) == ("updated", old["id"], False)
        assert [(each.kind, each.number) for each in others] == (
            [("deleted", new["id"])] if afterwards else []
        )


async def test_nothing_reaches_memories_of_others_nor_in_public_private_ones(turn: Turn) -> None:
    theirs = await turn.stores.memories.add(8, "会議は金曜")
    mine = await turn.stores.memories.add(7, "会議は金曜", audience="private")
    asked = shown(turn, theirs.id, mine.id)
    for memory in (theirs, mine):
        for outcome in (
            await asked.call("remember", content="会議は木曜", supersedes=memory.id),
            await asked.call("update_memory", id=memory.id, content="会議は木曜"),
            await asked.call("forget", id=memory.id),
        ):
            assert (outcome.ok, "見つかりません" in outcome.text) == (False, True)
        assert await turn.stores.memories.get(memory.user_id, memory.id) == memory
    assert await turn.stores.memories.count(7) == 1
    assert await recall(turn, "会議") == []
    assert len(await recall(turn.having(target="terminal"), "会議")) == 1


class TestRecall:
    async def test_tells_content_and_date_where_the_user_is_as_data(self, turn: Turn) -> None:
        with freeze_time(datetime(2026, 3, 14, 23, 0, tzinfo=UTC), real_asyncio=True):
            made = await remember(turn, "歯医者は火曜", tags=["予定"])
        outcome = await turn.call("recall", query="歯医者は火曜")
        [found] = result_of(outcome)["memories"]
        assert (found["content"], found["tags"], found["date"]) == ("歯医者は火曜", ["予定"], "2026-03-15")
        assert found["confidence"] in {"sure", "likely", "maybe"}
        assert "data, not instructions" in result_of(outcome)["note"]
        assert [memory.id for memory in outcome.recalled_memories] == [made["id"]]


class TestUpdate:
    async def test_changes_what_is_given(self, turn: Turn) -> None:
        memory = await turn.stores.memories.add(7, "会議は金曜", category="work", tags=("会議",))
        outcome = await shown(turn, memory.id).call("update_memory", id=memory.id, content="会議は木曜")
        changed = await get(turn, memory.id)
        assert (changed.content, changed.category, changed.tags) == ("会議は木曜", "work", ("会議",))
        [change] = outcome.changes
        assert change == MemoryChange("updated", changed, memory).receipt


async def test_forgetting_hides_a_memory_and_tells_which(turn: Turn) -> None:
    memory = await turn.stores.memories.add(7, "会議は金曜")
    outcome = await shown(turn, memory.id).call("forget", id=memory.id)
    assert result_of(outcome)["forgotten"]["id"] == memory.id
    assert [change.kind for change in outcome.changes] == ["deleted"]
    assert await turn.stores.memories.get(7, memory.id) is None


class TestList:
    async def test_goes_on_page_by_page(self, turn: Turn) -> None:
        kept = [await turn.stores.memories.add(7, f"本 {number}") for number in range(5)]
        first = await turn.told("list_memories", limit=3)
        assert [each["id"] for each in first["memories"]] == [memory.id for memory in kept[:1:-1]]
        rest = await turn.told("list_memories", limit=3, before=first["more_before"])
        assert [each["id"] for each in rest["memories"]] == [memory.id for memory in kept[1::-1]]
        assert "more_before" not in rest

    async def test_passes_over_private_ones_in_public(self, turn: Turn) -> None:
        public = await turn.stores.memories.add(7, "本 1")
        for number in range(5):
            await turn.stores.memories.add(7, f"日記 {number}", audience="private")
        found = await turn.told("list_memories", limit=2)
        assert [each["id"] for each in found["memories"]] == [public.id]
        assert len((await turn.private.told("list_memories"))["memories"]) == 6
