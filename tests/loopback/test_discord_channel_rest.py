"""Reading and writing channels over REST: pages, nonces, replies, and what the bot is not permitted."""

from collections.abc import AsyncIterator
from typing import Any

import hikari
import pytest

from tests.loopback.discord import Allowance, Channel, File, LoopbackDiscord, Message, Permission
from tests.loopback.discord.raw import RawBot

Body = dict[str, Any]


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord(channel_rate=Allowance(100, 5.0)) as double:
        yield double


@pytest.fixture
async def bot(discord: LoopbackDiscord) -> AsyncIterator[RawBot]:
    async with RawBot(discord) as bot:
        yield bot


async def send(bot: RawBot, channel: Channel, content: str = "x", **fields: Any) -> tuple[int, Any]:
    return await bot.call("POST", f"/channels/{channel.id}/messages", {"content": content, **fields})


class TestPages:
    @pytest.fixture
    async def posted(self, discord: LoopbackDiscord) -> list[Message]:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        return [await discord.post(asker, channel, f"{number}", mention=True) for number in range(7)]

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("limit=3", [6, 5, 4]),
            ("limit=2&before={3}", [2, 1]),
            ("limit=2&after={3}", [5, 4]),
            ("limit=100&after={3}", [6, 5, 4]),
            ("limit=3&around={3}", [4, 3, 2]),
            ("after=0&limit=2", [1, 0]),
            ("after={6}", []),
        ],
    )
    async def test_are_newest_first_wherever_they_begin(
        self, bot: RawBot, posted: list[Message], query: str, expected: list[int]
    ) -> None:
        path = f"/channels/{posted[0].channel.id}/messages?"
        status, listed = await bot.call("GET", path + query.format(*[message.id for message in posted]))
        assert status == 200
        assert [int(message["id"]) for message in listed] == [posted[number].id for number in expected]

    async def test_hold_fifty_unless_told_and_never_more_than_a_hundred(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        for number in range(101):
            await discord.post(asker, channel, f"{number}")
        path = f"/channels/{channel.id}/messages"
        assert len((await bot.call("GET", path))[1]) == 50
        assert len((await bot.call("GET", f"{path}?limit=100"))[1]) == 100
        for query in ("limit=101", "limit=0", "limit=x", "before=1&after=2"):
            status, answer = await bot.call("GET", f"{path}?{query}")
            assert (status, answer["code"]) == (400, 50035)

    async def test_leave_out_what_was_deleted(self, bot: RawBot, discord: LoopbackDiscord) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        posted = [await discord.post(asker, channel, f"{number}") for number in range(4)]
        await discord.delete(asker, posted[0])
        await discord.delete_in_bulk(discord.owner, *posted[1:3])
        _, listed = await bot.call("GET", f"/channels/{channel.id}/messages?after=0")
        assert [int(message["id"]) for message in listed] == [posted[3].id]
        status, answer = await bot.call("GET", f"/channels/{channel.id}/messages/{posted[1].id}")
        assert (status, answer["code"]) == (404, 10008)


class TestNonces:
    async def test_used_again_bring_back_the_first_message(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        channel = discord.guild_channel()
        _, first = await send(bot, channel, "one", nonce="7", enforce_nonce=True)
        _, second = await send(bot, channel, "two", nonce="7", enforce_nonce=True)
        assert (second["id"], second["content"], second["nonce"]) == (first["id"], "one", "7")
        assert len(discord.messages(channel)) == 1

    async def test_that_nobody_enforces_bring_back_nothing(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        channel = discord.guild_channel()
        for _ in range(2):
            await send(bot, channel, nonce="7")
        assert len(discord.messages(channel)) == 2

    async def test_are_forgotten_after_some_minutes(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        channel = discord.guild_channel()
        await send(bot, channel, nonce="7", enforce_nonce=True)
        discord.forget_nonces()
        await send(bot, channel, nonce="7", enforce_nonce=True)
        assert len(discord.messages(channel)) == 2

    async def test_of_a_user_are_not_the_bots(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        channel = discord.guild_channel()
        _, sent = await send(bot, channel, nonce="7", enforce_nonce=True)
        _, fetched = await bot.call("GET", f"/channels/{channel.id}/messages/{sent['id']}")
        assert "nonce" not in fetched


class TestReplies:
    async def test_ping_only_when_told_to(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        question = await discord.post(asker, channel, "?", mention=True)
        reference = {"message_id": str(question.id)}
        quiet: Body = {"parse": []}
        status, answer = await send(bot, channel, message_reference=reference, allowed_mentions=quiet)
        assert (status, answer["type"], answer["mentions"]) == (200, 19, [])
        assert answer["referenced_message"]["id"] == str(question.id)
        assert discord.pings == []
        _, answer = await send(bot, channel, message_reference=reference)
        assert [user["id"] for user in answer["mentions"]] == [str(asker.id)]
        [ping] = discord.pings
        assert ping.whom.user_ids == {asker.id}

    async def test_to_what_is_gone_are_refused_unless_that_is_all_right(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        question = await discord.post(asker, channel, "?", mention=True)
        await discord.delete(asker, question)
        reference: Body = {"message_id": str(question.id)}
        status, answer = await send(bot, channel, message_reference=reference)
        assert (status, answer["code"]) == (400, 50035)
        reference["fail_if_not_exists"] = False
        status, answer = await send(bot, channel, message_reference=reference)
        assert (status, answer["type"]) == (200, 0)

    async def test_whose_question_was_deleted_later_have_lost_it(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        question = await discord.post(asker, channel, "?", mention=True)
        _, sent = await send(bot, channel, message_reference={"message_id": str(question.id)})
        await discord.delete(asker, question)
        _, answer = await bot.call("GET", f"/channels/{channel.id}/messages/{sent['id']}")
        assert answer["message_reference"]["message_id"] == str(question.id)
        assert answer["referenced_message"] is None

    async def test_to_a_system_message_are_refused(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        channel = discord.guild_channel()
        await discord.start_thread(discord.user("Diego"), channel)
        [notice] = discord.messages(channel)
        status, answer = await send(bot, channel, message_reference={"message_id": str(notice.id)})
        assert (status, answer["code"]) == (400, 50035)


class TestPermissions:
    async def test_to_write_are_those_of_the_channel_or_of_its_threads(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        channel = discord.guild_channel()
        thread = discord.thread(channel)
        discord.forbid(discord.bot, Permission.SEND_MESSAGES, channel)
        status, answer = await send(bot, channel)
        assert (status, answer["code"]) == (403, 50013)
        status, answer = await bot.call("POST", f"/channels/{channel.id}/typing")
        assert (status, answer["code"]) == (403, 50013)
        assert (await send(bot, thread))[0] == 200
        discord.forbid(discord.bot, Permission.SEND_MESSAGES_IN_THREADS, channel)
        assert (await send(bot, thread))[0] == 403

    async def test_to_see_are_missing_access(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        channel = discord.guild_channel()
        discord.forbid(discord.bot, Permission.VIEW_CHANNEL, channel)
        for place in (channel, discord.thread(channel)):
            for path in ("", "/messages"):
                status, answer = await bot.call("GET", f"/channels/{place.id}{path}")
                assert (status, answer["code"]) == (403, 50001)

    async def test_to_read_the_past_leave_it_empty(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        channel = discord.guild_channel()
        message = await discord.post(discord.user("Diego"), channel, "?", mention=True)
        discord.forbid(discord.bot, Permission.READ_MESSAGE_HISTORY, channel)
        assert await bot.call("GET", f"/channels/{channel.id}/messages") == (200, [])
        status, answer = await send(bot, channel, message_reference={"message_id": str(message.id)})
        assert (status, answer["code"]) == (400, 160002)

    async def test_to_attach_are_their_own(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        channel = discord.guild_channel()
        discord.forbid(discord.bot, Permission.ATTACH_FILES, channel)
        path = f"/channels/{channel.id}/messages"
        status, answer = await bot.call("POST", path, {"content": "x"}, File("a.txt", b"x"))
        assert (status, answer["code"]) == (403, 50013)

    async def test_of_an_asker_come_with_the_interaction(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        moderator, asker = discord.user("Mika"), discord.user("Diego")
        channel, other = discord.guild_channel(), discord.guild_channel("other")
        discord.permit(moderator, Permission.MANAGE_MESSAGES)
        discord.forbid(moderator, Permission.MANAGE_MESSAGES, other)
        await bot.register({"name": "reset", "description": "reset"})
        seen = []
        for user, place in ((moderator, channel), (moderator, discord.thread(other)), (asker, channel)):
            told = (await discord.slash(user, place, "reset")).interaction.payload()
            permissions = hikari.Permissions(int(told["member"]["permissions"]))
            seen.append(bool(permissions & hikari.Permissions.MANAGE_MESSAGES))
        assert seen == [True, False, False]

    async def test_the_bot_lacks_come_with_the_interaction(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        channel = discord.guild_channel()
        discord.forbid(discord.bot, Permission.SEND_MESSAGES, channel)
        await bot.register({"name": "reset", "description": "reset"})
        told = (await discord.slash(discord.user("Diego"), channel, "reset")).interaction.payload()
        permissions = hikari.Permissions(int(told["app_permissions"]))
        assert not permissions & hikari.Permissions.SEND_MESSAGES
        assert permissions & hikari.Permissions.EMBED_LINKS
