from collections.abc import Iterable

from cc_bot.chat.parts import PartsBuilder
from cc_bot.features.agents.service import AgentChoices
from cc_bot.features.agents.store import ChoiceStore


def make_parts(builder: PartsBuilder) -> Iterable[object]:
    return (AgentChoices(builder.agents, builder.stores.agents, builder.stores[ChoiceStore]),)
