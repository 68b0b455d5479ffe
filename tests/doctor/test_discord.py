from collections.abc import AsyncIterator, Collection
from dataclasses import replace
from datetime import timedelta

import pytest

from cc_bot.chat.checks import Finding
from cc_bot.config import read_config
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import ChannelReading
from cc_bot.domain.text import Locale
from cc_bot.features.doctor.services import check_discord
from cc_bot.features.doctor.texts import DoctorTexts
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
    reading: ChannelReading = "mentions",
    offered: Collection[str] = (),
    ahead: timedelta = timedelta(),
) -> dict[str, Finding]:
    async def names() -> Collection[str]:
        return offered

    given = discord.token if token == "" else token
    config = read_config({"DISCORD_API_URL": discord.api_url, "CC_BOT_CHANNELS": reading})
    config = replace(config, discord_token=given)
    found = {each.check: each for each in await check_discord(config, JA, names, lambda: utc_now() + ahead)}
    for secret in (discord.token, discord.other_token, discord.api_url):
        assert secret not in f"{found}"
    return found


async def test_a_token_is_told_by_the_bots_name_or_fails_and_without_one_nothing_is_asked(
    discord: LoopbackDiscord,
) -> None:
    found = await findings(discord)
    checks = ("token", "intents", "commands", "clock")
    assert {name: finding.verdict for name, finding in found.items()} == dict.fromkeys(checks, "ok")
    assert discord.bot.name in found["token"].detail
    discord.transcript.clear()
    found = await findings(discord, token=None)
    assert ([*found], found["token"].verdict) == (["token"], "warning")  # chat works without
    for half in (discord.token.rpartition(".")[0], f"{discord.token} "):
        assert (await findings(discord, token=half))["token"].detail in JA[DoctorTexts].token_malformed
    assert discord.transcript == []
    found = await findings(discord, token=discord.other_token)
    assert ([*found], found["token"].verdict, bool(found["token"].fix)) == (["token"], "failed", True)
    for route, status in (("GET /users/@me", None), ("GET /applications/@me", 503)):
        discord.fail_next(route, status, times=2)  # the client asks again where a connection was cut
        assert (await findings(discord))["token"].verdict == "failed"


async def test_what_the_application_lacks_and_a_clock_that_is_off_are_told(discord: LoopbackDiscord) -> None:
    assert (await findings(discord, reading="all"))["intents"].verdict == "warning"
    for verified in (True, False):
        async with LoopbackDiscord(message_content=True, verified=verified) as granted:
            assert (await findings(granted, reading="all"))["intents"].verdict == "ok"
    found = (await findings(discord, offered=["ask", "memory"]))["commands"]
    assert (found.verdict, "ask, memory" in found.detail) == ("warning", True)
    for ahead, verdict in ((timedelta(seconds=30), "warning"), (-timedelta(hours=9), "failed")):
        assert (await findings(discord, ahead=ahead))["clock"].verdict == verdict
