"""Who is chatting, as of the line they just entered, and what this chat works with and knows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from cc_bot.agents import Agents
from cc_bot.assistant import Assistant, Stop
from cc_bot.domain.errors import StorageError
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import DEFAULT_AGENT, THE_DEFAULT, Agent, Attachment, UserSettings, Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.privacy import Privacy
from cc_bot.stores import Stores
from cc_bot.terminal.plain import PlainView
from cc_bot.terminal.rich import RichView
from cc_bot.texts import Texts, texts


@dataclass(frozen=True, slots=True)
class ChatProfile:
    """Who is chatting, where, and what holds while they have not chosen otherwise."""

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
    agent: str | None = None
    """Who answers in this chat, until another one is chosen; None: whom the user chose before."""


@dataclass(frozen=True, slots=True)
class Person:
    """What the user chose, and the defaults for the rest."""

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

    def day(self, moment: datetime) -> str:
        """Return the day where the user is: 2026-12-01."""
        return moment.astimezone(self.timezone).date().isoformat()

    def until(self, end: datetime) -> str:
        """Return the last day on which something holds: of what ends at midnight, the day before."""
        return self.texts.memory.until.format(date=self.day(end - timedelta(seconds=1)))


def person_of(settings: UserSettings, profile: ChatProfile, agent: Agent = THE_DEFAULT) -> Person:
    return Person(
        settings,
        settings.locale or profile.locale,
        settings.zone(profile.timezone),
        agent,
        replace(profile.key, agent=agent.name),
    )


@dataclass(slots=True, eq=False, repr=False)  # what it holds is nobody's to read in a log
class Chat:
    """What the commands of one chat work with, and what it knows that no database does."""

    assistant: Assistant
    stores: Stores
    profile: ChatProfile
    view: PlainView | RichView
    agents: Agents
    privacy: Privacy
    forget_typed: Callable[[], None]
    """Takes back what the input line keeps of what was typed."""
    attachments: tuple[Attachment, ...] = field(default=(), init=False)
    """What goes with the next question."""
    seen: set[int] = field(default_factory=set, init=False)
    """The ids of the proposals that were shown: nobody consents to what they have not seen."""
    agent: str | None = field(default=None, init=False)
    """Who was chosen in this chat."""
    answering: Stop | None = field(default=None, init=False)
    """Ends the running answer; None: there is none."""

    person: Person = field(init=False)
    """Who it is, as of the line that is being run."""

    @property
    def texts(self) -> Texts:
        return self.person.texts

    @property
    def user_id(self) -> int:
        return self.profile.key.user_id

    def stop(self) -> None:
        """End the running answer, if there is one; what came of it is kept."""
        if self.answering is not None:
            self.answering.request()

    def say(self, text: str) -> None:
        self.view.say(text)

    def complain(self, text: str) -> None:
        self.view.complain(text)

    async def read_person(self) -> Person:
        """Return the user as the database knows them. When it does not answer, the defaults hold: something
        has to tell the user about it."""
        agents = await self.agents.all()
        name = self.agent or self.profile.agent
        try:
            key = self.profile.key
            name = name or await self.stores.agents.get_choice(key.user_id, key.channel_id)
        except StorageError:
            name = None
        try:
            settings = await self.stores.settings.get(self.user_id)
        except StorageError:
            settings = UserSettings(welcomed=True)
        return person_of(settings, self.profile, agents.get(name or DEFAULT_AGENT, agents[DEFAULT_AGENT]))
