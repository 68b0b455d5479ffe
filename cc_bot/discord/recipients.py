"""Finds the language, time zone and settings of a reply's user, and reports errors to users."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final
from zoneinfo import ZoneInfo

import hikari
import lightbulb
import structlog

from cc_bot.chat.reply import Caller
from cc_bot.chat.stores.settings import SettingsStore
from cc_bot.discord.interactions import Answerable, defer, message_link, roles_of, tell
from cc_bot.discord.locations import LruCache
from cc_bot.discord.pages.page import escape_markdown
from cc_bot.domain.access import Subject
from cc_bot.domain.clock import Clock, utc_now, zone_named
from cc_bot.domain.errors import AccessError, CcBotError, StorageError, TooManyCommands
from cc_bot.domain.message import UserSettings
from cc_bot.domain.text import Locale, guess_language, one_line, shorten
from cc_bot.domain.usage import Payer
from cc_bot.log import log_failure
from cc_bot.texts import Texts, commands, explain, texts, texts_with_mentions
from cc_bot.texts.replies import ReplyTexts

_log = structlog.get_logger(__name__)

DEFAULT_LOCALE = hikari.Locale.EN_US  # the language of the names under which commands are registered
DATABASE_TIMEOUT_S: Final = 0.5
UNKNOWN_INTERACTION = 10062
MANAGER_PERMISSIONS: Final = hikari.Permissions.MANAGE_GUILD | hikari.Permissions.ADMINISTRATOR
_MENTION_SIGNS: Final[Mapping[Subject, str]] = {"user": "@", "role": "@&", "channel": "#"}


def command_names() -> lightbulb.DictLocalizationProvider:
    english, japanese = commands.command_names(Locale.EN), commands.command_names(Locale.JA)
    return lightbulb.DictLocalizationProvider(
        {hikari.Locale.EN_US: english, hikari.Locale.EN_GB: english, hikari.Locale.JA: japanese}
    )


class GuildDirectory:
    """Guilds of channels, and names and locales of guilds. Only community guilds set a locale."""

    def __init__(self) -> None:
        self._locales: dict[int, Locale] = {}
        self.by_channel = LruCache[int, int]()
        self.names: dict[int, str] = {}

    def store_profile(self, guild: hikari.Guild) -> None:
        self.names[int(guild.id)] = guild.name
        self._locales.pop(int(guild.id), None)
        if hikari.GuildFeature.COMMUNITY in guild.features:
            self._locales[int(guild.id)] = Locale.from_tag(str(guild.preferred_locale))

    def locale_of_channel(self, channel_id: int) -> Locale | None:
        return self.locale_of_guild(self.by_channel.get(channel_id) or 0)

    def locale_of_guild(self, guild_id: int) -> Locale | None:
        return self._locales.get(guild_id)

    def link(self, channel_id: int, message_id: int | None) -> str:
        """Return the link to a message; "" if its guild is unknown."""
        guild_id = self.by_channel.get(channel_id)
        return "" if guild_id is None else message_link(guild_id, channel_id, message_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient(Caller):
    welcomed: bool = False
    is_owner: bool = False
    guild_names: Mapping[int, str] = field(default_factory=dict)

    def format_text(self, text: str, limit: int = 200) -> str:
        return escape_markdown(shorten(one_line(text), limit))

    def format_channel(self, channel_id: int) -> str:
        return f"<#{channel_id}>"

    def format_mention(self, kind: Subject, id_: int) -> str:
        if sign := _MENTION_SIGNS.get(kind):
            return f"<{sign}{id_}>"
        kind_name = self.words[ReplyTexts].subject_kinds[kind]
        return f"{kind_name} {self.format_text(self.guild_names.get(id_) or str(id_))}"


@dataclass(eq=False, slots=True)
class Recipients:
    """Finds a user's language and settings.

    The language is the first one known: the one in `/settings`, their client's at the last interaction, the
    server's, the one they write in, the operator's.
    """

    settings: SettingsStore
    locale: Locale
    timezone: ZoneInfo
    clock: Clock = utc_now
    guilds: GuildDirectory = field(default_factory=GuildDirectory)
    is_owner: Callable[[int], Awaitable[bool]] | None = None
    _words: dict[Locale, Texts] = field(default_factory=lambda: {locale: texts(locale) for locale in Locale})
    _languages: LruCache[int, Locale] = field(default_factory=LruCache)
    """By user: the client's language at the last interaction, or Japanese if the user wrote it before any."""

    def words(self, locale: Locale) -> Texts:
        return self._words[locale]

    def learn_commands(self, registered: Iterable[hikari.PartialCommand]) -> None:
        """Make these commands clickable in texts."""
        ids = {each.name: int(each.id) for each in registered if each.type is hikari.CommandType.SLASH}
        self._words = {locale: texts_with_mentions(locale, ids) for locale in Locale}

    async def find(
        self, interaction: hikari.PartialInteraction, settings: UserSettings | None = None
    ) -> Recipient:
        user_id, locale = int(interaction.user.id), self.discord_locale(interaction)
        self._languages[user_id] = locale
        recipient = await self._recipient(user_id, locale, settings)
        member = interaction.member
        return replace(
            recipient,
            payer=Payer(user_id, int(interaction.guild_id or 0), roles_of(member)),
            channel_id=int(interaction.channel.id),
            manages_guild=member is not None and bool(member.permissions & MANAGER_PERMISSIONS),
        )

    async def find_quickly(
        self, interaction: hikari.PartialInteraction, settings: UserSettings | None = None
    ) -> Recipient:
        """Like `find`, without the user's settings if the database does not answer in time."""
        with suppress(StorageError, TimeoutError):
            async with asyncio.timeout(DATABASE_TIMEOUT_S):
                return await self.find(interaction, settings)
        return await self.find(interaction, UserSettings())

    async def defer(self, interaction: Answerable) -> Recipient:
        """Acknowledge an interaction ephemerally, and return its user."""
        await defer(interaction, ephemeral=True)
        return await self.find(interaction)

    async def for_user(
        self, user_id: int, channel_locale: Locale | None = None, settings: UserSettings | None = None
    ) -> Recipient:
        """`channel_locale`: the server's language, if known."""
        locale = self._languages.get(user_id) or channel_locale or self.locale
        return await self._recipient(user_id, locale, settings)

    async def for_author(
        self, channel_id: int, user_id: int, typed: str = "", settings: UserSettings | None = None
    ) -> Recipient:
        language = guess_language(typed)
        if language is Locale.JA and user_id not in self._languages:
            self._languages[user_id] = language  # not English, which may be a pasted error message
        return await self.for_user(user_id, self.guilds.locale_of_channel(channel_id) or language, settings)

    async def _recipient(self, user_id: int, fallback: Locale, settings: UserSettings | None) -> Recipient:
        settings = settings or await self.settings.get(user_id)
        locale = settings.locale or fallback
        return Recipient(
            user_id,
            locale,
            zone_named(settings.timezone, self.timezone),
            self.words(locale),
            memory_paused=settings.memory_paused,
            spoken=settings.spoken,
            welcomed=settings.welcomed,
            is_owner=self.is_owner is not None and await self.is_owner(user_id),
            guild_names=self.guilds.names,
        )

    def discord_locale(self, interaction: hikari.PartialInteraction) -> Locale:
        return Locale.from_tag(str(interaction.locale)) if interaction.locale else self.locale


async def tell_failure(interaction: Answerable, error: Exception, recipients: Recipients) -> None:
    """Report an error to the user in one sentence, and to the log in one record. Never raises."""
    if isinstance(error, TooManyCommands) and error.reported:
        return  # a burst is answered once
    if isinstance(error, hikari.NotFoundError) and error.code == UNKNOWN_INTERACTION:
        _log.warning("interaction_expired")  # Discord has shown the user a failure by now
        return
    if not interaction.app.rest.is_alive:
        _log.info("interaction_left")
        return
    if not isinstance(error, CcBotError):
        _log.error("interaction_broke", exc_info=error)
    elif not isinstance(error, AccessError):  # the gate logs these
        _log.warning("interaction_failed", error=type(error).__name__)
    reported = error if isinstance(error, CcBotError) else CcBotError()
    with log_failure("user_not_told", hikari.HikariError):
        await tell(interaction, explain(reported, (await recipients.find_quickly(interaction)).words))
