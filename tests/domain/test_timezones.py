"""Time zones as people name them."""

from zoneinfo import available_timezones

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.timezones import suggest_zones, zone_of
from tests.domain.phrases import phrases

NAMES = {
    "Asia/Tokyo": """
東京 | 日本 | にほん | とうきょう | トウキョウ | JST | ｊｓｔ | Tokyo | japan | asia/tokyo | 大阪 | GMT+9
utc+9 | ＋９ | +09:00 | +09 | +9 | +9:00 | +0900 | +900 | UTC+9 | GMT+09:00 | 沖縄 | 北海道
""",
    "Asia/Seoul": "ソウル | 韓国",
    "Asia/Taipei": "台湾 | 台北",
    "Asia/Shanghai": "上海 | 中国",
    "Asia/Hong_Kong": "香港",
    "Asia/Singapore": "シンガポール | Singapore",
    "Asia/Bangkok": "タイ",
    "Pacific/Honolulu": "ハワイ",
    "America/Los_Angeles": "ロサンゼルス | PDT",
    "America/New_York": "ニューヨーク | アメリカ | new york | EST",
    "Europe/London": "イギリス",
    "Europe/Paris": "フランス",
    "Europe/Berlin": "ドイツ | CET",
    "Australia/Sydney": "シドニー",
    "UTC": "UTC | GMT",
    "Asia/Kathmandu": "kathmandu",
}
NO_NAMES = [
    "",
    *phrases(
        "江戸 | Asia | ../../etc/passwd | Asia/Edo | GMT-9 | +8 | +9:30 | UTC-09:00 | +90 | +090 | +9000"
    ),
    *phrases("UTC+90 | +90:00 | +009 | -0330 | -9 | +14 | +15 | +0 | ++9 | +"),
]


class TestAWord:
    def test_names_the_zone_that_is_meant_or_stays_as_it_is(self) -> None:
        expected = {name: zone for zone, names in NAMES.items() for name in phrases(names)}
        assert {name: zone_of(name) for name in expected} == expected
        assert zone_of(" japan ") == "Asia/Tokyo"
        assert {typed: zone_of(typed) for typed in NO_NAMES} == {typed: typed for typed in NO_NAMES}
        offered = suggest_zones("")
        assert len(offered) == len(set(offered))
        assert all(zone_of(zone) == zone for zone in available_timezones() if "/" in zone)

    @given(st.text(max_size=64))
    def test_may_be_anything(self, typed: str) -> None:
        assert set(suggest_zones(typed)) <= available_timezones()
        zone_of(typed)


class TestAnOffer:
    def test_has_the_likeliest_first_and_none_that_is_named_the_wrong_way_round(self) -> None:
        assert suggest_zones("", "Europe/Paris")[:2] == ["Europe/Paris", "Asia/Tokyo"]
        assert suggest_zones("", "Asia/Tokyo")[:2] == ["Asia/Tokyo", "Asia/Seoul"]
        assert suggest_zones("  ")[0] == "Asia/Tokyo"
        likeliest = {
            "とう": ["Asia/Tokyo"],
            "アメリカ": ["America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"],
            "カナダ": ["America/Toronto", "America/Vancouver"],
            "lond": ["Europe/London"],
            "new y": ["America/New_York"],
        }
        assert {typed: suggest_zones(typed)[: len(first)] for typed, first in likeliest.items()} == likeliest
        offered = {zone for typed in ("", "gmt", "GMT+9", "+9", "Factory") for zone in suggest_zones(typed)}
        assert not [zone for zone in offered if "GMT+" in zone or "GMT-" in zone or zone == "Factory"]
