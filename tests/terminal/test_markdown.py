import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment

from cc_bot.domain.text import printable
from cc_bot.terminal.markdown import GrowingMarkdown, one_line

ANSWER = """# 見出し
日本語の段落です。次の行は
改行のままです。

- 項目一 **太字**
- 項目二

1. 一

2. 二

```python
def hello():
    return "<b>"

```
| 名前 | 説明 |
|---|---|
| りんご | 秋から冬にかけておいしくなる、赤くて丸い果物です。 |

> 引用

List<String> と https://example.com/a-rather-long-path/that-does-not-fit

<div>
html
</div>

おわり"""


def lines(pieces: list[str], width: int = 40) -> list[str]:
    growing = GrowingMarkdown(Console(width=width))
    rendered = [line for piece in pieces for line in growing.add(piece)] + growing.end()
    return ["".join(segment.text for segment in line) for line in rendered]


class TestGrowingMarkdown:
    @pytest.mark.slow
    @settings(deadline=None)  # the first one loads the highlighter
    @given(st.lists(st.integers(1, len(ANSWER) - 1), max_size=40))
    def test_the_outcome_is_the_same_however_the_text_was_cut(self, cuts: list[int]) -> None:
        edges = [0, *sorted(set(cuts)), len(ANSWER)]
        pieces = [ANSWER[begin:end] for begin, end in pairwise(edges)]
        assert lines(pieces) == lines([ANSWER])

    @settings(deadline=None)  # the first one loads the highlighter
    @given(st.lists(st.text("#*_`->|[]() \nあa1.", max_size=12), max_size=12))
    def test_so_it_is_for_markdown_that_makes_no_sense(self, pieces: list[str]) -> None:
        assert lines(pieces) == lines(["".join(pieces)])

    @settings(deadline=None)  # the first one loads the highlighter
    @given(st.lists(st.text(max_size=20), max_size=8))
    def test_no_line_is_wider_than_the_console_and_none_ends_with_a_blank(self, pieces: list[str]) -> None:
        for line in lines(pieces, width=20):
            assert Segment(line).cell_length <= 20
            assert line == line.rstrip()

    def test_a_block_is_settled_once_the_next_has_begun(self) -> None:
        growing = GrowingMarkdown(Console(width=40))
        assert growing.add("一つ目。\n\n二つ") == []
        [settled] = growing.add("目。\n")
        assert settled[0].text == "一つ目。"
        assert "".join(segment.text for line in growing.open_lines() for segment in line) == "二つ目。"

    def test_line_ends_html_and_addresses_are_shown_as_they_are(self) -> None:
        shown = lines([ANSWER])
        assert "改行のままです。" in shown
        assert any(line.startswith("List<String> と") for line in shown)
        assert "  <div>" in shown
        assert lines(["[ここ](https://example.com)"]) == ["ここ (https://example.com)"]

    def test_nothing_in_a_narrow_table_is_cut_off(self) -> None:
        table = "".join(lines([ANSWER], width=30)).replace(" ", "")
        assert "秋から" in table
        assert "…" not in table

    def test_escape_sequences_of_a_model_do_not_reach_the_terminal(self) -> None:
        assert lines(["a\x1b[2Jb\x9bc"]) == ["a[2Jbc"]


class TestPrintable:
    @given(st.text(st.characters()))
    def test_no_control_character_gets_through(self, text: str) -> None:
        left = printable(text)
        assert not [c for c in left if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\t\n"]
        left.encode()

    def test_an_escape_sequence_is_shown_as_harmless_text(self) -> None:
        assert printable("\x1b[2J消えた\x9b31m\r\n") == "[2J消えた31m\n"

    def test_what_turns_writing_around_is_left_out(self) -> None:
        assert printable("金額は\u202e000,1\u202c円、\u2066次\u2069の行") == "金額は000,1円、次の行"
        assert one_line("\u202e猫") == "猫"
        assert printable("שלום, سلام") == "שלום, سلام"


class TestOneLine:
    @given(st.text(), st.integers(1, 50))
    def test_is_one_line_of_limited_length(self, text: str, limit: int) -> None:
        line = one_line(text, limit)
        assert len(line) <= limit
        assert "\n" not in line
