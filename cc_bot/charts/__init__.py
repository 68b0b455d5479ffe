"""Charts as a picture, where matplotlib is installed (extra `charts`), and as a text table everywhere.

matplotlib takes a second of a small server's time and 60 MB of its memory, so it is loaded with the first
picture, not with the program. It is not made for several threads, and two pictures at once would take twice
the memory for no gain. Each further picture takes 0.1 to 0.3 s.
"""

import logging
import math
from importlib.util import find_spec
from threading import Lock
from typing import Final

from cc_bot.charts.table import table
from cc_bot.domain.canvas import Chart
from cc_bot.domain.locale import Locale

__all__ = ["draw", "table"]

_NEEDED: Final = ("matplotlib", "matplotlib_fontja")
_SMALLEST: Final = 1e-9
_LARGEST: Final = 1e15
"""What a reader can make sense of along an axis; beyond it matplotlib's own arithmetic gives way."""

_at_a_time: Final = Lock()


def draw(chart: Chart, locale: Locale) -> bytes | None:
    """Return the chart as a PNG of 800 by 450 pixels, without its title. The first takes a second: not on the
    loop.

    None where the extra `charts` is not installed, and where a picture would say less than the table does:
    nothing to draw, numbers that no axis can show, or a label of which the font has not one character.
    """
    if not _is_drawable(chart) or not all(map(find_spec, _NEEDED)):
        return None
    with _at_a_time:
        # It warns where it can't keep its list of the system's fonts, of which none is used.
        logging.getLogger("matplotlib").setLevel(logging.ERROR)
        from cc_bot.charts import picture  # noqa: PLC0415 - loads matplotlib, see above

        return picture.png(chart, locale)


def _is_drawable(chart: Chart) -> bool:
    values = [value for series in chart.series for value in series.values]
    if not values or not all(map(math.isfinite, values)):
        return False
    if chart.kind == "pie" and (len(chart.series) > 1 or min(values) < 0 or sum(values) <= 0):
        return False
    size = max(map(abs, values))
    return size == 0 or _SMALLEST <= size <= _LARGEST
