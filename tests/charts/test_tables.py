"""Charts as text, for where there is no picture, and their numbers as their readers count."""

from dataclasses import replace
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.charts.table import format_alike, format_exactly, format_ticks, text_table
from cc_bot.domain.chart import Chart, ChartKind, Series
from cc_bot.domain.kinsoku import balance_lines, width_in_cells
from cc_bot.domain.text import Locale
from tests.charts.charts import chart, several

KINDS: tuple[ChartKind, ...] = get_args(ChartKind)
EAST = {name: [123456789.0] for name in ("東京", "大阪", "福岡")}
TABLES: list[tuple[Chart, str]] = [
    (
        chart("bar", {"りんご": 120.0, "みかん": 60.0, "もも": 10.0}),
        "120 ████████████ りんご\n 60 ██████       みかん\n 10 █            もも",
    ),
    (chart("line", {"札幌": -8.0, "那覇": 16.5}), "  -8 ░░░░░░       札幌\n16.5 ████████████ 那覇"),
    (
        chart("pie", {"家賃": 75000.0, "食費": 24900.0, "本": 100.0}),
        "75,000 75% ████████████ 家賃\n24,900 25% ████         食費\n   100 <1%              本",
    ),
    (chart("pie", {"a": 0.0, "b": 0.0}), "0 0%              a\n0 0%              b"),
    (
        chart("bar", {"駅前の商店街にあるパン屋さん": 8600.0, "コーヒー": 4300.0}),
        "8,600 ████████████ 駅前の商店街\n"
        "                   にあるパン屋\n"
        "                   さん\n"
        "4,300 ██████       コーヒー",
    ),
    (
        several("line", ["1月", "2月"], {"最高気温": [9.8, 10.9], "最低気温": [1.2, -2]}),
        "A 最高気温\nB 最低気温\n   A   B\n 9.8 1.2 1月\n10.9  -2 2月",
    ),
    (
        several("bar", ["売上"], EAST),
        "A 東京\nB 大阪\n          A           B\n123,456,789 123,456,789 売上\n\n福岡\n123,456,789 売上",
    ),
    (replace(chart("bar", {"1月": 3.0}), x_title="月", y_title="円"), "円 / 月\n3 ████████████ 1月"),
    (several("bar", [], {}), ""),
    (several("bar", [], {"値": []}), ""),
]


class TestTable:
    def test_has_numbers_bars_and_labels_as_far_as_there_is_room(self) -> None:
        assert [text_table(what) for what, _ in TABLES] == [shown for _, shown in TABLES]
        series = several("line", ["1月", "2月"], {"最高": [8, 16], "最低": [4, -2]})
        rows = [f" 8 {'█' * 12:24} 1月", f"16 {'█' * 24} 2月"]
        rows = ["最高", *rows, "", "最低", f" 4 {'█' * 6:24} 1月", f"-2 {'░' * 3:24} 2月"]
        assert text_table(series, 72).split("\n") == rows, "bars of one scale, where they have room"
        wide = {"abc": 3, "りんご": 6, "ｱｲｳ": 3, "❤️": 2, "👨‍👩‍👧": 2, "": 0}
        assert {text: width_in_cells(text) for text in wide} == wide

    @given(
        kind=st.sampled_from(KINDS),
        labels=st.lists(st.text("あいウ漢abc 、。ー（）🍎", max_size=40), min_size=1, max_size=62),
        names=st.lists(st.text("系列ab ", max_size=40), min_size=1, max_size=6),
        width=st.integers(32, 80),
        data=st.data(),
    )
    def test_keeps_to_its_width_and_loses_nothing(
        self, kind: ChartKind, labels: list[str], names: list[str], width: int, data: st.DataObject
    ) -> None:
        numbers = st.floats(0, allow_infinity=False)
        values = st.lists(numbers, min_size=len(labels), max_size=len(labels)).map(tuple)
        series = tuple(Series(name, data.draw(values)) for name in names)
        lines = text_table(Chart("c", "t", kind, tuple(labels), series), width).split("\n")
        assert max(map(width_in_cells, lines)) <= width
        said = "".join("".join(lines).split())
        assert all(letter in said for label in labels for letter in label if not letter.isspace())


def test_a_label_ends_its_lines_between_words() -> None:
    labels = {
        ("飛行機（早割）", 10): ["飛行機", "（早割）"],
        ("夜行バスとフェリー", 14): ["夜行バスと", "フェリー"],
        ("インターネット通販サイト", 16): ["インターネット", "通販サイト"],
        ("New York City hall", 12): ["New York", "City hall"],
        ("東京", 40): ["東京"],
    }
    assert {(label, room): balance_lines(label, room, width_in_cells) for label, room in labels} == labels


class TestNumbers:
    def test_are_counted_in_ten_thousands_or_in_thousands_or_told_exactly(self) -> None:
        short = {
            -0.0: ("0", "0"),
            0.0012: ("0.0012", "0.0012"),
            12.345: ("12.35", "12.35"),
            99999: ("99,999", "99,999"),
            123456: ("12.3万", "123K"),
            12500000: ("1,250万", "12.5M"),
            -2.1e8: ("-2.1億", "-210M"),
            3e12: ("3兆", "3T"),
            1e30: ("1e+30", "1e+30"),
        }
        assert {n: tuple(format_alike([n], each)[0] for each in Locale) for n in short} == short
        exact = {1234567: "1,234,567", 0.1 + 0.2: "0.3", 1234.5: "1,234.5", 1e16: "1e+16", -0.0: "0"}
        assert {value: format_exactly(value) for value in exact} == exact

    def test_of_one_chart_have_one_unit_that_suits_the_smallest(self) -> None:
        alike = {
            (165000.0, 60000.0, 0.0): ["16.5万", "6万", "0"],
            (399473427.0, 9543231.7): ["39,947万", "954万"],
            (1200000.0, 30.0, 0.02): ["1,200,000", "30", "0.02"],
            (99999.0, 12.345): ["99,999", "12.35"],
        }
        assert {values: format_alike(values, Locale.JA) for values in alike} == alike

    def test_of_a_scale_have_one_unit_and_as_many_decimals_as_needed(self) -> None:
        scales: dict[tuple[float, ...], tuple[list[str], list[str]]] = {
            (0, 500000, 1000000): (["0", "50万", "100万"], ["0", "0.5M", "1M"]),
            (0.1, 0.15, 0.2): (["0.1", "0.15", "0.2"], ["0.1", "0.15", "0.2"]),
            (0, 5e14, 1e15): (["0", "500兆", "1,000兆"], ["0", "500T", "1,000T"]),
            (): ([], []),
        }
        assert {at: (format_ticks(at, Locale.JA), format_ticks(at, Locale.EN)) for at in scales} == scales
