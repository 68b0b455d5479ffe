from collections.abc import Iterable

from cc_bot.chat.parts import PartsBuilder
from cc_bot.features.heartbeat.runner import Heartbeats
from cc_bot.features.heartbeat.service import failure_sentence
from cc_bot.features.reminders.service import Composer


def make_parts(given: PartsBuilder) -> Iterable[object]:
    heartbeats = Heartbeats(given.stores, given.chains, given.tools, given.spending, given.clock)
    return (Composer(heartbeats.compose, failure_sentence),)
