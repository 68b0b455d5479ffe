"""Whom a typed name means, and what is offered while it is typed."""

import unicodedata
from collections.abc import Sequence

from cc_bot.domain.agent import Agent
from cc_bot.domain.locale import Locale


def matching_agents(agents: Sequence[Agent], typed: str, locale: Locale) -> list[tuple[str, str]]:
    """Labels and names of those whose name or display name, in any language, contains what was typed; first
    those that begin with it."""
    wanted = _folded(typed)
    found = [agent for agent in agents if any(wanted in name for name in _names(agent))]
    found.sort(key=lambda agent: not any(name.startswith(wanted) for name in _names(agent)))
    return [(_label(agent, locale), agent.name) for agent in found]


def named_agent(agents: Sequence[Agent], given: str) -> Agent | None:
    """Whom a name means: nobody needs to take one from the list, and everybody may use what they see."""
    wanted = _folded(given)
    by_name = next((agent for agent in agents if agent.name == wanted), None)
    return by_name or next((agent for agent in agents if wanted in _names(agent)), None)


def _label(agent: Agent, locale: Locale) -> str:
    display = agent.display_name(locale)
    return display if _folded(display) == agent.name else f"{display} ({agent.name})"


def _names(agent: Agent) -> tuple[str, ...]:
    return (agent.name, *map(_folded, agent.display_names.values()))


def _folded(text: str) -> str:
    """Full width is the same as half width, and large letters as small ones."""
    return unicodedata.normalize("NFKC", text).strip().casefold()
