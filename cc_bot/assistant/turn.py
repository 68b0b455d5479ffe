"""What a turn is about while it is on its way."""

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Message, Visibility
from cc_bot.domain.session import Session


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """For whom a turn is made."""

    locale: Locale
    timezone: ZoneInfo
    temporary: bool = False
    """Store nothing of this turn."""
    welcomed: bool = True
    """Whether this user is known to have had an answer before."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn on its way: what was asked, on top of what, and where the answer goes."""

    session: Session
    question: Message
    history: tuple[Message, ...]
    visibility: Visibility
    options: TurnOptions
    replaces: int | None = None
    """The row of the answer that this one takes the place of; its question is stored already."""
