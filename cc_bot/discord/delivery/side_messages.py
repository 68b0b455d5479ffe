"""Messages about conversations, such as their canvases."""

from collections.abc import Callable
from dataclasses import dataclass

import hikari

from cc_bot.db.leases import Leases
from cc_bot.discord.agents import AgentSelector
from cc_bot.discord.delivery.outlets import MessageReplies
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.session import SessionKey


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


@dataclass(frozen=True, slots=True)
class SideMessageFactory:
    construct: Callable[[MessageReplies, Recipients, AgentSelector, Leases], SideMessages]
