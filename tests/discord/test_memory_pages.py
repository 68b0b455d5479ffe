"""Memories as Discord shows them: lists, one with all that is known of it, and what was used."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import hikari
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages import memory as pages
from cc_bot.discord.pages.memory import PAGE_SIZE, EphemeralView
from cc_bot.domain import FoundMemory, Locale, Memory, Source
from cc_bot.texts import texts
from tests.discord.mentioned import mentioned

JA = texts(Locale.JA)
WHEN = datetime(2026, 3, 15, tzinfo=UTC)
NOW = WHEN + timedelta(days=1)
LINK = "https://discord.com/channels/1/2/3"


def memory(content: str = "猫の名前はタマ", **given: Any) -> Memory:
    return replace(Memory(12, 1, content, "general", (), {}, WHEN, WHEN, number=12), **given)


def listed(*memories: Memory, confidence: float = 1.0) -> str:
    page = pages.ListPage("題", [FoundMemory(each, confidence) for each in memories])
    return pages.memory_list(page, JA, NOW).description or ""


def embed_of(view: EphemeralView) -> hikari.Embed:
    assert view.embed is not None
    return view.embed


def fits(view: EphemeralView) -> bool:
    embed = embed_of(view)
    fields = sum(len(field.name) + len(field.value) for field in embed.fields)
    whole = len(embed.title or "") + len(embed.description or "") + fields
    values = all(len(field.value) <= 1024 for field in embed.fields)
    return len(embed.description or "") <= 4096 and values and whole <= 6000


class TestList:
    def test_tells_number_text_category_tags_and_date(self) -> None:
        text = listed(memory(category="家族", tags=("誕生日", "大事")))
        assert text == "**#12** 猫の名前はタマ\n-# 家族 ・ #誕生日 #大事 ・ <t:1773532800:d>"
        for shown, part in (
            (listed(memory("**太字** <@123> ||秘密||\u202e")), r"\*\*太字\*\* \<@123\> \|\|秘密\|\|"),
            (listed(memory(audience="private")), "**#12** 🔒 猫"),
            (listed(memory(expires_at=NOW + timedelta(days=1))), "⌛ <t:1773705599:d> まで"),
            (listed(memory(expires_at=NOW)), "⌛ 期限切れ"),
            (listed(memory(), confidence=0.3), "-# たぶん ・ 一般"),
        ):
            assert part in shown
            assert "\u202e" not in shown
        assert not any(mark in listed(memory(), confidence=0.9) for mark in ("たぶん", "🔒", "⌛"))
        oldest, changed = (
            pages.memory_list(page, JA, NOW).footer
            for page in (pages.ListPage("題", [], order="oldest"), pages.ListPage("題", [], order="updated"))
        )
        assert oldest
        assert changed
        assert (oldest.text, changed.text) == (JA.memory.oldest_first, JA.memory.changed_first)

    @given(st.lists(st.text(min_size=1, max_size=4000), min_size=1, max_size=PAGE_SIZE))
    def test_and_its_menu_fit_whatever_is_remembered(self, contents: list[str]) -> None:
        memories = [memory(content, id=number) for number, content in enumerate(contents, 1)]
        assert len(listed(*memories)) <= 4096
        options = pages.open_menu([FoundMemory(each, 1.0) for each in memories], "open:1", JA).options
        assert [int(option.value) for option in options] == list(range(1, len(contents) + 1))
        assert all(1 <= len(option.label) <= 100 for option in options)
        assert all(1 <= len(pages.choice_name(each)) <= 100 for each in memories)


class TestCard:
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
        assert fits(pages.memory_card(kept, [kept] * 30, JA, NOW))

    def test_of_the_longest_memory_fits_with_all_of_it_and_so_does_what_was_done_to_it(self) -> None:
        long: dict[str, Any] = {"category": "*" * 50, "tags": ("*" * 400,) * 20}
        kept = memory("あ" * 4000, source=Source("message", LINK), **long)
        view = pages.memory_card(kept, [memory("*" * 4000)] * 30, JA, NOW)
        assert "あ" * 4000 in (embed_of(view).description or "")
        history = "".join(field.value for field in embed_of(view).fields)
        assert JA.memory_card.more_former.format(count=30 - pages.FORMER_SHOWN) in history
        assert fits(view)
        assert embed_of(pages.memory_card(memory("*猫*"), [], JA, NOW)).description == "\\*猫\\*"
        after = memory("*" * 4000, expires_at=NOW, supersedes=2, **long)
        assert len(pages.edited_view(after, memory("_" * 4000), JA).content) <= 2000
        assert len(pages.forgotten_view(memory("あ" * 4000), JA, NOW).content) <= 2000


@given(st.text(st.characters(exclude_characters="\\"), max_size=4000))
def test_what_can_not_be_kept_is_given_back_whole(entered: str) -> None:
    view = pages.refused_view("だめでした。", entered, JA)
    shown = (view.embed.description or "") if view.embed else ""
    assert len(shown) <= 4096
    assert not entered.strip() or shown.replace("\\", "") == entered


@pytest.mark.parametrize("locale", list(Locale))
def test_used_memories_are_all_there_where_they_fit_and_else_counted(locale: Locale) -> None:
    words, source = mentioned(locale), Source("model", link=LINK.replace("1/2/3", "1/2/3" * 9), model="model")
    few = [memory("猫の名前は*モチ*", id=number, number=number) for number in range(1, 6)]
    assert pages.used_list(few, words).count("猫の名前は\\*モチ\\*") == 5
    many = [memory("[*]" * 1000, id=number, number=number, source=source) for number in range(1, 21)]
    told = pages.used_list(many, words)
    shown = told.count("**#")
    assert (len(told) <= pages.LIMIT, 5 < shown < 20) == (True, True)
    assert words.receipt.more.format(count=20 - shown) in told
