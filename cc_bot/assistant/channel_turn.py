"""What a turn in a channel is about while it is on its way."""

from collections.abc import Sequence
from dataclasses import dataclass

from cc_bot.assistant.turn import TurnOptions
from cc_bot.domain.channel import ChannelKey
from cc_bot.domain.message import Message


@dataclass(frozen=True, slots=True)
class ChannelTurn:
    """One turn of a channel conversation: what was asked, where, and for whom the answer is made."""

    key: ChannelKey
    questions: tuple[Message, ...]
    """Oldest first; they are in the archive already, and each has its discord_id."""
    options: TurnOptions
    replaces: bool = False
    """Whether the answer takes the place of an earlier one: only what stood before the questions is shown."""
    replaced: Message | None = None
    """That one."""


def user_of(questions: Sequence[Message]) -> int | None:
    """Whose memories may be used for an answer: the author of its only question, and nobody's where several
    questions are answered at once."""
    return questions[0].author_id if len(questions) == 1 else None
