from collections.abc import Iterable

from cc_bot.chat.parts import Building
from cc_bot.concurrency import ExportQueue
from cc_bot.features.memory.service import Memories


def make_parts(given: Building) -> Iterable[object]:
    line = ExportQueue()
    return line, Memories(given.stores, line, given.clock)
