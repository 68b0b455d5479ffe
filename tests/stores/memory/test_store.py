"""Memories: kept, listed, changed, deleted, and never anyone else's."""

from collections.abc import Sequence
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any, Final, get_args

import pytest
from freezegun import freeze_time

from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.domain.errors import SecretNotStored
from cc_bot.features.memory.errors import EmptyMemory, MemoryEditOutdated, MemoryTooLong
from cc_bot.features.memory.files import PortableMemory
from cc_bot.features.memory.model import Memory, MemoryFilter, Order, Source
from cc_bot.features.memory.stores.limits import MAX_CHECKED_CHARACTERS, SecretRules
from tests.databases import laid_out
from tests.stores.backends import OpenStores, got
from tests.stores.memory.notes import ME, NO_IDS, START, YOU, found, keep, listed

SECRET: Final = "パスワードは hunter2"
TOKEN: Final = "_" + "a1B2" * 9
HALF: Final = "\ud83d"
ORDERS: Final[Sequence[Order]] = get_args(Order)


class TestAdding:
    async def test_keeps_what_was_given_over_a_restart(self, open_again: OpenStores) -> None:
        link, end = "https://discord.com/channels/1/2/3", START + timedelta(days=9)
        async with open_again() as stores:
            with freeze_time(START, real_asyncio=True):
                plain = await stores.memories.add(ME, "  猫が好き\n")
                full = await stores.memories.add(
                    ME,
                    f"誕生日は3月\0{HALF}",
                    category=f" 家族{HALF} ",
                    tags=("誕生日", f"a{HALF}", "誕生日"),
                    metadata={f"k{HALF}": f"v{HALF}"},
                    audience="private",
                    source=Source("model", link=link, model=f"m{HALF}"),
                    expires_at=end.astimezone(timezone(timedelta(hours=9))),
                )
                again = (await stores.memories.remember(ME, "x", source=full.source, expires_at=end)).memory
        assert plain == Memory(plain.id, ME, "猫が好き", "general", (), {}, START, START, number=1)
        assert full == Memory(
            *(full.id, ME, "誕生日は3月?", "家族?", ("誕生日", "a?"), {"k?": "v?"}),
            created_at=START,
            updated_at=START,
            audience="private",
            source=Source("model", link=link, model="m?"),
            expires_at=end,
            number=2,
        )
        assert (again.source, again.expires_at) == (full.source, end)
        async with open_again() as stores:
            assert await stores.memories.list(ME) == [again, full, plain]
            assert await stores.memories.get(ME, full.id) == full

    async def test_keeps_no_control_characters_and_cleans_tags_by_whatever_way(self, stores: Stores) -> None:
        odd = "\0\x1b\x7f\x9b\u202e\u2066"
        family = "👨\u200d👩\u200d👧 ❤\ufe0f"
        added = await stores.memories.add(
            ME,
            f"猫{odd}が\t好き\r\n{family}",
            category=f"家{odd}族",
            tags=(f"ペ{odd}ット", odd, " 仕事\n用 ", "仕事 用", "あ" * 3_000),
            metadata={f"k{odd}": f"v{odd}"},
            source=Source("message", link=f"https://example.org/{odd}", author=f"花{odd}"),
        )
        assert (added.content, added.category) == (f"猫が\t好き\n{family}", "家族")
        assert (added.tags, added.metadata) == (("ペット", "仕事 用", "あ" * 50), {"k": "v"})
        assert (added.source.link, added.source.author) == ("https://example.org/", "花")
        change = await stores.memories.remember(ME, f"犬{odd}", tags=(f"a{odd}b",))
        assert (change.memory.content, change.memory.tags) == ("犬", ("ab",))
        changed = got(await stores.memories.update(ME, added.id, content=f"鳥{odd}", category=f"空{odd}"))
        assert (changed.content, changed.category) == ("鳥", "空")
        await stores.memories.import_all(ME, [PortableMemory(f"魚{odd}", tags=(f"海{odd}",))])
        [fish] = await stores.memories.list(ME, limit=1)
        assert (fish.content, fish.tags) == ("魚", ("海",))
        with pytest.raises(EmptyMemory):
            await stores.memories.add(ME, odd)

    async def test_refuses_nothing_and_too_much_also_as_it_unfolds(self, stores: Stores) -> None:
        """It is searched and looked through as ﷺ reads, which is eighteen letters."""
        kept = await keep(stores, "あ" * 4000, "㍿" * 2000)
        for content, error in (
            (" \n ", EmptyMemory),
            ("あ" * 4001, MemoryTooLong),
            ("ﷺ" * 4000, MemoryTooLong),
        ):
            with pytest.raises(error):
                await stores.memories.add(ME, content)
            with pytest.raises(error):
                await stores.memories.update(ME, kept[0].id, content=content)
        assert await stores.memories.list(ME) == kept[::-1]


