"""Proposals: shown below the answer that made them, and decided on with `/accept` and `/decline`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from cc_bot.assistant.proposals import ProposalResult, Proposals
from cc_bot.domain.canvas import Canvas, Chart
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import StorageError
from cc_bot.domain.memory import MemoryChange, receipt_of
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.schedule import ScheduleChange
from cc_bot.stores import Stores
from cc_bot.terminal.commands import Accept, Decline
from cc_bot.terminal.facts import MARGIN, Quoted, Stated
from cc_bot.terminal.markdown import one_line
from cc_bot.terminal.person import ChatProfile, Person
from cc_bot.terminal.remembering import end_day
from cc_bot.terminal.view import RECEIPT_CHARACTERS, View, canvas_note, change_line, moment_line, receipt_line
from cc_bot.texts import Texts
from cc_bot.texts.proposals import Time, Value, describe, gist, headline


@dataclass(frozen=True, slots=True)
class ProposalReader:
    """Whom a proposal is shown to, and when."""

    person: Person
    now: datetime


def proposal_lines(proposal: Proposal, reader: ProposalReader) -> Iterator[Stated]:
    """All of what it would do, its texts whole, and how its user decides."""
    words = reader.person.texts
    for number, part in enumerate(describe(proposal, words)):
        line = part.line(lambda value: _written(value, reader))
        yield MARGIN + line if number else words.terminal.proposal.format(id=proposal.number, what=line)
        if part.below is not None:
            yield Quoted(_numbers(part.below) if isinstance(part.below, Chart) else part.below)
    yield MARGIN + words.terminal.how_to_decide.format(id=proposal.number)


def _written(value: Value, reader: ProposalReader) -> str:
    """A value within a line of the program's own."""
    match value:
        case None:
            return reader.person.texts.memory_card.nothing
        case str():
            return value
        case datetime():
            return end_day(value, reader.person)
        case Time():
            return _time(value, reader)


def _time(time: Time, reader: ProposalReader) -> str:
    """Where it counts: that is where its user was when it was proposed."""
    words, own = reader.person.texts, reader.person.timezone
    zone = time.zone or own
    told = moment_line(time.due_at, zone, reader.now, words)
    if zone.key != own.key:
        told += words.terminal.in_zone.format(zone=zone.key)
    if time.repeat:
        told = words.proposal.repeated.format(repeat=time.repeat, time=told)
    return told if time.place in (None, "terminal") else told + words.remind_here.elsewhere


def _left_line(proposal: Proposal, words: Texts) -> str:
    """That it was left undone."""
    return words.proposal.left.format(what=one_line(gist(proposal, words), RECEIPT_CHARACTERS))


def _numbers(chart: Chart) -> str:
    """Every number of a chart, as it was given: a line for each label."""
    lines = []
    for index, label in enumerate(chart.labels):
        values = (f"{each.name} {each.values[index]:.15g}".strip() for each in chart.series)
        lines.append(f"{label}: {' / '.join(values)}")
    return "\n".join(lines)


class Deciding:
    """What waits for its user's word in one place. It knows what this chat has shown: nobody consents to what
    they have not seen."""

    def __init__(self, stores: Stores, profile: ChatProfile, view: View, clock: Clock = utc_now) -> None:
        self._stores = stores
        self._proposals = Proposals(stores, clock)
        self._user_id = profile.key.user_id
        self._channel_id = profile.key.channel_id
        self._view = view
        self._clock = clock
        self._seen = set[int]()

    async def show(self, proposals: Sequence[Proposal], person: Person) -> None:
        """State what waits; nothing where nothing does."""
        if not proposals:
            return
        words = person.texts.proposal
        stated: list[Stated] = [f"📝 {words.title}: {words.why}"]
        for each in proposals:
            stated += proposal_lines(each, ProposalReader(person, self._clock()))
        self._view.state(stated)
        self._seen.update(each.id for each in proposals)

    async def run(self, command: Accept | Decline, person: Person) -> None:
        """Raises what Proposals does."""
        if command.number is None:
            proposal_id = await self._only_one(person)
            if proposal_id is None:
                return
        else:
            proposal_id = await self._stores.proposals.id_of(self._user_id, command.number)
        match command:
            case Accept():
                self._tell(await self._proposals.accept(self._user_id, proposal_id), person)
            case Decline():
                left = await self._proposals.decline(self._user_id, proposal_id)
                self._view.state([_left_line(left, person.texts)])
            case _:
                assert_never(command)

    async def waiting(self, person: Person) -> Sequence[tuple[int, str]]:
        """The numbers that can be decided on, and what each would do; none while they can't be read."""
        words = person.texts
        try:
            return [(each.number, headline(each.change, words)) for each in await self._open()]
        except StorageError:
            return ()  # the command itself will say so

    async def _open(self) -> Sequence[Proposal]:
        return await self._stores.proposals.of_place(self._user_id, self._channel_id)

    async def _only_one(self, person: Person) -> int | None:
        """The one that waits, if this chat has shown it. Otherwise all are shown, and None."""
        waiting, words = await self._open(), person.texts.terminal
        if not waiting:
            self._view.say(words.no_proposals)
        elif len(waiting) == 1 and waiting[0].id in self._seen:
            return waiting[0].id
        else:
            await self.show(waiting, person)
            if len(waiting) > 1:
                self._view.say(words.which_proposal)
        return None

    def _tell(self, done: ProposalResult, person: Person) -> None:
        words = person.texts
        match done:
            case MemoryChange():
                if receipt := receipt_of(done):
                    self._view.state([receipt_line(receipt, words)])
            case ScheduleChange():
                self._view.state([change_line(done, words)])
            case Canvas():
                self._view.state([canvas_note(done, words)])
                if not done.empty:
                    self._view.canvas(done, words)
            case _:
                assert_never(done)
