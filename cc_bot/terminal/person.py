"""Who is chatting, as of the line they just entered: what they chose, and the defaults for the rest."""

from dataclasses import dataclass, replace
from pathlib import Path
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import StorageError
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import THE_DEFAULT, Agent, UserSettings, Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.stores import Stores
from cc_bot.texts import Texts, texts

# ---- profile ---------------------------------------------------------------------------------------------
# Who is chatting, where, and what holds while they have not chosen otherwise.


@dataclass(frozen=True, slots=True)
class ChatProfile:
    key: SessionKey
    locale: Locale
    """Until the user chooses one with /settings."""
    timezone: ZoneInfo
    """Likewise."""
    model_label: str
    """What the greeting says is answering."""
    history_file: Path | None = None
    """Where the input line keeps what was typed (made with mode 0600); None: nowhere."""
    visibility: Visibility = "public"
    """`private` when the key is that of a channel others read: what is said here is seen here alone."""
    author_name: str = ""
    agent: str | None = None
    """Who answers in this chat, until another one is chosen; None: whom the user chose before."""


# ---- person ----------------------------------------------------------------------------------------------


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
