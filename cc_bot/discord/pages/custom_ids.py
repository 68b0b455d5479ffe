"""Custom ids: what a button, a menu or a form needs to know is written into its own (at most 100 characters,
says Discord), so that it works after a restart: no state of a button lives in memory.

A custom id is the head of its kind and the values that belong to it, with colons between them and numbers in
base 36: a snowflake takes 13 characters instead of 19, so that five of them fit. Messages keep their buttons
for years, so a form that was once released stays readable.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Final, Literal, cast, get_args, get_type_hints

from cc_bot.domain.memory import Order
from cc_bot.domain.message import DEFAULT_AGENT

LONGEST = 100
"""Characters of a custom id."""
ANY_ASKER = 0
"""Instead of a user: whoever asked one of the questions that the running turn answers."""

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class CustomId:
    """The base of all kinds, which are dataclasses."""

    __slots__ = ()

    head: ClassVar[str]
    """The beginning; it may name the action among its fields."""
    follow: ClassVar[tuple[str, ...]] = ()
    """The fields after it, where that is another order than theirs. The last one may be numbers, or a text
    that holds anything."""

    def custom_id(self) -> str:
        head = self.head.format(action=getattr(self, "action", ""))
        return ":".join((head, *_write(getattr(self, name) for name in _following(type(self)))))


# ---- answers -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StopButton(CustomId):
    head = "stop"
    user_id: int
    """Or ANY_ASKER."""
    turn: str
    """Which running turn."""


@dataclass(frozen=True, slots=True)
class AnswerButton(CustomId):
    """Regenerate or Continue under a finished answer."""

    head = "{action}"
    action: Literal["again", "more"]
    user_id: int
    answer_id: int
    """The answer's row in the archive."""
    earlier_messages: tuple[int, ...] = ()
    """The Discord messages of this answer before the one that carries the button; at most four."""


@dataclass(frozen=True, slots=True)
class RetryButton(CustomId):
    """Ask the question of a turn once more that the program was ended under."""

    head = "retry"
    user_id: int
    entry: str
    """In the ledger of turns."""


@dataclass(frozen=True, slots=True)
class AskForm(CustomId):
    """The form in which a question about a message is asked."""

    head = "about"
    user_id: int
    message_id: int


@dataclass(frozen=True, slots=True)
class SummaryButton(CustomId):
    """Delete the summary of the channel that the button stands in."""

    head = "summary"
    user_id: int
    agent: str = DEFAULT_AGENT
    """Of whose conversation it is."""


@dataclass(frozen=True, slots=True)
class UndoButton(CustomId):
    """Take back what an answer did to a memory."""

    head = "undo-{action}"
    action: Literal["added", "updated", "deleted"]
    user_id: int
    memory_id: int
    former_id: int = 0
    """The version that the memory named as the one before it, when that was done; 0 for none."""


@dataclass(frozen=True, slots=True)
class UsedMemoriesButton(CustomId):
    """The memories that an answer looked up: as many of them as fit."""

    head = "used"
    user_id: int
    memory_ids: tuple[int, ...]

    def custom_id(self) -> str:
        written = CustomId.custom_id(self)
        while len(written) > LONGEST:
            written = written.rpartition(":")[0]
        return written


@dataclass(frozen=True, slots=True)
class UntellButton(CustomId):
    """See how to take forgotten memories out of conversations, too."""

    head = "untell"
    user_id: int
    memory_ids: tuple[int, ...]
    """At most four."""


@dataclass(frozen=True, slots=True)
class ProposalButton(CustomId):
    """Have done what an answer proposes, or not."""

    head = "{action}"
    action: Literal["do", "dont"]
    user_id: int
    proposal_id: int


@dataclass(frozen=True, slots=True)
class CallButton(CustomId):
    """Have a tool of a server called, or not. Who may decide that stands with the proposal."""

    head = "call-{action}"
    action: Literal["do", "dont"]
    user_id: int
    """Who asked."""
    proposal_id: int


@dataclass(frozen=True, slots=True)
class SeeProposalsButton(CustomId):
    """See all that an answer proposes."""

    head = "proposals"
    user_id: int
    answer_id: int
    """The answer's row in the archive."""


@dataclass(frozen=True, slots=True)
class FormButton(CustomId):
    """Answer what a server asks back during a call, or not."""

    head = "form-{action}"
    action: Literal["fill", "skip"]
    user_id: int
    form: str
    """Which open form."""


@dataclass(frozen=True, slots=True)
class FormSheet(CustomId):
    """The form in which that is answered."""

    head = "sheet"
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


@dataclass(frozen=True, slots=True)
class ListButton(CustomId):
    """Another page of /memory list."""

    head = "list"
    user_id: int
    order: Order
    page: int
    """From 1."""
    category: str = ""
    """Only this category, if any."""


@dataclass(frozen=True, slots=True)
class SearchButton(CustomId):
    """Another page of /memory search. What was looked for stands in the message itself: it may be too long
    for here."""

    head = "search"
    user_id: int
    page: int
    """From 1."""
    category: str = ""


@dataclass(frozen=True, slots=True)
class MemoryButton(CustomId):
    """A thing to be done to one memory: a button, or a menu of its former versions."""

    head = "memory"
    follow = ("user_id", "action", "memory_id", "former_id")
    action: MemoryAction
    user_id: int
    memory_id: int
    former_id: int = 0
    """The version that an edit replaced."""


