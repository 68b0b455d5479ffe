"""Lists of values in SQL that all engines share: `IN ($3, $4, …)` with a parameter for each value.

A statement is prepared once per text, so lists have one of three lengths only; a shorter one repeats its last
value, which changes nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cc_bot.storage import Statement

_LENGTHS: Final = (8, 24, 64)


@dataclass(frozen=True, eq=False)
class ListStatement:
    """SQL with `{list}` where the list stands. `fixed` parameters come before those of the list."""

    sql: str
    fixed: int
    _texts: dict[int, str] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for length in _LENGTHS:
            marks = ", ".join(f"${self.fixed + number}" for number in range(1, length + 1))
            self._texts[length] = self.sql.replace("{list}", marks)

    @property
    def texts(self) -> frozenset[str]:
        """The SQL of every length."""
        return frozenset(self._texts.values())

    def of(self, fixed: Sequence[Any], values: Sequence[Any]) -> Iterator[Statement]:
        """As many statements as the values need."""
        for at in range(0, len(values), _LENGTHS[-1]):
            part = values[at : at + _LENGTHS[-1]]
            length = next(length for length in _LENGTHS if length >= len(part))
            yield Statement(self._texts[length], (*fixed, *part, *[part[-1]] * (length - len(part))))
