"""Everything that a `/memory` line can ask for, one value each."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListMemories:
    category: str | None = None
    before: int | None = None


@dataclass(frozen=True, slots=True)
class SearchMemories:
    query: str
    category: str | None = None


@dataclass(frozen=True, slots=True)
class AddMemory:
    content: str
    category: str | None = None
    tags: tuple[str, ...] = ()
    until: str | None = None
    """The last day it holds, as it was typed."""
    private: bool = False
    """Whether it is for answers alone that nobody else sees."""


@dataclass(frozen=True, slots=True)
class ShowMemory:
    number: int


@dataclass(frozen=True, slots=True)
class EditMemory:
    """What is None stays as it is."""

    number: int
    content: str | None = None
    category: str | None = None
    tags: tuple[str, ...] | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class PinMemory:
    """Pin it, or take the pin off."""

    number: int
    off: bool = False


@dataclass(frozen=True, slots=True)
class UndoMemory:
    """Take back what was last done to it: its deletion, else its newest change."""

    number: int


@dataclass(frozen=True, slots=True)
class RestoreMemory:
    """Go back to a former version: the first is the one before what it says now."""

    number: int
    version: int = 1


@dataclass(frozen=True, slots=True)
class DeleteMemory:
    number: int
    now: bool = False
    """Whether it goes for good at once."""


@dataclass(frozen=True, slots=True)
class DeleteAllMemories:
    """Erase all, if there are as many as was said; without a number only ask."""

    count: int | None = None


@dataclass(frozen=True, slots=True)
class ExportMemories:
    path: str | None = None
    """None: a name with the day, in the folder that the chat runs in."""


@dataclass(frozen=True, slots=True)
class ImportMemories:
    """Tell what a file would bring; with `now`, take it over."""

    path: str
    now: bool = False


@dataclass(frozen=True, slots=True)
class PauseMemory:
    paused: bool


@dataclass(frozen=True, slots=True)
class CountMemories:
    """Show them in numbers."""


MemoryCommand = (
    ListMemories
    | SearchMemories
    | AddMemory
    | ShowMemory
    | EditMemory
    | PinMemory
    | UndoMemory
    | RestoreMemory
    | DeleteMemory
    | DeleteAllMemories
    | ExportMemories
    | ImportMemories
    | PauseMemory
    | CountMemories
)
