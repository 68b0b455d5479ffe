"""The notes of a turn's user that its prompt tells from the start, as many as the operator wants."""

from collections.abc import Sequence
from dataclasses import dataclass

from cc_bot.domain.memory import Audience, Memory
from cc_bot.domain.message import Visibility
from cc_bot.llm.model import ToolSchema
from cc_bot.stores import MemoryPinStore


@dataclass(frozen=True, slots=True)
class ProfileNotes:
    """Reads them where the model could look them up itself, and nowhere else: with `recall` in the same turn.

    So there are none while memory is paused, where several people are answered at once, and for an agent that
    has no such tool. They are no use of a memory that is told below the answer, and nothing that its user was
    shown: what would change one has to look it up.
    """

    pins: MemoryPinStore

    async def of(
        self, user_id: int | None, visibility: Visibility, offered: Sequence[ToolSchema]
    ) -> Sequence[Memory]:
        """`visibility` is that of the answer: what its readers may not see does not stand in its request."""
        if user_id is None or not any(tool.name == "recall" for tool in offered):
            return ()
        audience: Audience = "private" if visibility == "private" else "anywhere"
        return await self.pins.notes(user_id, audience=audience)
