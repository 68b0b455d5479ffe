"""Renders proposals as boxes of a card, each with its two buttons."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from cc_bot.charts.table import text_table
from cc_bot.discord.pages.custom_ids import ANY_ASKER, ProposalButton, SeeProposalsButton, StopButton
from cc_bot.discord.pages.page import (
    MAX_CARD_CHARACTERS,
    PROPOSAL_COLOUR,
    Box,
    Button,
    Page,
    Paragraph,
    TextFile,
    escape_markdown,
    plain_label,
    small_print,
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
_MAX_LINES_CHARACTERS: Final = MAX_CARD_CHARACTERS - 500
_CHART_WIDTH: Final = 40
_LINE_MARK: Final = re.compile(r"^([ \t]*\d*)([#+.-])", re.MULTILINE)
"""Marks of headings and lists. A digit can't be escaped, so the dot after it is."""


def proposal_boxes(proposals: Sequence[Proposal], words: Texts) -> tuple[Box, ...]:
    """Return one box per proposal. A line below the boxes says that nothing has been done yet."""
    open_ones = [each for each in proposals if each.state == "open"]
    boxes = [_box(each, "\n".join(_lines(_parts(each, words))), words) for each in proposals]
    if open_ones:
        boxes.append(Box((Paragraph(f"-# {words[ProposalTexts].reason(open_ones)}"),)))
    return tuple(boxes)


def see_box(proposals: Sequence[Proposal], words: Texts) -> Box:
    """Return what replaces proposals that do not fit."""
    see = SeeProposalsButton(proposals[0].key.user_id, proposals[0].answer_id)
    label = words[ProposalTexts].open_count.format(count=sum(each.state == "open" for each in proposals))
    reason = Paragraph("\n".join(small_print(words[ProposalTexts].reason(proposals))))
    return Box((reason,), PROPOSAL_COLOUR, (Button(label, see.custom_id()),))


def proposal_page(proposal: Proposal, words: Texts) -> Page:
    """Return the card of one proposal. A long text becomes a file."""
    page = Page(boxes=proposal_boxes([proposal], words))
    if page.fits_in_card:
        return page
    parts = list(_parts(proposal, words))
    whole = "\n\n".join(part for line_and_text in parts for part in line_and_text if part)
    max_characters = _MAX_EXCERPT_CHARACTERS // max(1, sum(bool(text) for _, text in parts))
    excerpt = "\n".join(_lines((line, shorten(text, max_characters)) for line, text in parts))
    notices = small_print(words[ProposalTexts].all_in_file, words[ProposalTexts].reason([proposal]))
    text = "\n".join((shorten(excerpt, _MAX_LINES_CHARACTERS), *notices))
    return Page(boxes=(_box(proposal, text, words, TextFile(words[ProposalTexts].file_name, whole)),))


def outcome_line(proposal: Proposal, state: CallState, words: Texts, *, stopped: bool = False) -> str:
    return words[ProposalTexts].outcome(state, _title(proposal), stopped=stopped)


def declined_line(proposal: Proposal, words: Texts) -> str:
    return words[ProposalTexts].declined.format(what=_title(proposal))


def _box(proposal: Proposal, text: str, words: Texts, file: TextFile | None = None) -> Box:
    texts, shown = words[ProposalTexts], proposal.content.shown
    ids = (proposal.key.user_id, proposal.answer_id, proposal.id)
    do, dont = (ProposalButton(action, *ids).custom_id() for action in ("do", "dont"))
    if proposal.state != "open":  # the disabled button holds the ids
        stop = Button(words[AnswerTexts].stop, StopButton(ANY_ASKER, proposal.claimed_by).custom_id())
        line = Paragraph(outcome_line(proposal, proposal.state, words))
        return Box((line,), PROPOSAL_COLOUR, (stop, Button(shown.yes, do, enabled=False)))
    source = plain_label(proposal.content.origin.source, MAX_TITLE_CHARACTERS)
    title = texts.title_with_source.format(source=source) if source else texts.title
    buttons = (Button(shown.yes, do, primary=True), Button(shown.no, dont))
    return Box((Paragraph(f"-# {title}\n{text}"),), PROPOSAL_COLOUR, buttons, file)


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
    """Quote each line, so that none can imitate another part of the card."""
    marked = _LINE_MARK.sub(r"\1\\\2", escape_markdown(show_invisible(text)))
    return "\n".join(f"> {line}" for line in marked.splitlines())
