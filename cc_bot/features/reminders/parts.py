from collections.abc import Iterable

from cc_bot.chat.parts import Building
from cc_bot.features.reminders.resolver import TimeResolver


def make_parts(given: Building) -> Iterable[object]:
    chains = given.chains
    return (TimeResolver(chains.of(()), given.clock, given.spending, chains.first(())),)
