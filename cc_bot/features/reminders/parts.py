from collections.abc import Iterable

from cc_bot.chat.parts import Building
from cc_bot.features.reminders.resolver import TimeResolver


def make_parts(given: Building) -> Iterable[object]:
    chains = given.chains
    return (TimeResolver(chains.chain_for(()), given.clock, given.spending, chains.first_name(())),)
