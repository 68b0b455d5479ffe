"""Messages of menu commands, as Discord sent them with the interaction.

Without the message content intent the bot sees their content only there. They are kept in memory per user,
never stored, and checked for changes before later uses.

Messages that came with others, such as those replied to, are cached to save requests.
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
"""Outside of its servers and DMs the bot is not told of deletions."""
REMEMBERED: Final = 200
"""Messages of either kind."""

_SAID: Final = ORDINARY | {hikari.MessageType.CHAT_INPUT, hikari.MessageType.CONTEXT_MENU_COMMAND}
"""Other types report events."""


@dataclass(frozen=True, slots=True)
class Target:
    message: hikari.Message
    interaction_id: int
    may_be_fetched: bool
    """Whether the bot is in its channel, and it is not ephemeral."""


@dataclass(eq=False, slots=True)
class Targets:
    now_s: Callable[[], float] = time.monotonic
    _kept: Recent[tuple[int, int], tuple[Target, float]] = field(
        default_factory=partial(Recent[tuple[int, int], tuple[Target, float]], REMEMBERED)
    )
    """By user and message, with the time."""

    _brought: Recent[int, hikari.PartialMessage] = field(
        default_factory=partial(Recent[int, hikari.PartialMessage], REMEMBERED)
    )

    def note(self, message: hikari.PartialMessage) -> None:
        """Cache a message with forwards or files, and the message that it replies to."""
        if message.message_snapshots or message.attachments:
            self._brought[int(message.id)] = message
        if message.referenced_message:
            self._brought[int(message.referenced_message.id)] = message.referenced_message

    def get_brought(self, message_id: int) -> hikari.PartialMessage | None:
        return self._brought.get(message_id)

    def forget(self, message_id: int) -> None:
        """Forget a cached message. Menu commands' messages are checked before use instead."""
        self._brought.discard(message_id)

    def forget_brought(self) -> None:
        self._brought = Recent(REMEMBERED)

    def keep(self, user_id: int, target: Target) -> None:
        """Keep the message of a user's menu command."""
        self._kept[user_id, int(target.message.id)] = target, self.now_s()

    def get(self, user_id: int, message_id: int) -> Target | None:
        """Return the message of a user's menu command; None after KEPT_S."""
        target, at_s = self._kept.get((user_id, message_id)) or (None, 0.0)
        if self.now_s() - at_s < KEPT_S:
            return target
        self._kept.discard((user_id, message_id))
        return None


def target_of(interaction: hikari.CommandInteraction, message: hikari.Message) -> Target:
    return Target(message, int(interaction.id), is_present(interaction) and not is_ephemeral(message))


def is_present(interaction: Answerable) -> bool:
    """Return whether the bot itself is in the channel: a server that installed it, or its DM with the
    user."""
    by_guild = hikari.ApplicationIntegrationType.GUILD_INSTALL in interaction.authorizing_integration_owners
    return own_space(interaction) or (interaction.guild_id is not None and by_guild)


def is_said(message: hikari.Message) -> bool:
    """Return whether it is a user's or bot's message that no longer shows "thinking"."""
    return message.type in _SAID and hikari.MessageFlag.LOADING not in message.flags


def is_same(message: hikari.Message, target: Target) -> bool:
    """Return whether a message was not edited since the interaction."""
    return message.edited_timestamp == target.message.edited_timestamp
