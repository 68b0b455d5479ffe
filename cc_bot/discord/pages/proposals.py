"""Proposals as they stand below an answer: the exact text before and after, and two buttons each.

They are made by code from what is stored, in embeds of a colour of their own: no model writes there. What
takes too much room is shown to its user alone, one proposal a message, when they ask for it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import hikari

from cc_bot.charts import table
from cc_bot.discord.pages.custom_ids import ProposalButton, SeeProposalsButton, parse_custom_id
from cc_bot.discord.pages.memory_view import escaped, last_day, one_line, shortened, timestamp
from cc_bot.discord.pages.page import (
    PROPOSAL_COLOUR,
    PROPOSALS_CHARACTERS,
    Button,
    Page,
    ShownProposal,
    TextFile,
)
from cc_bot.domain.canvas import (
    AddCard,
    AddChart,
    Canvas,
    CanvasCommand,
    Chart,
    Element,
    RemoveElement,
    SetMode,
    ShowText,
    UpdateCard,
)
from cc_bot.domain.message import written_out
from cc_bot.domain.proposal import (
    AS_IT_IS,
    NEVER,
    AddReminder,
    CancelReminder,
    ChangeMemory,
    Draw,
    ForgetMemory,
    KeepMemory,
    Proposal,
    steps,
)
from cc_bot.texts import Texts
from cc_bot.texts.repeats import described

SHOWN_CHARACTERS: Final = 60
"""Of what was left undone."""
_CHART_WIDTH: Final = 40
_LINE_MARK: Final = re.compile(r"^([ \t]*)([#+-]|\d+\.)", re.MULTILINE)


def with_proposals(page: Page, proposals: Sequence[Proposal], words: Texts) -> Page:
    """An answer's last message with what it proposes."""
    if not proposals:
        return page
    shown = tuple(
        _shown(proposal, number if len(proposals) > 1 else 0, words)
        for number, proposal in enumerate(proposals, 1)
    )
    [first, *_] = proposals
    see = SeeProposalsButton(first.key.user_id, first.answer_id)
    label = words.proposal.see.format(count=len(proposals))
    return _explained(page, shown, words, see=Button(label, see.custom_id()))


def proposal_page(proposal: Proposal, words: Texts) -> Page:
    """One proposal in a message of its own."""
    shown = _shown(proposal, 0, words)
    if len(shown.text) <= PROPOSALS_CHARACTERS:
        return _explained(Page(""), (shown,), words)
    start = ShownProposal(
        shown.title,
        f"{shortened(shown.text, PROPOSALS_CHARACTERS // 2)}\n-# {words.proposal.whole}",
        shown.buttons,
    )
    whole = "\n\n".join(part for title, text in _parts(proposal, words) for part in (title, text) if part)
    return _explained(Page("", file=TextFile(words.proposal.file_name, whole)), (start,), words)


def left_line(proposal: Proposal, words: Texts) -> str:
    """That it was left undone."""
    text = next((text for _, text in _parts(proposal, words) if text), words.proposal.to_draw)
    return words.proposal.left.format(what=escaped(shortened(one_line(text), SHOWN_CHARACTERS)))


def is_proposal_button(button: Button) -> bool:
    """Whether it decides on a proposal."""
    return isinstance(parse_custom_id(button.custom_id), ProposalButton)


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
    """Which one it is, by its buttons."""
    parsed = parse_custom_id(shown.buttons[0].custom_id) if shown.buttons else None
    return parsed.proposal_id if isinstance(parsed, ProposalButton) else None


def _explained(page: Page, shown: tuple[ShownProposal, ...], words: Texts, see: Button | None = None) -> Page:
    return replace(page, proposals=shown, see=see, why=words.proposal.why)


def _shown(proposal: Proposal, number: int, words: Texts) -> ShownProposal:
    """`number` is its place among several, 0 where it is alone."""
    told, user_id = words.proposal, proposal.key.user_id
    choice = told.choice(proposal.change)
    yes, no = (
        told.one_of.format(number=number, label=label) if number else label
        for label in (choice.yes, choice.no)
    )
    buttons = (
        Button(yes, ProposalButton("do", user_id, proposal.id).custom_id(), primary=True),
        Button(no, ProposalButton("dont", user_id, proposal.id).custom_id()),
    )
    title = told.numbered.format(number=number) if number else told.title
    return ShownProposal(title, "\n".join(_lines(proposal, words)), buttons)


def _lines(proposal: Proposal, words: Texts) -> Iterator[str]:
    for title, text in _parts(proposal, words):
        if title:
            yield f"**{title}**" if text else f"-# {title}"
        if text:
            yield _quoted(text)


