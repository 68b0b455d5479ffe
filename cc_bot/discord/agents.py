"""Which agent answers in a channel, and in which session. Look-ups raise StorageError."""

from dataclasses import dataclass, field, replace
from typing import Final

import hikari

from cc_bot.chat.agents import Agents, allows
from cc_bot.chat.stores.settings import AgentStore, PlaceAgents
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.places import Places, Recent, key_of_interaction
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.errors import AgentGone
from cc_bot.domain.message import DEFAULT_AGENT, Agent, ChannelKey, KnownPlace
from cc_bot.domain.session import SessionKey

_NO_USER: Final = 0


@dataclass(frozen=True, slots=True)
class Chosen:
    key: SessionKey
    agent: Agent
    stands_in: bool = False
    """True if the user's choice can't be used there now."""
    left: bool = False
    """True if the user's other questions there go to another agent."""


@dataclass(eq=False, slots=True)
class AgentSelector:
    agents: Agents
    store: AgentStore
    places: Places
    _noted: Recent[tuple[int, int], None] = field(default_factory=Recent, init=False)

    async def of(self, interaction: Answerable, known: PlaceAgents | None = None) -> Chosen:
        """`known`: the choices, if read already."""
        return await self.of_place(int(interaction.user.id), where(interaction), known)

    async def of_place(self, user_id: int, place: KnownPlace, known: PlaceAgents | None = None) -> Chosen:
        found = known or await self.store.get_for_places(user_id, place.key.ids)
        agent, stands_in = await self.agents.chosen_in(place, found)
        return _in_session(user_id, place, _with_models(agent, place, found), stands_in=stands_in)

    async def of_answer(self, interaction: Answerable, answer_id: int) -> Chosen:
        """Raises AgentGone if the agent can't be used here any more: no other agent knows that
        conversation."""
        user_id = int(interaction.user.id)
        name = await self.store.get_for_answer(user_id, answer_id) or DEFAULT_AGENT
        return await self._once_more(user_id, where(interaction), name)

    async def of_session(self, key: SessionKey, guild_id: int | None) -> Chosen:
        """Raises AgentGone if its agent can't be used there any more."""
        return await self._once_more(key.user_id, await self._place_in(guild_id, key.channel_id), key.agent)

    async def of_message(
        self, message: hikari.PartialMessage, user_id: int, answered: SessionKey | None = None
    ) -> Chosen:
        """`answered`: the session of the answer replied to, which continues while its agent can be used."""
        place = await self._place_in(message.guild_id, int(message.channel_id))
        if answered is None:
            return await self.of_place(user_id, place)
        try:
            return await self._once_more(user_id, place, answered.agent)
        except AgentGone:
            return replace(await self.of_place(user_id, place), stands_in=True)

    async def choose_speaker(self, key: SessionKey, guild_id: int | None) -> Agent:
        """For a scheduled message: the session's agent, or the default one."""
        agent = await self.agents.get(key.agent) or await self.agents.default()
        place = await self._place_in(guild_id, key.channel_id)
        return _with_models(agent, place, await self.store.get_for_places(_NO_USER, place.key.ids))

    async def is_current(self, key: SessionKey, interaction: Answerable | None = None) -> bool:
        """True if its user's next question there goes to this session; True if Discord fails."""
        try:
            place = where(interaction) if interaction else await self.places.of(key.channel_id)
        except hikari.HTTPError:
            return True
        return (await self.of_place(key.user_id, place)).key == key

    async def in_channel(self, key: ChannelKey, found: PlaceAgents) -> Agent:
        """Return the agent that answers mentions. `found`: the choices there."""
        place = KnownPlace(key)
        return _with_models(await self.agents.default_of(place, found), place, found)

    def stand_in_note(self, chosen: Chosen, recipient: Recipient) -> str:
        """Return the note for the first answer that is not by the chosen agent, else an empty string."""
        key = (chosen.key.user_id, chosen.key.channel_id)
        if not chosen.stands_in:
            self._noted.discard(key)
            return ""
        if key in self._noted:
            return ""
        self._noted[key] = None
        return self.agents.stand_in_note(chosen.agent, recipient.words)

    async def _once_more(self, user_id: int, place: KnownPlace, name: str) -> Chosen:
        """Raises AgentGone if it can't be used there any more."""
        agent = await self.agents.get(name)
        if agent is None or not allows(place, agent):
            raise AgentGone
        found = await self.store.get_for_places(user_id, place.key.ids)
        chosen = _in_session(user_id, place, _with_models(agent, place, found))
        return replace(chosen, left=(await self.of_place(user_id, place, found)).key != chosen.key)

    async def _place_in(self, guild_id: int | None, channel_id: int) -> KnownPlace:
        if guild_id is None:
            return KnownPlace(ChannelKey(channel_id))
        return await self.locate(channel_id, int(guild_id))

    async def locate(self, channel_id: int, guild_id: int | None = None) -> KnownPlace:
        """While Discord does not answer (or forbids it, where the bot is only user-installed), a thread
        counts as a channel of its own."""
        try:
            return await self.places.of(channel_id)
        except hikari.HTTPError:
            return KnownPlace(ChannelKey(channel_id), guild_id)


def where(interaction: hikari.PartialInteraction) -> KnownPlace:
    guild_id = interaction.guild_id and int(interaction.guild_id)
    return KnownPlace(key_of_interaction(interaction.channel), guild_id)


def _in_session(user_id: int, place: KnownPlace, agent: Agent, *, stands_in: bool = False) -> Chosen:
    return Chosen(SessionKey(user_id, place.key.place_id, agent.name), agent, stands_in)


def _with_models(agent: Agent, place: KnownPlace, found: PlaceAgents) -> Agent:
    """Agents without models of their own use the channel's."""
    for place_id in () if agent.models else place.key.ids:
        if chain := found.models.get(place_id):
            return replace(agent, models=chain)
    return agent
