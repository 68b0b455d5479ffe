"""Memories as Discord shows them."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.memory_view import PAGE_SIZE, choice_name, memory_list
from cc_bot.domain import Locale, Memory
from cc_bot.texts import texts

JA = texts(Locale.JA)
WHEN = datetime(2026, 3, 15, tzinfo=UTC)


def memory(
    content: str = "誕生日は3月15日", *, category: str = "general", tags: tuple[str, ...] = ()
) -> Memory:
    return Memory(12, 1, content, category, tags, {}, WHEN, WHEN)


def shown(*memories: Memory) -> str:
    return memory_list("題", memories, JA).description or ""


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

    @given(st.lists(st.builds(memory, st.text(min_size=1, max_size=4000)), max_size=PAGE_SIZE))
    def test_fits_an_embed_whatever_is_remembered(self, memories: list[Memory]) -> None:
        assert len(shown(*memories)) <= 4096

    def test_of_the_longest_memories_fits_an_embed(self) -> None:
        longest = memory("*" * 4000, category="*" * 50, tags=("*" * 40,) * 20)
        assert len(shown(*[longest] * PAGE_SIZE)) <= 4096


@given(st.text(min_size=1, max_size=4000))
def test_a_choice_fits_what_discord_takes(content: str) -> None:
    assert 1 <= len(choice_name(memory(content))) <= 100
