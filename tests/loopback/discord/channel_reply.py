"""What the bot writes into a channel in answer to somebody's message, found by what it refers to.

A message of the bot that refers to a post begins the answer to that post; one that refers to a message of
such an answer, or to nothing, continues the answer that was begun last in that channel. In DMs, where a bot
need not refer to anything, each post of the user takes what follows it. Answers to interactions are no part
of this.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tests.loopback.discord.channels import ChannelKind
from tests.loopback.discord.messages import Message
from tests.loopback.discord.users import User
from tests.loopback.discord.watched import Watched


@dataclass(eq=False, slots=True)
class ChannelReply(Watched):
    """The answer to `post`; empty as long as there is none. `locale` is the author's, or what a test sets."""

    post: Message

    @property
    def stored(self) -> list[Message]:
        """Deleted ones too, in the order in which they were posted."""
        here = [m for m in self.world.messages.values() if m.channel is self.post.channel]
        return by_post(here, self.world.bot).get(self.post.id, [])

    @property
    def is_finished(self) -> bool:
        """Begun, and the buttons that its first state had (while it was being written) are gone."""
        if not self.messages:
            return False
        at_first = set(self.stored[0].history[0].labels)
        return not at_first & set(self.labels)

    def describe(self) -> str:
        head = f"in answer to {self.post.id} ({self.post.content[:100]!r}), {len(self.messages)} messages:"
        return "\n".join([head, *self._lines()])


def by_post(messages: Iterable[Message], bot: User) -> dict[int, list[Message]]:
    """The bot's messages of one channel, by the id of the post that they answer."""
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
