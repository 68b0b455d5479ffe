"""Proposals: shown below the answer that made them, and decided on with `/accept` and `/decline`."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Annotated, assert_never

from prompt_toolkit.completion import Completion

from cc_bot.assistant.proposals import ProposalResult, Proposals
from cc_bot.domain.canvas import Canvas, Chart
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import StorageError
from cc_bot.domain.memory import MemoryChange, receipt_of
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.schedule import ScheduleChange
from cc_bot.terminal.context import Chat, Person
from cc_bot.terminal.facts import MARGIN, Quoted, Stated
from cc_bot.terminal.lexer import Argument, command, number_of, numbered
from cc_bot.terminal.markdown import one_line
from cc_bot.terminal.view import RECEIPT_CHARACTERS, canvas_note, change_line, moment_line, receipt_line
from cc_bot.texts import Texts
from cc_bot.texts.proposal import Time, Value, describe, gist, headline

# ---- lines -----------------------------------------------------------------------------------------------


def proposal_lines(proposal: Proposal, person: Person, now: datetime) -> Iterator[Stated]:
    """Yield all of what it would do, its texts whole, and how its user decides."""
    words = person.texts
    for number, part in enumerate(describe(proposal, words)):
        line = part.line(lambda value: _written(value, person, now))
        yield MARGIN + line if number else words.terminal.proposal.format(id=proposal.number, what=line)
        if part.below is not None:
            yield Quoted(_numbers(part.below) if isinstance(part.below, Chart) else part.below)
    yield MARGIN + words.terminal.how_to_decide.format(id=proposal.number)


def _written(value: Value, person: Person, now: datetime) -> str:
    """A value within a line of the program's own."""
    match value:
        case None:
            return person.texts.memory_card.nothing
        case str():
            return value
        case datetime():
            return person.until(value)
        case Time():
            return _time(value, person, now)


def _time(time: Time, person: Person, now: datetime) -> str:
    """Where it counts: that is where its user was when it was proposed."""
    words, own = person.texts, person.timezone
    zone = time.zone or own
    told = moment_line(time.due_at, zone, now, words)
    if zone.key != own.key:
        told += words.terminal.in_zone.format(zone=zone.key)
    if time.repeat:
        told = words.proposal.repeated.format(repeat=time.repeat, time=told)
    return told if time.place in (None, "terminal") else told + words.remind_here.elsewhere


def _numbers(chart: Chart) -> str:
    """Every number of a chart, as it was given: a line for each label."""
    lines = []
    for index, label in enumerate(chart.labels):
        values = (f"{each.name} {each.values[index]:.15g}".strip() for each in chart.series)
        lines.append(f"{label}: {' / '.join(values)}")
    return "\n".join(lines)


# ---- deciding --------------------------------------------------------------------------------------------


async def proposals_like(chat: Chat, typed: str) -> Iterable[Completion]:
    """Return those that wait and whose number begins as typed; none while they can't be read."""
    words, begun = (await chat.read_person()).texts, typed.strip().lstrip("#＃")
    try:
        waiting = await _open(chat)
    except StorageError:
        return ()  # the command itself will say so
    return [
        numbered(each.number, typed, headline(each.change, words))
        for each in waiting
        if str(each.number).startswith(begun)
    ]


ProposalNumber = Annotated[
    int | None,
    Argument(
        "number",
        number_of,
        optional=True,
        needed=lambda words: words.terminal.proposal_needed,
        completions=proposals_like,
    ),
]


@command("accept")
async def accept(chat: Chat, number: ProposalNumber) -> None:
    proposal_id = await _meant(chat, number)
    if proposal_id is not None:
        done = await Proposals(chat.stores, utc_now).accept(chat.user_id, proposal_id)
        _tell(chat, done, chat.texts)


@command("decline")
async def decline(chat: Chat, number: ProposalNumber) -> None:
    proposal_id = await _meant(chat, number)
    if proposal_id is not None:
        left = await Proposals(chat.stores, utc_now).decline(chat.user_id, proposal_id)
        what = one_line(gist(left, chat.texts), RECEIPT_CHARACTERS)
        chat.view.state([chat.texts.proposal.left.format(what=what)])


async def show_proposals(chat: Chat, proposals: Sequence[Proposal]) -> None:
    """State what waits; nothing where nothing does."""
    if not proposals:
        return
    words = chat.texts.proposal
    stated: list[Stated] = [f"📝 {words.title}: {words.why}"]
    for each in proposals:
        stated += proposal_lines(each, chat.person, utc_now())
    chat.view.state(stated)
    chat.seen.update(each.id for each in proposals)


async def _open(chat: Chat) -> Sequence[Proposal]:
    return await chat.stores.proposals.list_for_place(chat.user_id, chat.profile.key.channel_id)


async def _meant(chat: Chat, number: int | None) -> int | None:
    """Return the id of what has this number; without a number, of the one that waits, if this chat has shown
    it. Otherwise show all that wait, and return None."""
    if number is not None:
        return await chat.stores.proposals.get_id(chat.user_id, number)
    waiting, words = await _open(chat), chat.texts.terminal
    if not waiting:
        chat.say(words.no_proposals)
    elif len(waiting) == 1 and waiting[0].id in chat.seen:
        return waiting[0].id
    else:
        await show_proposals(chat, waiting)
        if len(waiting) > 1:
            chat.say(words.which_proposal)
    return None


def _tell(chat: Chat, done: ProposalResult, words: Texts) -> None:
    match done:
        case MemoryChange():
            if receipt := receipt_of(done):
                chat.view.state([receipt_line(receipt, words)])
        case ScheduleChange():
            chat.view.state([change_line(done, words)])
        case Canvas():
            chat.view.state([canvas_note(done, words)])
            if not done.empty:
                chat.view.canvas(done, words)
        case _:
            assert_never(done)
