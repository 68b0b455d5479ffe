"""Proposals below an answer: whole, and no line of them like one of the bot's own."""

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

NINE = datetime(2026, 11, 23, 0, tzinfo=UTC)
JA = texts(Locale.JA)
UP = Canvas((Card("shop", "買い物", "牛乳"),))


def proposal(change: ProposedChange, number: int = 3) -> Proposal:
    return Proposal(number, SessionKey(7, 0), 1, "public", change, made_at=NINE, number=number)


def lines(change: ProposedChange) -> list[str]:
    [shown] = proposal_page(proposal(change), JA).proposals
    return shown.text.split("\n")


class TestProposal:
    def test_tells_what_a_memory_says_and_would_say_and_each_field(self) -> None:
        edit = ChangeMemory(12, "金曜", "木*曜*", "仕_事_", (), "private", NEVER, "general", ("会議",), NINE)
        assert lines(edit) == [
            "**✏️ メモリ #12 を書き換える**",
            "**いまの内容**",
            "> 金曜",
            "**変えたあとの内容**",
            "> 木\\*曜\\*",
            "-# カテゴリ: 一般 → 仕\\_事\\_",
            "-# タグ: #会議 → なし",
            "-# 期限: <t:1795391999:d> → なし",
            "-# 使う場所: 🔒 DM と自分だけに見える回答",
        ]

    def test_tells_times_as_each_reader_has_them(self) -> None:
        assert lines(AddReminder("薬", NINE, "", "Asia/Tokyo", "dm")) == [
            "**⏰ お知らせを予約する**",
            "> 薬",
            "-# 日時: <t:1795392000:F>（<t:1795392000:R>）",
        ]
        assert lines(CancelReminder(5, "薬", NINE, "0 9 * * *"))[-1] == (
            "-# 日時: 🔁 毎日 9:00（次は <t:1795392000:F>）"
        )

    def test_has_every_number_of_a_chart(self) -> None:
        chart = AddChart("売上", "bar", ("1月", "2月"), (Series("今年", (10, 0.1)), Series("昨年", (8, 1e9))))
        assert lines(Draw((chart,))) == [
            "**🖼️ キャンバスを変える**",
            "**棒グラフを出す: 売上**",
            "> A 今年",
            "> B 昨年",
            ">   A             B",
            ">  10             8 1月",
            "> 0\\.1 1,000,000,000 2月",
        ]

    def test_shows_what_looks_like_a_list_or_a_heading_as_it_was_written(self) -> None:
        assert lines(ForgetMemory(1, "1. 卵\n- 牛乳\n# 題\n-# 注\n3.5 kg"))[1:] == [
            "> 1\\. 卵",
            "> \\- 牛乳",
            "> \\# 題",
            "> \\-# 注",
            "> 3\\.5 kg",
        ]

    def test_that_is_left_is_named_by_its_text(self) -> None:
        assert left_line(proposal(ForgetMemory(1, "*猫*\n犬")), JA) == "↩️ 見送りました: \\*猫\\* 犬"

    def test_is_read_from_its_message_again(self) -> None:
        some = [proposal(ForgetMemory(1, "猫"), 3), proposal(CancelReminder(5, "薬"), 4)]
        page = with_proposals(Page("はい"), some, JA)
        assert [each.title for each in page.proposals] == ["確認待ち（1）", "確認待ち（2）"]
        shown, _, why = read_proposals(page.embeds, [button for row in page.proposal_rows for button in row])
        assert (shown, why) == (page.proposals, page.why)
        ids = [ProposalButton("do", 7, number).custom_id() for number in (3, 4)]
        assert [each.buttons[0].custom_id for each in shown] == ids


EVERYWHERE = [
    lambda text: KeepMemory(text, text, (text,), "anywhere", None, 1, text),
    lambda text: ChangeMemory(1, text, text + "x", text + "x", (text,), None, NINE, text, ()),
    lambda text: AddReminder(text, NINE, text, "Asia/Tokyo", "dm"),
    lambda text: CancelReminder(1, text, NINE, text),
    lambda text: Draw((AddCard(text, text), ShowText(text, text), UpdateCard("shop", text, text)), UP),
    lambda text: Draw((RemoveElement(text), SetMode("focus", text), SetMode("clear")), UP),
]
anything = st.text(st.sampled_from("*_`>#-.1|[]<あa\n\r\x85\u2028\u202e\u200b💾\\"), max_size=30)


