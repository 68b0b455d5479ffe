"""The parts that the pages are handed: those of Discord's commands too, and Discord as pages need it."""

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
"""How a request is counted: a change like a command, a look like a list of choices."""


class Discord(Protocol):
    """Discord, as far as pages have to do with it. Raises none of a client's own errors: what Discord does
    not tell is None or False."""

    async def admit(self, place: WebPlace, what: What, *, always: bool = False) -> None:
        """Count a request, and raise the AccessError that a command from there would raise, or StorageError.
        `always`: it is about one's own data, which is everybody's to see and erase."""

    async def refusals(self, places: Sequence[WebPlace]) -> Mapping[WebPlace, AccessError]:
        """Return what commands from there would be refused with now; it counts for nothing."""

    async def is_owner(self, user_id: int, *, anew: bool = False) -> bool:
        """Return whether the bot is theirs, as Discord had it a few seconds ago; `anew`: as it has it now."""

    async def manages(self, user_id: int, guild_id: int) -> bool:
        """Return whether somebody may manage a server, as Discord had it within the last minute."""

    async def name_of(self, user_id: int) -> str | None: ...

    async def name_of_channel(self, channel_id: int) -> str | None:
        """Return what a channel or thread of a server is called, with that."""

    async def is_dm(self, channel_id: int) -> bool:
        """Return whether it is a DM with the bot; False while Discord does not tell."""

    async def name_of_guild(self, guild_id: int) -> str | None: ...

    async def current_key(self, user_id: int, channel_id: int) -> SessionKey:
        """Return the session that a question of the user would go to there. Raises StorageError."""

    async def usable_agents(self, channel_id: int) -> Sequence[Agent]:
        """Return those who may be asked there, the default one first."""

    async def use_agent(self, user_id: int, channel_id: int, agent: Agent) -> None:
        """Let this agent answer the user there, as `/agent use` does. Raises StorageError."""

    async def canvas_changed(self, key: SessionKey) -> None:
        """Have the message on Discord follow a canvas. Never raises."""

    async def receipts_changed(self, user_id: int) -> None:
        """Have the messages follow that tell a user what was kept or set for them. Never raises."""

    def erasing(self, user_id: int) -> AbstractAsyncContextManager[None]:
        """Have those messages follow an erasing of everything that is done meanwhile. Entering raises
        StorageError."""


@dataclass(frozen=True, slots=True)
class WebSettings:
    """The decisions of the operator about the pages."""

    host: str
    port: int
    url: str
    """How browsers reach them: a scheme, a host and maybe a port, without a slash at the end."""
    proxies: tuple[IPv4Network | IPv6Network, ...]
    """Whose word counts on the address that somebody comes from."""
    locale: Locale
    """For whoever neither chose a language nor has a browser that tells one."""
    timezone: ZoneInfo
    speaks: bool
    """Whether there is a model that reads answers aloud."""


DoctorReport = Sequence[Mapping[str, str]]
"""The findings of `cc-bot doctor --json`."""


@dataclass(frozen=True, slots=True)
class WebServices:
    """The parts that the pages are handed, and do not close."""

    settings: WebSettings
    stores: Stores
    agents: Agents
    status: BotStatus
    administration: Administration
    records: RecentRecords
    examine: Callable[[Locale], Awaitable[DoctorReport]]
    """Has the doctor look at everything, and write in that language."""
    spending: Spending
    moments: TimeResolver
    privacy: Privacy
    memories: Memories
    discord: Discord
    clock: Clock
