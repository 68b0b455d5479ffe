from collections.abc import Iterable
from functools import partial

from cc_bot.chat.parts import Parts
from cc_bot.discord.delivery.side_messages import SideMessageFactory
from cc_bot.features.canvas.delivery import CanvasMessages
from cc_bot.features.canvas.store import CanvasMessageStore


def make_parts(given: Parts) -> Iterable[object]:
    stores = given.stores
    yield SideMessageFactory(partial(CanvasMessages, stores.canvases, stores[CanvasMessageStore]))
