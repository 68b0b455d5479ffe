"""Whatever is written, nothing but the errors that are promised comes of it."""

import random
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from cc_bot.domain import errors
from cc_bot.domain.session import clean_summary
from cc_bot.domain.when.resolve import parse_schedules, read_moments, split_when
from cc_bot.features.heartbeat.model import find_named_days, parse_minute
from cc_bot.features.memory.errors import EndNotUnderstood, EndPassed, ImportNotUnderstood, TooManyToImport
from cc_bot.features.memory.files import parse_memories
from cc_bot.features.memory.model import parse_expiry, split_tags
from cc_bot.features.memory.secrets import looks_secret
from tests.domain.spoken import spoken_texts

TIMES = (errors.WhenNotUnderstood, errors.WhenPassed, errors.WhenTooFar)

NOW = (
    datetime(2026, 1, 1, 3, 4, tzinfo=UTC),
    datetime(2028, 2, 29, 14, 59, 59, tzinfo=UTC),
    datetime(2026, 3, 29, 0, 30, tzinfo=UTC),  # an hour before Berlin's clocks are put on
)
ZONES = ("Asia/Tokyo", "Europe/Berlin", "America/St_Johns", "Pacific/Apia")


def read_times(text: str, number: int) -> None:
    """Each reader of times and repeats, at some moment and place; `number` chooses them."""
    now, zone = NOW[number % len(NOW)], ZoneInfo(ZONES[number % len(ZONES)])
    with suppress(*TIMES):
        assert all(each.moment > now for each in read_moments(text, now, zone))
    for when, repeat in ((text, ""), ("", text), ("明日9時", text), (text, "隔週")):
        with suppress(*TIMES, errors.RepeatNotUnderstood, errors.RepeatTooOften, errors.SeveralTimes):
            planned = parse_schedules(when, repeat, now, zone)
            assert planned
            assert all(due > now for due, _ in planned)
    with suppress(EndNotUnderstood, EndPassed, *TIMES):
        end = parse_expiry(text, now, zone)
        assert end is None or end > now
    parse_minute(text)


def split_times(text: str, number: int) -> None:
    """When and what, of one line."""
    with suppress(errors.WhenNotUnderstood, errors.RepeatNotUnderstood):
        when, _ = split_when(text)
        assert when


def read_all_else(text: str, number: int) -> None:
    with suppress(ImportNotUnderstood, TooManyToImport):
        assert parse_memories(text)
    with suppress(ImportNotUnderstood, TooManyToImport):
        parse_memories("\n".join(("[", *text.split("の"), "]")))
    looks_secret(text)
    find_named_days(text, date(2026, 1, 1), within=number % 400)
    split_tags(text)
    clean_summary(text)


@pytest.mark.slow
@pytest.mark.parametrize(("read", "count"), [(read_times, 3000), (split_times, 400), (read_all_else, 2000)])
def test_raises_nothing_but_what_is_promised(read: Callable[[str, int], None], count: int) -> None:
    rng = random.Random(0)
    for number, text in enumerate(spoken_texts(seed=0, count=count)):
        read(text, number)
        anything = (chr(rng.choice((rng.randrange(0x3000), rng.randrange(0x110000)))) for _ in range(12))
        read("".join(anything), number)
