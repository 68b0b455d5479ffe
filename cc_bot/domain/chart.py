from dataclasses import KW_ONLY, dataclass
from typing import Literal

from cc_bot.domain.message import Visibility

ChartKind = Literal["line", "bar", "pie"]


@dataclass(frozen=True, slots=True)
class Series:
    """One value per label of the chart."""

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
