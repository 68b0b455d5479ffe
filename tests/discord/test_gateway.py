"""What the bot may read is known before it connects."""

import pytest

from cc_bot.discord.gateway import check_token, fetch_reading
from cc_bot.domain.errors import DiscordUnreachable, RefusedToken
from cc_bot.domain.message import Reading
from tests.loopback.discord import LoopbackDiscord

APPLICATION = "GET /applications/@me"


async def granted(discord: LoopbackDiscord, wanted: Reading = "all") -> Reading:
    return await fetch_reading(wanted, discord.token, discord.api_url)


class TestEverything:
    @pytest.mark.parametrize("verified", [False, True])
    async def test_is_granted_by_either_flag_of_the_application(self, *, verified: bool) -> None:
        async with LoopbackDiscord(message_content=True, verified=verified) as discord:
            assert await granted(discord) == "all"

    async def test_becomes_mentions_without_the_intent(self) -> None:
        async with LoopbackDiscord() as discord:
            assert await granted(discord) == "mentions"

    async def test_is_asked_for_again_when_discord_fails_for_a_moment(self, discord: LoopbackDiscord) -> None:
        discord.fail_next(APPLICATION, 503)
        assert await granted(discord) == "all"

    async def test_is_not_known_of_a_refused_token(self, discord: LoopbackDiscord) -> None:
        with pytest.raises(RefusedToken):
            await fetch_reading("all", discord.other_token, discord.api_url)

    async def test_is_not_known_without_a_connection(self, discord: LoopbackDiscord) -> None:
        with pytest.raises(DiscordUnreachable):
            await fetch_reading("all", discord.token, "http://127.0.0.1:9/api/v10")


class TestLess:
    @pytest.mark.parametrize("wanted", ["off", "mentions"])
    async def test_needs_no_permission(self, discord: LoopbackDiscord, wanted: Reading) -> None:
        assert await granted(discord, wanted) == wanted
        assert discord.calls(APPLICATION) == []


class TestTheToken:
    def test_of_a_bot_is_passed(self, discord: LoopbackDiscord) -> None:
        check_token(discord.token)

    @pytest.mark.parametrize("token", ["ｔｏｋｅｎ あ", "token", "a.b.c"])
    def test_that_names_no_bot_is_refused_at_once(self, token: str) -> None:
        with pytest.raises(RefusedToken):
            check_token(token)
