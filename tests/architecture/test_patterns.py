"""No text makes a pattern run away, and what reads texts of any length does work that grows with it alone.

Patterns are written for it: anchored if they stand at a beginning, each run taken once (`++`), one way for
what separates. Natural language has more forms than that allows; what reads it is a Phrase
(cc_bot/domain/phrase.py), which has a limit of time.
"""

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from functools import partial
from types import FrameType
from typing import Any

import pytest
import regex  # type: ignore[import-untyped]  # its stubs are not among the dependencies

from cc_bot.context.tokens import estimate_tokens
from cc_bot.discord.pages.answer import AnswerState, final_pages, streaming_pages
from cc_bot.discord.pages.custom_ids import StopButton
from cc_bot.discord.pages.split import close_fences, split
from cc_bot.domain.encodings import decode_text
from cc_bot.domain.errors import ImportNotUnderstood, TooManyToImport, WhenNotUnderstood
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import parse_tags
from cc_bot.domain.memory_transfer import read_memories
from cc_bot.domain.phrase import Phrase
from cc_bot.domain.schedule import days_named
from cc_bot.domain.secrets import looks_secret
from cc_bot.domain.summary import clean_summary
from cc_bot.domain.when_and_what import split_when
from cc_bot.search.query import parse_query
from cc_bot.search.terms import listed_terms
from cc_bot.texts import texts
from tests.architecture.patterns import Attack, Found, attacks, calls, patterns, slow_at, weakness

pytestmark = pytest.mark.slow

KNOWN_LATER = {
    # Calls that a module makes of its own tables as it is imported: what they make is found in it.
    "cc_bot.discord.pages.split: regex.compile(place + _ALLOWED)",
    "cc_bot.domain.repeat_days: re.compile(pattern)",
    "cc_bot.domain.rhythms: re.compile(pattern)",
    "cc_bot.domain.when_words: re.compile(pattern)",
    # Searched with a limit of time: the operator's patterns, and what a Phrase compiles when it is needed.
    "cc_bot.config: regex.compile(line)",
    "cc_bot.domain.phrase: regex.compile(self.pattern, self.flags)",
    "cc_bot.stores.memory.secrets: regex.compile(pattern, regex.IGNORECASE)",
}
WEAK = {
    "cc_bot.assistant.claims._PASSIVE",  # "understood-" again and again is quadratic
    "cc_bot.search.folding._COUNTED",  # so is "一三〇"
    "cc_bot.domain.when_and_what._LINK",  # it is looked for, and never held against the whole
}
LENGTHS = (400, 800, 1600, 3200, 6400)


class TestPatterns:
    def test_are_all_found(self) -> None:
        unknown = {
            f"{place.partition(':')[0]}: {call}" for place, call, pattern in calls() if pattern is None
        }
        assert unknown == KNOWN_LATER
        places = {found.place for found in patterns()}
        assert {
            "cc_bot.domain.when_words._WORDS",
            "cc_bot.llm.offline._SMALL_TALK",
            "cc_bot.discord.pages.split._PATTERNS",
            "cc_bot.domain.encodings._ISO_2022_JP_ESCAPE",
            "cc_bot.domain.secrets._KNOWN_FORM",
        } <= places
        assert sum(isinstance(found.pattern, Phrase) for found in patterns()) > 30
        assert len(places) > 200

    def test_grow_with_the_text_alone(self) -> None:
        weak = [
            line
            for found in patterns()
            if found.place not in WEAK
            for attack in attacks(found.pattern, 3 if isinstance(found.pattern, Phrase) else 16)
            if (line := weakness(found, attack, LENGTHS))
        ]
        assert weak == []


class Endless(Phrase):
    """A Phrase without its limit."""

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return re.fullmatch(self.pattern, text)


