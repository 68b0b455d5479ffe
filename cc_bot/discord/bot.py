"""The bot's life: log in, register the commands, answer, and leave without dropping anybody's answer.

lightbulb skips an extension that does not load, and hikari only logs an error in a listener; either would
leave a bot that is online and answers nothing. Both are looked for here, and the start fails loudly.
"""

import asyncio
import contextlib
import pkgutil
import signal
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar
from zoneinfo import ZoneInfo

import hikari
import lightbulb
import structlog

from cc_bot.agents import Agents
from cc_bot.assistant import Assistant, Moments
from cc_bot.discord import extensions
from cc_bot.discord.agents import Chooser
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.delivery.canvas_messages import CanvasMessages
from cc_bot.discord.delivery.canvas_pictures import Pictures
from cc_bot.discord.delivery.canvas_upkeep import CanvasUpkeep
from cc_bot.discord.delivery.taken_down import TakenDown
from cc_bot.discord.delivery.turns import RunningTurns
from cc_bot.discord.failures import command_error_handler
from cc_bot.discord.gateway import GrantedReading, check_token, gateway_bot, granted_reading, refusal
from cc_bot.discord.localization import DEFAULT_LOCALE, GuildLocales, Readers, command_names
from cc_bot.discord.messages.listening import Messages
from cc_bot.discord.messages.unasked import Unasked
from cc_bot.discord.places import Places
from cc_bot.discord.provided import provide_stores
from cc_bot.discord.reminders.posting import Posting
from cc_bot.discord.reminders.reminders import Reminders, Timekeeping
from cc_bot.domain.channel import Reading
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import CommandsNotRegistered, DiscordUnreachable, RefusedToken, StartupError
from cc_bot.domain.locale import Locale
from cc_bot.stores import Stores
from cc_bot.texts import texts

Result = TypeVar("Result")

_log = structlog.get_logger(__name__)

LAST_WORDS_S = 5.0
"""For showing how the cut turns ended, after the drain."""
_SYNC_PAUSES_S = (1.0, 3.0)


@dataclass(frozen=True, slots=True)
class DiscordSettings:
    token: str
    api_url: str | None
    """REST base; None is Discord's own."""
    reading: Reading
    """Which messages the operator wants the bot to read."""
    locale: Locale
    """For users whose language is not known."""
    operator_locale: Locale
    """For whoever reads the program's own output."""
    timezone: ZoneInfo
    drain_s: float
    """How long running turns may go on after the signal to stop."""


async def run_bot(
    settings: DiscordSettings,
    stores: Stores,
    assistant: Assistant,
    say: Callable[[str], None],
    *,
    timekeeping: Timekeeping,
    agents: Agents,
    clock: Clock,
) -> None:
    """Answer until SIGINT or SIGTERM. Raises a StartupError when it can't start or is thrown out.

    Parts are handed in and are not closed here. The operator is told when it may read less than it should.
    """
    check_token(settings.token)
    stop = asyncio.Event()
    with _signals(stop):
        asking = asyncio.create_task(granted_reading(settings.reading, settings.token, settings.api_url))
        if not await _first_of(asking, stop.wait()):
            return
        reading = asking.result()
        if reading != settings.reading:
            say(texts(settings.operator_locale).cli.mentions_only)
        since = await stores.channels.reading(reading, int(hikari.Snowflake.from_datetime(clock())))
        granted = GrantedReading(reading, since)
        bot = DiscordBot(
            settings, granted, stores, assistant, say, agents=agents, timekeeping=timekeeping, clock=clock
        )
        await bot.run(stop)