@dataclass(frozen=True, slots=True)
class OpenMenu(CustomId):
    """Choose one of the memories of a page, to see all of it."""

    head = "open"
    user_id: int


@dataclass(frozen=True, slots=True)
class EditForm(CustomId):
    """The form in which a memory is changed."""

    head = "edit"
    user_id: int
    memory_id: int


@dataclass(frozen=True, slots=True)
class ConfirmButton(CustomId):
    """The answer to a question about all memories: erase them, or import those of the attached file."""

    head = "all"
    user_id: int
    decision: Decision
    count: int
    """Of how many the question spoke."""
    until: int
    """Unix seconds; after that the question has to be asked again."""


# ---- reminders ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UnscheduleButton(CustomId):
    """Have a reminder not come, or not come again."""

    head = "unschedule"
    user_id: int
    schedule_id: int


@dataclass(frozen=True, slots=True)
class SnoozeButton(CustomId):
    """Be reminded of the same once more, a little later."""

    head = "snooze"
    user_id: int
    schedule_id: int
    minutes: int
    """From the moment of the press."""


@dataclass(frozen=True, slots=True)
class RemindersButton(CustomId):
    """Another page of /remind list."""

    head = "reminders"
    user_id: int
    page: int
    """From 1."""


# ---- privacy -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PrivacyButton(CustomId):
    """Erase everything, or leave it."""

    head = "privacy"
    user_id: int
    decision: Literal["erase", "keep"]
    until: int
    """Unix seconds; after that the question has to be asked again."""


# ---- browsers ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BrowserMenu(CustomId):
    """Sign out one of the browsers that show somebody's pages, or all of them: what was chosen tells."""

    head = "browsers"
    user_id: int


# ---- reading -----------------------------------------------------------------------------------------------

Control = (
    StopButton
    | AnswerButton
    | RetryButton
    | AskForm
    | SummaryButton
    | UndoButton
    | UsedMemoriesButton
    | UntellButton
    | ProposalButton
    | CallButton
    | SeeProposalsButton
    | FormButton
    | FormSheet
    | ListButton
    | SearchButton
    | MemoryButton
    | OpenMenu
    | EditForm
    | ConfirmButton
    | UnscheduleButton
    | SnoozeButton
    | RemindersButton
    | PrivacyButton
    | BrowserMenu
)


@dataclass(frozen=True, slots=True)
class _Form:
    """The way to read a kind, where its head is known."""

    make: Callable[..., Control]
    known: dict[str, str]
    """The action, where the head names it."""
    values: dict[str, Any]
    """The names and the types of what follows."""
    least: int
    """How many of those there are at least."""

    def read(self, text: str | None) -> Control:
        """Read what follows the head. Raises ValueError for what is none of its kind."""
        parts = self._parts(text)
        if len(parts) < self.least:
            raise ValueError
        found = {
            name: _read(part, kind) for part, (name, kind) in zip(parts, self.values.items(), strict=False)
        }
        return self.make(**self.known, **found)

    def _parts(self, text: str | None) -> Sequence[str | list[str]]:
        if text is None:
            return ()
        *others, last = self.values.values()
        parts = text.split(":", len(others))
        if last != tuple[int, ...] or len(parts) < len(others):
            return parts
        known = parts[: len(others)]
        return [*known, [number for rest in parts[len(known) :] for number in rest.split(":")]]


def parse_custom_id(custom_id: str) -> Control | None:
    """The button, menu or form that a custom id stands for; None for anything that is not ours."""
    head, *rest = custom_id.split(":", 1)
    form = _FORMS.get(head)
    try:
        return form.read(rest[0] if rest else None) if form else None
    except ValueError:
        return None


def _following(kind: type[CustomId]) -> Sequence[str]:
    names = (each.name for each in fields(cast("type[Control]", kind)))
    return kind.follow or [name for name in names if f"{{{name}}}" not in kind.head]


def _forms(kind: type[Control]) -> Iterator[tuple[str, _Form]]:
    """Yield each head of a kind, with how it is read."""
    types, defaults = get_type_hints(kind), {each.name: each.default for each in fields(kind)}
    values = {name: types[name] for name in _following(kind)}
    least = sum(defaults[name] is MISSING for name in values)
    if "{action}" not in kind.head:
        yield kind.head, _Form(kind, {}, values, least)
        return
    for action in get_args(types["action"]):
        yield kind.head.format(action=action), _Form(kind, {"action": action}, values, least)


def _write(values: Sequence[object] | Iterator[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, tuple):
            yield from map(base36, value)
        else:
            yield base36(value) if isinstance(value, int) else str(value)


def _read(part: str | list[str], kind: Any) -> object:
    if isinstance(part, list):
        return tuple(map(_number, part))
    if kind is int:
        return _number(part)
    if kind is not str and part not in get_args(kind):
        raise ValueError
    return part


def _number(text: str) -> int:
    """Read a number in base 36. Raises ValueError; a sign and the like are nothing that was ever written."""
    if not text.isalnum():
        raise ValueError
    return int(text, 36)


def base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


_FORMS: Final = {head: form for kind in get_args(Control) for head, form in _forms(kind)}
