"""Charts as SVG: well-formed, whole, and with no text over another one."""

from dataclasses import replace
from itertools import pairwise
from typing import get_args
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.charts.svg import PAGE_LAYOUTS, PICTURE_LAYOUT, Layout, chart_html, chart_svg, width_of
from cc_bot.charts.table import format_exactly
from cc_bot.domain.chart import MAX_VALUE, Chart, ChartKind, Series
from cc_bot.domain.text import Locale
from cc_bot.texts import texts
from cc_bot.texts.answer import ChartTexts
from tests.charts.charts import chart, several

KINDS: tuple[ChartKind, ...] = get_args(ChartKind)
LAYOUTS = (*PAGE_LAYOUTS, PICTURE_LAYOUT)


def drawn(what: Chart, locale: Locale = Locale.JA, layout: Layout = PAGE_LAYOUTS[0]) -> ET.Element:
    return ET.fromstring(chart_svg(what, locale, layout))


def words(svg: ET.Element) -> list[str]:
    return [each.text or "" for each in svg.iter("text")]


def across(part: ET.Element, name: str = "x") -> float:
    """A share of the width."""
    return float(part.attrib[name].removesuffix("%")) / 100


def titles(svg: ET.Element) -> list[str]:
    return [each.text or "" for each in svg.iter("title")]


def check(what: Chart, locale: Locale, layout: Layout = PAGE_LAYOUTS[0]) -> None:
    svg = drawn(what, locale, layout)
    found = "\n".join(titles(svg)).split("\n")
    note = texts(locale)[ChartTexts].first_rows.format(count=12, total=len(what.labels))
    count = 12 if note in words(svg) else None
    for series in what.series:
        for label, value in zip(what.labels[:count], series.values[:count], strict=True):
            name = f"{label} / {series.name}" if len(what.series) > 1 else label
            assert f"{name}: {format_exactly(value)}" in found
    for each in svg.iter():
        assert each.tag not in {"style", "script", "foreignObject", "a", "image", "use"}
        assert not {name for name in each.attrib if name == "style" or name.startswith("on")}


class TestChart:
    def test_has_nothing_of_its_words_as_markup(self) -> None:
        evil = '"><script>alert(1)</script>'
        twice = (Series(evil, (1.0,)), Series(evil, (2.0,)))
        svg = chart_svg(Chart(evil, evil, "bar", (evil,), twice), Locale.EN)
        assert "<script" not in svg
        assert evil in titles(ET.fromstring(svg))

    def test_of_extremes_is_whole(self) -> None:
        """Zeros, the largest numbers, and as many long names as there may be."""
        check(chart("bar", {"一": 0.0, "二": 0.0}), Locale.JA)
        largest = several(
            "bar", ["札幌", "那覇"], {"入": [MAX_VALUE, -MAX_VALUE], "出": [MAX_VALUE - 1, 1e-300]}
        )
        check(largest, Locale.EN)
        labels = [(f"{location}番目の" + "とても長い名前の店" * 4)[:40] for location in range(62)]
        rows = {f"{at}系列の名前がながい" * 4: [(at - 2.5) * each for each in range(62)] for at in range(6)}
        for kind in KINDS[:-1]:
            for layout in LAYOUTS:
                check(several(kind, labels, rows), Locale.JA, layout)

    @given(
        kind=st.sampled_from(KINDS),
        labels=st.lists(
            st.text("あいウ漢abW 、。ー（）🍎<&\ufffe", min_size=1, max_size=40) | st.dates().map(str),
            min_size=1,
            max_size=62,
        ),
        names=st.lists(st.text("系列ab W", max_size=40), min_size=1, max_size=6),
        locale=st.sampled_from(Locale),
        layout=st.sampled_from(LAYOUTS),
        data=st.data(),
    )
    def test_is_whole_and_readable(
        self,
        kind: ChartKind,
        labels: list[str],
        names: list[str],
        locale: Locale,
        layout: Layout,
        data: st.DataObject,
    ) -> None:
        lowest = 0 if kind == "pie" else -MAX_VALUE
        fraction = st.floats(lowest, MAX_VALUE).map(lambda x: round(x, 6))
        number = fraction | st.integers(0, 100).map(float)
        values = st.lists(number, min_size=len(labels), max_size=len(labels)).map(tuple)
        some = names[:1] if kind == "pie" else names
        clean = [label.replace("\ufffe", "\ufffd") for label in labels]
        series = tuple(Series(name, data.draw(values)) for name in some)
        check(Chart("c", "t", kind, tuple(clean), series), locale, layout)
        ET.fromstring(
            chart_svg(Chart("c", labels[0], "bar", tuple(labels[:1]), (Series("", (1.0,)),)), locale)
        )


class TestBars:
    def test_begin_at_zero_and_are_as_long_as_their_numbers(self) -> None:
        bars = list(drawn(chart("bar", {"a": 10.0, "b": 5.0, "c": -5.0})).iter("rect"))
        heights = [float(bar.attrib["height"]) for bar in bars]
        assert heights[0] == pytest.approx(2 * heights[1], abs=0.2)
        assert heights[1] == pytest.approx(heights[2], abs=0.2)
        zero = float(bars[0].attrib["y"]) + heights[0]
        assert float(bars[2].attrib["y"]) == pytest.approx(zero, abs=0.2)


