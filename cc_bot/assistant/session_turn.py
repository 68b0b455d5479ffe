"""What a turn of a session is about: a question, on top of what was said between that user and the model."""

from dataclasses import dataclass

from cc_bot.assistant.turn import TurnOptions
from cc_bot.domain.message import Message, Visibility
from cc_bot.domain.session import Session
from cc_bot.tools.canvas_draft import CanvasDraft


@dataclass(frozen=True, slots=True)
class SessionTurn:
    session: Session
    question: Message
    history: tuple[Message, ...]
    visibility: Visibility
    options: TurnOptions
    canvas: CanvasDraft
    """What is up, as far as the turn may see it, and what it draws."""
    replaces: int | None = None
    """The row of the answer that this one takes the place of; its question is stored already."""
    replaced: Message | None = None
    """That answer."""
