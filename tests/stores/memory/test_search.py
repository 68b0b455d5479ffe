"""Finding memories: by what was written, as it was meant, and only what its user may be shown."""

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from cc_bot.chat.stores.opening import Stores
from cc_bot.domain.message import is_blank
from cc_bot.features.memory.model import MemoryFilter
from cc_bot.features.memory.search.folding import fold
from tests.stores.memory.notes import ME, found, keep


class TestSearch:
    async def test_puts_the_query_as_written_before_all_of_its_words_before_any(self, stores: Stores) -> None:
        await keep(stores, "green tea", "Green Tea, please", "tea that is green", "tea only", "coffee")
        await keep(stores, "my green tea cup", "a kind of tea so green", "my green")
        order = await found(stores, "green tea")
        assert {*order[:3]} == {"green tea", "Green Tea, please", "my green tea cup"}
        assert {*order[3:5]} == {"tea that is green", "a kind of tea so green"}
        assert {*order[5:]} == {"tea only", "my green"}

    async def test_finds_single_characters_and_other_ways_to_write_them(self, stores: Stores) -> None:
        wanted = {query: f"あ{query}い" for query in ("猫", "%", "_", "\\", "'", "?", "$1", "9")} | {
            "ｶﾌｪ": "カフェで会う",
            "abc": "ＡＢＣ銀行",
            "STRASSE": "Straße 5",
            "xyz": "𝐗YZ",
            "き\u3099": "ぎ",
            "(株)": "㈱テスト",
            "東京 大阪": "東京　大阪",
            "ﾊ": "ﾊﾟﾝが好き",
            "ら": "か\u3099らす",
        }
        await keep(stores, *wanted.values(), "何もない")
        assert {query: await found(stores, query) for query in wanted} == {
            query: [content] for query, content in wanted.items()
        }

    async def test_looks_at_tags_and_within_a_category_or_tags(self, stores: Stores) -> None:
        await stores.memories.add(ME, "3月15日", tags=("誕生日", "Family"))
        await stores.memories.add(ME, "茶を買う", category="買い物", tags=("Work", "急ぎ"))
        await stores.memories.add(ME, "茶が好き", category="好み", tags=("work",))
        await stores.memories.add(ME, "別物 work 急ぎ", tags=("workshop", "急ぎ足"))
        assert await found(stores, "誕生日") == await found(stores, "family 3月") == ["3月15日"]
        for category in ("好み", " 好み "):
            assert await found(stores, "茶", filters=MemoryFilter(category=category)) == ["茶が好き"]
        assert await found(stores, "", filters=MemoryFilter(tags=("work", "急ぎ"))) == ["茶を買う"]
        assert await found(stores, "", filters=MemoryFilter(tags=("ＷＯＲＫ",))) == ["茶が好き", "茶を買う"]

    async def test_for_a_public_answer_leaves_out_what_was_made_in_private(self, stores: Stores) -> None:
        await keep(stores, "公開の話")
        await stores.memories.add(ME, "ひみつの話", audience="private")
        for query in ("話", "", " 　"):
            assert await found(stores, query) == ["公開の話"]
            assert await found(stores, query, audience="anywhere") == ["公開の話"]
            assert await found(stores, query, audience="private") == ["ひみつの話", "公開の話"]

    async def test_takes_a_query_of_any_length(self, stores: Stores) -> None:
        await keep(stores, "猫")
        assert await found(stores, " ".join(["犬"] + [f"w{number}" for number in range(5000)])) == []
        assert await found(stores, "猫 " * 100_000) == ["猫"]


class TestPromiseOfLike:
    """A memory that contains the query as written is always found, whatever folding makes of either."""

    @given(st.text(max_size=8), st.text(min_size=1, max_size=6), st.text(max_size=8))
    @example("", "か", "\u3099らす")
    @example("caf", "e", "\u0301")
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    async def test_is_kept(self, stores: Stores, before: str, query: str, after: str) -> None:
        content = (before + query + after).strip()
        assume(not is_blank(query))
        assume(query.strip() in content or fold(query) in fold(content))
        user = abs(hash((before, query, after))) % 2**40 + 1
        memory = await stores.memories.add(user, content)
        found = await stores.memories.find(user, query, limit=1000)
        assert memory in [each.memory for each in found]
