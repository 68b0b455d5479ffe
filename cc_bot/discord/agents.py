"""Selects a user's agent and session in a channel. Every method may raise StorageError."""

from dataclasses import dataclass, field, replace
from typing import Final

import hikari

from cc_bot.chat.agents import Agents, is_allowed
from cc_bot.chat.stores.settings import AgentStore, StoredAgentChoices
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.locations import Locations, LruCache, key_of_interaction
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.errors import AgentGone
from cc_bot.domain.message import DEFAULT_AGENT, Agent, ChannelKey, Location
from cc_bot.domain.session import SessionKey

_NO_USER: Final = 0  # for reading only the choices of channels


@dataclass(frozen=True, slots=True)
class SelectedAgent:
    key: SessionKey
    agent: Agent
    is_fallback: bool = False  # the user's choice can't be used in the channel now


@dataclass(eq=False, slots=True)
class AgentSelector:
    agents: Agents
    store: AgentStore
    locations: Locations
    _noted_fallbacks: LruCache[tuple[int, int], None] = field(default_factory=LruCache, init=False)

    async def for_interaction(
        self, interaction: Answerable, preloaded: StoredAgentChoices | None = None
    ) -> SelectedAgent:
        return await self.for_location(int(interaction.user.id), location_of(interaction), preloaded)

    async def for_location(
        self, user_id: int, location: Location, preloaded: StoredAgentChoices | None = None
    ) -> SelectedAgent:
        choices = preloaded or await self.store.get_choices(user_id, location.key.ids)
        agent, is_fallback = await self.agents.select(location, choices)
        agent = _with_models(agent, location, choices)
        return _selected_agent(user_id, location, agent, is_fallback=is_fallback)

    async def for_answer(self, interaction: Answerable, answer_id: int) -> SelectedAgent:
        """Return the agent that gave an answer. Raises AgentGone if it can't be used now."""
        user_id = int(interaction.user.id)
        name = await self.store.get_for_answer(user_id, answer_id) or DEFAULT_AGENT
        return await self._select_again(user_id, location_of(interaction), name)

    async def for_session(self, key: SessionKey, guild_id: int | None) -> SelectedAgent:
        """Raises AgentGone."""
        return await self._select_again(
            key.user_id, await self._location_in(guild_id, key.channel_id), key.agent
        )

    async def for_message(
        self, message: hikari.PartialMessage, user_id: int, replied_session: SessionKey | None = None
    ) -> SelectedAgent:
        """`replied_session`: the session of the answer that the message replies to."""
        location = await self._location_in(message.guild_id, int(message.channel_id))
        if replied_session is None:
            return await self.for_location(user_id, location)
        try:
            return await self._select_again(user_id, location, replied_session.agent)
        except AgentGone:
            return replace(await self.for_location(user_id, location), is_fallback=True)

    async def for_scheduled_message(self, key: SessionKey, guild_id: int | None) -> Agent:
        """Return the session's agent, or the default one if it is gone."""
        agent = await self.agents.get(key.agent) or await self.agents.get_global_default()
        location = await self._location_in(guild_id, key.channel_id)
        return _with_models(agent, location, await self.store.get_choices(_NO_USER, location.key.ids))

    async def is_current(self, key: SessionKey, interaction: Answerable | None = None) -> bool:
        """Return whether the user's next question in the channel goes to this session; True if unknown."""
        try:
            location = location_of(interaction) if interaction else await self.locations.get(key.channel_id)
        except hikari.HTTPError:
            return True
        return (await self.for_location(key.user_id, location)).key == key

    async def for_mentions(self, key: ChannelKey, choices: StoredAgentChoices) -> Agent:
        location = Location(key)
        return _with_models(await self.agents.get_default(location, choices), location, choices)

    def fallback_note(self, selected: SelectedAgent, recipient: Recipient) -> str:
        key = (selected.key.user_id, selected.key.channel_id)
        if not selected.is_fallback:
            self._noted_fallbacks.discard(key)
            return ""
        if key in self._noted_fallbacks:
            return ""
        self._noted_fallbacks[key] = None
        return self.agents.fallback_note(selected.agent, recipient.words)

    async def _select_again(self, user_id: int, location: Location, name: str) -> SelectedAgent:
        """Raises AgentGone."""
        agent = await self.agents.get(name)
        if agent is None or not is_allowed(location, agent):
            raise AgentGone
        choices = await self.store.get_choices(user_id, location.key.ids)
        return _selected_agent(user_id, location, _with_models(agent, location, choices))

    async def _location_in(self, guild_id: int | None, channel_id: int) -> Location:
        if guild_id is None:
            return Location(ChannelKey(channel_id))
        return await self.locate(channel_id, int(guild_id))

    async def locate(self, channel_id: int, guild_id: int | None = None) -> Location:
        """If Discord fails, a thread is taken for a channel."""
        try:
            return await self.locations.get(channel_id)
        except hikari.HTTPError:
            return Location(ChannelKey(channel_id), guild_id)


def location_of(interaction: hikari.PartialInteraction) -> Location:
    guild_id = interaction.guild_id and int(interaction.guild_id)
    return Location(key_of_interaction(interaction.channel), guild_id)


def _selected_agent(
    user_id: int, location: Location, agent: Agent, *, is_fallback: bool = False
) -> SelectedAgent:
    return SelectedAgent(SessionKey(user_id, location.key.location_id, agent.name), agent, is_fallback)


def _with_models(agent: Agent, location: Location, choices: StoredAgentChoices) -> Agent:
    """Add the models of the thread, else of its channel, unless the agent has its own."""
    chains = [chain for location_id in location.key.ids if (chain := choices.models.get(location_id))]
    return replace(agent, models=chains[0]) if chains and not agent.models else agent
