"""Answers in Markdown in a terminal: the same in whatever pieces they come, with lines broken as in print."""

import unicodedata
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment

from cc_bot.domain.text import printable
from cc_bot.terminal.markdown import GrowingMarkdown, one_line

ANSWER = Path(__file__).with_name("answer.txt").read_text("utf-8").removesuffix("\n")


def lines(pieces: list[str], width: int = 40) -> list[str]:
    growing = GrowingMarkdown(Console(width=width))
    rendered = [line for piece in pieces for line in growing.add(piece)] + growing.end()
    return ["".join(segment.text for segment in line) for line in rendered]


def cut_answer(cuts: list[int]) -> list[str]:
    return [ANSWER[begin:end] for begin, end in pairwise([0, *sorted(set(cuts)), len(ANSWER)])]


class TestGrowingMarkdown:
    @settings(deadline=None)  # the first one loads the highlighter
    @given(
        st.lists(st.text("#*_`->|[]() \nあa1.", max_size=12) | st.text(max_size=20), max_size=12)
        | st.lists(st.integers(1, len(ANSWER) - 1), max_size=40).map(cut_answer)
    )
    def test_the_outcome_is_the_same_however_the_text_was_cut(self, pieces: list[str]) -> None:
        found = lines(pieces, width=20)
        assert found == lines(["".join(pieces)], width=20)
        for line in found:
            assert Segment(line).cell_length <= 20
            assert line == line.rstrip()

    def test_everything_is_shown_as_it_is(self) -> None:
        shown = lines([ANSWER])
        assert {"改行のままです。", "  <div>"} <= {*shown}
        assert any(line.startswith("List<String> と") for line in shown)
        assert lines(["[ここ](https://example.com)"]) == ["ここ (https://example.com)"]
        table = "".join(lines([ANSWER], width=30)).replace(" ", "")
        assert ("秋から" in table, "…" in table) == (True, False)
        assert lines(["a\x1b[2Jb\x9bc"]) == ["a[2Jbc"]


@given(st.text(st.characters()), st.integers(1, 50))
def test_no_control_character_gets_through(text: str, limit: int) -> None:
    left = printable(text)
    assert not [c for c in left if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\t\n"]
    left.encode()
    line = one_line(text, limit)
    assert len(line) <= limit
    assert "\n" not in line
