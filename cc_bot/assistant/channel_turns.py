"""Turns in channels: the bot answers one user in a conversation of several."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from typing import Final

from cc_bot.assistant.session_turns import cache_key
from cc_bot.assistant.turn import Calibration, ProfileNotes, Turn, TurnOptions, TurnPrompt, TurnRequest
from cc_bot.context.channel_prompt import (
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
from cc_bot.context.prompt import BuiltPrompt, PromptStyle
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import NotNewest
from cc_bot.domain.message import Block, ChannelKey, ContextMessage, Message
from cc_bot.domain.proposal import ProposedCalls
from cc_bot.domain.session import SessionKey
from cc_bot.llm.model import ToolSchema
from cc_bot.stores import BlockStore, ChannelStore, Settlement, StoredTurn
from cc_bot.stores.blocks import UNBOUNDED, ContextState

# ---- channel context -------------------------------------------------------------------------------------
# Reads the context of a channel turn, newest first, as far as it fits, and stores newly frozen blocks.
#
# A thread's context is its channel up to the thread's start, then the thread. Discord ids grow with time, so
# one order and one window cover both.

PAGE_SIZE: Final = 1000
"""Messages per page; usually all that a request shows."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The part of one channel or thread that may be shown, as far as known before its rows are read."""

    key: ChannelKey
    reset: int
    """Ids up to here are never read."""
    before: int
    """Ids from here on are not read."""
    settled_before: int
    """Messages before this id do not change when something is answered."""
    hidden: frozenset[int] = frozenset()
    """Ids of the questions, which are shown below the history."""
    asked: int = UNBOUNDED
    """After this id only answers are shown."""
    blocks: tuple[Block, ...] = ()
    stale: tuple[Block, ...] = ()
    """Blocks that may only be read in part; new ones replace them."""
    taken_from: int | None = None
    """Where the first block begins that reaches beyond the context."""

    def with_blocks(self, blocks: Sequence[Block]) -> "_Place":
        mine = [block for block in blocks if block.key == self.key and block.last_id > self.reset]
        usable = (
            block for block in mine if block.first_id > self.reset and block.last_id < self.settled_before
        )
        past = [block.first_id for block in mine if block.last_id >= self.settled_before]
        return replace(
            self,
            blocks=tuple(usable),
            stale=tuple(block for block in mine if block.first_id <= self.reset),
            taken_from=min(past, default=self.taken_from),
        )


class ChannelContext:
    def __init__(self, store: BlockStore, *, page_size: int = PAGE_SIZE) -> None:
        self._store = store
        self._page_size = page_size

    async def read(self, turn: "ChannelTurn", measure: TokenBudget) -> Plan:
        """Read the context for the turn's request. Due blocks are frozen and stored first."""
        most = 2 * ceil(measure.budget / measure.block) + 2  # two neighbours are more than one block's size
        state = await self._store.get_state(turn.place, bot_id=turn.options.bot_id, blocks=most)
        places = _places(turn, state)
        blocks = [block for place in places for block in place.blocks if block.last_id >= state.window]
        fit = fitting(blocks, measure)
        cut = (
            len(fit) < len(blocks) or max(Counter(block.key for block in blocks).values(), default=0) >= most
        )
        first = state.window
        if cut:
            first = max(first, fit[0].first_id if fit else blocks[-1].last_id + 1)
        stretches, whole = await self._stretches(places, first, measure)
        planned = plan(stretches, measure)
        moved = planned.first if cut or planned.left or not whole else 0
        await self._keep(turn.place, places, planned, moved)
        return planned

    async def _stretches(
        self, places: Sequence[_Place], first: int, measure: TokenBudget
    ) -> tuple[tuple[MessageRange, ...], bool]:
        """The rows of each channel or thread that are shown unless the window has to move, and whether these
        are all."""
        stretches: tuple[MessageRange, ...] = ()
        for place in reversed(places):
            stretch, whole = await self._stretch(place, first, stretches, measure)
            stretches = (stretch, *stretches)
            if not whole:
                return stretches, False
        return stretches, True

    async def _stretch(
        self, place: _Place, first: int, later: tuple[MessageRange, ...], measure: TokenBudget
    ) -> tuple[MessageRange, bool]:
        """Read pages backwards while they fit. The second value: whether these are all rows."""
        start, before = max(first, place.reset + 1), place.before
        rows: list[ContextMessage] = []
        blocks = tuple(block for block in place.blocks if block.last_id >= start)
        stretch = MessageRange(place.key, (), blocks, place.settled_before, place.taken_from)
        while start < before:
            page = await self._store.get_page(
                place.key,
                first=start,
                before=before,
                asked=place.asked,
                limit=self._page_size,
                reset=place.reset,
            )
            rows.extend(row for row in page if row.id not in place.hidden)
            stretch = replace(stretch, rows=tuple(reversed(rows)))
            if len(page) < self._page_size:
                break
            before = page[-1].id
            groups = (group for part in (stretch, *later) for group in grouped(part, measure))
            if sum(group.tokens for group in groups) > measure.budget:
                return stretch, False
        return stretch, True

    async def _keep(self, key: ChannelKey, places: Sequence[_Place], planned: Plan, first: int) -> None:
        """Store new blocks and window start, if any; `first` is 0 if the window does not move."""
        if planned.frozen or first:
            frozen = {block.key for block in planned.frozen}
            stale = [block for place in places if place.key in frozen for block in place.stale]
            await self._store.freeze(planned.frozen, windows={key: first} if first else {}, thawed=stale)


