"""The pictures of a canvas's charts, as far as there can be any: matplotlib is an extra."""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

import structlog

from cc_bot import charts
from cc_bot.discord.pages.canvas_page import picture_name
from cc_bot.discord.recent import Recent
from cc_bot.domain.canvas import Chart
from cc_bot.domain.locale import Locale

_log = structlog.get_logger(__name__)

KEPT: Final = 30
"""Pictures of some 40 KB: most edits of a canvas leave its charts as they were."""

Draw = Callable[[Chart, Locale], bytes | None]


class Pictures:
    def __init__(self, draw: Draw = charts.draw) -> None:
        self._draw = draw
        self._drawn = Recent[tuple[str, Locale], bytes](KEPT)

    async def of(self, shown: Iterable[Chart], locale: Locale) -> dict[str, bytes]:
        """PNGs by their names; charts that can't be drawn are left out."""
        found = {picture_name(chart): await self._picture(chart, locale) for chart in shown}
        return {name: png for name, png in found.items() if png is not None}

    async def _picture(self, chart: Chart, locale: Locale) -> bytes | None:
        name = (picture_name(chart), locale)
        png = self._drawn.get(name)
        if png is not None:
            return png
        try:
            png = await asyncio.to_thread(partial(self._draw, chart, locale))
        except Exception:  # noqa: BLE001 - a table says the same; the record has what went wrong
            _log.error("chart_not_drawn", exc_info=True)
            return None
        if png is not None:
            self._drawn[name] = png
        return png
