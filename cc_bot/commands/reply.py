"""Who gives a command, and what a command answers."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

from cc_bot.domain.access import Subject
from cc_bot.domain.clock import utc_now
from cc_bot.domain.limits import UsageSubject
from cc_bot.domain.locale import Locale
from cc_bot.domain.text import one_line, printable, shorten
from cc_bot.texts import Texts

ActionKind = Literal["cancel_reminder", "undelete_memory", "erase_memory", "erase_memory_said"]


@dataclass(frozen=True, slots=True)
class Caller:
    """The user who gives a command. Its methods write values as plain text; a front end overrides them."""

    user_id: int
    locale: Locale
    timezone: ZoneInfo
    words: Texts
    """In the caller's language."""
    _: KW_ONLY
    payer: UsageSubject = UsageSubject(0)
    """On whose account a model is asked for them, and in which server."""
    memory_paused: bool = False
    spoken: bool = False
    """Whether they want short answers read aloud as well."""
    manages_guild: bool = False
    """Whether they may manage the server where they give it."""
    channel_id: int = 0
    """Where they give it."""
    channels: Mapping[int, str] = field(default_factory=dict)
    """Names of channels, as far as they are known."""

    @property
    def guild_id(self) -> int | None:
        return self.payer.guild_id or None

    def at(self, moment: datetime) -> str:
        """Write a moment in the caller's time zone."""
        return self.words.remind_here.written(moment.astimezone(self.timezone), utc_now())

    def day(self, moment: datetime) -> str:
        """Write the day of a moment in the caller's time zone."""
        return moment.astimezone(self.timezone).date().isoformat()

    def moment(self, moment: datetime) -> str:
        """Write a moment and, where the front end can, how far away it is."""
        return self.at(moment)

    def text(self, text: str, limit: int = 200) -> str:
        """Write a user's text on one line of at most `limit` characters."""
        return shorten(one_line(printable(text)), limit)

    def channel(self, channel_id: int) -> str:
        return self.channels.get(channel_id, "Discord")

    def mention(self, kind: Subject, id_: int) -> str:
        """Name a user, role, channel or server whose name is not known."""
        return f"{self.words.admin.kinds[kind]} {id_}"


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a list."""

    number: int
    text: str
    """As the user wrote it: the front end shortens and escapes it."""
    details: tuple[str, ...] = ()
    trouble: str = ""
    """What keeps it from working."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something the reader can do next: a button on Discord, a hint in the terminal."""

    label: str
    kind: ActionKind
    id: int
    typed: str = ""
    """The terminal command that does it, if there is one."""


@dataclass(frozen=True, slots=True)
class ReplyFile:
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a command, in the caller's language."""

    lines: tuple[str, ...] = ()
    _: KW_ONLY
    title: str = ""
    table: str = ""
    """Lines in which columns stand below each other."""
    notes: tuple[str, ...] = ()
    """Shown below, in small print where there is such a thing."""
    items: tuple[Item, ...] = ()
    page: int = 1
    pages: int = 0
    """How many pages there are if `items` are one page of a list."""
    actions: tuple[Action, ...] = ()
    file: ReplyFile | None = None
    receipts_changed: bool = False
    """Whether receipts that messages on Discord show may have changed."""
