"""The choice of the agent who answers in a channel, by a user or by the server's managers."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cc_bot.chat.agents import Agents
from cc_bot.chat.stores.settings import AgentStore
from cc_bot.domain.errors import InputError
from cc_bot.domain.message import DEFAULT_AGENT, Agent, Location
from cc_bot.domain.text import Locale
from cc_bot.features.agents.store import ChoiceStore

_NO_USER: Final = 0


class UnknownAgent(InputError):
    ja = "その名前のエージェントは、ここでは使えません。</agent list> で使えるものを確かめてください。"
    en = "There is no agent of that name here. </agent list> shows the agents that you can use."


@dataclass(frozen=True, slots=True)
class AgentChoices:
    agents: Agents
    stored: AgentStore
    store: ChoiceStore

    async def get_default(self, location: Location) -> Agent:
        return await self.agents.get_default(
            location, await self.stored.get_choices(_NO_USER, location.key.ids)
        )

    async def set_default(self, location: Location, guild_id: int, agent: Agent, set_by: int) -> None:
        """The agent `default` is stored only for a thread whose channel has another default."""
        if agent.name == DEFAULT_AGENT:
            await self.store.unset_default(location.key.location_id)
            if (await self.get_default(location)).name == DEFAULT_AGENT:
                return
        await self.store.set_default(location.key.location_id, guild_id, agent.name, set_by)

    async def choose(self, user_id: int, location: Location, agent: Agent) -> None:
        """Set a user's agent. The agent `default` is stored only if another one would answer otherwise."""
        if agent.name == DEFAULT_AGENT:
            await self.store.choose(user_id, location.key.location_id, None)
            found = await self.stored.get_choices(user_id, location.key.ids)
            if (await self.agents.select(location, found))[0].name == DEFAULT_AGENT:
                return
        await self.store.choose(user_id, location.key.location_id, agent.name)


def matching_agents(agents: Sequence[Agent], typed: str, locale: Locale) -> list[tuple[str, str]]:
    """Return labels and names of agents whose name in any language contains the text, prefixes first."""
    wanted = _fold(typed)
    found = [agent for agent in agents if any(wanted in name for name in _names(agent))]
    found.sort(key=lambda agent: not any(name.startswith(wanted) for name in _names(agent)))
    return [(_label(agent, locale), agent.name) for agent in found]


def find_agent(agents: Sequence[Agent], given: str) -> Agent | None:
    wanted = _fold(given)
    by_name = next((agent for agent in agents if agent.name == wanted), None)
    return by_name or next((agent for agent in agents if wanted in _names(agent)), None)


def _label(agent: Agent, locale: Locale) -> str:
    display = agent.display_name(locale)
    return display if _fold(display) == agent.name else f"{display} ({agent.name})"


def _names(agent: Agent) -> tuple[str, ...]:
    return (agent.name, *map(_fold, agent.display_names.values()))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold()
