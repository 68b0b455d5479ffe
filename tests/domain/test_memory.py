"""What a memory's text, category, tags and last day become before they are kept."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.errors import (
    EmptyMemory,
    EndNotUnderstood,
    EndPassed,
    InputError,
    MemoryTooLong,
    NoSuchTime,
    WhenTooFar,
)
from cc_bot.domain.memory import clean_category, clean_content, parse_end, parse_tags, write_end
from tests.domain.phrases import meanings, refused_otherwise, this_year

TOKYO = ZoneInfo("Asia/Tokyo")
SUNDAY = datetime(2026, 11, 22, 10, 30, tzinfo=TOKYO)
ENDS = meanings(
    """
2026-12-31 → 2027-01-01 00:00 | 2026/12/31 → 2027-01-01 00:00 | 2026.12.31 → 2027-01-01 00:00
2026年12月31日 → 2027-01-01 00:00 | ２０２６年１２月３１日 → 2027-01-01 00:00
2026-12-31 → 2027-01-01 00:00 | 12月31日 → 2027-01-01 00:00 | 12/31 → 2027-01-01 00:00
12-31 → 2027-01-01 00:00 | 12月31日まで → 2027-01-01 00:00 | 31日 → 2027-01-01 00:00
大晦日 → 2027-01-01 00:00 | 年末 → 2027-01-01 00:00 | 年内 → 2027-01-01 00:00
今年いっぱい → 2027-01-01 00:00 | 来月末 → 2027-01-01 00:00 | 来月いっぱい → 2027-01-01 00:00
令和8年12月31日 → 2027-01-01 00:00 | Dec 31 → 2027-01-01 00:00 | until dec 31, 2026 → 2027-01-01 00:00
今日 → 11-23 00:00 | 今日中 → 11-23 00:00 | today → 11-23 00:00 | 日曜 → 11-23 00:00 | 今週中 → 11-23 00:00
今週末 → 11-23 00:00 | 明日 → 11-24 00:00 | 明日まで → 11-24 00:00 | tomorrow → 11-24 00:00
来週の金曜 → 11-28 00:00 | next friday → 11-28 00:00 | 3日後 → 11-26 00:00 | in 3 days → 11-26 00:00
1週間 → 11-30 00:00 | 3か月 → 2027-02-23 00:00 | for 2 weeks → 12-07 00:00 | 今月末 → 12-01 00:00
成人の日 → 2027-01-12 00:00 | 2年後 → 2028-11-23 00:00 | 明日9時 → 11-23 09:00 | 3時間後 → 11-22 13:30
あと5分 → 11-22 10:35 | 2026-12-01T18:00 → 12-01 18:00 | tomorrow at 6pm → 11-23 18:00
"""
)
"""In 2026 where there is no year."""
NO_ENDS: dict[type[InputError], str] = {
    EndNotUnderstood: "soon | そのうち | 毎週 | 9999-12-31 | 0 | 明日と明後日",
    NoSuchTime: "2026-13-01 | 2026-02-30 | 2月30日 | 25:99",
    EndPassed: "2026-11-21 | 昨日 | 今週の金曜 | 2020年1月1日 | 2026-11-22T10:00",
    WhenTooFar: "20年後",
}


class TestContent:
    def test_loses_the_white_space_around_it_and_no_other(self) -> None:
        assert clean_content("\u3000 一行目\n\n二行目 \n") == "一行目\n\n二行目"

    def test_must_be_something(self) -> None:
        for content in ("", " \n\u3000", "\u200b\u2060", "\u3164", "\U000e0041"):
            with pytest.raises(EmptyMemory):
                clean_content(content)

    def test_may_have_4000_characters_and_no_more(self) -> None:
        assert len(clean_content("あ" * 4000 + " ")) == 4000
        with pytest.raises(MemoryTooLong) as refusal:
            clean_content("あ" * 4001)
        assert refusal.value.params == {"limit": 4000, "length": 4001}


class TestCategory:
    def test_is_one_line_or_general_when_there_is_none(self) -> None:
        assert [clean_category(each) for each in (None, "", " \n ")] == ["general"] * 3
        assert clean_category(" 仕事\u3000の\nこと ") == "仕事 の こと"

    @given(st.text())
    def test_is_short_and_cleaning_it_again_changes_nothing(self, text: str) -> None:
        cleaned = clean_category(text)
        assert 0 < len(cleaned) <= 50
        assert clean_category(cleaned) == cleaned


def test_tags_are_parted_by_commas_and_white_space_and_twenty_at_most() -> None:
    expected = {
        "work, home": ("work", "home"),
        "仕事、家庭，趣味": ("仕事", "家庭", "趣味"),
        "#旅行\u3000＃食べ物 #": ("旅行", "食べ物"),
        "a a b a": ("a", "b"),
        None: (),
        " , 、": (),
    }
    assert {text: parse_tags(text) for text in expected} == expected
    assert len(parse_tags(" ".join(map(str, range(30))))) == 20


class TestAnEnd:
    def test_is_the_end_of_that_day_where_the_user_is_or_the_time_that_is_written(self) -> None:
        found = {written: parse_end(written, SUNDAY, TOKYO) for written in ENDS}
        told = {text: end and end.astimezone(TOKYO).strftime("%Y-%m-%d %H:%M") for text, end in found.items()}
        assert told == {written: this_year(end) for written, end in ENDS.items()}

    def test_may_be_left_out(self) -> None:
        assert [parse_end(written, SUNDAY, TOKYO) for written in (None, "", "  ")] == [None] * 3

    def test_that_is_none_or_is_over_is_refused(self) -> None:
        assert refused_otherwise(NO_ENDS, lambda text: parse_end(text, SUNDAY, TOKYO)) == {}
        with pytest.raises(EndNotUnderstood):
            parse_end("あ" * 300, SUNDAY, TOKYO)

    @given(
        st.dates(date(1990, 1, 1), date(2200, 1, 1)),
        st.sampled_from(["Asia/Tokyo", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "UTC"]),
    )
    def test_is_written_as_it_is_read(self, day: date, zone: str) -> None:
        before = datetime(1980, 1, 1, tzinfo=UTC)
        end = parse_end(day.isoformat(), before, ZoneInfo(zone))
        assert write_end(end, ZoneInfo(zone)) == day.isoformat()
