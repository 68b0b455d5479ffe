"""Canvas boards over REST alone, without a gateway."""

from collections.abc import Container
from zoneinfo import ZoneInfo

import hikari

from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.delivery.canvas_messages import CanvasMessages, Draw, Pictures
from cc_bot.discord.delivery.reply import TakenDown
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.places import Places
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.canvas import Chart
from cc_bot.domain.locale import Locale
from cc_bot.domain.session import SessionKey
from cc_bot.stores import Stores


def no_pictures(_: Chart, __: Locale) -> bytes | None:
    """As where the extra is not installed."""
    return None


def boards_over(
    stores: Stores,
    rest: hikari.api.RESTClient,
    draw: Draw = no_pictures,
    left: Container[SessionKey] = (),
) -> CanvasBoards:
    """`left`: the sessions of agents that their users are not answered by any more."""

    async def is_current(key: SessionKey, _: Answerable | None) -> bool:
        return key not in left

    return CanvasBoards(
        stores.canvases,
        CanvasMessages(rest, TakenDown()),
        Pictures(draw),
        Recipients(stores.settings, Locale.JA, ZoneInfo("Asia/Tokyo")),
        Places(rest, stores.channels),
        spoken_in=lambda _: None,
        is_current=is_current,
    )
