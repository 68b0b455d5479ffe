"""What a memory said before, and the way back: versions, undo of an update, undo of a new memory."""

from datetime import UTC, datetime, timedelta

import pytest
from freezegun import freeze_time
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cc_bot.domain import Memory
from cc_bot.domain.memory import Source
from cc_bot.storage import Database, Statement
from cc_bot.stores import Stores

ME, YOU = 123456789012345678, 876543210987654321
START = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)


async def kept(stores: Stores, *contents: str) -> Memory:
    """A memory that said each of these in turn."""
    first, *later = contents
    memory = await stores.memories.add(ME, first)
    for content in later:
        updated = await stores.memories.update(ME, memory.id, content=content)
        assert updated is not None
        memory = updated
    return memory


async def said(stores: Stores, memory: Memory) -> list[str]:
    """What a memory says, and what it said before, newest first."""
    now = await stores.memories.get(ME, memory.id)
    return [
        each.content
        for each in (*([now] if now else ()), *await stores.memory_history.list_versions(ME, memory.id))
    ]


async def listed(stores: Stores) -> list[str]:
    return [memory.content for memory in await stores.memories.list(ME)]


async def hand_edit(database: Database, memory_id: int, supersedes: int | None) -> None:
    await database.transaction(
        [Statement("UPDATE memories SET supersedes = $2 WHERE id = $1", (memory_id, supersedes))], ()
    )


class TestHistory:
    async def test_is_what_a_memory_said_before_newest_first(self, stores: Stores) -> None:
        memory = await kept(stores, "東京に住んでいる", "大阪に住んでいる", "京都に住んでいる")
        history = await stores.memory_history.list_versions(ME, memory.id)
        assert [version.content for version in history] == ["大阪に住んでいる", "東京に住んでいる"]
        assert len({memory.id, *(version.id for version in history)}) == 3

    async def test_goes_on_with_that_of_a_memory_that_was_superseded(self, stores: Stores) -> None:
        old = await kept(stores, "Lives in Tokyo", "Lives in Osaka")
        new = await stores.memories.add(ME, "Has moved to Kyoto", supersedes=old.id)
        await stores.memories.update(ME, new.id, content="Lives in Kyoto")
        assert await said(stores, new) == [
            *("Lives in Kyoto", "Has moved to Kyoto", "Lives in Osaka", "Lives in Tokyo")
        ]

    async def test_is_empty_for_what_was_never_changed_is_hidden_or_is_not_there(
        self, stores: Stores
    ) -> None:
        unchanged = await kept(stores, "猫が好き")
        hidden = await kept(stores, "犬が好き", "鳥が好き")
        await stores.memories.delete(ME, hidden.id)
        for memory_id in (unchanged.id, hidden.id, 987654321, -1, 2**70):
            assert await stores.memory_history.list_versions(ME, memory_id) == []

    async def test_of_someone_else_is_empty(self, stores: Stores) -> None:
        memory = await kept(stores, "前", "後")
        assert await stores.memory_history.list_versions(YOU, memory.id) == []

    @pytest.mark.parametrize("target", [0, 1, 2])
    async def test_that_leads_in_a_circle_is_told_once(
        self, stores: Stores, database: Database, target: int
    ) -> None:
        memory = await kept(stores, "一", "二", "三")
        versions = await stores.memory_history.list_versions(ME, memory.id)
        await hand_edit(database, versions[-1].id, (memory, *versions)[target].id)
        assert await said(stores, memory) == ["三", "二", "一"]
        assert await stores.memory_history.restore(ME, versions[-1].id) is not None
        assert [each.content for each in await stores.memories.list(ME)] == ["一"]

    async def test_may_be_long(self, stores: Stores) -> None:
        memory = await kept(stores, *map(str, range(300)))
        assert await said(stores, memory) == [str(number) for number in range(299, -1, -1)]


