"""Turns in channels: the bot answers one user in a conversation of several.

A thread's context is its channel up to the thread's start, then the thread. Discord ids grow with time, so
one order and one window cover both. No prompt is kept in memory.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from typing import Final

from cc_bot.assistant.session_turns import cache_key
from cc_bot.assistant.turn import Calibration, Turn, TurnOptions, TurnPrompt, TurnRequest, read_profile_notes
from cc_bot.context.channel_prompt import (
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
from cc_bot.context.prompt import PromptStyle
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import NotNewest
from cc_bot.domain.memory_calls import shown_ids
from cc_bot.domain.message import ChannelKey, ContextMessage, Message, ToolCall
from cc_bot.domain.proposal import ProposedCalls
from cc_bot.domain.session import SessionKey
from cc_bot.llm.model import ChatRequest, ToolSchema
from cc_bot.storage import Steps
from cc_bot.stores import BlockStore, ChannelStore, MemoryStore, Settlement, StoredTurn
from cc_bot.stores.blocks import ContextState, context_page, context_state
from cc_bot.stores.channels import memory_calls

PAGE_SIZE: Final = 1000


@dataclass(frozen=True, slots=True)
class _Context:
    ranges: tuple[MessageRange, ...]
    cut: bool
    """Whether not all messages were read, as they would not fit."""
    calls: Sequence[tuple[int, tuple[ToolCall, ...]]]
    """Of memory tools for the user, by the id of the answer."""


@dataclass(frozen=True, slots=True)
class ChannelContext:
    store: BlockStore
    page_size: int = PAGE_SIZE

    async def read(
        self, turn: "ChannelTurn", calibration: Calibration, style: PromptStyle
    ) -> tuple[Plan, TokenBudget, frozenset[int]]:
        """Read the context for the turn's request; due blocks are frozen and stored. Also returns the
        memories that recent answers to the user saved or showed."""
        factor = await calibration.factor(turn.options.agent.models)
        measure = TokenBudget.of(style.budget_tokens, style.block_tokens, factor, cache(said_tokens))
        context = await self.store.run(lambda: self._read(turn, measure))
        planned = plan(context.ranges, measure)
        moved = planned.first if context.cut or planned.left else 0
        if planned.frozen or moved:
            frozen = {block.key for block in planned.frozen}
            stale = [block for each in context.ranges if each.key in frozen for block in each.stale]
            windows = {turn.place: moved} if moved else {}
            await self.store.freeze(planned.frozen, windows=windows, thawed=stale)
        recent = (call for id_, calls in context.calls if id_ >= planned.first for call in calls)
        return planned, measure, shown_ids(recent)

    def _read(self, turn: "ChannelTurn", measure: TokenBudget) -> Steps[_Context]:
        most = 2 * ceil(measure.budget / measure.block) + 2  # two neighbours are more than one block's size
        state = yield from context_state(turn.place, bot_id=turn.options.bot_id, blocks=most)
        ranges = _ranges(turn, state)
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
        calls = yield from memory_calls(turn.place, turn.user_id, first)
        return _Context(tuple(shown), cut or not whole, calls)

    def _rows(
        self, part: MessageRange, first: int, later: Sequence[MessageRange], measure: TokenBudget
    ) -> Steps[tuple[MessageRange, bool]]:
        """Read pages backwards while they fit. Also returns whether these are all rows."""
        start, before, rows = max(first, part.reset + 1), part.before, list[ContextMessage]()
        part = replace(part, blocks=tuple(block for block in part.blocks if block.last_id >= start))
        while start < before:
            page = yield from context_page(
                part.key, first=start, before=before, asked=part.asked, limit=self.page_size, reset=part.reset
            )
            rows.extend(row for row in page if row.id not in part.hidden)
            part = replace(part, rows=tuple(reversed(rows)))
            if len(page) < self.page_size:
                break
            before = page[-1].id
            groups = (group for each in (part, *later) for group in grouped(each, measure))
            if sum(group.tokens for group in groups) > measure.budget:
                return part, False
        return part, True


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


@dataclass(eq=False, slots=True)
class ChannelTurns:
    channels: ChannelStore
    context: ChannelContext
    calibration: Calibration
    style: PromptStyle
    clock: Clock
    memories: MemoryStore

    async def begin(self, request: TurnRequest, key: ChannelKey) -> "ChannelTurn":
        """Create a turn for one user's archived questions, or to regenerate that user's newest answer in the
        same message. Raises NotNewest."""
        if request.replaces is None:
            return ChannelTurn(self, key, request.questions, request.options)
        newest = await self.channels.get_newest_answer(key, request.user_id)
        if newest is None or newest.discord_id != request.replaces:
            raise NotNewest
        options = replace(request.options, answer_discord_id=request.replaces)
        return ChannelTurn(self, key, request.questions, options, replaced=newest)


class ChannelTurn(Turn):
    def __init__(
        self,
        turns: ChannelTurns,
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
        planned, measure, memories = await turns.context.read(self, turns.calibration, style)
        shown = Shown.of(planned.groups)
        own = [row for row in shown.rows if row.role == "user" and row.author_id == self.user_id]
        self.note_said([Message("user", row.content, tainted=row.tainted) for row in own])
        self.shown_memories = memories
        notes = await read_profile_notes(turns.memories, self.user_id, "public", offered)

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
        return await self._turns.channels.archive_answer(
            self.place, answer, self.questions, proposals, agent=options.agent.name, settlement=settlement
        )
