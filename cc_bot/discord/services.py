"""Puts the parts of the bot together."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, fields
from functools import partial
from typing import Protocol, TypeVar
from zoneinfo import ZoneInfo

import hikari
import lightbulb

from cc_bot.chat.context.attachments import DocumentSource
from cc_bot.chat.parts import Parts
from cc_bot.db.leases import Membership
from cc_bot.discord.agents import AgentSelector
from cc_bot.discord.approvals import ApprovalDelivery
from cc_bot.discord.attachments import AttachmentFetcher
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.delivery.outlets import MessageReplies
from cc_bot.discord.delivery.receipts import ReceiptUpkeep
from cc_bot.discord.delivery.recovery import Recovery
from cc_bot.discord.delivery.reply import ExpectedDeletions
from cc_bot.discord.delivery.side_message import SideMessage, SideMessageMaker
from cc_bot.discord.delivery.turns import Askers, RunningTurns, SpokenAnswers
from cc_bot.discord.gate import Gate, Owners, drop_floods
from cc_bot.discord.gateway import GrantedReading, Shards, own_user
from cc_bot.discord.handlers import Presses
from cc_bot.discord.messages.listening import MessageListener
from cc_bot.discord.places import Places
from cc_bot.discord.recipients import Recipients
from cc_bot.discord.references import References
from cc_bot.discord.web import DiscordForPages
from cc_bot.domain.message import Reading
from cc_bot.domain.text import Locale
from cc_bot.in_order import RateLimiter

Result = TypeVar("Result")


ServePages = Callable[[DiscordForPages], AbstractAsyncContextManager[Callable[[], Awaitable[None]]]]
"""Opens a port for the pages, if set, and yields a function that starts serving."""


class ProcessWatchdog(Protocol):
    """Ends the process if it hangs."""

    def ready(self) -> None:
        """Report that the bot answers."""

    def leave(self) -> None:
        """Limit the time for the shutdown. May be called twice."""


async def ended_before(task: asyncio.Task[Result], interruption: Awaitable[object]) -> bool:
    """Return whether the task ended before the interruption, else cancel it. Raises the task's error."""
    other = asyncio.ensure_future(interruption)
    try:
        await asyncio.wait((task, other), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            return False
        task.result()
        return True
    finally:
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)


def provide(client: lightbulb.Client, *parts: object) -> None:
    """Have lightbulb inject each part where its type is asked for."""
    registry = client.di.registry_for(lightbulb.di.Contexts.DEFAULT)
    for part in parts:
        registry.register_value(type(part), part)


@dataclass(frozen=True, slots=True)
class DiscordSettings:
    token: str
    owners: frozenset[int]
    """Empty: the owner of the application."""
    api_url: str | None
    reading: Reading
    locale: Locale
    """For users of unknown language."""
    operator_locale: Locale
    timezone: ZoneInfo
    drain_s: float
    """For running turns after the signal to stop."""
    shards: tuple[int, ...] | None = None
    """This process's; None: all."""
    shard_count: int | None = None
    """None: as recommended by Discord."""
    api_keeps_limits: bool = False


class Job(Protocol):
    """A feature's jobs while the bot is connected: `make_jobs(given, services)` in its `jobs`."""

    def begin(self) -> None:
        pass

    async def close(self) -> None:
        """Begin nothing more."""

    async def drain(self, timeout_s: float) -> None:
        """Wait for what runs."""

    async def finish(self, deadline_s: float) -> None:
        """Wait until a time of the event loop, then cancel what runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotDependencies(Parts):
    """Parts that the bot is given and does not close."""

    settings: DiscordSettings
    watchdog: ProcessWatchdog
    pages_url: str
    """Base URL of the web pages; empty: there are none."""
    serve_pages: ServePages
    membership: Membership


@dataclass(frozen=True, slots=True)
class BotServices:
    gate: Gate
    pages: DiscordForPages
    answers: Answers
    messages: MessageListener
    pace: RateLimiter
    """For requests that nobody waits for."""
    recovery: Recovery


def build_services(
    bot: hikari.GatewayBot, client: lightbulb.Client, given: BotDependencies, granted: GrantedReading
) -> BotServices:
    settings, stores = given.settings, given.stores
    owners = Owners(settings.owners, given.policies, bot.rest)
    recipients = Recipients(
        stores.settings, settings.locale, settings.timezone, given.clock, is_owner=owners.has
    )
    places, expected_deletions, pace = Places(bot.rest, stores.channels), ExpectedDeletions(), RateLimiter()
    receipts = ReceiptUpkeep(bot.rest, stores, pace)
    running = RunningTurns(
        stores.ledger,
        stores.channels,
        given.spending,
        given.clock,
        receipts,
        given.meter,
        given.get(SpokenAnswers),
        given.get(Askers),
    )
    gate = Gate(owners, given.policies, stores.access, places, bot.rest)
    chooser = AgentSelector(given.agents, stores.agents, places)
    side_message, maker = SideMessage(), given.get(SideMessageMaker)
    if maker:
        side_message = maker.make(
            rest=bot.rest,
            recipients=recipients,
            places=places,
            expected_deletions=expected_deletions,
            is_current=chooser.is_current,
            leases=given.membership,
        )
        side_message.listen(bot)
    shards = Shards(places, recipients.guilds)
    references = References(
        bot.rest,
        stores,
        gate.may_read,
        places,
        AttachmentFetcher(given.get(DocumentSource), running.held, hears=given.assistant.hearing is not None),
        partial(own_user, bot),
        reads_all=granted.reading == "all",
    )
    replies = MessageReplies(bot.rest, expected_deletions, stores.channels)
    answers = Answers(given.assistant, running, chooser, recipients, references, side_message, replies)
    messages = MessageListener(bot, stores, answers, gate, places=places, granted=granted, shards=shards)
    recovery = Recovery(running, stores.proposals, replies, recipients, given.assistant.approvals)
    provide(
        client,
        stores,
        *(getattr(stores, each.name) for each in fields(stores)),
        *(*stores.own.values(), *given.own.values()),
        *(given.assistant, given.privacy, given.spending),
        *(given, granted, owners, gate),
        ApprovalDelivery(given.assistant, answers, owners),
        *(recipients, running, receipts, chooser, places, expected_deletions, side_message),
        *(messages, messages.quotes, messages.forwards, answers),
    )
    client.di.registry_for(lightbulb.di.Contexts.DEFAULT).register_value(SideMessage, side_message)
    drop_floods(bot, gate.floods)
    Presses(client, gate, recipients).listen(bot)
    messages.listen()
    return BotServices(gate, DiscordForPages(gate, answers), answers, messages, pace, recovery)
