"""Posts due reminders and heartbeats, each once. If Discord refuses a message, or the user has left the
server, the schedule is paused, and the user gets a DM."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

import hikari
import structlog

from cc_bot.chat.turn import TurnOptions
from cc_bot.concurrency import RateLimiter, Tasks
from cc_bot.db.leases import Leases
from cc_bot.discord.agents import AgentSelector
from cc_bot.discord.delivery.reply import parts_to_leave_out
from cc_bot.discord.delivery.side_messages import SideMessages
from cc_bot.discord.gate import Gate
from cc_bot.discord.interactions import retry
from cc_bot.discord.locations import LruCache
from cc_bot.discord.pages.custom_ids import base36
from cc_bot.discord.pages.page import Page, Part, post_arguments
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import Message, Target
from cc_bot.features.reminders.model import Firing, Obstacle, Schedule, UnreportedFirings
from cc_bot.features.reminders.scheduler import Scheduler
from cc_bot.features.reminders.service import Composer, Composition
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.features.reminders.views import (
    heartbeat_page,
    paused_page,
    reminder_page,
    reminder_text,
    undelivered_page,
)
from cc_bot.log import log_errors
from cc_bot.texts import Texts

_log = structlog.get_logger(__name__)

Result = TypeVar("Result")

IsWanted = Callable[[], Awaitable[bool]]

RETRY_PAUSES_S: Final = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)  # in total less than Discord remembers a nonce

_OBSTACLES: Final[dict[int, Obstacle]] = {
    10003: "channel_gone",  # unknown channel
    10013: "dms_closed",  # unknown user: the account is gone
    50001: "bot_removed",  # missing access
    50007: "dms_closed",  # cannot send messages to this user
    50013: "permission_missing",
    50033: "dms_closed",  # invalid recipient
    50278: "dms_closed",  # no server in common with the user
}
_NO_MEMBER: Final = frozenset({10007, 10013})  # unknown member, unknown user


class Refused(Exception):
    def __init__(self, obstacle: Obstacle, error: hikari.ClientHTTPResponseError) -> None:
        super().__init__(obstacle)
        self.obstacle = obstacle
        self.error = error


class Withdrawn(Exception):
    """The user cancelled the reminder before it was posted."""


@dataclass(eq=False, slots=True)
class ReminderPoster:
    """Posts messages, with retries: Discord creates only one message per nonce."""

    rest: hikari.api.RESTClient
    pace: RateLimiter = field(default_factory=RateLimiter)
    _dms: LruCache[int, int] = field(default_factory=LruCache)

    async def check_membership(self, schedule: Schedule) -> None:
        """Raise Refused if the user is known to have left the server."""
        if schedule.guild_id is None or schedule.audience == "private":
            return
        try:
            await self.pace.wait()
            await self.rest.fetch_member(schedule.guild_id, schedule.key.user_id)
        except hikari.UnauthorizedError:
            raise  # the bot's token is invalid, which ends the program
        except hikari.NotFoundError as error:
            if int(error.code) in _NO_MEMBER:
                raise Refused("left_server", error) from error
        except hikari.HTTPError as error:
            _log.info("membership_unknown", schedule=schedule.id, error=type(error).__name__)

    async def post_dm(
        self, user_id: int, page: Page, nonce: str, is_wanted: IsWanted | None = None
    ) -> hikari.Message:
        channel_id = self._dms.get(user_id)
        if channel_id is None:
            channel = await self._request(lambda: self.rest.create_dm_channel(user_id), is_wanted)
            channel_id = int(channel.id)
            self._dms[user_id] = channel_id
        return await self.post(channel_id, user_id, page, nonce, is_wanted)

    async def post(
        self, channel_id: int, user_id: int, page: Page, nonce: str, is_wanted: IsWanted | None = None
    ) -> hikari.Message:
        """Post a page, leaving out parts that Discord refuses, and ping only that user. Raises Refused,
        Withdrawn and HikariError."""
        refused_parts = frozenset[Part]()
        while True:
            content = {**post_arguments(page.without(refused_parts)), "user_mentions": [user_id]}
            create = partial(self.rest.create_message, channel_id, nonce=nonce, **content)
            try:
                return await self._request(create, is_wanted)
            except Refused as refused:
                more_parts = parts_to_leave_out(page.parts(None), refused_parts, refused.error)
                if more_parts is None:
                    raise
                refused_parts = more_parts

    async def _request(self, call: Callable[[], Awaitable[Result]], is_wanted: IsWanted | None) -> Result:
        async def attempt() -> Result:
            await self.pace.wait()
            if is_wanted and not await is_wanted():
                raise Withdrawn
            return await call()

        try:
            return await retry(attempt, RETRY_PAUSES_S)
        except hikari.UnauthorizedError:
            raise
        except hikari.ClientHTTPResponseError as error:
            raise Refused(_OBSTACLES.get(int(error.code), "channel_refused"), error) from error


def nonce_at(kind: str, number: int, moment: datetime) -> str:
    """Return a nonce of at most 25 characters."""
    return f"{kind}{base36(number)}-{base36(int(moment.timestamp() * 1000))}"


TARGETS: Final[tuple[Target, ...]] = ("channel", "dm")  # not "terminal": terminal.py shows those
MAX_CONCURRENT: Final = 16
RECORD_PAUSES_S: Final = (0, 0.5, 2.0, 5.0)  # before each attempt
CLOSE_TIMEOUT_S: Final = 2.0  # to finish a claim in progress
SCHEDULER_PAUSE_S: Final = 10.0


@dataclass(eq=False, slots=True)
class ReminderDelivery:
    """Posts at most MAX_CONCURRENT messages at a time, so that a crash leaves few outcomes unknown."""

    composer: Composer | None  # None without heartbeats
    schedules: ScheduleStore
    poster: ReminderPoster
    agent_selector: AgentSelector
    gate: Gate
    side_messages: SideMessages
    recipients: Recipients
    leases: Leases = field(default_factory=Leases)
    _scheduler: Scheduler = field(init=False)
    _leader_tasks: Tasks = field(default_factory=Tasks)
    _is_leader: bool = False
    _scheduler_ended: asyncio.Event = field(default_factory=asyncio.Event)
    _in_flight: Tasks = field(default_factory=Tasks)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONCURRENT))

    def __post_init__(self) -> None:
        self._scheduler = Scheduler(self.schedules, targets=TARGETS, clock=self.recipients.clock)

    def begin(self) -> None:
        self._leader_tasks.start(self.leases.run_as_leader("reminders", self._run_scheduler))

    async def close(self) -> None:
        self._scheduler.stop()
        if self._is_leader:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_TIMEOUT_S):
                    await self._scheduler_ended.wait()
        if not self._scheduler_ended.is_set():
            for task in self._leader_tasks:
                task.cancel()

    async def drain(self, timeout_s: float) -> None:
        """After `close`, wait for claimed posts."""
        if self._in_flight:
            await asyncio.wait(self._in_flight, timeout=max(timeout_s, 0))

    async def finish(self, deadline_s: float) -> None:
        """Wait for claimed posts until this time on the event loop's clock, then cancel them."""
        await self.drain(deadline_s - asyncio.get_running_loop().time())
        await self._in_flight.cancel()
        await self._leader_tasks.cancel()

    async def deliver(self, firing: Firing, page: Page, message: Message) -> None:
        schedule, user_id = firing.schedule, firing.schedule.key.user_id
        nonce, is_wanted = nonce_at("r", schedule.id, firing.due_at), partial(self._is_wanted, schedule)
        try:
            if schedule.audience == "private":
                posted = await self.poster.post_dm(user_id, page, nonce, is_wanted)
            else:
                await self.poster.check_membership(schedule)
                channel_id = schedule.key.channel_id
                posted = await self.poster.post(channel_id, user_id, page, nonce, is_wanted)
        except Withdrawn:
            _log.info("firing_withdrawn", schedule=schedule.id)
            await _record(lambda: self.schedules.mark_skipped(firing))
        except Refused as refused:
            await self._pause(firing, refused.obstacle)
        except hikari.HikariError as error:
            _log.warning("firing_uncertain", schedule=schedule.id, error=type(error).__name__)
        else:
            sent, channel_id = replace(message, discord_id=int(posted.id)), int(posted.channel_id)
            await _record(lambda: self.schedules.mark_sent(firing, sent, channel_id=channel_id))

    async def _run_scheduler(self) -> None:
        """Run the scheduler, then wait for claimed posts, as the lease ends when this returns."""
        self._is_leader = True
        try:
            while not self._scheduler_ended.is_set():
                try:
                    async with aclosing(self._scheduler.run()) as firings:
                        async for each in firings:
                            await self._handle(each)
                    self._scheduler_ended.set()
                except Exception:  # noqa: BLE001 - the scheduler must go on
                    _log.error("scheduler_broke", exc_info=True)
                    await asyncio.sleep(SCHEDULER_PAUSE_S)
            await asyncio.gather(*self._in_flight, return_exceptions=True)
        except asyncio.CancelledError:
            for task in self._in_flight:  # another process holds the lease now
                task.cancel()
            raise
        finally:
            self._is_leader = False

    async def _handle(self, due: Firing | UnreportedFirings) -> None:
        if isinstance(due, Firing) and due.schedule.kind == "heartbeat":
            self._start(self._send_heartbeat(due))  # takes no slot, as it waits for the model
        else:
            await self._slots.acquire()
            work = self._send_reminder(due) if isinstance(due, Firing) else self._report_missed(due)
            self._start(work).add_done_callback(lambda _: self._slots.release())
        async with self._slots:  # wait for a free slot before the next claim
            pass

    def _start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        return self._in_flight.start(_guard(work))

    async def _send_reminder(self, firing: Firing) -> None:
        schedule = firing.schedule
        if not await self.gate.may_use(schedule.key, schedule.guild_id):
            await _record(lambda: self.schedules.mark_skipped(firing))
            return
        recipient = await self._recipient(schedule)
        message = Message("assistant", reminder_text(schedule), visibility=schedule.audience)
        await self.deliver(firing, reminder_page(firing, self.recipients.clock(), recipient.words), message)

    async def _send_heartbeat(self, firing: Firing) -> None:
        schedule = firing.schedule
        if self.composer is None or not await self.gate.may_use(
            schedule.key, schedule.guild_id, include_maintenance=True
        ):
            await _record(lambda: self.schedules.mark_skipped(firing))
            return
        try:
            composition = await self._compose_heartbeat(schedule, self.composer)
        except BaseException as error:  # the heartbeat is skipped: no user waits for it
            _log.info("heartbeat_skipped", schedule=schedule.id, error=type(error).__name__)
            await asyncio.shield(_record(lambda: self.schedules.mark_skipped(firing)))
            raise
        if composition is not None and composition.changed_canvas:
            try:
                await self.poster.check_membership(schedule)
            except Refused as refused:
                await self._pause(firing, refused.obstacle)
                return
            await self.side_messages.refresh(schedule.key)
        if composition is None or composition.message is None:
            await _record(lambda: self.schedules.mark_skipped(firing))
        else:
            page = heartbeat_page(schedule, composition.message.content)
            await self.deliver(firing, page, composition.message)

    async def _compose_heartbeat(self, schedule: Schedule, composer: Composer) -> Composition | None:
        recipient = await self._recipient(schedule)
        options = TurnOptions(
            recipient.locale,
            recipient.timezone,
            memory_paused=recipient.memory_paused,
            agent=await self.agent_selector.for_scheduled_message(schedule.key, schedule.guild_id),
            guild_id=schedule.guild_id,
        )
        return await composer.compose(schedule, options)

    async def _report_missed(self, missed: UnreportedFirings) -> None:
        """Report missed reminders by DM; if Discord refuses it, the public ones in their channels."""
        first, latest = missed[0].schedule, max(firing.due_at for firing in missed)
        if await self.gate.may_use(first.key, first.guild_id):
            user_id, words = first.key.user_id, (await self._recipient(first)).words
            page = undelivered_page(missed, words)
            try:
                await self.poster.post_dm(user_id, page, nonce_at("u", user_id, latest))
            except Refused as refused:
                _log.info("missed_not_told_by_dm", obstacle=refused.obstacle)
                public = [each for each in missed if each.schedule.audience == "public"]
                for channel_id in {each.schedule.key.channel_id for each in public}:
                    firings = tuple(each for each in public if each.schedule.key.channel_id == channel_id)
                    await self._report_in_channel(firings, words, nonce_at("u", channel_id, latest))
        await _record(lambda: self.schedules.mark_reported(missed))

    async def _report_in_channel(self, missed: UnreportedFirings, words: Texts, nonce: str) -> None:
        schedule = missed[0].schedule
        user_id, page = schedule.key.user_id, undelivered_page(missed, words)
        page = replace(page, content=f"<@{user_id}>\n{page.content}")
        with suppress(Refused):
            await self.poster.check_membership(schedule)
            await self.poster.post(schedule.key.channel_id, user_id, page, nonce)

    async def _is_wanted(self, schedule: Schedule) -> bool:
        """Return False if the user cancelled since the claim; True if the database fails."""
        with suppress(StorageError):
            current = await self.schedules.get(schedule.key.user_id, schedule.id)
            return current is not None and current.status != "paused"
        return True

    async def _pause(self, firing: Firing, obstacle: Obstacle) -> None:
        """Pause the schedule, and inform the user by DM. If the DM fails, a later `/remind` reply does."""
        schedule = replace(firing.schedule, status="paused", obstacle=obstacle)
        _log.info("schedule_paused", schedule=schedule.id, obstacle=obstacle)
        await _record(lambda: self.schedules.mark_failed(firing, obstacle))
        if schedule.audience == "private":
            return
        recipient = await self._recipient(schedule)
        if schedule.kind == "heartbeat" and self.composer:
            page = Page(self.composer.failure_sentence(schedule, recipient.words))
        else:
            page = paused_page(schedule, recipient.words)
        nonce = nonce_at("p", schedule.id, self.recipients.clock())
        try:
            await self.poster.post_dm(schedule.key.user_id, page, nonce)
        except Refused as refused:
            _log.info("pause_not_told", schedule=schedule.id, obstacle=refused.obstacle)

    async def _recipient(self, schedule: Schedule) -> Recipient:
        """Return the user, with default settings if the database fails."""
        user_id, recipients, locale = schedule.key.user_id, self.recipients, schedule.locale
        if locale is None and schedule.guild_id:
            locale = recipients.guilds.locale_of_guild(schedule.guild_id)
        with suppress(StorageError):
            return await recipients.for_user(user_id, locale)
        locale = locale or recipients.locale
        return Recipient(user_id, locale, recipients.timezone, recipients.words(locale), welcomed=True)


async def _record(write: Callable[[], Awaitable[Result]]) -> None:
    for pause_s in RECORD_PAUSES_S:
        await asyncio.sleep(pause_s)
        with suppress(StorageError):
            await write()
            return
    _log.warning("firing_not_noted")


async def _guard(work: Coroutine[None, None, None]) -> None:
    with log_errors("firing", hikari.HikariError):
        await work
