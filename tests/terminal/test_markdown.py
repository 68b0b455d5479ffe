import io
import re
import unicodedata
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from cc_bot.chat.stores.opening import Stores
from cc_bot.domain.chart import Chart, Series
from cc_bot.domain.text import Locale, printable
from cc_bot.domain.turn import TextDelta
from cc_bot.features.canvas.model import Canvas, Card
from cc_bot.features.canvas.terminal import canvas_panels
from cc_bot.terminal.commands import commands, run_line
from cc_bot.terminal.view import ModelText, RichView, short_line
from cc_bot.texts import texts
from tests.terminal.program import chat_of, profile

ANSWER = Path(__file__).with_name("answer.txt").read_text("utf-8").removesuffix("\n")


def lines(markup: str, width: int = 42) -> list[str]:
    console = Console(file=(out := io.StringIO()), width=width)
    console.print(ModelText(markup), end="")
    return out.getvalue().split("\n")[:-1]


class TestModelText:
    @settings(deadline=None)  # the first one loads the highlighter
    @given(st.lists(st.text("#*_`->|[]() \nあa1.", max_size=12) | st.text(max_size=20)).map("".join))
    def test_fit_the_width_and_have_no_blanks_at_line_ends(self, markup: str) -> None:
        for line in lines(markup, width=22):
            assert cell_len(line) <= 22
            assert line == line.rstrip()

    def test_are_shown_as_they_are(self) -> None:
        shown = lines(ANSWER)
        assert {"改行のままです。", " <div>"} <= {*shown}
        assert any(line.startswith("List<String> と") for line in shown)
        assert lines("[ここ](https://example.com)") == ["ここ (https://example.com)"]
        table = "".join(lines(ANSWER, width=32)).replace(" ", "")
        assert ("秋から" in table, "…" in table) == (True, False)
        fenced = lines("お話です。```python\nprint()\n```\n| 名前 | 数 |\n|---|---|\n| 猫 | 2 |")
        assert [line for line in fenced if "`" in line or "|" in line] == []
        assert lines("a\x1b[2Jb\x9bc") == ["a[2Jbc"]

    def test_are_redrawn_while_they_come_and_whole_at_the_end(self) -> None:
        console = Console(file=(out := io.StringIO()), width=40, height=10, force_terminal=True)
        with RichView(console).open_answer(texts(Locale.JA)) as answer:
            for number in range(40):
                answer.show(TextDelta(f"段落 {number}です。\n\n"))
        whole = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", out.getvalue().rpartition("\x1b[2K")[2])
        assert [line for line in whole.splitlines() if line] == [f"段落 {at}です。" for at in range(40)]


async def test_help_memories_and_a_canvas_are_whole_at_every_width(stores: Stores) -> None:
    await stores.memories.add(
        0, "毎週水曜日は燃えるゴミの日。\n朝八時まで\x1b[31m", category="くらし", tags=["曜日"]
    )
    spending = Chart("chart-1", "支出", "bar", ("食費", "本"), (Series("円", (12000.0, 3000.0)),))
    secret = Card("card-1", "金庫", "番号は**上の段**\x1b[31m", visibility="private")
    for width in (40, 120):
        view = RichView(Console(file=(out := io.StringIO()), width=width))
        chat = chat_of(stores, profile(Locale.JA), view)
        for line in ("/help", "/memory"):
            await run_line(chat, line)
        view.show_panels(*canvas_panels(Canvas((secret, spending), "board"), chat.texts))
        view.say("[bold]これ[/bold] :smile:")
        lines = out.getvalue().splitlines()
        assert max(map(cell_len, lines)) <= width
        assert "\x1b[31m" not in out.getvalue()
        shown = "".join("".join(lines).split())
        if width < 80:  # columns wrap
            continue
        parts = (
            *(name.split()[-1] for name in commands()),
            "Alt+Enter",
            "毎週水曜日は燃えるゴミの日。朝八時まで",
            "くらし #曜日",
            "🔒金庫",
            "12,000███",
        )
        for part in (*parts, "[bold]これ[/bold]:smile:"):
            assert part.replace(" ", "") in shown, part


@given(st.text(st.characters()), st.integers(1, 50))
def test_no_control_character_gets_through(text: str, limit: int) -> None:
    left = printable(text)
    assert not [c for c in left if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\t\n"]
    left.encode()
    line = short_line(text, limit)
    assert len(line) <= limit
    assert "\n" not in line
