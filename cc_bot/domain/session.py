"""Sessions: one user's conversation with one agent in one channel."""

from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime

from cc_bot.domain.canvas import Canvas
from cc_bot.domain.message import Message, Visibility


@dataclass(frozen=True, slots=True)
class SessionKey:
    """The key that a session is found by. A thread is a channel of its own; so is a DM."""

    user_id: int
    channel_id: int
    agent: str = "default"


@dataclass(frozen=True, slots=True)
class Recollection:
    """A piece of what is known of a key's conversation beyond the history."""

    visibility: Visibility
    text: str
    tainted: bool = False
    """As `Message.tainted`."""


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation under a key, with the window of it that the model sees."""

    id: str
    key: SessionKey
    history: tuple[Message, ...]
    """Oldest first; never starts with an assistant message."""
    created_at: datetime
    last_active: datetime
    _: KW_ONLY
    more: bool = field(default=False, compare=False)
    """Whether earlier messages may still belong to the history: it is read by the page."""
    has_files: bool = field(default=True, compare=False)
    """Whether files of it may be stored."""
    summaries: tuple[Recollection, ...] = ()
    """What was written down of all that was said under the key before."""
    rest: tuple[Recollection, ...] = ()
    """What the user said in an expired session and is in no summary yet, oldest first."""
    canvas: Canvas = Canvas()
    """All that is up, private elements too: what of it a turn may see, `Canvas.visible_in` tells."""


@dataclass(frozen=True, slots=True)
class ArchivedSession:
    """A conversation as its user reads of it, open or over."""

    id: str
    key: SessionKey
    created_at: datetime
    last_active: datetime
    closed_at: datetime | None
    messages: int
    opening: str
    """The beginning of its first question."""
