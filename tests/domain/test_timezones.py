"""Time zones as people name them."""

from zoneinfo import available_timezones

from cc_bot.domain.clock import suggest_zones, zone_name_for_word
from tests.domain.phrases import phrases

NAMES = """
Asia/Tokyo = 東京 | 日本 | にほん | とうきょう | トウキョウ | JST | ｊｓｔ | Tokyo | japan | asia/tokyo | 大阪
Asia/Tokyo = GMT+9 | utc+9 | ＋９ | +09:00 | +09 | +9 | +9:00 | +0900 | +900 | UTC+9 | GMT+09:00 | 沖縄
Asia/Seoul = ソウル | 韓国
Asia/Taipei = 台湾 | 台北
America/Los_Angeles = ロサンゼルス | PDT
America/New_York = ニューヨーク | アメリカ | new york | EST
Europe/London = イギリス
Europe/Berlin = ドイツ | CET
UTC = UTC | GMT
Asia/Kathmandu = kathmandu
"""
NO_NAMES = phrases(
    """
江戸 | Asia | ../../etc/passwd | Asia/Edo | GMT-9 | +8 | +9:30 | UTC-09:00 | +90 | +090 | +9000 | UTC+90
+90:00 | +009 | -0330 | -9 | +14 | +15 | +0 | ++9 | +
"""
)


class TestAWord:
    def test_names_the_zone_that_is_meant_or_stays_as_it_is(self) -> None:
        rows = (line.split(" = ") for line in NAMES.strip().splitlines())
        expected = {name: zone for zone, names in rows for name in phrases(names)}
        assert {name: zone_name_for_word(name) for name in expected} == expected
        assert zone_name_for_word(" japan ") == "Asia/Tokyo"
        assert {typed: zone_name_for_word(typed) for typed in NO_NAMES} == {
            typed: typed for typed in NO_NAMES
        }
        offered = suggest_zones("")
        assert len(offered) == len(set(offered))
        assert all(zone_name_for_word(zone) == zone for zone in available_timezones() if "/" in zone)


class TestAnOffer:
    def test_has_the_likeliest_first_and_none_that_is_named_the_wrong_way_round(self) -> None:
        assert suggest_zones("", "Europe/Paris")[:2] == ["Europe/Paris", "Asia/Tokyo"]
        assert suggest_zones("  ")[0] == "Asia/Tokyo"
        likeliest = {
            "とう": ["Asia/Tokyo"],
            "アメリカ": ["America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"],
            "new y": ["America/New_York"],
        }
        assert {typed: suggest_zones(typed)[: len(first)] for typed, first in likeliest.items()} == likeliest
        offered = {zone for typed in ("", "gmt", "GMT+9", "+9", "Factory") for zone in suggest_zones(typed)}
        assert not [zone for zone in offered if "GMT+" in zone or "GMT-" in zone or zone == "Factory"]
