"""Session turns and channel turns: each reads its context, builds its prompt, and stores the turn.

A thread's context is its channel up to the thread's start, then the thread. Discord ids grow with time, so
they order the messages of both. A channel's history is frozen in blocks, whose text stays the same for
the provider's prompt cache. A block that begins before a reset is stale: new blocks replace it.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from math import ceil
from typing import Final

from cc_bot.chat.context.channel_prompt import (
    AFTER_ALL_IDS,
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
from cc_bot.chat.context.prompt import CountTokens, PromptSettings, build_prompt, count_up_to, summary_note
from cc_bot.chat.context.tokens import max_message_tokens, message_tokens
from cc_bot.chat.drawing import open_drawing
from cc_bot.chat.stores.blocks import ContextState, read_context_page, read_context_state
from cc_bot.chat.stores.channels import read_memory_calls
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.sessions import StoredTurn
from cc_bot.chat.stores.usage import Settlement
from cc_bot.chat.summaries import Summaries
from cc_bot.chat.turn import Calibration, Turn, TurnOptions, TurnPrompt, TurnRequest, read_prompt_memories
from cc_bot.db import Transaction
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import NotNewest
from cc_bot.domain.message import ChannelKey, ContextMessage, Message, ToolCall, Visibility
from cc_bot.domain.proposal import ProposedCalls
from cc_bot.domain.session import Session, SessionKey
from cc_bot.domain.tool_calls import shown_memory_ids
from cc_bot.llm.model import ChatRequest, SystemPart, ToolSchema


def cache_key(key: SessionKey | ChannelKey) -> str:
    """Return a stable key, without a user's id, for a provider's prefix cache."""
    match key:
        case SessionKey(user_id, channel_id, agent):
            name = f"session {user_id} {channel_id} {agent}"
        case ChannelKey(channel_id, thread_id):
            name = f"channel {channel_id} {thread_id}"
    return blake2b(name.encode("utf-8", "replace"), digest_size=8, person=b"cc-bot").hexdigest()


PAGE_SIZE: Final = 1000


@dataclass(eq=False, slots=True)
class Conversations:
    stores: Stores
    calibration: Calibration
    prompt_settings: PromptSettings
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
        visibility = question.visibility
        session = await self.stores.sessions.open(key, visibility=visibility, store=not options.temporary)
        return SessionTurn(self, options, session, question, history=session.history, visibility=visibility)

    async def _begin_regeneration(
        self, request: TurnRequest, key: SessionKey, answer_id: int
    ) -> "SessionTurn":
        session, question, answer = await self.read_newest(key, answer_id)
        options = request.options
        if request.references:
            question = replace(question, references=request.references)
        if answer.visibility == "public":  # its prompt must not contain private messages
            session = await self.stores.sessions.open(key, extra=2)  # the question and the answer to replace
        if answer.discord_id is not None:  # the same message will show the new answer
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
        """Return the session, its newest question and answer. Raises NotNewest unless that is `answer_id`."""
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
        if question.tainted:  # others may have written all of it, so it grounds no change
            self.own_words = ""
        self._conversations = conversations
        self._session = session
        self._history = history
        self.shown_memories = shown_memory_ids(call for message in history for call in message.tool_calls)
        self._canvas_draft = open_drawing(session.canvas, visibility)
        self.canvas = None if options.temporary else self._canvas_draft  # a temporary turn can't change it

    async def prompt(self, offered: Sequence[ToolSchema]) -> TurnPrompt:
        conversations, options, [question] = self._conversations, self.options, self.questions
        factor = await conversations.calibration.get_factor(options.agent.models)
        budget_tokens = conversations.prompt_settings.budget_tokens / factor
        count_tokens = cache(message_tokens)
        history = (*await self._read_earlier(budget_tokens, count_tokens), *self._history)
        max_tokens = sum(map(max_message_tokens, history))
        summary = summary_note(self._session, self.visibility) if conversations.summaries else None
        now, draft = conversations.clock(), self._canvas_draft
        canvas = draft.part(options.locale) if draft else SystemPart("")
        memories = await read_prompt_memories(
            conversations.stores.memories, self.user_id, self.visibility, offered
        )
        other_data = (canvas.text, *question.attachments, *question.references, summary and summary.text)

        def build(budget_tokens: float) -> ChatRequest:
            parts = build_prompt(
                history,
                question,
                tools=offered,
                locale=options.locale,
                now=now,
                timezone=options.timezone,
                is_temporary=options.temporary,
                memory_paused=options.memory_paused,
                summary=summary,
                canvas=canvas,
                persona=options.agent.prompt,
                memories=memories,
                budget_tokens=budget_tokens,
                count_tokens=max_message_tokens if max_tokens <= budget_tokens else count_tokens,
            )
            last = len(parts) - 3  # the last part of the history; a changing part and the question follow
            return ChatRequest(parts, stable=(0, last) if last > 0 else (0,), shrinkable=last > 0)

        return TurnPrompt(
            build,
            budget_tokens,
            factor=factor,
            cache_key=cache_key(self.key),
            agent=options.agent,
            limit=conversations.calibration.get_limit(options.agent.models),
            offered=offered,
            has_private_data=bool(memories)
            or (self.visibility == "private" and any((*history, *other_data))),
        )

    async def store(
        self, answer: Message, proposals: Sequence[ProposedCalls], settlement: Settlement
    ) -> StoredTurn:
        answer = replace(answer, discord_id=self.options.answer_discord_id)
        return await self._conversations.stores.sessions.store_turn(
            self._session,
            (answer,) if self.replaced else (*self.questions, answer),
            replaces=self.replaced.id if self.replaced else None,
            redraw=self._canvas_draft.redraw if self._canvas_draft else None,
            turn_id=self.options.entry_id,
            proposals=proposals,
            settlement=settlement,
            channel=self.options.location,
        )

    def start_background_work(self, stored: Sequence[Message], history_tokens: float) -> None:
        if self._conversations.summaries:
            self._conversations.summaries.start_if_due(
                self.key,
                (*self._history, *self.questions, *stored),
                self.options.locale,
                budget_tokens=history_tokens,
                payer=self.options.payer(self.user_id),
            )

    async def _read_earlier(self, budget_tokens: float, count_tokens: CountTokens) -> tuple[Message, ...]:
        """Return the messages before the session's history that still fit."""
        session = self._session
        if not session.has_more:
            return ()
        left_tokens = budget_tokens - count_up_to(self._history, budget_tokens, count_tokens)
        while left_tokens > 0 and session.has_more:
            extended = await self._conversations.stores.sessions.load_earlier(
                session, visibility=self.visibility
            )
            page = extended.history[: len(extended.history) - len(session.history)]
            left_tokens -= count_up_to(page, left_tokens, count_tokens)
            session = extended
        return session.history[: len(session.history) - len(self._session.history)]


