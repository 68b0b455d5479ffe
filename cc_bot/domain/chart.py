from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Final, Literal

from cc_bot.domain.message import Visibility

ChartKind = Literal["line", "bar", "stacked", "area", "scatter", "pie"]

MAX_VALUE: Final = 1e15


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """`x_title` names the labels (numbers in a scatter chart), `y_title` the values."""

    id: str
    title: str
    kind: ChartKind
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    _: KW_ONLY
    x_title: str = ""
    y_title: str = ""
    visibility: Visibility = "public"
    tainted: bool = False


def parse_numbers(labels: Iterable[str]) -> tuple[float, ...] | None:
    """Return the labels as numbers; None unless all are numbers of at most MAX_VALUE."""
    try:
        numbers = tuple(float(label.replace(",", "")) for label in labels)
    except ValueError:
        return None
    return numbers if all(abs(number) <= MAX_VALUE for number in numbers) else None
