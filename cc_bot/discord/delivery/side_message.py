"""What Discord shows beside a conversation: nothing, unless a feature provides it."""

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
"""Whether the key's agent answers there."""


class SideMessage:
    async def refresh(
        self, key: SessionKey, *, interaction: Answerable | None = None, below: bool = True
    ) -> bool | None:
        """Show what is stored, or remove it. Never raises. `interaction` saves requests. `below`: show it
        below the interaction if the bot may not write there."""

    async def mark_outdated(self, key: SessionKey, interaction: Answerable | None = None) -> None:
        """Record that a change is to be shown, if the bot may post here: after a crash the next process
        shows it. Never raises."""

    async def update(
        self, key: SessionKey, interaction: Answerable | None = None, *, ephemeral: bool = False
    ) -> None:
        """Show what a turn has changed, after the answer. Never raises. After an ephemeral answer all of it
        is shown to the user only, and the public message loses what became private."""

    async def get_key(self, message_id: int) -> SessionKey | None:
        """Return the key beside whose conversation a message is shown. Raises StorageError."""

    async def forget_message(self, message_id: int) -> None:
        """Record that a user deleted a message. Raises StorageError."""

    async def refresh_stale(self) -> None:
        """Refresh outdated messages. Raises StorageError."""

    async def agent_changed(self, channel_id: int, agent: str) -> None:
        """Show what belongs to a channel's new default agent. Raises StorageError."""

    async def wait_idle(self) -> None:
        """Wait for updates."""

    async def close(self) -> None:
        """Stop for good."""


class SideMessageMaker(ABC):
    """A feature's part for Discord."""

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
        """Called before the connection is opened."""
