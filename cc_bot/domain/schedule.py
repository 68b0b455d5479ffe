"""Reminders and heartbeats: messages at times that users chose."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import ReceiptState
from cc_bot.domain.message import Visibility
from cc_bot.domain.repeats import Quiet
from cc_bot.domain.session import SessionKey

MAX_TEXT_CHARACTERS: Final = 1000
MAX_SCHEDULES: Final = 100
"""Per user."""
LATEST: Final = timedelta(hours=1)
"""A later reminder is not sent, but reported as missed."""

ScheduleKind = Literal["reminder", "heartbeat"]

Place = Literal["channel", "dm", "terminal"]
"""Where it is sent."""

ScheduleStatus = Literal["active", "paused", "done"]
"""active: waits for its time. paused: by its user, or because it could not be delivered. done: its last time
has passed."""

Obstacle = Literal[
    "", "channel_gone", "bot_removed", "left_server", "dms_closed", "permission_missing", "channel_refused"
]
"""Why a schedule is paused."""

FiringState = Literal["claimed", "sent", "skipped", "missed", "uncertain", "failed"]
"""claimed: one process is sending it. sent: it is on Discord. skipped: a heartbeat had nothing to say, or its
user withdrew it. missed: more than LATEST late. uncertain: the process died between claim and outcome; it is
not sent again. failed: it could not be sent, and the schedule is paused."""


def zone_named(name: str) -> ZoneInfo:
    """Return the time zone of a stored IANA name; UTC if the zone database does not have it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name of a folder of zones
        return ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Schedule:
    id: int
    key: SessionKey
    """Its user, the channel in which it was made (whatever `place` is), and the agent."""
    kind: ScheduleKind
    text: str
    """Empty for a heartbeat."""
    due_at: datetime
    """The next time, UTC."""
    created_at: datetime
    _: KW_ONLY
    place: Place = "channel"
    guild_id: int | None = None
    visibility: Visibility = "public"
    """Of the turn or reply in which it was made. A private one is never sent to a server's channel."""
    repeat: str = ""
    """A five-field cron expression, optionally with an interval of days, weeks or months (repeats.py); or
    `every 6h`; empty: once."""
    timezone: str = "Asia/Tokyo"
    """IANA name of the time zone in which `repeat` is evaluated."""
    locale: Locale | None = None
    """The user's language when it was made; None if unknown."""
    quiet: Quiet | None = None
    status: ScheduleStatus = "active"
    obstacle: Obstacle = ""
    tainted: bool = False
    """Whether its text came from a model that had read text by others than its user."""
    number: int = 0
    """Shown to its user; each user's reminders count from 1. 0 for a heartbeat."""

    @property
    def heard(self) -> Visibility:
        """Who reads its message: others only in a channel, and never a private one."""
        return "public" if self.place == "channel" and self.visibility == "public" else "private"

    @property
    def zone(self) -> ZoneInfo:
        return zone_named(self.timezone)


def is_known_in(schedule: Schedule, channel_id: int | None) -> bool:
    """Return whether all readers of a channel may know of a reminder: it was made there, in public."""
    return schedule.visibility == "public" and schedule.key.channel_id == channel_id


@dataclass(frozen=True, slots=True)
class Firing:
    """A claimed time of a schedule."""

    schedule: Schedule
    due_at: datetime
    state: FiringState = "claimed"


Missed = tuple[Firing, ...]
"""One owner's missed and uncertain times, already marked as reported."""


@dataclass(frozen=True, slots=True)
class ScheduleChange:
    """A committed change that a tool made to a schedule."""

    kind: Literal["added", "cancelled"]
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class ScheduleReceipt:
    kind: Literal["added", "cancelled"]
    schedule_id: int
    text: str = ""
    """Empty if the reminder was cancelled before the line is shown again."""
    due_at: datetime | None = None
    """The next time, timezone-aware; None for a cancelled one."""
    repeat: str = ""
    number: int = 0
    state: ReceiptState = "holds"

    @classmethod
    def of(cls, change: ScheduleChange) -> "ScheduleReceipt":
        schedule = change.schedule
        due_at = schedule.due_at if change.kind == "added" else None
        return cls(change.kind, schedule.id, schedule.text, due_at, schedule.repeat, schedule.number)


def with_schedule(receipts: Sequence[ScheduleReceipt], new: ScheduleReceipt) -> tuple[ScheduleReceipt, ...]:
    """Add a receipt. A reminder that was made and cancelled in the same answer gets none."""
    before = next((each for each in receipts if each.schedule_id == new.schedule_id), None)
    others = tuple(each for each in receipts if each is not before)
    made_here = before is not None and before.kind == "added" and new.kind == "cancelled"
    return others if made_here else (*others, new)
