from collections.abc import Iterable
from dataclasses import dataclass

import hikari

from cc_bot.chat.parts import Parts
from cc_bot.chat.stores.canvases import CanvasStore
from cc_bot.db.leases import Leases
from cc_bot.discord.delivery.reply import ExpectedDeletions
from cc_bot.discord.delivery.side_message import IsCurrent, SideMessageMaker
from cc_bot.discord.places import Places
from cc_bot.discord.recipients import Recipients
from cc_bot.features.canvas.delivery import CanvasBoards
from cc_bot.features.canvas.store import CanvasMessageStore


def make_parts(given: Parts) -> Iterable[object]:
    return (BoardsMaker(given.stores.canvases, given.stores[CanvasMessageStore]),)


@dataclass(frozen=True)
class BoardsMaker(SideMessageMaker):
    canvases: CanvasStore
    messages: CanvasMessageStore

    def make(
        self,
        bot: hikari.GatewayBot,
        *,
        recipients: Recipients,
        places: Places,
        expected_deletions: ExpectedDeletions,
        is_current: IsCurrent,
        duties: Leases,
    ) -> CanvasBoards:
        boards = CanvasBoards(
            bot.rest,
            self.canvases,
            self.messages,
            recipients,
            places,
            expected_deletions,
            is_current=is_current,
            leases=duties,
        )
        boards.listen(bot)
        return boards
