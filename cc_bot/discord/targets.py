"""The messages in whose menu something was asked, as Discord handed them over with that.

Without the intent Discord shows the bot a message in this way alone, so it is kept for as long as it may be
asked about again, in memory and for whoever opened the menu; nothing of it is stored. Whoever asks later
looks first whether it still stands there as it was.

Beside these stand messages that came along with others: there is no need to ask for them.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import hikari

from cc_bot.discord.incoming import ORDINARY
from cc_bot.discord.interactions import Answerable, is_ephemeral, own_space
from cc_bot.discord.places import Recent

KEPT_S: Final = 3600.0
"""Where the bot is not itself, nothing tells that a message was deleted."""
REMEMBERED: Final = 200
"""Of either kind."""

_SAID: Final = ORDINARY | {hikari.MessageType.CHAT_INPUT, hikari.MessageType.CONTEXT_MENU_COMMAND}
"""What people and bots say; all else tells of something that happened."""


@dataclass(frozen=True, slots=True)
class Target:
    message: hikari.Message
    interaction_id: int
    """Of the interaction that brought it."""
    may_be_fetched: bool
    """Whether it stands where the bot is, and is not for its user's eyes alone."""


@dataclass(eq=False, slots=True)
class Targets:
    now_s: Callable[[], float] = time.monotonic
    _kept: Recent[tuple[int, int], tuple[Target, float]] = field(
        default_factory=partial(Recent[tuple[int, int], tuple[Target, float]], REMEMBERED)
    )
    """By who opened the menu, and the message; with when that was."""

    _brought: Recent[int, hikari.PartialMessage] = field(
        default_factory=partial(Recent[int, hikari.PartialMessage], REMEMBERED)
    )

    def note(self, message: hikari.PartialMessage) -> None:
        """Remember a message that forwards or has files, and what came along with a reply."""
        if message.message_snapshots or message.attachments:
            self._brought[int(message.id)] = message
        if message.referenced_message:
            self._brought[int(message.referenced_message.id)] = message.referenced_message

    def get_brought(self, message_id: int) -> hikari.PartialMessage | None:
        """Return what was noted under this id."""
        return self._brought.get(message_id)

    def forget(self, message_id: int) -> None:
        """Forget what was noted; what a menu handed over is looked for again when it is needed."""
        self._brought.discard(message_id)

    def forget_brought(self) -> None:
        """Forget all that was noted."""
        self._brought = Recent(REMEMBERED)

    def keep(self, user_id: int, target: Target) -> None:
        """Keep what this user's menu hands over."""
        self._kept[user_id, int(target.message.id)] = target, self.now_s()

    def get(self, user_id: int, message_id: int) -> Target | None:
        """Return what this user's menu handed over; None when that is too long ago."""
        target, at_s = self._kept.get((user_id, message_id)) or (None, 0.0)
        if self.now_s() - at_s < KEPT_S:
            return target
        self._kept.discard((user_id, message_id))
        return None


def target_of(interaction: hikari.CommandInteraction, message: hikari.Message) -> Target:
    """The message in whose menu a command was chosen."""
    return Target(message, int(interaction.id), is_present(interaction) and not is_ephemeral(message))


def is_present(interaction: Answerable) -> bool:
    """Return whether the bot is itself where something is asked: in a server that installed it, or in a DM
    with it."""
    by_guild = hikari.ApplicationIntegrationType.GUILD_INSTALL in interaction.authorizing_integration_owners
    return own_space(interaction) or (interaction.guild_id is not None and by_guild)


def is_said(message: hikari.Message) -> bool:
    """Return whether somebody says something in it, a bot too, and has said it by now."""
    return message.type in _SAID and hikari.MessageFlag.LOADING not in message.flags


def is_same(message: hikari.Message, target: Target) -> bool:
    """Return whether a message is still what was handed over, as far as Discord tells."""
    return message.edited_timestamp == target.message.edited_timestamp
