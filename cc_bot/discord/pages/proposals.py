"""Proposals as they stand below an answer: the exact text before and after, and two buttons each.

They are made by code from what is stored, in embeds of a colour of their own: no model writes there. What
takes too much room is shown to its user alone, one proposal a message, when they ask for it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import hikari

from cc_bot.charts import table
from cc_bot.discord.pages.custom_ids import (
    ANY_ASKER,
    CallButton,
    ProposalButton,
    SeeProposalsButton,
    StopButton,
    parse_custom_id,
)
from cc_bot.discord.pages.memory import escape_markdown, last_day, timestamp
from cc_bot.discord.pages.page import (
    PROPOSAL_COLOUR,
    PROPOSALS_CHARACTERS,
    Button,
    Page,
    ShownProposal,
    TextFile,
)
from cc_bot.domain.canvas import Chart
from cc_bot.domain.claimed_call import CallState, ClaimedCall
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import spell_out
from cc_bot.domain.proposal import CallTool, Proposal
from cc_bot.domain.text import one_line, shorten
from cc_bot.texts import Texts
from cc_bot.texts.proposal import Time, Value, describe, gist

SHOWN_CHARACTERS: Final = 60
"""Of what was left undone."""
_STARTS_CHARACTERS: Final = 600
"""Of the texts of one that is too long, together: every line and field stands beside where each begins."""
_LINES_CHARACTERS: Final = PROPOSALS_CHARACTERS - 100
"""Of all that then stands there, above where the rest is."""
_CHART_WIDTH: Final = 40
_LINE_MARK: Final = re.compile(r"^([ \t]*\d*)([#+.-])", re.MULTILINE)
"""Of a heading or a list. No backslash stands before a digit: Discord would show it."""


def with_proposals(page: Page, proposals: Sequence[Proposal], words: Texts) -> Page:
    """An answer's last message with what it proposes."""
    if not proposals:
        return page
    shown = tuple(
        _proposal(proposal, number if len(proposals) > 1 else 0, words)
        for number, proposal in enumerate(proposals, 1)
    )
    [first, *_] = proposals
    see = SeeProposalsButton(first.key.user_id, first.answer_id)
    label = words.proposal.see.format(count=len(proposals))
    page = replace(page, why=words.proposal.reason(proposals))
    return replace(page, proposals=shown, see=Button(label, see.custom_id()))


def proposal_page(proposal: Proposal, words: Texts) -> Page:
    """A proposal in a message of its own."""
    shown = _proposal(proposal, 0, words)
    page = Page("", proposals=(shown,), why=words.proposal.reason((proposal,)))
    if page.embeds:
        return page
    parts = list(_parts(proposal, words))
    whole = "\n\n".join(part for line_and_text in parts for part in line_and_text if part)
    room = _STARTS_CHARACTERS // max(1, sum(bool(text) for _, text in parts))
    starts = "\n".join(_lines((line, shorten(text, room)) for line, text in parts))
    cut = replace(shown, text=f"{shorten(starts, _LINES_CHARACTERS)}\n-# {words.proposal.whole}")
    return replace(page, proposals=(cut,), file=TextFile(words.proposal.file_name, whole))


def left_line(proposal: Proposal, words: Texts) -> str:
    """The line that tells that it was left undone."""
    what = escape_markdown(shorten(gist(proposal, words), SHOWN_CHARACTERS))
    return words.proposal.undone(proposal.change).format(what=what)


def language_of(page: Page, words: Callable[[Locale], Texts]) -> Locale | None:
    """Return the language that the proposals of a page are written in; None where it has none."""
    labels = {button.label for shown in page.proposals for button in shown.buttons}
    for locale in Locale:
        yes = words(locale).proposal.call.yes
        if any(label.endswith(yes) for label in labels):
            return locale
    return None


def call_line(call: CallTool, state: CallState, words: Texts, *, stopped: bool = False) -> str:
    """The line that tells what came of a call that was agreed to."""
    return words.proposal.outcome(state, escape_markdown(one_line(call.what)), stopped=stopped)


def with_call_begun(page: Page, call: ClaimedCall, words: Texts) -> Page:
    """A message while one of its calls is made, with a button that stops it."""
    stop = Button(words.answer.stop, _stop_of(call))
    begun = replace(without(page, call.id), buttons=(stop, *page.buttons))
    return replace(begun, facts=page.facts.noting(call_line(call.change, "claimed", words)))


