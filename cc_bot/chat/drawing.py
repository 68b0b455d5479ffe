"""The canvas as a turn draws it beside its conversation. Only the feature reads its JSON."""

from collections.abc import Callable
from typing import Protocol

from cc_bot.domain.message import Visibility
from cc_bot.domain.text import Locale
from cc_bot.features import find_module
from cc_bot.llm.model import SystemPart

Redraw = Callable[[str], str]
"""Returns a stored canvas with changes to it; those that no longer apply are skipped."""


class Drawing(Protocol):
    """A canvas as one turn draws on it; not stored yet."""

    @property
    def redraw(self) -> Redraw | None:
        """The turn's changes; None if there are none."""

    def part(self, locale: Locale) -> SystemPart:
        """The text about it for the prompt; empty if the turn sees nothing."""

    def is_empty(self, state: str) -> bool:
        """Return whether the turn sees nothing of a stored canvas."""


def open_drawing(state: str, visibility: Visibility, *, tainted: bool = False) -> Drawing | None:
    """Return None without the feature that draws. `tainted`: what is drawn comes from others' text."""
    feature = find_module("drawing")
    drawing: Drawing | None = feature and feature.open_drawing(state, visibility, tainted=tainted)
    return drawing
