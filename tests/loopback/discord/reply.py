"""One interaction from the user's side: was it acknowledged, what has been shown, how did it change."""

from dataclasses import dataclass
from typing import Any

from tests.loopback.discord.interactions import ACKNOWLEDGE_WITHIN_S, Interaction
from tests.loopback.discord.messages import Message, Shown
from tests.loopback.discord.watched import Watched
from tests.loopback.discord.world import loop_time


@dataclass(eq=False, slots=True)
class Reply(Watched):
    """What one interaction led to."""

    interaction: Interaction

    async def acknowledged(self) -> "Reply":
        """Raises AssertionError when 3 s pass without any callback, as a user would see 'did not respond'."""
        return await self.until(
            lambda reply: reply.is_acknowledged, "an acknowledgement", timeout_s=ACKNOWLEDGE_WITHIN_S + 0.2
        )

    @property
    def is_finished(self) -> bool:
        """Acknowledged, and nothing 'thinking' any more."""
        return self.is_acknowledged and not self.loading

    @property
    def is_acknowledged(self) -> bool:
        return self.interaction.answered is not None

    @property
    def acknowledged_after_s(self) -> float:
        assert self.interaction.answered_at_s is not None, "not acknowledged"
        return self.interaction.answered_at_s - self.interaction.sent_at_s

    @property
    def loading(self) -> bool:
        """Whether the user still sees 'thinking…'."""
        return any(message.loading for message in self.stored if not message.deleted)

    @property
    def stored(self) -> list[Message]:
        """The messages of this reply, deleted ones too, the original response first."""
        original = self.interaction.original
        return ([original] if original is not None else []) + self.interaction.followups

    @property
    def ephemeral(self) -> bool:
        return all(shown.ephemeral for shown in self.messages)

    @property
    def history(self) -> list[Shown]:
        """Every state of every message since this interaction was sent, in the order of time."""
        states = [self._read(shown) for message in self.stored for shown in message.history]
        return sorted(
            (s for s in states if s.at_s >= self.interaction.sent_at_s), key=lambda shown: shown.at_s
        )

    @property
    def modal(self) -> dict[str, Any] | None:
        return self.interaction.modal

    def age(self, seconds: float) -> None:
        """Makes the interaction older: past 3 s it can't be acknowledged, past 900 s its token is dead."""
        self.interaction.sent_at_s -= seconds

    def describe(self) -> str:
        now = loop_time()
        answered = self.interaction.answered.name if self.interaction.answered else "nothing"
        head = f"{now - self.interaction.sent_at_s:.3f} s after it was sent, answered with {answered}"
        return "\n".join([head, *self._lines()])
