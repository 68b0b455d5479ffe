"""Turns of sessions: find the session, build the prompt, store the turn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b

from cc_bot.assistant.turn import Calibration, Turn, TurnOptions, TurnPrompt, TurnRequest, read_profile_notes
from cc_bot.context.prompt import PromptStyle, build_prompt, recap, tokens_up_to
from cc_bot.context.tokens import message_tokens
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import NotNewest
from cc_bot.domain.memory_calls import shown_ids
from cc_bot.domain.message import ChannelKey, Message, Visibility
from cc_bot.domain.proposal import ProposedCalls
from cc_bot.domain.session import Session, SessionKey
from cc_bot.llm.model import ChatRequest, ToolSchema
from cc_bot.stores import MemoryStore, SessionStore, Settlement, StoredTurn
from cc_bot.summaries import Summaries
from cc_bot.tools.registry import CanvasDraft


def cache_key(key: SessionKey | ChannelKey) -> str:
    """Return a stable key for a provider's prefix cache, without a user's id."""
    match key:
        case SessionKey(user_id, channel_id, agent):
            name = f"session {user_id} {channel_id} {agent}"
        case ChannelKey(channel_id, thread_id):
            name = f"channel {channel_id} {thread_id}"
    return blake2b(name.encode("utf-8", "replace"), digest_size=8, person=b"cc-bot").hexdigest()


Cost = Callable[[Message], float]


@dataclass(eq=False, slots=True)
class SessionTurns:
    sessions: SessionStore
    calibration: Calibration
    style: PromptStyle
    clock: Clock
    memories: MemoryStore
    summaries: Summaries | None = None

    async def begin(self, request: TurnRequest, key: SessionKey) -> "SessionTurn":
        """Create a turn for a new question, or the newest one again. Raises NotNewest and StorageError."""
        if request.replaces is not None:
            return await self._again(request, key, request.replaces)
        [question] = request.questions
        lasting = not request.options.temporary
        session = await self.sessions.open(key, visibility=question.visibility, lasting=lasting)
        return SessionTurn(
            self, request.options, session, question, history=session.history, visibility=question.visibility
        )

    async def check_newest(self, key: SessionKey, answer_id: int) -> None:
        """Raise NotNewest unless this is the newest answer of its session."""
        await self._newest(key, answer_id)

    async def _again(self, request: TurnRequest, key: SessionKey, answer_id: int) -> "SessionTurn":
        session, question, answer = await self._newest(key, answer_id)
        options = request.options
        if request.references:
            question = replace(question, references=request.references)
        if answer.visibility == "public":  # a public answer must not see private messages
            session = await self.sessions.open(key, beyond=2)
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
        session = await self.sessions.open(key, visibility="private", beyond=2)
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
        turns: SessionTurns,
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
        self._canvas = CanvasDraft(session.canvas, visibility)
        self.canvas = None if options.temporary else self._canvas

    async def prompt(self, offered: Sequence[ToolSchema]) -> TurnPrompt:
        turns, options = self._turns, self.options
        factor = await turns.calibration.factor(options.agent.models)
        budget = turns.style.budget_tokens / factor
        cost = cache(message_tokens)  # each message is measured several times
        history = (*await self._earlier(budget, cost), *self._history)
        before = recap(self._session, self.visibility) if turns.summaries else None
        now, canvas = turns.clock(), self._canvas.canvas
        notes = await read_profile_notes(turns.memories, self.user_id, self.visibility, offered)
        [asked] = self.questions
        beside = (*history, *canvas.elements, *asked.attachments, *asked.references, before and before.text)

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
                cost=cost,
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
        return await self._turns.sessions.archive_turn(
            self._session,
            (answer,) if self.replaced else (*self.questions, answer),
            replaces=self.replaced.id if self.replaced else None,
            drawn=self._canvas.drawn,
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
            longer = await self._turns.sessions.load_earlier(session, visibility=self.visibility)
            page = longer.history[: len(longer.history) - len(session.history)]
            room -= tokens_up_to(page, room, cost)
            session = longer
        return session.history[: len(session.history) - len(self._session.history)]