class TestRestoring:
    async def test_gives_back_text_category_tags_and_end(self, stores: Stores) -> None:
        end = START + timedelta(days=400)
        memory = await stores.memories.add(
            ME, "会議は金曜", category="仕事", tags=("予定",), expires_at=end, audience="private"
        )
        await stores.memories.update(
            ME, memory.id, content="会議は月曜", category="家", tags=(), expires_at=None
        )
        [version] = await stores.memory_history.list_versions(ME, memory.id)
        change = await stores.memory_history.restore(ME, version.id)
        assert change is not None
        assert change.kind == "restored"
        assert change.former is not None
        assert change.former.content == "会議は月曜"
        now = await stores.memories.get(ME, memory.id)
        assert now == change.memory
        assert (now.id, now.content, now.category, now.tags, now.expires_at, now.audience) == (
            *(memory.id, "会議は金曜", "仕事", ("予定",), end),
            "private",
        )

    async def test_makes_history_of_what_it_had(self, stores: Stores) -> None:
        memory = await kept(stores, "A", "B", "C")
        *_, oldest = await stores.memory_history.list_versions(ME, memory.id)
        await stores.memory_history.restore(ME, oldest.id)
        assert await said(stores, memory) == ["A", "C", "B", "A"]

    async def test_tells_who_wrote_what_is_back(self, stores: Stores) -> None:
        """Otherwise an imported text would pass for its user's own."""
        old = await stores.memories.add(ME, "Lives in Tokyo", source=Source("import"))
        new = await stores.memories.add(ME, "Lives in Kyoto", source=Source("model"), supersedes=old.id)
        change = await stores.memory_history.restore(ME, old.id)
        assert change is not None
        assert change.memory.source == Source("import")
        own = next(
            each
            for each in await stores.memory_history.list_versions(ME, new.id)
            if each.source.kind == "model"
        )
        change = await stores.memory_history.restore(ME, own.id)
        assert change is not None
        assert change.memory.source == Source("model")

    async def test_leaves_alone_who_may_see_it(self, stores: Stores) -> None:
        memory = await kept(stores, "前", "後")
        await stores.memories.update(ME, memory.id, audience="private")
        [version] = await stores.memory_history.list_versions(ME, memory.id)
        change = await stores.memory_history.restore(ME, version.id)
        assert change is not None
        assert change.memory.audience == "private"

    async def test_twice_makes_no_second_version(self, stores: Stores) -> None:
        memory = await kept(stores, "A", "B")
        [version] = await stores.memory_history.list_versions(ME, memory.id)
        await stores.memory_history.restore(ME, version.id)
        again = await stores.memory_history.restore(ME, version.id)
        assert again is not None
        assert (again.memory.content, again.former) == ("A", None)
        assert await said(stores, memory) == ["A", "B", "A"]

    async def test_of_a_superseded_memory_brings_its_text_into_the_newer_one(self, stores: Stores) -> None:
        old = await kept(stores, "Lives in Tokyo")
        new = await stores.memories.add(ME, "Lives in Kyoto", supersedes=old.id)
        change = await stores.memory_history.restore(ME, old.id)
        assert change is not None
        assert change.memory.id == new.id
        assert await listed(stores) == ["Lives in Tokyo"]

    async def test_can_be_undone(self, stores: Stores) -> None:
        memory = await kept(stores, "A", "B")
        [version] = await stores.memory_history.list_versions(ME, memory.id)
        change = await stores.memory_history.restore(ME, version.id)
        assert change is not None
        assert change.former is not None
        undone = await stores.memory_history.undo_update(ME, memory.id, change.former.id)
        assert undone is not None
        assert await said(stores, memory) == ["B", "A"]

    async def test_is_refused_where_there_is_nothing_to_restore(self, stores: Stores) -> None:
        memory = await kept(stores, "A", "B")
        [version] = await stores.memory_history.list_versions(ME, memory.id)
        assert await stores.memory_history.restore(ME, memory.id) is None
        assert await stores.memory_history.restore(YOU, version.id) is None
        assert await stores.memory_history.restore(ME, 2**80) is None
        await stores.memories.delete(ME, memory.id)
        assert await stores.memory_history.restore(ME, version.id) is None


class TestUndoOfAnUpdate:
    async def test_gives_back_what_was_there_and_drops_the_newer_text(
        self, stores: Stores, database: Database
    ) -> None:
        with freeze_time(START, real_asyncio=True) as now:
            before = await stores.memories.add(ME, "誕生日は3月15日", category="家族", tags=("記念日",))
            now.tick(60)
            after = await stores.memories.update(ME, before.id, content="誕生日は5月3日", category="仕事")
            assert after is not None
            assert after.supersedes is not None
            undone = await stores.memory_history.undo_update(ME, before.id, after.supersedes)
        assert undone == before
        assert await stores.memory_history.list_versions(ME, before.id) == []
        assert [found.confidence < 1 for found in await stores.memories.find(ME, "5月3日")] == [True]
        assert [found.confidence for found in await stores.memories.find(ME, "3月15日")] == [1.0]
        assert await database.query("SELECT id FROM memories WHERE user_id = $1", ME) == [(before.id,)]

    async def test_comes_too_late_after_another_one(self, stores: Stores) -> None:
        first = await kept(stores, "A", "B")
        assert first.supersedes is not None
        await stores.memories.update(ME, first.id, content="C")
        assert await stores.memory_history.undo_update(ME, first.id, first.supersedes) is None
        assert await said(stores, first) == ["C", "B", "A"]

    async def test_works_once(self, stores: Stores) -> None:
        memory = await kept(stores, "A", "B", "C")
        assert memory.supersedes is not None
        assert await stores.memory_history.undo_update(ME, memory.id, memory.supersedes) is not None
        assert await stores.memory_history.undo_update(ME, memory.id, memory.supersedes) is None
        assert await said(stores, memory) == ["B", "A"]

    async def test_does_not_take_a_superseded_memory_for_a_former_text(self, stores: Stores) -> None:
        old = await kept(stores, "Lives in Tokyo")
        new = await stores.memories.add(ME, "Lives in Kyoto", supersedes=old.id)
        assert await stores.memory_history.undo_update(ME, new.id, old.id) is None
        assert await said(stores, new) == ["Lives in Kyoto", "Lives in Tokyo"]

    async def test_keeps_private_what_was_made_private_since(self, stores: Stores) -> None:
        memory = await kept(stores, "A", "B")
        assert memory.supersedes is not None
        await stores.memories.update(ME, memory.id, audience="private")
        undone = await stores.memory_history.undo_update(ME, memory.id, memory.supersedes)
        assert undone is not None
        assert undone.audience == "private"

    async def test_is_its_owners_alone(self, stores: Stores) -> None:
        memory = await kept(stores, "A", "B")
        assert memory.supersedes is not None
        assert await stores.memory_history.undo_update(YOU, memory.id, memory.supersedes) is None
        assert await said(stores, memory) == ["B", "A"]