def _parts(proposal: Proposal, words: Texts) -> Iterator[tuple[str, str]]:
    """What is said of a change: a title with a text under it as it is, or one of the two."""
    told, change = words.proposal, proposal.change
    match change:
        case KeepMemory(content, supersedes=former, before=before):
            if former is not None:
                yield told.to_replace.format(id=former), before
            yield (told.to_keep if former is None else told.replaced_by), content
            yield from _filed(change, words)
        case ChangeMemory(memory_id, before):
            yield told.to_change.format(id=memory_id), before
            if change.content is not None:
                yield told.changed_to, change.content
            yield from _refiled(change, words)
        case ForgetMemory(memory_id, before):
            yield told.to_forget.format(id=memory_id), before
        case AddReminder(text, due_at, repeat):
            yield told.to_remind, text
            yield _time(due_at, repeat, words), ""
        case CancelReminder(schedule_id, before, due_at, repeat):
            yield told.to_cancel.format(id=schedule_id), before
            if due_at is not None:
                yield _time(due_at, repeat, words), ""
        case Draw():
            yield told.to_draw, ""
            for command, canvas in steps(change, proposal.visibility):
                yield from _drawn(command, canvas, words)


def _time(due_at: datetime, repeat: str, words: Texts) -> str:
    time, moment = timestamp(due_at, "F"), timestamp(due_at, "R")
    if repeat:
        return words.proposal.again_and_again.format(repeat=described(repeat, words), time=time)
    return words.proposal.time.format(time=time, moment=moment)


def _line(text: str) -> str:
    """A name within a sentence of the bot's own."""
    return escaped(one_line(written_out(text)))


def _filed(keep: KeepMemory, words: Texts) -> Iterator[tuple[str, str]]:
    told = words.proposal
    yield (
        told.details.format(name=told.category, value=_line(words.memory.shown_category(keep.category))),
        "",
    )
    if keep.tags:
        yield told.details.format(name=told.tags, value=_tags(keep.tags, words)), ""
    if keep.expires_at is not None:
        yield told.details.format(name=told.ends, value=last_day(keep.expires_at)), ""
    if keep.audience == "private":
        yield words.memory.private_only, ""


def _refiled(edit: ChangeMemory, words: Texts) -> Iterator[tuple[str, str]]:
    told = words.proposal
    if edit.category is not None and edit.category != edit.category_before:
        before, after = map(words.memory.shown_category, (edit.category_before, edit.category))
        yield _changed(told.category, _line(before), _line(after), words), ""
    if edit.tags is not None and edit.tags != edit.tags_before:
        yield _changed(told.tags, _tags(edit.tags_before, words), _tags(edit.tags, words), words), ""
    if edit.expires_at != AS_IT_IS:
        after_end = None if edit.expires_at == NEVER else edit.expires_at
        ends = (_end(edit.expires_before, words), _end(after_end, words))
        yield _changed(told.ends, *ends, words), ""
    if edit.audience == "private":
        yield words.memory.private_only, ""


def _changed(name: str, before: str, after: str, words: Texts) -> str:
    return words.proposal.changed_details.format(name=name, old=before, new=after)


def _tags(tags: Sequence[str], words: Texts) -> str:
    return _line(" ".join(f"#{tag}" for tag in tags)) or words.proposal.nothing


def _end(moment: datetime | str | None, words: Texts) -> str:
    return last_day(moment) if isinstance(moment, datetime) else words.proposal.nothing


def _drawn(command: CanvasCommand, canvas: Canvas, words: Texts) -> Iterator[tuple[str, str]]:
    told = words.proposal
    match command:
        case AddCard(title, content):
            yield told.draw_card.format(title=_line(title)), content
        case ShowText(content, title):
            yield (told.draw_titled_text if title else told.draw_text).format(title=_line(title)), content
        case AddChart(title, kind, labels, series):
            chart = Chart("chart", title, kind, labels, series)
            yield told.draw_chart.format(title=_line(title)), table(chart, _CHART_WIDTH)
        case UpdateCard(id_, title, content):
            old = canvas.element(id_)
            yield told.draw_update.format(title=_line(_name(id_, canvas))), ""
            if title is not None:
                yield _changed(told.title_of, _line(old.title if old else ""), _line(title), words), ""
            if content is not None:
                yield told.now, _body(old)
                yield told.changed_to, content
        case RemoveElement(id_):
            yield told.draw_remove.format(title=_line(_name(id_, canvas))), _body(canvas.element(id_))
        case SetMode("clear"):
            yield told.draw_clear, ""
            for each in canvas.elements:
                yield told.draw_remove.format(title=_line(_name(each.id, canvas))), _body(each)
        case SetMode(mode, focus):
            yield told.layout(mode).format(title=_line(_name(focus, canvas))), ""


def _name(id_: str, canvas: Canvas) -> str:
    """What its user knows an element by; its id where it has no title."""
    element = canvas.element(id_)
    return (element.title if element else "") or id_


def _body(element: Element | None) -> str:
    match element:
        case None:
            return ""
        case Chart():
            return table(element, _CHART_WIDTH)
        case _:
            return element.content


def _quoted(text: str) -> str:
    """A text as it is, line by line behind a mark: none of its lines passes for another part."""
    marked = _LINE_MARK.sub(r"\1\\\2", escaped(written_out(text)))
    return "\n".join(f"> {line}" for line in marked.splitlines())
