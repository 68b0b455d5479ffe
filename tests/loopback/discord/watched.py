import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from tests.loopback.discord.channels import ChannelKind, User
from tests.loopback.discord.commands import as_read
from tests.loopback.discord.interactions import ACKNOWLEDGE_WITHIN_S, Interaction
from tests.loopback.discord.messages import Message, Shown
from tests.loopback.discord.wire import Transcript
from tests.loopback.discord.world import World, loop_time

KANA = re.compile(r"[ぁ-ゖァ-ヺ]")
LETTER = re.compile(r"[^\W\d_]")


def is_wrong(locale: str, written: str) -> bool:
    """True for kana under another locale than Japanese, and for letters without any kana under Japanese.

    Deliberately coarse: kana are Japanese and nothing else, so English must have none and Japanese some.
    """
    has_kana = KANA.search(written) is not None
    return LETTER.search(written) is not None and has_kana is not (locale == "ja")


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
        pass

    @abstractmethod
    def head(self) -> str:
        pass

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
        wait_s, seen = timeout_s or self.patience_s, self.describe
        await self.world.pulse.until(lambda: predicate(self), timeout_s=wait_s, what=what, seen=seen)
        return self

    @property
    def messages(self) -> list[Shown]:
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

    def describe(self) -> str:
        lines = [self.head()]
        for shown in self.messages:
            state = "thinking" if shown.loading else repr(shown.written[:300])
            lines.append(f"  {shown.id}{' (ephemeral)' if shown.ephemeral else ''}: {state}")
        return "\n".join([*lines, self.transcript.tail()])

    def _read(self, shown: Shown) -> Shown:
        return as_read(shown, self.world.commands, self.locale)


@dataclass(eq=False, slots=True)
class ChannelReply(Watched):
    """The answer to `post`; empty as long as there is none. `locale` is the author's, or what a test sets."""

    post: Message

    @property
    def stored(self) -> list[Message]:
        here = [m for m in self.world.messages.values() if m.channel is self.post.channel]
        return _by_post(here, self.world.bot).get(self.post.id, [])

    @property
    def is_finished(self) -> bool:
        """Begun, and the buttons that its first state had (while it was being written) are gone."""
        return bool(self.messages) and not {*self.stored[0].history[0].labels} & {*self.labels}

    def head(self) -> str:
        return f"in answer to {self.post.id} ({self.post.content[:100]!r}), {len(self.messages)} messages:"


def _by_post(messages: Iterable[Message], bot: User) -> dict[int, list[Message]]:
    """The bot's messages of one channel, by the id of the post that they answer.

    A message of the bot that refers to a post begins the answer to that post; one that refers to a message
    of such an answer, or to nothing, continues the answer that was begun last in that channel. In DMs, where
    a bot need not refer to anything, each post of the user takes what follows it. Answers to interactions are
    no part of this.
    """
    answers: dict[int, list[Message]] = {}
    post_of: dict[int, Message] = {}
    current: Message | None = None
    for message in sorted(messages, key=lambda message: message.id):
        if message.author is not bot:
            current = message if message.channel.kind is ChannelKind.DM else current
        elif message.interaction is None:
            if message.reply_to is not None:
                current = post_of.get(message.reply_to.id, message.reply_to)
            if current is not None:
                post_of[message.id] = current
                answers.setdefault(current.id, []).append(message)
    return answers


@dataclass(eq=False, slots=True)
class Reply(Watched):
    interaction: Interaction

    async def acknowledged(self) -> "Reply":
        """Raises AssertionError when 3 s pass without any callback, as a user would see 'did not respond'."""
        within_s = ACKNOWLEDGE_WITHIN_S + 0.2
        return await self.until(lambda reply: reply.is_acknowledged, "an acknowledgement", timeout_s=within_s)

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
        return any(message.loading for message in self.stored if not message.deleted)

    @property
    def stored(self) -> list[Message]:
        """The original response first."""
        original = self.interaction.original
        return ([original] if original is not None else []) + self.interaction.followups

    @property
    def ephemeral(self) -> bool:
        return all(shown.ephemeral for shown in self.messages)

    @property
    def history(self) -> list[Shown]:
        """Every state of every message since this interaction was sent, in the order of time."""
        sent_at_s = self.interaction.sent_at_s
        return [shown for shown in Watched.history.__get__(self) if shown.at_s >= sent_at_s]

    @property
    def modal(self) -> dict[str, Any] | None:
        return self.interaction.modal

    def age(self, seconds: float) -> None:
        """Makes the interaction older: past 3 s it can't be acknowledged, past 900 s its token is dead."""
        self.interaction.sent_at_s -= seconds

    def head(self) -> str:
        answered = self.interaction.answered.name if self.interaction.answered else "nothing"
        return f"{loop_time() - self.interaction.sent_at_s:.3f} s after it was sent, answered with {answered}"
