"""What a button needs to know, written into its custom id (at most 100 characters, says Discord), so that
it works after a restart: no state of a button lives in memory."""

from dataclasses import dataclass
from typing import Final, Literal

from cc_bot.domain.agent import DEFAULT_AGENT

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
