"""Runs the bot: logs in, registers commands, answers, and shuts down without losing answers.

lightbulb skips extensions that fail to load, and hikari only logs listeners' errors: both are checked here.
"""

import asyncio
import contextlib
import functools
import pkgutil
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain, repeat
from typing import Final, TypeVar

import hikari
import lightbulb
import structlog
from lightbulb.internal.constants import GLOBAL_COMMAND_KEY

from cc_bot.concurrency import Tasks, cancel_tasks, handle_signals
from cc_bot.discord import commands
from cc_bot.discord.delivery.reply import open_dm
from cc_bot.discord.gate import OwnerNews
from cc_bot.discord.gateway import (
    GrantedReading,
    RateLimitShare,
    check_token,
    fetch_reading,
    gateway_bot,
    startup_error_of,
)
from cc_bot.discord.handlers import admit_commands
from cc_bot.discord.recipients import DEFAULT_LOCALE, command_names, tell_failure
from cc_bot.discord.services import BotDependencies, build_services, finish_unless
from cc_bot.domain.errors import CommandsNotRegistered, DiscordUnreachable, RefusedToken, StartupError
from cc_bot.features import modules
from cc_bot.log import log_failure
from cc_bot.texts import texts
from cc_bot.texts.cli import CliTexts

_log = structlog.get_logger(__name__)

T = TypeVar("T")

DRAIN_S = 10.0  # for running turns after the signal to stop
SHORTEN_TIMEOUTS_BEFORE_S = 2.0  # the database's, before the end of the drain
SHOW_CUT_TURNS_S = 2.0  # for showing turns as cut off, after the drain
_RETRY_PAUSES_S: Final = (1.0, 3.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)
_REGISTRATION_TIMEOUT_S: Final = 5.0
IDENTIFY_INTERVAL_S = 5.0  # between connections with the same rate limit key (Discord's docs on sharding)


def extension_names() -> Sequence[str]:
    own = [f"{commands.__name__}.{module.name}" for module in pkgutil.iter_modules(commands.__path__)]
    return [*own, *(module.__name__ for module in modules("commands"))]


async def list_command_names(token: str) -> frozenset[str]:
    """Return command names without connecting. Raises ValueError for a malformed token."""
    client = lightbulb.client_from_app(
        gateway_bot(token, None, "off"), localization_provider=command_names(), default_locale=DEFAULT_LOCALE
    )
    await client.load_extensions(*extension_names())
    builders = [
        await command.as_command_builder(client.default_locale, client.localization_provider)
        for command in client.registered_commands
    ]
    return frozenset(builder.name for builder in builders)


async def run_bot(parts: BotDependencies, say: Callable[[str], None]) -> None:
    """Run the bot until SIGINT or SIGTERM, or until other processes take over. Raises a StartupError."""
    config, token = parts.config, parts.config.discord_token or ""
    check_token(token)
    stop = asyncio.Event()

    async def stop_if_evicted() -> None:
        await parts.membership.evicted.wait()
        stop.set()

    def stop_on_signal() -> None:
        parts.watchdog.limit_shutdown()
        stop.set()

    eviction = asyncio.create_task(stop_if_evicted())
    try:
        with handle_signals(dict.fromkeys(("SIGINT", "SIGTERM"), stop_on_signal)):
            fetch = functools.partial(fetch_reading, config.channels, token, config.discord_api_url)
            report = functools.partial(_report_discord_failure, parts, say)
            fetching = asyncio.create_task(_retry_while_discord_fails(fetch, report))
            if not await finish_unless(fetching, stop.wait()):
                return
            reading = fetching.result()
            if reading != config.channels:
                say(texts(config.operator_locale)[CliTexts].mentions_only)
            now = int(hikari.Snowflake.from_datetime(parts.clock()))
            granted = GrantedReading(reading, await parts.stores.channels.set_reading(reading, now))
            await DiscordBot(parts, granted, say).run(stop)
    finally:
        eviction.cancel()


async def _retry_while_discord_fails(call: Callable[[], Awaitable[T]], report: Callable[..., None]) -> T:
    """`report` is called for the first failure only."""
    for attempt, pause_s in enumerate(chain(_RETRY_PAUSES_S, repeat(_RETRY_PAUSES_S[-1]))):
        try:
            return await call()
        except (hikari.InternalServerError, hikari.RateLimitTooLongError) as error:
            if not attempt:
                report(error)
            await asyncio.sleep(pause_s)
    raise AssertionError  # the pauses never end


def _report_discord_failure(parts: BotDependencies, say: Callable[[str], None], error: Exception) -> None:
    detail = _error_detail(error)
    _log.warning("discord_fails", detail=detail)
    say(texts(parts.config.operator_locale)[CliTexts].discord_fails.format(detail=detail))


def _error_detail(error: Exception) -> str:
    if not isinstance(error, hikari.HTTPResponseError):
        return type(error).__name__
    code = getattr(error, "code", 0)
    return f"HTTP {int(error.status)}{f', {code}' if code else ''}"


