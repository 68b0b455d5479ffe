"""What a button needs to know, written into its custom id (at most 100 characters, says Discord), so that
it works after a restart: no state of a button lives in memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from cc_bot.domain.memory import Order
from cc_bot.domain.message import DEFAULT_AGENT

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

LONGEST = 100
"""Characters of a custom id."""
ANY_ASKER = 0
"""Instead of a user: whoever asked one of the questions that the running turn answers."""


@dataclass(frozen=True, slots=True)
class StopButton:
    user_id: int
    """Or ANY_ASKER."""
    turn: str
    """Which running turn."""

    def custom_id(self) -> str:
        return f"stop:{base36(self.user_id)}:{self.turn}"


@dataclass(frozen=True, slots=True)
class AnswerButton:
    """Regenerate or Continue under a finished answer."""

    action: Literal["again", "more"]
    user_id: int
    answer_id: int
    """The answer's row in the archive."""
    earlier_messages: tuple[int, ...] = ()
    """The Discord messages of this answer before the one that carries the button; at most four."""

    def custom_id(self) -> str:
        numbers = (self.user_id, self.answer_id, *self.earlier_messages)
        return ":".join((self.action, *map(base36, numbers)))


@dataclass(frozen=True, slots=True)
class RetryButton:
    """Ask the question of a turn once more that the program was ended under."""

    user_id: int
    entry: str
    """In the ledger of turns."""

    def custom_id(self) -> str:
        return f"retry:{base36(self.user_id)}:{self.entry}"


@dataclass(frozen=True, slots=True)
class SummaryButton:
    """Delete the summary of the channel that the button stands in."""

    user_id: int
    agent: str = DEFAULT_AGENT
    """Of whose conversation it is."""

    def custom_id(self) -> str:
        return f"summary:{base36(self.user_id)}:{self.agent}"


@dataclass(frozen=True, slots=True)
class UndoButton:
    """Take back what an answer did to a memory."""

    action: Literal["added", "updated", "deleted"]
    user_id: int
    memory_id: int
    former_id: int = 0
    """The version that the memory named as the one before it, when that was done; 0 for none."""

    def custom_id(self) -> str:
        numbers = (self.user_id, self.memory_id, self.former_id)
        return ":".join((f"undo-{self.action}", *map(base36, numbers)))


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """No button: what is on record of a line that a memory was known already, which nothing takes back."""

    user_id: int
    memory_id: int

    def record(self) -> str:
        return ":".join(("known", *map(base36, (self.user_id, self.memory_id))))

    @classmethod
    def read(cls, record: str) -> "KnownMemory | None":
        """None for any other line."""
        match record.split(":"):
            case ["known", user, memory]:
                return cls(int(user, 36), int(memory, 36))
            case _:
                return None


@dataclass(frozen=True, slots=True)
class UsedMemoriesButton:
    """Which memories an answer looked up: as many of them as fit."""

    user_id: int
    memory_ids: tuple[int, ...]

    def custom_id(self) -> str:
        custom_id = f"used:{base36(self.user_id)}"
        for number in self.memory_ids:
            longer = f"{custom_id}:{base36(number)}"
            if len(longer) > LONGEST:
                break
            custom_id = longer
        return custom_id


@dataclass(frozen=True, slots=True)
class UntellButton:
    """See how to take forgotten memories out of conversations, too."""

    user_id: int
    memory_ids: tuple[int, ...]
    """At most four."""

    def custom_id(self) -> str:
        return ":".join(("untell", *map(base36, (self.user_id, *self.memory_ids))))


@dataclass(frozen=True, slots=True)
class ProposalButton:
    """Have done what an answer proposes, or not."""

    action: Literal["do", "dont"]
    user_id: int
    proposal_id: int

    def custom_id(self) -> str:
        return f"{self.action}:{base36(self.user_id)}:{base36(self.proposal_id)}"


@dataclass(frozen=True, slots=True)
class SeeProposalsButton:
    """See all that an answer proposes."""

    user_id: int
    answer_id: int
    """The answer's row in the archive."""

    def custom_id(self) -> str:
        return f"proposals:{base36(self.user_id)}:{base36(self.answer_id)}"


