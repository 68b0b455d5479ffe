"""The reply of a command, which each front end renders."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

from cc_bot.domain.access import Subject
from cc_bot.domain.clock import utc_now
from cc_bot.domain.text import Locale, one_line, printable, shorten
from cc_bot.domain.usage import Payer
from cc_bot.texts import Texts
from cc_bot.texts.replies import MomentTexts, ReplyTexts

ActionKind = Literal["cancel", "undelete", "erase", "erase-said", "added", "updated", "deleted"]
"""`added`, `updated` and `deleted` undo that change of a memory. `erase-said` erases a memory, and messages
that repeat it."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The user of a command. Its methods format values as plain text; front ends override them."""

    user_id: int
    locale: Locale
    timezone: ZoneInfo
    words: Texts
    _: KW_ONLY
    payer: Payer = Payer(0)  # whose usage limits apply, and in which server
    memory_paused: bool = False
    spoken: bool = False  # whether short answers are read aloud
    manages_guild: bool = False
    channel_id: int = 0
    channels: Mapping[int, str] = field(default_factory=dict)

    @property
    def guild_id(self) -> int | None:
        return self.payer.guild_id or None

    def format_time(self, moment: datetime) -> str:
        return self.words[MomentTexts].written(moment.astimezone(self.timezone), utc_now())

    def format_day(self, moment: datetime) -> str:
        return self.words[MomentTexts].name_short_day(moment.astimezone(self.timezone), utc_now())

    def format_text(self, text: str, limit: int = 200) -> str:
        """Format on one line, with at most `limit` characters."""
        return shorten(one_line(printable(text)), limit)

    def format_channel(self, channel_id: int) -> str:
        return self.channels.get(channel_id, "Discord")

    def format_mention(self, kind: Subject, id_: int) -> str:
        return f"{self.words[ReplyTexts].subject_kinds[kind]} {id_}"


@dataclass(frozen=True, slots=True)
class Item:
    number: int
    text: str  # as stored; front ends shorten and escape it
    details: tuple[str, ...] = ()
    time: str = ""  # when it is due
    repeat: str = ""
    problem: str = ""  # why the item does not work now
    labels: tuple[str, ...] = ()  # its category and tags


@dataclass(frozen=True, slots=True)
class Action:
    """A next step, shown as a button on Discord and as a hint in the terminal."""

    label: str
    kind: ActionKind
    id: int
    command: str = ""  # the command of the terminal that does the same
    former_id: int = 0  # the version of a memory that undoing restores


@dataclass(frozen=True, slots=True)
class ReplyFile:
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    lines: tuple[str, ...] = ()
    _: KW_ONLY
    title: str = ""
    table: str = ""
    notes: tuple[str, ...] = ()  # shown last, in small print if possible
    items: tuple[Item, ...] = ()
    problems_title: str = ""  # above the items with a problem, which are last
    page: int = 1
    pages: int = 0  # 0 if `items` are complete
    actions: tuple[Action, ...] = ()
    file: ReplyFile | None = None
    receipts_changed: bool = False  # True if receipts on Discord are outdated
