"""A message about a conversation, such as its canvas."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import hikari

from cc_bot.db.leases import Leases
from cc_bot.discord.delivery.reply import ExpectedDeletions
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.places import Places
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.session import SessionKey

IsCurrent = Callable[[SessionKey, Answerable | None], Awaitable[bool]]
"""Returns whether the user's next question goes to this session."""


class SideMessage:
    """Does nothing, unless a feature provides a subclass."""

    def listen(self, bot: hikari.GatewayBot) -> None:
        """Subscribe to events, before the connection is opened."""

    async def refresh(
        self, key: SessionKey, *, interaction: Answerable | None = None, below: bool = True
    ) -> bool | None:
        """Post, edit or delete the message. Never raises; returns False on failure. `interaction` saves
        requests. `below`: follow up on it where the bot may not post."""

    async def mark_outdated(self, key: SessionKey, interaction: Answerable | None = None) -> None:
        """Record that the message is outdated, if the bot may post it: after a crash the next process
        refreshes it. Never raises."""

    async def update(
        self, key: SessionKey, interaction: Answerable | None = None, *, ephemeral: bool = False
    ) -> None:
        """Show what a turn changed, after the answer. Never raises. After an `ephemeral` answer only the user
        sees all of it, and the public message loses what became private."""

    async def get_key(self, message_id: int) -> SessionKey | None:
        """Return the session of a side message, else None. Raises StorageError."""

    async def forget_message(self, message_id: int) -> None:
        """Record that a user deleted a side message. Raises StorageError."""

    async def refresh_stale(self) -> None:
        """Refresh outdated messages. Raises StorageError."""

    async def agent_changed(self, channel_id: int, agent: str) -> None:
        """Show the side messages of a channel's new agent. Raises StorageError."""

    async def wait_idle(self) -> None:
        """Wait until running updates end."""

    async def close(self) -> None:
        """Stop background work."""


class MakeSideMessage(Protocol):
    def __call__(
        self,
        *,
        rest: hikari.api.RESTClient,
        recipients: Recipients,
        places: Places,
        expected_deletions: ExpectedDeletions,
        is_current: IsCurrent,
        leases: Leases,
    ) -> SideMessage: ...


@dataclass(frozen=True, slots=True)
class SideMessageMaker:
    """A feature's part from which the services make its side message."""

    make: MakeSideMessage
