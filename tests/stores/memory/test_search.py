"""Finding memories: by what was written, as it was meant, and only what its user may be shown."""

import asyncio

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cc_bot.domain import Memory
from cc_bot.domain.message import is_blank
from cc_bot.search import fold
from cc_bot.stores import Stores

ME = 123456789012345678


async def remember(stores: Stores, *contents: str) -> list[Memory]:
    return [await stores.memories.add(ME, content) for content in contents]


async def found(stores: Stores, query: str, **filters: object) -> list[str]:
    memories = await stores.memories.search(ME, query, limit=100, **filters)  # type: ignore[arg-type]  # as given
    return [memory.content for memory in memories]


class TestManySearches:
    async def test_of_one_user_hold_up_nobody_else(self, stores: Stores) -> None:
        await remember(stores, "猫が好き")
        done = list[int]()

        async def search(number: int) -> None:
            await stores.memories.search(ME, "猫")
            done.append(number)

        searching = [asyncio.create_task(search(number)) for number in range(30)]
        await asyncio.sleep(0)
        await stores.memories.search(ME + 1, "犬")
        assert len(done) <= 10  # a few at the same time; whoever is held up comes after all thirty
        await asyncio.gather(*searching)


class TestSearch:
    async def test_puts_the_query_as_written_before_all_of_its_words_before_any(self, stores: Stores) -> None:
        await remember(stores, "green tea", "Green Tea, please", "tea that is green", "tea only", "coffee")
        await remember(stores, "my green tea cup", "a kind of tea so green", "my green")
        order = await found(stores, "green tea")
        assert {*order[:3]} == {"green tea", "Green Tea, please", "my green tea cup"}
        assert {*order[3:5]} == {"tea that is green", "a kind of tea so green"}
        assert {*order[5:]} == {"tea only", "my green"}

    @pytest.mark.parametrize("query", ["猫", "%", "_", "\\", "'", "?", "$1", "1"])
    async def test_finds_a_single_character_and_takes_it_as_it_is(self, stores: Stores, query: str) -> None:
        await remember(stores, f"あ{query}い", "何もない")
        assert await found(stores, query) == [f"あ{query}い"]

    @pytest.mark.parametrize(
        ("content", "query"),
        [
            ("カフェで会う", "ｶﾌｪ"),
            ("ＡＢＣ銀行", "abc"),
            ("Straße 5", "STRASSE"),
            ("𝐀BC", "abc"),
            ("が", "か\u3099"),
            ("㈱テスト", "(株)"),
            ("東京　大阪", "東京 大阪"),
        ],
    )
    async def test_finds_other_ways_to_write_the_same(self, stores: Stores, content: str, query: str) -> None:
        await remember(stores, content)
        assert await found(stores, query) == [content]

    async def test_of_nothing_gives_the_newest(self, stores: Stores) -> None:
        await remember(stores, "一", "二", "三")
        assert [memory.content for memory in await stores.memories.search(ME, "  ", limit=2)] == ["三", "二"]

    async def test_gives_no_more_than_asked_for(self, stores: Stores) -> None:
        await remember(stores, *(f"猫{number}" for number in range(10)))
        assert len(await stores.memories.search(ME, "猫")) == 5
        assert len(await stores.memories.search(ME, "猫", limit=3)) == 3
        assert await stores.memories.search(ME, "猫", limit=0) == []
        assert await stores.memories.search(ME, "猫", limit=-1) == []
        assert len(await stores.memories.search(ME, "猫", limit=10**30)) == 10

    async def test_looks_at_tags_too(self, stores: Stores) -> None:
        await stores.memories.add(ME, "3月15日", tags=("誕生日", "Family"))
        await remember(stores, "他のこと")
        assert await found(stores, "誕生日") == ["3月15日"]
        assert await found(stores, "family 3月") == ["3月15日"]

    async def test_within_a_category_finds_that_category_alone(self, stores: Stores) -> None:
        await stores.memories.add(ME, "茶を買う", category="買い物")
        await stores.memories.add(ME, "茶が好き", category="好み")
        assert await found(stores, "茶", category="好み") == ["茶が好き"]
        assert await found(stores, "茶", category=" 好み ") == ["茶が好き"]

    async def test_with_tags_finds_what_carries_all_of_them(self, stores: Stores) -> None:
        await stores.memories.add(ME, "両方", tags=("Work", "急ぎ"))
        await stores.memories.add(ME, "片方", tags=("work",))
        await stores.memories.add(ME, "別物 work 急ぎ", tags=("workshop", "急ぎ足"))
        assert await found(stores, "", tags=("work", "急ぎ")) == ["両方"]
        assert await found(stores, "", tags=("ＷＯＲＫ",)) == ["片方", "両方"]

    @pytest.mark.parametrize("query", ["話", "", " 　"])
    async def test_for_a_public_answer_leaves_out_what_was_made_in_private(
        self, stores: Stores, query: str
    ) -> None:
        await stores.memories.add(ME, "公開の話")
        await stores.memories.add(ME, "ひみつの話", audience="private")
        assert await found(stores, query) == ["公開の話"]
        assert await found(stores, query, audience="anywhere") == ["公開の話"]
        assert await found(stores, query, audience="private") == ["ひみつの話", "公開の話"]

    async def test_takes_a_query_of_any_length(self, stores: Stores) -> None:
        await remember(stores, "猫")
        assert await found(stores, " ".join(["犬"] + [f"w{number}" for number in range(5000)])) == []
        assert await found(stores, "猫 " * 100_000) == ["猫"]

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(content=st.text(min_size=1, max_size=30), bounds=st.tuples(st.integers(0, 30), st.integers(1, 30)))
    async def test_finds_a_memory_by_any_part_of_it(
        self, stores: Stores, content: str, bounds: tuple[int, int]
    ) -> None:
        start, length = bounds
        part = content[start : start + length]
        assume(not is_blank(content) and fold(part) in fold(content.strip()))  # a cut may part a character
        memory = await stores.memories.add(ME, content)
        assert memory in await stores.memories.search(ME, part, limit=1000)


class TestPromiseOfLike:
    """A memory that contains the query as written is always found, whatever folding makes of either."""

    @given(st.text(max_size=8), st.text(min_size=1, max_size=6), st.text(max_size=8))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    async def test_is_kept(self, stores: Stores, before: str, query: str, after: str) -> None:
        assume(not is_blank(query) and query.strip() in (content := (before + query + after).strip()))
        user = abs(hash((before, query, after))) % 2**40 + 1
        memory = await stores.memories.add(user, content)
        found = await stores.memories.search(user, query, limit=1000)
        assert memory.id in {each.id for each in found}

    @pytest.mark.parametrize(
        ("content", "query"),
        [("ﾊﾟﾝが好き", "ﾊ"), ("か\u3099らす", "か"), ("cafe\u0301", "cafe"), ("cafe\u0301", "e")],
    )
    async def test_is_kept_for_parts_of_characters(self, stores: Stores, content: str, query: str) -> None:
        await remember(stores, content)
        assert await found(stores, query) == [content]
