"""Session turns and channel turns: each reads its context, builds its prompt, and stores the turn.

A thread's context is its channel up to the thread's start, then the thread. Discord ids grow with time, so
one order and one window cover both. A channel's history is frozen in blocks, whose text stays the same for
the provider's prompt cache; a reset makes a block stale, and new ones replace (thaw) it.
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
    ContextPlan,
    MessageRange,
    ShownHistory,
    TokenBudget,
    build_channel_prompt,
    group_rows,
    newest_blocks,
    plan_context,
    row_tokens,
)
from cc_bot.chat.context.prompt import PromptStyle, build_prompt, summary_note, tokens_up_to
from cc_bot.chat.context.tokens import max_message_tokens, message_tokens
from cc_bot.chat.drawing import open_drawing
from cc_bot.chat.stores.blocks import ContextState, read_context_page, read_context_state
from cc_bot.chat.stores.channels import read_memory_calls
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.sessions import StoredTurn
from cc_bot.chat.stores.usage import Settlement
from cc_bot.chat.summaries import Summaries
from cc_bot.chat.turn import Calibration, Turn, TurnOptions, TurnPrompt, TurnRequest, read_profile_notes
from cc_bot.db import Transaction
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import NotNewest
from cc_bot.domain.message import ChannelKey, ContextMessage, Message, ToolCall, Visibility
from cc_bot.domain.proposal import ProposedCalls
from cc_bot.domain.session import Session, SessionKey
from cc_bot.domain.tool_calls import shown_memory_ids
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

CountTokens = Callable[[Message], float]


@dataclass(eq=False, slots=True)
class Conversations:
    stores: Stores
    calibration: Calibration
    style: PromptStyle
    clock: Clock
    summaries: Summaries | None = None
    page_size: int = PAGE_SIZE  # channel messages per read

    async def begin(self, request: TurnRequest) -> Turn:
        """Create a turn for new questions, or to regenerate the newest answer. Raises NotNewest and
        StorageError."""
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
            return await self._begin_regeneration(request, key, request.replaces)
        [question] = request.questions
        visibility, store = question.visibility, not options.temporary
        session = await self.stores.sessions.open(key, visibility=visibility, store=store)
        return SessionTurn(self, options, session, question, history=session.history, visibility=visibility)

    async def _begin_regeneration(
        self, request: TurnRequest, key: SessionKey, answer_id: int
    ) -> "SessionTurn":
        session, question, answer = await self.read_newest(key, answer_id)
        options = request.options
        if request.references:
            question = replace(question, references=request.references)
        if answer.visibility == "public":  # its prompt must not contain private messages
            session = await self.stores.sessions.open(key, extra=2)  # its newest question and answer
        if answer.discord_id is not None:  # that message will show the new answer
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

    async def read_newest(self, key: SessionKey, answer_id: int) -> tuple[Session, Message, Message]:
        """Return the session, its newest question and answer. Raises NotNewest for another `answer_id`."""
        session = await self.stores.sessions.open(key, visibility="private", extra=2)
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
        conversations: Conversations,
        options: TurnOptions,
        session: Session,
        question: Message,
        *,
        history: tuple[Message, ...],
        visibility: Visibility,
        replaced: Message | None = None,
    ) -> None:
        """`replaced`: the answer to replace, whose question is already stored."""
        super().__init__(session.key, options, (question,), history=history, replaced=replaced)
        self.visibility = visibility
        if question.tainted:  # any of it may be text by others, which must not approve a call
            self.own_words = ""
        self._conversations = conversations
        self._session = session
        self._history = history
        self.shown_memories = shown_memory_ids(call for message in history for call in message.tool_calls)
        self._canvas_draft = open_drawing(session.canvas, visibility)
        self.canvas = None if options.temporary else self._canvas_draft  # if temporary, only shown

    async def prompt(self, offered: Sequence[ToolSchema]) -> TurnPrompt:
        conversations, options = self._conversations, self.options
        factor = await conversations.calibration.factor(options.agent.models)  # tokens per estimated one
        budget = conversations.style.budget_tokens / factor
        count_tokens = cache(message_tokens)
        history = (*await self._read_earlier(budget, count_tokens), *self._history)
        summary = summary_note(self._session, self.visibility) if conversations.summaries else None
        now, draft = conversations.clock(), self._canvas_draft
        canvas = draft.part(options.locale) if draft else SystemPart("")
        notes = await read_profile_notes(
            conversations.stores.memories, self.user_id, self.visibility, offered
        )
        [question], max_history_tokens = self.questions, sum(map(max_message_tokens, history))
        personal = (canvas.text, *question.attachments, *question.references, summary and summary.text)

        def build(budget_tokens: float) -> ChatRequest:
            parts = build_prompt(
                history,
                question,
                tools=offered,
                locale=options.locale,
                now=now,
                timezone=options.timezone,
                temporary=options.temporary,
                paused=options.memory_paused,
                summary=summary,
                canvas=canvas,
                persona=options.agent.prompt,
                notes=notes,
                budget_tokens=budget_tokens,
                cost=max_message_tokens if max_history_tokens <= budget_tokens else count_tokens,
            )
            last = len(parts) - 3  # of the history; a changing part and the question follow
            return ChatRequest(parts, stable=(0, last) if last > 0 else (0,), shrinkable=last > 0)

        return TurnPrompt(
            build,
            budget,
            factor=factor,
            cache_key=cache_key(self.key),
            agent=options.agent,
            limit=conversations.calibration.limit(options.agent.models),
            offered=offered,
            has_private_data=bool(notes) or (self.visibility == "private" and any((*history, *personal))),
        )

    async def store(
        self, answer: Message, proposals: Sequence[ProposedCalls], settlement: Settlement
    ) -> StoredTurn:
        answer = replace(answer, discord_id=self.options.answer_discord_id)
        return await self._conversations.stores.sessions.archive_turn(
            self._session,
            (answer,) if self.replaced else (*self.questions, answer),
            replaces=self.replaced.id if self.replaced else None,
            redraw=self._canvas_draft.redraw if self._canvas_draft else None,
            turn_id=self.options.entry,
            proposals=proposals,
            settlement=settlement,
            channel=self.options.location,
        )

    def start_background_work(self, stored: Sequence[Message], history_tokens: float) -> None:
        if self._conversations.summaries:
            self._conversations.summaries.after_turn(
                self.key,
                (*self._history, *self.questions, *stored),
                self.options.locale,
                budget_tokens=history_tokens,
                payer=self.options.payer(self.user_id),
            )

    async def _read_earlier(self, budget_tokens: float, count_tokens: CountTokens) -> tuple[Message, ...]:
        """Return the messages before the session's first page that fit."""
        session = self._session
        if not session.more:
            return ()
        tokens_left = budget_tokens - tokens_up_to(self._history, budget_tokens, count_tokens)
        while tokens_left > 0 and session.more:
            longer = await self._conversations.stores.sessions.load_earlier(
                session, visibility=self.visibility
            )
            page = longer.history[: len(longer.history) - len(session.history)]
            tokens_left -= tokens_up_to(page, tokens_left, count_tokens)
            session = longer
        return session.history[: len(session.history) - len(self._session.history)]


