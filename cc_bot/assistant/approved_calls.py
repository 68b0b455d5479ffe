"""Calls of tools of servers that wait for somebody's word: made once at most, or not.

A call is claimed in the database before it is made. Whatever ends the program after that leaves the claim,
and nobody makes the call again: what came of it is not known then, and that is what its user and the model
are told.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import structlog

from cc_bot.assistant.turn import Stop, until_stopped
from cc_bot.domain.claimed_call import CallMessage, CallState, ClaimedCall
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import (
    AnswerInUse,
    AnswerUnderway,
    CallExpired,
    CallGone,
    CallOutdated,
    CallPostponed,
    CcBotError,
    ToolGone,
    ToolServerAway,
)
from cc_bot.domain.form import Asker
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Agent, Attachment, ToolCall
from cc_bot.domain.proposal import CALL_OPEN_FOR, CallTool, Proposal, is_open
from cc_bot.domain.tool_server import OfferedTool, ServerResult, ToolPlace
from cc_bot.stores import Stores
from cc_bot.texts import explain, texts
from cc_bot.tools.registry import WAITING, ToolRegistry, failed, in_doubt
from cc_bot.tools.servers import (
    CALL_IN_DOUBT,
    DECLINED,
    EXPIRED,
    GONE,
    IN_DOUBT,
    OUTDATED,
    ToolServers,
    outcome_of,
)

_log = structlog.get_logger(__name__)

OPEN_MINUTES: Final = CALL_OPEN_FOR.seconds // 60


@dataclass(frozen=True, slots=True)
class CallResult:
    """The outcome of a call that was agreed to."""

    call: ClaimedCall
    state: CallState
    """Never `claimed`."""
    told: ToolCall
    """The call with its result, as the model is told it."""
    problem: str = ""
    """A sentence for its user, where the server did not answer."""
    stopped: bool = False
    """Whether somebody ended it on its way."""
    kept: bool = True
    """False where all of its user's was erased meanwhile."""
    images: tuple[Attachment, ...] = ()
    """The pictures that its server gave; they stand in no database."""

    @property
    def answered(self) -> bool:
        """Return whether its server said what came of it, so that the model has something to go on with."""
        return self.kept and self.state in ("done", "failed") and not self.problem


