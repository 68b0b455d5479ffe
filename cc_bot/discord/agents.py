"""The choice of who answers here: the user's own choice, else what the channel has, else the default agent.

In a thread its own choice and default come before those of its channel. An agent that is gone from the file,
or that may not be used in this place, is passed over, so that there is always somebody who answers.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

import hikari

from cc_bot.agents import Agents
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.places import Places, Recent, key_of_interaction
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.errors import AgentGone
from cc_bot.domain.message import DEFAULT_AGENT, Agent, ChannelKey, UserSettings
from cc_bot.domain.session import SessionKey
from cc_bot.stores import AgentStore, PlaceAgents
from cc_bot.texts import Texts

_NOBODY: Final = 0
"""The id of no user: what is asked of a place is the same for all."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The agent that answers, and in which session."""

    key: SessionKey
    agent: Agent
    stands_in: bool = False
    """Whether the user wanted another one, which can't be used there at present."""
    left: bool = False
    """Whether another one answers what else the user asks there."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """The settings that were read of whoever gives a command, at the gate; nothing while the database did not
    answer."""

    settings: UserSettings | None = None
    agents: PlaceAgents | None = None


@dataclass(frozen=True, slots=True)
class Somewhere:
    """A place, as the rules of agents have it."""

    channel_id: int
    guild_id: int | None
    """None in a DM."""
    parent_id: int | None = None
    """Of a thread: its channel."""

    @property
    def ids(self) -> tuple[int, ...]:
        """Return where choices and defaults may stand, the nearest first."""
        return (self.channel_id,) if self.parent_id is None else (self.channel_id, self.parent_id)

    def allows(self, agent: Agent) -> bool:
        return agent.places.allow(guild_id=self.guild_id, channel_ids=frozenset(self.ids))


MAX_NOTED: Final = 1000


@dataclass(eq=False, slots=True)
class Chooser:
    agents: Agents
    store: AgentStore
    places: Places
    _noted: Recent[tuple[int, int], None] = field(default_factory=lambda: Recent(MAX_NOTED), init=False)
    """The users and channels that know that another agent answers there."""

    async def of(self, interaction: Answerable, known: PlaceAgents | None = None) -> Chosen:
        """Return who answers the user of a command now; `known` is what decides it, where that was read
        already. Raises StorageError."""
        user_id, place = int(interaction.user.id), where(interaction)
        return await self._choose(
            user_id, place, known or await self.store.get_for_places(user_id, place.ids)
        )

    async def of_place(self, user_id: int, place: Somewhere) -> Chosen:
        """Return who answers the user there now. Raises StorageError."""
        return await self._look_up_choice(user_id, place)

    async def of_answer(self, interaction: Answerable, answer_id: int) -> Chosen:
        """Return who gave the user of a button the answer above it, by the answer's row, whoever has been
        chosen since. Raises AgentGone when that one can't be asked here any more, and StorageError. Nobody
        stands in for it: another agent has not seen that conversation."""
        user_id, place = int(interaction.user.id), where(interaction)
        agent = await self.usable(place, await self.store.get_for_answer(user_id, answer_id) or DEFAULT_AGENT)
        if agent is None:
            raise AgentGone
        return await self._once_more(user_id, place, agent)

    async def of_session(self, key: SessionKey, guild_id: int | None) -> Chosen:
        """Return who was asked in that session, to be asked there again. Raises AgentGone when that is not
        possible any more, and StorageError."""
        place = await self._place_in(guild_id, key.channel_id)
        agent = await self.usable(place, key.agent)
        if agent is None:
            raise AgentGone
        return await self._once_more(key.user_id, place, agent)

    async def of_message(
        self, message: hikari.PartialMessage, user_id: int, answered: SessionKey | None = None
    ) -> Chosen:
        """Return who answers a message in its author's own session; `answered` is the session of the answer
        that it replies to, which goes on as long as its agent can be asked there. Raises StorageError."""
        place = await self._place_of(message)
        if answered is None:
            return await self._look_up_choice(user_id, place)
        if agent := await self.usable(place, answered.agent):
            return await self._once_more(user_id, place, agent)
        return replace(await self._look_up_choice(user_id, place), stands_in=True)

    async def choose_speaker(self, key: SessionKey, guild_id: int | None) -> Agent:
        """Return who speaks in a session when its user has not asked: its agent, or the default one when that
        is gone. Raises StorageError."""
        agent = await self.agents.get(key.agent) or await self.agents.default()
        place = await self._place_in(guild_id, key.channel_id)
        return _with_models(agent, place, await self.store.get_for_places(_NOBODY, place.ids))

    async def is_current(self, key: SessionKey, interaction: Answerable | None = None) -> bool:
        """Return whether this is the session that a question of its user goes to there now. An interaction
        from there tells what place that is; true where nothing does. Raises StorageError."""
        try:
            place = where(interaction) if interaction else await self._place_at(key.channel_id)
        except hikari.HTTPError:
            return True
        return (await self._look_up_choice(key.user_id, place)).key == key

    async def in_channel(self, key: ChannelKey) -> Agent:
        """Return who answers mentions in a channel or thread: what it has, whoever asks. Raises
        StorageError."""
        place = Somewhere(key.place_id, None, key.channel_id if key.thread_id else None)
        found = await self.store.get_for_places(_NOBODY, place.ids)
        return _with_models(_default(place, found, await self.agents.all()), place, found)

    async def default_of(self, place: Somewhere) -> Agent:
        """Return who answers there whoever chose nobody. Raises StorageError."""
        return _default(place, await self.store.get_for_places(_NOBODY, place.ids), await self.agents.all())

    async def set_default(self, place: Somewhere, guild_id: int, agent: Agent, set_by: int) -> None:
        """Have this agent answer there whoever chose nobody. The default agent stands on record only in a
        thread of a channel that has another one. Raises StorageError."""
        if agent.name == DEFAULT_AGENT:
            await self.store.unset_default(place.channel_id)
            if (await self.default_of(place)).name == DEFAULT_AGENT:
                return
        await self.store.set_default(place.channel_id, guild_id, agent.name, set_by)

    async def choose(self, user_id: int, place: Somewhere, agent: Agent) -> None:
        """Have this agent answer the user there. Who goes back to the default agent follows the channel
        again, unless that has another one. Raises StorageError."""
        if agent.name == DEFAULT_AGENT:
            await self.store.choose(user_id, place.channel_id, None)
            if (await self._look_up_choice(user_id, place)).agent.name == DEFAULT_AGENT:
                return
        await self.store.choose(user_id, place.channel_id, agent.name)

    async def usable(self, place: Somewhere, name: str) -> Agent | None:
        """The agent of that name, if there is one and it may be used there."""
        agent = await self.agents.get(name)
        return agent if agent and place.allows(agent) else None

    async def usable_at(self, place: Somewhere) -> tuple[Agent, ...]:
        """Return all that may be used there, the default one first."""
        return tuple(agent for agent in (await self.agents.all()).values() if place.allows(agent))

    def stand_in_note(self, chosen: Chosen, recipient: Recipient) -> str:
        """Return the sentence under the first answer that is not by whom its user chose; else empty."""
        key = (chosen.key.user_id, chosen.key.channel_id)
        if not chosen.stands_in:
            self._noted.discard(key)
            return ""
        if key in self._noted:
            return ""
        self._noted[key] = None
        return recipient.words.agents.gone.format(display=chosen.agent.display_name(recipient.locale))

    async def _look_up_choice(self, user_id: int, place: Somewhere) -> Chosen:
        return await self._choose(user_id, place, await self.store.get_for_places(user_id, place.ids))

    async def _choose(self, user_id: int, place: Somewhere, found: PlaceAgents) -> Chosen:
        known, passed_over = await self.agents.all(), False
        for name in (found.choices[place_id] for place_id in place.ids if place_id in found.choices):
            agent = known.get(name)
            if agent and place.allows(agent):
                break
            passed_over = True
        else:
            agent = _default(place, found, known)
        return _in_session(user_id, place, _with_models(agent, place, found), stands_in=passed_over)

    async def _once_more(self, user_id: int, place: Somewhere, agent: Agent) -> Chosen:
        found = await self.store.get_for_places(user_id, place.ids)
        chosen = _in_session(user_id, place, _with_models(agent, place, found))
        return replace(chosen, left=(await self._choose(user_id, place, found)).key != chosen.key)

    async def _place_of(self, message: hikari.PartialMessage) -> Somewhere:
        """While Discord does not tell of what a thread is part, it stands for itself."""
        channel_id = int(message.channel_id)
        if message.guild_id is None:
            return Somewhere(channel_id, None)
        try:
            return await self._place_at(channel_id)
        except hikari.HTTPError:
            return Somewhere(channel_id, int(message.guild_id))

    async def _place_in(self, guild_id: int | None, channel_id: int) -> Somewhere:
        """A place of a server that is known, or a DM's."""
        if guild_id is not None:
            with suppress(hikari.HTTPError):  # where the bot was only brought along it can't look
                return await self._place_at(channel_id)
        return Somewhere(channel_id, guild_id)

    async def _place_at(self, channel_id: int) -> Somewhere:
        """Look the place up. Raises hikari.HTTPError when Discord won't tell."""
        place = await self.places.of(channel_id)
        return Somewhere(channel_id, place.guild_id, place.key.channel_id if place.key.thread_id else None)


