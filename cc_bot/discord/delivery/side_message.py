"""A message about a conversation, such as its canvas."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import hikari

from cc_bot.db.leases import Leases
from cc_bot.discord.delivery.reply import ExpectedDeletions
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.locations import Locations
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.session import SessionKey

IsCurrent = Callable[[SessionKey, Answerable | None], Awaitable[bool]]  # is it the user's current session?


class SideMessage:
    """Does nothing, unless a feature provides a subclass."""

    def listen(self, bot: hikari.GatewayBot) -> None:
        """Subscribe to events, before the connection is opened."""

    async def refresh(
        self, key: SessionKey, *, interaction: Answerable | None = None, below: bool = True
    ) -> bool | None:
        """Post, edit or delete it. Never raises; returns False on failure, None if no feature has one.
        `below`: where the bot may not post, send a follow-up to `interaction`."""

    async def mark_outdated(self, key: SessionKey, interaction: Answerable | None = None) -> None:
        """Record that it is outdated: after a crash, the next process refreshes it. Never raises."""

    async def show_change(
        self, key: SessionKey, interaction: Answerable | None = None, *, ephemeral: bool = False
    ) -> None:
        """Show what a turn changed; if `ephemeral`, in full only to the user. Never raises."""

    async def get_key(self, message_id: int) -> SessionKey | None:
        """Return the session of a side message. Raises StorageError."""

    async def forget_message(self, message_id: int) -> None:
        """Record that a user deleted it. Raises StorageError."""

    async def refresh_stale(self) -> None:
        """Refresh outdated messages. Raises StorageError."""

    async def agent_changed(self, channel_id: int, agent: str) -> None:
        """Show the side messages of a channel's new agent. Raises StorageError."""

    async def wait_idle(self) -> None: ...

    async def close(self) -> None: ...


class SideMessageConstructor(Protocol):
    def __call__(
        self,
        *,
        rest: hikari.api.RESTClient,
        recipients: Recipients,
        locations: Locations,
        expected_deletions: ExpectedDeletions,
        is_current: IsCurrent,
        leases: Leases,
    ) -> SideMessage: ...


@dataclass(frozen=True, slots=True)
class SideMessageFactory:
    construct: SideMessageConstructor
