import re
from typing import Any

import pytest
import regex  # type: ignore[import-untyped]  # its stubs are not among the dependencies

from tests.architecture.patterns import Found, attacks, calls, patterns, weakness

pytestmark = pytest.mark.slow

KNOWN_LATER = {
    # Calls that a module makes of its own tables as it is imported: what they make is found in it.
    "cc_bot.domain.when.grammar: re.compile(pattern, re.ASCII)",
    "cc_bot.chat.grounding: re.compile('|'.join((pattern for each, pattern in _ROWS if each == kind)), "
    "re.MULTILINE)",
    "cc_bot.llm.openai.quirks: re.compile(refusal, re.IGNORECASE | re.DOTALL)",
    # Words of a search, escaped.
    "cc_bot.web.page: re.search(pattern, hiragana(text), re.IGNORECASE)",
    # Held against a name that the operator has set.
    "cc_bot.llm.openai.quirks: re.search(host_pattern, host)",
    "cc_bot.llm.openai.quirks: re.search(model_pattern, model, re.IGNORECASE)",
    # Searched with a limit of time: the operator's patterns.
    "cc_bot.config: regex.compile(line)",
    "cc_bot.features.memory.stores.limits: regex.compile(pattern, regex.IGNORECASE)",
}
WEAK = {
    # Held against at most 400 characters.
    *(f"cc_bot.llm.offline._{name}" for name in ("REMEMBER", "FORGET", "REMIND", "CANCEL", "QUESTION")),
    *(f"cc_bot.llm.offline._{name}" for name in ("DRAW", "LIST_NAME", "STATEMENT")),
    "cc_bot.llm.openai.reply._TAG",  # held against a beginning, and never looked for
}
LENGTHS = (400, 800, 1600, 3200, 6400)


class TestPatterns:
    def test_are_all_found(self) -> None:
        unknown = {
            f"{location.partition(':')[0]}: {call}" for location, call, pattern in calls() if pattern is None
        }
        assert unknown == KNOWN_LATER
        locations = {found.location for found in patterns()}
        assert {
            "cc_bot.domain.when.grammar._FORMS",
            "cc_bot.llm.offline._NUMBER",
            "cc_bot.discord.pages.split._PATTERNS",
            "cc_bot.files._ISO_2022_JP_ESCAPE",
            "cc_bot.features.memory.secrets._KNOWN_FORM",
        } <= locations
        assert len(locations) > 200

    def test_grow_with_the_text_alone(self) -> None:
        weak = [
            line
            for found in patterns()
            if found.location not in WEAK
            for attack in attacks(found.pattern, 16)
            if (line := weakness(found, attack, LENGTHS))
        ]
        assert weak == []


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
            return any(weakness(Found("here", pattern), attack, LENGTHS) for attack in attacks(pattern, 40))

        away: list[Any] = [*map(re.compile, RUNS_AWAY)]
        fine: list[Any] = [*map(re.compile, FINE), regex.compile(r"\X")]
        assert [each.pattern for each in away if not runs_away(each)] == []
        assert [each.pattern for each in fine if runs_away(each)] == []
