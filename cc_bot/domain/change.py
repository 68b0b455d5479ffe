"""A change of what a feature keeps, as its tool reports it and the receipt below an answer shows it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

ChangeKind = Literal["added", "updated", "unchanged", "deleted", "cancelled"]
ReceiptState = Literal["holds", "over", "undone"]
"""over: it can't be undone, because the item was changed again or the reminder has fired."""


@dataclass(frozen=True, slots=True)
class Change:
    """Features add fields in a subclass."""

    what: str  # the kind of item: `memory` or `schedule`
    kind: ChangeKind
    id: int
    text: str = ""
    number: int = 0
    state: ReceiptState = "holds"
    former_id: int | None = None  # the version before an update
    private: bool = False  # only its user may see the text

    @property
    def identity(self) -> tuple[str, int]:
        return self.what, self.id


def add_change(changes: Sequence[Change], new: Change) -> tuple[Change, ...]:
    """Add a change to those of an answer. Changes of an item become one; adding and deleting cancel out."""
    earlier = next((each for each in changes if each.identity == new.identity), None)
    if earlier is None:
        return (*changes, new)
    if new.kind == "unchanged":
        return tuple(changes)
    others = tuple(each for each in changes if each is not earlier)
    if earlier.kind != "added":
        return (*others, new)
    if new.kind in ("deleted", "cancelled"):
        return others
    return (*others, replace(new, kind="added", former_id=new.former_id or earlier.former_id))