@dataclass(frozen=True, slots=True)
class _ReadContext:
    ranges: tuple[MessageRange, ...]
    is_cut: bool  # True if older messages were not read because they would not fit
    calls: Sequence[tuple[int, tuple[ToolCall, ...]]]  # ids of answers, and their calls of memory tools


def _make_ranges(turn: "ChannelTurn", state: ContextState) -> tuple[MessageRange, ...]:
    key = turn.channel
    question_ids = frozenset(question.discord_id or AFTER_ALL_IDS for question in turn.questions)
    newest_id = max(question_ids)
    answer_id = 0 if turn.replaced else turn.options.answer_discord_id or 0
    reset_id = state.reset_ids.get(key.thread_id, 0)
    messages = MessageRange(
        key,
        unsettled_id=min(state.waiting_ids.get(key.thread_id, frozenset()) | question_ids),
        reset_id=reset_id,
        end_id=max(newest_id, answer_id),
        question_ids=question_ids,
        newest_question_id=newest_id,
    )
    if not key.thread_id:
        return (_with_blocks(messages, state),)
    end_id = key.thread_id + 1  # a thread has the id of the message that starts it
    before_thread = MessageRange(
        key.parent,
        unsettled_id=min(state.waiting_ids.get(0, frozenset()) | {end_id}),
        outer_block_id=state.next_block_start,
        reset_id=max(reset_id, state.reset_ids.get(0, 0)),
        end_id=end_id,
    )
    return (_with_blocks(before_thread, state), _with_blocks(messages, state))


