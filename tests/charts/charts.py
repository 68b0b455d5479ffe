"""Charts to draw, and how a drawn one is looked at."""

from collections.abc import Mapping, Sequence
from io import BytesIO

from PIL import Image

from cc_bot.charts.png import draw_png
from cc_bot.domain.chart import Chart, ChartKind, Series
from cc_bot.domain.text import Locale

Colour = tuple[int, int, int]


def chart(kind: ChartKind, values: dict[str, float]) -> Chart:
    """A chart of one series."""
    return Chart("c", "題", kind, tuple(values), (Series("値", tuple(values.values())),))


def several(kind: ChartKind, labels: Sequence[str], series: Mapping[str, Sequence[float]]) -> Chart:
    return Chart("c", "題", kind, tuple(labels), tuple(Series(n, tuple(v)) for n, v in series.items()))


def picture(what: Chart, locale: Locale = Locale.JA) -> Image.Image:
    png = draw_png(what, locale)
    assert png is not None
    with Image.open(BytesIO(png)) as image:
        assert image.format == "PNG"
        return image.convert("RGB")


def colour(code: str) -> Colour:
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)
