"""Drops the events of a user who sends more than a person can, before hikari builds them.

The gate counts too, but only after hikari has built an event and a task per listener, and the database was
asked: a thousand presses a second ended the program.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, Literal

import hikari
import structlog

from cc_bot.discord.places import Recent

_log = structlog.get_logger(__name__)

Kind = Literal["interaction", "message"]

MAX_AT_ONCE: Final[Mapping[Kind, int]] = {"interaction": 60, "message": 300}
"""Events of one user. After a resume Discord sends all missed messages at once."""
REFILL_PER_S: Final = 20
"""As many autocomplete requests as the gate allows per second."""
QUIET_S: Final = 5.0
"""A flood is over after so many seconds without events."""
MAX_USERS: Final = 5000

_EVENTS: Final[Mapping[str, Kind]] = {
    "interaction_create": "interaction",
    "message_create": "message",
    "message_update": "message",
}


@dataclass(slots=True)
class _Sender:
    allowance: float
    seen_at_s: float
    is_flooding: bool = False
    refused: int | None = None
    """The one interaction of the flood that is answered, with a refusal."""


@dataclass(slots=True)
class FloodGuard:
    _senders: Recent[tuple[int, Kind], _Sender] = field(default_factory=lambda: Recent(MAX_USERS))

    def drops(self, user_id: int, kind: Kind, now_s: float, *, answerable: int | None = None) -> bool:
        """Count an event. Returns whether it is to be dropped. The first `answerable` interaction of a flood
        is not: the gate refuses it, which tells the user."""
        most = MAX_AT_ONCE[kind]
        sender = self._senders.get((user_id, kind)) or _Sender(most, now_s)
        self._senders[user_id, kind] = sender
        away_s, sender.seen_at_s = now_s - sender.seen_at_s, now_s
        if sender.is_flooding and away_s < QUIET_S:
            if sender.refused is None and answerable is not None:
                sender.refused = answerable
                return False
            return True
        sender.is_flooding, sender.refused = False, None
        sender.allowance = min(most, sender.allowance + away_s * REFILL_PER_S)
        if sender.allowance >= 1:
            sender.allowance -= 1
            return False
        _log.warning("flood_dropped", subject=user_id, kind=kind)
        sender.is_flooding, sender.refused = True, answerable
        return answerable is None

    def refuses(self, user_id: int, interaction_id: int) -> bool:
        """Return whether this is the one interaction of a flood that is refused visibly."""
        sender = self._senders.get((user_id, "interaction"))
        return sender is not None and sender.refused == interaction_id


def drop_floods(bot: hikari.GatewayBot, guard: FloodGuard) -> None:
    """Drop events of floods at the gateway. The bot's own messages always pass."""

    def is_dropped(kind: Kind, payload: Mapping[str, Any]) -> bool:
        user_id, now_s = _sender_of(payload), monotonic()
        if kind == "interaction":
            answerable = payload["type"] != hikari.InteractionType.AUTOCOMPLETE
            return guard.drops(user_id, kind, now_s, answerable=int(payload["id"]) if answerable else None)
        me = bot.get_me()
        return user_id != 0 and (me is None or user_id != me.id) and guard.drops(user_id, kind, now_s)

    def guarded(kind: Kind, consume: Any) -> Any:
        def pass_on(shard: hikari.api.GatewayShard, payload: Mapping[str, Any]) -> None:
            if not is_dropped(kind, payload):
                consume(shard, payload)

        return pass_on

    consumers = bot.event_manager._consumers  # type: ignore[attr-defined]  # there is no other way in
    for name, kind in _EVENTS.items():
        consumers[name].callback = guarded(kind, consumers[name].callback)


def _sender_of(payload: Mapping[str, Any]) -> int:
    """Return the user of an event; 0 for an edit without its author."""
    user = payload.get("author") or payload.get("user") or payload.get("member", {}).get("user", {})
    return int(user.get("id", 0))
