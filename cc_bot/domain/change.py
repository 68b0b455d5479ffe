"""A change of what a feature keeps, as its tool reports it and the receipt below an answer shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ReceiptState = Literal["holds", "over", "undone"]


@dataclass(frozen=True, slots=True)
class Change:
    """Features add fields in a subclass; read from the database it has no text."""

    what: str
    """The kind of item: `schedule`."""
    kind: Literal["added", "cancelled"]
    id: int
    text: str = ""
    number: int = 0
    state: ReceiptState = "holds"


def with_change(changes: Sequence[Change], new: Change) -> tuple[Change, ...]:
    """Add a change; an item that is made and cancelled in the same answer gets none."""
    before = next((each for each in changes if (each.what, each.id) == (new.what, new.id)), None)
    others = tuple(each for each in changes if each is not before)
    made_here = before is not None and before.kind == "added" and new.kind == "cancelled"
    return others if made_here else (*others, new)
