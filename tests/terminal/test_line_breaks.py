from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from cc_bot.domain.kinsoku import NEVER_LAST, NOT_FIRST_IN_LINE
from cc_bot.terminal.markdown import break_offsets, fold_offsets, wrap_text

japanese = st.text("あいう漢字。、」「（）ーabc1っゃ", max_size=60)


def pieces(text: str, width: int) -> list[str]:
    edges = [0, *break_offsets(text, width), len(text)]
    return [text[begin:end] for begin, end in pairwise(edges)]


class TestBreakOffsets:
    @pytest.mark.parametrize(
        ("text", "lines"),
        [
            ("今日はいい天気です。", ["今日はいい", "天気です。"]),
            ("今日もいい。", ["今日もい", "い。"]),
            ("あいうえ「お」", ["あいうえ", "「お」"]),
            ("a long word", ["a long ", "word"]),
            ("値段はabcdeです", ["値段は", "abcdeです"]),
            ("abcdefghijklmn", ["abcdefghij", "klmn"]),
            ("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", ["👩‍👩‍👧‍👦" * 5, "👩‍👩‍👧‍👦"]),
        ],
    )
    def test_lines_of_ten_cells_end_where_a_reader_expects_it(self, text: str, lines: list[str]) -> None:
        assert pieces(text, 10) == lines

    @given(st.text(st.characters(exclude_characters="\n\t", exclude_categories=["C"])), st.integers(2, 30))
    def test_nothing_is_lost_and_every_line_fits(self, text: str, width: int) -> None:
        cut = pieces(text, width)
        assert "".join(cut) == text
        assert all(cell_len(piece.rstrip()) <= width or len(piece) <= 8 for piece in cut)

    @given(japanese, st.integers(10, 30))
    def test_no_line_begins_with_what_closes_or_ends_with_what_opens(self, text: str, width: int) -> None:
        cut = pieces(text, width)
        for before, after in pairwise(cut):
            kept_together = before[-1] in NEVER_LAST or after[0] in NOT_FIRST_IN_LINE
            # Only a run of such characters that fills a line by itself may be cut.
            assert not kept_together or cell_len(before) >= width - 1

    @given(st.text("def あ(): ", max_size=80), st.integers(2, 20))
    def test_code_is_cut_only_where_a_line_is_full(self, code: str, width: int) -> None:
        edges = [0, *fold_offsets(code, width), len(code)]
        rows = [code[begin:end] for begin, end in pairwise(edges)]
        assert "".join(rows) == code
        assert all(cell_len(row) >= width - 1 for row in rows[:-1])


class TestWrapped:
    def test_a_printed_sentence_follows_the_rule(self) -> None:
        console = Console(width=20)
        with console.capture() as captured:
            console.print(wrap_text("/help で、できることの一覧を見られます。"))
        assert captured.get() == "/help で、できること\nの一覧を見られます。\n"
