from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from cc_bot.domain.errors import (
    InputError,
    ModelUnavailable,
    NoSuchTime,
    RepeatNotUnderstood,
    RepeatTooOften,
    SeveralTimes,
    WhenNotUnderstood,
    WhenPassed,
    WhenTooFar,
)
from cc_bot.features.reminders.resolver import TimeResolver
from tests.domain.phrases import phrases
from tests.scripted_model import ScriptedModel, Step

NOW = datetime(2026, 11, 22, 3, tzinfo=UTC)  # Sunday noon in Tokyo
TOKYO = ZoneInfo("Asia/Tokyo")
NINE, SIX = datetime(2026, 11, 23, tzinfo=UTC), datetime(2026, 11, 23, 9, tzinfo=UTC)
VAGUE = "会議の前の日のお昼すぎ"
REFUSED: dict[type[InputError], str] = {
    WhenPassed: "2020-01-01 09:00",
    RepeatNotUnderstood: "3日おきに8時 | 隔週、3日おき | every second tuesday",
    SeveralTimes: "明日9時と18時 + 毎日 | 明日1時、2時、3時、4時、5時、6時",
    NoSuchTime: "2月30日 | 2月30日 + 毎年 | 12月3日（金） | Feb 30 at 9",
}
"""Each with its repeat after a plus: what no model is asked about."""


def moments(*script: list[Step]) -> tuple[TimeResolver, ScriptedModel]:
    model = ScriptedModel([*script])
    return TimeResolver(model, lambda: NOW), model


class TestRules:
    async def test_need_no_model(self) -> None:
        told, model = moments()
        expected = {
            "明日9時": ((NINE, ""),),
            "every day at 9": ((NINE, "0 9 * * *"),),
            "明日9時と18時": ((NINE, ""), (SIX, "")),
            **{
                written: ((NOW + timedelta(minutes=minutes), ""),)
                for written, minutes in (
                    *(("10分", 10), ("１時間半", 90), ("10m", 10), ("1h30m", 90)),
                    ("half an hour", 30),
                )
            },
        }
        assert {when: await told.resolve(when, "", TOKYO) for when in expected} == expected
        assert model.requests == []

    @pytest.mark.parametrize("error", REFUSED)
    async def test_refuse_what_no_model_is_asked_about(self, error: type[InputError]) -> None:
        told, model = moments(["2026-12-02T13:00"])
        accepted = []
        for words in phrases(REFUSED[error]):
            when, _, repeat = words.partition("+")
            try:
                accepted.append((when, await told.resolve(when.strip(), repeat.strip(), TOKYO)))
            except error:
                continue
        assert (accepted, model.requests) == ([], [])


class TestModel:
    @pytest.mark.parametrize(
        ("words", "repeat", "answer", "found"),
        [
            (VAGUE, "", "2026-12-02T13:00", ""),
            (VAGUE, "毎週水曜", "2026-12-02T13:00", "0 13 * * 3"),
            ("週1で水曜13時", "", "2026-12-02T13:00 0 13 * * 3", "0 13 * * 3"),
            (
                VAGUE,
                "",
                "2026-12-02T13:00 0 13 * * 3 every 2 weeks",
                "0 13 * * 3 every 2 weeks from 2026-12-02",
            ),
        ],
    )
    async def test_is_asked_once_and_told_the_time_where_the_user_is(
        self, words: str, repeat: str, answer: str, found: str
    ) -> None:
        told, model = moments([answer[:9], answer[9:]])
        moment = datetime(2026, 12, 2, 4, tzinfo=UTC)
        assert await told.resolve(words, repeat, TOKYO) == ((moment, found),)
        [request] = model.requests
        assert '"now": "2026-11-22 (Sun) 12:00"' in request.prompt[-1].text
        assert words in request.prompt[-1].text

    async def test_is_not_believed_blindly(self) -> None:
        answers: dict[type[InputError], list[Step]] = {
            WhenNotUnderstood: [
                *("none", "2026-12-02T13:00 or 2026-12-03T13:00", "2026-12-02 13:00", "9" * 5000),
                *("2026-13-45T99:00", f"You said: {VAGUE}", ModelUnavailable()),
            ],
            WhenPassed: ["2020-12-02T13:00"],
            WhenTooFar: ["2099-12-02T13:00"],
            RepeatNotUnderstood: ["2026-12-02T13:00 61 9 * * *"],
            RepeatTooOften: ["2026-12-02T13:00 * * * * *"],
        }
        for error, given in answers.items():
            for answer in given:
                told, _ = moments([answer])
                with pytest.raises(error):
                    await told.resolve(VAGUE, "", TOKYO)

    async def test_makes_no_single_moment_of_what_repeats(self) -> None:
        told, _ = moments(["2026-12-02T13:00"])
        with pytest.raises(RepeatNotUnderstood):
            await told.resolve("every full moon", "", TOKYO)
