"""What a bot without the message-content intent gets to read: over the gateway, over REST, inside replies."""

from typing import Any

import hikari
import pytest

from tests.loopback.discord import Channel, File, LoopbackDiscord, Message, Poll, User
from tests.loopback.discord.listening import UNPRIVILEGED, ListeningBot
from tests.loopback.discord.raw import RawBot

WITH_CONTENT = UNPRIVILEGED | hikari.Intents.MESSAGE_CONTENT


async def over_rest(discord: LoopbackDiscord, message: Message) -> dict[str, Any]:
    """The one message, which the listing must show in the same way."""
    path = f"/channels/{message.channel.id}/messages"
    async with RawBot(discord) as raw:
        _, one = await raw.call("GET", f"{path}/{message.id}")
        _, listed = await raw.call("GET", path)
    assert one in listed
    found: dict[str, Any] = one
    return found


async def show_more(discord: LoopbackDiscord, user: User, channel: Channel) -> list[Message]:
    """A poll, a sticker, and a forward of a secret with a file."""
    source = await discord.post(user, channel, "secret", attachments=(File("a.txt", b"x"),))
    return [
        await discord.post(user, channel, "", poll=Poll("lunch?", ("sushi", "soba"), (2, 1))),
        await discord.post(user, channel, "", stickers=("wave",)),
        await discord.forward(user, channel, source),
    ]


async def say_everything(discord: LoopbackDiscord, user: User, channel: Channel) -> Message:
    message = await discord.post(user, channel, "secret", attachments=(File("a.txt", b"x"),))
    await discord.unfurl(message, {"title": "secret"})
    return message


class TestWithoutTheIntent:
    async def test_all_that_others_wrote_is_blank_and_who_wrote_it_is_not(self) -> None:
        async with LoopbackDiscord() as discord, ListeningBot(discord) as bot:
            asker = discord.user("Diego")
            message = await say_everything(discord, asker, discord.guild_channel())
            created = (await bot.next(hikari.GuildMessageCreateEvent)).message
            updated = (await bot.next(hikari.GuildMessageUpdateEvent)).message
            seen = await over_rest(discord, message)
        assert (created.content, created.attachments, created.embeds) == (None, [], [])
        assert (updated.content, updated.attachments, updated.embeds) == (None, [], [])
        assert [seen[key] for key in ("content", "attachments", "embeds", "components")] == ["", [], [], []]
        assert seen["author"]["id"] == str(asker.id)
        assert "member" not in seen
        assert "guild_id" not in seen

    async def test_a_granted_intent_that_was_not_asked_for_opens_rest_only(self) -> None:
        async with LoopbackDiscord(message_content=True) as discord, ListeningBot(discord) as bot:
            message = await say_everything(discord, discord.user("Diego"), discord.guild_channel())
            created = (await bot.next(hikari.GuildMessageCreateEvent)).message
            assert created.content is None
            assert (await over_rest(discord, message))["content"] == "secret"

    async def test_a_message_inside_a_reply_is_as_blank_as_alone(self) -> None:
        async with LoopbackDiscord() as discord, ListeningBot(discord) as bot:
            asker, channel = discord.user("Diego"), discord.guild_channel()
            secret = await discord.post(discord.user("Aiko"), channel, "secret")
            reply = await discord.post(asker, channel, "what does she mean?", reply_to=secret, mention=True)
            await bot.next(hikari.GuildMessageCreateEvent)
            heard = (await bot.next(hikari.GuildMessageCreateEvent)).message
            seen = await over_rest(discord, reply)
            assert heard.content == f"{discord.bot.mention} what does she mean?"
            assert heard.referenced_message is not None
            assert heard.referenced_message.content is None
            assert seen["content"] == heard.content
            assert seen["referenced_message"]["content"] == ""

    async def test_a_poll_is_left_out_a_forward_shows_nothing_and_a_sticker_keeps_its_name(self) -> None:
        async with LoopbackDiscord() as discord:
            sent = await show_more(discord, discord.user("Diego"), discord.guild_channel())
            poll, sticker, forward = [await over_rest(discord, message) for message in sent]
        assert "poll" not in poll
        assert [item["name"] for item in sticker["sticker_items"]] == ["wave"]
        [snapshot] = forward["message_snapshots"]
        assert (snapshot["message"]["content"], snapshot["message"]["attachments"]) == ("", [])
        assert forward["message_reference"]["type"] == 1

    async def test_an_own_message_inside_a_blank_reply_is_readable(self) -> None:
        async with LoopbackDiscord() as discord, ListeningBot(discord) as bot:
            asker, channel = discord.user("Diego"), discord.guild_channel()
            own = await bot.rest.create_message(channel.id, "mine")
            [shown] = discord.messages(channel)
            reply = await discord.post(asker, channel, "secret", reply_to=shown, ping=False)
            seen = await over_rest(discord, reply)
            assert (seen["content"], seen["referenced_message"]["content"]) == ("", own.content)

    async def test_what_mentions_the_bot_is_readable_until_an_edit_takes_that_out(self) -> None:
        async with LoopbackDiscord() as discord:
            asker, channel = discord.user("Diego"), discord.guild_channel()
            message = await discord.post(asker, channel, "hello", mention=True)
            assert (await over_rest(discord, message))["content"] == f"{discord.bot.mention} hello"
            await discord.edit(asker, message, "secret")
            assert (await over_rest(discord, message))["content"] == ""

    async def test_everybody_is_not_the_bot(self) -> None:
        async with LoopbackDiscord() as discord:
            message = await discord.post(discord.user("Diego"), discord.guild_channel(), "@everyone secret")
            seen = await over_rest(discord, message)
            assert (seen["content"], seen["mention_everyone"]) == ("", True)


