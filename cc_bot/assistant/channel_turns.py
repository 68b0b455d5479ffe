"""Turns of channels: several people's conversation, in which one of them is answered."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
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
from cc_bot.context.channel_prompt import build_channel_prompt, said_tokens
from cc_bot.context.prompt import Built, PromptStyle, window
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import NotNewest
from cc_bot.domain.message import ChannelKey, ContextMessage, Message
from cc_bot.domain.proposal import ProposedCalls
from cc_bot.domain.session import SessionKey
from cc_bot.llm.model import ToolSchema
from cc_bot.stores import ChannelContextStore, ChannelStore, Settlement, StoredTurn
from cc_bot.stores.channel_context import UNBOUNDED

# ---- channel context -------------------------------------------------------------------------------------
# Reads what a channel's turn is made from, newest first, as far as there is room.
#
# A thread's context is two places: its channel up to where the thread starts, then the thread. Ids of Discord
# grow with time, so one order serves both.

PAGE_SIZE: Final = 1000
"""Messages that are read at a time: as a rule all that a request shows."""


@dataclass(frozen=True, slots=True)
class ChannelContext:
    """Reads the contexts of all channels."""

    store: ChannelContextStore
    page_size: int = PAGE_SIZE

    async def read(
        self, turn: "ChannelTurn", budget_tokens: float, cost: Callable[[ContextMessage], float]
    ) -> Sequence[ContextMessage]:
        """Return the channel's messages that the turn's request shows, oldest first."""
        key, newest = turn.place, max(question.discord_id or UNBOUNDED for question in turn.questions)
        asked = {question.discord_id for question in turn.questions}  # shown below the history
        resets = await self.store.get_resets(key, bot_id=turn.options.bot_id)
        reset = resets.get(key.thread_id, 0)
        answer = 0 if turn.replaced else turn.options.answer_discord_id or 0
        places = [(key, reset, max(newest, answer), newest)]
        if key.thread_id:
            places.append((key.parent, max(reset, resets.get(0, 0)), key.thread_id + 1, UNBOUNDED))
        rows: list[ContextMessage] = []
        for place, place_reset, before, place_asked in places:
            oldest = before
            while sum(map(cost, rows)) <= budget_tokens:
                page = await self.store.get_page(
                    place,
                    first=place_reset + 1,
                    before=oldest,
                    asked=place_asked,
                    limit=self.page_size,
                    reset=place_reset,
                )
                rows += (row for row in page if row.id not in asked)
                if len(page) < self.page_size:
                    break
                oldest = page[-1].id
        return window(rows[::-1], budget_tokens, cost)


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
        cost = cache(said_tokens)
        shown = await turns.context.read(self, style.budget_tokens / factor, cost)
        self.note_said([*self._said_before(shown)])
        notes = await turns.profile.of(self.user_id, "public", offered)
        if self.user_id and shown:
            self.shown_memories = await turns.channels.list_shown_memories(
                self.place, self.user_id, shown[0].id
            )

        def build(budget_tokens: float) -> Built:
            return build_channel_prompt(
                shown if budget_tokens == math.inf else window(shown, budget_tokens, cost),
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

    def _said_before(self, shown: Sequence[ContextMessage]) -> Iterator[Message]:
        """Yield what who asks has said before, of what is shown."""
        for row in shown:
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
