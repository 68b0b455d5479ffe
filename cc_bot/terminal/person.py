"""Who is chatting, as of the line they just entered: what they chose, and the defaults for the rest."""

from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from cc_bot.domain.agent import THE_DEFAULT, Agent
from cc_bot.domain.errors import StorageError
from cc_bot.domain.locale import Locale
from cc_bot.domain.session import SessionKey
from cc_bot.domain.settings import UserSettings
from cc_bot.stores import Stores
from cc_bot.terminal.profile import ChatProfile
from cc_bot.texts import Texts, texts


@dataclass(frozen=True, slots=True)
class Person:
    settings: UserSettings
    locale: Locale
    timezone: ZoneInfo
    agent: Agent
    """Who answers."""
    key: SessionKey
    """Of the conversation with that one."""

    @property
    def texts(self) -> Texts:
        return texts(self.locale, names=Locale.EN)


def person_of(settings: UserSettings, profile: ChatProfile, agent: Agent = THE_DEFAULT) -> Person:
    return Person(
        settings,
        settings.locale or profile.locale,
        settings.zone(profile.timezone),
        agent,
        replace(profile.key, agent=agent.name),
    )


async def read_person(stores: Stores, profile: ChatProfile, agent: Agent) -> Person:
    """The user as the database knows them. When it does not answer, the defaults hold: something has to tell
    the user about it."""
    try:
        settings = await stores.settings.get(profile.key.user_id)
    except StorageError:
        settings = UserSettings(welcomed=True)
    return person_of(settings, profile, agent)