def with_call_ended(page: Page, call: ClaimedCall, words: Texts, *lines: str) -> Page:
    """A message once one of its calls is over, with these lines on what came of it; whatever it looked like
    before."""
    begun, stop = call_line(call.change, "claimed", words), _stop_of(call)
    facts = page.facts.without(begun)
    return replace(
        without(page, call.id),
        facts=replace(facts, notices=(*facts.notices, *lines)),
        buttons=tuple(button for button in page.buttons if button.custom_id != stop),
    )


def with_call_waiting(page: Page, call: ClaimedCall, words: Texts, before: Page) -> Page:
    """A message in which one of its calls waits again, that was about to be made; `before` is how it stood
    there."""
    rest = with_call_ended(page, call, words)
    there = {call.id, *map(proposal_of, rest.proposals)}
    return replace(
        rest, proposals=tuple(each for each in before.proposals if proposal_of(each) in there), why=before.why
    )


def _stop_of(call: ClaimedCall) -> str:
    return StopButton(ANY_ASKER, call.claimed_by).custom_id()


def is_proposal_button(button: Button) -> bool:
    """Return whether it decides on a proposal."""
    return isinstance(parse_custom_id(button.custom_id), ProposalButton | CallButton)


def read_proposals(
    embeds: Sequence[hikari.Embed], buttons: Sequence[Button]
) -> tuple[tuple[ShownProposal, ...], None, str]:
    """The proposals of a message of the bot's own, as Page has them: embeds and buttons are in one order."""
    own = [embed for embed in embeds if embed.colour == PROPOSAL_COLOUR and not embed.url]
    pairs = (tuple(buttons[at : at + 2]) for at in range(0, len(buttons), 2))
    why = own[-1].footer.text if own and own[-1].footer else None
    shown = (
        ShownProposal(embed.title or "", embed.description or "", pair)
        for embed, pair in zip(own, pairs, strict=False)
    )
    return tuple(shown), None, why or ""


def without(page: Page, proposal_id: int) -> Page:
    """The page without one of its proposals."""
    left = (each for each in page.proposals if proposal_of(each) != proposal_id)
    return replace(page, proposals=tuple(left))


def proposal_of(shown: ShownProposal) -> int | None:
    """Return which one it is, by its buttons."""
    parsed = parse_custom_id(shown.buttons[0].custom_id) if shown.buttons else None
    return parsed.proposal_id if isinstance(parsed, ProposalButton | CallButton) else None


def _proposal(proposal: Proposal, number: int, words: Texts) -> ShownProposal:
    """`number` is its place among several, 0 where it is alone."""
    told, user_id = words.proposal, proposal.key.user_id
    choice = told.choice(proposal.change)
    yes, no = (
        told.one_of.format(number=number, label=label) if number else label
        for label in (choice.yes, choice.no)
    )
    kind = CallButton if isinstance(proposal.change, CallTool) else ProposalButton
    buttons = (
        Button(yes, kind("do", user_id, proposal.id).custom_id(), primary=True),
        Button(no, kind("dont", user_id, proposal.id).custom_id()),
    )
    title = told.numbered.format(number=number) if number else told.title
    return ShownProposal(title, "\n".join(_lines(_parts(proposal, words))), buttons)


def _lines(parts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield lines in which the kind of change, and each text, stand out."""
    for number, (line, text) in enumerate(parts):
        yield f"-# {line}" if number and not text else f"**{line}**"
        if text:
            yield quote(text)


def _parts(proposal: Proposal, words: Texts) -> Iterator[tuple[str, str]]:
    """Yield each line that describes it, and the text below that, which may be empty."""
    for part in describe(proposal, words):
        below = table(part.below, _CHART_WIDTH) if isinstance(part.below, Chart) else part.below or ""
        yield part.line(lambda value: _write(value, words)), below


def _write(value: Value, words: Texts) -> str:
    """A value within a line of the bot's own."""
    match value:
        case None:
            return words.memory_card.nothing
        case str():
            return escape_markdown(value)
        case datetime():
            return last_day(value)
        case Time(due_at, ""):
            moment = timestamp(due_at, "R")
            return words.proposal.from_now.format(time=timestamp(due_at, "F"), moment=moment)
        case Time(due_at, repeat):
            return words.proposal.repeated.format(repeat=escape_markdown(repeat), time=timestamp(due_at, "F"))


def quote(text: str) -> str:
    """A text as it is, line by line behind a mark: none of its lines passes for another part."""
    marked = _LINE_MARK.sub(r"\1\\\2", escape_markdown(spell_out(text)))
    return "\n".join(f"> {line}" for line in marked.splitlines())
