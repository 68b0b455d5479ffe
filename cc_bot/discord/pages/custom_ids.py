"""Custom ids carry the state of buttons, menus and forms (at most 100 characters, says Discord), so that
these work after a restart.

An id is the head of its kind and its field values, separated by colons, with numbers in base 36: a snowflake
takes 13 characters instead of 19, so five of them fit.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final, Literal, TypeVar, dataclass_transform, get_args

from cc_bot.domain.memory import Order
from cc_bot.domain.message import DEFAULT_AGENT

MAX_LENGTH = 100
ANY_ASKER = 0
"""Stands for the authors of the questions that the running turn answers."""

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class Control:
    """A button, menu or form. The last field of a kind may be numbers, or any text."""

    __slots__ = ()

    head: ClassVar[str]
    user_id: int
    """Who may use it."""

    def custom_id(self) -> str:
        values = (getattr(self, each.name) for each in fields(self))  # type: ignore[arg-type]  # kinds are
        return ":".join((self.head, *_write(values)))


KINDS: Final[dict[str, type[Control]]] = {}
"""By their heads."""

_Kind = TypeVar("_Kind", bound=Control)


@dataclass_transform(frozen_default=True)
def _control(head: str) -> Callable[[type[_Kind]], type[_Kind]]:
    def register(described: type[_Kind]) -> type[_Kind]:
        described.head = head
        kind = dataclass(frozen=True, slots=True)(described)
        KINDS[head] = kind
        return kind

    return register


def parse_custom_id(custom_id: str) -> Control | None:
    """Parse a custom id; None if it is not ours."""
    head, *rest = custom_id.split(":", 1)
    if (kind := KINDS.get(head)) is None:
        return None
    types = [each.type for each in fields(kind)]  # type: ignore[arg-type]  # kinds are dataclasses
    parts = rest[0].split(":", len(types) - 1) if rest else []
    try:
        return kind(*map(_read, parts, types))
    except (TypeError, ValueError):  # TypeError: a value is missing
        return None


def _write(values: Iterator[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, tuple):
            yield from map(base36, value)
        else:
            yield base36(value) if isinstance(value, int) else str(value)


def _read(part: str, kind: Any) -> object:
    if kind == tuple[int, ...]:
        return tuple(map(_number, part.split(":")))
    if kind is int:
        return _number(part)
    if kind is not str and part not in get_args(kind):
        raise ValueError
    return part


def _number(text: str) -> int:
    """Parse base 36. Raises ValueError, also for signs and white space."""
    if not text.isalnum():
        raise ValueError
    return int(text, 36)


def base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


# ---- answers -----------------------------------------------------------------------------------------------


@_control("stop")
class StopButton(Control):
    user_id: int
    """Or ANY_ASKER."""
    turn: str
    """Id of the running turn."""


@_control("answer")
class AnswerButton(Control):
    """Regenerate or Continue, under a finished answer."""

    action: Literal["again", "more"]
    user_id: int
    answer_id: int
    """Its row in the archive."""
    earlier_messages: tuple[int, ...] = ()
    """The answer's Discord messages before the one with the button; at most four."""


@_control("retry")
class RetryButton(Control):
    """Ask an interrupted question again."""

    user_id: int
    entry: str
    """In the turn ledger."""


@_control("about")
class AskForm(Control):
    """Ask a question about a message."""

    user_id: int
    message_id: int


@_control("summary")
class SummaryButton(Control):
    """Delete the channel's summary."""

    user_id: int
    agent: str = DEFAULT_AGENT
    """The agent of the conversation."""


@_control("undo")
class UndoButton(Control):
    """Undo an answer's change to a memory."""

    action: Literal["added", "updated", "deleted"]
    user_id: int
    memory_id: int
    former_id: int = 0
    """The memory's previous version at that time; 0 for none."""


@_control("used")
class UsedMemoriesButton(Control):
    """Show memories that an answer used, as many as fit."""

    user_id: int
    memory_ids: tuple[int, ...] = ()

    def custom_id(self) -> str:
        written = Control.custom_id(self)
        while len(written) > MAX_LENGTH:
            written = written.rpartition(":")[0]
        return written


@_control("untell")
class UntellButton(Control):
    """Show how to remove forgotten memories from conversations, too."""

    user_id: int
    memory_ids: tuple[int, ...] = ()
    """At most four."""


@_control("proposal")
class ProposalButton(Control):
    """Approve or decline a proposal. Its row says who may."""

    action: Literal["do", "dont"]
    user_id: int
    """The author of the question."""
    answer_id: int
    """Its row in the archive."""
    proposal_id: int


@_control("proposals")
class SeeProposalsButton(Control):
    """Show all proposals of an answer."""

    user_id: int
    answer_id: int
    """Its row in the archive."""


@_control("form")
class FormButton(Control):
    """Answer or decline an MCP server's elicitation."""

    action: Literal["fill", "skip"]
    user_id: int
    form: str
    """Id of the open form."""


@_control("sheet")
class FormSheet(Control):
    """The form for an elicitation."""

    user_id: int
    form: str


# ---- memories ----------------------------------------------------------------------------------------------

MemoryAction = Literal[
    "edit",
    "undo-edit",
    "delete",
    "undelete",
    "erase",
    "erase-said",
    "anywhere",
    "private",
    "restore",
    "pin",
    "unpin",
]
Decision = Literal["erase", "erase-said", "import", "cancel"]


@_control("list")
class ListButton(Control):
    """Another page of /memory list."""

    user_id: int
    order: Order
    page: int
    """From 1."""
    category: str = ""
    """Filter; empty for all."""


@_control("search")
class SearchButton(Control):
    """Another page of /memory search. The query, which may be too long for an id, is read from the
    message."""

    user_id: int
    page: int
    """From 1."""
    category: str = ""


@_control("memory")
class MemoryButton(Control):
    """An action on one memory: a button, or a menu of former versions."""

    action: MemoryAction
    user_id: int
    memory_id: int
    former_id: int = 0
    """The version that an edit replaced."""


@_control("open")
class OpenMenu(Control):
    """Choose a memory of a page to show."""

    user_id: int


@_control("edit")
class EditForm(Control):
    """Edit a memory."""

    user_id: int
    memory_id: int


@_control("all")
class ConfirmButton(Control):
    """Confirm for all memories: erase, or import from the attached file."""

    user_id: int
    decision: Decision
    count: int
    """Memories in the question."""
    until: int
    """Unix seconds; the question expires then."""


# ---- reminders ---------------------------------------------------------------------------------------------


@_control("unschedule")
class UnscheduleButton(Control):
    """Cancel a reminder."""

    user_id: int
    schedule_id: int


@_control("snooze")
class SnoozeButton(Control):
    """Repeat a reminder a little later."""

    user_id: int
    schedule_id: int
    minutes: int
    """From the press."""


@_control("reminders")
class RemindersButton(Control):
    """Another page of /remind list."""

    user_id: int
    page: int
    """From 1."""


# ---- privacy -----------------------------------------------------------------------------------------------


@_control("privacy")
class PrivacyButton(Control):
    """Erase everything, or cancel."""

    user_id: int
    decision: Literal["erase", "keep"]
    until: int
    """Unix seconds; the question expires then."""


# ---- browsers ----------------------------------------------------------------------------------------------


@_control("browsers")
class BrowserMenu(Control):
    """Sign out one browser, or all."""

    user_id: int
