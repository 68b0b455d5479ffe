from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import Literal, Protocol
from zoneinfo import ZoneInfo

from cc_bot.chat.parts import Parts
from cc_bot.domain.access import BotProfile, SignInOrigin, Subject
from cc_bot.domain.errors import AccessError
from cc_bot.domain.message import Location
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.log import RecentRecords

RequestKind = Literal["command", "read"]  # changes count like commands, reads like autocomplete


class Discord(Protocol):
    """Discord as the pages need it. Methods return None or False for what they do not know yet."""

    async def admit(self, origin: SignInOrigin, kind: RequestKind, *, always: bool = False) -> None:
        """Count a request. Raises AccessError if it is refused, or StorageError. `always`: despite lost
        access."""

    async def refusals(self, origins: Sequence[SignInOrigin]) -> Mapping[SignInOrigin, AccessError]:
        """Return the origins from which a command would be refused, and why. Nothing is counted."""

    async def is_owner(self, user_id: int, *, fresh: bool = False) -> bool:
        """The result may be a few seconds old, unless `fresh`."""

    async def manages(self, user_id: int, guild_id: int) -> bool:
        """The result may be a minute old."""

    async def bot_profile(self) -> BotProfile: ...

    async def user_name(self, user_id: int) -> str | None: ...

    async def channel_name(self, channel_id: int) -> str | None:
        """Return the name with that of its server."""

    async def directory(self) -> Mapping[Subject, Mapping[int, str]]:
        """Return the names of servers, channels and roles, as far as they are known."""

    async def is_dm(self, channel_id: int) -> bool:
        """Return False while that is unknown."""

    async def guild_name(self, guild_id: int) -> str | None: ...

    async def location_of(self, channel_id: int) -> Location:
        """Return a thread as a channel while the bot does not know that it is a thread."""

    async def current_key(self, user_id: int, channel_id: int) -> SessionKey:
        """Return the session of the user's next question there."""

    async def refresh_canvas(self, key: SessionKey) -> None:
        """Never raises."""

    async def receipts_changed(self, user_id: int) -> None:
        """Never raises."""

    def erasing(self, user_id: int) -> AbstractAsyncContextManager[None]:
        """Update the receipts after the block erases data. May raise StorageError at its start."""


@dataclass(frozen=True, slots=True)
class WebSettings:
    host: str
    port: int
    url: str
    proxies: tuple[IPv4Network | IPv6Network, ...]
    locale: Locale
    timezone: ZoneInfo
    can_voice_answers: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WebServices(Parts):
    settings: WebSettings
    records: RecentRecords
    discord: Discord