def where(interaction: hikari.PartialInteraction) -> Somewhere:
    """Interactions tell their place themselves."""
    key = key_of_interaction(interaction.channel)
    guild_id = None if interaction.guild_id is None else int(interaction.guild_id)
    return Somewhere(key.place_id, guild_id, key.channel_id if key.thread_id else None)


def words_under(chosen: Chosen, recipient: Recipient) -> Texts:
    """Return what its answers are shown with: the canvas of an agent that the user has left is not to be
    seen."""
    words = recipient.words
    if not chosen.left:
        return words
    changed = words.canvas.changed_unseen.format(display=chosen.agent.display_name(recipient.locale))
    return replace(words, canvas=words.canvas.reword(changed=changed))


def _in_session(user_id: int, place: Somewhere, agent: Agent, *, stands_in: bool = False) -> Chosen:
    return Chosen(SessionKey(user_id, place.channel_id, agent.name), agent, stands_in)


def _with_models(agent: Agent, place: Somewhere, found: PlaceAgents) -> Agent:
    """An agent that names no models is played by those of the channel, where an owner chose some."""
    for place_id in () if agent.models else place.ids:
        if chain := found.models.get(place_id):
            return replace(agent, models=chain)
    return agent


def _default(place: Somewhere, found: PlaceAgents, known: Mapping[str, Agent]) -> Agent:
    """Return the agent of those who chose nobody. Which server it is, the stored default tells."""
    for default in (found.defaults[place_id] for place_id in place.ids if place_id in found.defaults):
        agent = known.get(default.agent)
        if agent and replace(place, guild_id=default.guild_id).allows(agent):
            return agent
    return known[DEFAULT_AGENT]
