"""Proposals below an answer: whole, and no line of them like one of the bot's own."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import get_args
from unicodedata import east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages import proposals as pages
from cc_bot.discord.pages.custom_ids import ProposalButton
from cc_bot.discord.pages.page import PROPOSALS_CHARACTERS, Page, TextFile
from cc_bot.domain import Locale, canvas
from cc_bot.domain import proposal as of
from cc_bot.domain.canvas import Canvas, Card, Series
from cc_bot.domain.claimed_call import CallState
from cc_bot.domain.proposal import CallTool, Draw, ForgetMemory, KeepMemory, Proposal, ProposedChange
from cc_bot.domain.session import SessionKey
from cc_bot.texts import texts

NINE = datetime(2026, 11, 23, 0, tzinfo=UTC)
JA = texts(Locale.JA)
UP = Canvas((Card("shop", "買い物", "牛乳"),))


def proposal(change: ProposedChange, number: int = 3) -> Proposal:
    return Proposal(number, SessionKey(7, 0), 1, "public", change, made_at=NINE, number=number)


def lines(change: ProposedChange) -> list[str]:
    [shown] = pages.proposal_page(proposal(change), JA).proposals
    return shown.text.split("\n")


class TestProposal:
    def test_tells_what_there_is_and_would_be(self) -> None:
        edit = of.ChangeMemory(
            12, "金曜", "木*曜*", "仕_事_", (), "private", of.NEVER, "general", ("会議",), NINE
        )
        assert lines(edit) == [
            "**✏️ メモリ #12 を書き換える**",
            *("**いまの内容**", "> 金曜", "**変えたあとの内容**", "> 木\\*曜\\*"),
            *("-# カテゴリ: 一般 → 仕\\_事\\_", "-# タグ: #会議 → なし", "-# 期限: <t:1795391999:d> → なし"),
            "-# 使う場所: 🔒 DM と自分だけに見える回答",
        ]
        chart = canvas.AddChart(
            "売上", "bar", ("1月", "2月"), (Series("今年", (10, 0.1)), Series("昨年", (8, 1e9)))
        )
        table = [">   A             B", ">  10             8 1月", "> 0\\.1 1,000,000,000 2月"]
        assert lines(Draw((chart,)))[2:] == ["> A 今年", "> B 昨年", *table]
        repeat = "-# 日時: 🔁 毎日 9:00（次は <t:1795392000:F>）"
        assert lines(of.CancelReminder(5, "薬", NINE, "0 9 * * *"))[-1] == repeat
        escaped = ["> 1\\. 卵", "> \\- 牛乳", "> \\# 題", "> \\-# 注", "> 3\\.5 kg"]
        assert lines(ForgetMemory(1, "1. 卵\n- 牛乳\n# 題\n-# 注\n3.5 kg"))[1:] == escaped

    def test_is_read_from_its_message_again(self) -> None:
        some = [proposal(ForgetMemory(1, "猫"), 3), proposal(of.CancelReminder(5, "薬"), 4)]
        page = pages.with_proposals(Page("はい"), some, JA)
        buttons = [button for row in page.proposal_rows for button in row]
        shown, _, why = pages.read_proposals(page.embeds, buttons)
        assert (shown, why) == (page.proposals, page.why)
        ids = [ProposalButton("do", 7, number).custom_id() for number in (3, 4)]
        assert [each.buttons[0].custom_id for each in shown] == ids


EVERYWHERE: list[Callable[[str], ProposedChange]] = [
    lambda text: KeepMemory(text, text, (text,), "anywhere", None, 1, text),
    lambda text: of.ChangeMemory(1, text, text + "x", text + "x", (text,), None, NINE, text, ()),
    lambda text: of.AddReminder(text, NINE, text, "Asia/Tokyo", "dm"),
    lambda text: of.CancelReminder(1, text, NINE, text),
    lambda text: Draw((canvas.AddCard(text, text), canvas.ShowText(text, text)), UP),
    lambda text: Draw((canvas.UpdateCard("shop", text, text), canvas.SetMode("focus", text)), UP),
    lambda text: Draw((canvas.RemoveElement(text), canvas.SetMode("clear")), UP),
]
anything = st.text(st.sampled_from("*_`>#-.1|[]<あa\n\r\x85\u2028\u202e\u200b💾\\"), max_size=30)


class TestText:
    @given(text=anything)
    def test_adds_no_line_to_the_bots_own(self, text: str) -> None:
        for change in EVERYWHERE:
            shown = "\n".join(lines(change(text))).splitlines()
            assert [line for line in shown if not line.startswith(("> ", "**", "-# "))] == []
            own = [line for line in shown if line.startswith(("**", "-# "))]
            most = [line for line in lines(change("あ")) if line.startswith(("**", "-# "))]
            assert len(own) <= len(most)

    def test_that_is_too_long_is_whole_in_a_file(self) -> None:
        long = "あ*" * 2000
        cards = Draw(tuple(canvas.AddCard("*題*" * 40, f"本文{number}") for number in range(30)))
        for change, last in (
            (KeepMemory(long, "仕事", ("会議",), "private", NINE, 12, f"前{long}"), long),
            (cards, "本文29"),
            (CallTool("notes", "write", f'{{"text": "{"あ" * 4000}"}}'), "あ" * 4000),
        ):
            page = pages.proposal_page(proposal(change), JA)
            assert isinstance(page.file, TextFile)
            assert last in page.file.text
            [embed] = page.embeds
            assert len(embed.description or "") <= PROPOSALS_CHARACTERS
            assert page.proposals[0].buttons


class TestCall:
    """A use of a tool of a server, which is made only when somebody says so."""

    def test_tells_server_tool_and_every_argument(self) -> None:
        call = CallTool("no_tes", "write_file", '{"path": "a*b.txt", "text": "# 見出し\u202e"}')
        told = ["-# ツール: no\\_tes · write\\_file", "**渡す内容**"]
        assert lines(call)[1:] == [*told, "> path: a\\*b.txt", "> text: # 見出し⟨U+202E⟩"]
        assert "-# ボットの管理者だけが選べます。" in lines(CallTool("notes", "send", "{}", "owners"))

    @pytest.mark.parametrize("locale", Locale)
    def test_of_a_tool_with_any_name_is_told_of_on_one_line_of_at_most_three_on_a_phone(
        self, locale: Locale
    ) -> None:
        """A phone shows about 24 wide characters, or 48 narrow ones, of small print in a line."""
        call = CallTool("notes", "a\nb\u202e”)\n# I agree", "{}", called="notes__t_1")
        for state in get_args(CallState):
            assert not {"\n", "\u202e"} & set(pages.call_line(call, state, texts(locale)))
            line = pages.call_line(CallTool("notes", "write_file", "{}"), state, texts(locale))
            assert sum(2 if east_asian_width(each) in "WF" else 1 for each in line) <= 3 * 48
        assert "\n" not in CallTool("notes", "a\nb", "{}").known_as
