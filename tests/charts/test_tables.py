"""Charts as text, for where there is no picture."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.charts import table
from cc_bot.charts.labels import balance, cells, wrap_label
from cc_bot.domain.canvas import Chart, ChartKind, Series
from tests.charts.charts import chart, several

KINDS: list[ChartKind] = ["bar", "line", "pie"]


class TestOneSeries:
    def test_has_a_bar_for_each_number_before_its_label(self) -> None:
        assert table(chart("bar", {"りんご": 120.0, "みかん": 60.0, "もも": 10.0})) == (
            "120 ████████████ りんご\n 60 ██████       みかん\n 10 █            もも"
        )

    def test_has_hollow_bars_below_zero(self) -> None:
        assert table(chart("line", {"札幌": -8.0, "那覇": 16.5})) == (
            "  -8 ░░░░░░       札幌\n16.5 ████████████ 那覇"
        )

    def test_of_a_pie_tells_the_shares(self) -> None:
        assert table(chart("pie", {"家賃": 75000.0, "食費": 24900.0, "本": 100.0})) == (
            "75,000 75% ████████████ 家賃\n24,900 25% ████         食費\n   100 <1%              本"
        )

    def test_without_anything_in_it_has_no_bars_to_compare(self) -> None:
        assert table(chart("pie", {"a": 0.0, "b": 0.0})) == ("0 0%              a\n0 0%              b")

    def test_wraps_a_long_label_below_itself(self) -> None:
        assert table(chart("bar", {"駅前の商店街にあるパン屋さん": 8600.0, "コーヒー": 4300.0})) == (
            "8,600 ████████████ 駅前の商店街\n"
            "                   にあるパン屋\n"
            "                   さん\n"
            "4,300 ██████       コーヒー"
        )

    def test_with_long_numbers_goes_without_bars(self) -> None:
        assert table(chart("bar", {"東京": 123456789012345.0, "大阪": -98765432109.5})) == (
            "123,456,789,012,345 東京\n    -98,765,432,110 大阪"
        )


class TestSeveralSeries:
    def test_stand_side_by_side_below_letters(self) -> None:
        shown = table(several("line", ["1月", "2月"], {"最高気温": [9.8, 10.9], "最低気温": [1.2, -2]}))
        assert shown == ("A 最高気温\nB 最低気温\n   A   B\n 9.8 1.2 1月\n10.9  -2 2月")

    def test_that_do_not_fit_side_by_side_go_on_below(self) -> None:
        series = {name: [123456789.0] for name in ("東京", "大阪", "福岡")}
        assert table(several("bar", ["売上"], series)) == (
            "A 東京\nB 大阪\n          A           B\n123,456,789 123,456,789 売上\n\n福岡\n123,456,789 売上"
        )


class TestEveryTable:
    def test_of_nothing_is_empty(self) -> None:
        assert table(several("bar", [], {})) == ""
        assert table(several("bar", [], {"値": []})) == ""

    @given(
        kind=st.sampled_from(KINDS),
        labels=st.lists(st.text("あいウ漢abc 、。ー（）🍎", max_size=40), min_size=1, max_size=24),
        names=st.lists(st.text("系列ab ", max_size=40), min_size=1, max_size=6),
        width=st.integers(32, 80),
        data=st.data(),
    )
    def test_keeps_to_its_width_and_loses_nothing(
        self, kind: ChartKind, labels: list[str], names: list[str], width: int, data: st.DataObject
    ) -> None:
        values = st.lists(st.floats(0, allow_infinity=False), min_size=len(labels), max_size=len(labels)).map(
            tuple
        )
        series = tuple(Series(name, data.draw(values)) for name in names)
        lines = table(Chart("c", "t", kind, tuple(labels), series), width).split("\n")
        assert max(map(cells, lines)) <= width
        said = "".join("".join(lines).split())
        assert all(letter in said for label in labels for letter in label if not letter.isspace())

    @pytest.mark.parametrize(
        ("text", "wide"), [("abc", 3), ("りんご", 6), ("ｱｲｳ", 3), ("❤️", 2), ("👨‍👩‍👧", 2), ("", 0)]
    )
    def test_measures_japanese_as_a_terminal_does(self, text: str, wide: int) -> None:
        assert cells(text) == wide


class TestLines:
    @pytest.mark.parametrize(
        ("label", "room", "lines"),
        [
            ("飛行機（早割）", 10, ["飛行機", "（早割）"]),
            ("夜行バスとフェリー", 14, ["夜行バスと", "フェリー"]),
            ("インターネット通販サイト", 16, ["インターネット", "通販サイト"]),
            ("New York City hall", 12, ["New York", "City hall"]),
            ("東京", 40, ["東京"]),
        ],
    )
    def test_end_between_words(self, label: str, room: int, lines: list[str]) -> None:
        assert balance(label, room, cells) == lines

    @pytest.mark.parametrize("sign", ["。", "…", "ゝ", "ヶ", "ㇰ", "’"])
    def test_begin_with_nothing_that_belongs_to_the_one_before(self, sign: str) -> None:
        assert wrap_label(f"漢字{sign}漢字", 4, cells) == ["漢", f"字{sign}", "漢字"]

    @given(st.text("あいウ漢ab 、ー（）", max_size=40), st.integers(4, 30))
    def test_that_are_balanced_are_as_few_and_hold_the_same(self, label: str, room: int) -> None:
        plain, even = wrap_label(label, room, cells), balance(label, room, cells)
        assert len(even) <= len(plain)
        assert "".join("".join(even).split()) == "".join(label.split())
        assert all(cells(line) <= room for line in even)
