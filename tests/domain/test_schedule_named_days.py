"""Which near days a note names."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.schedule import days_named

TODAY = date(2026, 11, 22)
THE_25TH = (date(2026, 11, 25),)

NAMED = [
    "11月25日に歯医者",
    "１１月２５日（水）に歯医者",
    "歯医者は2026年11月25日の15時",
    "令和8年11月25日に引っ越し",
    "歯医者 2026-11-25 15:00",
    "2026/11/25 歯医者",
    "締め切り: 11/25",
    "母の誕生日は1961年11月25日",
    "昭和36年11月25日生まれ",
    "結婚記念日: 2015-11-25",
    "Dentist on Nov 25",
    "Dentist on November 25th, 2026",
    "the 25th of November is the deadline",
    "25 Nov 2026 dentist",
    "Mum's birthday: 25 November 1961",
]

NOT_NAMED = [
    "",
    "歯医者",
    "11月30日に歯医者",
    "2025年11月25日に退職した",
    "2027-11-25 まで有効",
    "平成30年11月25日に入社",
    "電話は 090-1125-1125",
    "1/2 カップの牛乳",
    "バージョン 11.25 を使っている",
    "Worked there until Nov 25, 2019",
    "may 5 people come",
    "11月の25人",
    "2026-11-2534",
    "99月99日",
]


class TestDaysNamed:
    @pytest.mark.parametrize("text", NAMED)
    def test_are_found_as_people_write_them(self, text: str) -> None:
        assert days_named(text, TODAY, within=7) == THE_25TH

    @pytest.mark.parametrize("text", NOT_NAMED)
    def test_are_no_others(self, text: str) -> None:
        assert days_named(text, TODAY, within=7) == ()

    def test_are_today_and_the_last_day_too_and_come_in_order(self) -> None:
        text = "11月29日は旅行、11月22日は買い物、11月30日は休み"
        assert days_named(text, TODAY, within=7) == (date(2026, 11, 22), date(2026, 11, 29))

    def test_are_found_across_the_new_year(self) -> None:
        assert days_named("1月2日に初詣", date(2026, 12, 28), within=7) == (date(2027, 1, 2),)

    def test_are_none_of_the_29th_of_february_in_other_years(self) -> None:
        assert days_named("誕生日は2月29日", date(2027, 2, 25), within=7) == ()
        assert days_named("誕生日は2月29日", date(2028, 2, 25), within=7) == (date(2028, 2, 29),)

    @given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.integers(0, 7))
    def test_of_any_year_are_found_in_both_languages(self, today: date, days: int) -> None:
        day = today + timedelta(days=days)
        for text in (f"{day}", f"{day.month}月{day.day}日", f"{day:%b} {day.day}, {day.year}"):
            assert days_named(text, today, within=7) == (day,)

    @given(st.text())
    def test_are_looked_for_in_anything(self, text: str) -> None:
        days_named(text, TODAY, within=7)
