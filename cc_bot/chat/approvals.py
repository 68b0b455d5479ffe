"""Users decide on the calls that a model proposes. An approved call is made at most once.

The call is first claimed in the database. If the program dies after that, the call is never repeated, and
user and model learn that it may have been made. Texts that the call stores stay tainted: the user agreed to
store them, not to obey them.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final
from zoneinfo import ZoneInfo

import structlog
from pydantic import ValidationError

from cc_bot.chat.active import Stop, until_stopped
from cc_bot.chat.consent import DECLINED, EXPIRED, OUTDATED, with_result
from cc_bot.chat.drawing import Drawing, open_drawing
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.tools import (
    OUTCOME_UNKNOWN_ERRORS,
    InvalidToolCall,
    ToolContext,
    ToolOutcome,
    ToolRegistry,
    failed,
    maybe_done,
)
from cc_bot.domain import errors
from cc_bot.domain.access import Visitor
from cc_bot.domain.change import Change
from cc_bot.domain.clock import Clock
from cc_bot.domain.message import Agent, Attachment, ToolCall
from cc_bot.domain.proposal import PENDING_CALL_LIFETIME, CallMessage, CallState, Proposal, is_expired
from cc_bot.domain.session import EMPTY_CANVAS
from cc_bot.domain.turn import CanvasChanged
from cc_bot.features.memory.errors import MemoryNotFound
from cc_bot.features.memory.model import Source
from cc_bot.texts import explain, texts

_log = structlog.get_logger(__name__)

OPEN_MINUTES: Final = PENDING_CALL_LIFETIME.seconds // 60
_STORING_TOOLS: Final = {"remember", "update_memory"}
_OUTDATED_ERRORS: Final = (
    InvalidToolCall,
    ValidationError,
    MemoryNotFound,
    errors.ScheduleNotFound,
    errors.ProposalOutdated,
)
_CALL_ENDED: Final = maybe_done(
    "The user approved this call, but it was interrupted: it may have been done or not. Check that, or ask "
    "the user, before you propose it again."
)


@dataclass(frozen=True, slots=True)
class ApprovedResult:
    proposal: Proposal
    state: CallState
    outcomes: tuple[ToolOutcome, ...]
    problem: str = ""  # the error for the user, if a call failed without a result
    stopped: bool = False
    user_exists: bool = True  # False if the user was erased meanwhile
    canvas: CanvasChanged | None = None
    outcome_stored: bool = True

    @property
    def continues(self) -> bool:
        answered = self.state in ("done", "failed") and not self.problem
        return self.user_exists and self.outcome_stored and answered and self.proposal.content.goes_on

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall("approved", call.name, call.arguments, outcome.text, outcome.ok)
            for call, outcome in zip(self.proposal.content.calls, self.outcomes, strict=False)
        )

    @property
    def images(self) -> tuple[Attachment, ...]:
        return tuple(image for each in self.outcomes for image in each.images)

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(change for each in self.outcomes for change in each.changes)


@dataclass(eq=False, slots=True)
class Approvals:
    stores: Stores
    tools: ToolRegistry
    clock: Clock
    _in_flight: Counter[tuple[int, int]] = field(default_factory=Counter)
    _regenerating: Counter[tuple[int, int]] = field(default_factory=Counter)

    async def find(self, user_id: int, proposal_id: int) -> Proposal:
        """Return an open proposal. Declines an expired one. Raises ProposalGone."""
        proposal = await self.stores.proposals.get(user_id, proposal_id)
        if proposal is None:
            raise errors.ProposalGone
        if is_expired(proposal, self.clock()):
            await self._decline(proposal, EXPIRED)
            raise errors.ProposalGone
        return proposal

    async def decline(self, proposal: Proposal) -> None:
        """Raises ProposalGone if the proposal was decided before."""
        if not await self._decline(proposal, DECLINED):
            raise errors.ProposalGone

    @contextmanager
    def mark_in_flight(self, proposal: Proposal) -> Iterator[None]:
        """Prevent regeneration of the answer in the block. Raises AnswerUnderway while it is regenerated."""
        answer = (proposal.key.user_id, proposal.answer_id)
        if answer in self._regenerating:
            raise errors.AnswerUnderway
        with _count_during(self._in_flight, answer):
            yield

    @asynccontextmanager
    async def mark_regenerating(self, user_id: int, answer_id: int) -> AsyncIterator[None]:
        """Reject approvals of this answer's proposals in the block."""
        with _count_during(self._regenerating, (user_id, answer_id)):
            yield

    async def check_none_in_flight(self, user_id: int, answer_id: int) -> None:
        """Raises AnswerInUse while an approved call of this answer runs or its outcome was not shown yet."""
        approved = await self.stores.proposals.list_approved(user_id)
        if (user_id, answer_id) in self._in_flight or any(each.answer_id == answer_id for each in approved):
            raise errors.AnswerInUse

    def is_server_starting(self, proposal: Proposal) -> bool:
        servers = self.tools.external
        return servers is not None and servers.is_starting(proposal.content.server)

    async def wait_for_server(self, proposal: Proposal) -> None:
        """Raises CallPostponed if the server is unavailable, and ProposalGone."""
        servers, server = self.tools.external, proposal.content.server
        is_available = True
        try:
            if servers and server:
                await servers.wait_for(server)
        except errors.ToolServerUnavailable:
            is_available = False
        await self.find(proposal.key.user_id, proposal.id)  # the proposal may have been decided meanwhile
        if not is_available:
            raise errors.CallPostponed(server=server, minutes=OPEN_MINUTES)

    async def claim(self, proposal: Proposal, press_id: str, message: CallMessage) -> Proposal:
        """Claim the proposal for a button press. Raises ProposalGone and MemoryPaused."""
        stores_memory = any(call.name in _STORING_TOOLS for call in proposal.content.calls)
        if stores_memory and (await self.stores.settings.get(proposal.key.user_id)).memory_paused:
            raise errors.MemoryPaused
        claimed = await self.stores.proposals.claim(proposal, press_id, message)
        if claimed is None:
            raise errors.ProposalGone
        return claimed

    async def run(self, claimed: Proposal, agent: Agent, visitor: Visitor, stop: Stop) -> ApprovedResult:
        """Make the claimed calls and store the outcome. Raises CallPostponed, InputError and StorageError if
        nothing was done. The caller then reopens the proposal."""
        result = await self._run(claimed, agent, visitor, stop)
        try:
            user_exists = await self._finish(claimed, result.state, result.outcomes)
        except errors.StorageError as error:
            _log.warning("approved_call_not_stored", error=type(error).__name__)
            return replace(result, outcome_stored=False)
        name = claimed.content.calls[0].name
        _log.info("approved_call", tool=name, state=result.state, stopped=stop.requested)
        stopped = stop.requested and stop.status == "stopped" and result.state == "unknown"
        return replace(result, stopped=stopped, user_exists=user_exists)

    async def mark_outcome_unknown(self, claimed: Proposal) -> CallState:
        """Record that a dead process may have made the calls. Returns the stored state."""
        if claimed.state != "claimed":
            return claimed.state
        await self._finish(claimed, "unknown", _repeat_for_calls(claimed, _CALL_ENDED))
        return "unknown"

    async def _decline(self, proposal: Proposal, result: Mapping[str, Any]) -> bool:
        outcomes = _repeat_for_calls(proposal, ToolOutcome(json.dumps(result), ok=False))
        return await self.stores.proposals.decline(proposal, _make_revision(proposal, outcomes))

    async def _finish(self, claimed: Proposal, state: CallState, outcomes: Sequence[ToolOutcome]) -> bool:
        tainted = any(each.tainted for each in outcomes)
        revise = _make_revision(claimed, outcomes)
        return await self.stores.proposals.finish(claimed, state, revise, tainted=tainted)

    async def _run(self, claimed: Proposal, agent: Agent, visitor: Visitor, stop: Stop) -> ApprovedResult:
        words = texts(claimed.content.origin.locale)
        try:
            outcomes, canvas = await self._call(claimed, agent, visitor, stop)
        except errors.ToolServerUnavailable:
            raise errors.CallPostponed(server=claimed.content.server, minutes=OPEN_MINUTES) from None
        except _OUTDATED_ERRORS:
            outdated = ToolOutcome(json.dumps(OUTDATED), ok=False)
            return _failed_result(claimed, outdated, explain(errors.ProposalOutdated(), words))
        except errors.CcBotError as error:
            is_final = claimed.content.goes_on or isinstance(error, errors.WhenPassed | errors.ToolGone)
            if not is_final or isinstance(error, errors.StorageError):
                raise
            sentence = explain(error, words)
            if isinstance(error, OUTCOME_UNKNOWN_ERRORS):
                return replace(_failed_result(claimed, maybe_done(sentence), sentence), state="unknown")
            return _failed_result(claimed, failed(sentence), sentence)
        except Exception:  # noqa: BLE001 - the tool may have done something before
            _log.error("approved_call_broke", exc_info=True)
            return ApprovedResult(claimed, "unknown", _repeat_for_calls(claimed, _CALL_ENDED))
        if len(outcomes) < len(claimed.content.calls):
            return ApprovedResult(claimed, "unknown", _repeat_for_calls(claimed, _CALL_ENDED))
        ok = all(each.ok for each in outcomes)
        return ApprovedResult(claimed, "done" if ok else "failed", tuple(outcomes), canvas=canvas)

    async def _call(
        self, claimed: Proposal, agent: Agent, visitor: Visitor, stop: Stop
    ) -> tuple[list[ToolOutcome], CanvasChanged | None]:
        tools, outcomes = self.tools.for_visitor(visitor), list[ToolOutcome]()
        offered, context = tools.schemas(allowed=agent.tools), await self._make_context(claimed)
        for call in claimed.content.calls:
            outcome = await until_stopped(tools.run_approved(call, context, offered), stop)
            if outcome is None:
                return outcomes, None
            outcomes.append(outcome)
        return outcomes, await self._draw(claimed, context.canvas)

    async def _make_context(self, proposal: Proposal) -> ToolContext:
        origin, canvas = proposal.content.origin, await self.stores.canvases.get(proposal.key)
        return ToolContext(
            proposal.key,
            proposal.visibility,
            origin.locale,
            ZoneInfo(origin.timezone),
            self.stores,
            tainted=False,  # the user approved it
            source=Source("proposal"),
            clock=self.clock,
            canvas=open_drawing(canvas.state if canvas else EMPTY_CANVAS, proposal.visibility, tainted=True),
            target=origin.place,
            guild_id=origin.guild_id,
            in_dm=origin.in_dm,
            shared_objects=self.tools.make_shared_objects(),
        )

    async def _draw(self, proposal: Proposal, drawing: Drawing | None) -> CanvasChanged | None:
        if drawing is None or (redraw := drawing.redraw) is None:
            return None
        await self.stores.sessions.open(proposal.key)  # drawing needs an open session
        canvas = await self.stores.canvases.draw(proposal.key, redraw)
        if canvas is None:
            raise errors.ProposalOutdated
        return CanvasChanged(drawing.is_empty(canvas))


@contextmanager
def _count_during(counter: Counter[tuple[int, int]], answer: tuple[int, int]) -> Iterator[None]:
    counter[answer] += 1
    try:
        yield
    finally:
        counter[answer] -= 1
        if not counter[answer]:
            del counter[answer]


def _repeat_for_calls(proposal: Proposal, outcome: ToolOutcome) -> tuple[ToolOutcome, ...]:
    return (outcome,) * len(proposal.content.calls)


def _failed_result(claimed: Proposal, outcome: ToolOutcome, sentence: str) -> ApprovedResult:
    return ApprovedResult(claimed, "failed", _repeat_for_calls(claimed, outcome), sentence)


def _make_revision(proposal: Proposal, outcomes: Sequence[ToolOutcome]) -> Callable[[ToolCall], ToolCall]:
    def revise(stored: ToolCall) -> ToolCall:
        for call, outcome in zip(proposal.content.calls, outcomes, strict=True):
            stored = with_result(stored, call, outcome.text, ok=outcome.ok)
        return stored

    return revise
