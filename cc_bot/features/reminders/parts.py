from collections.abc import Iterable

from cc_bot.chat.parts import PartsBuilder
from cc_bot.features.reminders.resolver import TimeResolver


def make_parts(builder: PartsBuilder) -> Iterable[object]:
    chains = builder.chains
    return (TimeResolver(chains.chain_for(()), builder.clock, builder.spending, chains.first_name(())),)
