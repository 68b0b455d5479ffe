"""What a button needs to know, written into its custom id (at most 100 characters, says Discord), so that
it works after a restart: no state of a button lives in memory."""

from dataclasses import dataclass
from typing import Literal

Direction = Literal["older", "newer"]

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

ANY_ASKER = 0
"""Instead of a user: whoever asked one of the questions that the running turn answers."""


@dataclass(frozen=True, slots=True)
class StopButton:
    user_id: int
    """Or ANY_ASKER."""
    turn: str
    """Which running turn."""

    def custom_id(self) -> str:
        return f"stop:{_base36(self.user_id)}:{self.turn}"


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
        return ":".join((self.action, *map(_base36, numbers)))


@dataclass(frozen=True, slots=True)
class ListButton:
    """Another page of /memory list."""

    user_id: int
    direction: Direction
    from_id: int
    """The memory that the page ends or begins beside."""
    category: str = ""
    """Only this category, if any."""

    def custom_id(self) -> str:
        numbers = f"{_base36(self.user_id)}:{_base36(self.from_id)}"
        return f"list:{self.direction}:{numbers}:{self.category}"


@dataclass(frozen=True, slots=True)
class SummaryButton:
    """Delete the summary of the channel that the button stands in."""

    user_id: int

    def custom_id(self) -> str:
        return f"summary:{_base36(self.user_id)}"


AnyButton = StopButton | AnswerButton | ListButton | SummaryButton


def parse_custom_id(custom_id: str) -> AnyButton | None:
    """The button that a custom id stands for; None for anything that is not ours."""
    try:
        match custom_id.split(":", 4):
            case ["stop", user, turn]:
                return StopButton(int(user, 36), turn)
            case ["list", ("older" | "newer") as direction, user, from_id, category]:
                return ListButton(int(user, 36), direction, int(from_id, 36), category)
            case ["summary", user]:
                return SummaryButton(int(user, 36))
            case [("again" | "more") as action, *_]:
                user_id, answer_id, *earlier = (int(number, 36) for number in custom_id.split(":")[1:])
                return AnswerButton(action, user_id, answer_id, tuple(earlier))
            case _:
                return None
    except ValueError:
        return None


def _base36(number: int) -> str:
    """A snowflake in 13 characters instead of 19, so that five of them fit."""
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"
