"""Memories: kept, found again, changed, deleted, and never anyone else's."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from freezegun import freeze_time

from cc_bot.domain import Memory
from cc_bot.domain.errors import EmptyMemory, MemoryTooLong, SecretNotStored
from cc_bot.domain.memory import Source
from cc_bot.domain.memory_transfer import PortableMemory
from cc_bot.stores import Stores
from tests.stores.backends import OpenStores

ME, YOU = 123456789012345678, 876543210987654321
START = datetime(2026, 11, 22, 3, 4, 5, 678901, tzinfo=UTC)


async def remember(stores: Stores, *contents: str) -> list[Memory]:
    return [await stores.memories.add(ME, content) for content in contents]


async def found(stores: Stores, query: str, **filters: object) -> list[str]:
    memories = await stores.memories.search(ME, query, limit=100, **filters)  # type: ignore[arg-type]  # as given
    return [memory.content for memory in memories]


class TestAdding:
    async def test_keeps_everything_that_was_given(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True):
            memory = await stores.memories.add(
                ME,
                "誕生日は3月15日",
                category="家族",
                tags=("誕生日", "birthday"),
                metadata={"link": "https://discord.com/channels/1/2/3"},
                audience="private",
            )
        assert memory == Memory(
            id=memory.id,
            user_id=ME,
            content="誕生日は3月15日",
            category="家族",
            tags=("誕生日", "birthday"),
            metadata={"link": "https://discord.com/channels/1/2/3"},
            created_at=START,
            updated_at=START,
            audience="private",
            number=1,
        )
        assert await stores.memories.get(ME, memory.id) == memory

    async def test_gives_the_memory_as_it_is_stored(self, stores: Stores) -> None:
        half = "\ud83d"  # of an emoji: it has no UTF-8
        memory = await stores.memories.add(
            ME,
            f" 猫\0{half}\n",
            category=f" 家族{half} ",
            tags=(f"a{half}", "猫", "猫"),
            metadata={f"k{half}": f"v{half}"},
            source=Source("model", link="https://example.org", model=f"m{half}"),
            expires_at=START.astimezone(timezone(timedelta(hours=9))),
            created_at=START,
        )
        assert memory.content == "猫?"
        assert await stores.memories.get(ME, memory.id) == memory

    async def test_keeps_no_control_characters_wherever_they_stand(self, stores: Stores) -> None:
        odd = "\0\x1b\x7f\x9b\u202e\u2066"
        family = "👨\u200d👩\u200d👧 ❤\ufe0f"
        added = await stores.memories.add(
            ME,
            f"猫{odd}が\t好き\r\n{family}",
            category=f"家{odd}族",
            tags=(f"ペ{odd}ット", odd),
            metadata={f"k{odd}": f"v{odd}"},
            source=Source("message", link=f"https://example.org/{odd}", author=f"花{odd}"),
        )
        assert added.content == f"猫が\t好き\n{family}"
        assert (added.category, added.tags, added.metadata) == ("家族", ("ペット",), {"k": "v"})
        assert (added.source.link, added.source.author) == ("https://example.org/", "花")
        change = await stores.memories.remember(ME, f"犬{odd}", tags=(f"a{odd}b",))
        assert (change.memory.content, change.memory.tags) == ("犬", ("ab",))
        changed = await stores.memories.update(ME, added.id, content=f"鳥{odd}", category=f"空{odd}")
        assert changed
        assert (changed.content, changed.category) == ("鳥", "空")
        await stores.memory_transfer.take(ME, [PortableMemory(f"魚{odd}", tags=(f"海{odd}",))])
        [fish] = await stores.memories.list(ME, limit=1)
        assert (fish.content, fish.tags) == ("魚", ("海",))
        with pytest.raises(EmptyMemory):
            await stores.memories.add(ME, odd)

    async def test_hides_no_secret_behind_control_characters(self, stores: Stores) -> None:
        for given in ({"category": "ghp\0_" + "a1B2" * 9}, {"tags": ["ghp_\x1b" + "a1B2" * 9]}):
            with pytest.raises(SecretNotStored):
                await stores.memories.add(ME, "猫", **given)
        with pytest.raises(SecretNotStored):
            await stores.memories.add(ME, "gh\u202ep_" + "a1B2" * 9)

    async def test_needs_no_more_than_a_text(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "  猫が好き\n")
        assert (memory.content, memory.category, memory.tags, memory.metadata, memory.audience) == (
            "猫が好き",
            "general",
            (),
            {},
            "anywhere",
        )

    async def test_cuts_tags_that_are_no_tags(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "猫が好き", tags=("あ" * 3_000, "猫"))
        assert memory.tags == ("あ" * 50, "猫")

    async def test_survives_a_restart(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            [memory] = await remember(stores, "3月15日")
        async with open_again() as stores:
            assert await stores.memories.list(ME) == [memory]

    async def test_refuses_nothing_and_too_much(self, stores: Stores) -> None:
        with pytest.raises(EmptyMemory):
            await stores.memories.add(ME, " \n ")
        with pytest.raises(MemoryTooLong):
            await stores.memories.add(ME, "あ" * 4001)
        await stores.memories.add(ME, "あ" * 4000)
        assert await stores.memories.count(ME) == 1

    async def test_counts_letters_that_unfold(self, stores: Stores) -> None:
        """It is searched and looked through as ﷺ reads, which is eighteen letters."""
        with pytest.raises(MemoryTooLong):
            await stores.memories.add(ME, "ﷺ" * 4000)
        await stores.memories.add(ME, "㍿" * 2000)
        assert await stores.memories.count(ME) == 1

    async def test_measures_what_it_is_given_before_it_looks_through_it(self, stores: Stores) -> None:
        """Else what is long enough holds everybody up, and is refused afterwards."""
        secret = "パスワードは hunter2"
        kept = await stores.memories.add(ME, "猫")
        for tags, category in (([secret] * 300, "general"), ((), secret * 300), (["  "] * 5000, "general")):
            with pytest.raises(MemoryTooLong):
                await stores.memories.add(ME, "猫", tags=tags, category=category)
            with pytest.raises(MemoryTooLong):
                await stores.memories.remember(ME, "猫", tags=tags, category=category)
            with pytest.raises(MemoryTooLong):
                await stores.memories.update(ME, kept.id, tags=tags, category=category)
        with pytest.raises(MemoryTooLong):
            await stores.memories.add(ME, "猫", metadata={secret: secret * 300})
        with pytest.raises(MemoryTooLong):
            await stores.memories.add(ME, secret * 1000)
        assert await stores.memories.list(ME) == [kept]

    async def test_cleans_tags_of_white_space_and_repetition(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "x", tags=(" 仕事\n用 ", "仕事 用", "", "b"))
        assert memory.tags == ("仕事 用", "b")

    async def test_never_gives_an_id_twice(self, stores: Stores) -> None:
        [first] = await remember(stores, "一")
        await stores.memories.delete(ME, first.id)
        [second] = await remember(stores, "二")
        assert second.id > first.id


class TestMatching:
    async def test_puts_the_one_with_the_number_before_those_with_the_text(self, stores: Stores) -> None:
        first, *_, last = await remember(stores, "一番目", "2026年の目標", "部屋は1号室")
        assert await stores.memories.suggest(ME, f"#{first.id}") == [first, last]
        assert await stores.memories.suggest(ME, str(first.id), limit=1) == [first]
        assert await stores.memories.suggest(ME, "目標") != [first]

    async def test_takes_a_number_that_none_has_for_text(self, stores: Stores) -> None:
        [pi] = await remember(stores, f"円周率は{'3' * 30}")
        assert await stores.memories.suggest(ME, "3" * 30) == [pi]
        assert await stores.memories.suggest(ME, "9" * 5000) == []

    async def test_is_the_newest_where_nothing_is_typed(self, stores: Stores) -> None:
        memories = await remember(stores, "一", "二", "三")
        assert await stores.memories.suggest(ME, " ", limit=2) == [memories[2], memories[1]]

    async def test_is_never_someone_elses(self, stores: Stores) -> None:
        [mine] = await remember(stores, "わたしの秘密")
        assert await stores.memories.suggest(YOU, str(mine.id)) == []


class TestList:
    async def test_is_newest_first(self, stores: Stores) -> None:
        memories = await remember(stores, "一", "二", "三")
        assert await stores.memories.list(ME) == memories[::-1]

    async def test_is_paged_forth_and_back(self, stores: Stores) -> None:
        memories = (await remember(stores, *(f"{number}" for number in range(7))))[::-1]
        first = await stores.memories.list(ME, limit=3)
        second = await stores.memories.list(ME, limit=3, before_id=first[-1].id)
        third = await stores.memories.list(ME, limit=3, before_id=second[-1].id)
        assert [*first, *second, *third] == memories
        assert await stores.memories.list(ME, limit=3, after_id=third[0].id) == second
        assert await stores.memories.list(ME, limit=3, after_id=second[0].id) == first
        assert await stores.memories.list(ME, limit=3, after_id=first[0].id) == []
        between = await stores.memories.list(ME, before_id=memories[1].id, after_id=memories[4].id)
        assert between == memories[2:4]

    async def test_of_a_category_has_that_category_alone(self, stores: Stores) -> None:
        await remember(stores, "一")
        tea = await stores.memories.add(ME, "茶", category="好み")
        assert await stores.memories.list(ME, category="好み") == [tea]
        assert await stores.memories.count(ME, category="好み") == 1
        assert await stores.memories.count(ME) == 2


class TestUpdate:
    async def test_changes_what_is_given_and_nothing_else(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            before = await stores.memories.add(ME, "古い", category="a", tags=("t",), metadata={"k": "v"})
            clock.tick(timedelta(hours=1))
            after = await stores.memories.update(ME, before.id, content=" 新しい ")
        assert after is not None
        assert after == Memory(
            *(before.id, ME, "新しい", "a", ("t",), {"k": "v"}, START, START + timedelta(hours=1)),
            supersedes=after.supersedes,
            number=before.number,
        )
        assert await stores.memories.get(ME, before.id) == after

    async def test_can_change_the_category_and_the_audience(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "x")
        after = await stores.memories.update(ME, memory.id, category="好み", audience="private")
        assert after is not None
        assert (after.content, after.category, after.audience) == ("x", "好み", "private")

    async def test_can_empty_tags_and_metadata(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "x", tags=("t",), metadata={"k": "v"})
        after = await stores.memories.update(ME, memory.id, tags=(), metadata={})
        assert after is not None
        assert (after.tags, after.metadata) == ((), {})

    async def test_is_found_under_its_new_words_and_no_longer_under_the_old(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "犬", tags=("むかし",))
        await stores.memories.update(ME, memory.id, content="ねこ", tags=("いま",))
        assert await found(stores, "ねこ") == ["ねこ"]
        assert await found(stores, "いま") == ["ねこ"]
        assert await found(stores, "犬") == []
        assert await found(stores, "むかし") == []

    async def test_refuses_nothing(self, stores: Stores) -> None:
        [memory] = await remember(stores, "x")
        with pytest.raises(EmptyMemory):
            await stores.memories.update(ME, memory.id, content="  ")

    async def test_of_what_is_not_there_is_none(self, stores: Stores) -> None:
        assert await stores.memories.update(ME, 1, content="x") is None


class TestDelete:
    async def test_tells_whether_there_was_one(self, stores: Stores) -> None:
        [memory] = await remember(stores, "x")
        assert await stores.memories.delete(ME, memory.id) is True
        assert await stores.memories.delete(ME, memory.id) is False
        assert await stores.memories.list(ME) == []

    @pytest.mark.parametrize("number", [0, -1, 10**30, -(10**30)])
    async def test_of_a_number_that_no_memory_can_have_is_no_error(self, stores: Stores, number: int) -> None:
        assert await stores.memories.delete(ME, number) is False
        assert await stores.memories.get(ME, number) is None


class TestIsolation:
    async def test_another_users_memory_cant_be_read_changed_or_deleted_even_by_id(
        self, stores: Stores
    ) -> None:
        mine = await stores.memories.add(ME, "ひみつの話", category="c", tags=("t",))
        assert await stores.memories.get(YOU, mine.id) is None
        assert await stores.memories.search(YOU, "ひみつ") == []
        assert await stores.memories.search(YOU, "", tags=("t",)) == []
        assert await stores.memories.list(YOU) == []
        assert await stores.memories.list(YOU, before_id=mine.id + 1) == []
        assert await stores.memories.list(YOU, after_id=mine.id - 1) == []
        assert await stores.memories.count(YOU, category="c") == 0
        assert await stores.memories.update(YOU, mine.id, content="変えた") is None
        assert await stores.memories.delete(YOU, mine.id) is False
        assert await stores.memories.list(ME) == [mine]
