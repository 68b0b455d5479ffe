"""Checks the token, the intents, the registered commands and the clock with Discord, over plain HTTP.

https://discord.com/developers/docs/resources/application
"""

import string
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final

import aiohttp

from cc_bot.app.doctor import Finding, failed, ok, warning
from cc_bot.config import Config
from cc_bot.domain.clock import Clock
from cc_bot.proxy import proxy_for
from cc_bot.texts import Texts
from cc_bot.version import __version__

API_URL: Final = "https://discord.com/api/v10"
TIMEOUT_S: Final = 8.0
MESSAGE_CONTENT: Final = 1 << 18 | 1 << 19
"""For the intent: granted in full, or because it is in few servers."""
MAX_NAMES: Final = 8
MAX_DIFFERENCE: Final = timedelta(seconds=5)
"""Discord's time is in whole seconds, and delayed."""
WRONG_DIFFERENCE: Final = timedelta(minutes=1)

_TOKEN_PARTS: Final = 3
_TOKEN_LETTERS: Final = frozenset(f"{string.ascii_letters}{string.digits}_-")

_Get = Callable[[str], Awaitable[tuple[Any, str]]]


async def check_discord(
    config: Config, texts: Texts, list_commands: Callable[[], Awaitable[Collection[str]]], clock: Clock
) -> Sequence[Finding]:
    """`list_commands`: the names of the program's own commands."""
    said = texts.doctor
    if not config.discord_token:
        return [warning("token", said.token_missing)]
    parts = config.discord_token.split(".")
    if len(parts) != _TOKEN_PARTS or not all(part and _TOKEN_LETTERS.issuperset(part) for part in parts):
        return [failed("token", said.token_malformed)]
    headers = {
        "Authorization": f"Bot {config.discord_token}",
        "User-Agent": f"DiscordBot (cc-bot, {__version__})",
    }
    async with aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(TIMEOUT_S)) as session:

        async def get(path: str) -> tuple[Any, str]:
            """Return the document, None if the token is refused; and the Date header."""
            url = (config.discord_api_url or API_URL) + path
            async with session.get(url, proxy=proxy_for(url)) as response:
                if response.status == 401:
                    return None, ""
                response.raise_for_status()
                return await response.json(), response.headers.get("Date", "")

        try:
            return await _check(get, config, texts, list_commands, clock)
        except aiohttp.ClientResponseError as error:
            problem = f"HTTP {error.status}"  # without quoting the response
        except (aiohttp.ClientError, TimeoutError, ValueError, KeyError, TypeError) as error:
            problem = type(error).__name__
    return [failed("token", said.discord_unreachable.format(problem=problem))]


async def _check(
    get: _Get,
    config: Config,
    texts: Texts,
    list_commands: Callable[[], Awaitable[Collection[str]]],
    clock: Clock,
) -> Sequence[Finding]:
    said = texts.doctor
    me, date = await get("/users/@me")
    if me is None:
        return [failed("token", said.token_refused)]
    application, _ = await get("/applications/@me")
    listed, _ = await get(f"/applications/{application['id']}/commands")
    found = [ok("token", said.token_ok.format(name=me["username"]))]
    if config.channels == "all" and not int(application.get("flags") or 0) & MESSAGE_CONTENT:
        found.append(warning("intents", said.intents_missing))
    else:
        found.append(ok("intents", said.intents_ok.format(reading=config.channels)))
    registered, own = {command["name"] for command in listed}, set(await list_commands())
    for names, sentence in (
        (own - registered, said.commands_missing),
        (registered - own, said.commands_strange),
    ):
        if names:
            found.append(warning("commands", sentence.format(names=_list_names(names))))
    if registered == own:
        found.append(ok("commands", said.commands_ok.format(count=len(registered))))
    return [*found, _check_clock(date, clock(), texts)]


def _list_names(names: Collection[str]) -> str:
    more = f" … (+{len(names) - MAX_NAMES})" if len(names) > MAX_NAMES else ""
    return ", ".join(sorted(names)[:MAX_NAMES]) + more


def _check_clock(date: str, now: datetime, texts: Texts) -> Finding:
    said = texts.doctor
    try:
        theirs = parsedate_to_datetime(date)
    except ValueError:
        return ok("clock", said.clock_unknown)
    difference = abs(now - theirs.replace(tzinfo=theirs.tzinfo or UTC))
    seconds = round(difference.total_seconds())
    if difference <= MAX_DIFFERENCE:
        return ok("clock", said.clock_ok.format(seconds=seconds))
    judge = failed if difference > WRONG_DIFFERENCE else warning
    return judge("clock", said.clock_off.format(seconds=seconds))
