"""A turn of a session on its way from its question to the eyes of whoever asked.

Three states, each reached in one transaction: `accepted` before anybody is told that it is, `answered` with
the answer itself, and delivered, which is that the ledger has it no more. Whenever the program is killed, the
ledger tells what is still owed to whom. A turn that had no answer by then becomes `interrupted`: its user was
told, and may have the same question asked again.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from cc_bot.domain.locale import Locale
from cc_bot.domain.message import ToolCall, Visibility
from cc_bot.domain.session import SessionKey

TurnState = Literal["accepted", "answered", "interrupted"]
TurnKind = Literal["ask", "again", "continue", "message"]
"""ask: a command; again, continue: buttons under an answer; message: a DM, or a reply to one's own answer."""

TOKEN_LIVES: Final = timedelta(minutes=14)
"""Discord takes an interaction's token for a quarter of an hour; the last minute is left for clocks that
differ."""
KEPT: Final = timedelta(days=7)
"""For how long the question of an interrupted turn waits to be asked again."""


@dataclass(frozen=True, slots=True)
class AskedFile:
    """A file of a question, where Discord has it."""

    name: str
    url: str
    size: int
    """In bytes."""
    media_type: str | None = None


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """What is needed to ask it again."""

    text: str
    author_name: str
    files: tuple[AskedFile, ...] = ()
    tainted: bool = False
    """As `Message.tainted`."""


@dataclass(frozen=True, slots=True)
class PendingTurn:
    """All ids but `id`, `replaces` and `answer_id` are Discord's."""

    id: str
    key: SessionKey
    kind: TurnKind
    visibility: Visibility
    accepted_at: datetime
    state: TurnState = "accepted"
    guild_id: int | None = None
    temporary: bool = False
    locale: Locale | None = None
    """None where it is not known."""
    question: AskedQuestion | None = None
    """None where nothing may be kept, or where the archive has it."""
    question_id: int | None = None
    """Of a question that is a message."""
    replaces: int | None = None
    """The row of the answer that this one takes the place of."""
    interaction_id: int | None = None
    token: str | None = None
    """Of the interaction; None for a message, and once nothing is shown by it any more."""
    token_until: datetime | None = None
    ephemeral: bool = False
    """Whether its user alone sees the message that shows it."""
    below: bool = False
    """Whether the answer is shown in follow-ups alone, below the interaction's own message."""
    shown_in: int | None = None
    """The interaction's own message, or the first one of an answer to a message, where it is known."""
    place_id: int | None = None
    """Where the bot writes the answer by itself: to a message, and past the token's life; or where the button
    was pressed, if that is not in the channel of the session."""
    pages: tuple[int, ...] = ()
    """The follow-ups so far; of an answer that comes past the token's life, all its messages."""
    earlier: tuple[int, ...] = ()
    """Of the replaced answer, the messages above the one with the button."""
    answer_id: int | None = None
    """The answer's row, once it is stored."""
    former: str | None = None
    """The id of the interrupted turn that this one asks again."""
    calls: tuple[ToolCall, ...] = ()
    """What its tools had changed when it was interrupted. One without a result may have been done or not."""

    def token_at(self, now: datetime) -> str | None:
        """The token, if it still works then."""
        alive = self.token_until is not None and now < self.token_until
        return self.token if alive else None
