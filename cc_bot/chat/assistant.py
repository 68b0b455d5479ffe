"""`Assistant.ask` takes a question and stores the answer.

A turn reads its context, then asks the model outside any transaction, and is stored in one short transaction.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Final

import structlog

from cc_bot.chat.active import ActiveTurn, ActiveTurns, Stop, until_stopped
from cc_bot.chat.approvals import Approvals
from cc_bot.chat.consent import is_pending
from cc_bot.chat.context.attachments import MAX_DOCUMENT_TOKENS
from cc_bot.chat.context.prompt import PromptSettings
from cc_bot.chat.context.recordings import BYTES_PER_AUDIO_SECOND
from cc_bot.chat.context.tokens import max_file_tokens
from cc_bot.chat.conversations import Conversations
from cc_bot.chat.rounds import Draft, Rounds
from cc_bot.chat.spending import Spending, UsageRecorder
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.sessions import StoredTurn
from cc_bot.chat.stores.usage import Reservation
from cc_bot.chat.summaries import Summaries
from cc_bot.chat.tools import ToolRegistry
from cc_bot.chat.turn import (
    Calibration,
    Emit,
    Transcriber,
    Turn,
    TurnOptions,
    TurnRequest,
    make_tool_context,
    visitor_of_turn,
)
from cc_bot.concurrency import cancel_tasks
from cc_bot.db.leases import Membership
from cc_bot.domain import errors
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.measures import NULL_METER, Meter
from cc_bot.domain.message import ChannelKey, Message, Reference, Status, ToolCall, is_blank
from cc_bot.domain.session import SessionKey
from cc_bot.domain.tool_calls import is_server_tool
from cc_bot.domain.turn import (
    CanvasChanged,
    Done,
    FilesDeleted,
    Heard,
    TextDelta,
    ToolsUnavailable,
    TurnEvent,
)
from cc_bot.llm.model import Chains
from cc_bot.log import claim_turn_id, log_failure
from cc_bot.texts import explain, texts
from cc_bot.texts.answer import AnswerTexts

_MAX_TOOLS_NOTICES: Final = 1000
_log = structlog.get_logger(__name__)

MAX_QUESTION_CHARACTERS = 6000  # Discord's limit for a command option
TURN_LIMIT_S = 600.0  # below the 900 s lifetime of an interaction token; also bounds cost
CHECK_ERASURES_EVERY_S: Final = 1.0


class Assistant:
    def __init__(
        self,
        stores: Stores,
        chains: Chains,
        tools: ToolRegistry,
        *,
        max_turns: int = 8,
        prompt_settings: PromptSettings = PromptSettings(),
        turn_limit_s: float = TURN_LIMIT_S,
        clock: Clock = utc_now,
        summaries: Summaries | None = None,
        meter: Meter = NULL_METER,
        spending: Spending | None = None,
    ) -> None:
        """Without `summaries` no conversation is summarized; without `spending` no usage is limited."""
        self._stores = stores
        self.chains = chains
        self._tools_notices = set[tuple[SessionKey, str]]()  # by `_claim_tools_notice`
        self.tools = tools
        self._turn_limit_s = turn_limit_s
        self._clock = clock
        self._meter = meter
        self._spending = spending or Spending(stores.usage)
        self._calibration = Calibration(stores.token_factors, chains.first_name(()))
        self.conversations = Conversations(stores, self._calibration, prompt_settings, clock, summaries)
        self.transcriber: Transcriber | None = None  # set by the feature `voice`
        self.approvals = Approvals(stores, tools, clock)
        self.turns = ActiveTurns(max_turns)

    async def ask(
        self,
        key: SessionKey | ChannelKey,
        message: Message | Sequence[Message],
        options: TurnOptions,
        stop: Stop | None = None,
        *,
        replaces: int | None = None,
        references: Sequence[Reference] = (),
        get_reservation: Callable[[], Awaitable[Reservation | None]] | None = None,
    ) -> AsyncGenerator[TurnEvent, None]:
        """Answer a new message in a session, or archived messages of one user in a channel. Yields the turn's
        events; cancels the turn if iteration stops. Before the last event, Done, the turn is stored, unless
        it is temporary or empty.

        `replaces`: the answer to regenerate. In a session it is a row id: the question is read, so `message`
        is empty, and the old answer stays archived. In a channel it is a Discord message id, and the old
        answer is overwritten. `get_reservation`: awaited once queued; without one, or if it returns None, the
        assistant reserves.

        Raises InputError, NotNewest, TurnError if there is no answer, StorageError, and the errors of
        `get_reservation`.
        """
        questions = (message,) if isinstance(message, Message) else tuple(message)
        for question in questions if replaces is None else ():
            _check_question(question)
        request = TurnRequest(key, options, questions, replaces, tuple(references))
        events = asyncio.Queue[TurnEvent | None]()
        user_id = request.user_id
        queue_key = ("channels", user_id) if isinstance(key, ChannelKey) else user_id
        active = ActiveTurn(user_id, stop or Stop(), queue_key, claim_turn_id(), self._meter)
        try:
            with self.turns.join(active):
                if not active.admitted.is_set():
                    self.turns.announce(active, events.put_nowait)  # before anything else
                running = asyncio.create_task(self._run(request, active, get_reservation, events.put_nowait))
                running.add_done_callback(lambda _: events.put_nowait(None))
                try:
                    while (event := await events.get()) is not None:
                        yield event
                    done, start_background_work = running.result()
                finally:
                    await cancel_tasks(running)
        except Exception as error:
            active.record_failure(error)
            raise
        try:
            yield done
        finally:  # the caller has the answer
            start_background_work()

    def track_approved_call(self, user_id: int, stop: Stop) -> AbstractContextManager[None]:
        """Count an approved call as a running turn. Raises ShuttingDown and BeingErased."""
        return self.turns.join(ActiveTurn(user_id, stop))

    async def watch_erasures(self, membership: Membership) -> None:
        """Discard turns of users that another process erases."""
        while True:
            await asyncio.sleep(CHECK_ERASURES_EVERY_S)
            if len(membership.active) == 1 or not self.turns:
                continue
            with log_failure("erasures_not_read", errors.StorageError):
                self.turns.discard(await self._stores.personal_data.list_unfinished())

    async def wait_for_tasks(self) -> None:
        await self._calibration.wait_for_tasks()

    async def _run(
        self,
        request: TurnRequest,
        active: ActiveTurn,
        get_reservation: Callable[[], Awaitable[Reservation | None]] | None,
        emit: Emit,
    ) -> tuple[Done, Callable[[], None]]:
        """Reserve, wait, answer and store. Also returns a function that starts the turn's background work."""
        stop, draft, options = active.stop, Draft(), request.options
        with active.measure("queue"):
            reservation = await get_reservation() if get_reservation else None
            if reservation is None:
                payer, model = options.payer(request.user_id), self.chains.first_name(options.agent.models)
                tokens = sum(map(_max_tokens, request.questions))
                reservation = await self._spending.reserve(payer, "turn", model=model, tokens=tokens)
        async with self._spending.record(reservation) as recorder:
            with active.measure("queue"):
                await self.turns.wait_for_slot(active, emit)
            if self.transcriber and self.transcriber.is_needed(request):
                with active.measure("hearing"):
                    transcribed = await until_stopped(
                        self.transcriber.transcribe(request, recorder, emit), stop
                    )
                    request = transcribed or request
            with active.measure("store"):
                turn = await self.conversations.begin(request)
            if turn.transcript:
                emit(Heard(turn.transcript))
            if not stop.requested:
                await self._answer(turn, draft, recorder, active, emit)
            with active.measure("store"):
                done, stored = await self._store(turn, draft, stop, recorder)
        active.record_answer(done)
        self._calibration.learn(draft.measured_requests)
        if isinstance(request.key, ChannelKey):  # a crash from here on must not change the next prompt
            await self._calibration.wait_for_tasks()
        if stored is None:
            return done, lambda: None
        if stored.canvas is not None and turn.canvas:
            emit(CanvasChanged(turn.canvas.is_empty(stored.canvas)))
        if stored.files_deleted:
            emit(FilesDeleted(stored.files_deleted))
        return done, partial(turn.start_background_work, stored.messages, draft.history_tokens)

    async def _store(
        self, turn: Turn, draft: Draft, stop: Stop, recorder: UsageRecorder
    ) -> tuple[Done, StoredTurn | None]:
        """Store the turn, unless it is temporary or its answer is empty. Raises a TurnError if the answer
        is empty though the user did not stop it, BeingErased if the turn was discarded, and StorageError."""
        if stop.discarded:
            raise errors.BeingErased
        interrupted = stop.requested and draft.status != "complete"
        status: Status = stop.status if interrupted else draft.status
        answer = draft.as_message(status, turn.visibility)
        if draft.is_empty or (turn.replaced and is_blank(answer.content)):
            if status != "stopped":
                if draft.hit_round_limit:
                    raise errors.ModelWentInCircles
                if draft.status == "complete":
                    raise errors.ModelSaidNothing
                raise errors.ShuttingDown if self.turns.is_closed else errors.ModelUnavailable
            return Done(answer, draft.usage), None
        if turn.options.temporary:
            return Done(answer, draft.usage), None
        stored = await turn.store(answer, draft.proposals, await recorder.make_settlement())
        recorder.settled = True
        is_first = False
        if not turn.options.welcomed:
            try:
                is_first = await self._stores.settings.claim_welcome(turn.user_id)
            except errors.StorageError:  # must not fail the turn, which is stored
                _log.warning("welcome_not_claimed")
        return Done(stored.messages[-1], draft.usage, is_first, stored.proposals), stored

    async def _answer(
        self, turn: Turn, draft: Draft, recorder: UsageRecorder, active: ActiveTurn, emit: Emit
    ) -> None:
        """Let the model answer into the draft. An answer without text gets a sentence, as many servers reject
        calls that no text follows."""
        options, stop = turn.options, active.stop
        registry = self.tools.for_visitor(visitor_of_turn(turn))
        offered = registry.schemas(
            writing=not options.temporary,
            memory=not options.memory_paused,
            canvas=turn.canvas is not None,
            file=bool(turn.documents),
            schedule=True,
            **registry.subjects(),
            allowed=options.agent.tools,
        )
        with active.measure("store"):
            prompt = await turn.prompt(offered)
        context = make_tool_context(turn, self._stores, self._clock, registry)
        model = recorder.metered(self.chains.chain_for(options.agent.models))
        earlier_calls = _earlier_calls(turn, registry) if turn.user_id else options.earlier_calls
        rounds = Rounds(model, registry, offered, context, active, emit, options.images, earlier_calls)
        if options.entry_id and turn.user_id:
            rounds.store_calls = partial(self._stores.ledger.note_calls, options.entry_id, turn.user_id)
        time_limit = asyncio.get_running_loop().call_later(self._turn_limit_s, stop.request, "cut")
        try:
            await until_stopped(rounds.run(prompt, draft), stop)
        finally:
            time_limit.cancel()
            draft.history_tokens = prompt.budget_tokens
        if draft.model_lacks_tools and self._claim_tools_notice(turn, draft.model):
            emit(ToolsUnavailable())
        if draft.has_no_text and not draft.is_empty and not turn.replaced:
            words = texts(options.locale)
            draft.text = words[AnswerTexts].no_text
            if draft.hit_round_limit:  # complete, as continuing would loop again
                draft.text, draft.status = explain(errors.ModelWentInCircles(), words), "complete"
            emit(TextDelta(draft.text))

    def _claim_tools_notice(self, turn: Turn, model: str) -> bool:
        """Return True once for each session and model."""
        notice = (turn.key, model)
        if notice in self._tools_notices:
            return False
        if len(self._tools_notices) == _MAX_TOOLS_NOTICES:
            self._tools_notices.clear()
        self._tools_notices.add(notice)
        return True