def test_names_of_series_stand_side_by_side() -> None:
    svg = drawn(several("bar", ["一月"], {"売上": [1], "費用": [2]}))
    width = PAGE_LAYOUTS[0].width
    first, second = (across(each) * width for each in svg.iter("rect") if each.attrib["width"] == "16")
    at = {each.text: across(each) * width + float(each.attrib.get("dx", "0")) for each in svg.iter("text")}
    assert first + 16 < at["売上"] < at["売上"] + width_of("売上") < second < at["費用"]


def test_small_slices_are_bundled_but_keep_their_titles() -> None:
    what = chart("pie", {f"項目{n}": float(100 - n) for n in range(12)})
    check(what, Locale.JA)
    assert "その他（6件）" in ["".join(each.itertext()) for each in drawn(what).iter("text")]


class TestText:
    def test_is_not_stretched_with_the_drawing_for_a_narrow_or_a_wide_column(self) -> None:
        page = ET.fromstring(chart_html(chart("line", {"1月": 3.0, "2月": 4.0}), Locale.JA))
        assert [each.attrib["width"] for each in page] == ["100%"] * len(PAGE_LAYOUTS)
        stretched = [each for each in page.iter("svg") if "viewBox" in each.attrib]
        assert stretched
        assert not [text for each in stretched for text in each.iter("text")]
        assert len({each.attrib["aria-labelledby"] for each in page}) == len(PAGE_LAYOUTS)

    def test_names_the_picture_and_both_axes_or_a_single_series(self) -> None:
        titled = replace(chart("bar", {"1月": 3.0, "2月": 4.0}), x_title="月", y_title="円")
        assert words(drawn(titled, layout=PICTURE_LAYOUT))[0] == "題"
        assert {"月", "円"} <= set(words(drawn(titled)))
        assert "値" in words(drawn(replace(titled, y_title="")))

    def test_of_many_days_is_that_of_every_second_or_third_day(self) -> None:
        days = [f"{1 + at // 31}/{1 + at % 31}" for at in range(62)]
        for layout in LAYOUTS:
            shown = words(drawn(several("bar", days, {"歩": range(62)}), layout=layout))
            places = [days.index(each) for each in shown if each in days]
            assert len({after - before for before, after in pairwise(places)}) == 1

    def test_of_a_value_axis_has_even_steps(self) -> None:
        for kind in KINDS[:-1]:
            ticks = words(drawn(several(kind, ["1", "2"], {"a": [0, 130e6], "b": [1, 2]})))
            assert [each for each in ticks if each.endswith("億")] == ["0.5億", "1億", "1.5億"]


def test_an_axis_that_does_not_begin_at_zero_is_marked() -> None:
    note = texts(Locale.JA)[ChartTexts].cut_axis
    weights = {"1月": 71.0, "2月": 70.0}
    assert {kind: note in titles(drawn(chart(kind, weights))) for kind in KINDS} == {
        **dict.fromkeys(KINDS, False),
        "line": True,
        "scatter": True,
    }


def test_too_many_bars_are_lines_or_the_first_rows_and_say_so() -> None:
    words_of = texts(Locale.JA)[ChartTexts]
    days = [f"{1 + at // 31}/{1 + at % 31}" for at in range(62)]
    rows = {f"系列{at}": range(62) for at in range(6)}
    lines = drawn(several("bar", days, rows))
    assert words_of.bars_as_lines in words(lines)
    assert len([each for each in lines.iter("path") if "chart-line" in each.attrib["class"]]) == 2 * len(rows)
    names = [f"{at}番目に大きなお店です" for at in range(10, 72)]
    assert words_of.first_rows.format(count=12, total=62) in words(
        drawn(several("bar", names, rows), layout=PICTURE_LAYOUT)
    )
    bars = [each for each in drawn(several("bar", names, rows)).iter("rect") if list(each)]
    assert len(bars) == 62 * 6


def test_numbers_stand_at_bars_on_stacks_and_at_the_ends_of_lines() -> None:
    series = {"本店": [12.5, 3.5], "駅前店": [7.5, 9.5]}
    written_by_kind: dict[ChartKind, str] = {"bar": "12.5 3.5 7.5 9.5", "stacked": "20 13", "line": "3.5 9.5"}
    for kind, numbers in written_by_kind.items():
        written = words(drawn(several(kind, ["一月", "二月"], series), layout=PAGE_LAYOUTS[1]))
        assert set(numbers.split()) <= set(written), kind


def test_stacked_bars_and_areas_stand_on_each_other() -> None:
    both = {"a": [10.0, 20.0], "b": [5.0, 5.0]}
    bars = [each for each in drawn(several("stacked", ["x", "y"], both)).iter("rect") if list(each)]
    first, second = bars[0], bars[2]
    assert float(second.attrib["y"]) + float(second.attrib["height"]) < float(first.attrib["y"])
    assert first.attrib["x"] == second.attrib["x"]
    paths = drawn(several("area", ["x", "y"], both)).iter("path")
    lower, upper = (
        each.attrib["d"].strip("MZ").split("L") for each in paths if "fill-opacity" in each.attrib
    )
    assert upper[2:] == lower[1::-1]


def test_one_bar_is_no_wall_and_a_pie_has_per_cents_in_one_unit() -> None:
    [bar] = drawn(chart("bar", {"今月": 5.0})).iter("rect")
    assert across(bar, "width") < 0.2
    shown = words(drawn(chart("pie", {"家賃": 165000.0, "食費": 60000.0, "本": 60000.0})))
    assert {"58%", "21%", "16.5万 (58%)", "6万 (21%)"} <= set(shown)
