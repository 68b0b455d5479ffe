"""Custom ids: what a button, a menu or a form needs to know is written into its own (at most 100 characters,
says Discord), so that it works after a restart: no state of a button is in memory.

A custom id is the head of its kind and the values of its fields, with colons between them and numbers in
base 36: a snowflake takes 13 characters instead of 19, so that five of them fit.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final, Literal, TypeVar, dataclass_transform, get_args

from cc_bot.domain.memory import Order
from cc_bot.domain.message import DEFAULT_AGENT

LONGEST = 100
"""Characters of a custom id."""
ANY_ASKER = 0
"""Instead of a user: the authors of the questions that the running turn answers."""

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class Control:
    """A button, menu or form. The last field of a kind may be numbers, or a text that holds anything."""

    __slots__ = ()

    head: ClassVar[str]
    user_id: int
    """Who may use it."""

    def custom_id(self) -> str:
        values = (getattr(self, each.name) for each in fields(self))  # type: ignore[arg-type]  # kinds are
        return ":".join((self.head, *_write(values)))


KINDS: Final[dict[str, type[Control]]] = {}
"""All kinds of controls, by their heads."""

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
    """Return the button, menu or form of a custom id; None if it is not one of ours."""
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
    """Read a number in base 36. Raises ValueError, for a sign and the like too."""
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
    """Which running turn."""


@_control("answer")
class AnswerButton(Control):
    """Regenerate or Continue under a finished answer."""

    action: Literal["again", "more"]
    user_id: int
    answer_id: int
    """The answer's row in the archive."""
    earlier_messages: tuple[int, ...] = ()
    """The Discord messages of this answer before the one that carries the button; at most four."""


@_control("retry")
class RetryButton(Control):
    """Ask the question of a turn once more that the program was ended under."""

    user_id: int
    entry: str
    """In the ledger of turns."""


@_control("about")
class AskForm(Control):
    """The form in which a question about a message is asked."""

    user_id: int
    message_id: int


@_control("summary")
class SummaryButton(Control):
    """Delete the summary of the button's channel."""

    user_id: int
    agent: str = DEFAULT_AGENT
    """Whose conversation is summarized."""


@_control("undo")
class UndoButton(Control):
    """Take back what an answer did to a memory."""

    action: Literal["added", "updated", "deleted"]
    user_id: int
    memory_id: int
    former_id: int = 0
    """The version that the memory named as the one before it, when that was done; 0 for none."""


@_control("used")
class UsedMemoriesButton(Control):
    """The memories that an answer looked up: as many of them as fit."""

    user_id: int
    memory_ids: tuple[int, ...] = ()

    def custom_id(self) -> str:
        written = Control.custom_id(self)
        while len(written) > LONGEST:
            written = written.rpartition(":")[0]
        return written


@_control("untell")
class UntellButton(Control):
    """See how to take forgotten memories out of conversations, too."""

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
    """The answer's row in the archive."""
    proposal_id: int


@_control("proposals")
class SeeProposalsButton(Control):
    """See all that an answer proposes."""

    user_id: int
    answer_id: int
    """The answer's row in the archive."""


@_control("form")
class FormButton(Control):
    """Answer what a server asks back during a call, or not."""

    action: Literal["fill", "skip"]
    user_id: int
    form: str
    """Which open form."""


@_control("sheet")
class FormSheet(Control):
    """The form in which that is answered."""

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
    """Only this category, if any."""


@_control("search")
class SearchButton(Control):
    """Another page of /memory search. The query is in the message itself: it may be too long
    for here."""

    user_id: int
    page: int
    """From 1."""
    category: str = ""


@_control("memory")
class MemoryButton(Control):
    """A thing to be done to one memory: a button, or a menu of its former versions."""

    action: MemoryAction
    user_id: int
    memory_id: int
    former_id: int = 0
    """The version that an edit replaced."""


@_control("open")
class OpenMenu(Control):
    """Choose one of the memories of a page, to see all of it."""

    user_id: int


@_control("edit")
class EditForm(Control):
    """The form in which a memory is changed."""

    user_id: int
    memory_id: int


@_control("all")
class ConfirmButton(Control):
    """The answer to a question about all memories: erase them, or import those of the attached file."""

    user_id: int
    decision: Decision
    count: int
    """The number of memories in the question."""
    until: int
    """Unix seconds; after that the question has to be asked again."""


# ---- reminders ---------------------------------------------------------------------------------------------


@_control("unschedule")
class UnscheduleButton(Control):
    """Have a reminder not come, or not come again."""

    user_id: int
    schedule_id: int


@_control("snooze")
class SnoozeButton(Control):
    """Be reminded of the same once more, a little later."""

    user_id: int
    schedule_id: int
    minutes: int
    """From the moment of the press."""


@_control("reminders")
class RemindersButton(Control):
    """Another page of /remind list."""

    user_id: int
    page: int
    """From 1."""


# ---- privacy -----------------------------------------------------------------------------------------------


@_control("privacy")
class PrivacyButton(Control):
    """Erase everything, or leave it."""

    user_id: int
    decision: Literal["erase", "keep"]
    until: int
    """Unix seconds; after that the question has to be asked again."""


# ---- browsers ----------------------------------------------------------------------------------------------


@_control("browsers")
class BrowserMenu(Control):
    """Sign out the chosen browser, or all of them."""

    user_id: int
