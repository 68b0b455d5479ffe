from collections.abc import Iterable

from cc_bot.features.heartbeat.runner import Heartbeats
from cc_bot.features.heartbeat.service import stopped
from cc_bot.features.reminders.service import Composer
from cc_bot.parts import Building


def make_parts(given: Building) -> Iterable[object]:
    own = Heartbeats(given.stores, given.chains, given.tools, clock=given.clock, spending=given.spending)
    return (Composer(own.speak, stopped),)
