"""What the web pages are given, and Discord as they need it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import Literal, Protocol
from zoneinfo import ZoneInfo

from cc_bot.agents import Agents
from cc_bot.assistant import TimeResolver
from cc_bot.commands.admin import Administration
from cc_bot.commands.memories import Memories
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import AccessError
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Agent
from cc_bot.domain.session import SessionKey
from cc_bot.domain.web import WebPlace
from cc_bot.log import RecentRecords
from cc_bot.privacy import Privacy
from cc_bot.spending import Spending
from cc_bot.status import BotStatus
from cc_bot.stores import Stores

What = Literal["command", "choices"]
"""How a request is counted: changes like commands, reads like autocomplete."""


class Discord(Protocol):
    """Discord as the pages need it. Raises no errors of a client library; unknown answers are None or
    False."""

    async def admit(self, place: WebPlace, what: What, *, always: bool = False) -> None:
        """Count a request, and raise the AccessError that a command there would raise, or StorageError.
        `always`: for a user's own data, which they may always see and erase."""

    async def refusals(self, places: Sequence[WebPlace]) -> Mapping[WebPlace, AccessError]:
        """Return why commands there would be refused now; not counted."""

    async def is_owner(self, user_id: int, *, anew: bool = False) -> bool:
        """Return whether a user is an owner, as of a few seconds ago; `anew`: as of now."""

    async def manages(self, user_id: int, guild_id: int) -> bool:
        """Return whether a user may manage a server, as of the last minute."""

    async def name_of(self, user_id: int) -> str | None: ...

    async def name_of_channel(self, channel_id: int) -> str | None:
        """Return the name of a channel or thread with its server's."""

    async def is_dm(self, channel_id: int) -> bool:
        """Return whether it is a DM with the bot; False while Discord does not tell."""

    async def name_of_guild(self, guild_id: int) -> str | None: ...

    async def current_key(self, user_id: int, channel_id: int) -> SessionKey:
        """Return the session of the user's next question there. Raises StorageError."""

    async def usable_agents(self, channel_id: int) -> Sequence[Agent]:
        """Return the agents that may be used there, the default one first."""

    async def use_agent(self, user_id: int, channel_id: int, agent: Agent) -> None:
        """Choose the user's agent there, as `/agent use` does. Raises StorageError."""

    async def canvas_changed(self, key: SessionKey) -> None:
        """Update the Discord message that shows a canvas. Never raises."""

    async def receipts_changed(self, user_id: int) -> None:
        """Update the receipts on Discord. Never raises."""

    def erasing(self, user_id: int) -> AbstractAsyncContextManager[None]:
        """Update the receipts on Discord after an erasure within the block. Entering raises StorageError."""


@dataclass(frozen=True, slots=True)
class WebSettings:
    """The operator's settings for the pages."""

    host: str
    port: int
    url: str
    """Public base URL, without a slash at the end."""
    proxies: tuple[IPv4Network | IPv6Network, ...]
    """Proxies whose X-Forwarded-For is trusted."""
    locale: Locale
    """For readers whose language is unknown."""
    timezone: ZoneInfo
    speaks: bool
    """Whether answers can be read aloud."""


DoctorReport = Sequence[Mapping[str, str]]
"""The findings of `cc-bot doctor --json`."""


@dataclass(frozen=True, slots=True)
class WebServices:
    """What the pages are given and do not close."""

    settings: WebSettings
    stores: Stores
    agents: Agents
    status: BotStatus
    administration: Administration
    records: RecentRecords
    examine: Callable[[Locale], Awaitable[DoctorReport]]
    """Runs the doctor, in a language."""
    spending: Spending
    moments: TimeResolver
    privacy: Privacy
    memories: Memories
    discord: Discord
    clock: Clock
