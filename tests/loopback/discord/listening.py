"""A bot on the real hikari that does nothing but listen, so that a test can look at each event in turn."""

import asyncio
from typing import Self, TypeVar

import hikari

from tests.loopback.discord.driver import LoopbackDiscord

UNPRIVILEGED = hikari.Intents.GUILDS | hikari.Intents.GUILD_MESSAGES | hikari.Intents.DM_MESSAGES
HEARD: tuple[type[hikari.Event], ...] = (
    hikari.MessageCreateEvent,
    hikari.MessageUpdateEvent,
    hikari.MessageDeleteEvent,
    hikari.GuildBulkMessageDeleteEvent,
    hikari.GuildThreadCreateEvent,
    hikari.GuildThreadDeleteEvent,
    hikari.GuildChannelDeleteEvent,
)
E = TypeVar("E", bound=hikari.Event)


class ListeningBot:
    def __init__(
        self,
        discord: LoopbackDiscord,
        intents: hikari.Intents = UNPRIVILEGED,
    ) -> None:
        self.heard: list[hikari.Event] = []
        self._changed = asyncio.Condition()
        self.bot = hikari.GatewayBot(
            discord.token,
            banner=None,
            logs=None,
            suppress_optimization_warning=True,
            intents=intents,
            rest_url=discord.api_url,
        )
        for kind in HEARD:
            self.bot.subscribe(kind, self._hear)

    @property
    def rest(self) -> hikari.api.RESTClient:
        return self.bot.rest

    async def __aenter__(self) -> Self:
        await self.bot.start(check_for_updates=False)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.bot.is_alive:
            await self.bot.close()

    async def _hear(self, event: hikari.Event) -> None:
        async with self._changed:
            self.heard.append(event)
            self._changed.notify_all()

    async def next(self, kind: type[E]) -> E:
        """Takes the oldest event of that kind, and waits for it if there is none; others stay."""
        async with self._changed, asyncio.timeout(60):
            while not (found := [event for event in self.heard if isinstance(event, kind)]):
                await self._changed.wait()
            self.heard.remove(found[0])
            return found[0]