def _earlier_calls(turn: Turn, registry: ToolRegistry) -> tuple[ToolCall, ...]:
    """Return the calls not to repeat: an interrupted run's, and lasting ones of the replaced answer."""
    known = {(call.id, call.name, call.arguments) for call in turn.options.earlier_calls}
    replaced = turn.replaced.tool_calls if turn.replaced else ()
    calls = (call for call in replaced if _may_have_changed(call, registry))
    new_calls = (call for call in calls if (call.id, call.name, call.arguments) not in known)
    return (*new_calls, *turn.options.earlier_calls)


def _may_have_changed(call: ToolCall, registry: ToolRegistry) -> bool:
    is_done = registry.writes(call.name) and call.ok and not is_pending(call)
    return is_server_tool(call.name) and (call.outcome_unknown or is_done)


def _max_tokens(question: Message) -> int:
    tokens = len(question.content)  # a character is at most about one token
    for file in question.attachments:
        if file.document is not None:
            tokens += min(MAX_DOCUMENT_TOKENS, sum(len(part.text) for part in file.document.parts))
        else:
            size = round(file.seconds * BYTES_PER_AUDIO_SECOND) or len(file.data)
            tokens += max_file_tokens(file.content_type, size)
    return tokens


def _check_question(message: Message) -> None:
    if is_blank(message.content) and not message.attachments:
        raise errors.EmptyQuestion
    if len(message.content) > MAX_QUESTION_CHARACTERS:
        raise errors.QuestionTooLong(limit=MAX_QUESTION_CHARACTERS, length=len(message.content))