@dataclass(eq=False, slots=True)
class ApprovedCalls:
    """The calls of everybody that wait for a word."""

    stores: Stores
    tools: ToolRegistry
    servers: ToolServers | None
    """None where the operator names none."""
    clock: Clock
    _underway: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Of users and their answers."""
    _renewed: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Likewise, those that are given anew."""

    async def find(self, user_id: int, proposal_id: int) -> tuple[Proposal, CallTool]:
        """Return what is to be decided. Raises CallGone, and CallExpired once it is dropped for that."""
        proposal = await self.stores.proposals.get(user_id, proposal_id)
        if proposal is None or not isinstance(proposal.change, CallTool):
            raise CallGone(minutes=OPEN_MINUTES)
        if is_open(proposal, self.clock()):
            return proposal, proposal.change
        await self._leave(proposal, proposal.change, EXPIRED)
        raise CallExpired(minutes=OPEN_MINUTES)

    async def check(self, proposal: Proposal, agent: Agent, place: ToolPlace) -> None:
        """Drop it, and raise ToolGone where its agent has no such tool there any more, or CallOutdated where
        the tool takes something else by now, or owners decide on it who did not before."""
        if not isinstance(proposal.change, CallTool):
            raise CallGone(minutes=OPEN_MINUTES)
        call, offered = proposal.change, self._offered(proposal.change, place)
        schemas = self.tools.in_place(place).schemas(allowed=agent.tools) if offered else ()
        if offered is None or not any(schema.name == offered.tool.full_name for schema in schemas):
            await self._leave(proposal, call, GONE)
            raise ToolGone(server=call.server, tool=call.tool)
        missing = offered.tool.missing(json.loads(call.arguments))
        if offered.approvers != call.approvers == "asker" or missing:
            await self._leave(proposal, call, OUTDATED)
            raise CallOutdated(server=call.server, tool=call.tool)

    @contextmanager
    def underway(self, proposal: Proposal) -> Iterator[None]:
        """Have the answer that proposed it stay where it stands: from the word on, while its server is waited
        for and the call is made, until the end is told. Raises AnswerUnderway where that is given anew."""
        answer = (proposal.key.user_id, proposal.answer_id)
        if answer in self._renewed:
            raise AnswerUnderway
        with _counted(self._underway, answer):
            yield

    @asynccontextmanager
    async def renewing(self, user_id: int, answer_id: int) -> AsyncIterator[None]:
        """Have the calls of this answer wait while it is given anew: its first word takes the place of what
        they would show."""
        with _counted(self._renewed, (user_id, answer_id)):
            yield

    async def check_none_underway(self, user_id: int, answer_id: int) -> None:
        """Raise AnswerInUse while a call of this answer is made, or its user is still to be told of it: what
        took the place of its message would take the way to stop it too. Raises StorageError."""
        claimed = await self.stores.claimed_calls.list_of_user(user_id)
        if (user_id, answer_id) in self._underway or any(call.answer_id == answer_id for call in claimed):
            raise AnswerInUse

    def must_wait(self, call: CallTool) -> bool:
        """Return whether its server is being started."""
        return self.servers is not None and self.servers.is_starting(call.server)

    async def prepare(self, proposal: Proposal, agent: Agent, place: ToolPlace) -> None:
        """Check that it can be made, and wait for its server where that is being started.

        Raises CallPostponed where that is not there: then the proposal is as it was, and may be agreed to
        again. Raises what `find` and `check` raise: it may have been decided on in the meantime.
        """
        await self.check(proposal, agent, place)
        away = await self._is_away(proposal)
        found, call = await self.find(proposal.key.user_id, proposal.id)
        if away:
            raise CallPostponed(server=call.server, minutes=OPEN_MINUTES)
        await self.check(found, agent, place)

    async def _is_away(self, proposal: Proposal) -> bool:
        try:
            if self.servers is not None and isinstance(proposal.change, CallTool):
                await self.servers.wait_for(proposal.change.server)
        except ToolServerAway:
            return True
        return False

    async def decline(self, proposal: Proposal) -> None:
        """Leave it undone. Raises CallGone when somebody was faster."""
        if not isinstance(proposal.change, CallTool) or not await self._leave(
            proposal, proposal.change, DECLINED
        ):
            raise CallGone(minutes=OPEN_MINUTES)

    async def claim(self, proposal: Proposal, name: str, message: CallMessage) -> ClaimedCall:
        """Claim it: from here on it is made once, or not at all. `name` is that of who is about to make it.
        Raises CallGone when somebody was faster."""
        if not isinstance(proposal.change, CallTool):
            raise CallGone(minutes=OPEN_MINUTES)
        call = ClaimedCall(
            proposal.id,
            proposal.key,
            proposal.answer_id,
            proposal.visibility,
            proposal.change,
            claimed_at=self.clock(),
            claimed_by=name,
            message=message,
        )
        if not await self.stores.claimed_calls.claim(proposal, call):
            raise CallGone(minutes=OPEN_MINUTES)
        return call

    async def make(
        self, call: ClaimedCall, stop: Stop, locale: Locale, asker: Asker | None = None
    ) -> CallResult:
        """Make a call that was just claimed, and note what came of it in the answer that proposed it. `asker`
        is the way to who asked.

        Raises CallPostponed where its server was not there after all: nothing was sent, and nothing is noted,
        so that it can be given back. Raises StorageError where what came of it can't be noted: then it is in
        doubt, as after a kill.
        """
        try:
            answer = await self._make(call, stop, locale, asker)
        except ToolServerAway:
            raise CallPostponed(server=call.change.server, minutes=OPEN_MINUTES) from None
        state = answer.state
        told = _told(call.change, answer.text, ok=state == "done")
        kept = await self.stores.claimed_calls.finish(call, state, lambda each: _revised(each, told))
        _log.info("approved_call", tool=call.change.called, state=state, stopped=stop.requested)
        stopped = stop.requested and stop.status == "stopped" and state == "unknown"
        return CallResult(call, state, told, answer.problem, stopped, kept, answer.images)

    async def give_back(self, proposal: Proposal, call: ClaimedCall) -> bool:
        """Have it wait again, as it did before it was claimed. Return whether it does; what is erased does
        not. Raises StorageError."""
        return await self.stores.claimed_calls.give_back(proposal, call)

    async def give_up(self, call: ClaimedCall) -> CallState:
        """Note of a call whose run of the program was ended that it may have been done; return what came of
        it, if that was noted before."""
        if call.state != "claimed":
            return call.state
        told = _told(call.change, IN_DOUBT, ok=False)
        await self.stores.claimed_calls.finish(call, "unknown", lambda each: _revised(each, told))
        return "unknown"

    async def settle(self, call: ClaimedCall) -> None:
        """Forget it: its user knows what came of it. Raises StorageError."""
        await self.stores.claimed_calls.settle(call)

    async def _make(self, call: ClaimedCall, stop: Stop, locale: Locale, asker: Asker | None) -> "_Answer":
        change = call.change
        try:
            if self.servers is None:
                raise ToolServerAway(server=change.server)
            given = json.loads(change.arguments)
            calling = self.servers.call(change.server, change.tool, given, asker)
            result: ServerResult | None = await until_stopped(calling, stop)
        except ToolServerAway:
            raise
        except CcBotError as error:
            sentence = explain(error, texts(locale))
            if isinstance(error, CALL_IN_DOUBT):
                return _Answer("unknown", in_doubt(sentence).text, sentence)
            return _Answer("failed", failed(sentence).text, sentence)
        except Exception:  # noqa: BLE001 - whatever it is, it is on record, and nobody knows what was done
            _log.error("approved_call_broke", exc_info=True)
            return _Answer("unknown", IN_DOUBT)
        if result is None:
            return _Answer("unknown", IN_DOUBT)
        return _Answer("done" if result.ok else "failed", outcome_of(result).text, images=result.images)

    def _offered(self, call: CallTool, place: ToolPlace) -> OfferedTool | None:
        there = self.servers.tools_in(place) if self.servers else ()
        return next((each for each in there if _is_tool(each, call)), None)

    async def _leave(self, proposal: Proposal, call: CallTool, result: Mapping[str, Any]) -> bool:
        told = _told(call, json.dumps(result), ok=False)
        return await self.stores.claimed_calls.leave(proposal, lambda each: _revised(each, told))


