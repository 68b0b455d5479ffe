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
ME = "GET /users/@me"
APPLICATION = "GET /applications/@me"


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
    return {finding.check: finding for finding in await check_discord(side, JA)}


class TestToken:
    async def test_that_is_good_is_told_by_the_bots_name(self, discord: LoopbackDiscord) -> None:
        found = (await findings(discord))["token"]
        assert found.verdict == "ok"
        assert discord.bot.name in found.detail

    async def test_that_is_refused_fails_and_nothing_more_is_asked(self, discord: LoopbackDiscord) -> None:
        found = await findings(discord, token=discord.other_token)
        assert {name: finding.verdict for name, finding in found.items()} == {"token": "failed"}
        assert found["token"].mend
        assert discord.other_token not in str(found)

    async def test_that_is_not_there_is_a_warning_for_chat_works_without(
        self, discord: LoopbackDiscord
    ) -> None:
        found = await findings(discord, token=None)
        assert {name: finding.verdict for name, finding in found.items()} == {"token": "warning"}
        assert discord.transcript == []

    @pytest.mark.parametrize(("route", "status"), [(ME, 500), (ME, None), (APPLICATION, 503)])
    async def test_of_a_discord_in_trouble_fails_without_a_secret(
        self, discord: LoopbackDiscord, route: str, status: int | None
    ) -> None:
        discord.fail_next(route, status, times=2)  # the client asks again where a connection was cut
        found = await findings(discord)
        assert found["token"].verdict == "failed"
        assert discord.token not in str(found)
        assert discord.api_url not in str(found)

    async def test_is_not_shown_by_what_holds_it(self, discord: LoopbackDiscord) -> None:
        async def names() -> Collection[str]:
            return ()

        side = DiscordSide(discord.token, discord.api_url, "off", names, "1.2.3", utc_now)
        assert discord.token not in repr(side)


class TestIntents:
    async def test_are_a_warning_where_all_is_wanted_and_not_granted(self, discord: LoopbackDiscord) -> None:
        assert (await findings(discord, reading="all"))["intents"].verdict == "warning"
        assert (await findings(discord, reading="mentions"))["intents"].verdict == "ok"

    @pytest.mark.parametrize("verified", [True, False])
    async def test_are_well_where_it_is_granted(self, verified: bool) -> None:
        async with LoopbackDiscord(message_content=True, verified=verified) as discord:
            assert (await findings(discord, reading="all"))["intents"].verdict == "ok"


class TestCommands:
    async def test_that_are_missing_are_named(self, discord: LoopbackDiscord) -> None:
        found = (await findings(discord, offered=["ask", "memory"]))["commands"]
        assert found.verdict == "warning"
        assert "ask, memory" in found.detail

    async def test_of_which_many_are_missing_are_named_in_part(self, discord: LoopbackDiscord) -> None:
        offered = [f"command{number}" for number in range(10)]
        found = (await findings(discord, offered=offered))["commands"]
        assert "command7 … (+2)" in found.detail
        assert "command8" not in found.detail

    async def test_that_are_none_and_should_be_none_are_well(self, discord: LoopbackDiscord) -> None:
        assert (await findings(discord))["commands"].verdict == "ok"


class TestClock:
    @pytest.mark.parametrize(
        ("ahead", "verdict"),
        [
            (timedelta(), "ok"),
            (timedelta(seconds=30), "warning"),
            (-timedelta(hours=9), "failed"),
        ],
    )
    async def test_is_held_against_discords(
        self, discord: LoopbackDiscord, ahead: timedelta, verdict: str
    ) -> None:
        assert (await findings(discord, ahead=ahead))["clock"].verdict == verdict
