"""Messages about conversations, such as their canvases."""

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


class SideMessages:
    """Does nothing, unless a feature provides a subclass."""

    def listen(self, bot: hikari.GatewayBot) -> None:
        """Subscribe to events, before the connection is opened."""

    async def refresh(
        self, key: SessionKey, *, interaction: Answerable | None = None, may_follow_up: bool = True
    ) -> bool | None:
        """Post, edit or delete the session's message. Never raises; returns False on failure, None if no
        feature has one. `may_follow_up`: if the bot may not post, send a follow-up to `interaction`, else
        fail."""

    async def mark_outdated(self, key: SessionKey, interaction: Answerable | None = None) -> None:
        """Record that the message is outdated: after a crash, the next process refreshes it. Never raises."""

    async def show_change(
        self, key: SessionKey, interaction: Answerable | None = None, *, ephemeral: bool = False
    ) -> None:
        """Show what a turn changed; if `ephemeral`, in full only to the user. Never raises."""

    async def get_key(self, message_id: int) -> SessionKey | None:
        """Return the session of a side message."""

    async def forget_message(self, message_id: int) -> None:
        """Record that a user deleted a side message."""

    async def refresh_outdated(self) -> None:
        """Refresh outdated messages."""

    async def agent_changed(self, channel_id: int, agent: str) -> None:
        """Show the side messages of a channel's new agent."""

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
    ) -> SideMessages: ...


@dataclass(frozen=True, slots=True)
class SideMessageFactory:
    construct: SideMessageConstructor
