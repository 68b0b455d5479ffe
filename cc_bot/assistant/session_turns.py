"""Turns of sessions: which session, what the model is shown of it, and how the turn is stored there."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from cc_bot.assistant.prompts import Prompts
from cc_bot.assistant.session_turn import SessionTurn
from cc_bot.assistant.turn import Turn, TurnOptions
from cc_bot.domain.errors import NotNewest
from cc_bot.domain.message import Message
from cc_bot.domain.proposal import ProposedChange
from cc_bot.domain.session import Session, SessionKey
from cc_bot.stores import SessionStore, StoredTurn
from cc_bot.summaries import Summaries
from cc_bot.tools.canvas_draft import CanvasDraft


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
