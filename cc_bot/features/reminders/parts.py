from collections.abc import Iterable

from cc_bot.features.reminders.resolver import TimeResolver
from cc_bot.parts import Building


def make_parts(given: Building) -> Iterable[object]:
    chains = given.chains
    return (TimeResolver(chains.of(()), given.clock, given.spending, chains.first(())),)
