from collections.abc import Iterable

from cc_bot.features.memory.service import Memories
from cc_bot.in_order import ExportQueue
from cc_bot.parts import Building


def make_parts(given: Building) -> Iterable[object]:
    line = ExportQueue()
    return line, Memories(given.stores, line, given.clock)
