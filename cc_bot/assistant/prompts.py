"""Makes the prompt of a turn: reads as much of the session as there is room for, page by page."""

from collections.abc import Callable, Sequence
from functools import cache

from cc_bot.assistant.cache_key import cache_key
from cc_bot.assistant.calibration import Calibration
from cc_bot.assistant.profile_notes import ProfileNotes
from cc_bot.assistant.session_turn import SessionTurn
from cc_bot.assistant.turn_prompt import TurnPrompt
from cc_bot.context.built import Built, of_session
from cc_bot.context.prompt import PromptStyle, build_prompt
from cc_bot.context.recap import recap
from cc_bot.context.tokens import message_tokens
from cc_bot.context.window import tokens_up_to
from cc_bot.domain.clock import Clock
from cc_bot.domain.message import Message
from cc_bot.llm.model import ToolSchema
from cc_bot.stores import SessionStore

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
