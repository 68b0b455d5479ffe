"""Charts as SVG, as a picture of it (extra `charts`), and as a text table everywhere."""

from cc_bot.charts.svg import draw
from cc_bot.charts.table import table

__all__ = ["draw", "table"]
