"""Everything that a line typed into the terminal can ask for, one value each.

A mistaken command is a value as well (Unknown, Misused), so that the one who runs commands has nothing left
to check.
"""

from dataclasses import dataclass
from typing import Literal

from cc_bot.domain.locale import Locale

# ---- memory commands -------------------------------------------------------------------------------------
# Everything that a `/memory` line can ask for, one value each.


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

# ---- commands --------------------------------------------------------------------------------------------

CommandName = Literal[
    "ask",
    "regenerate",
    "continue",
    "attach",
    "detach",
    "accept",
    "decline",
    "memory list",
    "memory search",
    "memory add",
    "memory show",
    "memory edit",
    "memory pin",
    "memory undo",
    "memory restore",
    "memory delete",
    "memory delete-all",
    "memory export",
    "memory import",
    "memory pause",
    "memory resume",
    "memory stats",
    "clear",
    "summary",
    "canvas",
    "agent list",
    "agent use",
    "remind list",
    "remind add",
    "remind delete",
    "usage",
    "privacy show",
    "privacy export",
    "privacy erase",
    "settings",
    "help",
    "exit",
]


@dataclass(frozen=True, slots=True)
class Ask:
    question: str
    temporary: bool = False


@dataclass(frozen=True, slots=True)
class Regenerate:
    """Answer the newest question again."""


@dataclass(frozen=True, slots=True)
class Continue:
    """Go on where the newest answer ended."""


@dataclass(frozen=True, slots=True)
class Attach:
    path: str


@dataclass(frozen=True, slots=True)
class Detach:
    """Take back what was attached."""


@dataclass(frozen=True, slots=True)
class Accept:
    """Have done what was proposed."""

    number: int | None = None
    """None: the one that waits, or to see what waits."""


@dataclass(frozen=True, slots=True)
class Decline:
    """Leave it undone."""

    number: int | None = None
    """As above."""


@dataclass(frozen=True, slots=True)
class Clear:
    """Start the conversation afresh."""


@dataclass(frozen=True, slots=True)
class ShowSummary:
    """Show what was written down of the conversation, or delete it."""

    delete: bool = False


@dataclass(frozen=True, slots=True)
class ListAgents:
    """Show who can answer, and who does."""


@dataclass(frozen=True, slots=True)
class UseAgent:
    """Have another one answer from now on."""

    name: str


@dataclass(frozen=True, slots=True)
class ListReminders:
    """Show the reminders that wait."""


@dataclass(frozen=True, slots=True)
class SetReminder:
    """Remind at a time: `明日9時 薬`. Where the time ends and the text begins is found out with the clock."""

    words: str


@dataclass(frozen=True, slots=True)
class DeleteReminder:
    number: int


@dataclass(frozen=True, slots=True)
class ShowUsage:
    """Show what was used, and what is left."""


@dataclass(frozen=True, slots=True)
class ShowPrivacy:
    """Show what is stored about whoever sits there."""


@dataclass(frozen=True, slots=True)
class ExportPrivacy:
    """Write all of it to a file."""

    path: str | None = None
    """None: a name with the day, in the folder that the chat runs in."""


@dataclass(frozen=True, slots=True)
class ErasePrivacy:
    """Tell what erasing all of it would take; with `now`, do it."""

    now: bool = False


@dataclass(frozen=True, slots=True)
class ShowCanvas:
    """Show what is up, or take it down."""

    clear: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """Show the settings, or change those that are given. `default` takes a choice back."""

    locale: Locale | Literal["default"] | None = None
    timezone: str | None = None


@dataclass(frozen=True, slots=True)
class Help:
    """Show what there is."""


@dataclass(frozen=True, slots=True)
class Exit:
    """Leave."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """No such command."""

    given: str
    nearest: CommandName | None


@dataclass(frozen=True, slots=True)
class Misused:
    """A command that can't be run as it was given."""

    command: CommandName
    problem: Literal[
        "id", "query", "path", "memory file", "agent", "reminder", "proposal", "argument", "subcommand"
    ]
    given: str = ""


Command = (
    Ask
    | Regenerate
    | Continue
    | Attach
    | Detach
    | Accept
    | Decline
    | MemoryCommand
    | Clear
    | ShowSummary
    | ShowCanvas
    | ListAgents
    | UseAgent
    | ListReminders
    | SetReminder
    | DeleteReminder
    | ShowUsage
    | ShowPrivacy
    | ExportPrivacy
    | ErasePrivacy
    | Settings
    | Help
    | Exit
    | Unknown
    | Misused
)
