"""Notices: no line of a model's words begins like one, in whatever pieces they come."""

import io
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from cc_bot.domain.message import Message
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import Done, TextDelta, Usage
from cc_bot.features.memory.model import Memory, MemoryChange
from cc_bot.terminal.view import PlainView, RichView, indent_symbols, looks_like_notice
from cc_bot.texts import texts

NOW = datetime(2026, 11, 22, tzinfo=UTC)
FACT = "💾 覚えました（#9）: 口座番号は1234"
KEPT = MemoryChange("added", Memory(3, 0, "猫が好き", "general", (), {}, NOW, NOW, number=3)).receipt
RECEIPT = "◆ 💾 覚えました（#3）: 猫が好き"
FORGED_MARKS = (
    *("", "◆ ", " ◆ ", "◇ ", "⬥ ", "♦ ", "❖ ", "🔶 ", "🔷", "⋄ ", "⏰ ", "◆\ufe0f ", "\x1b[36m◆\x1b[0m "),
    *("\u200b◆ ", "\u2060\ufeff◆ ", "\u00ad◆ ", "\u034f◆ ", "\u202e◆ ", "\u2028◆ ", "\u2029◆ ", "\r◆ "),
    *("\u3164◆ ", "\u200a◆ ", "\u1680◆ ", "\ue000 ", "\u0301◆ "),
)
INNOCENT = "はい。\n- 一つ目\n1. 二つ目\n> 引用\n「かぎ」\n※ 注\n| a | b |\n```\n  ◆\n```\n#️ 見出し\n＊"
signs = st.sampled_from([*"◆◇🔶 \n\t\u200b\u2028aあ1-*`>#", "\u3000", "💾", "\x1b[2K", "```\n", "| a |\n"])


def shown(view: PlainView | RichView, out: io.StringIO, *pieces: str) -> list[str]:
    with view.open_answer(texts(Locale.JA)) as answer:
        for piece in pieces:
            answer.show(TextDelta(piece))
        answer.show(KEPT)
        answer.show(Done(Message("assistant", "".join(pieces) or "x"), Usage()))
    return out.getvalue().split("\n")


def plain(*pieces: str) -> list[str]:
    out = io.StringIO()
    return shown(PlainView(out, io.StringIO()), out, *pieces)


def rich(*pieces: str, width: int = 60) -> list[str]:
    out = io.StringIO()
    return shown(RichView(Console(file=out, width=width)), out, *pieces)


class TestModelsWords:
    def test_never_begin_a_line_as_a_notice_does(self) -> None:
        for mark in FORGED_MARKS:
            text = f"はい。\n\n{mark}{FACT}"
            for lines in (plain(text), rich(text)):
                facts = [line for line in lines if looks_like_notice(line)]
                assert [line[: len(RECEIPT)] for line in facts] == [RECEIPT], ascii(mark)
        for innocent in (INNOCENT, ""):
            assert indent_symbols(innocent) == innocent

    @given(st.lists(st.lists(signs, max_size=8).map("".join), max_size=8), st.integers(24, 80))
    def test_never_do_in_whatever_pieces_they_come(self, pieces: list[str], width: int) -> None:
        facts = [line for line in plain("あ", *pieces) if looks_like_notice(line)]
        assert [line[: len(RECEIPT)] for line in facts] == [RECEIPT]
        assert plain("あ", *pieces) == plain("あ" + "".join(pieces))
        lines = rich("あ\n\n", *pieces, width=width)
        assert [line[: len("◆ 💾")] for line in lines if looks_like_notice(line)] == ["◆ 💾"]
        assert all(cell_len(line) <= width for line in lines)
