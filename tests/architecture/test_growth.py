"""What reads texts of any length does work that grows with their length alone, not with its square."""

import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from functools import partial
from types import FrameType

import pytest

from cc_bot.context.tokens import estimate_tokens
from cc_bot.discord.pages.answer import AnswerState, final_pages, streaming_pages
from cc_bot.discord.pages.custom_ids import StopButton
from cc_bot.discord.pages.split import close_fences, split
from cc_bot.domain.encodings import decode_text
from cc_bot.domain.errors import ImportNotUnderstood, TooManyToImport, WhenNotUnderstood
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import parse_tags
from cc_bot.domain.memory_transfer import read_memories
from cc_bot.domain.schedule import days_named
from cc_bot.domain.secrets import looks_secret
from cc_bot.domain.summary import clean_summary
from cc_bot.domain.when_and_what import split_when
from cc_bot.search.query import parse_query
from cc_bot.search.terms import listed_terms
from cc_bot.texts import texts
from tests.architecture.patterns import Attack, slow_at

READERS: dict[str, Callable[[str], object]] = {
    "secrets": looks_secret,
    "a file of memories": read_memories,
    "days": lambda text: days_named(text, date(2026, 1, 1), within=7),
    "when and what": split_when,
    "a summary": clean_summary,
    "tags": parse_tags,
    "messages": split,
    "fences": close_fences,
    "terms": listed_terms,
    "a query": parse_query,
    "bytes": lambda text: decode_text(text.encode()),
    "tokens": estimate_tokens,
}
PUMPS = [
    *(
        [
            " ",
            "\n",
            "a ",
            "あ",
            "1日 ",
            "- a\n",
            "  b\n",
            "`",
            "```\n",
            "> ",
            "[",
            "](",
            "**a",
            "https://a",
            "\\",
        ]
    ),
    *(["パスワード", "password ", "eyJ", "十", "〇", "[2024-01-01]", "ﷺ", "e\u0301", '["a",', "4111 ", "の"]),
]
LENGTHS = (4_000, 32_000)
"""Characters. Far enough from each other that a machine which is half as fast for a while proves nothing."""


def tolerant(read: Callable[[str], object], text: str) -> None:
    with suppress(WhenNotUnderstood, ImportNotUnderstood, TooManyToImport):
        read(text)


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called for it, those of C included."""
    work()  # what is made once, is
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


class TestReader:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", READERS)
    def test_does_work_in_proportion(self, name: str) -> None:
        run = partial(tolerant, READERS[name])
        run("はじめに")  # what is loaded once
        weak = [pump for pump in PUMPS if slow_at(run, Attack("- a\n", pump, "x"), LENGTHS)]
        assert weak == []

    def test_of_a_file_with_one_long_memory_does_too(self) -> None:
        lines = Attack("- a\n", "  b\n", "")
        assert slow_at(read_memories, lines, (60_000, 240_000, 1_000_000)) is None


class TestAnswer:
    WORDS = texts(Locale.JA)
    STOP = StopButton(1, "abcd")

    @pytest.mark.parametrize(
        "sentence", ["これは長い答えの一文です。\n", "One more sentence. ", "```\ncode\n```\n"]
    )
    def test_on_its_way_costs_the_same_however_long_it_is(self, sentence: str) -> None:
        short, long = (
            AnswerState(text=sentence * (length // len(sentence))) for length in (20_000, 2_000_000)
        )
        costs = [calls_of(partial(streaming_pages, state, self.WORDS, self.STOP)) for state in (short, long)]
        assert costs[1] < 1.05 * costs[0]
        assert streaming_pages(short, self.WORDS, self.STOP) == streaming_pages(long, self.WORDS, self.STOP)

    def test_that_ends_is_split_as_far_as_it_is_shown(self) -> None:
        sentence = "これは長い答えの一文です。\n"
        costs = [
            calls_of(partial(final_pages, AnswerState(text=sentence * times), self.WORDS))
            for times in (2_000, 200_000)
        ]
        assert costs[1] < 1.05 * costs[0]
