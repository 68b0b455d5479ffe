"""Proposals below an answer: whole, and no line of them like one of the bot's own."""

from dataclasses import replace
from typing import get_args
from unicodedata import east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.chat.consent import describe, field_line
from cc_bot.discord.pages import proposals as pages
from cc_bot.discord.pages.cards import Card
from cc_bot.discord.pages.custom_ids import (
    ANY_ASKER,
    ProposalButton,
    SeeProposalsButton,
    StopButton,
    parse_custom_id,
)
from cc_bot.discord.pages.page import Page, post_arguments
from cc_bot.domain.proposal import CallState, Moment, Proposal, ProposalLine, ProposedCalls
from cc_bot.domain.text import Locale
from cc_bot.features.canvas.texts import CanvasProposalTexts
from cc_bot.texts import texts
from cc_bot.texts.proposal import ProposalTexts
from tests.loopback.discord.limits import check_components
from tests.proposals import CHART, IN_LINES, NINE, QUOTING, change, remembering, stored, using

JA = texts(Locale.JA)
SENTENCES, DRAWING = JA[ProposalTexts], JA[CanvasProposalTexts]


def card_with(*proposals: Proposal) -> Page:
    [page] = Card(7, proposals=proposals).pages(JA)
    check_components([dict(each.build()[0]) for each in post_arguments(page)["components"]], v2=True)
    return page


def lines(content: ProposedCalls) -> list[str]:
    """The lines below the title. The reason is below the box."""
    text, reason = card_with(stored(content)).texts
    title, *between = text.split("\n")
    assert (title, reason) == (f"-# {SENTENCES.title}", f"-# {SENTENCES.reason([stored(content)])}")
    return between


def controls(page: Page) -> list[list[object]]:
    return [[parse_custom_id(each.custom_id) for each in box.buttons] for box in page.boxes]


class TestProposal:
    def test_tells_what_there_is_and_would_be(self) -> None:
        until = Moment(NINE, ends_day=True)
        edit = describe(
            SENTENCES.change,
            ProposalLine(SENTENCES.old_text, below="金*曜*"),
            field_line("カテゴリ", "仕_事_", JA),
            ProposalLine(SENTENCES.changed_field, {"name": "期限", "old": until, "new": None}),
            number=12,
        )
        assert lines(change(edit)) == [
            *("**✏️ メモリ #12 を書き換える**", "**いまの内容**", "> 金\\*曜\\*"),
            *("-# カテゴリ: 仕\\_事\\_", "-# 期限: <t:1795391999:D> → なし"),
        ]
        table = [">   A             B", ">  10             8 1月", "> 0\\.1 1,000,000,000 2月"]
        drawing = describe(DRAWING.draw, ProposalLine(DRAWING.draw_chart["bar"], {"title": "売上"}, CHART))
        assert lines(change(drawing))[2:] == ["> A 今年", "> B 昨年", *table]
        again = describe(SENTENCES.cancel, field_line("日時", Moment(NINE, repeat="毎日 9:00"), JA), number=5)
        assert lines(change(again))[-1] == "-# 日時: 🔁 毎日 9:00（次は <t:1795392000:F>）"
        escaped = ["> 1\\. 卵", "> \\- 牛乳", "> \\# 題", "> \\-# 注", "> 3\\.5 kg"]
        listed = describe(SENTENCES.forget, text="1. 卵\n- 牛乳\n# 題\n-# 注\n3.5 kg")
        assert lines(change(listed))[1:] == escaped

    def test_has_its_buttons_below_it_also_beside_one_that_is_being_made(self) -> None:
        claimed = replace(stored(using("t", {}), 5), state="claimed", claimed_by="a1")
        page = card_with(claimed, stored(remembering("猫")), stored(remembering("鳥"), 4))
        ids = [[ProposalButton(action, 7, 1, number) for action in ("do", "dont")] for number in (3, 4)]
        assert controls(page) == [[StopButton(ANY_ASKER, "a1"), ProposalButton("do", 7, 1, 5)], *ids, []]
        assert [each.enabled for each in page.boxes[0].buttons] == [True, False]
        assert [text.count(SENTENCES.nothing_changed) for text in page.texts] == [0, 0, 0, 1]

    def test_says_which_file_or_page_it_comes_from(self) -> None:
        content = remembering("猫")
        content = replace(content, origin=replace(content.origin, source="a.example · 案*内 http://b <@7>"))
        title = SENTENCES.title_with_source.format(source="a.example · 案\\*内 b \\<@7\\>")
        assert card_with(stored(content)).texts[0].startswith(f"-# {title}\n")

    def test_for_which_there_is_no_room_can_be_seen_alone(self) -> None:
        many = [stored(change(describe(SENTENCES.remember, text="あ" * 1900)), number) for number in (3, 4)]
        assert controls(card_with(*many)) == [[SeeProposalsButton(7, 1)]]
        assert controls(pages.proposal_page(many[0], JA))[0][0] == ProposalButton("do", 7, 1, 3)


