"""A message that belongs to a conversation as a whole, such as its canvas; none without a feature."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

import hikari

from cc_bot.db.leases import Leases
from cc_bot.discord.delivery.reply import ExpectedDeletions
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.places import Places
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.session import SessionKey

IsCurrent = Callable[[SessionKey, Answerable | None], Awaitable[bool]]
"""Returns whether the user's next question would continue the session with this key."""


class SideMessage:
    async def refresh(
        self, key: SessionKey, *, interaction: Answerable | None = None, below: bool = True
    ) -> bool | None:
        """Post, edit or delete the message to match the stored state. Never raises; returns False on failure.
        `below`: where the bot may not post, show it as a follow-up of `interaction`, which saves requests."""

    async def mark_outdated(self, key: SessionKey, interaction: Answerable | None = None) -> None:
        """If the bot may post in the channel, record that the message is outdated, so that after a crash the
        next process refreshes it. Never raises."""

    async def update(
        self, key: SessionKey, interaction: Answerable | None = None, *, ephemeral: bool = False
    ) -> None:
        """Show what a turn changed. Call it after the answer. Never raises. After an `ephemeral` answer the
        user sees the whole state in an ephemeral message, and the public one loses what became private."""

    async def get_key(self, message_id: int) -> SessionKey | None:
        """Return the session of a side message; None for other messages. Raises StorageError."""

    async def forget_message(self, message_id: int) -> None:
        """Record that a user deleted a side message. Raises StorageError."""

    async def refresh_stale(self) -> None:
        """Refresh outdated messages. Raises StorageError."""

    async def agent_changed(self, channel_id: int, agent: str) -> None:
        """Replace a channel's side messages by those of its new default agent. Raises StorageError."""

    async def wait_idle(self) -> None:
        """Wait until running updates end."""

    async def close(self) -> None:
        """Stop background work."""


class SideMessageMaker(ABC):
    """Makes the side message of the feature that provides one."""

    @abstractmethod
    def make(
        self,
        bot: hikari.GatewayBot,
        *,
        recipients: Recipients,
        places: Places,
        expected_deletions: ExpectedDeletions,
        is_current: IsCurrent,
        duties: Leases,
    ) -> SideMessage:
        """Make it. The bot calls this before it connects."""
