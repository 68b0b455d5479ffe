"""Calls of tools of servers that somebody has agreed to: claimed before they are made, so that each is made
once at most.

A claim says who is told of it, and where. One whose run of the program was ended may have been made or not:
nobody makes it again, and its user is told.
"""

from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Literal

from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Visibility
from cc_bot.domain.proposal import CallTool
from cc_bot.domain.session import SessionKey

CallState = Literal["claimed", "done", "failed", "unknown"]
"""claimed: it is being made, or was when the program was ended; done, failed: as its server said; unknown: it
was ended on its way, and may have been done."""


@dataclass(frozen=True, slots=True)
class CallMessage:
    """The message that tells of a call, where there is one. All ids are Discord's."""

    place_id: int | None = None
    """The channel of the message; None outside of Discord."""
    shown_in: int | None = None
    application_id: int | None = None
    token: str | None = None
    """Of the press: the message can be changed by it as long as it works."""
    token_until: datetime | None = None
    ephemeral: bool = False
    """Whether whoever pressed alone sees the message."""
    locale: Locale | None = None
    """Of who asked; None where it is not known."""

    def token_at(self, now: datetime) -> str | None:
        """The token, if it still works then."""
        alive = self.token_until is not None and now < self.token_until
        return self.token if alive else None


@dataclass(frozen=True, slots=True)
class ClaimedCall:
    """A call that is made, or was, and of which its user does not know yet what came of it."""

    id: int
    """That of the proposal that it was: none is ever given twice."""
    key: SessionKey
    answer_id: int
    """The row of the answer that proposed it."""
    visibility: Visibility
    change: CallTool
    _: KW_ONLY
    claimed_at: datetime
    claimed_by: str
    """The name of the press, which tells this run of the program from others."""
    state: CallState = "claimed"
    message: CallMessage = CallMessage()
