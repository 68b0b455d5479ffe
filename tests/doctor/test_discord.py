"""What the doctor finds out from Discord: asked of a Discord on 127.0.0.1."""

from collections.abc import AsyncIterator, Collection
from datetime import timedelta

import pytest

from cc_bot.doctor.checkup import Finding
from cc_bot.doctor.discord import DiscordSide, check_discord
from cc_bot.domain import Locale
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import Reading
from cc_bot.texts import texts
from tests.loopback.discord import LoopbackDiscord

JA = texts(Locale.JA)


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord(message_content=False) as double:
        yield double


async def findings(
    discord: LoopbackDiscord,
    *,
    token: str | None = "",
    reading: Reading = "mentions",
    offered: Collection[str] = (),
    ahead: timedelta = timedelta(),
) -> dict[str, Finding]:
    async def names() -> Collection[str]:
        return offered

    given = discord.token if token == "" else token
    side = DiscordSide(given, discord.api_url, reading, names, "1.2.3", lambda: utc_now() + ahead)
    found: dict[str, Finding] = {each.check: each for each in await check_discord(side, JA)}
    for secret in (discord.token, discord.other_token, discord.api_url):
        assert secret not in f"{found}"
    assert discord.token not in repr(side)
    return found


class TestToken:
    async def test_that_is_good_is_told_by_the_bots_name(self, discord: LoopbackDiscord) -> None:
        found = await findings(discord)
        assert {name: finding.verdict for name, finding in found.items()} == dict.fromkeys(
            ("token", "intents", "commands", "clock"), "ok"
        )
        assert discord.bot.name in found["token"].detail

    async def test_that_is_refused_fails_and_without_one_nothing_is_asked(
        self, discord: LoopbackDiscord
    ) -> None:
        found = await findings(discord, token=None)
        assert ([*found], found["token"].verdict) == (["token"], "warning")  # chat works without
        assert discord.transcript == []
        found = await findings(discord, token=discord.other_token)
        assert ([*found], found["token"].verdict, bool(found["token"].mend)) == (["token"], "failed", True)

    @pytest.mark.parametrize(
        ("route", "status"),
        [("GET /users/@me", 500), ("GET /users/@me", None), ("GET /applications/@me", 503)],
    )
    async def test_of_a_discord_in_trouble_fails(
        self, discord: LoopbackDiscord, route: str, status: int | None
    ) -> None:
        discord.fail_next(route, status, times=2)  # the client asks again where a connection was cut
        assert (await findings(discord))["token"].verdict == "failed"


@pytest.mark.parametrize("verified", [True, False])
async def test_intents_are_a_warning_where_all_is_wanted_and_not_granted(
    discord: LoopbackDiscord, verified: bool
) -> None:
    assert (await findings(discord, reading="all"))["intents"].verdict == "warning"
    async with LoopbackDiscord(message_content=True, verified=verified) as granted:
        assert (await findings(granted, reading="all"))["intents"].verdict == "ok"


async def test_commands_that_are_missing_are_named_and_many_in_part(discord: LoopbackDiscord) -> None:
    found = (await findings(discord, offered=["ask", "memory"]))["commands"]
    assert (found.verdict, "ask, memory" in found.detail) == ("warning", True)
    found = (await findings(discord, offered=[f"command{number}" for number in range(10)]))["commands"]
    assert ("command7 … (+2)" in found.detail, "command8" in found.detail) == (True, False)


async def test_the_clock_is_held_against_discords(discord: LoopbackDiscord) -> None:
    for ahead, verdict in ((timedelta(seconds=30), "warning"), (-timedelta(hours=9), "failed")):
        assert (await findings(discord, ahead=ahead))["clock"].verdict == verdict