class DiscordBot:
    def __init__(self, parts: BotDependencies, granted: GrantedReading, say: Callable[[str], None]) -> None:
        self._parts = parts
        self._config = config = parts.config
        self._membership = parts.membership
        self._words = texts(config.operator_locale)
        self._say = say
        self._report_failure = functools.partial(_report_discord_failure, parts, say)
        self._tasks = Tasks()
        self._is_registering = False
        self._registration_tried = asyncio.Event()
        self._reported_not_registered = False
        self._start_failure: StartupError | None = None
        membership = parts.membership
        share = RateLimitShare(
            membership.may_send, lambda: 1 if config.api_keeps_limits else membership.process_count
        )
        self._bot = gateway_bot(config.discord_token or "", config.discord_api_url, granted.reading, share)
        self._connection_leases = contextlib.AsyncExitStack()
        self._client = lightbulb.client_from_app(
            self._bot,
            localization_provider=command_names(),
            default_locale=DEFAULT_LOCALE,
            hooks=[admit_commands],
            sync_commands=False,
        )
        self._services = build_services(self._bot, self._client, parts, granted)
        makers = (module.make_jobs for module in modules("jobs"))
        self._jobs = [job for make in makers for job in make(parts, self._services)]
        membership.on_end.append(parts.assistant.turns.cut_running)
        membership.on_change.append(self._services.recovery.recheck)
        self._client.error_handler(self._on_failed_command)
        self._extensions = extension_names()  # raises IncompleteFeature here rather than in a listener
        # Commands are loaded before the gateway connects: interactions without a command would be lost.
        self._bot.subscribe(hikari.StartingEvent, self._on_starting)

    async def run(self, stop: asyncio.Event) -> None:
        async with self._parts.serve_pages(self._services.pages) as begin_pages:
            start = asyncio.create_task(self._start())
            try:
                if not await finish_unless(start, stop.wait()):
                    return
                await begin_pages()
                await self._answer_until(stop)
            except hikari.GatewayServerClosedConnectionError as error:
                raise startup_error_of(error) from error
            finally:
                self._parts.gateway_health.read_latency_s = None
                await cancel_tasks(start)
                await self._shut_down()

    async def _answer_until(self, stop: asyncio.Event) -> None:
        me, words = self._bot.get_me(), self._words[CliTexts]
        self._say(words.ready.format(name=me.username if me else "cc-bot"))
        _log.info("ready")
        self._services.messages.resume()
        for job in self._jobs:
            job.begin()
        self._services.recovery.begin()
        if news := self._parts.get(OwnerNews):
            self._tasks.start(self._notify_owners(news))
        self._parts.gateway_health.read_latency_s = self._latency_s
        self._parts.watchdog.notify_ready()
        if await finish_unless(asyncio.create_task(self._bot.join()), stop.wait()):
            raise DiscordUnreachable
        if self._membership.evicted.is_set():
            self._say(words.replaced_by_other_process)
        else:
            self._say(words.stopping.format(seconds=round(DRAIN_S)))

    async def _notify_owners(self, news: OwnerNews) -> None:
        while True:
            sentence = await news.next(self._words)
            for owner_id in await self._services.gate.owners.ids():
                with log_failure("owner_not_told", hikari.HikariError, level="info"):
                    dm_id = await open_dm(self._bot.rest, owner_id)
                    await self._bot.rest.create_message(dm_id, sentence, user_mentions=False)

    async def _start(self) -> None:
        await self._services.messages.prepare()
        try:
            await _retry_while_discord_fails(self._connect, self._report_failure)
        except hikari.UnauthorizedError as error:
            raise self._start_failure or RefusedToken from error
        except hikari.GatewayServerClosedConnectionError as error:
            raise self._start_failure or startup_error_of(error) from error
        except (hikari.HikariError, OSError) as error:
            raise self._start_failure or DiscordUnreachable from error
        finally:
            self._tasks.start(self._release_connection_leases())
        if self._start_failure:
            raise self._start_failure

    async def _connect(self) -> None:
        shards, shard_count = self._config.shards, self._config.shard_count or None
        try:
            await self._bot.start(check_for_updates=False, shard_ids=shards, shard_count=shard_count)
        except (hikari.InternalServerError, hikari.RateLimitTooLongError):
            await self._connection_leases.aclose()
            await self._disconnect()
            raise

    async def _release_connection_leases(self) -> None:
        await asyncio.sleep(IDENTIFY_INTERVAL_S)
        await self._connection_leases.aclose()

    def _latency_s(self) -> float | None:
        shards = self._bot.shards.values()
        connected = bool(shards) and all(shard.is_connected for shard in shards)
        return self._bot.heartbeat_latency if connected else None

    async def _on_failed_command(self, failed: lightbulb.exceptions.ExecutionPipelineFailedException) -> bool:
        await tell_failure(failed.context.interaction, failed.causes[0], self._services.answers.recipients)
        return True

    async def _on_starting(self, _: hikari.StartingEvent) -> None:
        try:
            if not self._is_registering:
                await self._load_commands()
                self._is_registering = True
                self._tasks.start(self._register_commands())
                try:
                    await asyncio.wait_for(self._registration_tried.wait(), _REGISTRATION_TIMEOUT_S)
                except TimeoutError as error:  # hikari is waiting for a rate limit of Discord
                    self._report_not_registered(error)
            await self._wait_to_identify()
        except StartupError as error:
            self._start_failure = error
        except hikari.UnauthorizedError:
            self._start_failure = RefusedToken()
        except hikari.HTTPError:
            self._start_failure = DiscordUnreachable()
        except Exception as error:  # noqa: BLE001 - hikari swallows listeners' errors; _start raises it
            self._start_failure = CommandsNotRegistered(detail=type(error).__name__)

    async def _wait_to_identify(self) -> None:
        if self._config.shards is None:
            return
        info = await _retry_while_discord_fails(self._bot.rest.fetch_gateway_bot_info, self._report_failure)
        max_concurrency = info.session_start_limit.max_concurrency
        for key in sorted({shard % max_concurrency for shard in self._config.shards}):
            await self._connection_leases.enter_async_context(self._membership.hold_duty(f"connect:{key}"))

    async def _load_commands(self) -> None:
        await self._client.load_extensions(*self._extensions)
        missing = {*self._extensions} - self._client._extensions
        if missing:
            raise CommandsNotRegistered(detail=", ".join(sorted(missing)))
        await self._client.start()
        self._client.sync_commands = True  # only now: start() would wait for the registration

    async def _register_commands(self) -> None:
        for pause_s in chain(_RETRY_PAUSES_S, repeat(_RETRY_PAUSES_S[-1])):
            try:
                async with self._membership.hold_duty("commands"):
                    await self._synchronize()
            except Exception as error:  # noqa: BLE001 - commands registered earlier work
                disconnected = type(error) is hikari.HTTPError and not self._registration_tried.is_set()
                if not (
                    disconnected or isinstance(error, hikari.UnauthorizedError)
                ):  # the start reports both
                    self._report_not_registered(error)
                self._registration_tried.set()
                await asyncio.sleep(pause_s)
            else:
                self._registration_tried.set()
                if self._reported_not_registered:
                    _log.info("commands_registered")
                return

    async def _synchronize(self) -> None:
        try:
            await self._services.gate.prepare()
            await self._client.sync_application_commands()
        finally:  # even after a failure, commands registered earlier are known
            known = self._client.created_commands.get(GLOBAL_COMMAND_KEY, ())
            self._services.answers.recipients.learn_commands(known)

    def _report_not_registered(self, error: Exception) -> None:
        if self._reported_not_registered:
            return
        self._reported_not_registered = True
        detail = _error_detail(error)
        _log.error("commands_not_registered", detail=detail)
        self._say(self._words[CliTexts].commands_not_registered.format(detail=detail))

    async def _shut_down(self) -> None:
        """Drain running turns, show the rest as cut off, and log out. If a step fails, the others run."""
        services, parts, loop = self._services, self._parts, asyncio.get_running_loop()
        drain_s = 0.0 if self._membership.evicted.is_set() else DRAIN_S
        async with contextlib.AsyncExitStack() as cleanup:
            cleanup.push_async_callback(self._client.stop)
            cleanup.push_async_callback(self._connection_leases.aclose)
            for task in self._tasks:
                task.cancel()
            cleanup.push_async_callback(self._disconnect)
            cleanup.push_async_callback(parts.privacy.close, loop.time() + drain_s + SHOW_CUT_TURNS_S)
            cleanup.push_async_callback(services.recovery.close)
            cleanup.push_async_callback(services.answers.side_messages.close)
            services.messages.close()
            if services.answers.running_turns.spoken_answers:
                cleanup.push_async_callback(services.answers.running_turns.spoken_answers.close)
            shorten_timeouts = parts.stores.begin_shutdown
            timer = loop.call_later(max(0.0, drain_s - SHORTEN_TIMEOUTS_BEFORE_S), shorten_timeouts)
            for job in self._jobs:
                await job.close()
            running = (parts.assistant.turns, parts.privacy, *self._jobs)
            await asyncio.gather(*(each.drain(drain_s) for each in running))
            timer.cancel()
            shorten_timeouts()
            deadline_s = loop.time() + SHOW_CUT_TURNS_S
            for job in self._jobs:
                cleanup.push_async_callback(job.finish, deadline_s)
            cleanup.push_async_callback(services.messages.finish, deadline_s)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(deadline_s):
                    await services.answers.running_turns.wait_idle()
                    await services.answers.side_messages.wait_idle()
                    await services.answers.running_turns.receipt_updater.wait_idle()

    async def _disconnect(self) -> None:
        with contextlib.suppress(hikari.ComponentStateConflictError):
            await self._bot.close()
