"""Some messages of the bot that belong together, seen from the user's side as they change."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from tests.loopback.discord.command_mentions import as_read
from tests.loopback.discord.language import is_wrong
from tests.loopback.discord.messages import Message, Shown
from tests.loopback.discord.transcript import Transcript
from tests.loopback.discord.world import World


@dataclass(eq=False, slots=True)
class Watched(ABC):
    """`any_language` switches the language check off; `locale` is the one that is expected otherwise."""

    world: World
    transcript: Transcript
    patience_s: float
    locale: str
    any_language: bool = field(default=False, kw_only=True)

    @property
    @abstractmethod
    def stored(self) -> list[Message]:
        """The messages, deleted ones too, in the order in which they are read."""

    @property
    @abstractmethod
    def is_finished(self) -> bool:
        """Whether nothing shows any more that the bot is still at it."""

    @abstractmethod
    def describe(self) -> str: ...

    async def finished(
        self, predicate: Callable[[Self], object] | None = None, *, timeout_s: float | None = None
    ) -> Self:
        """`is_finished`, and `predicate(reply)` true."""

        def done(reply: Self) -> bool:
            return reply.is_finished and (predicate is None or bool(predicate(reply)))

        return await self.until(done, "a finished reply", timeout_s=timeout_s)

    async def until(
        self, predicate: Callable[[Self], object], what: str = "the reply", *, timeout_s: float | None = None
    ) -> Self:
        """Looks at each change until `predicate(reply)` is true. Raises AssertionError with what was seen."""
        await self.world.pulse.until(
            lambda: bool(predicate(self)),
            timeout_s=timeout_s or self.patience_s,
            what=what,
            seen=self.describe,
        )
        return self

    @property
    def messages(self) -> list[Shown]:
        """What is to be seen of it now."""
        return [self._read(message.shown) for message in self.stored if not message.deleted]

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
    def history(self) -> list[Shown]:
        """Every state of every message, in the order of time."""
        states = [self._read(shown) for message in self.stored for shown in message.history]
        return sorted(states, key=lambda shown: shown.at_s)

    @property
    def wrong_language(self) -> list[str]:
        """Texts that were shown in a language other than expected; 'thinking' and any_language apart."""
        if self.any_language:
            return []
        return [s.written for s in self.history if not s.loading and is_wrong(self.locale, s.written)]

    def _read(self, shown: Shown) -> Shown:
        """As somebody of the expected language reads it."""
        return as_read(shown, self.world.commands, self.locale)

    def _lines(self) -> list[str]:
        lines = []
        for shown in self.messages:
            state = "thinking" if shown.loading else repr(shown.written[:300])
            lines.append(f"  {shown.id}{' (ephemeral)' if shown.ephemeral else ''}: {state}")
        return [*lines, self.transcript.tail()]
