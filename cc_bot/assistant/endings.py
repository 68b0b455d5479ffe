"""How a turn ends: what came of it is stored, or it leaves no trace."""

from dataclasses import dataclass

import structlog

from cc_bot.assistant.rounds import Draft
from cc_bot.assistant.stop import Stop
from cc_bot.assistant.turn import Turn
from cc_bot.domain.canvas import Canvas
from cc_bot.domain.errors import (
    BeingErased,
    ModelSaidNothing,
    ModelUnavailable,
    ModelWentInCircles,
    ShuttingDown,
    StorageError,
)
from cc_bot.domain.events import Done
from cc_bot.domain.message import Message, Status, is_blank
from cc_bot.domain.proposal import collect
from cc_bot.stores import SettingsStore

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Ended:
    done: Done
    messages: tuple[Message, ...] = ()
    """Those that were stored."""
    canvas: Canvas | None = None
    """All that is up now, where the turn has changed it."""


class Endings:
    def __init__(self, settings: SettingsStore) -> None:
        self._settings = settings

    async def end(self, turn: Turn, draft: Draft, stop: Stop, *, closing: bool) -> Ended:
        """Store what came of the turn. An answer of which nothing came leaves no trace, and one without words
        takes no other answer's place. `closing`: whether the program stops.

        Raises a TurnError when there is no answer, BeingErased among them when nothing is to be kept, and
        StorageError when it could not be stored.
        """
        if stop.discarded:
            raise BeingErased
        interrupted = stop.requested and draft.status != "complete"
        status: Status = stop.status if interrupted else draft.status
        answer = draft.as_message(status, turn.visibility)
        if draft.empty or (turn.replaces and is_blank(answer.content)):
            if status == "stopped":
                return Ended(Done(answer, draft.usage))
            if draft.circled:
                raise ModelWentInCircles
            if draft.status == "complete":
                raise ModelSaidNothing
            raise ShuttingDown if closing else ModelUnavailable
        if turn.options.temporary:
            return Ended(Done(answer, draft.usage))
        drawing = turn.canvas.proposed if turn.canvas else None
        stored = await turn.store(answer, collect(draft.proposals, drawing))
        first = not turn.options.welcomed and await self._claim_welcome(turn.user_id)
        done = Done(stored.messages[-1], draft.usage, first, stored.proposals)
        return Ended(done, stored.messages, stored.canvas)

    async def _claim_welcome(self, user_id: int | None) -> bool:
        """The answer is stored by now: trouble here must not tell its user that it is not."""
        try:
            return user_id is not None and await self._settings.claim_welcome(user_id)
        except StorageError:
            _log.warning("welcome_not_claimed")
            return False
