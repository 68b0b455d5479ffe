"""Memories as Discord shows them: lists, one with all that is known of it, numbers, and what was used."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import hikari
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.memory import (
    BARS,
    LIMIT,
    PAGE_SIZE,
    EphemeralView,
    ListPage,
    choice_name,
    edited_view,
    excerpt,
    forgotten_view,
    memory_card,
    memory_list,
    open_menu,
    refused_view,
    statistics_view,
    used_list,
)
from cc_bot.domain import FoundMemory, Locale, Memory, Source
from cc_bot.domain.memory import MemoryStatistics, SourceKind
from cc_bot.texts import texts
from tests.discord.cases import check
from tests.discord.mentioned import mentioned

JA = texts(Locale.JA)
WHEN = datetime(2026, 3, 15, tzinfo=UTC)
NOW = WHEN + timedelta(days=1)
LINK = "https://discord.com/channels/1/2/3"


def memory(content: str = "猫の名前はタマ", **given: Any) -> Memory:
    return replace(Memory(12, 1, content, "general", (), {}, WHEN, WHEN, number=12), **given)


def listed(*memories: Memory, confidence: float = 1.0) -> str:
    page = ListPage("題", [FoundMemory(each, confidence) for each in memories])
    return memory_list(page, JA, NOW).description or ""


def footer(**given: Any) -> str:
    found = memory_list(replace(ListPage("題", [FoundMemory(memory(), 1.0)]), **given), JA, NOW).footer
    return found.text or "" if found else ""


def embed_of(view: EphemeralView) -> hikari.Embed:
    assert view.embed is not None
    return view.embed


def read(view: EphemeralView) -> str:
    """All that stands in an embed."""
    embed = embed_of(view)
    fields = (f"{field.name}: {field.value}" for field in embed.fields)
    return "\n".join((embed.title or "", embed.description or "", *fields))


def fits(view: EphemeralView) -> bool:
    embed = embed_of(view)
    fields = sum(len(field.name) + len(field.value) for field in embed.fields)
    whole = len(embed.title or "") + len(embed.description or "") + fields
    return (
        len(embed.description or "") <= 4096
        and all(len(field.value) <= 1024 for field in embed.fields)
        and whole <= 6000
    )


class TestList:
    def test_tells_number_text_category_tags_and_date(self) -> None:
        text = listed(memory(category="家族", tags=("誕生日", "大事")))
        assert text == "**#12** 猫の名前はタマ\n-# 家族 ・ #誕生日 #大事 ・ <t:1773532800:d>"
        tomorrow = NOW + timedelta(days=1)
        for shown, part in (
            (listed(memory()), JA.memory.general),
            (listed(memory("**太字** <@123> ||秘密||")), r"\*\*太字\*\* \<@123\> \|\|秘密\|\|"),
            (listed(memory(audience="private")), "**#12** 🔒 猫"),
            (listed(memory(expires_at=tomorrow)), "⌛ <t:1773705599:d> まで"),
            (listed(memory(expires_at=NOW)), "⌛ 期限切れ"),
            (listed(memory(), confidence=0.3), "-# たぶん ・ 一般"),
        ):
            assert part in shown
        assert not any(mark in listed(memory(), confidence=0.9) for mark in ("たぶん", "🔒", "⌛"))

    def test_of_the_longest_memories_shows_as_much_of_each_as_fits_an_embed(self) -> None:
        long = {"category": "*" * 50, "tags": ("*" * 40,) * 20, "expires_at": NOW + timedelta(days=1)}
        longest = memory("*" * 4000, id=10**12, audience="private", **long)
        text = listed(*[longest] * PAGE_SIZE, confidence=0.1)
        assert len(text) <= 4096
        assert text.count("**#") == PAGE_SIZE == 10
        assert listed(*[memory("あ" * 200)] * PAGE_SIZE).count("あ" * 159 + "…") == PAGE_SIZE
        assert listed(*[memory("*" * 200)] * PAGE_SIZE).count(r"\*" * 119 + "…") == PAGE_SIZE
        assert listed(memory("一行目\n二行目" + "あ" * 4000)).startswith("**#12** 一行目 二行目あああ")

    def test_has_a_footer_where_there_is_something_to_tell(self) -> None:
        check(
            (footer(), ""),
            (footer(page=2, pages=3), JA.memory.page.format(page=2, pages=3)),
            (footer(order="updated"), JA.memory.changed_first),
            ("🔒" in footer(found=[FoundMemory(memory(audience="private"), 1.0)]), True),
        )

    @given(st.lists(st.text(min_size=1, max_size=4000), min_size=1, max_size=PAGE_SIZE))
    def test_and_its_menu_fit_whatever_is_remembered(self, contents: list[str]) -> None:
        memories = [memory(content, id=number) for number, content in enumerate(contents, 1)]
        assert len(listed(*memories)) <= 4096
        options = open_menu([FoundMemory(each, 1.0) for each in memories], "open:1", JA).options
        assert [int(option.value) for option in options] == list(range(1, len(contents) + 1))
        assert all(1 <= len(option.label) <= 100 for option in options)
        assert all(1 <= len(choice_name(each)) <= 100 for each in memories)


class TestQuotedMemory:
    def test_is_told_as_it_was_written_in_its_direction(self) -> None:
        check(
            (
                excerpt("[銀行](http://example.com)\n**猫**"),
                "\\[銀行\\](http://example.com) \\*\\*猫\\*\\*",
            ),
            (excerpt("\u202e猫\u2066"), "猫"),
        )


class TestCard:
    @pytest.mark.parametrize("kind", get_args(SourceKind))
    def test_tells_why_it_is_known_whatever_its_source(self, kind: SourceKind) -> None:
        text = read(memory_card(memory(source=Source(kind)), (), JA, NOW))
        assert f"{JA.memory_card.why}: " in text
        assert "{" not in text

    def test_has_a_menu_of_what_it_said_before(self) -> None:
        former = [memory(f"前の名前{number}", id=number) for number in range(30, 0, -1)]
        view = memory_card(memory(), former, JA, NOW)
        assert view.menu is not None
        assert (len(view.menu.options), view.menu.options[0].label) == (25, "前の名前30")
        assert "ほか26件" in read(view)
        same_text = memory_card(memory(), [memory(id=5, category="猫", tags=("ペット",))], JA, NOW)
        assert same_text.menu is not None
        assert same_text.menu.options[0].label == "猫 #ペット"

    @given(
        st.text(min_size=1, max_size=4000),
        st.text(min_size=1, max_size=50),
        st.lists(st.text(min_size=1, max_size=400), max_size=20),
        st.text(max_size=2000),
    )
    def test_fits_an_embed_whatever_is_remembered(
        self, content: str, category: str, tags: list[str], author: str
    ) -> None:
        source = Source("message", LINK * 20, author=author)
        kept = memory(content, category=category, tags=tuple(tags), source=source)
        assert fits(memory_card(kept, [kept] * 30, JA, NOW))

    def test_of_the_longest_memory_fits_with_all_of_it(self) -> None:
        kept = memory("あ" * 4000, category="*" * 50, tags=("*" * 400,) * 20, source=Source("message", LINK))
        view = memory_card(kept, [memory("*" * 4000)] * 30, JA, NOW)
        assert "あ" * 4000 in (embed_of(view).description or "")
        assert fits(view)


class TestWhatWasDone:
    def test_fits_a_message_however_long_the_texts_are(self) -> None:
        after = memory("*" * 4000, category="*" * 50, tags=("*" * 400,) * 20, expires_at=NOW, supersedes=2)
        before = memory("_" * 4000, category="_" * 50, tags=("_" * 400,) * 20)
        assert len(edited_view(after, before, JA).content) <= 2000
        assert len(forgotten_view(memory("あ" * 4000), JA, NOW).content) <= 2000

    @given(st.text(st.characters(exclude_characters="\\"), max_size=4000))
    def test_not_gives_everything_back_that_was_entered(self, entered: str) -> None:
        view = refused_view("だめでした。", entered, JA)
        shown = (view.embed.description or "") if view.embed else ""
        assert len(shown) <= 4096
        assert not entered.strip() or shown.replace("\\", "") == entered


def kept(*counts: int, name: str = "分類") -> MemoryStatistics:
    categories = tuple((f"{name}{place}", count) for place, count in enumerate(counts))
    sources: tuple[tuple[SourceKind, int], ...] = (("command", sum(counts)), ("", 1))
    return MemoryStatistics(
        sum(counts), 1, 0, oldest=WHEN, newest=WHEN, categories=categories, sources=sources
    )


class TestStatistics:
    def test_name_every_source_and_the_smallest_categories_in_one_line_and_fit(self) -> None:
        sources = tuple((kind, 1) for kind in get_args(SourceKind))
        many = replace(kept(*range(20, 0, -1)), sources=sources)
        categories, told = embed_of(statistics_view(many, JA, paused=False)).fields[:2]
        lines = categories.value.splitlines()
        assert (len(lines), lines[-1]) == (BARS + 1, "ほか12カテゴリ 78件")
        assert told.value.count("1件") == len(sources)
        assert fits(statistics_view(kept(*range(20, 0, -1), name="*" * 48), JA, paused=True))


@pytest.mark.parametrize("locale", list(Locale))
def test_used_memories_are_all_there_where_they_fit_and_else_counted(locale: Locale) -> None:
    words, source = mentioned(locale), Source("model", link=LINK.replace("1/2/3", "1/2/3" * 9), model="model")
    few = [memory("猫の名前は*モチ*", id=number, number=number) for number in range(1, 6)]
    assert used_list(few, words).count("猫の名前は\\*モチ\\*") == 5
    many = [memory("[*]" * 1000, id=number, number=number, source=source) for number in range(1, 21)]
    told = used_list(many, words)
    shown = told.count("**#")
    assert len(told) <= LIMIT
    assert 5 < shown < 20
    assert words.receipt.more.format(count=20 - shown) in told