class DiscordBot:
    """One run of the bot."""

    def __init__(
        self,
        settings: DiscordSettings,
        granted: GrantedReading,
        stores: Stores,
        assistant: Assistant,
        say: Callable[[str], None],
        *,
        timekeeping: Timekeeping,
        agents: Agents,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._assistant = assistant
        self._say = say
        self._running = RunningTurns()
        self._start_failure: StartupError | None = None
        self._bot = gateway_bot(settings.token, settings.api_url, granted.reading)
        self._client = lightbulb.client_from_app(
            self._bot, localization_provider=command_names(), default_locale=DEFAULT_LOCALE
        )
        readers = Readers(stores.settings, settings.locale, settings.timezone, clock)
        registry = self._client.di.registry_for(lightbulb.di.Contexts.DEFAULT)
        provide_stores(self._client, stores)
        registry.register_value(Assistant, assistant)
        registry.register_value(Moments, timekeeping.moments)
        registry.register_value(Readers, readers)
        registry.register_value(RunningTurns, self._running)
        places, taken_down, locales = Places(self._bot.rest), TakenDown(), GuildLocales()
        chooser = Chooser(agents, stores.agents, places)
        registry.register_value(Chooser, chooser)
        registry.register_value(Places, places)
        registry.register_value(TakenDown, taken_down)
        self._boards = CanvasBoards(
            stores.canvases,
            CanvasMessages(self._bot.rest, taken_down),
            Pictures(),
            readers,
            places,
            spoken_in=locales.of,
            is_current=chooser.is_current,
        )
        registry.register_value(CanvasBoards, self._boards)
        self._canvas_upkeep = CanvasUpkeep(self._bot, stores.canvases, self._boards)
        self._canvas_upkeep.listen()
        self._messages = Messages(
            self._bot,
            stores,
            assistant,
            readers,
            chooser,
            running=self._running,
            places=places,
            taken_down=taken_down,
            locales=locales,
            boards=self._boards,
            clock=clock,
            granted=granted,
        )
        registry.register_value(GrantedReading, granted)
        registry.register_value(Messages, self._messages)
        registry.register_value(Unasked, self._messages.unasked)
        self._messages.listen()
        self._reminders = Reminders(
            timekeeping,
            stores.schedules,
            Posting(self._bot.rest),
            agents=agents,
            boards=self._boards,
            readers=readers,
            locales=locales,
            clock=clock,
        )
        self._client.error_handler(command_error_handler(readers))
        # Before the gateway connects: interactions that arrive earlier would be dropped.
        self._bot.subscribe(hikari.StartingEvent, self._on_starting)

    async def run(self, stop: asyncio.Event) -> None:
        """Answer until it is time to stop. Raises a StartupError when it can't start or is thrown out."""
        start = asyncio.create_task(self._start())
        try:
            if not await _first_of(start, stop.wait()):
                return
            me = self._bot.get_me()
            words = texts(self._settings.operator_locale).cli
            self._say(words.ready.format(name=me.username if me else "cc-bot"))
            _log.info("ready")
            self._messages.resume()
            self._reminders.begin()
            if await _first_of(asyncio.create_task(self._bot.join()), stop.wait()):
                raise DiscordUnreachable
            self._say(words.stopping.format(seconds=round(self._settings.drain_s)))
        except hikari.GatewayServerClosedConnectionError as error:
            raise refusal(error) from error
        finally:
            start.cancel()
            await asyncio.gather(start, return_exceptions=True)
            await self._leave()

    async def _start(self) -> None:
        try:
            await self._bot.start(check_for_updates=False)
        except hikari.UnauthorizedError as error:
            raise self._start_failure or RefusedToken from error
        except hikari.GatewayServerClosedConnectionError as error:
            raise self._start_failure or refusal(error) from error
        except (hikari.HikariError, OSError) as error:
            raise self._start_failure or DiscordUnreachable from error
        if self._start_failure:
            raise self._start_failure

    async def _on_starting(self, _: hikari.StartingEvent) -> None:
        try:
            await self._register_commands()
        except StartupError as error:
            self._start_failure = error
        except hikari.UnauthorizedError:
            self._start_failure = RefusedToken()
        except hikari.ClientHTTPResponseError as error:
            self._start_failure = CommandsNotRegistered(detail=f"HTTP {error.status}")
        except hikari.HTTPError:
            self._start_failure = DiscordUnreachable()
        except Exception as error:  # noqa: BLE001 - a listener's error is swallowed: the start must know
            self._start_failure = CommandsNotRegistered(detail=type(error).__name__)

    async def _register_commands(self) -> None:
        names = [
            f"{extensions.__name__}.{module.name}" for module in pkgutil.iter_modules(extensions.__path__)
        ]
        await self._client.load_extensions(*names)
        missing = set(names) - self._client._extensions
        if missing:
            raise CommandsNotRegistered(detail=", ".join(sorted(missing)))
        for pause_s in _SYNC_PAUSES_S:
            try:
                return await self._client.start()
            except hikari.InternalServerError:
                await asyncio.sleep(pause_s)
        return await self._client.start()

    async def _leave(self) -> None:
        """Let running turns finish, tell the rest, log out."""
        self._messages.close()
        await self._reminders.close()
        await self._assistant.drain(self._settings.drain_s)
        deadline_s = asyncio.get_running_loop().time() + LAST_WORDS_S
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(deadline_s):
                await self._running.none_left()
                await self._boards.settled()
        await self._canvas_upkeep.close()
        await self._messages.settled(deadline_s)
        await self._reminders.settled(deadline_s)
        with contextlib.suppress(hikari.ComponentStateConflictError):
            await self._bot.close()
        await self._client.stop()


async def _first_of(task: asyncio.Task[Result], interruption: Awaitable[object]) -> bool:
    """Wait for a task or an interruption, whichever comes first. True when the task ended, without error."""
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


@contextlib.contextmanager
def _signals(stop: asyncio.Event) -> Iterator[None]:
    """SIGINT and SIGTERM ask to stop."""
    loop = asyncio.get_running_loop()
    wanted = (signal.SIGINT, signal.SIGTERM)
    previous = {number: signal.getsignal(number) for number in wanted}
    for number in wanted:
        # signal.signal, unlike the loop's own handlers, is there on Windows too.
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
