"""The agents that may answer; without the feature `agents`, only the default one."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cc_bot.chat.stores.settings import StoredAgentChoices
from cc_bot.domain.message import BUILT_IN_AGENT, DEFAULT_AGENT, Agent, Location
from cc_bot.domain.text import Locale
from cc_bot.features import find_module
from cc_bot.texts import Texts, texts
from cc_bot.texts.answer import AnswerTexts

if TYPE_CHECKING:
    from cc_bot.config import Config


def with_default_name(agent: Agent = BUILT_IN_AGENT) -> Agent:
    names = {locale: texts(locale)[AnswerTexts].default_agent for locale in Locale}
    return replace(agent, display_names=names | agent.display_names)


class Agents:
    async def load(self) -> Mapping[str, Agent]:
        """Read the agents when the program starts. Raises InvalidAgents."""
        return await self.get_all()

    async def get_all(self) -> Mapping[str, Agent]:
        """Return all agents by name, the default one first."""
        return {DEFAULT_AGENT: with_default_name()}

    async def get_global_default(self) -> Agent:
        return (await self.get_all())[DEFAULT_AGENT]

    async def get(self, name: str) -> Agent | None:
        return (await self.get_all()).get(name)

    async def list_available(self, location: Location) -> tuple[Agent, ...]:
        """Return the agents that may answer in the location, the default one first."""
        return tuple(agent for agent in (await self.get_all()).values() if is_allowed(location, agent))

    async def get_default(self, _location: Location, _choices: StoredAgentChoices) -> Agent:
        return await self.get_global_default()

    async def select(self, _location: Location, _choices: StoredAgentChoices) -> tuple[Agent, bool]:
        """Return the agent that answers the user, and whether the user's choice is not available."""
        return await self.get_global_default(), False

    def fallback_note(self, _agent: Agent, _texts: Texts) -> str:
        """Return a note for the user that this agent answers, because their choice is not available."""
        return ""


def is_allowed(location: Location, agent: Agent) -> bool:
    return agent.scope.allows(guild_id=location.guild_id, channel_ids=frozenset(location.key.ids))


def make_agents(config: "Config", tools: Collection[str]) -> Agents:
    """`tools`: names of all tools."""
    feature = find_module("agents")
    agents: Agents = feature.make_agents(config, tools) if feature else Agents()
    return agents
