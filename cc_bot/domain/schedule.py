"""Schedules: what the bot says at a time that a user chose, without being asked then."""

from collections import defaultdict
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Visibility
from cc_bot.domain.session import SessionKey

MAX_TEXT_CHARACTERS: Final = 1000
MAX_SCHEDULES: Final = 100
"""Of one user, at a time."""
LATEST: Final = timedelta(hours=1)
"""What is later than this is not said any more, but told as missed."""

ScheduleKind = Literal["reminder", "heartbeat"]

Place = Literal["channel", "dm", "terminal"]
"""Where it is said."""

ScheduleStatus = Literal["active", "paused", "done"]
"""active: waits for its time. paused: it could not be delivered, or its user paused it. done: it was its last
time."""

Obstacle = Literal[
    "", "channel_gone", "bot_removed", "left_server", "dms_closed", "permission_missing", "channel_refused"
]
"""Why a schedule is paused."""

FiringState = Literal["claimed", "sent", "skipped", "missed", "uncertain", "failed"]
"""claimed: being sent by one process, and no other. sent: it stands on Discord. skipped: a heartbeat that had
nothing to say, or what its user took back while it was on its way. missed: more than LATEST late. uncertain:
the process died between claim and note; it is not sent again. failed: it could not be said there, and the
schedule is paused."""


def zone_named(name: str) -> ZoneInfo:
    """The time zone of an IANA name that was stored; UTC where the database of zones has no such one."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name of one of its folders
        return ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Quiet:
    """The hours in which a heartbeat keeps still, in minutes after midnight where its user is; `until` may be
    smaller than `since`."""

    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Schedule:
    id: int
    key: SessionKey
    """Who wanted it, where it was asked for (whatever the place), and with which agent."""
    kind: ScheduleKind
    text: str
    """What to remind of; empty for a heartbeat."""
    due_at: datetime
    """The next time, UTC."""
    created_at: datetime
    _: KW_ONLY
    place: Place = "channel"
    guild_id: int | None = None
    visibility: Visibility = "public"
    """Of the turn or reply it was made in. What is private is never said in a server's channel."""
    repeat: str = ""
    """A cron expression of five fields, perhaps with days, weeks or months between (repeats.py); or the hours
    between two, as `every 6h`; empty: once."""
    timezone: str = "Asia/Tokyo"
    """The IANA name of the user's time zone, in which `repeat` counts."""
    locale: Locale | None = None
    """The language that its user was spoken to in when it was made; None where that is not known."""
    quiet: Quiet | None = None
    status: ScheduleStatus = "active"
    obstacle: Obstacle = ""
    tainted: bool = False
    """Whether a model wrote its text that had read words which its user did not write."""
    number: int = 0
    """What its user calls it by: each user's reminders count from 1. 0 for a heartbeat."""

    @property
    def heard(self) -> Visibility:
        """Who reads what it says: only a channel has other readers, and they never read what is private."""
        return "public" if self.place == "channel" and self.visibility == "public" else "private"

    @property
    def zone(self) -> ZoneInfo:
        """Where its times count."""
        return zone_named(self.timezone)


def is_known_in(schedule: Schedule, channel_id: int | None) -> bool:
    """Whether everybody who reads a channel may know of a reminder: it was set there, in public."""
    return schedule.visibility == "public" and schedule.key.channel_id == channel_id


@dataclass(frozen=True, slots=True)
class Firing:
    """One time of one schedule, claimed."""

    schedule: Schedule
    due_at: datetime


@dataclass(frozen=True, slots=True)
class ScheduleChange:
    """What a tool did to a schedule, and that is committed."""

    kind: Literal["added", "cancelled"]
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class Untold:
    """What one owner is to be told did not come in its time. It counts as told already."""

    user_id: int
    missed: tuple[Firing, ...] = ()
    """More than LATEST late, because the program did not run."""
    uncertain: tuple[Firing, ...] = ()
    """Perhaps said, perhaps not: the program died over it."""

    def by_channel(self) -> "dict[int, Untold]":
        """What may be told in channels, by channel."""
        found: dict[int, Untold] = defaultdict(lambda: Untold(self.user_id))
        for firing in self.missed:
            if firing.schedule.heard == "public":
                known = found[firing.schedule.key.channel_id]
                found[firing.schedule.key.channel_id] = replace(known, missed=(*known.missed, firing))
        for firing in self.uncertain:
            if firing.schedule.heard == "public":
                known = found[firing.schedule.key.channel_id]
                found[firing.schedule.key.channel_id] = replace(known, uncertain=(*known.uncertain, firing))
        return found
