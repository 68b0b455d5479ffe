"""Gives the web pages what Discord knows: permissions and names."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from time import monotonic
from typing import Final, TypeVar, cast

import hikari
import structlog

from cc_bot.discord.attachments import fetch_bytes
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.gate import Gate, RequestKind, error_of_refusal
from cc_bot.discord.locations import LruCache, guild_permissions
from cc_bot.discord.recipients import MANAGER_PERMISSIONS
from cc_bot.domain.access import BotProfile, SignInOrigin, Subject
from cc_bot.domain.errors import AccessError, AttachmentNotFetched, CcBotError
from cc_bot.domain.message import ChannelKey, Location
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import one_line, remove_controls

_log = structlog.get_logger(__name__)

T = TypeVar("T")

PERMISSION_CACHE_S: Final = 60.0
NAME_CACHE_S: Final = 3600.0
TIMEOUT_S: Final = 2.0
MAX_LISTED_GUILDS: Final = 10  # two requests each
MAX_AVATAR_BYTES: Final = 200_000
AVATAR_PIXELS: Final = 128


@dataclass(eq=False, slots=True)
class DiscordForPages:
    gate: Gate
    answers: Answers
    _cache: LruCache[tuple[object, ...], tuple[object, float]] = field(default_factory=LruCache)

    async def admit(self, origin: SignInOrigin, kind: RequestKind, *, always: bool = False) -> None:
        try:
            await self.gate.admit_page(origin, kind, always=always)
        except hikari.HikariError as error:
            _log.warning("page_not_admitted", error=type(error).__name__)
            raise CcBotError from error

    async def refusals(self, origins: Sequence[SignInOrigin]) -> Mapping[SignInOrigin, AccessError]:
        try:
            refused = await self.gate.find_refusals(origins)
        except (CcBotError, hikari.HikariError):
            return {}  # open pages stay open until the next request
        return {origin: error_of_refusal(each) for origin, each in refused.items()}

    async def is_owner(self, user_id: int, *, fresh: bool = False) -> bool:
        return user_id in await self.gate.owners.ids(fresh=fresh)

    async def manages(self, user_id: int, guild_id: int) -> bool:
        async def fetch() -> bool:
            guild = await self.gate.rest.fetch_guild(guild_id)
            member = await self.gate.rest.fetch_member(guild_id, user_id)
            return bool(guild_permissions(guild, member) & MANAGER_PERMISSIONS)

        return await self._cached_fetch(("manages", user_id, guild_id), fetch, PERMISSION_CACHE_S) or False

    async def bot_profile(self) -> BotProfile:
        async def fetch() -> BotProfile:
            bot, avatar = await self.gate.rest.fetch_my_user(), b""
            if url := bot.make_avatar_url(file_format="PNG", size=AVATAR_PIXELS):
                with suppress(AttachmentNotFetched):
                    avatar = await fetch_bytes(str(url), MAX_AVATAR_BYTES)
            return BotProfile(_clean(bot.global_name or bot.username), avatar)

        return await self._cached_fetch(("bot",), fetch, NAME_CACHE_S) or BotProfile()

    async def user_name(self, user_id: int) -> str | None:
        async def fetch() -> str:
            user = await self.gate.rest.fetch_user(user_id)
            return user.global_name or user.username

        return await self._name("user", user_id, fetch)

    async def channel_name(self, channel_id: int) -> str | None:
        async def fetch() -> str | None:
            if (await self.gate.locations.get(channel_id)).is_dm:
                return None
            channel = await self.gate.rest.fetch_channel(channel_id)
            if not isinstance(channel, hikari.GuildChannel):
                return None
            guild = await self.guild_name(int(channel.guild_id))
            return f"#{channel.name} ({guild})" if guild else f"#{channel.name}"

        return await self._name("channel", channel_id, fetch)

    async def guild_name(self, guild_id: int) -> str | None:
        async def fetch() -> str:
            return (await self.gate.rest.fetch_guild(guild_id)).name

        return await self._name("guild", guild_id, fetch)

    async def directory(self) -> Mapping[Subject, Mapping[int, str]]:
        async def fetch() -> Mapping[Subject, Mapping[int, str]]:
            rest = self.gate.rest
            guilds = await rest.fetch_my_guilds().limit(MAX_LISTED_GUILDS)
            channels = await asyncio.gather(*(rest.fetch_guild_channels(each) for each in guilds))
            roles = await asyncio.gather(*(rest.fetch_roles(each) for each in guilds))
            servers = {int(each.id): _clean(each.name) for each in guilds}
            return {
                "guild": servers,
                "channel": {
                    int(each.id): _clean(f"#{each.name} ({servers[int(each.guild_id)]})")
                    for each in chain.from_iterable(channels)
                    if isinstance(each, hikari.TextableGuildChannel)
                },
                "role": {
                    int(each.id): _clean(f"@{each.name} ({servers[int(each.guild_id)]})")
                    for each in chain.from_iterable(roles)
                    if each.id != each.guild_id  # the role of everyone
                },
            }

        return await self._cached_fetch(("directory",), fetch, PERMISSION_CACHE_S) or {}

    async def is_dm(self, channel_id: int) -> bool:
        location = await _value_or_none(self.gate.locations.get(channel_id))
        return location is not None and location.is_dm

    async def location_of(self, channel_id: int) -> Location:
        return await self.answers.agent_selector.locate(channel_id) if channel_id else Location(ChannelKey(0))

    async def current_key(self, user_id: int, channel_id: int) -> SessionKey:
        return (
            await self.answers.agent_selector.for_location(user_id, await self.location_of(channel_id))
        ).key

    async def refresh_canvas(self, key: SessionKey) -> None:
        if key.channel_id and key.user_id:  # else the canvas belongs to the terminal
            await self.answers.side_messages.refresh(key)

    async def receipts_changed(self, user_id: int) -> None:
        try:
            recipient = await self.answers.recipients.for_user(user_id)
        except CcBotError as error:
            _log.warning("receipts_not_refreshed", error=type(error).__name__)
        else:
            self.answers.running_turns.receipt_updater.redraw_outdated(user_id, recipient.words)

    @asynccontextmanager
    async def erasing(self, user_id: int) -> AsyncIterator[None]:
        recipient = await self.answers.recipients.for_user(user_id)
        async with self.answers.running_turns.receipt_updater.erasing(user_id, recipient.words):
            yield

    async def _name(self, kind: str, id_: int, fetch: Callable[[], Awaitable[str | None]]) -> str | None:
        name = await self._cached_fetch((kind, id_), fetch, NAME_CACHE_S)
        return _clean(name) if name else name

    async def _cached_fetch(
        self, key: tuple[object, ...], fetch: Callable[[], Awaitable[T]], cached_s: float
    ) -> T | None:
        """An empty value is cached for PERMISSION_CACHE_S only."""
        cached = self._cache.get(key)
        if cached and monotonic() < cached[1]:
            return cast("T | None", cached[0])
        value = await _value_or_none(fetch())
        self._cache[key] = (value, monotonic() + (cached_s if value else PERMISSION_CACHE_S))
        return value


def _clean(name: str) -> str:
    return one_line(remove_controls(name))


async def _value_or_none(request: Awaitable[T]) -> T | None:
    """Names must not cost a page: any error, and a slow answer, count as unknown."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await request
    except Exception as error:  # noqa: BLE001 - the log names it
        _log.info("discord_did_not_tell", error=type(error).__name__)
        return None
