"""Routes about the bot itself (who it is, where its gateway is, which commands it has), and about people."""

from dataclasses import dataclass

from tests.loopback.discord.refusals import (
    Refusal,
    missing_access,
    unknown_guild,
    unknown_member,
    unknown_user,
)
from tests.loopback.discord.routes import Answer, Call, Route
from tests.loopback.discord.users import Guild
from tests.loopback.discord.world import World, loop_time


@dataclass(slots=True)
class ApplicationRoutes:
    """`synced_at_s`: the bot last read or wrote commands; `booted_at_s`: it last asked for the gateway."""

    world: World
    synced_at_s: float = float("-inf")
    booted_at_s: float = float("-inf")
    wrote_last: bool = False

    def table(self) -> list[Route]:
        everywhere = "/applications/{application}/commands"
        return [
            Route("GET", "/gateway/bot", self.gateway),
            Route("GET", "/oauth2/applications/@me", self.application),
            Route("GET", "/applications/@me", self.application),
            Route("GET", "/users/@me", self.me),
            Route("GET", "/users/{user}", self.user),
            Route("POST", "/users/@me/channels", self.open_dm),
            Route("GET", "/guilds/{guild}", self.guild),
            Route("GET", "/guilds/{guild}/members/{user}", self.member),
            Route("GET", everywhere, self.list_commands),
            Route("PUT", everywhere, self.put_commands),
        ]

    async def gateway(self, _: Call) -> Answer:
        self.booted_at_s = loop_time()
        shards = self.world.shards
        limit = {"total": 1000, "remaining": 999, "reset_after": 86_400_000, "max_concurrency": shards}
        url = f"{self.world.base_url.replace('http', 'ws', 1)}/gateway"
        return Answer(200, {"url": url, "shards": shards, "session_start_limit": limit})

    async def application(self, _: Call) -> Answer:
        return Answer(200, self.world.application_payload())

    async def me(self, _: Call) -> Answer:
        own = {"mfa_enabled": False, "verified": True, "email": None, "flags": 0, "locale": "en-US"}
        return Answer(200, self.world.bot.payload() | own)

    async def user(self, call: Call) -> Answer:
        user = self.world.users.get(call.id("user"))
        if user is None:
            raise unknown_user()
        return Answer(200, user.payload())

    async def guild(self, call: Call) -> Answer:
        """A server that the bot is in."""
        return Answer(200, self._guild(call).rest_payload())

    def _guild(self, call: Call) -> Guild:
        guild = self.world.guilds.get(call.id("guild"))
        if guild is None:
            raise unknown_guild()
        if not guild.bot_present:
            raise missing_access()
        return guild

    async def member(self, call: Call) -> Answer:
        """Of a server that the bot is in; who left it, or was banned, is an unknown member (10007)."""
        guild = self._guild(call)
        user = self.world.users.get(call.id("user"))
        if user is None:
            raise unknown_user()
        if user.is_webhook or user.id in guild.left:
            raise unknown_member()
        return Answer(200, guild.member_payload(user))

    async def open_dm(self, call: Call) -> Answer:
        """Opening always works; a closed door shows when something is sent (50007)."""
        user = self.world.users.get(int((call.body or {}).get("recipient_id") or 0))
        if user is None:
            raise unknown_user()
        return Answer(200, self.world.dm(user).payload())

    async def list_commands(self, call: Call) -> Answer:
        self._check_application(call)
        with_localizations = call.query.get("with_localizations", "").lower() == "true"
        listing = self.world.commands.listing(with_localizations=with_localizations)
        self._synced(wrote=False)
        return Answer(200, listing)

    async def put_commands(self, call: Call) -> Answer:
        self._check_application(call)
        stored = self.world.commands.replace(call.body or [])
        self._synced(wrote=True)
        return Answer(200, [command.raw for command in stored])

    def _check_application(self, call: Call) -> None:
        """Raises Refusal for another application's commands."""
        if call.id("application") != self.world.application_id:
            raise Refusal(403, 20012, "You are not authorized to perform this action on this application")

    def _synced(self, *, wrote: bool) -> None:
        self.synced_at_s, self.wrote_last = loop_time(), wrote
        for session in self.world.gateway.live():
            session.synced = True
        self.world.pulse.beat()