def _places(turn: "ChannelTurn", state: ContextState) -> tuple[_Place, ...]:
    key = turn.place
    asked = frozenset(question.discord_id or UNBOUNDED for question in turn.questions)
    newest = max(asked)
    answer = 0 if turn.replaced else turn.options.answer_discord_id or 0
    waiting = state.waiting.get(key.thread_id, frozenset()) | asked
    reset = state.resets.get(key.thread_id, 0)
    own = _Place(
        key, reset, max(newest, answer), settled_before=min(waiting), hidden=asked, asked=newest
    ).with_blocks(state.blocks)
    if not key.thread_id:
        return (own,)
    before = key.thread_id + 1
    channel = _Place(
        key.parent,
        max(reset, state.resets.get(0, 0)),
        before,
        settled_before=min(state.waiting.get(0, frozenset()) | {before}),
        taken_from=state.next_first,
    ).with_blocks(state.blocks)
    return (channel, own)


# ---- channel turns ---------------------------------------------------------------------------------------
# No prompt is kept in memory, so a restart between two turns does not change the second one's bytes.


@dataclass(eq=False, slots=True)
class ChannelTurns:
    channels: ChannelStore
    context: ChannelContext
    calibration: Calibration
    style: PromptStyle
    clock: Clock
    profile: ProfileNotes

    async def begin(self, request: TurnRequest, key: ChannelKey) -> "ChannelTurn":
        """Create a turn for one user's archived questions, or to regenerate that user's newest answer in the
        same message. Raises NotNewest if the user has a newer answer."""
        if request.replaces is None:
            return ChannelTurn(self, key, request.questions, request.options)
        newest = await self.channels.get_newest_answer(key, request.user_id)
        if newest is None or newest.discord_id != request.replaces:
            raise NotNewest
        options = replace(request.options, answer_discord_id=request.replaces)
        return ChannelTurn(self, key, request.questions, options, replaced=newest)


class ChannelTurn(Turn):
    """One answer to one or more messages of a user in a channel."""

    def __init__(
        self,
        turns: ChannelTurns,
        place: ChannelKey,
        questions: tuple[Message, ...],
        options: TurnOptions,
        *,
        replaced: Message | None = None,
    ) -> None:
        """`replaced` is the answer being replaced: only messages before the questions are shown."""
        key = SessionKey(questions[0].author_id, place.place_id, options.agent.name)
        super().__init__(key, options, questions, replaced=replaced)
        self.place = place
        self._turns = turns

    async def prompt(self, offered: Sequence[ToolSchema]) -> TurnPrompt:
        turns, options = self._turns, self.options
        style, now = turns.style, turns.clock()
        factor = await turns.calibration.factor(options.agent.models)
        measure = TokenBudget.of(style.budget_tokens, style.block_tokens, factor, cache(said_tokens))
        planned = await turns.context.read(self, measure)
        shown = Shown.of(planned.groups)
        self.note_said([*self._said_before(shown)])
        notes = await turns.profile.of(self.user_id, "public", offered)
        if self.user_id and shown.rows:
            self.shown_memories = await turns.channels.list_shown_memories(
                self.place, self.user_id, shown.rows[0].id
            )

        def build(budget_tokens: float) -> BuiltPrompt:
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
            factor=factor,
            cache_key=cache_key(self.place),
            agent=options.agent,
            limit=turns.calibration.limit(options.agent.models),
            offered=offered,
            tells_private=bool(notes),
        )

    def _said_before(self, shown: Shown) -> Iterator[Message]:
        for row in shown.rows:
            if row.role == "user" and row.author_id == self.user_id:
                yield Message("user", row.content, tainted=row.tainted)

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
