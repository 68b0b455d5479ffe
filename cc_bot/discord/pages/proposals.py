"""Renders proposals as embeds with two buttons each, below an answer or in messages of their own."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final

import hikari

from cc_bot.charts.table import text_table
from cc_bot.discord.pages.custom_ids import (
    ANY_ASKER,
    ProposalButton,
    SeeProposalsButton,
    StopButton,
    parse_custom_id,
)
from cc_bot.discord.pages.page import (
    MAX_PROPOSALS_CHARACTERS,
    PROPOSAL_COLOUR,
    Button,
    Page,
    ShownProposal,
    TextFile,
    escape_markdown,
    timestamp,
)
from cc_bot.domain.chart import Chart
from cc_bot.domain.message import show_invisible
from cc_bot.domain.proposal import CallState, Moment, Proposal, Value
from cc_bot.domain.text import shorten
from cc_bot.features.memory.texts import MemoryCardTexts
from cc_bot.features.memory.views import format_last_day
from cc_bot.texts import Texts
from cc_bot.texts.answer import AnswerTexts
from cc_bot.texts.proposal import ProposalTexts

MAX_TITLE_CHARACTERS: Final = 60
_MAX_EXCERPT_CHARACTERS: Final = 600  # for all texts of a shortened proposal
_MAX_LINES_CHARACTERS: Final = MAX_PROPOSALS_CHARACTERS - 100
_CHART_WIDTH: Final = 40
_LINE_MARK: Final = re.compile(r"^([ \t]*\d*)([#+.-])", re.MULTILINE)
"""Marks of headings and lists. A digit can't be escaped, so the dot after it is."""


def with_proposals(page: Page, proposals: Sequence[Proposal], words: Texts) -> Page:
    """Replace a page's proposals. The text of a single long one becomes a file."""
    stops = tuple(
        Button(words[AnswerTexts].stop, StopButton(ANY_ASKER, each.claimed_by).custom_id())
        for each in proposals
        if each.state == "claimed"
    )
    other_buttons = (each for each in page.buttons if not _is_for_proposals(each))
    ordered = sorted(proposals, key=lambda each: each.state != "open")  # as read_proposals expects
    shown = tuple(_render(each, words) for each in ordered)
    page = replace(page, buttons=(*stops, *other_buttons), proposals=shown, see_button=None, reason="")
    open_ones = [each for each in ordered if each.state == "open"]
    if not open_ones:
        return page
    page = replace(page, reason=words[ProposalTexts].reason(open_ones))
    if not page.content and len(shown) == 1 and not page.proposal_rows:
        return _shorten(page, open_ones[0], words)
    see = SeeProposalsButton(open_ones[0].key.user_id, open_ones[0].answer_id)
    label = words[ProposalTexts].open_count.format(count=len(open_ones))
    return replace(page, see_button=Button(label, see.custom_id()))


def _shorten(page: Page, proposal: Proposal, words: Texts) -> Page:
    parts = list(_parts(proposal, words))
    whole = "\n\n".join(part for line_and_text in parts for part in line_and_text if part)
    max_characters = _MAX_EXCERPT_CHARACTERS // max(1, sum(bool(text) for _, text in parts))
    excerpt = "\n".join(_lines((line, shorten(text, max_characters)) for line, text in parts))
    text = f"{shorten(excerpt, _MAX_LINES_CHARACTERS)}\n-# {words[ProposalTexts].all_in_file}"
    page = replace(page, proposals=(replace(page.proposals[0], text=text),))
    if any(isinstance(each, TextFile) for each in page.files):
        return page
    return replace(page, files=(*page.files, TextFile(words[ProposalTexts].file_name, whole)))


def update_proposals(page: Page, proposals: Sequence[Proposal], pressed_id: int, words: Texts) -> Page:
    """Update the answer's proposals on its page, or the pressed one on a page of its own."""
    return with_proposals(page, [each for each in proposals if page.content or each.id == pressed_id], words)


def outcome_line(proposal: Proposal, state: CallState, words: Texts, *, stopped: bool = False) -> str:
    return words[ProposalTexts].outcome(state, _title(proposal), stopped=stopped)


def declined_line(proposal: Proposal, words: Texts) -> str:
    return words[ProposalTexts].declined.format(what=_title(proposal))


def read_proposals(
    embeds: Sequence[hikari.Embed], buttons: Sequence[Button]
) -> tuple[tuple[ShownProposal, ...], str]:
    """Return a message's proposals, of which the first ones have buttons, and the reason for them."""
    own = [embed for embed in embeds if embed.colour == PROPOSAL_COLOUR and not embed.url]
    pairs = (tuple(buttons[at : at + 2]) for at in range(0, len(buttons), 2))
    reason = own[-1].footer.text if own and own[-1].footer else None
    shown = (
        ShownProposal(embed.title or "", embed.description or "", pair)
        for embed, pair in zip_longest(own, pairs, fillvalue=())
        if isinstance(embed, hikari.Embed)
    )
    return tuple(shown), reason or ""


def _is_for_proposals(button: Button) -> bool:
    parsed = parse_custom_id(button.custom_id)
    is_stop = isinstance(parsed, StopButton) and parsed.user_id == ANY_ASKER
    return is_stop or isinstance(parsed, SeeProposalsButton)


def _render(proposal: Proposal, words: Texts) -> ShownProposal:
    texts, number = words[ProposalTexts], proposal.content.position
    ids = (proposal.key.user_id, proposal.answer_id, proposal.id)
    title = texts.numbered.format(number=number) if number else texts.title
    if proposal.state != "open":
        return ShownProposal(title, outcome_line(proposal, proposal.state, words), ())
    yes, no = (
        f"{number}. {label}" if number else label
        for label in (proposal.content.shown.yes, proposal.content.shown.no)
    )
    buttons = (
        Button(yes, ProposalButton("do", *ids).custom_id(), primary=True),
        Button(no, ProposalButton("dont", *ids).custom_id()),
    )
    return ShownProposal(title, "\n".join(_lines(_parts(proposal, words))), buttons)


def _title(proposal: Proposal) -> str:
    return escape_markdown(shorten(proposal.title, MAX_TITLE_CHARACTERS))


def _lines(parts: Iterable[tuple[str, str]]) -> Iterator[str]:
    for number, (line, text) in enumerate(parts):
        yield f"-# {line}" if number and not text else f"**{line}**"
        if text:
            yield quote(text)


def _parts(proposal: Proposal, words: Texts) -> Iterator[tuple[str, str]]:
    for part in proposal.content.shown.parts:
        below = text_table(part.below, _CHART_WIDTH) if isinstance(part.below, Chart) else part.below or ""
        yield part.format(lambda value: _format_value(value, words)), below


def _format_value(value: Value, words: Texts) -> str:
    match value:
        case None:
            return words[MemoryCardTexts].nothing
        case str():
            return escape_markdown(value)
        case Moment(at, ends_day=True):
            return format_last_day(at)
        case Moment(at, repeat=""):
            return words[ProposalTexts].time_distance.format(
                time=timestamp(at, "F"), moment=timestamp(at, "R")
            )
        case Moment(at, repeat=repeat):
            return words[ProposalTexts].repeat_with_next_time.format(
                repeat=escape_markdown(repeat), time=timestamp(at, "F")
            )


def quote(text: str) -> str:
    """Quote each line, so that none can imitate another part of the embed."""
    marked = _LINE_MARK.sub(r"\1\\\2", escape_markdown(show_invisible(text)))
    return "\n".join(f"> {line}" for line in marked.splitlines())
