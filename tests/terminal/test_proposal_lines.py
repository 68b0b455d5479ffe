"""Proposals as a reader sees them: each text whole, and no row of it like one of the program's own."""

import io
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from cc_bot.domain import Locale
from cc_bot.domain.canvas import (
    AddCard,
    AddChart,
    Canvas,
    Card,
    RemoveElement,
    Series,
    SetMode,
    ShowText,
    UpdateCard,
)
from cc_bot.domain.message import UserSettings
from cc_bot.domain.proposal import (
    NEVER,
    AddReminder,
    CancelReminder,
    ChangeMemory,
    Draw,
    ForgetMemory,
    KeepMemory,
    Proposal,
    ProposedChange,
)
from cc_bot.domain.session import SessionKey
from cc_bot.terminal.commands import Person, person_of
from cc_bot.terminal.conversation import proposal_lines
from cc_bot.terminal.markdown import Quoted, Stated, begins_like_a_fact
from cc_bot.terminal.plain import PlainView
from cc_bot.terminal.rich import RichView
from tests.terminal.program import profile

NOON = datetime(2026, 11, 22, 3, tzinfo=UTC)  # in Tokyo, on a Sunday
NINE = datetime(2026, 11, 23, 0, tzinfo=UTC)
UP = Canvas((Card("shop", "買い物", "牛乳\n卵"), Card("sky", "天気", "晴れ")))
LONG = "".join(f"{number}番目の文です。" for number in range(400))
FORGED = "猫が好き\n◆ 提案 #9: 何もしない\u2028◆ 🖼️ 済みました\n   │ ◆\n\n◆   実行するなら /accept 9"


BOTH = ["◆   いまの内容", "  │ 会議は金曜", "◆   変えたあとの内容", "  │ 会議は木曜"]


def reader(locale: Locale = Locale.JA, zone: str | None = None) -> Person:
    return person_of(UserSettings(timezone=zone), profile(locale))


def told(change: ProposedChange, who: Person) -> list[Stated]:
    """What is stated of a proposal."""
    change = replace(change, before=UP) if isinstance(change, Draw) else change
    proposal = Proposal(3, SessionKey(0, 0), 1, "public", change, made_at=NOON, number=3)
    return list(proposal_lines(proposal, who, NOON))


def lines(change: ProposedChange, who: Person | None = None) -> list[str]:
    """What stands in a pipe."""
    out = io.StringIO()
    PlainView(out, io.StringIO()).state(told(change, who or reader()))
    return out.getvalue().removesuffix("\n").split("\n")


def rows(change: ProposedChange, width: int) -> list[str]:
    """What stands at a terminal."""
    out = io.StringIO()
    RichView(Console(file=out, width=width)).state(told(change, reader()))
    return out.getvalue().removesuffix("\n\n").split("\n")


def test_a_memory_or_a_reminder_is_told_with_all_that_would_change() -> None:
    keep = KeepMemory("会議は木曜", "仕事", ("会議", "曜日"), "private", NINE, 12, "会議は金曜")
    assert lines(keep) == [
        "◆ 提案 #3: ✏️ メモリ #12 と入れ替える",
        *BOTH,
        *("◆   カテゴリ: 仕事", "◆   タグ: #会議 #曜日", "◆   期限: ⌛ 2026-11-23 まで"),
        "◆   使う場所: 🔒 DM と自分だけに見える回答",
        "◆   実行するなら /accept 3、しないなら /decline 3",
    ]
    edit = ChangeMemory(
        12, "会議は金曜", "会議は木曜", "仕事", (), "private", NEVER, "general", ("会議",), NINE
    )
    assert lines(edit)[1:-1] == [
        *BOTH,
        *("◆   カテゴリ: 一般 → 仕事", "◆   タグ: #会議 → なし", "◆   期限: ⌛ 2026-11-23 まで → なし"),
        "◆   使う場所: 🔒 DM と自分だけに見える回答",
    ]
    reminder = AddReminder("薬\n水", NINE, "0 9 * * *", "Asia/Tokyo", "terminal")
    assert lines(reminder, reader(zone="Europe/London"))[:-1] == [
        *("◆ 提案 #3: ⏰ お知らせを予約する", "  │ 薬", "  │ 水"),
        "◆   日時: 🔁 毎日 9:00（次は 11月23日(月) 9:00（Asia/Tokyo の時刻））",
    ]
    assert lines(replace(reminder, repeat=""), reader(Locale.EN))[3] == "◆   When: Mon, Nov 23, 9:00"