def _with_blocks(messages: MessageRange, state: ContextState) -> MessageRange:
    blocks = [
        block for block in state.blocks if block.key == messages.key and block.last_id > messages.reset_id
    ]
    settled_blocks = [block for block in blocks if block.last_id < messages.unsettled_id]
    unsettled_starts = [block.first_id for block in blocks if block.last_id >= messages.unsettled_id]
    return replace(
        messages,
        blocks=tuple(block for block in settled_blocks if block.first_id > messages.reset_id),
        stale_blocks=tuple(block for block in blocks if block.first_id <= messages.reset_id),
        outer_block_id=min(unsettled_starts, default=messages.outer_block_id),
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
        """`replaced`: the answer to replace. The prompt then shows only messages before the questions."""
        key = SessionKey(questions[0].author_id, channel.location_id, options.agent.name)
        super().__init__(key, options, questions, replaced=replaced)
        self.channel = channel
        self._conversations = conversations

    async def prompt(self, offered: Sequence[ToolSchema]) -> TurnPrompt:
        conversations, options = self._conversations, self.options
        style, now = conversations.prompt_settings, conversations.clock()
        plan, token_budget, self.shown_memories = await self._read_context()
        shown = ShownHistory.from_groups(plan.groups)
        user_rows = [row for row in shown.rows if row.role == "user" and row.author_id == self.user_id]
        self.set_history([Message("user", row.content, tainted=row.tainted) for row in user_rows])
        memories = await read_prompt_memories(conversations.stores.memories, self.user_id, "public", offered)

        def build(budget_tokens: float) -> ChatRequest:
            return build_channel_prompt(
                shown if budget_tokens == math.inf else shown.keep_newest(budget_tokens),
                self.questions,
                tools=offered,
                locale=style.channel_locale,
                now=now,
                timezone=options.timezone,
                memory_paused=options.memory_paused,
                persona=options.agent.prompt,
                memories=memories,
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
            limit=conversations.calibration.get_limit(options.agent.models),
            offered=offered,
            has_private_data=bool(memories),
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
        """Read the context and store its new blocks. Also returns ids of memories in the shown answers."""
        settings, blocks = self._conversations.prompt_settings, self._conversations.stores.blocks
        factor = await self._conversations.calibration.get_factor(self.options.agent.models)
        token_budget = TokenBudget.create(
            settings.budget_tokens, settings.block_tokens, factor, cache(row_tokens)
        )
        context = await blocks.run_read(lambda: self._read_ranges(token_budget))
        plan = plan_context(context.ranges, token_budget)
        window_start = plan.first_id if context.is_cut or plan.is_cut else 0
        if plan.new_blocks or window_start:
            new_keys = {block.key for block in plan.new_blocks}
            stale = [block for each in context.ranges if each.key in new_keys for block in each.stale_blocks]
            window_starts = {self.channel: window_start} if window_start else {}
            await blocks.freeze(plan.new_blocks, window_starts=window_starts, replaced=stale)
        shown = (call for answer_id, calls in context.calls if answer_id >= plan.first_id for call in calls)
        return plan, token_budget, shown_memory_ids(shown)

    def _read_ranges(self, token_budget: TokenBudget) -> Transaction[_ReadContext]:
        # Two adjacent blocks have more tokens than one full block, else they would be one.
        max_blocks = 2 * ceil(token_budget.total / token_budget.block) + 2
        state = yield from read_context_state(self.channel, bot_id=self.options.bot_id, max_blocks=max_blocks)
        ranges = _make_ranges(self, state)
        blocks = [block for each in ranges for block in each.blocks if block.last_id >= state.window_start]
        fitting, first_id = newest_blocks(blocks, token_budget), state.window_start
        blocks_per_range = Counter(block.key for block in blocks).values()
        is_cut = len(fitting) < len(blocks) or max(blocks_per_range, default=0) >= max_blocks
        if is_cut:
            first_id = max(first_id, fitting[0].first_id if fitting else blocks[-1].last_id + 1)
        read_ranges = list[MessageRange]()
        for messages in reversed(ranges):
            extended, is_complete = yield from self._read_rows(messages, first_id, read_ranges, token_budget)
            read_ranges.insert(0, extended)
            if not is_complete:
                is_cut = True
                break
        calls = yield from read_memory_calls(self.channel, self.user_id, first_id)
        return _ReadContext(tuple(read_ranges), is_cut, calls)

    def _read_rows(
        self, messages: MessageRange, first_id: int, later: Sequence[MessageRange], token_budget: TokenBudget
    ) -> Transaction[tuple[MessageRange, bool]]:
        """Return the range with its newest rows that fit beside the `later` ranges, and whether these are
        all its rows."""
        page_size = self._conversations.page_size
        start_id, end_id = max(first_id, messages.reset_id + 1), messages.end_id
        rows = list[ContextMessage]()
        messages = replace(messages, blocks=tuple(b for b in messages.blocks if b.last_id >= start_id))
        while start_id < end_id:
            limits = {"newest_question_id": messages.newest_question_id, "reset_id": messages.reset_id}
            page = yield from read_context_page(
                messages.key, first_id=start_id, end_id=end_id, limit=page_size, **limits
            )
            rows.extend(row for row in page if row.id not in messages.question_ids)
            messages = replace(messages, rows=tuple(reversed(rows)))
            if len(page) < page_size:
                break
            end_id = page[-1].id
            groups = (group for each in (messages, *later) for group in group_rows(each, token_budget))
            if sum(group.tokens for group in groups) > token_budget.total:
                return messages, False
        return messages, True
