"""A repeat in words, in each language."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from cc_bot.domain.errors import RepeatNotUnderstood, SeveralTimes, WhenNotUnderstood
from cc_bot.domain.text import Locale
from cc_bot.domain.when.resolve import parse_schedules
from cc_bot.features.reminders.texts import RepeatTexts
from cc_bot.texts import explain, texts
from cc_bot.texts.commands import command_names
from tests.domain.phrases import table


def test_a_repeat_is_told_as_people_say_it() -> None:
    for line in table("repeats_said").splitlines():
        repeat, *told = line.split(" | ")
        assert [texts(each)[RepeatTexts].describe(repeat) for each in (Locale.JA, Locale.EN)] == told


@pytest.mark.parametrize("locale", list(Locale))
def test_examples_of_options_and_refusals_are_read(locale: Locale) -> None:
    now, tokyo = datetime(2026, 11, 22, 10, 30, tzinfo=UTC), ZoneInfo("Asia/Tokyo")
    for name in ("remind_when_description", "remind_repeat_description"):
        for example in re.split(r"、|, ", command_names(locale)[name].partition(": ")[2]):
            when, repeat = ("2026-12-01", example) if "repeat" in name else (example, "")
            assert parse_schedules(when, repeat, now, tokyo), example
    for error in (RepeatNotUnderstood(), WhenNotUnderstood(), SeveralTimes()):
        for example in re.findall(r"「([^」]+)」", explain(error, texts(Locale.JA))):
            assert parse_schedules(example, "", now, tokyo), example