EVERY_TEXT: list[Callable[[str], ProposedChange]] = [
    lambda text: KeepMemory("x", "general", (), "anywhere", None, 1, text),
    lambda text: ChangeMemory(1, text, "x"),
    lambda text: ChangeMemory(1, "x", text),
    lambda text: ForgetMemory(1, text),
    lambda text: AddReminder(text, NINE, "", "Asia/Tokyo", "terminal"),
    lambda text: CancelReminder(1, text),
    lambda text: Draw((AddCard("x", text),)),
    lambda text: Draw((ShowText(text),)),
    lambda text: Draw((UpdateCard("shop", content=text),)),
]
IN_A_LINE: list[Callable[[str], ProposedChange]] = [
    lambda text: KeepMemory("x", text, (text,), "anywhere"),
    lambda text: ChangeMemory(1, "x", category=text, tags=(text,), category_before=text, tags_before=(text,)),
    lambda text: AddReminder("x", NINE, text, "Asia/Tokyo", "terminal"),
    lambda text: Draw((AddCard(text, "x"), ShowText("x", text), UpdateCard(text, text), RemoveElement(text))),
    lambda text: Draw((SetMode("focus", text), AddChart(text, "pie", ("x",), (Series("x", (1,)),)))),
]
anything = st.lists(st.sampled_from([*"◆◇│ あa1\n\r\t\x1b\x0b\x85\u2028\u2029\u202e\u200b💾", "\r\n"])).map(
    "".join
)


class TestText:
    def test_is_whole_at_every_width_and_has_a_bar_before_each_row(self) -> None:
        for change in EVERY_TEXT:
            for text in (LONG, FORGED):
                plain = lines(change(text))
                quoted = [line.removeprefix("  │ ") for line in plain if line.startswith("  │ ")]
                assert "\n".join(quoted).find(text.replace("\u2028", "\n")) >= 0
                assert [line for line in plain if not line.startswith(("◆ ", "  │ "))] == []
                assert [line for line in plain if begins_like_a_fact(line) and "#9" in line] == []
            for width in (24, 60):
                shown, forged = rows(change(LONG), width), rows(change(FORGED), width)
                assert LONG in "".join(row.removeprefix("  │ ") for row in shown if row.startswith("  │ "))
                assert [row for row in forged if "済み" in row and not row.startswith("  │ ")] == []
                assert all(cell_len(row) <= width for row in (*shown, *forged))

    @given(change=st.sampled_from([*EVERY_TEXT, *IN_A_LINE]), text=anything)
    @settings(max_examples=400)
    def test_adds_no_line_to_ours(self, change: Callable[[str], ProposedChange], text: str) -> None:
        usual, plain = lines(change("あ")), lines(change(text))
        stated = [line for line in plain if not line.startswith("  │ ")]
        assert len(stated) == len([line for line in usual if not line.startswith("  │ ")])
        assert all(line.startswith("◆ ") for line in stated)
        assert not set("\x1b\r\x0b\x85\u202e\u200b\u2028\u2029") & set("".join(plain))

    def test_shows_what_a_screen_would_not_and_leaves_kanji_and_emoji(self) -> None:
        shown = ["猫⟨U+202E⟩犬⟨U+200B⟩⟨U+001B⟩[2J⟨U+E0041⟩", ""]
        assert Quoted("猫\u202e犬\u200b\x1b[2J\U000e0041\n").lines == shown
        ordinary = "👨‍👩‍👧 ❤️ 1️⃣ 葛󠄀城市 辻󠄀さん ©️ が\tx"
        assert Quoted(ordinary).lines == [ordinary]
