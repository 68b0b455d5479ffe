"""Which moment somebody's words mean: rules first, and a model once for what no rule understands."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from cc_bot.assistant import TimeResolver
from cc_bot.domain import Locale
from cc_bot.domain.errors import (
    InputError,
    ModelUnavailable,
    NoSuchTime,
    RepeatNotUnderstood,
    SeveralTimes,
    WhenNotUnderstood,
    WhenPassed,
    WhenTooFar,
)
from cc_bot.llm.offline import OfflineModel
from cc_bot.llm.requests import moment_in
from tests.scripted_model import ScriptedModel, Step

NOW = datetime(2026, 11, 22, 3, tzinfo=UTC)  # Sunday noon in Tokyo
TOKYO = ZoneInfo("Asia/Tokyo")
VAGUE = "会議の前の日のお昼すぎ"


def moments(*script: list[Step]) -> tuple[TimeResolver, ScriptedModel]:
    model = ScriptedModel([*script])
    return TimeResolver(model, lambda: NOW), model


class TestRules:
    @pytest.mark.parametrize("locale", list(Locale))
    async def test_need_no_model(self, locale: Locale) -> None:
        told, model = moments()
        assert await told.resolve("明日9時", "", TOKYO, locale) == ((datetime(2026, 11, 23, tzinfo=UTC), ""),)
        assert await told.resolve("every day at 9", "", TOKYO, locale) == (
            (datetime(2026, 11, 23, tzinfo=UTC), "0 9 * * *"),
        )
        assert await told.resolve("明日9時と18時", "", TOKYO, locale) == (
            (datetime(2026, 11, 23, tzinfo=UTC), ""),
            (datetime(2026, 11, 23, 9, tzinfo=UTC), ""),
        )
        assert model.requests == []

    @pytest.mark.parametrize(
        ("written", "minutes"),
        [("10分", 10), ("１時間半", 90), ("10m", 10), ("1h30m", 90), ("half an hour", 30)],
    )
    async def test_take_a_while_alone_for_so_much_later(self, written: str, minutes: int) -> None:
        told, model = moments()
        found = await told.resolve(written, "", TOKYO, Locale.JA)
        assert found == ((NOW + timedelta(minutes=minutes), ""),)
        assert model.requests == []

    async def test_refuse_what_is_over_without_a_model(self) -> None:
        told, model = moments()
        with pytest.raises(WhenPassed):
            await told.resolve("2020-01-01 09:00", "", TOKYO, Locale.JA)
        assert model.requests == []

    @pytest.mark.parametrize(
        ("when", "repeat", "error"),
        [
            ("3日おきに8時", "", RepeatNotUnderstood),
            ("1日3回", "", RepeatNotUnderstood),
            ("毎週", "", RepeatNotUnderstood),
            ("毎月の満月の日", "", RepeatNotUnderstood),
            ("隔週、給料日の前の金曜", "", RepeatNotUnderstood),
            ("twice a day", "", RepeatNotUnderstood),
            ("every full moon", "", RepeatNotUnderstood),
            ("毎朝8時", "平日", RepeatNotUnderstood),
            ("明日9時と18時", "毎日", SeveralTimes),
            ("明日1時、2時、3時、4時、5時、6時", "", SeveralTimes),
            ("2月30日", "", NoSuchTime),
            ("2月30日", "毎年", NoSuchTime),
            ("12月3日（金）", "", NoSuchTime),
            ("Feb 30 at 9", "", NoSuchTime),
            ("そのうち", "", WhenNotUnderstood),
            ("また今度", "", WhenNotUnderstood),
            ("someday", "", WhenNotUnderstood),
            ("そのうち", "毎週", WhenNotUnderstood),
            *(
                (when, "", RepeatNotUnderstood)
                for when in ("日曜日はいつも9時", "週末になるたび10時", "常に9時")
            ),
            *((when, "", RepeatNotUnderstood) for when in ("週1で月曜9時", "偶数日の9時", "5のつく日 9時")),
            *((when, "", RepeatNotUnderstood) for when in ("quarterly", "nightly at 10", "毎回")),
            *(
                (when, "", SeveralTimes)
                for when in ("朝晩9時", "3日連続で9時", "明日から3日間 9時", "今日明日の21時")
            ),
            *(
                (when, "", SeveralTimes)
                for when in ("12月3日〜5日 9時", "1時間後と2時間後", "来週いっぱい9時")
            ),
            ("tomorrow and the day after at 9", "", SeveralTimes),
            ("for the next 3 days at 9", "", SeveralTimes),
        ],
    )
    async def test_refuse_what_no_model_may_turn_into_a_moment(
        self, when: str, repeat: str, error: type[InputError]
    ) -> None:
        told, model = moments(["2026-12-02T13:00"])
        with pytest.raises(error):
            await told.resolve(when, repeat, TOKYO, Locale.JA)
        assert model.requests == []


class TestModel:
    async def test_is_asked_once_and_told_the_time_where_the_user_is(self) -> None:
        told, model = moments(["2026-12-0", "2T13:00"])
        found = await told.resolve(VAGUE, "", TOKYO, Locale.JA)
        assert found == ((datetime(2026, 12, 2, 4, tzinfo=UTC), ""),)
        [request] = model.requests
        assert '"now": "2026-11-22 (Sun) 12:00"' in request.prompt[-1].text
        assert VAGUE in request.prompt[-1].text

    async def test_leaves_the_repeat_as_it_is(self) -> None:
        told, _ = moments(["2026-12-02T13:00"])
        found = await told.resolve(VAGUE, "毎週水曜", TOKYO, Locale.JA)
        assert found == ((datetime(2026, 12, 2, 4, tzinfo=UTC), "0 13 * * 3"),)

    @pytest.mark.parametrize(
        ("answer", "error"),
        [
            (["none"], WhenNotUnderstood),
            (["2026-12-02T13:00 or 2026-12-03T13:00"], WhenNotUnderstood),
            (["2026-12-02 13:00"], WhenNotUnderstood),
            (["9" * 5000], WhenNotUnderstood),
            (["2026-13-45T99:00"], WhenNotUnderstood),
            (["2020-12-02T13:00"], WhenPassed),
            (["2099-12-02T13:00"], WhenTooFar),
            ([ModelUnavailable()], WhenNotUnderstood),
            (["repeats"], RepeatNotUnderstood),
            (["Repeats. The first is 2026-12-02T13:00"], RepeatNotUnderstood),
            (["several"], SeveralTimes),
            (["several: 2026-12-02T13:00"], SeveralTimes),
        ],
    )
    async def test_is_not_believed_blindly(self, answer: list[Step], error: type[InputError]) -> None:
        told, _ = moments(answer)
        with pytest.raises(error):
            await told.resolve(VAGUE, "", TOKYO, Locale.EN)

    async def test_that_says_the_question_again_is_no_answer(self) -> None:
        told, _ = moments()
        with pytest.raises(WhenNotUnderstood):
            await told.resolve(VAGUE, "", TOKYO, Locale.JA)

    @pytest.mark.parametrize("words", [VAGUE, "sometime next spring, maybe", "いつか"])
    async def test_without_a_server_invents_no_time(self, words: str) -> None:
        with pytest.raises(WhenNotUnderstood):
            await TimeResolver(OfflineModel(), lambda: NOW).resolve(words, "", TOKYO, Locale.JA)

    @pytest.mark.parametrize(
        ("locale", "told_of"), [(Locale.JA, "一つを選ばない"), (Locale.EN, "never choose one")]
    )
    async def test_is_told_to_say_what_is_no_single_moment(self, locale: Locale, told_of: str) -> None:
        told, model = moments(["none"])
        with pytest.raises(WhenNotUnderstood):
            await told.resolve(VAGUE, "", TOKYO, locale)
        [request] = model.requests
        assert all(word in request.prompt[0].text for word in ("repeats", "several", told_of))


class TestAnswer:
    @pytest.mark.parametrize("answer", ["2026-12-02T13:00", "`2026-12-02T13:00`", "It is 2026-12-02T13:00."])
    def test_may_have_words_around_it(self, answer: str) -> None:
        assert moment_in(answer) == "2026-12-02T13:00"
