from collections.abc import Iterable

from cc_bot.chat.parts import PartsBuilder
from cc_bot.concurrency import ExportQueue
from cc_bot.features.memory.service import MemoryService


def make_parts(given: PartsBuilder) -> Iterable[object]:
    export_queue = ExportQueue()
    return export_queue, MemoryService(given.stores, export_queue, given.clock)
