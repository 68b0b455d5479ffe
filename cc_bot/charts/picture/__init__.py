"""Charts drawn with matplotlib, which only this package knows; import it late, for it takes a second.

matplotlib plots, and nothing more: where words stand and how much room they take is decided in lettering.py,
so that a long Japanese label is turned, wrapped or shortened, never drawn across another.
"""

from dataclasses import replace
from io import BytesIO

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from cc_bot.charts import colours
from cc_bot.charts.picture.axis import draw_axis
from cc_bot.charts.picture.font import writable
from cc_bot.charts.picture.pie import draw_pie
from cc_bot.charts.picture.sheet import DPI, HEIGHT, WIDTH, Sheet
from cc_bot.domain.canvas import Chart, Series
from cc_bot.domain.locale import Locale

mpl.rcdefaults()  # an operator's own matplotlibrc is for other pictures
mpl.rcParams["text.parse_math"] = False  # what stands between two `$` is money


def png(chart: Chart, locale: Locale) -> bytes | None:
    """The chart, or None where a label of it cannot be written at all. One at a time; see drawing.py."""
    written = _written(chart)
    if written is None:
        return None
    figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI, facecolor=colours.GROUND)
    FigureCanvasAgg(figure)
    (draw_pie if chart.kind == "pie" else draw_axis)(Sheet(figure), written, locale)
    out = BytesIO()
    # Without its maker, equal charts are equal files.
    figure.savefig(out, format="png", facecolor=colours.GROUND, metadata={"Software": None})
    return out.getvalue()


def _written(chart: Chart) -> Chart | None:
    named = chart.series if len(chart.series) > 1 else ()
    words = (*chart.labels, *(series.name for series in named))
    if any(word.strip() and not writable(word) for word in words):
        return None
    return replace(
        chart,
        labels=tuple(map(writable, chart.labels)),
        series=tuple(Series(writable(series.name), series.values) for series in chart.series),
    )