class TestWithTheIntent:
    async def test_everything_is_readable(self) -> None:
        async with LoopbackDiscord(message_content=True) as discord:
            async with ListeningBot(discord, WITH_CONTENT) as bot:
                message = await say_everything(discord, discord.user("Diego"), discord.guild_channel())
                created = (await bot.next(hikari.GuildMessageCreateEvent)).message
            seen = await over_rest(discord, message)
        assert (created.content, len(created.attachments)) == ("secret", 1)
        assert (seen["content"], len(seen["attachments"]), len(seen["embeds"])) == ("secret", 1, 1)

    async def test_polls_and_forwards_are_as_hikari_reads_them(self) -> None:
        async with (
            LoopbackDiscord(message_content=True) as discord,
            ListeningBot(discord, WITH_CONTENT) as bot,
        ):
            await show_more(discord, discord.user("Diego"), discord.guild_channel())
            seen = [(await bot.next(hikari.GuildMessageCreateEvent)).message for _ in range(4)]
        _, poll, sticker, forward = seen
        assert poll.poll is not None
        assert poll.poll.results is not None
        assert [count.count for count in poll.poll.results.answer_counts] == [2, 1]
        assert [each.name for each in sticker.stickers] == ["wave"]
        [snapshot] = forward.message_snapshots
        assert (snapshot.content, [file.filename for file in snapshot.attachments]) == ("secret", ["a.txt"])

    async def test_what_was_forwarded_stays_in_the_forward_when_it_is_deleted(self) -> None:
        async with LoopbackDiscord(message_content=True) as discord:
            asker, channel = discord.user("Diego"), discord.guild_channel()
            source = await discord.post(asker, channel, "secret")
            forward = await discord.forward(asker, channel, source)
            await discord.delete(asker, source)
            seen = await over_rest(discord, forward)
        assert seen["message_snapshots"][0]["message"]["content"] == "secret"

    async def test_that_was_not_granted_the_gateway_closes_with_4014(self) -> None:
        async with LoopbackDiscord() as discord:
            bot = ListeningBot(discord, WITH_CONTENT)
            with pytest.raises(hikari.GatewayServerClosedConnectionError) as caught:
                await bot.bot.start(check_for_updates=False)
            await bot.bot.close()
        assert caught.value.code == 4014

    @pytest.mark.parametrize(
        ("granted", "verified", "flags"), [(False, False, 0), (True, False, 1 << 19), (True, True, 1 << 18)]
    )
    async def test_the_application_tells_what_was_granted(
        self, granted: bool, verified: bool, flags: int
    ) -> None:
        async with (
            LoopbackDiscord(message_content=granted, verified=verified) as discord,
            RawBot(discord) as raw,
        ):
            _, application = await raw.call("GET", "/applications/@me")
        assert application["flags"] == flags
