"""The bot as Discord knows it: whether the token is good, what is granted, which commands are registered.

Asked over plain HTTP, since nothing of it needs a gateway and loading hikari takes a second.
https://discord.com/developers/docs/resources/application
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final

import aiohttp

from cc_bot.doctor.checkup import Finding, FindingWriter
from cc_bot.domain.clock import Clock
from cc_bot.domain.message import Reading
from cc_bot.proxy import proxy_for
from cc_bot.texts import Texts

API_URL: Final = "https://discord.com/api/v10"
TIMEOUT_S: Final = 8.0
MESSAGE_CONTENT: Final = 1 << 18 | 1 << 19
"""Flags of an application that was granted the intent: in full, or because it is in few servers."""
NAMED: Final = 8
"""Commands that are named when some are missing."""
LARGEST_DIFFERENCE: Final = timedelta(seconds=5)
"""The header's seconds are whole, and the way takes some time."""
WRONG_DIFFERENCE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class DiscordSide:
    """The application on Discord, and what it is compared with."""

    token: str | None = field(repr=False)
    api_url: str | None
    """REST base; None is Discord's own."""
    reading: Reading
    offered: Callable[[], Awaitable[Collection[str]]]
    """The names of the commands that this program has."""
    version: str
    clock: Clock


class _NoAnswer(Exception):
    """An answer that can't be used, or none; the text says why, without what it quotes."""


async def check_discord(side: DiscordSide, words: Texts) -> Sequence[Finding]:
    """Check token, intents, commands and clock. Where the token fails there is nothing to say of the rest."""
    said = words.doctor
    notes = FindingWriter("token")
    if not side.token:
        return [notes.warning(said.token_missing, said.token_missing_mend)]
    headers = {"Authorization": f"Bot {side.token}", "User-Agent": f"DiscordBot (cc-bot, {side.version})"}
    timeout = aiohttp.ClientTimeout(TIMEOUT_S)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
        ask = _DiscordApi(session, side.api_url or API_URL)
        try:
            status, me, date = await ask.get("/users/@me")
            if status == 401:
                return [notes.failed(said.token_refused, said.token_refused_mend)]
            return [
                notes.ok(said.token_ok.format(name=me["username"])),
                *await _check_application(ask, side, words),
                _check_clock(date, side.clock(), words),
            ]
        except _NoAnswer as silent:
            told = said.discord_unreachable.format(problem=silent)
            return [notes.failed(told, said.discord_unreachable_mend)]


async def _check_application(ask: "_DiscordApi", side: DiscordSide, words: Texts) -> list[Finding]:
    _, application, _ = await ask.get("/applications/@me")
    _, commands, _ = await ask.get(f"/applications/{application['id']}/commands")
    return [
        _check_intents(int(application.get("flags") or 0), side.reading, words),
        *_check_commands({command["name"] for command in commands}, await side.offered(), words),
    ]


def _check_intents(flags: int, reading: Reading, words: Texts) -> Finding:
    said = words.doctor
    notes = FindingWriter("intents")
    if reading == "all" and not flags & MESSAGE_CONTENT:
        return notes.warning(said.intents_missing, said.intents_missing_mend)
    return notes.ok(said.intents_ok.format(reading=reading))


def _check_commands(registered: Collection[str], offered: Collection[str], words: Texts) -> list[Finding]:
    said = words.doctor
    notes = FindingWriter("commands")
    missing, strange = set(offered) - set(registered), set(registered) - set(offered)
    found = []
    if missing:
        told = said.commands_missing.format(names=_list_names(missing))
        found.append(notes.warning(told, said.commands_missing_mend))
    if strange:
        told = said.commands_strange.format(names=_list_names(strange))
        found.append(notes.warning(told, said.commands_missing_mend))
    return found or [notes.ok(said.commands_ok.format(count=len(registered)))]


def _list_names(names: Collection[str]) -> str:
    first = sorted(names)[:NAMED]
    return ", ".join(first) + (f" … (+{len(names) - NAMED})" if len(names) > NAMED else "")


def _check_clock(date: str | None, now: datetime, words: Texts) -> Finding:
    """Compare the clocks: Discord's own stands in the header of each of its answers."""
    said = words.doctor
    notes = FindingWriter("clock")
    try:
        theirs = parsedate_to_datetime(date or "")
    except ValueError:
        return notes.ok(said.clock_unknown)
    difference = abs(now - theirs.replace(tzinfo=theirs.tzinfo or UTC))
    seconds = round(difference.total_seconds())
    if difference <= LARGEST_DIFFERENCE:
        return notes.ok(said.clock_ok.format(seconds=seconds))
    note = notes.failed if difference > WRONG_DIFFERENCE else notes.warning
    return note(said.clock_off.format(seconds=seconds), said.clock_off_mend)


@dataclass(eq=False, slots=True)
class _DiscordApi:
    session: aiohttp.ClientSession
    base_url: str

    async def get(self, path: str) -> tuple[int, Any, str | None]:
        """Return status, body and the Date header of 200 and 401. Raises _NoAnswer for all else."""
        try:
            url = self.base_url + path
            async with self.session.get(url, proxy=proxy_for(url)) as response:
                if response.status not in (200, 401):
                    raise _NoAnswer(f"HTTP {response.status}")
                return response.status, await response.json(), response.headers.get("Date")
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise _NoAnswer(type(error).__name__) from None
