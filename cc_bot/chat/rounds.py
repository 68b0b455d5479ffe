"""The rounds of an answer: the model answers or calls tools, gets the results, and continues."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Final

import structlog

from cc_bot.chat.active import ActiveTurn
from cc_bot.chat.changes import changes_in, current
from cc_bot.chat.context.tokens import call_parts
from cc_bot.chat.tools import ToolContext, ToolOutcome, ToolRegistry, outcome_unknown
from cc_bot.chat.turn import Emit, MeasuredRequest, TurnPrompt
from cc_bot.domain.errors import ContextTooLong, ModelError, StorageError
from cc_bot.domain.message import (
    Attachment,
    Message,
    Status,
    ToolCall,
    Visibility,
    is_blank,
    result_for_model,
)
from cc_bot.domain.proposal import MAX_PROPOSALS, ProposedCalls
from cc_bot.domain.tool_calls import is_of_server
from cc_bot.domain.turn import (
    CallsResumed,
    ImagesShown,
    MemoriesRecalled,
    Notice,
    ServerCallInterrupted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    Usage,
)
from cc_bot.llm.model import (
    MAX_ANSWER_CHARACTERS,
    AssistantPart,
    ChatModel,
    ChatRequest,
    Delta,
    Fallback,
    Finish,
    Thinking,
    ToolRequest,
    ToolResultPart,
    ToolSchema,
    UserPart,
    storable_native,
)

_log = structlog.get_logger(__name__)

MAX_ROUNDS = 8
NOT_KEPT: Final = '{"note": "This is not kept. Look it up again where it is needed."}'
MAX_CALLS_PER_ROUND = 16
_LOOKS: Final = "[I look at the pictures.]"
_PICTURES: Final = "[The pictures that those tools gave, in their order: material, as their results are.]"
_ENOUGH: Final = (
    "The user has enough to decide on below this answer. Stop here, and ask them to go on after that."
)
MAX_CALLS: Final = 64
"""Ten canvas elements and some notes take about twenty."""
_UNKNOWN: Final = outcome_unknown(
    "The program was ended during this call, so nobody knows whether it was done. Look it up before you "
    "call it again."
)
_CUT_OFF: Final = outcome_unknown(
    "The answer was ended during this call, so nobody knows whether it was done. Look it up before you "
    "call it again."
)
_TAKEN_BACK: Final = json.dumps(
    {"error": "This was done, and the user took it back since. Do it again only if they ask for that now."}
)


@dataclass(slots=True)
class Draft:
    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    lasting: list[ToolCall] = field(default_factory=list)
    """Changes of a memory, a reminder or something outside: they stay done even if the answer is lost."""
    usage: Usage = field(default_factory=Usage)
    measured: list[MeasuredRequest] = field(default_factory=list)
    model: str = ""
    history_tokens: float = 0.0
    """Estimated tokens of history that fit in its requests."""
    tainted: bool = False
    """A request or result contained text not written by the user."""
    recalled: set[int] = field(default_factory=set)
    made: set[int] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)
    """Existing memories changed or deleted."""
    proposals: list[ProposedCalls] = field(default_factory=list)
    has_side_effects: bool = False
    """A tool has stored, changed, drawn or proposed anything."""
    without_tools: bool = False
    circled: bool = False
    """The rounds ran out before any text."""
    status: Status = "cut"

    @property
    def silent(self) -> bool:
        return is_blank(self.text)

    @property
    def empty(self) -> bool:
        """Neither text nor a change; lookups alone are no answer."""
        return self.silent and not self.has_side_effects

    def as_message(self, status: Status, visibility: Visibility) -> Message:
        return Message(
            "assistant",
            self.text.strip(),
            tool_calls=tuple(self.calls),
            status=status,
            visibility=visibility,
            tainted=self.tainted,
        )


@dataclass(eq=False, slots=True)
class Rounds:
    model: ChatModel
    registry: ToolRegistry
    offered: Sequence[ToolSchema]
    context: ToolContext
    turn: ActiveTurn = field(default_factory=ActiveTurn)
    emit: Emit = lambda _: None
    pictures: Sequence[Attachment] = ()
    earlier: Sequence[ToolCall] = ()
    keep_calls: Callable[[Sequence[ToolCall]], Awaitable[None]] | None = None
    """Stores changing calls before the answer: after a crash they are reported and not repeated."""

    async def run(self, prompt: TurnPrompt, draft: Draft) -> None:
        """Run rounds until the answer is done. Raises a ModelError only while the draft is empty."""
        if self.earlier:
            self.emit(await self._resume(self.earlier, prompt, draft))
        prompt.add(*_shown(self.pictures))
        for round_number in range(MAX_ROUNDS + 1):
            last = round_number == MAX_ROUNDS or len(draft.calls) >= MAX_CALLS
            said_before = len(draft.text)
            try:
                finish = await self._listen(prompt, () if last else self.offered, draft)
            except ModelError:
                if draft.empty:
                    raise
                return
            draft.usage += finish.usage
            if finish.reason != "tools" or last:
                draft.status = "complete" if finish.reason == "stop" else "cut"
                draft.circled = last and finish.reason in {"stop", "tools"} and draft.silent
                return
            if draft.text[said_before:].strip():
                draft.text += "\n\n"
                self.emit(TextDelta("\n\n"))
            wanted = finish.tool_requests[: min(MAX_CALLS_PER_ROUND, MAX_CALLS - len(draft.calls))]
            step = len(draft.calls)
            results = await self._call_all(wanted, prompt, draft)
            if len(draft.calls) > step:
                draft.calls[step] = replace(draft.calls[step], native=storable_native(finish.native))
            calls = tuple(replace(call, arguments=_kept_arguments(call)) for call in wanted)
            said = draft.text[said_before:].strip()
            prompt.add(AssistantPart(said, calls, native=finish.native), *results)

    async def _keep(self, done: Sequence[ToolCall], begun: Iterable[ToolRequest]) -> None:
        if self.keep_calls is None:
            return
        unknown = (ToolCall(call.id, call.name, "{}", "", ok=False) for call in begun)
        try:
            await self.keep_calls((*done, *unknown))
        except StorageError as error:
            _log.warning("calls_not_noted", error=type(error).__name__)

    async def _resume(self, earlier: Sequence[ToolCall], prompt: TurnPrompt, draft: Draft) -> CallsResumed:
        """Continue after an earlier run's calls, which the model sees as its own."""
        holding = [call for call in earlier if await self._holds(call)]
        calls = [
            call
            if call in holding and call.result
            else replace(call, result=_TAKEN_BACK if call.result else _UNKNOWN.text, ok=False)
            for call in earlier
        ]
        prompt.add(*call_parts(Message("assistant", "", tool_calls=tuple(calls), tainted=True)))
        done = [call for call in holding if call.ok]
        draft.calls += calls
        # A call of a server can't be verified: a second crash must not lose it.
        draft.lasting += [call for call in calls if call in done or is_of_server(call.name)]
        draft.tainted = True  # what was read before them is unknown
        draft.has_side_effects = bool(done)
        return CallsResumed(tuple(holding))

    async def _holds(self, call: ToolCall) -> bool:
        """False if the user has undone the call with a button."""
        now = await current(changes_in([call]), self.context.user_id, self.context.stores)
        return all(each.state != "undone" for each in now)

    async def _listen(self, prompt: TurnPrompt, tools: Sequence[ToolSchema], draft: Draft) -> Finish:
        """Ask the model; once more with a shorter prompt if it is too long."""
        limit: int | None = None
        while True:
            request = prompt.request(tools, answer_begun=bool(draft.text.strip()), model=draft.model)
            draft.tainted = draft.tainted or prompt.tainted
            try:
                return await self._hear(request, draft, limit)
            except ContextTooLong as error:
                if not prompt.shrink(tools, error.limit):
                    raise
                limit = error.limit
            _log.info("window_shrunk")

    async def _hear(self, request: ChatRequest, draft: Draft, limit: int | None) -> Finish:
        """Stream the answer into the draft. `limit` is the context limit that the model has just reported."""
        said_before = len(draft.text)
        finish = Finish("cut")
        with self.turn.timing("model"):
            async with aclosing(self.model.stream(request)) as stream:
                async for event in stream:
                    match event:
                        case Delta(text):
                            self.turn.note_first_word()
                            said = text[: max(MAX_ANSWER_CHARACTERS - len(draft.text), 0)]
                            if said:
                                draft.text += said
                                self.emit(TextDelta(said))
                            if len(said) < len(text):
                                return Finish("cut")
                        case Thinking(aloud):
                            draft.text = draft.text[:said_before] if aloud else draft.text
                            self.emit(Notice("thinking"))
                        case Fallback():
                            self.emit(Notice("fallback"))
                        case Finish():
                            self.turn.note_first_word()
                            finish = event
                            draft.model = event.model
                            draft.without_tools = event.without_tools
                            spent = event.usage.prompt_tokens
                            draft.measured.append(MeasuredRequest(event.model, request, spent, limit))
        return finish

    async def _call_all(
        self, requests: Sequence[ToolRequest], prompt: TurnPrompt, draft: Draft
    ) -> list[ToolResultPart | AssistantPart | UserPart]:
        """Run the calls of one round concurrently. Returns the results in their order, then the pictures."""
        for request in requests:
            self.emit(ToolStarted(request.id, request.name))
        context = replace(
            self.context,
            source=replace(self.context.source, model=draft.model),
            tainted=draft.tainted or prompt.tainted,
            looked_up=prompt.has_stored_data(self.registry.personal),
            recalled=frozenset(draft.recalled),
            made=frozenset(draft.made),
            changing=len(draft.changed) + sum(map(_changes_memory, requests)),
        )
        begun = [request for request in requests if self.registry.changes(request.name)]
        if begun:
            await self._keep(draft.lasting, begun)
        running = [
            asyncio.create_task(self.registry.call(request, context, self.offered)) for request in requests
        ]
        results, shown = list[ToolResultPart](), list[Attachment]()
        try:
            for request, task in zip(requests, running, strict=True):
                with self.turn.timing("tools"):
                    outcome = self._propose(await task, draft)
                name = request.name if any(each.name == request.name for each in self.offered) else "unknown"
                self.turn.meter.record_tool_call(name, ok=outcome.ok)
                # Secrets must not be stored here either.
                arguments = "{}" if outcome.secret else _kept_arguments(request)
                result = NOT_KEPT if outcome.passing else outcome.text
                draft.calls.append(ToolCall(request.id, request.name, arguments, result, outcome.ok))
                if outcome.changes or outcome.has_side_effects:
                    draft.lasting.append(draft.calls[-1])
                if draft.calls[-1].outcome_unknown:
                    self.emit(ServerCallInterrupted())
                if request in begun:
                    begun.remove(request)
                    await self._keep(draft.lasting, begun)
                draft.tainted = draft.tainted or outcome.tainted  # stored even if the model does not read it
                draft.recalled.update(memory.id for memory in outcome.recalled)
                draft.has_side_effects = draft.has_side_effects or (
                    outcome.ok and self.registry.writes(request.name)
                )
                draft.made.update(outcome.made)
                changed = {
                    each.id for each in outcome.changes if each.what == "memory" and each.kind != "unchanged"
                }
                draft.changed |= changed - draft.made
                waits = outcome.proposal is not None and outcome.proposal.goes_on
                self.emit(ToolFinished(request.id, request.name, outcome.ok, waits))
                self._tell(outcome)
                text = result_for_model(outcome.text)
                results.append(ToolResultPart(request.id, request.name, text, outcome.tainted))
                if outcome.images:
                    shown += outcome.images
                    self.emit(ImagesShown(outcome.images))
        except asyncio.CancelledError:
            self._cut_off([pair for pair in zip(requests, running, strict=True) if pair[0] in begun], draft)
            raise
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        return [*results, *_shown(shown)]

    def _tell(self, outcome: ToolOutcome) -> None:
        for change in outcome.changes:
            self.emit(change)
        if outcome.recalled:
            ids, numbers = zip(*((memory.id, memory.number) for memory in outcome.recalled), strict=True)
            self.emit(MemoriesRecalled(ids, numbers))

    def _cut_off(self, calls: Sequence[tuple[ToolRequest, asyncio.Task[ToolOutcome]]], draft: Draft) -> None:
        for request, task in calls:
            if not is_of_server(request.name):
                continue
            known = task.done() and not task.cancelled() and task.exception() is None
            outcome = task.result() if known else _CUT_OFF
            call = ToolCall(request.id, request.name, _kept_arguments(request), outcome.text, outcome.ok)
            draft.calls.append(call)
            draft.tainted = draft.tainted or outcome.tainted
            if outcome.has_side_effects:
                draft.lasting.append(call)
                draft.has_side_effects = True
            if not known:
                self.emit(ServerCallInterrupted())

    def _propose(self, outcome: ToolOutcome, draft: Draft) -> ToolOutcome:
        """Add the outcome's proposal to the draft; refuse it if there are MAX_PROPOSALS."""
        proposal, others = outcome.proposal, draft.proposals
        if proposal is None or proposal in others:
            return outcome
        drawing = next((at for at, each in enumerate(others) if _draws(each)), None)
        if _draws(proposal):
            if drawing is not None:
                proposal = others.pop(drawing).join(proposal)
            others.append(proposal)
        elif len(others) >= MAX_PROPOSALS - (drawing is None):  # one is reserved for drawings
            refused = {"error": _ENOUGH}
            if not outcome.changes:
                return ToolOutcome(json.dumps(refused), ok=False, tainted=outcome.tainted)
            text = json.dumps({**json.loads(outcome.text), "superseded": refused}, ensure_ascii=False)
            return replace(outcome, text=text, proposal=None)
        else:
            others.insert(len(others) if drawing is None else drawing, proposal)
        return outcome


def _shown(images: Sequence[Attachment]) -> list[AssistantPart | UserPart]:
    """Results can't contain pictures, and many servers reject a user message right after results."""
    return [AssistantPart(_LOOKS), UserPart(_PICTURES, tuple(images), tainted=True)] if images else []


def _draws(proposal: ProposedCalls) -> bool:
    return proposal.calls[0].name.startswith("canvas_")


def _changes_memory(request: ToolRequest) -> bool:
    """Parses the arguments as JSON, as the tool does: a name can be escaped in several ways."""
    if request.name != "remember":
        return request.name in {"update_memory", "forget"}
    try:
        arguments = json.loads(request.arguments)
    except (ValueError, RecursionError):
        return True
    return not isinstance(arguments, dict) or arguments.get("supersedes") is not None


def _kept_arguments(request: ToolRequest) -> str:
    return "{}" if request.oversized else request.arguments
