from collections.abc import Iterable

from cc_bot.chat.parts import Building
from cc_bot.features.memory.service import Memories
from cc_bot.in_order import ExportQueue


def make_parts(given: Building) -> Iterable[object]:
    line = ExportQueue()
    return line, Memories(given.stores, line, given.clock)