@dataclass(frozen=True, slots=True)
class _Context:
    ranges: tuple[MessageRange, ...]
    cut: bool  # True if older messages were not read because they would not fit
    calls: Sequence[tuple[int, tuple[ToolCall, ...]]]  # of memory tools, by id of the answer


def _ranges(turn: "ChannelTurn", state: ContextState) -> tuple[MessageRange, ...]:
    key = turn.channel
    question_ids = frozenset(question.discord_id or UNBOUNDED for question in turn.questions)
    newest = max(question_ids)
    answer = 0 if turn.replaced else turn.options.answer_discord_id or 0
    reset = state.reset_ids.get(key.thread_id, 0)
    own = MessageRange(
        key,
        settled_before=min(state.waiting_ids.get(key.thread_id, frozenset()) | question_ids),
        reset=reset,
        before=max(newest, answer),
        hidden=question_ids,
        asked=newest,
    )
    if not key.thread_id:
        return (_with_blocks(own, state),)
    thread_start = key.thread_id + 1
    channel = MessageRange(
        key.parent,
        settled_before=min(state.waiting_ids.get(0, frozenset()) | {thread_start}),
        in_block_from=state.next_block_start,
        reset=max(reset, state.reset_ids.get(0, 0)),
        before=thread_start,
    )
    return (_with_blocks(channel, state), _with_blocks(own, state))


def _with_blocks(messages: MessageRange, state: ContextState) -> MessageRange:
    blocks = [block for block in state.blocks if block.key == messages.key and block.last_id > messages.reset]
    complete = [block for block in blocks if block.first_id > messages.reset]
    unsettled_starts = [block.first_id for block in blocks if block.last_id >= messages.settled_before]
    return replace(
        messages,
        blocks=tuple(block for block in complete if block.last_id < messages.settled_before),
        stale=tuple(block for block in blocks if block.first_id <= messages.reset),
        in_block_from=min(unsettled_starts, default=messages.in_block_from),
    )


