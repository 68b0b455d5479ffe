"""Channels: a conversation of several people, found by its place and owned by nobody."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from cc_bot.domain.message import Role

Reading = Literal["off", "mentions", "all"]
"""Which messages of servers the bot reads: none, those that are addressed to it, or all."""


@dataclass(frozen=True, slots=True)
class ChannelKey:
    """Where a channel conversation takes place."""

    channel_id: int
    """The channel; of a thread, the channel that it belongs to."""
    thread_id: int = 0
    """The thread; 0 is the channel itself."""

    @property
    def place_id(self) -> int:
        """The channel or thread as Discord counts them: a thread is a channel of its own there."""
        return self.thread_id or self.channel_id

    @property
    def parent(self) -> "ChannelKey":
        """The channel that a thread belongs to; a channel itself."""
        return ChannelKey(self.channel_id)


@dataclass(frozen=True, slots=True)
class Block:
    """A run of messages whose place in requests is frozen: it stays as it is until it leaves as a whole."""

    key: ChannelKey
    """Where its messages stand: in a thread's context the first blocks are its channel's."""
    first_id: int
    """Discord's id of its first message, and of its last."""
    last_id: int
    tokens: int
    """As the model counted tokens when it was frozen: later corrections do not move it."""


class Said(NamedTuple):
    """As much of a channel's message as a request shows of it.

    A tuple, since a context has hundreds of them: as rows they come, and as rows they are read.
    """

    id: int
    """Discord's."""
    role: Role
    name: str
    """The author's, as it was when they wrote it."""
    content: str
    author_id: int = 0
    """0 where it is not known."""
