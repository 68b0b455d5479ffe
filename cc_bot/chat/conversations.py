"""Turns of sessions and of channels: read the context, build the prompt, store the turn.

In a channel, the bot answers one user in a conversation of several. A thread's context is its channel up to
the thread's start, then the thread. Discord ids grow with time, so one order and one window cover both. No
prompt is kept in memory.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from math import ceil
from typing import Final

from cc_bot.chat.context.channel_prompt import (
    UNBOUNDED,
    MessageRange,
    Plan,
    Shown,
    TokenBudget,
    build_channel_prompt,
    fitting,
    grouped,
    plan,
    said_tokens,
)
from cc_bot.chat.context.prompt import PromptStyle, build_prompt, recap, tokens_up_to
from cc_bot.chat.context.tokens import max_message_tokens, message_tokens
from cc_bot.chat.drawing import open_drawing
from cc_bot.chat.stores.blocks import ContextState, context_page, context_state
from cc_bot.chat.stores.channels import memory_calls
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.sessions import StoredTurn
from cc_bot.chat.stores.usage import Settlement
from cc_bot.chat.summaries import Summaries
from cc_bot.chat.turn import Calibration, Turn, TurnOptions, TurnPrompt, TurnRequest, read_profile_notes
from cc_bot.db import Steps
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import NotNewest
from cc_bot.domain.message import ChannelKey, ContextMessage, Message, ToolCall, Visibility
from cc_bot.domain.proposal import ProposedCalls
from cc_bot.domain.session import Session, SessionKey
from cc_bot.domain.tool_calls import shown_ids
from cc_bot.llm.model import ChatRequest, SystemPart, ToolSchema


def cache_key(key: SessionKey | ChannelKey) -> str:
    """Return a stable key for a provider's prefix cache, without a user's id."""
    match key:
        case SessionKey(user_id, channel_id, agent):
            name = f"session {user_id} {channel_id} {agent}"
        case ChannelKey(channel_id, thread_id):
            name = f"channel {channel_id} {thread_id}"
    return blake2b(name.encode("utf-8", "replace"), digest_size=8, person=b"cc-bot").hexdigest()


PAGE_SIZE: Final = 1000

Cost = Callable[[Message], float]


@dataclass(eq=False, slots=True)
class Conversations:
    stores: Stores
    calibration: Calibration
    style: PromptStyle
    clock: Clock
    summaries: Summaries | None = None
    page_size: int = PAGE_SIZE
    """Channel messages per read."""

    async def begin(self, request: TurnRequest) -> Turn:
        """Create a turn for new questions, or the newest again. Raises NotNewest and StorageError."""
        key, options = request.key, request.options
        if isinstance(key, ChannelKey):
            if request.replaces is None:
                return ChannelTurn(self, key, request.questions, options)
            newest = await self.stores.channels.get_newest_answer(key, request.user_id)
            if newest is None or newest.discord_id != request.replaces:
                raise NotNewest
            options = replace(options, answer_discord_id=request.replaces)
            return ChannelTurn(self, key, request.questions, options, replaced=newest)
        if request.replaces is not None:
            return await self._again(request, key, request.replaces)
        [question] = request.questions
        visibility, lasting = question.visibility, not options.temporary
        session = await self.stores.sessions.open(key, visibility=visibility, lasting=lasting)
        return SessionTurn(self, options, session, question, history=session.history, visibility=visibility)

    async def check_newest(self, key: SessionKey, answer_id: int) -> None:
        """Raise NotNewest unless this is the newest answer of its session."""
        await self._newest(key, answer_id)

    async def _again(self, request: TurnRequest, key: SessionKey, answer_id: int) -> "SessionTurn":
        session, question, answer = await self._newest(key, answer_id)
        options = request.options
        if request.references:
            question = replace(question, references=request.references)
        if answer.visibility == "public":  # a public answer must not see private messages
            session = await self.stores.sessions.open(key, beyond=2)
        if answer.discord_id is not None:  # the same message shows it
            options = replace(options, answer_discord_id=answer.discord_id)
        return SessionTurn(
            self,
            options,
            session,
            question,
            history=session.history[:-2],
            visibility=answer.visibility,
            replaced=answer,
        )

    async def _newest(self, key: SessionKey, answer_id: int) -> tuple[Session, Message, Message]:
        session = await self.stores.sessions.open(key, visibility="private", beyond=2)
        match session.history[-2:]:
            case (Message(role="user") as question, Message(role="assistant") as answer) if (
                answer.id == answer_id
            ):
                return session, question, answer
            case _:
                raise NotNewest


class SessionTurn(Turn):
    def __init__(
        self,
        turns: Conversations,
        options: TurnOptions,
        session: Session,
        question: Message,
        *,
        history: tuple[Message, ...],
        visibility: Visibility,
        replaced: Message | None = None,
    ) -> None:
        """`replaced`: its question is already stored."""
        super().__init__(session.key, options, (question,), history=history, replaced=replaced)
        self.visibility = visibility
        if question.tainted:  # others' text in it is not always marked
            self.own_words = ""
        self._turns = turns
        self._session = session
        self._history = history
        self.shown_memories = shown_ids(call for message in history for call in message.tool_calls)
        self._drawing = open_drawing(session.canvas, visibility)
        self.canvas = None if options.temporary else self._drawing

    async def prompt(self, offered: Sequence[ToolSchema]) -> TurnPrompt:
        turns, options = self._turns, self.options
        factor = await turns.calibration.factor(options.agent.models)
        budget = turns.style.budget_tokens / factor
        cost = cache(message_tokens)  # each message is measured several times
        history = (*await self._earlier(budget, cost), *self._history)
        before = recap(self._session, self.visibility) if turns.summaries else None
        now, drawing = turns.clock(), self._drawing
        canvas = drawing.part(options.locale) if drawing else SystemPart("")
        notes = await read_profile_notes(turns.stores.memories, self.user_id, self.visibility, offered)
        [asked], most = self.questions, sum(map(max_message_tokens, history))
        beside = (*history, canvas.text, *asked.attachments, *asked.references, before and before.text)

        def build(budget_tokens: float) -> ChatRequest:
            parts = build_prompt(
                history,
                asked,
                tools=offered,
                locale=options.locale,
                now=now,
                timezone=options.timezone,
                temporary=options.temporary,
                paused=options.memory_paused,
                recap=before,
                canvas=canvas,
                persona=options.agent.prompt,
                notes=notes,
                style=turns.style,
                budget_tokens=budget_tokens,
                cost=max_message_tokens if most <= budget_tokens else cost,
            )
            last = len(parts) - 3  # stable up to the first part, and up to the end of the history
            return ChatRequest(parts, stable=(0, last) if last > 0 else (0,), shrinkable=last > 0)

        return TurnPrompt(
            build,
            budget,
            factor=factor,
            cache_key=cache_key(self.key),
            agent=options.agent,
            limit=turns.calibration.limit(options.agent.models),
            offered=offered,
            tells_private=bool(notes) or (self.visibility == "private" and any(beside)),
        )

    async def store(
        self, answer: Message, proposals: Sequence[ProposedCalls], settlement: Settlement
    ) -> StoredTurn:
        answer = replace(answer, discord_id=self.options.answer_discord_id)
        return await self._turns.stores.sessions.archive_turn(
            self._session,
            (answer,) if self.replaced else (*self.questions, answer),
            replaces=self.replaced.id if self.replaced else None,
            redraw=self._drawing.redraw if self._drawing else None,
            entry=self.options.entry,
            proposals=proposals,
            settlement=settlement,
            place=self.options.place,
        )

    def after(self, stored: Sequence[Message], history_tokens: float) -> None:
        if self._turns.summaries:
            self._turns.summaries.after_turn(
                self.key,
                (*self._history, *self.questions, *stored),
                self.options.locale,
                budget_tokens=history_tokens,
                payer=self.options.paid_by(self.user_id),
            )

    async def _earlier(self, budget_tokens: float, cost: Cost) -> tuple[Message, ...]:
        """Read messages before the turn's history while they fit. The first page comes with the session."""
        session = self._session
        if not session.more:
            return ()
        room = budget_tokens - tokens_up_to(self._history, budget_tokens, cost)
        while room > 0 and session.more:
            longer = await self._turns.stores.sessions.load_earlier(session, visibility=self.visibility)
            page = longer.history[: len(longer.history) - len(session.history)]
            room -= tokens_up_to(page, room, cost)
            session = longer
        return session.history[: len(session.history) - len(self._session.history)]


