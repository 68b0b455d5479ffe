"""The pages over a real database and a real server, and browsers' worth of requests to them."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any, Final, Literal

import aiohttp

from cc_bot.app.core import Core, open_core
from cc_bot.app.web import web_services
from cc_bot.config import read_config
from cc_bot.domain.access import BotProfile, SignInOrigin, Subject
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import AccessError, NotAllowed
from cc_bot.domain.message import ChannelKey, Location
from cc_bot.domain.session import SessionKey
from cc_bot.log import RecentRecords
from cc_bot.web.server import serve_pages
from cc_bot.web.services import WebServices

TARO: Final = 123456789012345678
HANA: Final = 876543210987654321
CHANNEL: Final = 987654321098765432
DM: Final = 42
"""Taro's with the bot."""
TOO_MANY: Final = 429
"""The status for more than twenty requests a second."""


@dataclass
class Town:
    """Discord as the pages see it: who may come in, who owns the bot, and who is called what."""

    core: Core
    denied: set[int] = field(default_factory=set)
    owners: set[int] = field(default_factory=set)
    former_owners: set[int] = field(default_factory=set)
    managers: set[tuple[int, int]] = field(default_factory=set)
    names: dict[int, str] = field(default_factory=lambda: {TARO: "太郎", HANA: "花 & <Hana>"})
    bot: BotProfile = field(default_factory=BotProfile)
    known: Mapping[Subject, Mapping[int, str]] = field(default_factory=dict)
    dms: set[int] = field(default_factory=lambda: {DM})
    changed: list[SessionKey] = field(default_factory=list)
    told_anew: list[int] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)

    async def admit(
        self, location: SignInOrigin, what: Literal["command", "read"], *, always: bool = False
    ) -> None:
        self.counted.append(what)
        if location.user_id in self.denied and not always:
            raise NotAllowed

    async def refusals(self, locations: Sequence[SignInOrigin]) -> Mapping[SignInOrigin, AccessError]:
        return {location: NotAllowed() for location in locations if location.user_id in self.denied}

    async def is_owner(self, user_id: int, *, fresh: bool = False) -> bool:
        return user_id in self.owners and not (fresh and user_id in self.former_owners)

    async def manages(self, user_id: int, guild_id: int) -> bool:
        return (user_id, guild_id) in self.managers

    async def bot_profile(self) -> BotProfile:
        return self.bot

    async def user_name(self, user_id: int) -> str | None:
        return self.names.get(user_id)

    async def channel_name(self, channel_id: int) -> str | None:
        return "#雑談 (日本語サーバー)" if channel_id == CHANNEL else None

    async def directory(self) -> Mapping[Subject, Mapping[int, str]]:
        return self.known

    async def is_dm(self, channel_id: int) -> bool:
        return channel_id in self.dms

    async def guild_name(self, guild_id: int) -> str | None:
        return "日本語サーバー"

    async def current_key(self, user_id: int, channel_id: int) -> SessionKey:
        chosen = await self.core.stores.agents.get_choices(user_id, (channel_id,))
        return SessionKey(user_id, channel_id, chosen.choices.get(channel_id, "default"))

    async def location_of(self, channel_id: int) -> Location:
        return Location(ChannelKey(channel_id), 1)

    async def refresh_canvas(self, key: SessionKey) -> None:
        self.changed.append(key)

    async def receipts_changed(self, user_id: int) -> None:
        self.told_anew.append(user_id)

    @asynccontextmanager
    async def erasing(self, user_id: int) -> AsyncIterator[None]:
        yield
        self.told_anew.append(user_id)


@dataclass
class Site:
    """The pages, as they are served."""

    core: Core
    town: Town
    services: WebServices
    url: str

    async def link(self, user_id: int = TARO) -> str:
        code = await self.services.stores.web_sessions.make_code(SignInOrigin(user_id, CHANNEL))
        return f"{self.url}/sign-in?code={code}"

    @asynccontextmanager
    async def visit(self, user_id: int | None = TARO, **headers: str) -> AsyncIterator["Visit"]:
        given = {"Accept-Language": "ja", **headers}
        async with aiohttp.ClientSession(
            self.url, headers=given, cookie_jar=aiohttp.CookieJar(unsafe=True)
        ) as client:
            visit = Visit(client, self.url)
            if user_id is not None:
                code = (await self.link(user_id)).partition("code=")[2]
                answer = await visit.press("/sign-in", code=code)
                assert answer.status == 303, await answer.text()
            yield visit


@dataclass
class Visit:
    client: aiohttp.ClientSession
    url: str

    async def open(self, path: str, *, status: int = 200, **headers: str) -> str:
        """Return what a page holds."""
        while True:
            async with self.client.get(path, headers=headers) as answer:
                text = await answer.text()
            if answer.status != TOO_MANY or status == TOO_MANY:
                assert answer.status == status, text
                return text
            await asyncio.sleep(0.05)

    async def press(self, path: str, **form: Any) -> aiohttp.ClientResponse:
        """Send a form from a page of theirs, and return the answer to it, which is read."""
        return await self.send(path, form)

    async def send(self, path: str, data: Any, **headers: str) -> aiohttp.ClientResponse:
        """Send that as a page of theirs does, again while it is one of too many."""
        while True:
            async with self.client.post(
                path, data=data, headers={**self.own_headers(), **headers}, allow_redirects=False
            ) as answer:
                await answer.read()
            if answer.status != TOO_MANY:
                return answer
            await asyncio.sleep(0.05)

    async def follow(self, answer: aiohttp.ClientResponse) -> str:
        """Return the page that a press leads to."""
        assert answer.status == 303, await answer.text()
        return await self.open(answer.headers["Location"])

    def own_headers(self) -> dict[str, str]:
        return {"Origin": self.url, "Sec-Fetch-Site": "same-origin"}


def shown(html: str) -> str:
    main = html[html.index("<main") :]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", main)))


def free_port() -> int:
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return int(each.getsockname()[1])


@asynccontextmanager
async def open_site(folder: Path, *, clock: Clock = utc_now, **environ: str) -> AsyncIterator[Site]:
    """Serve the pages over a database in that folder. `environ`: settings, as the operator writes them."""
    port = environ.get("CC_BOT_WEB_PORT") or str(free_port())
    settings = {
        "CC_BOT_DATABASE_URL": f"sqlite:////{(folder / 'web.db').absolute().as_posix().lstrip('/')}",
        "CC_BOT_WEB_PORT": port,
        "CC_BOT_EMBEDDING_MODEL": "off",
        **environ,
    }
    config = read_config(settings, folder / "no.env")
    async with open_core(config, clock) as core:
        town = Town(core)
        services = web_services(core, RecentRecords(), town)
        async with serve_pages(services) as begin:
            await begin()
            yield Site(core, town, services, f"http://127.0.0.1:{port}")
