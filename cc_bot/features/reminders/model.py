"""Reminders and heartbeats: messages at times that users chose."""

from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from cc_bot.domain.change import Change
from cc_bot.domain.clock import zone_named
from cc_bot.domain.message import Target, Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.when.repeats import QuietHours

MAX_TEXT_CHARACTERS: Final = 1000
MAX_SCHEDULES: Final = 100
MAX_WHEN_CHARACTERS: Final = 100
MAX_LATENESS: Final = timedelta(hours=1)  # later reminders are reported as missed, not sent

ScheduleKind = Literal["reminder", "heartbeat"]

ScheduleStatus = Literal["active", "paused", "done"]
Obstacle = Literal[
    "", "channel_gone", "bot_removed", "left_server", "dms_closed", "permission_missing", "channel_refused"
]
FiringState = Literal["claimed", "sent", "skipped", "missed", "uncertain", "failed"]
# claimed: a process is sending the message. skipped: the heartbeat had nothing to say, or the user cancelled.
# missed: later than MAX_LATENESS. uncertain: the process died before it recorded an outcome, so nothing is
# sent again. failed: Discord refused, and the schedule is paused.


@dataclass(frozen=True, slots=True)
class Schedule:
    id: int
    key: SessionKey  # contains the channel in which the user made the schedule
    kind: ScheduleKind
    text: str
    due_at: datetime
    created_at: datetime
    _: KW_ONLY
    target: Target = "channel"
    guild_id: int | None = None
    visibility: Visibility = "public"  # of where it was made; `audience`: of where it arrives
    repeat: str = ""  # in the form of domain/when/repeats.py; empty: once
    timezone: str = "Asia/Tokyo"
    locale: Locale | None = None
    quiet: QuietHours | None = None
    status: ScheduleStatus = "active"
    obstacle: Obstacle = ""
    tainted: bool = False  # a model wrote the text after reading other people's text, which may be an attack
    number: int = 0  # counts each user's reminders from 1; 0 for a heartbeat

    @property
    def audience(self) -> Visibility:
        return "public" if self.target == "channel" and self.visibility == "public" else "private"

    @property
    def zone(self) -> ZoneInfo:
        return zone_named(self.timezone)

    @property
    def local_due(self) -> datetime:
        return self.due_at.astimezone(self.zone)


def may_mention(schedule: Schedule, channel_id: int | None, visibility: Visibility) -> bool:
    """Return whether an answer may mention a schedule: a private answer always; a public answer only if the
    user made the schedule publicly in the same channel."""
    made_here = schedule.visibility == "public" and schedule.key.channel_id == channel_id
    return visibility == "private" or made_here


@dataclass(frozen=True, slots=True)
class Firing:
    schedule: Schedule
    due_at: datetime
    state: FiringState = "claimed"


UnreportedFirings = tuple[Firing, ...]  # one user's missed and uncertain times


@dataclass(frozen=True, slots=True)
class ReminderChange(Change):
    due_at: datetime | None = None  # local time
    repeat: str = ""

    @classmethod
    def from_schedule(cls, kind: Literal["added", "cancelled"], schedule: Schedule) -> "ReminderChange":
        return cls(
            *("schedule", kind, schedule.id, schedule.text, schedule.number),
            due_at=schedule.local_due if kind == "added" else None,
            repeat=schedule.repeat,
        )
