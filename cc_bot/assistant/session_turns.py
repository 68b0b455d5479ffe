"""Turns of sessions: which session, what the model is shown of it, and how the turn is stored there."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from hashlib import blake2b

from cc_bot.assistant.calibration import Calibration
from cc_bot.assistant.turn import ProfileNotes, SessionTurn, Turn, TurnOptions, TurnPrompt
from cc_bot.context.prompt import Built, PromptStyle, build_prompt, of_session, recap, tokens_up_to
from cc_bot.context.tokens import message_tokens
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import NotNewest
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.domain.proposal import ProposedChange
from cc_bot.domain.session import Session, SessionKey
from cc_bot.llm.model import ToolSchema
from cc_bot.stores import SessionStore, StoredTurn
from cc_bot.summaries import Summaries
from cc_bot.tools.canvas_draft import CanvasDraft

# ---- cache key -------------------------------------------------------------------------------------------
# What a provider's prefix cache may know a conversation by: always the same, and nobody's id.


def cache_key(key: SessionKey | ChannelKey) -> str:
    """16 characters that stay the same over restarts."""
    match key:
        case SessionKey(user_id, channel_id, agent):
            name = f"session {user_id} {channel_id} {agent}"
        case ChannelKey(channel_id, thread_id):
            name = f"channel {channel_id} {thread_id}"
    return blake2b(name.encode("utf-8", "replace"), digest_size=8, person=b"cc-bot").hexdigest()


# ---- prompts ---------------------------------------------------------------------------------------------
# Makes the prompt of a turn: reads as much of the session as there is room for, page by page.

Cost = Callable[[Message], float]


class Prompts:
    def __init__(
        self,
        sessions: SessionStore,
        calibration: Calibration,
        style: PromptStyle,
        clock: Clock,
        *,
        recapping: bool,
        profile: ProfileNotes | None = None,
    ) -> None:
        """`recapping`: whether summaries are told. Without `profile` no notes are told from the start."""
        self._sessions = sessions
        self._calibration = calibration
        self._style = style
        self._clock = clock
        self._recapping = recapping
        self._profile = profile

    async def begin(self, turn: SessionTurn, offered: Sequence[ToolSchema]) -> TurnPrompt:
        """What the model is shown: as much of the session as fits the budget, as the model counts tokens."""
        factor = await self._calibration.factor(turn.options.agent.models)
        budget = self._style.budget_tokens / factor
        cost = cache(message_tokens)  # a message is looked at when it is read, shown, and maybe left out
        history = (*await self._earlier(turn, budget, cost), *turn.history)
        before = recap(turn.session, turn.visibility) if self._recapping else None
        now, options, canvas = self._clock(), turn.options, turn.canvas.canvas
        user_id = turn.session.key.user_id
        notes = await self._profile.of(user_id, turn.visibility, offered) if self._profile else ()

        def build(budget_tokens: float) -> Built:
            parts = build_prompt(
                history,
                turn.question,
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
                style=self._style,
                budget_tokens=budget_tokens,
                cost=cost,
            )
            return of_session(parts, single_system=self._style.single_system)

        return TurnPrompt(
            build,
            budget,
            factor=factor,
            cache_key=cache_key(turn.session.key),
            temperature=options.agent.temperature,
            limit=self._calibration.limit(options.agent.models),
            offered=offered,
        )

    async def _earlier(self, turn: SessionTurn, budget_tokens: float, cost: Cost) -> tuple[Message, ...]:
        """What was said before the turn's history, as far as there is room for it.

        The session brought one page. No other one is read once the budget is used up.
        """
        session = turn.session
        if not session.more:
            return ()
        room = budget_tokens - tokens_up_to(turn.history, budget_tokens, cost)
        while room > 0 and session.more:
            longer = await self._sessions.earlier(session, visibility=turn.visibility)
            page = longer.history[: len(longer.history) - len(session.history)]
            room -= tokens_up_to(page, room, cost)
            session = longer
        return session.history[: len(session.history) - len(turn.session.history)]


# ---- session turns ---------------------------------------------------------------------------------------


class SessionTurns:
    def __init__(self, sessions: SessionStore, prompts: Prompts, summaries: Summaries | None) -> None:
        self._sessions = sessions
        self._prompts = prompts
        self._summaries = summaries

    async def ask(self, key: SessionKey, question: Message, options: TurnOptions) -> Turn:
        """A turn for a new question in the session of a key."""
        lasting = not options.temporary
        session = await self._sessions.open(key, visibility=question.visibility, lasting=lasting)
        canvas = CanvasDraft(session.canvas, question.visibility)
        return self._turn(
            SessionTurn(session, question, session.history, question.visibility, options, canvas)
        )

    async def regenerate(self, key: SessionKey, answer_id: int, options: TurnOptions) -> Turn:
        """A turn for the newest question once more. Raises NotNewest when something was said since."""
        session, question, answer = await self._newest(key, answer_id)
        if answer.visibility == "public":  # it must not see now what it did not see then
            session = await self._sessions.open(key, beyond=2)
        if answer.discord_id is not None:  # it is shown in the same place
            options = replace(options, answer_discord_id=answer.discord_id)
        earlier = session.history[:-2]
        canvas = CanvasDraft(session.canvas, answer.visibility)
        return self._turn(
            SessionTurn(session, question, earlier, answer.visibility, options, canvas, answer_id, answer)
        )

    async def check_newest(self, key: SessionKey, answer_id: int) -> None:
        """Raises NotNewest unless the answer is the newest of its session."""
        await self._newest(key, answer_id)

    def _turn(self, turn: SessionTurn) -> Turn:
        return Turn(
            turn.options,
            turn.visibility,
            turn.session.key.user_id,
            prompt=partial(self._prompts.begin, turn),
            store=partial(self._store, turn),
            look_back=partial(self._look_back, turn),
            question=turn.question.content,
            before=turn.replaced or (turn.history[-1] if turn.history else None),
            replaces=turn.replaces is not None,
            key=turn.session.key,
            canvas=None if turn.options.temporary else turn.canvas,
        )

    async def _store(
        self, turn: SessionTurn, answer: Message, proposals: Sequence[ProposedChange]
    ) -> StoredTurn:
        answer = replace(answer, discord_id=turn.options.answer_discord_id)
        messages = (answer,) if turn.replaces is not None else (turn.question, answer)
        return await self._sessions.archive_turn(
            turn.session,
            messages,
            replaces=turn.replaces,
            drawn=turn.canvas.drawn,
            entry=turn.options.entry,
            proposals=proposals,
        )

    def _look_back(self, turn: SessionTurn, stored: Sequence[Message], history_tokens: float) -> None:
        """See whether the conversation is due to be written down, some time soon."""
        if self._summaries:
            history = (*turn.history, turn.question, *stored)
            self._summaries.after_turn(
                turn.session.key,
                history,
                turn.options.locale,
                budget_tokens=history_tokens,
                payer=turn.options.paid_by(turn.session.key.user_id),
            )

    async def _newest(self, key: SessionKey, answer_id: int) -> tuple[Session, Message, Message]:
        session = await self._sessions.open(key, visibility="private", beyond=2)
        match session.history[-2:]:
            case (Message(role="user") as question, Message(role="assistant") as answer) if (
                answer.id == answer_id
            ):
                return session, question, answer
            case _:
                raise NotNewest
