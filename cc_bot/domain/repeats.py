"""When what repeats comes next.

A repeat is a cron expression of five fields, counted where its user is; or `every 6h`, which is counted in
hours that pass. When clocks are put forward, a time that is left out comes as much later; when they are put
back, a time that there is twice is the first one (both as RFC 5545, section 3.3.5, has it). Only what comes
every hour comes in each hour that passes.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from cc_bot.domain.errors import RepeatNotUnderstood, RepeatTooOften
from cc_bot.domain.heartbeat import next_beat
from cc_bot.domain.schedule import Quiet

_FIELDS: Final = 5
_SAME_WALL_TIME: Final = timedelta(hours=3)
"""Further back than any clock is put: what is on the wall then is over."""


def check_cron(expression: str) -> str:
    """The expression in the form that is stored. Raises RepeatNotUnderstood for what is none or never comes,
    and RepeatTooOften for what comes more than once an hour."""
    fields = expression.upper().split()
    if len(fields) != _FIELDS:
        raise RepeatNotUnderstood
    cron = " ".join(fields)
    try:
        next(CronSim(cron, datetime(2024, 1, 1)), None)  # noqa: DTZ001 - what is on the wall
    except (CronSimError, ValueError, TypeError, AssertionError) as error:
        raise RepeatNotUnderstood from error  # not all of cronsim's refusals are its own errors
    if next_time(cron, datetime(2024, 1, 1, tzinfo=UTC), ZoneInfo("UTC")) is None:
        raise RepeatNotUnderstood
    if not re.fullmatch(r"\d+", fields[0]):
        raise RepeatTooOften
    return cron


def in_hours(repeat: str) -> bool:
    """Whether a repeat is counted in hours that pass: that of a heartbeat."""
    return repeat.startswith("every ")


def next_time(repeat: str, after: datetime, zone: ZoneInfo, quiet: Quiet | None = None) -> datetime | None:
    """The first time (UTC) later than `after`; None where there is none in the years to come, for what does
    not repeat, and for what is no repeat. What is counted in hours counts from `after` on and keeps out of
    quiet hours."""
    after = after.astimezone(UTC)
    try:
        if in_hours(repeat):
            return next_beat(after, repeat, zone, quiet)
        return _next_of_cron(repeat, after, zone) if repeat else None
    except (CronSimError, ValueError, TypeError, AssertionError, OverflowError):
        # past the year 9999, or damaged: not all of cronsim's refusals are its own errors
        return None


def _next_of_cron(cron: str, after: datetime, zone: ZoneInfo) -> datetime | None:
    fields = cron.split()
    if len(fields) != _FIELDS:  # cronsim takes six too, and would go through the seconds of hours
        raise ValueError(cron)
    hourly = fields[1] == "*"
    best: datetime | None = None
    for wall in CronSim(cron, after.astimezone(zone).replace(tzinfo=None) - _SAME_WALL_TIME):
        moments = [moment for moment in _moments(wall, zone, both=hourly) if moment > after]
        best = min([*moments, *([best] if best else [])], default=None)
        if best and best <= _at(wall, zone):
            return best
    return best


def _moments(wall: datetime, zone: ZoneInfo, *, both: bool) -> Iterator[datetime]:
    yield _at(wall, zone)
    if both:
        yield _at(wall.replace(fold=1), zone)


def _at(wall: datetime, zone: ZoneInfo) -> datetime:
    return wall.replace(tzinfo=zone).astimezone(UTC)
