from collections.abc import Iterable

from cc_bot.features.agents.service import AgentChoices
from cc_bot.features.agents.store import ChoiceStore
from cc_bot.parts import Building


def make_parts(given: Building) -> Iterable[object]:
    return (AgentChoices(given.agents, given.stores.agents, given.stores[ChoiceStore]),)
