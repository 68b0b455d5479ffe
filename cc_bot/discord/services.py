"""Builds the parts of the bot."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

import hikari
import lightbulb

from cc_bot.chat.context.attachments import DocumentSource
from cc_bot.chat.parts import Parts
from cc_bot.concurrency import RateLimiter, cancel_tasks
from cc_bot.db.leases import Membership
from cc_bot.discord.agents import AgentSelector
from cc_bot.discord.approvals import ApprovalHandler
from cc_bot.discord.attachments import AttachmentFetcher
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.delivery.outlets import MessageReplies
from cc_bot.discord.delivery.receipts import ReceiptUpdater
from cc_bot.discord.delivery.recovery import Recovery
from cc_bot.discord.delivery.reply import ExpectedDeletions
from cc_bot.discord.delivery.side_messages import SideMessageFactory, SideMessages
from cc_bot.discord.delivery.turns import RunningTurns, SpokenAnswers
from cc_bot.discord.gate import Gate, Owners, drop_floods
from cc_bot.discord.gateway import GrantedReading, own_user
from cc_bot.discord.handlers import Presses
from cc_bot.discord.locations import Locations
from cc_bot.discord.messages.listening import MessageListener
from cc_bot.discord.recipients import Recipients
from cc_bot.discord.references import References
from cc_bot.discord.web import DiscordForPages

if TYPE_CHECKING:
    from cc_bot.config import Config

Result = TypeVar("Result")

ServePages = Callable[[DiscordForPages], AbstractAsyncContextManager[Callable[[], Awaitable[None]]]]
"""Binds the web pages' port, if set, and yields a function that starts serving."""


class ProcessWatchdog(Protocol):
    def notify_ready(self) -> None:
        """Notify the service manager that the bot answers."""

    def limit_shutdown(self) -> None:
        """Limit the shutdown's time, from the first call."""


async def finish_unless(task: asyncio.Task[Result], interruption: Awaitable[object]) -> bool:
    """Wait for the task. If the interruption ends first, cancel the task and return False. Raises the task's
    error."""
    interrupting = asyncio.ensure_future(interruption)
    try:
        await asyncio.wait((task, interrupting), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            return False
        task.result()
        return True
    finally:
        await cancel_tasks(interrupting)


def register_parts(client: lightbulb.Client, *parts: object) -> None:
    registry = client.di.registry_for(lightbulb.di.Contexts.DEFAULT)
    for part in parts:
        registry.register_value(type(part), part)


class Job(Protocol):
    """A feature's work while the bot is connected; its module `jobs` has `make_jobs(parts, services)`."""

    def begin(self) -> None:
        pass

    async def close(self) -> None:
        """Stop beginning new work."""

    async def drain(self, timeout_s: float) -> None:
        """Wait for running work."""

    async def finish(self, deadline_s: float) -> None:
        """Wait until this time of the event loop, then cancel running work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotDependencies(Parts):
    config: "Config"
    watchdog: ProcessWatchdog
    pages_url: str  # base URL of the web pages; "" if they are not served
    serve_pages: ServePages
    membership: Membership


@dataclass(frozen=True, slots=True)
class BotServices:
    gate: Gate
    pages: DiscordForPages
    answers: Answers
    messages: MessageListener
    pace: RateLimiter  # for requests in the background
    recovery: Recovery


def build_services(
    bot: hikari.GatewayBot, client: lightbulb.Client, parts: BotDependencies, granted: GrantedReading
) -> BotServices:
    config, stores = parts.config, parts.stores
    owners = Owners(config.owners, parts.policies, bot.rest)
    recipients = Recipients(stores.settings, config.locale, config.timezone, parts.clock, is_owner=owners.has)
    locations, pace = Locations(bot.rest, stores.channels), RateLimiter()
    receipts = ReceiptUpdater(bot.rest, stores, pace)
    running = RunningTurns(
        stores.ledger,
        stores.channels,
        parts.spending,
        parts.clock,
        receipts,
        parts.meter,
        parts.get(SpokenAnswers),
    )
    gate = Gate(owners, parts.policies, stores.access, locations, bot.rest)
    agent_selector = AgentSelector(parts.agents, stores.agents, locations)
    replies = MessageReplies(bot.rest, ExpectedDeletions(), stores.channels)
    side_messages, factory = SideMessages(), parts.get(SideMessageFactory)
    if factory:
        side_messages = factory.construct(replies, recipients, agent_selector, parts.membership)
        side_messages.listen(bot)
    references = References(
        bot.rest,
        stores,
        gate.may_read,
        locations,
        AttachmentFetcher(
            parts.get(DocumentSource),
            running.file_budget,
            can_transcribe=parts.assistant.transcriber is not None,
        ),
        partial(own_user, bot),
        reads_all_messages=granted.reading == "all",
    )
    answers = Answers(
        parts.assistant, running, agent_selector, recipients, references, side_messages, replies
    )
    messages = MessageListener(bot, stores, answers, gate, granted)
    recovery = Recovery(running, stores.proposals, replies, recipients, parts.assistant.approvals)
    register_parts(
        client,
        stores,
        *(getattr(stores, each.name) for each in fields(stores)),
        *(*stores.features.values(), *parts.feature_parts.values()),
        *(parts.assistant, parts.privacy, parts.spending),
        *(parts, granted, owners, gate),
        ApprovalHandler(parts.assistant, answers, owners),
        *(recipients, running, receipts, agent_selector, side_messages),
        *(messages, messages.quotes, messages.forwards, answers),
    )
    client.di.registry_for(lightbulb.di.Contexts.DEFAULT).register_value(SideMessages, side_messages)
    drop_floods(bot, gate.flood_guard)
    Presses(client, gate, recipients).listen(bot)
    messages.listen()
    return BotServices(gate, DiscordForPages(gate, answers), answers, messages, pace, recovery)
