"""What a user is told of a change to their memories, in one line: from committed rows, never from a model."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from cc_bot.domain.memory import MemoryChange
from cc_bot.domain.message import Visibility

Kind = Literal["added", "updated", "unchanged", "deleted"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was done to one memory."""

    kind: Kind
    memory_id: int
    text: str
    former_id: int | None = None
    """The version that the memory names as the one before it."""
    replaced: bool = False
    """Whether a newly kept memory took the place of another."""
    private: bool = False
    """Whether its text is for its user alone."""
    number: int = 0
    """What its user calls it by."""

    @property
    def undo(self) -> Literal["added", "updated", "deleted"] | None:
        """What there is to take back: a change of who may see a memory leaves no version behind."""
        if self.kind == "unchanged" or (self.kind == "updated" and self.former_id is None):
            return None
        return self.kind

    def as_added(self, before: "Receipt") -> "Receipt":
        """The same of a memory that was kept in the same answer: taken back, all of it goes."""
        return replace(
            self,
            kind="added",
            former_id=self.former_id or before.former_id,
            replaced=self.replaced or before.replaced,
        )


def receipt_of(change: MemoryChange) -> Receipt | None:
    """What is told of a committed change; None for one that has a reply of its own."""
    if change.kind == "restored":
        return None
    memory = change.memory
    return Receipt(
        "unchanged" if change.unchanged else change.kind,
        memory.id,
        memory.content,
        change.version,
        replaced=change.kind == "added" and change.version is not None,
        private=memory.audience == "private",
        number=memory.number,
    )


def with_receipt(receipts: Sequence[Receipt], change: MemoryChange) -> tuple[Receipt, ...]:
    """One more change. What happens twice to a memory within an answer is told once."""
    new = receipt_of(change)
    if new is None:
        return tuple(receipts)
    before = next((each for each in receipts if each.memory_id == new.memory_id), None)
    if before is None:
        return (*receipts, new)
    if new.kind == "unchanged":
        return tuple(receipts)
    others = tuple(each for each in receipts if each is not before)
    if before.kind == "added":
        if new.kind == "deleted":
            return others
        return (*others, new.as_added(before))
    return (*others, new)


@dataclass(frozen=True, slots=True)
class Named:
    """What a line below an answer is about."""

    what: Literal["memory", "schedule"]
    id: int


@dataclass(frozen=True, slots=True)
class ToldLine:
    """A line that tells what was done, and can be taken back."""

    line: int
    """Its place among what its message states, from 0."""
    named: Named
    button: str
    """The custom id of what takes it back."""


@dataclass(frozen=True, slots=True)
class ToldIn:
    """A message on Discord with such lines, which the bot can reach by itself."""

    user_id: int
    """Whose memories and reminders they are about."""
    channel_id: int
    message_id: int
    visibility: Visibility
    """Whether others read it too."""
    lines: tuple[ToldLine, ...]
    changes: int = field(default=0, compare=False)
    """How often what they name has changed since the message was shown."""


@dataclass(frozen=True, slots=True)
class MemoryState:
    """What has become of a memory, or of a former version of one."""

    status: Literal["active", "superseded", "deleted"]
    former_id: int
    """The version before it; 0 for none."""
