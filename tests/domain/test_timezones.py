"""Time zones as people name them."""

from zoneinfo import available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.timezones import suggest_zones, zone_of


class TestAWord:
    @pytest.mark.parametrize(
        ("typed", "zone"),
        [
            *(
                (word, "Asia/Tokyo")
                for word in ("東京", "日本", "にほん", "とうきょう", "トウキョウ", "JST", "ｊｓｔ")
            ),
            *((word, "Asia/Tokyo") for word in ("Tokyo", " japan ", "asia/tokyo", "大阪")),
            *(
                ("ソウル", "Asia/Seoul"),
                ("韓国", "Asia/Seoul"),
                ("台湾", "Asia/Taipei"),
                ("台北", "Asia/Taipei"),
            ),
            *(("上海", "Asia/Shanghai"), ("中国", "Asia/Shanghai"), ("香港", "Asia/Hong_Kong")),
            *(("シンガポール", "Asia/Singapore"), ("Singapore", "Asia/Singapore"), ("タイ", "Asia/Bangkok")),
            *(("ハワイ", "Pacific/Honolulu"), ("ロサンゼルス", "America/Los_Angeles")),
            *(
                ("ニューヨーク", "America/New_York"),
                ("アメリカ", "America/New_York"),
                ("new york", "America/New_York"),
            ),
            *(("イギリス", "Europe/London"), ("フランス", "Europe/Paris"), ("ドイツ", "Europe/Berlin")),
            *(("シドニー", "Australia/Sydney"), ("UTC", "UTC"), ("GMT", "UTC"), ("CET", "Europe/Berlin")),
            *(
                ("GMT+9", "Asia/Tokyo"),
                ("utc+9", "Asia/Tokyo"),
                ("＋９", "Asia/Tokyo"),
                ("+09:00", "Asia/Tokyo"),
            ),
            *(
                (typed, "Asia/Tokyo")
                for typed in ("+09", "+9", "+9:00", "+0900", "+900", "UTC+9", "GMT+09:00")
            ),
            *(("沖縄", "Asia/Tokyo"), ("北海道", "Asia/Tokyo")),
            *(("PDT", "America/Los_Angeles"), ("EST", "America/New_York"), ("kathmandu", "Asia/Kathmandu")),
        ],
    )
    def test_names_the_zone_that_is_meant(self, typed: str, zone: str) -> None:
        assert zone_of(typed) == zone

    @pytest.mark.parametrize(
        "typed",
        [
            *("江戸", "Asia", "", "../../etc/passwd", "Asia/Edo", "GMT-9", "+8", "+9:30", "UTC-09:00"),
            *(
                "+90",
                "+090",
                "+9000",
                "UTC+90",
                "+90:00",
                "+009",
                "-0330",
                "-9",
                "+14",
                "+15",
                "+0",
                "++9",
                "+",
            ),
        ],
    )
    def test_that_names_none_stays_as_it_is(self, typed: str) -> None:
        assert zone_of(typed) == typed

    def test_in_the_table_names_zones_that_there_are_and_each_name_of_iana_stays_itself(self) -> None:
        offered = suggest_zones("")
        assert len(offered) == len(set(offered))
        assert all(zone_of(zone) == zone for zone in available_timezones() if "/" in zone)

    @pytest.mark.parametrize("typed", ["", "gmt", "GMT+9", "+9", "Factory"])
    def test_never_offers_the_zones_that_are_named_the_wrong_way_round(self, typed: str) -> None:
        offered = suggest_zones(typed)
        assert not [zone for zone in offered if "GMT+" in zone or "GMT-" in zone or zone == "Factory"]

    @given(st.text(max_size=64))
    def test_may_be_anything(self, typed: str) -> None:
        assert set(suggest_zones(typed)) <= available_timezones()
        zone_of(typed)


class TestAnOffer:
    def test_without_a_word_begins_with_the_users_own_and_tokyo(self) -> None:
        assert suggest_zones("", "Europe/Paris")[:2] == ["Europe/Paris", "Asia/Tokyo"]
        assert suggest_zones("", "Asia/Tokyo")[:2] == ["Asia/Tokyo", "Asia/Seoul"]
        assert suggest_zones("  ")[0] == "Asia/Tokyo"

    @pytest.mark.parametrize(
        ("typed", "first"),
        [
            ("とう", ["Asia/Tokyo"]),
            ("アメリカ", ["America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"]),
            ("カナダ", ["America/Toronto", "America/Vancouver"]),
            ("lond", ["Europe/London"]),
            ("new y", ["America/New_York"]),
        ],
    )
    def test_has_the_likeliest_first(self, typed: str, first: list[str]) -> None:
        assert suggest_zones(typed)[: len(first)] == first