class TestSecrets:
    async def test_are_refused_wherever_they_stand_and_whatever_hides_them(self, tmp_path: Path) -> None:
        async with open_stores(laid_out(tmp_path / "a.db"), secret_patterns=[r"EMP-\d{6}"]) as stores:
            [kept] = await keep(stores, "猫が好き")
            for content, given in (
                (SECRET, {}),
                ("社員証は emp-123456", {}),
                (f"gh\u202ep{TOKEN}", {}),
                ("猫", {"category": SECRET}),
                ("猫", {"category": f"ghp\0{TOKEN}"}),
                ("猫", {"tags": (SECRET,)}),
                ("猫", {"tags": (f"ghp\x1b{TOKEN}",)}),
                ("猫", {"metadata": {"note": SECRET}}),
            ):
                fields: dict[str, Any] = {**given}
                with pytest.raises(SecretNotStored):
                    await stores.memories.add(ME, content, **fields)
                with pytest.raises(SecretNotStored):
                    await stores.memories.remember(ME, content, **fields)
                with pytest.raises(SecretNotStored):
                    await stores.memories.update(ME, kept.id, content=content, **fields)
            assert await stores.memories.list(ME) == [kept]

    def test_are_suspected_where_a_pattern_runs_away_or_a_text_is_longer_than_any_memory(self) -> None:
        with pytest.raises(SecretNotStored):
            SecretRules(["(a|aa)+$"]).check("a" * 3000 + "!")
        rules = SecretRules(["社外秘"])
        assert rules.contains_secret("あ" * (MAX_CHECKED_CHARACTERS + 1))
        assert rules.contains_secret(*["あ" * 100] * 81)
        assert not rules.contains_secret("あ" * MAX_CHECKED_CHARACTERS)


class TestSuggestions:
    async def test_are_the_one_with_the_number_then_those_with_the_text(self, stores: Stores) -> None:
        digits = "3" * 30
        first, goal, pi, last = await keep(
            stores, "一番目", "2026年の目標", f"円周率は{digits}", "部屋は1号室"
        )
        for user_id, typed, limit, expected in (
            (ME, f"#{first.number}", 25, [first, last]),
            (ME, str(first.number), 1, [first]),
            (ME, "目標", 25, [goal]),
            (ME, digits, 25, [pi]),
            (ME, "9" * 5000, 25, []),
            (ME, " ", 2, [last, pi]),
            (YOU, str(first.number), 25, []),
        ):
            assert await stores.memories.suggest(user_id, typed, limit=limit) == expected, typed


class TestLists:
    async def test_are_paged_forth_and_back(self, stores: Stores) -> None:
        memories = (await keep(stores, *map(str, range(7))))[::-1]
        first = await stores.memories.list(ME, limit=3)
        second = await stores.memories.list(ME, limit=3, before_id=first[-1].id)
        third = await stores.memories.list(ME, limit=3, before_id=second[-1].id)
        assert [*first, *second, *third] == memories
        between = await stores.memories.list(ME, before_id=memories[1].id, after_id=memories[4].id)
        assert between == memories[2:4]

    async def test_counts_and_searches_narrow_down_alike(self, stores: Stores) -> None:
        memories = stores.memories
        await memories.add(ME, "ねこ 一", category="家族", tags=("ペット",))
        await memories.add(ME, "ねこ 二", audience="private", source=Source("command"))
        await memories.add(ME, "ねこ 三", tags=("ペット", "cat"), source=Source("model"))
        await memories.add(ME, "ねこ 四", category="家族", source=Source("command"))
        await memories.delete(ME, (await memories.add(ME, "ねこ 消", tags=("c",))).id)
        await memories.add(YOU, "ねこ 五", category="家族", tags=("ペット", "d"))
        for filters, numbers in (
            (MemoryFilter(), "四三二一"),
            (MemoryFilter(category="家族"), "四一"),
            (MemoryFilter(tags=("ペット",)), "三一"),
            (MemoryFilter(tags=("ﾍﾟｯﾄ", "Cat")), "三"),
            (MemoryFilter(tags=("ペッ",)), ""),
            (MemoryFilter(audience="private"), "二"),
            (MemoryFilter(audience="anywhere"), "四三一"),
            (MemoryFilter(source_kind="model"), "三"),
            (MemoryFilter(source_kind=""), "一"),
            (MemoryFilter(category="家族", source_kind="command"), "四"),
        ):
            expected = [f"ねこ {number}" for number in numbers]
            for order, wanted in zip(ORDERS, (expected, expected[::-1], expected), strict=True):
                listed = await memories.list(ME, filters=filters, order=order)
                assert [each.content for each in listed] == wanted
            assert await memories.count(ME, filters=filters) == len(expected)
            for query in ("ねこ", ""):
                hits = await memories.find(ME, query, limit=9, audience="private", filters=filters)
                assert sorted(each.memory.content for each in hits) == sorted(expected)
        assert [each.content for each in await memories.list(ME, filters=MemoryFilter(category="家族"))] == [
            "ねこ 四",
            "ねこ 一",
        ]
        assert await memories.count(ME, filters=MemoryFilter(category="家族")) == 2
        assert await memories.list_tags(ME) == [("ペット", 2), ("cat", 1)]
        assert await memories.list_tags(ME, limit=1) == [("ペット", 2)]
        assert await memories.list_categories(ME) == [("general", 2), ("家族", 2)]


