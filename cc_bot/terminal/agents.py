"""Who answers in the terminal, and the `/agent` commands. Whoever sits there may use all agents."""

from collections.abc import Iterable

from cc_bot.agents import Agents
from cc_bot.agents.naming import named_agent
from cc_bot.domain.agent import DEFAULT_AGENT, THE_DEFAULT, Agent
from cc_bot.domain.errors import StorageError, UnknownAgent
from cc_bot.stores import AgentStore
from cc_bot.terminal.person import Person
from cc_bot.terminal.printable import one_line
from cc_bot.terminal.profile import ChatProfile
from cc_bot.terminal.view import View


class TerminalAgents:
    """`agents` is None where there is none but the default one."""

    def __init__(self, agents: Agents | None, store: AgentStore, profile: ChatProfile) -> None:
        self._agents = agents
        self._store = store
        self._profile = profile
        self._of_this_chat = profile.agent

    async def current(self) -> Agent:
        """Who answers the next question. Never fails: when the database does not answer, something has to
        tell the user about it."""
        known = {agent.name: agent for agent in await self._all()}
        return known.get(self._of_this_chat or await self._chosen() or DEFAULT_AGENT, known[DEFAULT_AGENT])

    async def names(self) -> Iterable[str]:
        return [agent.name for agent in await self._all()]

    async def list(self, person: Person, view: View) -> None:
        """Show all, and who answers now."""
        words, locale = person.texts.agents, person.locale
        agents = await self._all()
        if len(agents) == 1:
            view.say(words.only_one.format(display=one_line(person.agent.display_name(locale))))
            return
        lines = [words.title]
        for agent in agents:
            mark = words.in_use if agent.name == person.agent.name else ""
            about = f": {agent.description(locale)}" if agent.description(locale) else ""
            lines.append(f"  {agent.name}  {one_line(agent.display_name(locale))}{mark}{one_line(about)}")
        view.say("\n".join(lines))

    async def use(self, name: str, person: Person, view: View) -> None:
        """Have another one answer, also in later chats. Raises UnknownAgent."""
        agent = named_agent(await self._all(), name)
        if agent is None:
            raise UnknownAgent
        key = self._profile.key
        await self._store.choose(
            key.user_id, key.channel_id, None if agent.name == DEFAULT_AGENT else agent.name
        )
        self._of_this_chat = agent.name
        words = person.texts.agents
        sentence = words.using_already if agent.name == person.agent.name else words.using
        view.say(sentence.format(display=one_line(agent.display_name(person.locale))))

    async def _all(self) -> tuple[Agent, ...]:
        return tuple((await self._agents.all()).values()) if self._agents else (THE_DEFAULT,)

    async def _chosen(self) -> str | None:
        key = self._profile.key
        try:
            return await self._store.choice(key.user_id, key.channel_id)
        except StorageError:
            return None
