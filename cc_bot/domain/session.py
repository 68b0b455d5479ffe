"""Sessions: one user's conversation with one agent in one channel."""

from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime

from cc_bot.domain.canvas import Canvas
from cc_bot.domain.message import Message, Visibility


@dataclass(frozen=True, slots=True)
class SessionKey:
    """A thread and a DM are channels of their own."""

    user_id: int
    channel_id: int
    agent: str = "default"


@dataclass(frozen=True, slots=True)
class Recollection:
    visibility: Visibility
    text: str
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    key: SessionKey
    history: tuple[Message, ...]
    """Oldest first; never starts with an assistant message."""
    created_at: datetime
    last_active: datetime
    _: KW_ONLY
    more: bool = field(default=False, compare=False)
    """Earlier messages may belong to the history: it is read by page."""
    has_files: bool = field(default=True, compare=False)
    summaries: tuple[Recollection, ...] = ()
    rest: tuple[Recollection, ...] = ()
    """User messages of an expired session that are not summarized yet, oldest first."""
    canvas: Canvas = Canvas()
    """Private elements included."""


@dataclass(frozen=True, slots=True)
class ArchivedSession:
    id: str
    key: SessionKey
    created_at: datetime
    last_active: datetime
    closed_at: datetime | None
    messages: int
    opening: str