AnyButton = (
    StopButton
    | AnswerButton
    | RetryButton
    | SummaryButton
    | UndoButton
    | UsedMemoriesButton
    | UntellButton
    | ProposalButton
    | SeeProposalsButton
)


_UNDO: Final[dict[str, Literal["added", "updated", "deleted"]]] = {
    "undo-added": "added",
    "undo-updated": "updated",
    "undo-deleted": "deleted",
}


def parse_custom_id(custom_id: str) -> AnyButton | None:
    """The button that a custom id stands for; None for anything that is not ours."""
    try:
        return _parsed(custom_id)
    except ValueError:
        return None


def _parsed(custom_id: str) -> AnyButton | None:
    button: AnyButton | None = None
    match custom_id.split(":", 4):
        case ["stop", user, turn]:
            button = StopButton(int(user, 36), turn)
        case ["retry", user, entry]:
            button = RetryButton(int(user, 36), entry)
        case ["summary", user]:
            button = SummaryButton(int(user, 36))
        case ["summary", user, agent]:
            button = SummaryButton(int(user, 36), agent)
        case [("undo-added" | "undo-updated" | "undo-deleted") as action, user, memory, former]:
            button = UndoButton(_UNDO[action], int(user, 36), int(memory, 36), int(former, 36))
        case [("do" | "dont") as action, user, proposal]:
            button = ProposalButton(action, int(user, 36), int(proposal, 36))
        case ["proposals", user, answer]:
            button = SeeProposalsButton(int(user, 36), int(answer, 36))
        case ["used", *_]:
            owner_id, *memory_ids = _numbers(custom_id)
            button = UsedMemoriesButton(owner_id, tuple(memory_ids))
        case ["untell", *_]:
            owner_id, *memory_ids = _numbers(custom_id)
            button = UntellButton(owner_id, tuple(memory_ids))
        case [("again" | "more") as action, *_]:
            user_id, answer_id, *earlier = _numbers(custom_id)
            button = AnswerButton(action, user_id, answer_id, tuple(earlier))
        case _:
            pass
    return button


def _numbers(custom_id: str) -> list[int]:
    return [int(number, 36) for number in custom_id.split(":")[1:]]


def base36(number: int) -> str:
    """A snowflake in 13 characters instead of 19, so that five of them fit."""
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


# ---- memory ids ------------------------------------------------------------------------------------------
# What the buttons, menus and forms of `/memory` need to know, in their custom ids.

MemoryAction = Literal[
    "edit",
    "undo-edit",
    "delete",
    "undelete",
    "erase",
    "erase-alone",
    "erase-said",
    "anywhere",
    "private",
    "restore",
    "pin",
    "unpin",
]
Decision = Literal["erase", "erase-said", "import", "cancel"]


@dataclass(frozen=True, slots=True)
class ListButton:
    """Another page of /memory list."""

    user_id: int
    order: Order
    page: int
    """From 1."""
    category: str = ""
    """Only this category, if any."""

    def custom_id(self) -> str:
        return f"list:{base36(self.user_id)}:{self.order}:{base36(self.page)}:{self.category}"


@dataclass(frozen=True, slots=True)
class SearchButton:
    """Another page of /memory search. What was looked for stands in the message itself: it may be too long
    for here."""

    user_id: int
    page: int
    """From 1."""
    category: str = ""

    def custom_id(self) -> str:
        return f"search:{base36(self.user_id)}:{base36(self.page)}:{self.category}"


@dataclass(frozen=True, slots=True)
class MemoryButton:
    """Something to be done to one memory: a button, or a menu of its former versions."""

    action: MemoryAction
    user_id: int
    memory_id: int
    former_id: int = 0
    """The version that an edit replaced."""

    def custom_id(self) -> str:
        numbers = f"{base36(self.memory_id)}:{base36(self.former_id)}"
        return f"memory:{base36(self.user_id)}:{self.action}:{numbers}"


@dataclass(frozen=True, slots=True)
class OpenMenu:
    """Choose one of the memories of a page, to see all of it."""

    user_id: int

    def custom_id(self) -> str:
        return f"open:{base36(self.user_id)}"


@dataclass(frozen=True, slots=True)
class EditForm:
    """The form in which a memory is changed."""

    user_id: int
    memory_id: int

    def custom_id(self) -> str:
        return f"edit:{base36(self.user_id)}:{base36(self.memory_id)}"


