"""Proposals: shown below the answer that made them, and decided on with `/accept` and `/decline`."""

from collections.abc import Sequence
from typing import assert_never

from cc_bot.assistant.proposals import ProposalResult, Proposals
from cc_bot.domain.canvas import Canvas
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import StorageError
from cc_bot.domain.memory import MemoryChange
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.receipt import receipt_of
from cc_bot.domain.schedule import ScheduleChange
from cc_bot.stores import Stores
from cc_bot.terminal.commands import Accept, Decline
from cc_bot.terminal.facts import Stated
from cc_bot.terminal.person import Person
from cc_bot.terminal.profile import ChatProfile
from cc_bot.terminal.proposal_lines import Reader, headline, proposal_lines
from cc_bot.terminal.schedule_lines import change_line
from cc_bot.terminal.view import View, canvas_note, receipt_line


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
        stated: list[Stated] = [person.texts.terminal.proposals.open]
        for each in proposals:
            stated += proposal_lines(each, Reader(person, self._clock()))
        self._view.state(stated)
        self._seen.update(each.id for each in proposals)

    async def run(self, command: Accept | Decline, person: Person) -> None:
        """Raises what Proposals does."""
        number = await self._only_one(person) if command.proposal_id is None else command.proposal_id
        if number is None:
            return
        match command:
            case Accept():
                self._tell(await self._proposals.accept(self._user_id, number), person)
            case Decline():
                declined = await self._proposals.decline(self._user_id, number)
                self._view.state([person.texts.terminal.proposals.declined.format(id=declined.id)])
            case _:
                assert_never(command)

    async def waiting(self, person: Person) -> Sequence[tuple[int, str]]:
        """The numbers that can be decided on, and what each would do; none while they can't be read."""
        words = person.texts.terminal.proposals
        try:
            return [(each.id, headline(each, words)) for each in await self._open()]
        except StorageError:
            return ()  # the command itself will say so

    async def _open(self) -> Sequence[Proposal]:
        return await self._stores.proposals.of_place(self._user_id, self._channel_id)

    async def _only_one(self, person: Person) -> int | None:
        """The one that waits, if this chat has shown it. Otherwise all are shown, and None."""
        waiting, words = await self._open(), person.texts.terminal.proposals
        if not waiting:
            self._view.say(words.none_open)
        elif len(waiting) == 1 and waiting[0].id in self._seen:
            return waiting[0].id
        else:
            await self.show(waiting, person)
            if len(waiting) > 1:
                self._view.say(words.choose)
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