class TestUndoOfANewMemory:
    async def test_hides_it(self, stores: Stores) -> None:
        memory = await kept(stores, "言っていない")
        assert await stores.memory_history.undo_add(ME, memory.id)
        assert not await stores.memory_history.undo_add(ME, memory.id)
        assert await listed(stores) == []

    async def test_brings_back_what_it_superseded_with_its_history(self, stores: Stores) -> None:
        old = await kept(stores, "A", "B")
        new = await stores.memories.add(ME, "C", supersedes=old.id)
        await stores.memories.update(ME, new.id, content="D")
        assert await stores.memory_history.undo_add(ME, new.id)
        assert await listed(stores) == ["B"]
        assert await said(stores, old) == ["B", "A"]
        assert await stores.memories.search(ME, "B") == [await stores.memories.get(ME, old.id)]

    async def test_does_not_tie_what_came_back_to_what_was_hidden(self, stores: Stores) -> None:
        old = await kept(stores, "A")
        new = await stores.memories.add(ME, "B", supersedes=old.id)
        await stores.memory_history.undo_add(ME, new.id)
        newest = await stores.memories.add(ME, "C", supersedes=old.id)
        await stores.memory_removal.erase(ME, new.id)
        assert await said(stores, newest) == ["C", "A"]

    async def test_can_be_undone_itself(self, stores: Stores) -> None:
        memory = await kept(stores, "A")
        await stores.memory_history.undo_add(ME, memory.id)
        assert await stores.memory_removal.undelete(ME, memory.id) == await stores.memories.get(ME, memory.id)
        assert await listed(stores) == ["A"]

    @pytest.mark.parametrize("number", [0, -1, 987654321, 2**70])
    async def test_of_what_is_not_there_is_refused(self, stores: Stores, number: int) -> None:
        assert not await stores.memory_history.undo_add(ME, number)

    async def test_of_someone_elses_is_refused(self, stores: Stores) -> None:
        memory = await kept(stores, "A")
        assert not await stores.memory_history.undo_add(YOU, memory.id)
        assert await listed(stores) == ["A"]


STEP = st.one_of(
    st.tuples(st.just("update"), st.sampled_from("ABC")),
    st.tuples(st.just("undo"), st.just("")),
    st.tuples(st.just("restore"), st.integers(0, 5).map(str)),
)


class TestAnyChain:
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(steps=st.lists(STEP, max_size=12))
    async def test_is_what_a_list_of_texts_would_be(
        self, stores: Stores, steps: list[tuple[str, str]]
    ) -> None:
        memory, model = await kept(stores, "0"), ["0"]
        for step, argument in steps:
            history = await stores.memory_history.list_versions(ME, memory.id)
            match step:
                case "update":
                    await stores.memories.update(ME, memory.id, content=argument)
                    if model[0] != argument:
                        model.insert(0, argument)
                case "undo":
                    now = await stores.memories.get(ME, memory.id)
                    assert now is not None
                    undone = await stores.memory_history.undo_update(ME, memory.id, now.supersedes or 0)
                    assert (undone is not None) == (len(model) > 1)
                    model = model[1:] or model
                case _:
                    if int(argument) < len(history):
                        version = history[int(argument)]
                        assert await stores.memory_history.restore(ME, version.id) is not None
                        if model[0] != version.content:
                            model.insert(0, version.content)
            assert await said(stores, memory) == model

    @pytest.mark.slow
    @settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(pointers=st.lists(st.integers(0, 5), min_size=6, max_size=6), heads=st.integers(1, 6))
    async def test_edited_by_hand_ends(
        self, stores: Stores, database: Database, pointers: list[int], heads: int
    ) -> None:
        await stores.memory_removal.erase_all(ME)
        memories = [await stores.memories.add(ME, str(number)) for number in range(6)]
        status = "UPDATE memories SET status = 'superseded' WHERE id = $1"
        await database.transaction([Statement(status, (memory.id,)) for memory in memories[heads:]], ())
        for memory, pointer in zip(memories, pointers, strict=True):
            await hand_edit(database, memory.id, memories[pointer].id)
        for memory in memories:
            history = await stores.memory_history.list_versions(ME, memory.id)
            assert len({version.id for version in history}) == len(history) < 6
            await stores.memory_history.restore(ME, memory.id)
            await stores.memory_history.undo_update(ME, memory.id, memories[0].id)
            await stores.memory_history.undo_add(ME, memory.id)
            await stores.memory_removal.erase(ME, memory.id)
        assert await listed(stores) == []
