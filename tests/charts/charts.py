"""Charts to draw, and how a drawn one is looked at."""

from collections.abc import Mapping, Sequence
from io import BytesIO

from PIL import Image

from cc_bot.charts import draw
from cc_bot.domain import Locale
from cc_bot.domain.canvas import Chart, ChartKind, Series

Colour = tuple[int, int, int]


def chart(kind: ChartKind, values: dict[str, float]) -> Chart:
    """A chart of one series."""
    return Chart("c", "題", kind, tuple(values), (Series("値", tuple(values.values())),))


def several(kind: ChartKind, labels: Sequence[str], series: Mapping[str, Sequence[float]]) -> Chart:
    return Chart("c", "題", kind, tuple(labels), tuple(Series(n, tuple(v)) for n, v in series.items()))


def picture(what: Chart, locale: Locale = Locale.JA) -> Image.Image:
    png = draw(what, locale)
    assert png is not None
    with Image.open(BytesIO(png)) as image:
        assert image.format == "PNG"
        return image.convert("RGB")


def colour(code: str) -> Colour:
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def ink(image: Image.Image, code: str) -> list[tuple[int, int]]:
    """Where exactly that colour is."""
    wanted = colour(code)
    raw = image.tobytes()
    pixels = zip(raw[0::3], raw[1::3], raw[2::3], strict=True)
    return [(at % image.width, at // image.width) for at, pixel in enumerate(pixels) if pixel == wanted]


def runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The stretches of numbers without a gap: how many bars there are, and how wide."""
    found: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found
