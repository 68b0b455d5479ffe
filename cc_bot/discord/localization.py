"""Which language whom: the commands' names for Discord, and each user's own language and time."""

import dataclasses
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import hikari
import lightbulb

from cc_bot.domain.locale import Locale
from cc_bot.stores.settings import SettingsStore
from cc_bot.texts import Texts, commands, texts

DEFAULT_LOCALE = hikari.Locale.EN_US
"""Its names are the commands' real ones: those that interactions carry."""


def command_names() -> lightbulb.DictLocalizationProvider:
    """The names and descriptions of all commands, by the keys that the extensions use."""
    english = dataclasses.asdict(commands.EN)
    return lightbulb.DictLocalizationProvider(
        {
            hikari.Locale.EN_US: english,
            hikari.Locale.EN_GB: english,
            hikari.Locale.JA: dataclasses.asdict(commands.JA),
        }
    )


@dataclass(frozen=True, slots=True)
class Reader:
    """The person who reads a reply."""

    user_id: int
    locale: Locale
    timezone: ZoneInfo
    welcomed: bool

    @property
    def words(self) -> Texts:
        return texts(self.locale)


@dataclass(frozen=True, slots=True)
class Readers:
    """Finds out how to speak to whom: their own settings, else what Discord tells, else the operator's."""

    settings: SettingsStore
    locale: Locale
    timezone: ZoneInfo

    async def of(self, interaction: hikari.PartialInteraction) -> Reader:
        """The user of an interaction. Discord tells a language, but no time zone."""
        user_id = int(interaction.user.id)
        chosen = await self.settings.get(user_id)
        return Reader(
            user_id=user_id,
            locale=chosen.locale or self.discord_locale(interaction),
            timezone=chosen.zone(self.timezone),
            welcomed=chosen.welcomed,
        )

    def discord_locale(self, interaction: hikari.PartialInteraction) -> Locale:
        """The language of the user's own Discord."""
        return Locale.of(str(interaction.locale)) if interaction.locale else self.locale
