"""Charts as SVG: well-formed, whole, and with no text over another one."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.charts.svg import chart_svg, width_of
from cc_bot.charts.table import format_exactly
from cc_bot.domain.chart import Chart, ChartKind, Series
from cc_bot.domain.text import Locale
from cc_bot.features.canvas.model import MAX_VALUE
from tests.charts.charts import chart, several

KINDS: list[ChartKind] = ["bar", "line", "pie"]


def drawn(what: Chart, locale: Locale = Locale.JA) -> ET.Element:
    return ET.fromstring(chart_svg(what, locale))


def titles(svg: ET.Element) -> list[str]:
    return [each.text or "" for each in svg.iter("title")]


def check(what: Chart, locale: Locale) -> None:
    svg = drawn(what, locale)
    found = "\n".join(titles(svg)).split("\n")
    for series in what.series:
        for label, value in zip(what.labels, series.values, strict=True):
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
        labels = [(f"{location}番目の" + "とても長い名前の店" * 4)[:40] for location in range(31)]
        rows = {f"{at}系列の名前がながい" * 4: [(at - 2.5) * each for each in range(31)] for at in range(6)}
        for kind in KINDS[:2]:
            check(several(kind, labels, rows), Locale.JA)

    @given(
        kind=st.sampled_from(KINDS),
        labels=st.lists(
            st.text("あいウ漢abW 、。ー（）🍎<&\ufffe", min_size=1, max_size=40) | st.dates().map(str),
            min_size=1,
            max_size=31,
        ),
        names=st.lists(st.text("系列ab W", max_size=40), min_size=1, max_size=6),
        locale=st.sampled_from(Locale),
        data=st.data(),
    )
    def test_is_whole_and_readable(
        self, kind: ChartKind, labels: list[str], names: list[str], locale: Locale, data: st.DataObject
    ) -> None:
        lowest = 0 if kind == "pie" else -MAX_VALUE
        fraction = st.floats(lowest, MAX_VALUE).map(lambda x: round(x, 6))
        number = fraction | st.integers(0, 100).map(float)
        values = st.lists(number, min_size=len(labels), max_size=len(labels)).map(tuple)
        some = names[:1] if kind == "pie" else names
        clean = [label.replace("\ufffe", "\ufffd") for label in labels]
        check(Chart("c", "t", kind, tuple(clean), tuple(Series(n, data.draw(values)) for n in some)), locale)
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
    first, second = (float(each.attrib["x"]) for each in svg.iter("rect") if each.attrib["width"] == "14")
    at = {"".join(each.itertext()): float(each.attrib["x"]) for each in svg.iter("text")}
    assert first + 14 < at["売上"] < at["売上"] + width_of("売上") < second < at["費用"]


def test_small_slices_are_bundled_but_keep_their_titles() -> None:
    what = chart("pie", {f"項目{n}": float(100 - n) for n in range(12)})
    check(what, Locale.JA)
    assert "その他（5件）" in ["".join(each.itertext()) for each in drawn(what).iter("text")]
