from collections.abc import Iterable

from cc_bot.chat.parts import Building
from cc_bot.features.agents.service import AgentChoices
from cc_bot.features.agents.store import ChoiceStore


def make_parts(given: Building) -> Iterable[object]:
    return (AgentChoices(given.agents, given.stores.agents, given.stores[ChoiceStore]),)