RUNS_AWAY = [
    r"(?P<span>(?:(?:\d{1,4}(?:\.\d)?|半)\s?(?:時間半|時間|分半|分|秒|日|週間|か月|年)\s?と?\s?)+)(?:後|ご)",
    r"(?P<quote>(?:[ \t]{0,3}+>(?!>>)[ \t]?+)*+)(?P<indent>(?:[ \t]*(?:[-*+]|\d{1,9}[.)]|>>>)[ \t])*[ \t]*)"
    r"(?P<marks>`{3,}(?=[^`]*$)|~{3,})(?P<info>(?s:.*))",
    r"(?:\s+(?:about|the|of|by|on|please))+$",
    r"[\d*/,\-#a-z]+(?:\s+[\d*/,\-#a-z]+){4}",
    r"[〇零一二三四五六七八九十]+(?=[時分秒日月週年か])",
    r"(?sm)```.*?(?:```|\Z)|`[^`\n]*`|「[^」]*」|『[^』]*』|“[^”]*”|^>.*$",
    r"(?s)(?P<what>.*?)(?:を|も|と)?\s*キャンバスに\s*(?:描いて)(?:おいて|みて)?[。！!?？\s]*(?P<more>[:：\n].*)?",
    r"(?:a|[ab])+c",
    r"\s*\d*\s*x",
]
"""Patterns that the package had, and the simplest that there are."""
FINE = [r"\A\s*+(?:[-*+]\s++)", r"\b(?:one|two|three)\b", r"(?<!\s)\s++$", r"[^\n]{1,40}?x"]


class TestAttack:
    def test_finds_what_runs_away_and_lets_the_others_pass(self) -> None:
        def runs_away(pattern: object) -> bool:
            lengths = LENGTHS[:2] if isinstance(pattern, Phrase) else LENGTHS
            return any(weakness(Found("here", pattern), attack, lengths) for attack in attacks(pattern, 40))

        away: list[Any] = [*map(re.compile, RUNS_AWAY), Endless(r"\s*\s*\s*x")]
        fine: list[Any] = [*map(re.compile, FINE), regex.compile(r"\X")]
        assert [each.pattern for each in away if not runs_away(each)] == []
        assert [each.pattern for each in fine if runs_away(each)] == []


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
    ),
    *("パスワード", "password ", "eyJ", "十", "〇", "[2024-01-01]", "ﷺ", "e\u0301", '["a",', "4111 ", "の"),
]


def tolerant(read: Callable[[str], object], text: str) -> None:
    with suppress(WhenNotUnderstood, ImportNotUnderstood, TooManyToImport):
        read(text)


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called for it, those of C included."""
    work()  # what is made once, is
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


class TestAReader:
    @pytest.mark.parametrize("name", READERS)
    def test_does_work_in_proportion(self, name: str) -> None:
        run = partial(tolerant, READERS[name])
        run("はじめに")  # what is loaded once
        # Lengths so far from each other that a machine which is half as fast for a while proves nothing.
        assert [pump for pump in PUMPS if slow_at(run, Attack("- a\n", pump, "x"), (4_000, 32_000))] == []

    def test_of_a_file_with_one_long_memory_does_too(self) -> None:
        assert slow_at(read_memories, Attack("- a\n", "  b\n", ""), (60_000, 240_000, 1_000_000)) is None

    def test_of_an_answer_works_for_what_it_shows_however_long_that_is(self) -> None:
        words, stop = texts(Locale.JA), StopButton(1, "abcd")
        for sentence in ("これは長い答えの一文です。\n", "One more sentence. ", "```\ncode\n```\n"):
            short, long = (AnswerState(text=sentence * (n // len(sentence))) for n in (20_000, 2_000_000))
            costs = [calls_of(partial(streaming_pages, state, words, stop)) for state in (short, long)]
            assert costs[1] < 1.05 * costs[0]
            assert streaming_pages(short, words, stop) == streaming_pages(long, words, stop)
        ends = [AnswerState(text="これは長い答えの一文です。\n" * times) for times in (2_000, 200_000)]
        costs = [calls_of(partial(final_pages, state, words)) for state in ends]
        assert costs[1] < 1.05 * costs[0]