class ChannelTurn(Turn):
    def __init__(
        self,
        conversations: Conversations,
        channel: ChannelKey,
        questions: tuple[Message, ...],
        options: TurnOptions,
        *,
        replaced: Message | None = None,
    ) -> None:
        """`replaced`: the answer to replace; the prompt then shows only messages before the questions."""
        key = SessionKey(questions[0].author_id, channel.location_id, options.agent.name)
        super().__init__(key, options, questions, replaced=replaced)
        self.channel = channel
        self._conversations = conversations

    async def prompt(self, offered: Sequence[ToolSchema]) -> TurnPrompt:
        conversations, options = self._conversations, self.options
        style, now = conversations.style, conversations.clock()
        planned, token_budget, memory_ids = await self._read_context()
        shown = ShownHistory.of(planned.groups)
        user_rows = [row for row in shown.rows if row.role == "user" and row.author_id == self.user_id]
        self.set_history([Message("user", row.content, tainted=row.tainted) for row in user_rows])
        self.shown_memories = memory_ids
        notes = await read_profile_notes(conversations.stores.memories, self.user_id, "public", offered)

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
            factor=token_budget.factor,
            cache_key=cache_key(self.channel),
            agent=options.agent,
            limit=conversations.calibration.limit(options.agent.models),
            offered=offered,
            has_private_data=bool(notes),
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
        return await self._conversations.stores.channels.archive_answer(
            self.channel, answer, self.questions, proposals, agent=options.agent.name, settlement=settlement
        )

    async def _read_context(self) -> tuple[ContextPlan, TokenBudget, frozenset[int]]:
        """Read the context and store full blocks. Also returns ids of memories in recent answers."""
        style, blocks = self._conversations.style, self._conversations.stores.blocks
        factor = await self._conversations.calibration.factor(self.options.agent.models)
        token_budget = TokenBudget.of(style.budget_tokens, style.block_tokens, factor, cache(row_tokens))
        context = await blocks.run_read(lambda: self._read(token_budget))
        planned = plan_context(context.ranges, token_budget)
        window_start = planned.first if context.cut or planned.is_cut else 0
        if planned.frozen or window_start:
            frozen = {block.key for block in planned.frozen}
            stale = [block for each in context.ranges if each.key in frozen for block in each.stale]
            window_starts = {self.channel: window_start} if window_start else {}
            await blocks.freeze(planned.frozen, window_starts=window_starts, replaced=stale)
        recent = (call for id_, calls in context.calls if id_ >= planned.first for call in calls)
        return planned, token_budget, shown_memory_ids(recent)

    def _read(self, token_budget: TokenBudget) -> Transaction[_Context]:
        max_blocks = 2 * ceil(token_budget.total / token_budget.block) + 2  # two adjacent ones exceed a block
        state = yield from read_context_state(self.channel, bot_id=self.options.bot_id, max_blocks=max_blocks)
        ranges = _ranges(self, state)
        blocks = [block for each in ranges for block in each.blocks if block.last_id >= state.window_start]
        fit, first = newest_blocks(blocks, token_budget), state.window_start
        blocks_in_range = max(Counter(block.key for block in blocks).values(), default=0)
        cut = len(fit) < len(blocks) or blocks_in_range >= max_blocks
        if cut:
            first = max(first, fit[0].first_id if fit else blocks[-1].last_id + 1)
        shown, complete = list[MessageRange](), True
        for each in reversed(ranges):
            if complete:
                messages, complete = yield from self._read_rows(each, first, shown, token_budget)
                shown.insert(0, messages)
        calls = yield from read_memory_calls(self.channel, self.user_id, first)
        return _Context(tuple(shown), cut or not complete, calls)

    def _read_rows(
        self, messages: MessageRange, first: int, later: Sequence[MessageRange], token_budget: TokenBudget
    ) -> Transaction[tuple[MessageRange, bool]]:
        """Return the range with its newest rows that fit, and whether it is complete."""
        page_size = self._conversations.page_size
        start, before, rows = max(first, messages.reset + 1), messages.before, list[ContextMessage]()
        messages = replace(messages, blocks=tuple(each for each in messages.blocks if each.last_id >= start))
        while start < before:
            bounds = {"first": start, "before": before, "asked": messages.asked, "reset": messages.reset}
            page = yield from read_context_page(messages.key, **bounds, limit=page_size)
            rows.extend(row for row in page if row.id not in messages.hidden)
            messages = replace(messages, rows=tuple(reversed(rows)))
            if len(page) < page_size:
                break
            before = page[-1].id
            groups = (group for each in (messages, *later) for group in group_rows(each, token_budget))
            if sum(group.tokens for group in groups) > token_budget.total:
                return messages, False
        return messages, True
