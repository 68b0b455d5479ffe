"""Charts are really drawn, and the pixels looked at."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cc_bot.charts import draw
from cc_bot.charts.picture import GROUND, INK, SERIES, SLICES, SOFT
from cc_bot.domain import Locale
from cc_bot.domain.canvas import Chart, ChartKind, Series
from tests.charts.charts import chart, colour, ink, picture, runs, several

FRUIT = {"りんご": 120.0, "みかん": 60.0, "ぶどう": 30.0}
KINDS: list[ChartKind] = ["bar", "line", "pie"]


def luminance(code: str) -> float:
    """WCAG 2.2, relative luminance."""
    parts = [part / 255 for part in colour(code)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


class TestPicture:
    @pytest.mark.parametrize("kind", KINDS)
    def test_is_800_by_450_pixels_on_a_ground_of_its_own_and_the_same_for_equal_charts(
        self, kind: ChartKind
    ) -> None:
        image = picture(chart(kind, FRUIT))
        assert image.size == (800, 450)
        assert {image.getpixel(at) for at in [(0, 0), (799, 0), (0, 449), (799, 449)]} == {colour(GROUND)}
        assert draw(chart(kind, FRUIT), Locale.JA) == draw(chart(kind, dict(FRUIT)), Locale.JA)

    @pytest.mark.slow
    def test_drawn_from_several_threads_at_once_is_the_same_file(self) -> None:
        alone = [draw(chart(kind, FRUIT), Locale.JA) for kind in KINDS]
        with ThreadPoolExecutor(6) as pool:
            together = list(pool.map(lambda kind: draw(chart(kind, FRUIT), Locale.JA), KINDS * 2))
        assert together == alone * 2

    @pytest.mark.slow
    def test_is_not_what_is_loaded_with_the_program(self) -> None:
        modules = "cc_bot.charts, cc_bot.app.discord, cc_bot.app.terminal"
        code = f"import sys, {modules}; assert not {{'matplotlib', 'numpy'}} & set(sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


class TestBars:
    def test_are_as_high_as_their_numbers(self) -> None:
        bars = ink(picture(chart("bar", FRUIT)), SERIES[0])
        heights = []
        for left, right in runs([x for x, _ in bars]):
            middle = (left + right) // 2
            heights.append(len([y for x, y in bars if x == middle]))
        assert len(heights) == 3
        assert heights[0] == pytest.approx(2 * heights[1], abs=3)
        assert heights[1] == pytest.approx(2 * heights[2], abs=3)

    def test_below_zero_hang_down_and_of_nothing_stand_on_the_lower_edge(self) -> None:
        bars = ink(picture(chart("bar", {"札幌": -8.0, "那覇": 8.0})), SERIES[0])
        cold, warm = runs([x for x, _ in bars])
        lowest = min(y for x, y in bars if cold[0] <= x <= cold[1])
        highest = max(y for x, y in bars if warm[0] <= x <= warm[1])
        assert lowest == pytest.approx(highest, abs=3)
        zero = [y for x, y in ink(picture(chart("bar", {"a": 0.0, "b": 0.0})), SOFT) if x == 400]
        assert zero
        assert min(zero) > 350

    @pytest.mark.slow
    def test_lie_where_their_labels_are_long(self) -> None:
        labels = [f"{place}番目の、とても長くて一行には収まらない項目の名前" for place in range(6)]
        bars = ink(picture(chart("bar", dict.fromkeys(labels, 10.0))), SERIES[0])
        assert len(runs([y for _, y in bars])) == 6
        assert min(x for x, _ in bars) > 250

    def test_of_two_series_have_two_colours(self) -> None:
        image = picture(several("bar", ["1月", "2月"], {"売上": [3, 4], "費用": [2, 1]}))
        assert all(len(ink(image, code)) > 5000 for code in SERIES[:2])


class TestLines:
    def test_rise_where_the_numbers_rise_and_are_level_or_a_point_where_they_do_not(self) -> None:
        line = ink(picture(chart("line", {"月": 1.0, "火": 2.0, "水": 5.0})), SERIES[0])
        left = [y for x, y in line if x == min(x for x, _ in line)]
        right = [y for x, y in line if x == max(x for x, _ in line)]
        assert min(left) > max(right)
        level = ink(picture(chart("line", {"月": 7.0, "火": 7.0, "水": 7.0})), SERIES[0])
        assert len({y for _, y in level}) < 15
        assert 20 < len(ink(picture(chart("line", {"今日": 62.4})), SERIES[0])) < 200


class TestPies:
    def test_have_slices_as_large_as_their_shares_and_put_small_ones_together(self) -> None:
        image = picture(chart("pie", {"家賃": 75.0, "食費": 25.0}))
        large, small = (len(ink(image, code)) for code in SLICES[:2])
        assert large / small == pytest.approx(3, rel=0.1)
        many = picture(chart("pie", {f"項目{place}": place + 1.0 for place in range(24)}))
        assert all(len(ink(many, code)) > 1000 for code in SLICES)


class TestLegend:
    def test_is_there_with_more_than_one_series_only_whatever_their_names(self) -> None:
        def signs(image_of: Chart) -> int:
            return len([at for at in ink(picture(image_of), SERIES[0]) if at[1] < 44])

        assert signs(several("line", ["月", "火"], {"気温": [1, 2]})) == 0
        assert signs(several("line", ["月", "火"], {"気温": [1, 2], "湿度": [1, 2]})) > 50
        shown = picture(several("line", ["a", "b"], {"_hidden": [1, 2], "b": [2, 1]}))
        other = picture(several("line", ["a", "b"], {"_another": [1, 2], "b": [2, 1]}))
        assert shown.tobytes() != other.tobytes()


class TestLabels:
    def test_in_japanese_are_written_not_boxed(self) -> None:
        """The box of a missing character would be the same for each."""
        rows = {picture(chart("bar", {label: 1.0})).crop((0, 400, 800, 450)).tobytes() for label in "東京駅"}
        empty = picture(chart("bar", {"": 1.0})).crop((0, 400, 800, 450)).tobytes()
        assert len(rows | {empty}) == 4

    def test_lose_an_emoji_and_keep_the_rest(self) -> None:
        plain = draw(chart("bar", {"りんご": 1.0}), Locale.JA)
        assert draw(chart("bar", {"🍎 りんご👨\u200d👩\u200d👧": 1.0}), Locale.JA) == plain

    def test_between_dollar_signs_are_money(self) -> None:
        plain, priced = (picture(chart("bar", {label: 1.0})) for label in ("5~10", "$5~$10"))
        assert plain.tobytes() != priced.tobytes()

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", KINDS)
    def test_stay_within_the_picture_however_long_they_are(self, kind: ChartKind) -> None:
        for count in (1, 7, 13, 24):
            labels = [f"{'とても長い名前' * 5}{place:02}" for place in range(count)]
            series = {"系列" * 20 + str(n): [1.0] * count for n in range(1 if kind == "pie" else 6)}
            image = picture(several(kind, labels, series))
            edge = [image.getpixel((x, y)) for x in (0, 1, 798, 799) for y in range(450)]
            edge += [image.getpixel((x, y)) for x in range(800) for y in (0, 1, 448, 449)]
            assert set(edge) == {colour(GROUND)}, count

    def test_below_an_axis_do_not_touch_each_other(self) -> None:
        labels = {f"{day}日": 1.0 for day in range(1, 25)}
        row = picture(chart("line", labels)).crop((70, 412, 800, 440))
        empty = [
            x
            for x in range(row.width)
            if all(row.getpixel((x, y)) == colour(GROUND) for y in range(row.height))
        ]
        gaps = [right - left for left, right in runs(empty)]
        assert len([gap for gap in gaps if gap >= 5]) >= 5


class TestColours:
    def test_stand_out_from_the_ground(self) -> None:
        """WCAG 2.2, 1.4.11: graphical objects have a contrast of 3 at least, and words of 7."""
        assert min(contrast(code, GROUND) for code in SLICES) >= 4
        assert min(contrast(code, GROUND) for code in (INK, SOFT)) >= 7

    @pytest.mark.parametrize("missing", ["red", "green"])
    def test_keep_apart_for_the_colour_blind(self, missing: str) -> None:
        seen = [as_seen_without(missing, code) for code in SERIES]
        assert min(sum(abs(a - b) for a, b in zip(x, y, strict=True)) for x, y in combinations(seen, 2)) > 40


def as_seen_without(cone: str, code: str) -> tuple[float, ...]:
    """Viénot, Brettel and Mollon, "Digital video colourmaps for checking the legibility" (1999)."""
    red, green, blue = ((part / 255) ** 2.2 for part in colour(code))
    long = 17.8824 * red + 43.5161 * green + 4.11935 * blue
    middle = 3.45565 * red + 27.1554 * green + 3.86714 * blue
    short = 0.0299566 * red + 0.184309 * green + 1.46709 * blue
    if cone == "red":
        long = 2.02344 * middle - 2.52581 * short
    else:
        middle = 0.494207 * long + 1.24827 * short
    rgb = (
        0.0809444479 * long - 0.130504409 * middle + 0.116721066 * short,
        -0.0102485335 * long + 0.0540193266 * middle - 0.113614708 * short,
        -0.000365296938 * long - 0.00412161469 * middle + 0.693511405 * short,
    )
    return tuple(255 * max(0.0, min(1.0, part)) ** (1 / 2.2) for part in rgb)


class TestWhatCannotBeDrawn:
    def test_is_left_to_the_table(self) -> None:
        for what in (
            several("bar", [], {}),
            several("bar", [], {"値": []}),
            chart("bar", {"a": float("nan")}),
            chart("line", {"a": float("inf"), "b": 1.0}),
            chart("line", {"a": 1e300, "b": 1.0}),
            chart("line", {"a": 5e-324, "b": 0.0}),
            chart("pie", {"a": 0.0, "b": 0.0}),
            chart("pie", {"a": -1.0, "b": 2.0}),
            several("pie", ["a"], {"x": [1], "y": [2]}),
            *(
                chart(kind, {"🍎": 1.0, "みかん": 2.0}) for kind in KINDS
            ),  # nothing of an emoji can be written
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
        labels=st.lists(st.text(max_size=40), min_size=1, max_size=24),
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
