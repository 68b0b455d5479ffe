from collections.abc import Iterable

from cc_bot.features.heartbeat.service import Heartbeats
from cc_bot.parts import Building


def make_parts(given: Building) -> Iterable[object]:
    own = Heartbeats(given.stores, given.chains, given.tools, clock=given.clock, spending=given.spending)
    return (own,)