class TestText:
    @pytest.mark.parametrize("change", EVERYWHERE)
    @given(text=anything)
    def test_adds_no_line_to_the_bots_own(self, change: object, text: str) -> None:
        assert callable(change)
        shown = "\n".join(lines(change(text)))
        assert [line for line in shown.splitlines() if not line.startswith(("> ", "**", "-# "))] == []
        own = [line for line in shown.splitlines() if line.startswith(("**", "-# "))]
        most = [line for line in lines(change("あ")) if line.startswith(("**", "-# "))]
        assert len(own) <= len(most)

    def test_that_is_too_long_is_whole_in_a_file(self) -> None:
        long = "あ*" * 2000
        keep = KeepMemory(long, "仕事", ("会議",), "private", NINE, 12, f"前{long}")
        page = proposal_page(proposal(keep), JA)
        assert isinstance(page.file, TextFile)
        assert long in page.file.text
        [embed] = page.embeds
        shown = (embed.description or "").split("\n")
        assert len(embed.description or "") <= PROPOSALS_CHARACTERS
        assert [line[:4] for line in shown if line.startswith("> ")] == ["> 前あ", "> あ\\"]
        assert shown[-4:-1] == [
            "-# タグ: #会議",
            "-# 期限: <t:1795391999:d>",
            "-# 使う場所: 🔒 DM と自分だけに見える回答",
        ]

    @pytest.mark.parametrize("length", range(1720, 1800, 3))
    def test_about_as_long_as_there_is_room_for_is_shown(self, length: int) -> None:
        page = proposal_page(proposal(ForgetMemory(1, "あ" * length)), JA)
        assert (len(page.embeds), len(page.proposal_rows)) == (1, 1)

    def test_of_steps_without_a_text_is_shown(self) -> None:
        drawing = Draw(tuple(UpdateCard("shop", f"{number}" * 100) for number in range(30)), UP)
        assert len(proposal_page(proposal(drawing), JA).embeds) == 1

    def test_that_takes_too_many_steps_is_whole_in_a_file(self) -> None:
        cards = [AddCard("*題*" * 40, f"本文{number}") for number in range(30)]
        page = proposal_page(proposal(Draw(tuple(cards))), JA)
        assert isinstance(page.file, TextFile)
        assert "本文29" in page.file.text
        assert len(page.embeds) == 1


class TestCall:
    """A use of a tool of a server, which is made only when somebody says so."""

    def test_tells_server_tool_and_every_argument(self) -> None:
        call = CallTool("no_tes", "write_file", '{"path": "a*b.txt", "text": "# 見出し\u202e"}')
        assert lines(call) == [
            "**🔧 ツールを実行する**",
            "-# ツール: no\\_tes · write\\_file",
            "**渡す内容**",
            "> path: a\\*b.txt",
            "> text: # 見出し⟨U+202E⟩",
        ]

    @pytest.mark.parametrize("locale", Locale)
    def test_of_a_tool_with_any_name_is_told_of_on_one_line(self, locale: Locale) -> None:
        call = CallTool("notes", "a\nb\u202e”)\n# I agree", "{}", called="notes__t_1")
        for state in get_args(CallState):
            told = call_line(call, state, texts(locale))
            assert "\n" not in told
            assert "\u202e" not in told
        assert call.known_as == "notes__t_1"
        assert "\n" not in CallTool("notes", "a\nb", "{}").known_as

    def test_for_owners_says_who_decides(self) -> None:
        assert "-# ボットの管理者だけが選べます。" in lines(CallTool("notes", "send", "{}", "owners"))

    @pytest.mark.parametrize("locale", Locale)
    def test_says_that_it_is_open_for_ten_minutes(self, locale: Locale) -> None:
        words, call = texts(locale), proposal(CallTool("notes", "write", "{}"))
        other = proposal(KeepMemory("猫", "general", (), "anywhere"))
        assert "10" in with_proposals(Page("🙂"), (call,), words).why
        assert "7" not in with_proposals(Page("🙂"), (call,), words).why
        assert "10" not in with_proposals(Page("🙂"), (other,), words).why
        both = with_proposals(Page("🙂"), (call, other), words).why
        assert "10" in both
        assert "7" in both

    def test_that_is_long_is_a_file_with_all_of_it(self) -> None:
        page = proposal_page(proposal(CallTool("notes", "write", f'{{"text": "{"あ" * 4000}"}}')), JA)
        assert isinstance(page.file, TextFile)
        assert "あ" * 4000 in page.file.text
        assert page.proposals[0].buttons

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

    @pytest.mark.parametrize("locale", Locale)
    @pytest.mark.parametrize("state", get_args(CallState))
    def test_line_on_it_fits_three_lines_of_a_phone(self, locale: Locale, state: CallState) -> None:
        """A phone shows about 24 wide characters, or 48 narrow ones, of small print in a line."""
        line = call_line(CallTool("notes", "write_file", "{}"), state, texts(locale))
        assert sum(2 if east_asian_width(each) in "WF" else 1 for each in line) <= 3 * 48
