"""The canvas: what the bot has put up for a user to look at in one session.

Values and commands; what a command does to a canvas is said in canvas_reducer.py. An element that was drawn
in a private turn is private: it is shown, and named to the model, only where its user alone reads along.
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal

from cc_bot.domain.message import Visibility

ChartKind = Literal["line", "bar", "pie"]

Mode = Literal["list", "board", "focus"]
"""How elements are laid out: one below the other, cards side by side, or one of them alone."""


@dataclass(frozen=True, slots=True)
class Card:
    """A titled piece of text."""

    id: str
    title: str
    content: str
    _: KW_ONLY
    visibility: Visibility = "public"
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text; its title may be empty."""

    id: str
    content: str
    title: str = ""
    _: KW_ONLY
    visibility: Visibility = "public"
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """One line, or one colour of bars; `values` has one number for each label of the chart."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    id: str
    title: str
    kind: ChartKind
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    _: KW_ONLY
    visibility: Visibility = "public"
    tainted: bool = False


Element = Card | Text | Chart


@dataclass(frozen=True, slots=True)
class Canvas:
    """What is up, oldest first."""

    elements: tuple[Element, ...] = ()
    mode: Mode = "list"
    focus: str = ""
    """The id of the element that is shown alone in the mode `focus`."""

    def seen(self, visibility: Visibility) -> "Canvas":
        """As much of it as may be seen in public, or in private. A private element that is shown alone is not
        there in public, and so the others are listed."""
        if visibility == "private":
            return self
        public = tuple(each for each in self.elements if each.visibility == "public")
        if self.mode == "focus" and all(each.id != self.focus for each in public):
            return Canvas(public)
        return replace(self, elements=public)

    def element(self, id_: str) -> Element | None:
        return next((each for each in self.elements if each.id == id_), None)

    @property
    def in_sight(self) -> tuple[Element, ...]:
        """What its mode shows: all, or the one in focus."""
        focused = tuple(each for each in self.elements if self.mode == "focus" and each.id == self.focus)
        return focused or self.elements

    @property
    def empty(self) -> bool:
        return not self.elements

    @property
    def tainted(self) -> bool:
        """Whether anything that is up was drawn in a turn that had read others' words than its user's."""
        return any(each.tainted for each in self.elements)


@dataclass(frozen=True, slots=True)
class AddCard:
    title: str
    content: str
    id: str = ""
    """As the model wants it; when it is empty or taken, one is made."""


@dataclass(frozen=True, slots=True)
class ShowText:
    content: str
    title: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class AddChart:
    title: str
    kind: ChartKind
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class UpdateCard:
    """None: as it was. It changes a text's title and content too."""

    id: str
    title: str | None = None
    content: str | None = None


@dataclass(frozen=True, slots=True)
class RemoveElement:
    id: str


@dataclass(frozen=True, slots=True)
class SetMode:
    mode: Literal["clear", "list", "board", "focus"]
    """`clear` takes everything down and goes back to `list`."""
    focus: str = ""
    """The element to show alone; needed for `focus`."""


CanvasCommand = AddCard | ShowText | AddChart | UpdateCard | RemoveElement | SetMode


@dataclass(frozen=True, slots=True)
class Drawn:
    """A command as it was given in a turn."""

    command: CanvasCommand
    visibility: Visibility
    """Of the turn."""
    tainted: bool = False
    """Whether the model that gave it had read words which its user did not write."""
