"""Who may read and write where, tokens, rate limits, and failures that a test ordered."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from tests.loopback.discord import Allowance, File, LoopbackDiscord
from tests.loopback.discord.raw import RawBot

Body = dict[str, Any]


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord(channel_rate=Allowance(100, 5.0), webhook_rate=Allowance(100, 2.0)) as double:
        yield double


@pytest.fixture
async def bot(discord: LoopbackDiscord) -> AsyncIterator[RawBot]:
    async with RawBot(discord) as bot:
        yield bot


class TestChannels:
    async def test_that_the_bot_is_not_in_are_missing_access(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        asker = discord.user("Diego")
        hidden = discord.guild_channel("staff", bot_present=False)
        for channel in (hidden, discord.user_installed_channel(asker), discord.group_dm(asker)):
            status, answer = await bot.call("POST", f"/channels/{channel.id}/messages", {"content": "x"})
            assert (status, answer["code"]) == (403, 50001)

    async def test_that_do_not_exist_are_unknown(self, bot: RawBot) -> None:
        status, answer = await bot.call("GET", "/channels/1")
        assert (status, answer["code"]) == (404, 10003)

    async def test_of_a_user_who_closed_the_door_take_nothing(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        closed = discord.user("Aiko", accepts_dms=False)
        status, channel = await bot.call("POST", "/users/@me/channels", {"recipient_id": str(closed.id)})
        assert status == 200
        status, answer = await bot.call("POST", f"/channels/{channel['id']}/messages", {"content": "x"})
        assert (status, answer["code"]) == (403, 50007)

    async def test_are_read_newest_first(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        channel, asker = discord.guild_channel(), discord.user("Diego")
        posted = [await discord.post(asker, channel, f"{number}") for number in range(4)]
        _, listed = await bot.call("GET", f"/channels/{channel.id}/messages?limit=2")
        assert [int(message["id"]) for message in listed] == [posted[3].id, posted[2].id]
        _, listed = await bot.call("GET", f"/channels/{channel.id}/messages?before={posted[1].id}")
        assert [int(message["id"]) for message in listed] == [posted[0].id]


class TestContentIntent:
    async def test_without_it_the_contents_of_others_are_blank(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        channel, asker = discord.guild_channel(), discord.user("Diego")
        secret = await discord.post(asker, channel, "secret", attachments=(File("a.txt", b"x"),))
        called = await discord.post(asker, channel, f"{discord.world.bot.mention} hello")
        private = await discord.post(asker, discord.dm(asker), "secret")
        _, own = await bot.call("POST", f"/channels/{channel.id}/messages", {"content": "mine"})
        seen = []
        for number, place in (
            (secret.id, channel),
            (called.id, channel),
            (own["id"], channel),
            (private.id, private.channel),
        ):
            _, message = await bot.call("GET", f"/channels/{place.id}/messages/{number}")
            seen.append((message["content"], len(message["attachments"])))
        assert seen == [("", 0), (f"{discord.world.bot.mention} hello", 0), ("mine", 0), ("secret", 0)]

    async def test_with_it_everything_is_there(self) -> None:
        async with LoopbackDiscord(message_content=True) as discord, RawBot(discord) as bot:
            channel = discord.guild_channel()
            message = await discord.post(discord.user("Diego"), channel, "secret")
            _, seen = await bot.call("GET", f"/channels/{channel.id}/messages/{message.id}")
            assert seen["content"] == "secret"


class TestTokenAndRates:
    async def test_a_wrong_token_is_unauthorized(self, discord: LoopbackDiscord) -> None:
        async with RawBot(discord, token=discord.other_token) as stranger:
            for path in ("/users/@me", "/gateway/bot", "/oauth2/applications/@me"):
                status, answer = await stranger.call("GET", path)
                assert (status, answer["code"]) == (401, 0)

    async def test_a_sixth_message_in_a_window_is_429_with_headers(self) -> None:
        async with LoopbackDiscord(channel_rate=Allowance(5, 60.0)) as discord, RawBot(discord) as bot:
            first, second = discord.guild_channel(), discord.guild_channel()
            for _ in range(5):
                assert (await bot.call("POST", f"/channels/{first.id}/messages", {"content": "x"}))[0] == 200
            async with bot.request("POST", f"/channels/{first.id}/messages", {"content": "x"}) as response:
                answer = await response.json()
            assert response.status == 429
            assert 0 < answer["retry_after"] <= 60
            assert response.headers["X-RateLimit-Remaining"] == "0"
            assert float(response.headers["Retry-After"]) == pytest.approx(answer["retry_after"])
            assert (await bot.call("POST", f"/channels/{second.id}/messages", {"content": "x"}))[0] == 200

    async def test_too_much_altogether_is_a_global_429(self) -> None:
        async with LoopbackDiscord(global_rate=Allowance(3, 60.0)) as discord, RawBot(discord) as bot:
            answers = [await bot.call("GET", "/users/@me") for _ in range(4)]
            assert [status for status, _ in answers] == [200, 200, 200, 429]
            assert answers[3][1]["global"] is True

    async def test_a_route_that_is_not_there_is_404_and_recorded(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        assert (await bot.call("GET", "/nowhere"))[0] == 404
        assert discord.violations[0].status == 404


class TestOrderedFailures:
    async def test_without_effect_leave_no_message(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        channel = discord.guild_channel()
        discord.fail_next("POST /channels/{channel}/messages", 503, times=2)
        statuses = [
            (await bot.call("POST", f"/channels/{channel.id}/messages", {"content": "x"}))[0]
            for _ in range(3)
        ]
        assert statuses == [503, 503, 200]
        assert discord.faults.outstanding == 0
        assert len(discord.messages(channel)) == 1
        assert discord.violations == []

    async def test_with_effect_leave_one(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        channel = discord.guild_channel()
        discord.fail_next("POST /channels/{channel}/messages", 502, take_effect=True)
        assert (await bot.call("POST", f"/channels/{channel.id}/messages", {"content": "x"}))[0] == 502
        assert len(discord.messages(channel)) == 1

    async def test_can_be_a_rate_limit(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        discord.fail_next("GET /users/@me", 429, retry_after_s=1.5)
        status, answer = await bot.call("GET", "/users/@me")
        assert (status, answer["retry_after"]) == (429, 1.5)

    async def test_can_be_a_cut_connection(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        discord.fail_next("POST /users/@me/channels", None)
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await bot.call("POST", "/users/@me/channels", {"recipient_id": str(discord.owner.id)})

    async def test_can_be_a_delay_and_nothing_else(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        discord.fail_next("GET /users/@me", 200, delay_s=0.05)
        late = asyncio.create_task(bot.call("GET", "/users/@me"))
        await discord.wait(lambda: not discord.faults.outstanding, "the request to arrive")
        await bot.call("GET", "/gateway/bot")
        assert (await late)[0] == 200
        assert [entry.route for entry in discord.transcript] == ["GET /gateway/bot", "GET /users/@me"]

    def test_need_a_route_that_exists(self, discord: LoopbackDiscord) -> None:
        with pytest.raises(AssertionError, match="no such route"):
            discord.fail_next("POST /nowhere")


class TestMembers:
    async def test_are_shown_until_they_leave(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        asker = discord.user("Diego")
        route = f"/guilds/{discord.guild.id}/members/{asker.id}"
        discord.nickname(asker, "D")
        status, member = await bot.call("GET", route)
        assert (status, member["user"]["id"], member["nick"]) == (200, str(asker.id), "D")
        discord.leave(asker)
        status, answer = await bot.call("GET", route)
        assert (status, answer["code"]) == (404, 10007)
        discord.join(asker)
        assert (await bot.call("GET", route))[0] == 200

    async def test_that_left_do_nothing_there(self, discord: LoopbackDiscord) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        discord.leave(asker)
        with pytest.raises(AssertionError, match="left"):
            await discord.post(asker, channel, "hello")

    async def test_of_no_user_or_of_a_server_without_the_bot_are_refused(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        asker = discord.user("Diego")
        elsewhere = discord.add_guild("elsewhere", bot_present=False)
        for guild_id, user_id, refused in (
            (discord.guild.id, 1, (404, 10013)),
            (elsewhere.id, asker.id, (403, 50001)),
            (1, asker.id, (404, 10004)),
        ):
            status, answer = await bot.call("GET", f"/guilds/{guild_id}/members/{user_id}")
            assert (status, answer["code"]) == refused