@dataclass(frozen=True, slots=True)
class ConfirmButton:
    """The answer to a question about all memories: erase them, or import those of the attached file."""

    user_id: int
    decision: Decision
    count: int
    """Of how many the question spoke."""
    until: int
    """Unix seconds; after that the question has to be asked again."""

    def custom_id(self) -> str:
        return f"all:{base36(self.user_id)}:{self.decision}:{base36(self.count)}:{base36(self.until)}"


MemoryControl = ListButton | SearchButton | MemoryButton | OpenMenu | EditForm | ConfirmButton


def parse_memory_id(custom_id: str) -> MemoryControl | None:
    """What a custom id stands for; None for anything that is not of /memory."""
    kind, *parts = custom_id.split(":", 2)
    reader = _READERS.get(kind)
    if reader is None or not parts:
        return None
    user, *rest = parts
    try:
        return reader(int(user, 36), rest[0] if rest else "")
    except (KeyError, ValueError):
        return None


def _list(user_id: int, rest: str) -> ListButton:
    order, page, category = rest.split(":", 2)
    return ListButton(user_id, _ORDERS[order], int(page, 36), category)


def _search(user_id: int, rest: str) -> SearchButton:
    page, category = rest.split(":", 1)
    return SearchButton(user_id, int(page, 36), category)


def _memory(user_id: int, rest: str) -> MemoryButton:
    action, memory_id, former_id = rest.split(":")
    return MemoryButton(_ACTIONS[action], user_id, int(memory_id, 36), int(former_id, 36))


def _open(user_id: int, rest: str) -> OpenMenu:
    if rest:
        raise ValueError
    return OpenMenu(user_id)


def _edit(user_id: int, rest: str) -> EditForm:
    return EditForm(user_id, int(rest, 36))


def _all(user_id: int, rest: str) -> ConfirmButton:
    decision, count, until = rest.split(":")
    return ConfirmButton(user_id, _DECISIONS[decision], int(count, 36), int(until, 36))


_ORDERS: Final[Mapping[str, Order]] = {order: order for order in get_args(Order)}
_ACTIONS: Final[Mapping[str, MemoryAction]] = {action: action for action in get_args(MemoryAction)}
_DECISIONS: Final[Mapping[str, Decision]] = {decision: decision for decision in get_args(Decision)}
_READERS: Final[Mapping[str, Callable[[int, str], MemoryControl]]] = {
    "list": _list,
    "search": _search,
    "memory": _memory,
    "open": _open,
    "edit": _edit,
    "all": _all,
}

# ---- schedule ids ----------------------------------------------------------------------------------------
# What the buttons about reminders need to know, in their custom ids.


@dataclass(frozen=True, slots=True)
class UnscheduleButton:
    """Have a reminder not come, or not come again."""

    user_id: int
    schedule_id: int

    def custom_id(self) -> str:
        return f"unschedule:{base36(self.user_id)}:{base36(self.schedule_id)}"


@dataclass(frozen=True, slots=True)
class SnoozeButton:
    """Be reminded of the same once more, a little later."""

    user_id: int
    schedule_id: int
    minutes: int
    """From the moment of the press."""

    def custom_id(self) -> str:
        numbers = (self.user_id, self.schedule_id, self.minutes)
        return ":".join(("snooze", *map(base36, numbers)))


@dataclass(frozen=True, slots=True)
class RemindersButton:
    """Another page of /remind list."""

    user_id: int
    page: int
    """From 1."""

    def custom_id(self) -> str:
        return f"reminders:{base36(self.user_id)}:{base36(self.page)}"


ScheduleControl = UnscheduleButton | SnoozeButton | RemindersButton


def parse_schedule_id(custom_id: str) -> ScheduleControl | None:
    """What a custom id stands for; None for anything that is not about reminders."""
    kind, *parts = custom_id.split(":")
    try:
        numbers = [int(part, 36) for part in parts]
    except ValueError:
        return None
    match kind, numbers:
        case "unschedule", [user_id, schedule_id]:
            return UnscheduleButton(user_id, schedule_id)
        case "snooze", [user_id, schedule_id, minutes]:
            return SnoozeButton(user_id, schedule_id, minutes)
        case "reminders", [user_id, page]:
            return RemindersButton(user_id, page)
        case _:
            return None
