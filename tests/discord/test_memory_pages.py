"""Memories as Discord shows them: lists, one with all that is known of it, and what was used."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.chat.reply import Reply
from cc_bot.discord.pages.page import ITEMS_PER_PAGE, EphemeralView, reply_view
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.text import Locale
from cc_bot.features.memory import views as pages
from cc_bot.features.memory.model import FoundMemory, Memory, Source
from cc_bot.features.memory.service import build_hidden_reply, build_item
from cc_bot.features.memory.stores.removal import HiddenMemory
from cc_bot.features.memory.texts import MemoryCardTexts, MemoryTexts, ReceiptTexts
from cc_bot.texts import texts
from tests.discord.mentioned import mentioned
from tests.loopback.discord.limits import check_components

JA = texts(Locale.JA)
WHEN = datetime(2026, 3, 15, tzinfo=UTC)
NOW = WHEN + timedelta(days=1)
READER = Recipient(1, Locale.JA, ZoneInfo("Asia/Tokyo"), JA)
LINK = "https://discord.com/channels/1/2/3"


def memory(content: str = "猫の名前はタマ", **given: Any) -> Memory:
    return replace(Memory(12, 1, content, "general", (), {}, WHEN, WHEN, number=12), **given)


def entry(*, confidence: float = 1.0, **given: Any) -> tuple[str, ...]:
    item = build_item(FoundMemory(memory(**given), confidence), READER, lambda: NOW)
    return *filter(None, item.labels), *item.details


def card_text(view: EphemeralView) -> str:
    """All text of a card. Raises Refusal if Discord would not take it."""
    check_components([dict(component.build()[0]) for component in view.components], v2=True)
    return "\n".join(each.text for each in view.paragraphs)


class TestList:
    def test_tells_category_tags_date_and_marks(self) -> None:
        assert entry(category="*家族*", tags=("誕生日", "大事")) == (
            *("\\*家族\\*", "#誕生日 #大事", "3月15日"),
        )
        assert entry(audience="private", pinned=True)[0] == "📌🔒"
        assert entry(expires_at=NOW + timedelta(days=1))[-1] == JA[MemoryTexts].until.format(date="3月17日")
        assert entry(expires_at=NOW)[-1] == JA[MemoryTexts].expired
        assert entry(confidence=0.3)[0] == JA[MemoryTexts].unsure

    @given(st.lists(st.text(min_size=1, max_size=4000), min_size=1, max_size=ITEMS_PER_PAGE))
    def test_fits_a_card_whatever_is_remembered(self, contents: list[str]) -> None:
        long: dict[str, Any] = {"category": "*" * 50, "tags": ("*" * 400,) * 20, "expires_at": NOW}
        found = [FoundMemory(memory(each, audience="private", **long), 0.1) for each in contents]
        items = tuple(build_item(each, READER, lambda: NOW) for each in found)
        reply = Reply(title="題", items=items, notes=(JA[MemoryTexts].private_mark,), pages=1)
        assert card_text(reply_view(reply, READER))
        assert all(1 <= len(pages.format_choice(each)) <= 100 for each in items)


class TestCard:
    @given(
        st.text(min_size=1, max_size=4000),
        st.text(min_size=1, max_size=50),
        st.lists(st.text(min_size=1, max_size=400), max_size=20),
        st.text(max_size=2000),
    )
    def test_fits_a_card_whatever_is_remembered(
        self, content: str, category: str, tags: list[str], author: str
    ) -> None:
        source = Source("message", LINK * 20, author=author)
        kept = memory(content, category=category, tags=tuple(tags), source=source)
        versions = [replace(kept, id=each) for each in range(30)]
        assert card_text(pages.build_card(kept, versions, READER, lambda: NOW))

    def test_of_the_longest_memory_fits_with_all_of_it_and_so_does_what_was_done_to_it(self) -> None:
        long: dict[str, Any] = {"category": "*" * 50, "tags": ("*" * 400,) * 20}
        kept = memory("あ" * 4000, source=Source("message", LINK), **long)
        versions = [memory("*" * 4000, id=each) for each in range(30)]
        view = pages.build_card(kept, versions, READER, lambda: NOW)
        assert view.attachment is not None
        assert view.attachment.data == ("あ" * 4000).encode()
        assert JA[MemoryCardTexts].more_former.format(count=30 - pages.MAX_VERSIONS) in card_text(view)
        short = pages.build_card(memory("*猫*"), [], READER, lambda: NOW)
        assert (short.paragraphs[0].text, short.attachment) == ("\\*猫\\*", None)
        after = memory("*" * 4000, expires_at=NOW, supersedes=2, **long)
        assert len(pages.build_edited_view(after, memory("_" * 4000), JA).content) <= 2000
        hidden = build_hidden_reply(HiddenMemory(memory("*" * 4000), NOW), READER)
        assert len(reply_view(hidden, READER).content) <= 2000


@given(st.text(st.characters(exclude_characters="\\", codec="utf-8"), max_size=4000))
def test_what_can_not_be_kept_is_given_back_whole(entered: str) -> None:
    view = pages.build_refused_view("だめでした。", entered, JA)
    shown = card_text(view) if view.paragraphs else ""
    given_back = view.attachment.data if view.attachment else shown.replace("\\", "").encode()
    assert not entered.strip() or given_back == entered.encode()


@pytest.mark.parametrize("locale", list(Locale))
def test_used_memories_are_all_there_where_they_fit_and_else_counted(locale: Locale) -> None:
    words, source = mentioned(locale), Source("model", link=LINK.replace("1/2/3", "1/2/3" * 9), model="model")
    few = [memory("猫の名前は*モチ*", id=number, number=number) for number in range(1, 6)]
    assert pages.format_used_memories(few, words).count("猫の名前は\\*モチ\\*") == 5
    many = [memory("[*]" * 1000, id=number, number=number, source=source) for number in range(1, 21)]
    told = pages.format_used_memories(many, words)
    shown = told.count("**#")
    assert (len(told) <= pages.MAX_MESSAGE_CHARACTERS, 5 < shown < 20) == (True, True)
    assert words[ReceiptTexts].more.format(count=20 - shown) in told
