"""LoopbackDiscord: the whole double in one object, as ../README.md presents it."""

import asyncio
from base64 import b64encode
from collections.abc import Callable
from typing import Self

from tests.loopback.discord.actions import Actions
from tests.loopback.discord.channels import Channel
from tests.loopback.discord.commands import Command, misnamed
from tests.loopback.discord.faults import Fault, Faults
from tests.loopback.discord.gateway import PRIVILEGED, Gateway, Intent
from tests.loopback.discord.refusals import Refusal
from tests.loopback.discord.routes import ApplicationRoutes, ChannelRoutes
from tests.loopback.discord.routes_interactions import InteractionRoutes
from tests.loopback.discord.server import API, Server
from tests.loopback.discord.watched import Watched
from tests.loopback.discord.wire import Allowance, Entry, RateLimits, Transcript, Violation
from tests.loopback.discord.world import World, loop_time

_UNCHANGED_S = 0.4
_QUIET_S = 0.1


def bot_token(application_id: int, secret: str) -> str:
    """The first part of a bot token is the bot's id; libraries read it before they ask anyone."""
    return f"{b64encode(str(application_id).encode()).decode().rstrip('=')}.loopback.{secret}"


class LoopbackDiscord(Actions):
    """`patience_s` is how long a wait lasts before it fails; an allowance is so many requests per window."""

    def __init__(
        self,
        *,
        token: str | None = None,
        message_content: bool = False,
        verified: bool = False,
        shards: int = 1,
        privileged: Intent | None = None,
        patience_s: float = 60.0,
        webhook_rate: Allowance = Allowance(5, 2.0),  # noqa: B008 (frozen)
        channel_rate: Allowance = Allowance(5, 5.0),  # noqa: B008 (frozen)
        global_rate: Allowance = Allowance(50, 1.0),  # noqa: B008 (frozen)
    ) -> None:
        self.faults = Faults()
        self._gone_at_s = float("-inf")
        self._transcript = Transcript()
        self.transcript, self.violations = self._transcript.entries, self._transcript.violations
        world = World(reads_content=message_content, verified=verified, shards=shards)
        self.application_id, self.pings = world.application_id, world.pings
        self.token = token or bot_token(self.application_id, "accepted")
        self.other_token = bot_token(self.application_id, "refused")
        """Well-formed, and refused: 401 from REST, 4004 from the gateway."""
        allowed = Intent.MESSAGE_CONTENT if message_content else Intent(0)
        allowed = allowed if privileged is None else privileged
        world.gateway = Gateway(self.token, allowed & PRIVILEGED, world.greet, self._moved, self._closed)
        super().__init__(world, self._transcript, patience_s)
        self._application = ApplicationRoutes(world)
        self._channels = ChannelRoutes(world)
        routes = [*self._application.table(), *self._channels.table(), *InteractionRoutes(world).table()]
        self._routes = {route.name for route in routes}
        limits = RateLimits(webhook_rate, channel_rate, global_rate)
        self._server = Server(world, self.token, routes, limits, self.faults, self._transcript)

    async def __aenter__(self) -> Self:
        await self._server.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.stop()

    def _moved(self) -> None:
        """A bot came to the gateway, came back, or left it."""
        if not self.connected:
            self._gone_at_s = loop_time()
        self.world.pulse.beat()

    def _closed(self, code: int, reason: str) -> None:
        self._transcript.violations.append(Violation("gateway", None, code, reason))

    # The bot's side

    @property
    def api_url(self) -> str:
        """For DISCORD_API_URL, or hikari's `rest_url`."""
        return self.world.base_url + API

    @property
    def commands(self) -> list[Command]:
        return self.world.commands.stored

    @property
    def command_writes(self) -> int:
        return self.world.commands.writes

    @property
    def connected(self) -> bool:
        return bool(self.world.gateway.live())

    async def ready(self, *, timeout_s: float = 120.0) -> None:
        """The bot is connected, its commands are synced, and it is quiet: interactions will be heard.

        A start is waited for longer than anything else: on a busy machine it is the slowest by far. A client
        that wrote nothing leaves no sign of having finished, so that case takes 0.4 s longer.
        """
        what = "a bot that is connected and has synced its commands"
        await self.wait(self._is_synced, what, timeout_s=timeout_s)
        await self._silence(self._settled_at_s)

    async def quiet(self, seconds: float = _QUIET_S) -> None:
        """From now on the bot asks nothing of the REST API for so long: for what it is not supposed to do."""
        now = loop_time()
        await self._silence(lambda: max(now, self._last_heard_s()) + seconds)

    async def _silence(self, ends_at_s: Callable[[], float]) -> None:
        """Silence is no event to wait for, so this looks again when it may have lasted long enough."""
        left_s = ends_at_s() - loop_time()
        if left_s > 0:
            await asyncio.sleep(left_s)
            await self._silence(ends_at_s)

    def _last_heard_s(self) -> float:
        entries = self._transcript.entries
        return entries[-1].at_s + entries[-1].took_s if entries else 0.0

    def _is_synced(self) -> bool:
        """A bot that lost its session keeps its commands: only a start (which asks for the gateway) syncs."""
        live, bot = self.world.gateway.live(), self._application
        newly_started = bot.booted_at_s > self._gone_at_s
        synced = bot.synced_at_s > self._gone_at_s or all(session.synced for session in live)
        return len(live) == self.world.shards and (synced or not newly_started)

    def _settled_at_s(self) -> float:
        synced = self._application.synced_at_s + (0.0 if self._application.wrote_last else _UNCHANGED_S)
        return max(synced, self._last_heard_s() + _QUIET_S)

    async def gone(self, *, timeout_s: float | None = None) -> None:
        """The bot has left the gateway (ended, or killed)."""
        await self.wait(lambda: not self.connected, "the bot to leave the gateway", timeout_s=timeout_s)

    async def resumed(self, times: int = 1, *, timeout_s: float | None = None) -> None:
        """The bot has resumed its session that many times since the double started."""
        await self.wait(lambda: self.world.gateway.resumes >= times, f"{times} RESUME", timeout_s=timeout_s)

    async def drop_gateway(
        self, code: int | None = None, *, resumable: bool = True, shard: int | None = None
    ) -> None:
        gateway = self.world.gateway
        dropped = [each for each in gateway.live() if shard in (None, each.shard[0])]
        await gateway.drop(code, resumable=resumable, shard=shard)
        await self.wait(lambda: all(each.link is None for each in dropped), "the connection to break")

    def forget_nonces(self) -> None:
        """The minutes pass in which Discord remembers nonces."""
        self._channels.nonces.clear()

    def fail_next(
        self,
        route: str,
        status: int | None = 500,
        *,
        times: int = 1,
        take_effect: bool = False,
        retry_after_s: float = 0.1,
        delay_s: float = 0.0,
        channel: Channel | None = None,
    ) -> None:
        """The next `times` requests to `route` ("METHOD /template") fail: see Fault. 200 only delays."""
        assert route in self._routes, f"no such route; there are {sorted(self._routes)}"
        effect = take_effect or status == 200
        about = channel.id if channel else None
        self.faults.order(Fault(route, status, times, effect, retry_after_s, delay_s, about))

    def refuse(
        self,
        route: str,
        refusal: Refusal,
        *,
        holding: str = "",
        times: int = 1000,
        channel: Channel | None = None,
    ) -> None:
        """Requests to `route` are refused so, from now on; with `holding` only those of messages that hold
        "files", "embeds", "components", "message_reference" or "content"."""
        assert route in self._routes, f"no such route; there are {sorted(self._routes)}"
        about = channel.id if channel else None
        fault = Fault(route, refusal.status, times, False, 0.0, 0.0, about, refusal, holding)
        self.faults.order(fault)

    # What happened

    def calls(self, route: str, *, status: int | None = None, channel: Channel | None = None) -> list[Entry]:
        """The requests to `route`, with this answer, about this channel."""
        assert route in self._routes, f"no such route; there are {sorted(self._routes)}"
        about = None if channel is None else str(channel.id)
        found = [each for each in self.transcript if each.route == route and status in (None, each.status)]
        return [each for each in found if about in (None, each.params.get("channel"))]

    @property
    def wrong_language(self) -> list[tuple[str, str]]:
        """(locale, text) of everything that was shown in a language other than the asker's."""
        shown: list[Watched] = [*self.replies, *self._answered()]
        return [(reply.locale, text) for reply in shown for text in reply.wrong_language]

    @property
    def misnamed_commands(self) -> list[str]:
        registry = self.world.commands
        return [fault for entry in self.transcript for fault in misnamed(entry.body, registry)]

    def expire_attachments(self) -> None:
        """Every URL handed out so far answers 404 from now on."""
        for attachment in self.world.attachments.values():
            attachment.expired = True
