"""Memories as Discord shows them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.memory import (
    PAGE_SIZE,
    ListPage,
    choice_name,
    excerpt,
    memory_list,
    open_menu,
    receipt,
)
from cc_bot.domain import FoundMemory, Locale, Memory
from cc_bot.texts import texts

JA = texts(Locale.JA)
WHEN = datetime(2026, 3, 15, tzinfo=UTC)
NOW = WHEN + timedelta(days=1)


def memory(content: str = "誕生日は3月15日", **given: Any) -> Memory:
    return replace(Memory(12, 1, content, "general", (), {}, WHEN, WHEN, number=12), **given)


def shown(*memories: Memory, confidence: float = 1.0) -> str:
    page = ListPage("題", [FoundMemory(each, confidence) for each in memories])
    return memory_list(page, JA, NOW).description or ""


def footer(**given: Any) -> str:
    page = replace(ListPage("題", [FoundMemory(memory(), 1.0)]), **given)
    found = memory_list(page, JA, NOW).footer
    return found.text or "" if found else ""


class TestList:
    def test_tells_number_text_category_tags_and_date(self) -> None:
        text = shown(memory(category="家族", tags=("誕生日", "大事")))
        assert text == "**#12** 誕生日は3月15日\n-# 家族 ・ #誕生日 #大事 ・ <t:1773532800:d>"

    def test_calls_the_usual_category_by_its_own_word(self) -> None:
        assert "一般" in shown(memory())

    def test_shows_text_as_it_was_written_not_as_markdown(self) -> None:
        assert r"\*\*太字\*\* \<@123\> \|\|秘密\|\|" in shown(memory("**太字** <@123> ||秘密||"))

    def test_shortens_what_is_long_and_keeps_it_on_one_line(self) -> None:
        text = shown(memory("一行目\n二行目" + "あ" * 4000))
        assert text.startswith("**#12** 一行目 二行目あああ")
        assert len(text) < 300

    def test_marks_what_is_used_in_private_only(self) -> None:
        assert "**#12** 🔒 誕生日" in shown(memory(audience="private"))
        assert "🔒" not in shown(memory())

    def test_tells_until_when_something_holds_and_when_that_is_over(self) -> None:
        assert "⌛ <t:1773705599:d> まで" in shown(memory(expires_at=NOW + timedelta(days=1)))
        assert "⌛ 期限切れ" in shown(memory(expires_at=NOW))

    def test_says_of_an_unsure_hit_that_it_may_not_be_what_was_meant(self) -> None:
        assert "-# たぶん ・ 一般" in shown(memory(), confidence=0.3)
        assert "たぶん" not in shown(memory(), confidence=0.9)

    @given(st.lists(st.builds(memory, st.text(min_size=1, max_size=4000)), max_size=PAGE_SIZE))
    def test_fits_an_embed_whatever_is_remembered(self, memories: list[Memory]) -> None:
        assert len(shown(*memories)) <= 4096

    def test_of_the_longest_memories_fits_an_embed(self) -> None:
        longest = memory(
            "*" * 4000,
            id=10**12,
            category="*" * 50,
            tags=("*" * 40,) * 20,
            audience="private",
            expires_at=NOW + timedelta(days=1),
        )
        text = shown(*[longest] * PAGE_SIZE, confidence=0.1)
        assert len(text) <= 4096
        assert text.count("**#") == PAGE_SIZE == 10

    def test_shows_as_much_of_each_as_there_is_room_for(self) -> None:
        long = memory("あ" * 200)
        assert shown(*[long] * PAGE_SIZE).count("あ" * 159 + "…") == PAGE_SIZE
        starred = shown(*[memory("*" * 200)] * PAGE_SIZE)
        assert starred.count(r"\*" * 119 + "…") == PAGE_SIZE


class TestFooter:
    def test_is_left_out_where_there_is_nothing_to_tell(self) -> None:
        assert footer() == ""

    def test_counts_pages(self) -> None:
        assert footer(page=2, pages=3) == "2/3ページ"

    def test_names_another_order(self) -> None:
        assert footer(order="updated") == "最近変更した順"

    def test_explains_the_mark_of_private_memories(self) -> None:
        assert "🔒" in footer(found=[FoundMemory(memory(audience="private"), 1.0)])


class TestReceipt:
    @pytest.mark.parametrize("audience", ["anywhere", "private"])
    def test_tells_where_it_is_used_if_not_everywhere(self, audience: str) -> None:
        told = receipt(JA.memory.added, memory(audience=audience), JA)
        assert ("🔒" in told) == (audience == "private")

    def test_tells_until_when_it_holds(self) -> None:
        assert "まで" in receipt(JA.memory.added, memory(expires_at=NOW), JA)


@given(st.lists(st.text(min_size=1, max_size=4000), min_size=1, max_size=PAGE_SIZE))
def test_a_menu_has_each_memory_of_a_page_within_what_discord_takes(contents: list[str]) -> None:
    found = [FoundMemory(memory(content, id=number), 1.0) for number, content in enumerate(contents, 1)]
    options = open_menu(found, "open:1", JA).options
    assert [int(option.value) for option in options] == list(range(1, len(contents) + 1))
    assert all(1 <= len(option.label) <= 100 for option in options)


@given(st.text(min_size=1, max_size=4000))
def test_a_choice_fits_what_discord_takes(content: str) -> None:
    assert 1 <= len(choice_name(memory(content))) <= 100


class TestQuotedMemory:
    def test_is_told_as_it_was_written(self) -> None:
        assert (
            excerpt("[銀行](http://example.com)\n**猫**") == "\\[銀行\\](http://example.com) \\*\\*猫\\*\\*"
        )

    def test_leaves_the_rest_of_its_line_in_its_direction(self) -> None:
        assert excerpt("\u202e猫\u2066") == "猫"

    @given(st.text(st.sampled_from("*_[]あ 👩\n"), max_size=4000))
    def test_has_room_in_a_message(self, content: str) -> None:
        assert len(excerpt(content)) <= 1500
