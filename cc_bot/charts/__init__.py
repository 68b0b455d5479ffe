"""Charts as a picture, where matplotlib is installed (extra `charts`), and as a text table everywhere."""

from cc_bot.charts.drawing import draw
from cc_bot.charts.table import table

__all__ = ["draw", "table"]
