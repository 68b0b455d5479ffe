"""Charts are really drawn, and the pixels looked at."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cc_bot.charts import draw
from cc_bot.charts.picture import GROUND
from cc_bot.domain import Locale
from cc_bot.domain.canvas import Chart, ChartKind, Series
from tests.charts.charts import chart, colour, picture, several

FRUIT = {"りんご": 120.0, "みかん": 60.0, "ぶどう": 30.0}
KINDS: list[ChartKind] = ["bar", "line", "pie"]


class TestPicture:
    def test_is_800_by_450_pixels_on_a_ground_of_its_own(self) -> None:
        for kind in KINDS:
            image = picture(chart(kind, FRUIT))
            assert image.size == (800, 450)
            corners = {image.getpixel(at) for at in [(0, 0), (799, 0), (0, 449), (799, 449)]}
            assert corners == {colour(GROUND)}

    def test_of_a_pie_has_the_shares_in_it(self) -> None:
        inside = picture(chart("pie", {"りんご": 1.0})).crop((200, 200, 250, 250))
        assert colour(GROUND) in {inside.getpixel((x, y)) for x in range(50) for y in range(50)}

    @pytest.mark.slow
    def test_is_not_what_is_loaded_with_the_program(self) -> None:
        modules = "cc_bot.charts, cc_bot.app.discord, cc_bot.app.terminal"
        code = f"import sys, {modules}; assert not {{'matplotlib', 'numpy'}} & set(sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


class TestLabels:
    def test_in_japanese_are_written_not_boxed(self) -> None:
        """The box of a missing character would be the same for each."""
        rows = {picture(chart("bar", {label: 1.0})).crop((0, 400, 800, 450)).tobytes() for label in "東京駅"}
        empty = picture(chart("bar", {"": 1.0})).crop((0, 400, 800, 450)).tobytes()
        assert len(rows | {empty}) == 4


class TestWhatCannotBeDrawn:
    def test_is_left_to_the_table(self) -> None:
        for what in (
            *(several("bar", [], {}), several("bar", [], {"値": []}), chart("bar", {"a": float("nan")})),
            *(chart("line", {"a": 1e300, "b": 1.0}), chart("line", {"a": 5e-324, "b": 0.0})),
            *(chart("pie", {"a": 0.0, "b": 0.0}), chart("pie", {"a": -1.0, "b": 2.0})),
            several("pie", ["a"], {"x": [1], "y": [2]}),
            *(chart(kind, {"🍎": 1.0, "みかん": 2.0}) for kind in KINDS),  # an emoji can't be written
        ):
            assert draw(what, Locale.JA) is None, what

    def test_is_everything_where_the_extra_is_not_installed(self) -> None:
        code = (
            "import sys, importlib.util as u; find = u.find_spec\n"
            "sys.modules['matplotlib'] = None\n"
            "from cc_bot.charts import draw; from cc_bot.domain import Locale\n"
            "from cc_bot.domain.canvas import Chart, Series\n"
            "assert draw(Chart('c', 't', 'bar', ('a',), (Series('s', (1.0,)),)), Locale.EN) is None"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

    @pytest.mark.slow
    @settings(max_examples=60, deadline=None)
    @given(
        kind=st.sampled_from(KINDS),
        labels=st.lists(st.text(max_size=40), min_size=1, max_size=31),
        names=st.lists(st.text(max_size=40), min_size=1, max_size=6),
        data=st.data(),
    )
    def test_is_the_only_thing_that_is_not_a_picture(
        self, kind: ChartKind, labels: list[str], names: list[str], data: st.DataObject
    ) -> None:
        """Whatever a model may ask for: a PNG or None, no error and no warning."""
        number = st.floats(allow_nan=False, allow_infinity=False) | st.floats(-1e6, 1e6) | st.integers(0, 100)
        values = st.lists(number.map(float), min_size=len(labels), max_size=len(labels)).map(tuple)
        series = tuple(Series(name, data.draw(values)) for name in names)
        png = draw(Chart("c", "t", kind, tuple(labels), series), Locale.EN)
        assert png is None or png.startswith(b"\x89PNG")