@dataclass(frozen=True, slots=True)
class _Context:
    ranges: tuple[MessageRange, ...]
    cut: bool
    """True if not all messages were read, as they would not fit."""
    calls: Sequence[tuple[int, tuple[ToolCall, ...]]]
    """The user's calls of memory tools, by the answer's id."""


def _ranges(turn: "ChannelTurn", state: ContextState) -> tuple[MessageRange, ...]:
    key = turn.place
    asked = frozenset(question.discord_id or UNBOUNDED for question in turn.questions)
    newest = max(asked)
    answer = 0 if turn.replaced else turn.options.answer_discord_id or 0
    reset = state.resets.get(key.thread_id, 0)
    own = MessageRange(
        key,
        settled_before=min(state.waiting.get(key.thread_id, frozenset()) | asked),
        reset=reset,
        before=max(newest, answer),
        hidden=asked,
        asked=newest,
    )
    if not key.thread_id:
        return (_with_blocks(own, state),)
    before = key.thread_id + 1
    channel = MessageRange(
        key.parent,
        settled_before=min(state.waiting.get(0, frozenset()) | {before}),
        taken_from=state.next_first,
        reset=max(reset, state.resets.get(0, 0)),
        before=before,
    )
    return (_with_blocks(channel, state), _with_blocks(own, state))


