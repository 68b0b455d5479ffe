"""The custom id of a button, menu or form holds its state, so that it works after a restart.

It is the head of the control's kind and the values of its fields, joined by colons, with numbers in base 36.
`answer_id` is a row of the archive; pages count from 1; a `former_id` of 0 is no former version.
"""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final, Literal, dataclass_transform, get_args

from cc_bot.domain.message import DEFAULT_AGENT
from cc_bot.features.memory.model import Order

MAX_LENGTH = 100
ANY_ASKER = 0  # as a user id: all authors of the running turn's questions

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass_transform(frozen_default=True)
class Control:
    """A button, menu or form. Its last field may be a tuple of numbers, or text with colons."""

    head: ClassVar[str]
    is_form: ClassVar[bool]
    user_id: int

    def __init_subclass__(cls, head: str, *, is_form: bool = False) -> None:
        cls.head, cls.is_form = head, is_form
        KINDS[head] = dataclass(frozen=True)(cls)

    def custom_id(self) -> str:
        parts = [self.head]
        for each in fields(self):  # type: ignore[arg-type]  # kinds are dataclasses
            value = getattr(self, each.name)
            values = value if isinstance(value, tuple) else (value,)
            parts += [base36(each) if isinstance(each, int) else str(each) for each in values]
        return ":".join(parts)


KINDS: Final[dict[str, type[Control]]] = {}


def parse_custom_id(custom_id: str) -> Control | None:
    head, *rest = custom_id.split(":", 1)
    if (kind := KINDS.get(head)) is None:
        return None
    types = [each.type for each in fields(kind)]  # type: ignore[arg-type]  # kinds are dataclasses
    parts = rest[0].split(":", len(types) - 1) if rest else []
    try:
        return kind(*map(_read, parts, types))
    except (TypeError, ValueError):  # values are missing or malformed
        return None


def _read(part: str, kind: Any) -> object:
    if kind == tuple[int, ...]:
        return tuple(map(_number, part.split(":")))
    if kind is int:
        return _number(part)
    if kind is not str and part not in get_args(kind):
        raise ValueError
    return part


def _number(text: str) -> int:
    if not text.isalnum():
        raise ValueError
    return int(text, 36)


def base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


class StopButton(Control, head="stop"):
    user_id: int
    turn_name: str  # of a RunningTurn


class AnswerButton(Control, head="answer"):
    """Regenerate or continue a finished answer."""

    action: Literal["again", "more"]
    user_id: int
    answer_id: int
    earlier_message_ids: tuple[int, ...] = ()
    """Ids of at most four messages of the answer above the one with the button."""


class RetryButton(Control, head="retry"):
    user_id: int
    turn_id: str  # in the ledger


class AskForm(Control, head="about", is_form=True):
    user_id: int
    message_id: int


class ShowButton(Control, head="show"):
    """Show the presser what a command shows."""

    user_id: int
    command: str  # perhaps with a colon and an agent


class AgentButton(Control, head="agent"):
    user_id: int
    name: str


Setting = Literal["language", "timezone", "voice"]


class SettingsButton(Control, head="setting"):
    user_id: int
    setting: Setting
    value: str


class TimezoneForm(Control, head="zone", is_form=True):
    user_id: int


class SummaryButton(Control, head="summary"):
    user_id: int
    agent: str = DEFAULT_AGENT


class UndoButton(Control, head="undo"):
    action: Literal["added", "updated", "deleted"]
    user_id: int
    memory_id: int
    former_id: int = 0


class UsedMemoriesButton(Control, head="used"):
    user_id: int
    memory_ids: tuple[int, ...] = ()

    def custom_id(self) -> str:
        written = Control.custom_id(self)
        while len(written) > MAX_LENGTH:
            written = written.rpartition(":")[0]
        return written


class OfferErasureButton(Control, head="untell"):
    user_id: int
    memory_ids: tuple[int, ...] = ()  # at most four


class ProposalButton(Control, head="proposal"):
    """Approve or decline a proposal. Its stored row says who may do so."""

    action: Literal["do", "dont"]
    user_id: int
    answer_id: int
    proposal_id: int


class SeeProposalsButton(Control, head="proposals"):
    user_id: int
    answer_id: int


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


class ListButton(Control, head="list"):
    user_id: int
    order: Order
    page: int
    category: str = ""


class SearchButton(Control, head="search"):
    """Show another page of /memory search. The query may be too long for an id: the message has it."""

    user_id: int
    page: int
    category: str = ""


class MemoryButton(Control, head="memory"):
    action: MemoryAction
    user_id: int
    memory_id: int
    former_id: int = 0


class OpenButton(Control, head="open"):
    user_id: int
    number: int  # of a memory


class EditForm(Control, head="edit", is_form=True):
    user_id: int
    memory_id: int


class ConfirmButton(Control, head="all"):
    """Confirm or cancel the erasure of all memories, or their import from the attached file."""

    user_id: int
    decision: Decision
    count: int
    until: int  # Unix seconds


class UnscheduleButton(Control, head="unschedule"):
    user_id: int
    schedule_id: int


class SnoozeButton(Control, head="snooze"):
    user_id: int
    schedule_id: int
    minutes: int


class RemindersButton(Control, head="reminders"):
    user_id: int
    page: int
    cancelled: int = 0  # number of a reminder to cancel first
    resumed: int = 0  # number of one to resume first


class PrivacyButton(Control, head="privacy"):
    user_id: int
    decision: Literal["erase", "keep"]
    until: int  # Unix seconds


class BrowserMenu(Control, head="browsers"):
    user_id: int
