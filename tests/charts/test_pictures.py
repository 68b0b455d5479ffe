"""Charts are really drawn, and the pixels looked at."""

import sys
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cc_bot.charts.png import GROUND, PICTURE_WIDTH, draw_png
from cc_bot.domain.chart import MAX_VALUE, Chart, ChartKind, Series
from cc_bot.domain.text import Locale
from tests.charts.charts import chart, colour, picture

FRUIT = {"りんご": 120.0, "みかん": 60.0, "ぶどう": 30.0}
KINDS: tuple[ChartKind, ...] = get_args(ChartKind)


class TestPicture:
    def test_is_four_by_three_on_a_ground_of_its_own_and_has_a_colour_for_each_series(self) -> None:
        for kind in KINDS:
            image = picture(chart(kind, FRUIT))
            assert image.size == (PICTURE_WIDTH, PICTURE_WIDTH * 3 // 4)
            right, low = image.width - 1, image.height - 1
            corners = {image.getpixel(at) for at in [(0, 0), (right, 0), (0, low), (right, low)]}
            assert corners == {colour(GROUND)}
            assert colour("#56B4E9") in image.get_flattened_data()

    def test_writes_each_label_and_the_names_of_emoji_without_a_font_for_them(self) -> None:
        """The box of a missing character would be the same for each."""
        labels = ("東", "京", "駅", "", "🍎", "(red apple)", "👍🏽", "(thumbs up sign)")
        charts = {label: chart("bar", {label: 1.0, "x": 2.0}) for label in labels}
        drawn = {label: draw_png(what, Locale.JA, emoji_fonts=()) for label, what in charts.items()}
        assert drawn["🍎"] == drawn["(red apple)"]
        assert drawn["👍🏽"] == drawn["(thumbs up sign)"]
        assert len(set(drawn.values())) == 6

    def test_is_none_without_a_glyph_of_a_letter_and_without_the_extra(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for kind in KINDS:
            assert draw_png(chart(kind, {"ไทย": 1.0, "みかん": 2.0}), Locale.JA) is None
        monkeypatch.setattr(sys, "path", [])
        monkeypatch.delitem(sys.modules, "resvg_py", raising=False)
        assert draw_png(chart("bar", FRUIT), Locale.JA) is None

    @pytest.mark.slow
    @settings(max_examples=60, deadline=None)
    @given(
        kind=st.sampled_from(KINDS),
        labels=st.lists(st.text(max_size=40), min_size=1, max_size=62),
        names=st.lists(st.text(max_size=40), min_size=1, max_size=6),
        data=st.data(),
    )
    def test_or_none_is_all_that_comes_of_whatever_a_model_asks_for(
        self, kind: ChartKind, labels: list[str], names: list[str], data: st.DataObject
    ) -> None:
        number = st.floats(-MAX_VALUE, MAX_VALUE) | st.floats(-1e6, 1e6) | st.integers(0, 100)
        values = st.lists(number.map(float), min_size=len(labels), max_size=len(labels)).map(tuple)
        series = tuple(Series(name, data.draw(values)) for name in names)
        png = draw_png(Chart("c", "t", kind, tuple(labels), series), Locale.EN)
        assert png is None or png.startswith(b"\x89PNG")
