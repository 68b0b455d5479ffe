"""Turns of channels: several people's conversation, in which one of them is answered."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from typing import Final

from cc_bot.assistant.calibration import Calibration
from cc_bot.assistant.session_turns import cache_key
from cc_bot.assistant.turn import (
    ProfileNotes,
    Turn,
    TurnOptions,
    TurnPrompt,
    TurnRequest,
)
from cc_bot.context.channel_prompt import (
    Measure,
    Plan,
    Shown,
    Stretch,
    build_channel_prompt,
    fitting,
    grouped,
    plan,
    said_tokens,
)
from cc_bot.context.prompt import Built, PromptStyle
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import NotNewest
from cc_bot.domain.message import Block, ChannelKey, ContextMessage, Message
from cc_bot.domain.proposal import ProposedCalls
from cc_bot.domain.session import SessionKey
from cc_bot.llm.model import ToolSchema
from cc_bot.stores import BlockStore, ChannelStore, Settlement, StoredTurn
from cc_bot.stores.blocks import UNBOUNDED, ContextState

# ---- channel context -------------------------------------------------------------------------------------
# Reads what a channel's turn is made from: newest first, as far as there is room, and keeps what that froze.
#
# A thread's context is two places: its channel up to where the thread starts, then the thread. Ids of Discord
# grow with time, so one order serves both, and so does one window over them.

PAGE_SIZE: Final = 1000
"""Messages that are read at a time: as a rule all that a request shows."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The part of one place that may be shown, as far as is known before its rows are read."""

    key: ChannelKey
    reset: int
    """Ids up to here are never read."""
    before: int
    """Nor are those from here on."""
    settled_before: int
    """What stands before this id will not change because something is answered."""
    hidden: frozenset[int] = frozenset()
    """What is answered is shown below the history, and not in it."""
    asked: int = UNBOUNDED
    """After this id only answers are shown."""
    blocks: tuple[Block, ...] = ()
    stale: tuple[Block, ...] = ()
    """Blocks of which only a part may be read: new ones take their place."""
    taken_from: int | None = None
    """Where the first block begins that reaches beyond what the context shows."""

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
    """Reads and keeps the contexts of all channels."""

    def __init__(self, store: BlockStore, *, page_size: int = PAGE_SIZE) -> None:
        self._store = store
        self._page_size = page_size

    async def read(self, turn: "ChannelTurn", measure: Measure) -> Plan:
        """Read what the turn's request shows of its channel. What is due to be frozen is kept by now."""
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
        self, places: Sequence[_Place], first: int, measure: Measure
    ) -> tuple[tuple[Stretch, ...], bool]:
        """The rows of each place that are shown unless something has to leave, and whether these are all."""
        stretches: tuple[Stretch, ...] = ()
        for place in reversed(places):
            stretch, whole = await self._stretch(place, first, stretches, measure)
            stretches = (stretch, *stretches)
            if not whole:
                return stretches, False
        return stretches, True

    async def _stretch(
        self, place: _Place, first: int, later: tuple[Stretch, ...], measure: Measure
    ) -> tuple[Stretch, bool]:
        """Read as many pages of a place as there is room for before what is known; the second value tells
        whether these are all."""
        start, before = max(first, place.reset + 1), place.before
        rows: list[ContextMessage] = []
        blocks = tuple(block for block in place.blocks if block.last_id >= start)
        stretch = Stretch(place.key, (), blocks, place.settled_before, place.taken_from)
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
        """Store what is new, if anything is; `first` is 0 when the window stays where it is."""
        if planned.frozen or first:
            frozen = {block.key for block in planned.frozen}
            stale = [block for place in places if place.key in frozen for block in place.stale]
            await self._store.freeze(planned.frozen, windows={key: first} if first else {}, thawed=stale)


def _places(turn: "ChannelTurn", state: ContextState) -> tuple[_Place, ...]:
    """The places of a context, oldest first."""
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
# Nothing of a prompt stays in the process, so a restart between two turns changes no byte of the second one.


@dataclass(eq=False, slots=True)
class ChannelTurns:
    """Begins the turns of channels."""

    channels: ChannelStore
    context: ChannelContext
    calibration: Calibration
    style: PromptStyle
    clock: Clock
    profile: ProfileNotes

    async def begin(self, request: TurnRequest, key: ChannelKey) -> "ChannelTurn":
        """A turn for one user's questions, which are in the channel's archive; or that user's newest answer
        there anew, in the same message. Raises NotNewest when the user has a newer answer."""
        if request.replaces is None:
            return ChannelTurn(self, key, request.questions, request.options)
        newest = await self.channels.get_newest_answer(key, request.user_id)
        if newest is None or newest.discord_id != request.replaces:
            raise NotNewest
        options = replace(request.options, answer_discord_id=request.replaces)
        return ChannelTurn(self, key, request.questions, options, replaced=newest)


class ChannelTurn(Turn):
    """One answer to one or more messages of one user in a channel's conversation."""

    def __init__(
        self,
        turns: ChannelTurns,
        place: ChannelKey,
        questions: tuple[Message, ...],
        options: TurnOptions,
        *,
        replaced: Message | None = None,
    ) -> None:
        """`replaced` is the answer that this one takes the place of: only what stood before the questions is
        shown."""
        key = SessionKey(questions[0].author_id, place.place_id, options.agent.name)
        super().__init__(key, options, questions, replaced=replaced)
        self.place = place
        self._turns = turns

    async def prompt(self, offered: Sequence[ToolSchema]) -> TurnPrompt:
        """Show as much of the channel as fits the budget, as the model counts tokens."""
        turns, options = self._turns, self.options
        style, now = turns.style, turns.clock()
        factor = await turns.calibration.factor(options.agent.models)
        measure = Measure.of(style.budget_tokens, style.block_tokens, factor, cache(said_tokens))
        planned = await turns.context.read(self, measure)
        shown = Shown.of(planned.groups)
        self.note_said([*self._said_before(shown)])
        notes = await turns.profile.of(self.user_id, "public", offered)
        if self.user_id and shown.rows:
            self.shown_memories = await turns.channels.list_shown_memories(
                self.place, self.user_id, shown.rows[0].id
            )

        def build(budget_tokens: float) -> Built:
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
        """Yield what who asks has said before, of what is shown."""
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