anything = st.text(st.sampled_from("*_`>#-.1|[]<あa\n\r\x85\u2028\u202e\u200b💾\\"), max_size=30)


class TestText:
    @given(text=anything)
    def test_adds_no_line_to_the_bots_own(self, text: str) -> None:
        for made in (*QUOTING, *IN_LINES):
            shown = "\n".join(lines(made(text))).splitlines()
            assert [line for line in shown if not line.startswith(("> ", "**", "-# "))] == []
            own = [line for line in shown if line.startswith(("**", "-# "))]
            most = [line for line in lines(made("あ")) if line.startswith(("**", "-# "))]
            assert len(own) <= len(most)

    def test_that_is_too_long_is_whole_in_a_file(self) -> None:
        long = "あ*" * 2000
        cards = [
            ProposalLine(DRAWING.draw_card, {"title": "*題*" * 40}, f"本文{number}") for number in range(30)
        ]
        for content, last in (
            (
                change(
                    describe(
                        SENTENCES.replace, ProposalLine(SENTENCES.new_text, below=long), text=f"前{long}"
                    )
                ),
                long,
            ),
            (change(describe(DRAWING.draw, *cards)), "本文29"),
            (using("notes · write", {"text": "あ" * 4000}), "あ" * 4000),
        ):
            page = pages.proposal_page(stored(content), JA)
            [box] = page.boxes
            assert box.file
            assert last in box.file.text
            assert page.fits_in_card
            assert box.buttons


class TestCall:
    """A use of a tool of a server, which is made only when its user approves."""

    def test_tells_server_tool_and_every_argument(self) -> None:
        call = using("no_tes · write_file", {"path": "a*b.txt", "text": "# 見出し\u202e"})
        told = ["-# ツール: no\\_tes · write\\_file", "**渡す内容**"]
        assert lines(call)[1:] == [*told, "> path: a\\*b.txt", "> text: # 見出し⟨U+202E⟩"]
        assert f"-# {SENTENCES.owners_only}" in lines(using("notes · send", {}, approvers="owners"))

    @pytest.mark.parametrize("locale", Locale)
    def test_of_a_tool_with_any_name_is_told_of_on_one_line_of_at_most_three_on_a_phone(
        self, locale: Locale
    ) -> None:
        """A phone shows about 24 wide characters, or 48 narrow ones, of small print in a line."""
        for state in get_args(CallState)[1:]:
            odd = stored(using("notes · a\nb\u202e”)\n# I agree", {}))
            assert not {"\n", "\u202e"} & set(pages.outcome_line(odd, state, texts(locale)))
            line = pages.outcome_line(stored(using("notes · write_file", {})), state, texts(locale))
            assert sum(2 if east_asian_width(each) in "WF" else 1 for each in line) <= 3 * 48
