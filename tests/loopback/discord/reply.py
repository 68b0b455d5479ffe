"""One interaction from the user's side: was it acknowledged, what has been shown, how did it change."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.loopback.discord.interactions import ACKNOWLEDGE_WITHIN_S, Interaction
from tests.loopback.discord.language import is_wrong
from tests.loopback.discord.messages import Message, Shown
from tests.loopback.discord.transcript import Transcript
from tests.loopback.discord.world import World, loop_time


@dataclass(eq=False, slots=True)
class Reply:
    """What one interaction led to. `any_language` switches the language check off for this reply."""

    interaction: Interaction
    world: World
    transcript: Transcript
    patience_s: float
    any_language: bool = False

    async def acknowledged(self) -> "Reply":
        """Raises AssertionError when 3 s pass without any callback, as a user would see 'did not respond'."""
        return await self.until(
            lambda reply: reply.is_acknowledged, "an acknowledgement", timeout_s=ACKNOWLEDGE_WITHIN_S + 0.2
        )

    async def finished(
        self, predicate: "Callable[[Reply], object] | None" = None, *, timeout_s: float | None = None
    ) -> "Reply":
        """Acknowledged, nothing 'thinking' any more, and `predicate(reply)` true."""

        def done(reply: Reply) -> bool:
            return (
                reply.is_acknowledged and not reply.loading and (predicate is None or bool(predicate(reply)))
            )

        return await self.until(done, "a finished reply", timeout_s=timeout_s)

    async def until(
        self,
        predicate: "Callable[[Reply], object]",
        what: str = "the reply",
        *,
        timeout_s: float | None = None,
    ) -> "Reply":
        """Looks at each change until `predicate(reply)` is true. Raises AssertionError with what was seen."""
        await self.world.pulse.until(
            lambda: bool(predicate(self)),
            timeout_s=timeout_s or self.patience_s,
            what=what,
            seen=self.describe,
        )
        return self

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
    def messages(self) -> list[Shown]:
        """What the user sees of it now."""
        return [message.shown for message in self.stored if not message.deleted]

    @property
    def message(self) -> Shown:
        """The first message that is still there."""
        assert self.messages, f"no message: {self.describe()}"
        return self.messages[0]

    @property
    def text(self) -> str:
        """All messages' texts, one under the other."""
        return "\n".join(shown.text for shown in self.messages)

    @property
    def labels(self) -> list[str]:
        """The buttons that can be pressed, over all messages."""
        return [label for shown in self.messages for label in shown.labels]

    @property
    def ephemeral(self) -> bool:
        return all(shown.ephemeral for shown in self.messages)

    @property
    def history(self) -> list[Shown]:
        """Every state of every message since this interaction was sent, in the order of time."""
        states = [shown for message in self.stored for shown in message.history]
        return sorted(
            (s for s in states if s.at_s >= self.interaction.sent_at_s), key=lambda shown: shown.at_s
        )

    @property
    def modal(self) -> dict[str, Any] | None:
        return self.interaction.modal

    @property
    def wrong_language(self) -> list[str]:
        """Texts that were shown in a language other than the user's; 'thinking' and any_language apart."""
        if self.any_language:
            return []
        return [
            s.written
            for s in self.history
            if not s.loading and is_wrong(self.interaction.user.locale, s.written)
        ]

    def age(self, seconds: float) -> None:
        """Makes the interaction older: past 3 s it can't be acknowledged, past 900 s its token is dead."""
        self.interaction.sent_at_s -= seconds

    def describe(self) -> str:
        now = loop_time()
        answered = self.interaction.answered.name if self.interaction.answered else "nothing"
        lines = [f"{now - self.interaction.sent_at_s:.3f} s after it was sent, answered with {answered}"]
        for shown in self.messages:
            state = "thinking" if shown.loading else repr(shown.written[:300])
            lines.append(f"  {shown.id}{' (ephemeral)' if shown.ephemeral else ''}: {state}")
        return "\n".join([*lines, self.transcript.tail()])