def _with_blocks(part: MessageRange, state: ContextState) -> MessageRange:
    blocks = [block for block in state.blocks if block.key == part.key and block.last_id > part.reset]
    whole = [block for block in blocks if block.first_id > part.reset]
    past = [block.first_id for block in blocks if block.last_id >= part.settled_before]
    return replace(
        part,
        blocks=tuple(block for block in whole if block.last_id < part.settled_before),
        stale=tuple(block for block in blocks if block.first_id <= part.reset),
        taken_from=min(past, default=part.taken_from),
    )


class ChannelTurn(Turn):
    def __init__(
        self,
        turns: Conversations,
        place: ChannelKey,
        questions: tuple[Message, ...],
        options: TurnOptions,
        *,
        replaced: Message | None = None,
    ) -> None:
        """`replaced`: only messages before the questions are shown."""
        key = SessionKey(questions[0].author_id, place.place_id, options.agent.name)
        super().__init__(key, options, questions, replaced=replaced)
        self.place = place
        self._turns = turns

    async def prompt(self, offered: Sequence[ToolSchema]) -> TurnPrompt:
        turns, options = self._turns, self.options
        style, now = turns.style, turns.clock()
        planned, measure, memories = await self._read_context()
        shown = Shown.of(planned.groups)
        own = [row for row in shown.rows if row.role == "user" and row.author_id == self.user_id]
        self.note_said([Message("user", row.content, tainted=row.tainted) for row in own])
        self.shown_memories = memories
        notes = await read_profile_notes(turns.stores.memories, self.user_id, "public", offered)

        def build(budget_tokens: float) -> ChatRequest:
            return build_channel_prompt(
                shown if budget_tokens == math.inf else shown.newest(budget_tokens),
                self.questions,
                tools=offered,
                locale=style.channel_locale,
                now=now,
                timezone=options.timezone,
                paused=options.memory_paused,
                persona=options.agent.prompt,
                notes=notes,
                asker_id=self.user_id,
                thread_title=options.thread_title,
                thread_owner_id=options.thread_owner_id,
            )

        return TurnPrompt(
            build,
            math.inf,
            factor=measure.factor,
            cache_key=cache_key(self.place),
            agent=options.agent,
            limit=turns.calibration.limit(options.agent.models),
            offered=offered,
            tells_private=bool(notes),
        )

    async def store(
        self, answer: Message, proposals: Sequence[ProposedCalls], settlement: Settlement
    ) -> StoredTurn:
        options = self.options
        answer = replace(
            answer,
            discord_id=options.answer_discord_id,
            author_id=options.bot_id,
            reply_to=self.questions[-1].discord_id,
        )
        return await self._turns.stores.channels.archive_answer(
            self.place, answer, self.questions, proposals, agent=options.agent.name, settlement=settlement
        )

    async def _read_context(self) -> tuple[Plan, TokenBudget, frozenset[int]]:
        """Read the context for the turn's request; due blocks are frozen and stored. Also returns the
        memories that recent answers to the user saved or showed."""
        style, blocks = self._turns.style, self._turns.stores.blocks
        factor = await self._turns.calibration.factor(self.options.agent.models)
        measure = TokenBudget.of(style.budget_tokens, style.block_tokens, factor, cache(said_tokens))
        context = await blocks.run(lambda: self._read(measure))
        planned = plan(context.ranges, measure)
        moved = planned.first if context.cut or planned.left else 0
        if planned.frozen or moved:
            frozen = {block.key for block in planned.frozen}
            stale = [block for each in context.ranges if each.key in frozen for block in each.stale]
            windows = {self.place: moved} if moved else {}
            await blocks.freeze(planned.frozen, windows=windows, thawed=stale)
        recent = (call for id_, calls in context.calls if id_ >= planned.first for call in calls)
        return planned, measure, shown_ids(recent)

    def _read(self, measure: TokenBudget) -> Steps[_Context]:
        most = 2 * ceil(measure.budget / measure.block) + 2  # two neighbours are more than one block's size
        state = yield from context_state(self.place, bot_id=self.options.bot_id, blocks=most)
        ranges = _ranges(self, state)
        blocks = [block for each in ranges for block in each.blocks if block.last_id >= state.window]
        fit, first = fitting(blocks, measure), state.window
        most_blocks = max(Counter(block.key for block in blocks).values(), default=0)
        cut = len(fit) < len(blocks) or most_blocks >= most
        if cut:
            first = max(first, fit[0].first_id if fit else blocks[-1].last_id + 1)
        shown, whole = list[MessageRange](), True
        for each in reversed(ranges):
            if whole:
                part, whole = yield from self._rows(each, first, shown, measure)
                shown.insert(0, part)
        calls = yield from memory_calls(self.place, self.user_id, first)
        return _Context(tuple(shown), cut or not whole, calls)

    def _rows(
        self, part: MessageRange, first: int, later: Sequence[MessageRange], measure: TokenBudget
    ) -> Steps[tuple[MessageRange, bool]]:
        """Read pages backwards while they fit. Also returns whether these are all rows."""
        page_size = self._turns.page_size
        start, before, rows = max(first, part.reset + 1), part.before, list[ContextMessage]()
        part = replace(part, blocks=tuple(block for block in part.blocks if block.last_id >= start))
        while start < before:
            bounds = {"first": start, "before": before, "asked": part.asked, "reset": part.reset}
            page = yield from context_page(part.key, **bounds, limit=page_size)
            rows.extend(row for row in page if row.id not in part.hidden)
            part = replace(part, rows=tuple(reversed(rows)))
            if len(page) < page_size:
                break
            before = page[-1].id
            groups = (group for each in (part, *later) for group in grouped(each, measure))
            if sum(group.tokens for group in groups) > measure.budget:
                return part, False
        return part, True
