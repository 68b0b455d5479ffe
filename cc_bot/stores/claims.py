"""Which times of which schedules are to be said now: claimed by one process, in one transaction.

A row of `firings` is written before anything is said, and a second one of the same time can't be. So a time
is said once at most, however many processes look and wherever one of them dies. In the same transaction the
schedule moves on to its next time.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.heartbeat import hours_of
from cc_bot.domain.repeats import in_hours, next_time
from cc_bot.domain.schedule import LATEST, Firing, FiringState, Quiet, Schedule
from cc_bot.storage import Statement, Steps
from cc_bot.stores.columns import to_ms
from cc_bot.stores.schedule_statements import (
    ADVANCE,
    CLAIM,
    SELECT_DUE,
    SELECT_REWOUND,
    as_list,
    read_schedule,
)

SLACK: Final = timedelta(minutes=1)
"""By how much a clock may be put right without anything being worked out anew."""
_AT_A_TIME: Final = 50


@dataclass(frozen=True, slots=True)
class Claimant:
    """Who claims: a process, for some places, and for one user or for all."""

    process: str
    places: Collection[str]
    user_id: int | None = None

    @property
    def whose(self) -> tuple[str, int | None]:
        return as_list(self.places), self.user_id


def claim(claimant: Claimant, now: datetime, limit: int) -> Steps[list[Firing]]:
    """At most `limit` times that are due, and which nobody else has."""
    rows = yield Statement(SELECT_REWOUND, (*claimant.whose, to_ms(now + SLACK)))
    for schedule in map(read_schedule, rows):
        yield _advanced(schedule, next_time(*_counted(schedule, now)), now)
    claimed: list[Firing] = []
    rows = yield Statement(SELECT_DUE, (*claimant.whose, to_ms(now), _AT_A_TIME))
    for schedule in map(read_schedule, rows):
        due, following = yield from _timely(claimant, schedule, now)
        yield _advanced(schedule, following, now)
        if due and (yield from _noted(claimant, schedule, due, "claimed", now)):
            claimed.append(Firing(replace(schedule, due_at=due), due))
            if len(claimed) >= limit:
                break
    return claimed


def following_time(schedule: Schedule, now: datetime) -> datetime | None:
    """Its first time after now; None where it has none."""
    if not in_hours(schedule.repeat):
        return next_time(*_counted(schedule, now))
    try:
        hours = timedelta(hours=hours_of(schedule.repeat))
    except ValueError:  # damaged
        return None
    passed = (
        max(now - schedule.due_at, timedelta(0)) // hours
    )  # on from its time, not from whenever this runs
    return next_time(*_counted(schedule, schedule.due_at + passed * hours))


def _timely(
    claimant: Claimant, schedule: Schedule, now: datetime
) -> Steps[tuple[datetime | None, datetime | None]]:
    """The time that is to be said now, if any, and the one after now. What comes too late is noted as missed:
    once, however many times of a repeat that are."""
    due: datetime | None = schedule.due_at
    after = schedule.due_at
    if now - schedule.due_at > LATEST:
        state: FiringState = "missed" if schedule.kind == "reminder" else "skipped"
        yield from _noted(claimant, schedule, schedule.due_at, state, now)
        due, after = None, now - LATEST - timedelta(milliseconds=1)
    if not schedule.repeat:
        return due, None
    if in_hours(schedule.repeat):
        return due, following_time(schedule, now)
    while (following := next_time(*_counted(schedule, after))) and following <= now:
        due = after = following
    return due, following


def _counted(schedule: Schedule, after: datetime) -> tuple[str, datetime, ZoneInfo, Quiet | None]:
    return schedule.repeat, after, schedule.zone, schedule.quiet


def _advanced(schedule: Schedule, following: datetime | None, now: datetime) -> Statement:
    due, status = (following, "active") if following else (schedule.due_at, "done")
    return Statement(ADVANCE, (schedule.key.user_id, schedule.id, to_ms(due), status, to_ms(now)))


def _noted(
    claimant: Claimant, schedule: Schedule, due: datetime, state: FiringState, now: datetime
) -> Steps[bool]:
    """Whether this time is ours: nobody noted it before."""
    of = (schedule.id, to_ms(due), schedule.key.user_id)
    rows = yield Statement(CLAIM, (*of, state, claimant.process, to_ms(now)))
    return bool(rows)
