"""The few words that stand in a chart."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChartTexts:
    others: str
    """The slice that holds what is too small for one of its own. Parameter: count."""


JA = ChartTexts(others="その他（{count}件）")

EN = ChartTexts(others="Other ({count})")
