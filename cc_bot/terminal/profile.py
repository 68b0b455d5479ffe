"""Who is chatting, where, and what holds while they have not chosen otherwise."""

from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Visibility
from cc_bot.domain.session import SessionKey


@dataclass(frozen=True, slots=True)
class ChatProfile:
    key: SessionKey
    locale: Locale
    """Until the user chooses one with /settings."""
    timezone: ZoneInfo
    """Likewise."""
    model_label: str
    """What the greeting says is answering."""
    history_file: Path | None = None
    """Where the input line keeps what was typed (made with mode 0600); None: nowhere."""
    visibility: Visibility = "public"
    """`private` when the key is that of a channel others read: what is said here is seen here alone."""
    author_name: str = ""
    agent: str | None = None
    """Who answers in this chat, until another one is chosen; None: whom the user chose before."""
