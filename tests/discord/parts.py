"""Parts of the program over REST and a database, without a gateway or files of the operator."""

import asyncio
import sqlite3
from collections.abc import Callable, Container
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import hikari

from cc_bot.chat.agents import Agents
from cc_bot.chat.policy import Policies
from cc_bot.chat.spending import Spending
from cc_bot.chat.stores.opening import Stores
from cc_bot.concurrency import RateLimiter
from cc_bot.discord.agents import AgentSelector
from cc_bot.discord.attachments import AttachmentFetcher
from cc_bot.discord.delivery.outlets import MessageReplies
from cc_bot.discord.delivery.receipts import ReceiptUpdater
from cc_bot.discord.delivery.reply import ExpectedDeletions
from cc_bot.discord.delivery.turns import RunningTurns
from cc_bot.discord.gate import Gate, Owners
from cc_bot.discord.gateway import ShardLookup
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.locations import Locations
from cc_bot.discord.recipients import GuildDirectory, Recipients
from cc_bot.discord.references import References
from cc_bot.domain.chart import Chart
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.features.canvas.delivery import CanvasMessages, Draw
from cc_bot.features.canvas.store import CanvasMessageStore
from cc_bot.features.documents.reader import DocumentReader
from tests.loopback.discord import Channel, LoopbackDiscord, Shown, User
from tests.reading.confinement import UNCONFINED

Rest = hikari.api.RESTClient


@dataclass
class BotChannel:
    """A channel with a user, a Discord double and a database in a folder."""

    discord: LoopbackDiscord
    rest: Rest
    stores: Stores
    folder: Path
    aiko: User
    channel: Channel

    @property
    def key(self) -> ChannelKey:
        return ChannelKey(self.channel.id)

    @property
    def shards(self) -> ShardLookup:
        return ShardLookup(Locations(self.rest, self.stores.channels), GuildDirectory())

    def execute(self, sql: str, *values: object) -> list[Any]:
        """Execute a statement as another program."""
        with closing(sqlite3.connect(self.folder / "sessions.db")) as connection, connection:
            return connection.execute(sql, values).fetchall()

    async def until(self, look: Callable[[], object]) -> None:
        async with asyncio.timeout(60):
            while not look():  # noqa: ASYNC110 - neither a file nor a log tells of its changes
                await asyncio.sleep(0.01)

    def written(self, channel: Channel | None = None) -> list[Shown]:
        """The bot's messages."""
        return [each for each in self.discord.messages(channel or self.channel) if each.author.is_bot]

    def texts(self, channel: Channel | None = None) -> list[str]:
        return [message.text for message in self.written(channel)]


def no_pictures(_: Chart, __: Locale) -> bytes | None:
    """Draw no picture, as without the extra."""
    return None


def recipients_over(stores: Stores) -> Recipients:
    return Recipients(stores.settings, Locale.JA, ZoneInfo("Asia/Tokyo"))


def fetcher() -> AttachmentFetcher:
    return AttachmentFetcher(DocumentReader(unconfined=UNCONFINED))


def boards_over(
    stores: Stores, rest: Rest, draw: Draw = no_pictures, left: Container[SessionKey] = ()
) -> CanvasMessages:
    """`left`: the sessions of agents that their users are not answered by any more."""

    class Selector(AgentSelector):
        async def is_current(self, key: SessionKey, _: Answerable | None = None) -> bool:
            return key not in left

    return CanvasMessages(
        stores.canvases,
        stores[CanvasMessageStore],
        MessageReplies(rest, ExpectedDeletions(), stores.channels),
        recipients_over(stores),
        Selector(Agents(), stores.agents, Locations(rest, stores.channels)),
        draw=draw,
    )


def chooser_over(stores: Stores, rest: Rest) -> AgentSelector:
    return AgentSelector(Agents(), stores.agents, Locations(rest, stores.channels))


def running_over(stores: Stores, rest: Rest) -> RunningTurns:
    receipts = ReceiptUpdater(rest, stores, RateLimiter())
    return RunningTurns(stores.ledger, stores.channels, Spending(stores.usage), utc_now, receipts)


def references_over(stores: Stores, rest: Rest, bot: hikari.User) -> References:
    """Return references of a bot that may read everything."""
    reads, locations = gate_over(stores, rest).may_read, Locations(rest, stores.channels)
    return References(rest, stores, reads, locations, fetcher(), lambda: bot, reads_all_messages=True)


def gate_over(
    stores: Stores,
    rest: Rest,
    *,
    owners: frozenset[int] = frozenset(),
    file: Path = Path("no policy.toml"),
    timeout_s: float = 1.0,
) -> Gate:
    policies, locations = Policies(file, locale=Locale.JA), Locations(rest, stores.channels)
    return Gate(Owners(owners, policies, rest), policies, stores.access, locations, rest, timeout_s)
