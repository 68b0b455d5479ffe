"""No text makes a pattern run away: each grows with the text alone, or ends at its limit.

The worst few hundred strings for each pattern; tests/attacks/test_patterns.py has many more.

Patterns are written for it: anchored if they stand at a beginning, each run taken once (`++`), one way for
what separates. Natural language has more forms than that allows; what reads it is a Phrase
(cc_bot/domain/phrase.py), which has a limit of time.
"""

import re

import pytest
import regex  # type: ignore[import-untyped]  # its stubs are not among the dependencies

from cc_bot.domain.phrase import Phrase
from tests.architecture.patterns import Found, attacks, compiled, unknown, weakness

pytestmark = pytest.mark.slow

AT_IMPORT = {
    "cc_bot.discord.pages.split: regex.compile(place + _ALLOWED)",
    "cc_bot.domain.repeat_days: re.compile(pattern)",
    "cc_bot.domain.rhythms: re.compile(pattern)",
    "cc_bot.domain.when_words: re.compile(pattern)",
}
"""Calls that a module makes of its own tables as it is imported: what they make is found in it."""
LIMITED = {
    "cc_bot.config: regex.compile(line)",
    "cc_bot.domain.phrase: regex.compile(self.pattern, self.flags)",
    "cc_bot.stores.memory.secrets: regex.compile(pattern, regex.IGNORECASE)",
}
"""Searched with a limit of time: the operator's patterns, and what a Phrase compiles when it is needed."""

OLD = {
    "a span of time": (
        r"(?P<span>(?:(?:\d{1,4}(?:\.\d)?|半)\s?(?:時間半|時間|分半|分|秒|日|週間|か月|年)\s?と?\s?)+)(?:後|ご)"
    ),
    "a bullet": (
        r"\s*(?:[-*+•●◦‣–—]\s+|・\s*|[①-⑳]\s*|[（(]\d{1,4}[)）]\s*|\d{1,4}[．）]\s*|\d{1,4}[.)](?:\s+|(?=[\[（【])))"
    ),
    "a fence": (
        r"(?P<quote>(?:[ \t]{0,3}+>(?!>>)[ \t]?+)*+)"
        r"(?P<indent>(?:[ \t]*(?:[-*+]|\d{1,9}[.)]|>>>)[ \t])*[ \t]*)"
        r"(?P<marks>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)"
    ),
    "words between": r"(?:\s+(?:about|the|of|by|on|please))+$",
    "cron": r"[\d*/,\-#a-z]+(?:\s+[\d*/,\-#a-z]+){4}",
    "numerals": r"[〇零一二三四五六七八九十]+(?=[時分秒日月週年か])",
    "a promise's setting": r"```.*?(?:```|\Z)|`[^`\n]*`|「[^」]*」|『[^』]*』|“[^”]*”|^>.*$",
    "a link of the offline model": (
        r"(?:[,;:.\s-]|\b(?:so|and|but|please|pls|that|which|okay|ok|would you|could you|can you)\b)+$"
    ),
    "a request of the offline model": (
        r"(?P<what>.*?)(?:を|も|と)?\s*キャンバスに\s*(?:描いて)(?:おいて|みて)?[。！!?？\s]*(?P<more>[:：\n].*)?"
    ),
    "two ways for a letter": r"(?:a|[ab])+c",
    "runs side by side": r"\s*\d*\s*x",
}
"""Patterns that the package had, and the simplest that there are."""

LENGTHS = (400, 800, 1600, 3200, 6400)


def patterns() -> list[Found]:
    return list(compiled())


class TestPatterns:
    def test_are_all_found(self) -> None:
        assert unknown() == AT_IMPORT | LIMITED
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
            for attack in attacks(found.pattern, seed=0, count=3 if isinstance(found.pattern, Phrase) else 16)
            if (line := weakness(found, attack, LENGTHS))
        ]
        assert weak == []


class TestAttack:
    @pytest.mark.parametrize("name", OLD)
    def test_finds_what_runs_away(self, name: str) -> None:
        flags = re.DOTALL if "offline" in name or "promise" in name or "fence" in name else 0
        found = Found(name, re.compile(OLD[name], flags | re.MULTILINE * ("promise" in name)))
        assert any(weakness(found, attack, LENGTHS) for attack in attacks(found.pattern, seed=0, count=16))

    @pytest.mark.parametrize(
        "pattern",
        [r"\A\s*+(?:[-*+]\s++)", r"\b(?:one|two|three)\b", r"(?<!\s)\s++$", r"[^\n]{1,40}?x", r"\X"],
    )
    def test_lets_the_others_pass(self, pattern: str) -> None:
        found = Found("one", regex.compile(pattern) if pattern == r"\X" else re.compile(pattern))
        assert not any(
            weakness(found, attack, LENGTHS) for attack in attacks(found.pattern, seed=0, count=40)
        )

    def test_finds_a_phrase_that_does_not_end(self) -> None:
        class Endless(Phrase):
            """A Phrase without its limit."""

            def fullmatch(self, text: str) -> re.Match[str] | None:
                return re.fullmatch(self.pattern, text)

        found = Found("endless", Endless(r"\s*\s*\s*x"))
        assert any(weakness(found, attack, (800,)) for attack in attacks(found.pattern, seed=0, count=16))