@contextmanager
def _counted(counter: Counter[tuple[int, int]], answer: tuple[int, int]) -> Iterator[None]:
    counter[answer] += 1
    try:
        yield
    finally:
        counter[answer] -= 1
        if not counter[answer]:
            del counter[answer]


@dataclass(frozen=True, slots=True)
class _Answer:
    """The end of a call: for the model, and for its user."""

    state: CallState
    text: str
    """For the model."""
    problem: str = ""
    """See CallResult."""
    images: tuple[Attachment, ...] = ()


def _is_tool(offered: OfferedTool, call: CallTool) -> bool:
    return (offered.tool.server, offered.tool.name) == (call.server, call.tool)


_ID: Final = "approved"
"""Of a call that stands by itself: a request gives it another one."""


def _told(call: CallTool, text: str, *, ok: bool) -> ToolCall:
    return ToolCall(_ID, call.called, call.arguments, text, ok)


def _revised(stored: ToolCall, told: ToolCall) -> ToolCall:
    """Return a call of the answer with its result, where it is the one that waited; the model may have asked
    for the same more than once."""
    same = stored.name == told.name and _parse(stored.arguments) == _parse(told.arguments)
    if not same or _parse(stored.result) != WAITING:
        return stored
    return replace(stored, result=told.result, ok=told.ok)


def _parse(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