class TestUpdate:
    async def test_changes_what_is_given_and_nothing_else(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            before = await stores.memories.add(ME, "犬", category="a", tags=("むかし",), metadata={"k": "v"})
            clock.tick(timedelta(hours=1))
            after = await stores.memories.update(ME, before.id, content=" ねこ ")
        assert after is not None
        assert after == Memory(
            *(before.id, ME, "ねこ", "a", ("むかし",), {"k": "v"}, START, START + timedelta(hours=1)),
            supersedes=after.supersedes,
            number=before.number,
        )
        assert await stores.memories.get(ME, before.id) == after
        after = got(
            await stores.memories.update(
                ME, before.id, category="好み", audience="private", metadata={}, tags=("いま",)
            )
        )
        assert (after.content, after.category, after.audience) == ("ねこ", "好み", "private")
        assert (after.tags, after.metadata) == (("いま",), {})
        hits = {
            query: await found(stores, query, audience="private")
            for query in ("ねこ", "いま", "犬", "むかし")
        }
        assert hits == {"ねこ": ["ねこ"], "いま": ["ねこ"], "犬": [], "むかし": []}
        after = got(await stores.memories.update(ME, before.id, tags=()))
        assert after.tags == ()

    async def test_is_made_only_of_what_it_was_made_from(self, stores: Stores) -> None:
        [memory] = await keep(stores, "一")
        await stores.memories.pin(ME, memory.id)
        after = got(await stores.memories.update(ME, memory.id, content="二", expected=memory))
        with pytest.raises(MemoryEditOutdated):
            await stores.memories.update(ME, memory.id, content="三", expected=memory)
        await stores.memories.update(ME, memory.id, audience="private")
        with pytest.raises(MemoryEditOutdated):
            await stores.memories.update(ME, memory.id, content="三", expected=after)
        assert await listed(stores) == ["二"]
        assert len(await stores.memories.list_versions(ME, memory.id)) == 1


class TestDelete:
    async def test_tells_whether_there_was_one_and_its_id_is_never_given_again(self, stores: Stores) -> None:
        [memory] = await keep(stores, "x")
        assert [await stores.memories.delete(ME, memory.id) for _ in range(2)] == [True, False]
        assert await stores.memories.list(ME) == []
        await stores.memory_removal.erase(ME, memory.id)
        [later] = await keep(stores, "y")
        assert later.id > memory.id
        for number in NO_IDS:
            assert await stores.memories.delete(ME, number) is False
            assert await stores.memories.get(ME, number) is None
            assert await stores.memories.update(ME, number, content="z") is None


class TestIsolation:
    async def test_another_users_memory_cant_be_reached_even_by_id(self, stores: Stores) -> None:
        mine = await stores.memories.add(ME, "ひみつの話", category="c", tags=("t",))
        assert await stores.memories.get(YOU, mine.id) is None
        assert await stores.memories.get_by_number(YOU, mine.number) is None
        assert await stores.memories.find(YOU, "ひみつ") == []
        assert await stores.memories.find(YOU, "", filters=MemoryFilter(tags=("t",))) == []
        assert await stores.memories.list(YOU) == []
        assert await stores.memories.list(YOU, before_id=mine.id + 1) == []
        assert await stores.memories.list(YOU, after_id=mine.id - 1) == []
        assert await stores.memories.count(YOU, filters=MemoryFilter(category="c")) == 0
        assert await stores.memories.update(YOU, mine.id, content="変えた") is None
        assert await stores.memories.delete(YOU, mine.id) is False
        assert await stores.memories.list(ME) == [mine]
