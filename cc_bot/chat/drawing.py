"""The canvas of a turn as JSON. Only the feature `canvas` reads the JSON."""

from collections.abc import Callable
from typing import Protocol

from cc_bot.domain.message import Visibility
from cc_bot.domain.text import Locale
from cc_bot.features import find_module
from cc_bot.llm.model import SystemPart

Redraw = Callable[[str], str]  # applies changes to a stored canvas; skips outdated ones


class Drawing(Protocol):
    """The canvas as one turn sees and changes it, before it is stored."""

    @property
    def redraw(self) -> Redraw | None:
        """Return the turn's changes; None if there are none."""

    def part(self, locale: Locale) -> SystemPart:
        """Return the text for the prompt; empty if the turn sees no element."""

    def is_empty(self, state: str) -> bool:
        """Return whether the turn sees no element of a stored canvas."""


def open_drawing(state: str, visibility: Visibility, *, tainted: bool = False) -> Drawing | None:
    """Return None without the feature `canvas`. `tainted`: the changes contain text by others."""
    feature = find_module("drawing")
    drawing: Drawing | None = feature and feature.open_drawing(state, visibility, tainted=tainted)
    return drawing
