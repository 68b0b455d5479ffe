"""Carrying out what a model proposed and its user confirmed.

A proposal is done as it stands: nothing of it is asked anew, and no model has a word in it. It is done once,
and only while what it changes is as it was shown. The outcome stays tainted: its user agreed to keep it, not
to obey it.
"""

from dataclasses import dataclass
from typing import Final, TypeVar

from cc_bot.domain.canvas import Canvas, Drawn
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import MemoryPaused, ProposalGone, ProposalOutdated, WhenPassed
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import Memory, MemoryChange, Source, says_the_same
from cc_bot.domain.proposal import (
    AS_IT_IS,
    NEVER,
    AddReminder,
    CallTool,
    CancelReminder,
    ChangeMemory,
    Draw,
    ForgetMemory,
    KeepMemory,
    Proposal,
    still_fits,
    text_before,
)
from cc_bot.domain.schedule import ScheduleChange
from cc_bot.stores import Keep, Stores

_CONFIRMED: Final = Source("proposal")

ProposalResult = MemoryChange | ScheduleChange | Canvas
"""What was done, from committed rows: what receipts are made of. A canvas: all of it, as it is now."""

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class Proposals:
    """The open proposals of everybody, as their users decide on them."""

    stores: Stores
    clock: Clock

    async def accept(self, user_id: int, proposal_id: int) -> ProposalResult:
        """Do what was proposed.

        Raises ProposalGone when it is decided already or not the user's; ProposalOutdated and WhenPassed when
        it can't be done any more, and is dropped; InputError and StorageError when it could not be done now.
        """
        proposal = await self._get(user_id, proposal_id)
        try:
            await self._check(proposal)
            return await self._do(proposal)
        except (ProposalOutdated, WhenPassed):
            await self.stores.proposals.drop(user_id, proposal_id)
            raise

    async def decline(self, user_id: int, proposal_id: int) -> Proposal:
        """Leave it undone; what it was. Raises ProposalGone when it is decided already, or not the user's."""
        proposal = await self._get(user_id, proposal_id)
        if not await self.stores.proposals.drop(user_id, proposal_id):
            raise ProposalGone
        return proposal

    async def _get(self, user_id: int, proposal_id: int) -> Proposal:
        proposal = await self.stores.proposals.get(user_id, proposal_id)
        if proposal is None or isinstance(proposal.change, CallTool):  # see approved_calls
            raise ProposalGone
        return proposal

    async def _check(self, proposal: Proposal) -> None:
        """Raise ProposalOutdated or WhenPassed for what can't be done any more, and MemoryPaused for what can
        be done later."""
        change = proposal.change
        former = await self._former(proposal)
        if text_before(change) is not None and (former is None or former.content != text_before(change)):
            raise ProposalOutdated
        if isinstance(change, ChangeMemory) and former is not None and _is_filed_anew(former, change):
            raise ProposalOutdated
        if isinstance(change, CancelReminder):
            known = await self.stores.schedules.get(proposal.key.user_id, change.schedule_id)
            if known is None or (known.text, known.repeat) != (change.before, change.repeat):
                raise ProposalOutdated
        if isinstance(change, AddReminder) and change.due_at <= self.clock():
            raise WhenPassed
        if isinstance(change, Draw):
            found = await self.stores.canvases.get(proposal.key)
            if not still_fits(change, found.canvas if found else Canvas(), proposal.visibility):
                raise ProposalOutdated
        keeps = isinstance(change, KeepMemory | ChangeMemory)
        if keeps and (await self.stores.settings.get(proposal.key.user_id)).memory_paused:
            raise MemoryPaused

    async def _former(self, proposal: Proposal) -> Memory | None:
        """The memory that is to be changed or deleted, as it is now."""
        match proposal.change:
            case ChangeMemory(memory_id) | ForgetMemory(memory_id) | KeepMemory(supersedes=int(memory_id)):
                return await self.stores.memories.get(proposal.key.user_id, memory_id)
            case _:
                return None

    async def _do(self, proposal: Proposal) -> ProposalResult:
        match proposal.change:
            case KeepMemory() as keep:
                return await self._keep(proposal, keep)
            case ChangeMemory() as edit:
                return await self._change(proposal, edit)
            case ForgetMemory(memory_id):
                former = await self._former(proposal)
                await self.stores.memories.delete(proposal.key.user_id, memory_id, proposal=proposal)
                return MemoryChange("deleted", _require(former))
            case AddReminder() as reminder:
                return await self._remind(proposal, reminder)
            case CancelReminder(schedule_id):
                schedules = self.stores.schedules
                cancelled = await schedules.cancel(proposal.key.user_id, schedule_id, proposal=proposal)
                return ScheduleChange("cancelled", _require(cancelled))
            case Draw() as drawing:
                return await self._draw(proposal, drawing)
            case CallTool():
                raise ProposalGone

    async def _keep(self, proposal: Proposal, keep: KeepMemory) -> MemoryChange:
        """Keep a new one. What says the same stays as it is, and nothing else is brought up to date: that was
        not shown."""
        user_id, memories = proposal.key.user_id, self.stores.memories
        former = await self._former(proposal)
        known = await memories.find_alike(user_id, keep.content, keep.audience)
        if known is None or known == former or not says_the_same(known.content, keep.content):
            added = await memories.add(
                user_id,
                keep.content,
                category=keep.category,
                tags=keep.tags,
                audience=keep.audience,
                source=_CONFIRMED,
                expires_at=keep.expires_at,
                supersedes=keep.supersedes,
                proposal=proposal,
            )
            return MemoryChange("added", added, former)
        if not await self.stores.proposals.drop(user_id, proposal.id):
            raise ProposalGone
        replaced = await memories.supersede(user_id, known.id, former.id) if former else None
        return MemoryChange("added", replaced, former) if replaced else MemoryChange("updated", known, known)

    async def _change(self, proposal: Proposal, edit: ChangeMemory) -> MemoryChange:
        former = await self._former(proposal)
        ends = Keep.AS_IS if edit.expires_at == AS_IT_IS else edit.expires_at
        updated = await self.stores.memories.update(
            proposal.key.user_id,
            edit.memory_id,
            content=edit.content,
            category=edit.category,
            tags=edit.tags,
            audience=edit.audience,
            expires_at=None if ends == NEVER else ends,
            source=_CONFIRMED,
            proposal=proposal,
        )
        return MemoryChange("updated", _require(updated), former)

    async def _remind(self, proposal: Proposal, reminder: AddReminder) -> ScheduleChange:
        added = await self.stores.schedules.add(
            proposal.key,
            reminder.text,
            reminder.due_at,
            place=reminder.place,
            guild_id=reminder.guild_id,
            visibility=proposal.visibility,
            repeat=reminder.repeat,
            timezone=reminder.timezone,
            locale=Locale(reminder.locale) if reminder.locale else None,
            tainted=True,
            proposal=proposal,
        )
        return ScheduleChange("added", added)

    async def _draw(self, proposal: Proposal, drawing: Draw) -> Canvas:
        await self.stores.sessions.open(proposal.key)  # a canvas is drawn on in an open session
        drawn = [Drawn(command, proposal.visibility, tainted=True) for command in drawing.commands]
        canvas = await self.stores.canvases.draw(proposal.key, drawn, proposal=proposal)
        return _require(canvas).visible_in(proposal.visibility)


def _is_filed_anew(memory: Memory, change: ChangeMemory) -> bool:
    """Return whether what is filed with a memory is not as the proposal showed it."""
    shown = (change.category_before, change.tags_before, change.expires_before)
    return (memory.category, memory.tags, memory.expires_at) != shown


def _require(found: T | None) -> T:
    """Return what a claimed step has found; raise where there is nothing."""
    if found is None:
        raise ProposalOutdated
    return found
