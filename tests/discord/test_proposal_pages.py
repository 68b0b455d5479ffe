"""Proposals below an answer: whole, and no line of them like one of the bot's own."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import get_args
from unicodedata import east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.custom_ids import ProposalButton
from cc_bot.discord.pages.page import PROPOSALS_CHARACTERS, Button, Page, TextFile
from cc_bot.discord.pages.proposals import (
    call_line,
    left_line,
    proposal_page,
    read_proposals,
    with_call_begun,
    with_call_ended,
    with_proposals,
)
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
from cc_bot.domain.claimed_call import CallState, ClaimedCall
from cc_bot.domain.proposal import (
    NEVER,
    AddReminder,
    CallTool,
    CancelReminder,
    ChangeMemory,
    Draw,
    ForgetMemory,
    KeepMemory,
    Proposal,
    ProposedChange,
)
from cc_bot.domain.session import SessionKey
from cc_bot.texts import texts
from tests.discord.cases import check

NINE = datetime(2026, 11, 23, 0, tzinfo=UTC)
JA = texts(Locale.JA)
UP = Canvas((Card("shop", "買い物", "牛乳"),))


def proposal(change: ProposedChange, number: int = 3) -> Proposal:
    return Proposal(number, SessionKey(7, 0), 1, "public", change, made_at=NINE, number=number)


def lines(change: ProposedChange) -> list[str]:
    [shown] = proposal_page(proposal(change), JA).proposals
    return shown.text.split("\n")


class TestProposal:
    def test_tells_what_there_is_and_would_be_of_each_kind(self) -> None:
        edit = ChangeMemory(12, "金曜", "木*曜*", "仕_事_", (), "private", NEVER, "general", ("会議",), NINE)
        chart = AddChart("売上", "bar", ("1月", "2月"), (Series("今年", (10, 0.1)), Series("昨年", (8, 1e9))))
        check(
            (
                lines(edit),
                [
                    "**✏️ メモリ #12 を書き換える**",
                    "**いまの内容**",
                    "> 金曜",
                    "**変えたあとの内容**",
                    "> 木\\*曜\\*",
                    "-# カテゴリ: 一般 → 仕\\_事\\_",
                    "-# タグ: #会議 → なし",
                    "-# 期限: <t:1795391999:d> → なし",
                    "-# 使う場所: 🔒 DM と自分だけに見える回答",
                ],
            ),
            (
                lines(AddReminder("薬", NINE, "", "Asia/Tokyo", "dm"))[1:],
                ["> 薬", "-# 日時: <t:1795392000:F>（<t:1795392000:R>）"],
            ),
            (
                lines(CancelReminder(5, "薬", NINE, "0 9 * * *"))[-1],
                "-# 日時: 🔁 毎日 9:00（次は <t:1795392000:F>）",
            ),
            (
                lines(Draw((chart,)))[2:],
                [
                    "> A 今年",
                    "> B 昨年",
                    ">   A             B",
                    ">  10             8 1月",
                    "> 0\\.1 1,000,000,000 2月",
                ],
            ),
            (
                lines(ForgetMemory(1, "1. 卵\n- 牛乳\n# 題\n-# 注\n3.5 kg"))[1:],
                ["> 1\\. 卵", "> \\- 牛乳", "> \\# 題", "> \\-# 注", "> 3\\.5 kg"],
            ),
            (left_line(proposal(ForgetMemory(1, "*猫*\n犬")), JA), "↩️ 見送りました: \\*猫\\* 犬"),
        )

    def test_is_read_from_its_message_again(self) -> None:
        some = [proposal(ForgetMemory(1, "猫"), 3), proposal(CancelReminder(5, "薬"), 4)]
        page = with_proposals(Page("はい"), some, JA)
        assert [each.title for each in page.proposals] == ["確認待ち（1）", "確認待ち（2）"]
        shown, _, why = read_proposals(page.embeds, [button for row in page.proposal_rows for button in row])
        assert (shown, why) == (page.proposals, page.why)
        ids = [ProposalButton("do", 7, number).custom_id() for number in (3, 4)]
        assert [each.buttons[0].custom_id for each in shown] == ids


EVERYWHERE: list[Callable[[str], ProposedChange]] = [
    lambda text: KeepMemory(text, text, (text,), "anywhere", None, 1, text),
    lambda text: ChangeMemory(1, text, text + "x", text + "x", (text,), None, NINE, text, ()),
    lambda text: AddReminder(text, NINE, text, "Asia/Tokyo", "dm"),
    lambda text: CancelReminder(1, text, NINE, text),
    lambda text: Draw((AddCard(text, text), ShowText(text, text), UpdateCard("shop", text, text)), UP),
    lambda text: Draw((RemoveElement(text), SetMode("focus", text), SetMode("clear")), UP),
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
        cards = Draw(tuple(AddCard("*題*" * 40, f"本文{number}") for number in range(30)))
        for change, last in (
            (KeepMemory(long, "仕事", ("会議",), "private", NINE, 12, f"前{long}"), long),
            (cards, "本文29"),
            (CallTool("notes", "write", f'{{"text": "{"あ" * 4000}"}}'), "あ" * 4000),
        ):
            page = proposal_page(proposal(change), JA)
            assert isinstance(page.file, TextFile)
            assert last in page.file.text
            [embed] = page.embeds
            assert len(embed.description or "") <= PROPOSALS_CHARACTERS
            assert page.proposals[0].buttons
        shown = lines(KeepMemory(long, "仕事", ("会議",), "private", NINE, 12, f"前{long}"))
        assert [line[:4] for line in shown if line.startswith("> ")] == ["> 前あ", "> あ\\"]
        assert shown[-4:-1] == [
            "-# タグ: #会議",
            "-# 期限: <t:1795391999:d>",
            "-# 使う場所: 🔒 DM と自分だけに見える回答",
        ]

    def test_about_as_long_as_there_is_room_for_is_shown(self) -> None:
        for length in range(1720, 1800, 3):
            page = proposal_page(proposal(ForgetMemory(1, "あ" * length)), JA)
            assert (len(page.embeds), len(page.proposal_rows)) == (1, 1)
        drawing = Draw(tuple(UpdateCard("shop", f"{number}" * 100) for number in range(30)), UP)
        assert len(proposal_page(proposal(drawing), JA).embeds) == 1


class TestCall:
    """A use of a tool of a server, which is made only when somebody says so."""

    def test_tells_server_tool_and_every_argument(self) -> None:
        call = CallTool("no_tes", "write_file", '{"path": "a*b.txt", "text": "# 見出し\u202e"}')
        assert lines(call)[1:] == [
            "-# ツール: no\\_tes · write\\_file",
            "**渡す内容**",
            "> path: a\\*b.txt",
            "> text: # 見出し⟨U+202E⟩",
        ]
        assert "-# ボットの管理者だけが選べます。" in lines(CallTool("notes", "send", "{}", "owners"))

    @pytest.mark.parametrize("locale", Locale)
    def test_of_a_tool_with_any_name_is_told_of_on_one_line_of_at_most_three_on_a_phone(
        self, locale: Locale
    ) -> None:
        """A phone shows about 24 wide characters, or 48 narrow ones, of small print in a line."""
        call = CallTool("notes", "a\nb\u202e”)\n# I agree", "{}", called="notes__t_1")
        for state in get_args(CallState):
            assert not {"\n", "\u202e"} & set(call_line(call, state, texts(locale)))
            line = call_line(CallTool("notes", "write_file", "{}"), state, texts(locale))
            assert sum(2 if east_asian_width(each) in "WF" else 1 for each in line) <= 3 * 48
        assert call.known_as == "notes__t_1"
        assert "\n" not in CallTool("notes", "a\nb", "{}").known_as

    @pytest.mark.parametrize("locale", Locale)
    def test_being_made_has_a_stop_button_and_ends_without(self, locale: Locale) -> None:
        words, waiting = texts(locale), proposal(change := CallTool("notes", "write_file", "{}"))
        page = with_proposals(Page("🙂", (Button("again", "again:7:1"),)), (waiting,), words)
        call = ClaimedCall(
            waiting.id, waiting.key, 1, "public", change, claimed_at=NINE, claimed_by="a1b2c3d4e5f6a7"
        )
        begun = with_call_begun(page, call, words)
        assert [button.label for button in begun.buttons] == [words.answer.stop, "again"]
        assert begun.proposals == ()
        line = call_line(change, "done", words)
        ended = with_call_ended(begun, call, words, line)
        assert (ended.facts.notices, ended.buttons) == ((line,), page.buttons)
        assert with_call_ended(page, call, words, line) == ended
