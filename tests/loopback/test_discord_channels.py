"""What happens in channels, as the real hikari hears of it: messages, their changes, threads."""

from collections.abc import AsyncIterator

import hikari
import pytest

from tests.loopback.discord import ChannelKind, File, LoopbackDiscord, Permission
from tests.loopback.discord.listening import ListeningBot
from tests.recordings import voice


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord() as double:
        yield double


@pytest.fixture
async def bot(discord: LoopbackDiscord) -> AsyncIterator[ListeningBot]:
    async with ListeningBot(discord) as bot:
        yield bot


class TestPosts:
    async def test_in_a_server_bring_the_member_and_everybody_mentioned(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Aiko", locale="ja"), discord.guild_channel()
        discord.nickname(asker, "あいちゃん")
        discord.nickname(discord.bot, "手伝い")
        posted = await discord.post(asker, channel, "元気?", mention=True)
        event = await bot.next(hikari.GuildMessageCreateEvent)
        message = event.message
        assert (message.id, message.content) == (posted.id, f"<@{discord.application_id}> 元気?")
        assert (message.guild_id, message.channel_id) == (discord.guild.id, channel.id)
        assert message.member is not None
        assert (message.member.nickname, message.author.global_name) == ("あいちゃん", "Aiko")
        assert message.user_mentions_ids == [discord.application_id]
        assert message.type is hikari.MessageType.DEFAULT
        assert not message.author.is_bot

    async def test_that_are_spoken_bring_a_recording_and_nothing_else(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker = discord.user("Aiko", locale="ja")
        await discord.speak(asker, discord.dm(asker), voice(4.5))
        message = (await bot.next(hikari.DMMessageCreateEvent)).message
        assert hikari.MessageFlag.IS_VOICE_MESSAGE in message.flags
        [recording] = message.attachments
        assert (message.content, recording.filename, recording.media_type) == (
            *(None, "voice-message.ogg"),
            "audio/ogg",
        )
        assert recording.duration == 4.5
        assert recording.waveform

    async def test_in_reply_that_are_spoken_mention_who_is_replied_to(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        await bot.rest.create_message(channel.id, "How can I help?")
        await bot.next(hikari.GuildMessageCreateEvent)
        await discord.speak(asker, channel, voice(), reply_to=discord.messages(channel)[0])
        message = (await bot.next(hikari.GuildMessageCreateEvent)).message
        assert message.user_mentions_ids == [discord.application_id]
        assert len(message.attachments) == 1

    async def test_that_are_spoken_to_others_bring_nothing_without_the_intent(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        await discord.speak(asker, channel, voice())
        message = (await bot.next(hikari.GuildMessageCreateEvent)).message
        assert (message.attachments, message.content) == ([], None)

    @pytest.mark.parametrize("file", [File("a.txt", b"a", "text/plain"), File("a.ogg", b"OggS", "audio/ogg")])
    async def test_that_are_spoken_are_recordings_of_some_length(
        self, discord: LoopbackDiscord, file: File
    ) -> None:
        asker = discord.user("Diego")
        with pytest.raises(AssertionError):
            await discord.speak(asker, discord.dm(asker), file)

    async def test_in_a_dm_have_neither_server_nor_member(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker = discord.user("Diego")
        await discord.post(asker, discord.dm(asker), "hello")
        event = await bot.next(hikari.DMMessageCreateEvent)
        assert (event.content, event.message.guild_id, event.message.member) == ("hello", None, None)

    async def test_that_reply_bring_what_they_reply_to(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        said = await bot.rest.create_message(channel.id, "How can I help?")
        await bot.next(hikari.GuildMessageCreateEvent)
        await discord.post(asker, channel, "with this", reply_to=discord.messages(channel)[0])
        message = (await bot.next(hikari.GuildMessageCreateEvent)).message
        assert message.type is hikari.MessageType.REPLY
        assert message.message_reference is not None
        assert message.message_reference.guild_id == discord.guild.id
        assert message.referenced_message is not None
        assert (message.referenced_message.id, message.referenced_message.content) == (said.id, said.content)
        assert message.user_mentions_ids == [discord.application_id]

    async def test_that_reply_without_a_ping_mention_nobody(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        await bot.rest.create_message(channel.id, "How can I help?")
        await bot.next(hikari.GuildMessageCreateEvent)
        await discord.post(asker, channel, "secret", reply_to=discord.messages(channel)[0], ping=False)
        message = (await bot.next(hikari.GuildMessageCreateEvent)).message
        assert (message.user_mentions_ids, message.content) == ([], None)

    async def test_of_other_bots_and_webhooks_say_so(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        channel, hook = discord.guild_channel(), discord.webhook("deploys")
        await discord.post(discord.other_bot("Dice"), channel, "4", mention=True)
        other = (await bot.next(hikari.GuildMessageCreateEvent)).message
        assert (other.author.is_bot, other.webhook_id, other.member is None) == (True, None, False)
        await discord.post(hook, channel, "done", mention=True)
        hooked = (await bot.next(hikari.GuildMessageCreateEvent)).message
        assert (hooked.author.is_bot, hooked.webhook_id, hooked.member) == (True, hook.id, None)

    async def test_of_the_bot_itself_come_back_with_their_nonce(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        channel = discord.guild_channel()
        await bot.rest.create_message(channel.id, "thinking…", nonce="42")
        created = (await bot.next(hikari.GuildMessageCreateEvent)).message
        assert (created.author.id, created.nonce, created.content) == (
            discord.application_id,
            "42",
            "thinking…",
        )
        await bot.rest.edit_message(channel.id, created.id, "done")
        updated = (await bot.next(hikari.GuildMessageUpdateEvent)).message
        assert (updated.content, updated.nonce) == ("done", hikari.UNDEFINED)
        assert updated.edited_timestamp is not None

    async def test_bring_their_files(self, discord: LoopbackDiscord, bot: ListeningBot) -> None:
        file = File("猫.png", b"123", "image/png")
        await discord.post(
            discord.user("Aiko"), discord.guild_channel(), "", mention=True, attachments=(file,)
        )
        [attachment] = (await bot.next(hikari.GuildMessageCreateEvent)).message.attachments
        assert (attachment.filename, await attachment.read()) == ("猫.png", b"123")

    async def test_are_not_heard_of_where_the_bot_may_not_look(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, hidden = discord.user("Diego"), discord.guild_channel("staff")
        discord.forbid(discord.bot, Permission.VIEW_CHANNEL, hidden)
        await discord.post(asker, hidden, "first", mention=True)
        await discord.post(asker, discord.thread(hidden), "second", mention=True)
        seen = await discord.post(asker, discord.guild_channel(), "third", mention=True)
        assert (await bot.next(hikari.GuildMessageCreateEvent)).message_id == seen.id

    async def test_can_be_delivered_twice_as_they_were(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        message = await discord.post(asker, channel, "one", mention=True)
        await discord.edit(asker, message, "two")
        await discord.redeliver(message)
        first = await bot.next(hikari.GuildMessageCreateEvent)
        again = await bot.next(hikari.GuildMessageCreateEvent)
        assert first.message_id == again.message_id
        assert first.content == again.content == f"<@{discord.application_id}> one"

    async def test_from_the_time_before_a_restart_are_not_delivered_again(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        await bot.bot.close()
        await discord.gone()
        missed = await discord.post(asker, channel, "missed", mention=True)
        async with ListeningBot(discord) as second:
            heard = await discord.post(asker, channel, "heard", mention=True)
            assert (await second.next(hikari.GuildMessageCreateEvent)).message_id == heard.id
            listed = await second.rest.fetch_messages(channel.id).reversed()
            assert [message.id for message in listed] == [missed.id, heard.id]


class TestChanges:
    async def test_an_edit_may_mention_the_bot_for_the_first_time(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        message = await discord.post(asker, channel, "hello")
        await discord.edit(asker, message, f"{discord.bot.mention} hello")
        created = await bot.next(hikari.GuildMessageCreateEvent)
        updated = await bot.next(hikari.GuildMessageUpdateEvent)
        assert created.content is None
        assert updated.message.content == f"{discord.bot.mention} hello"
        assert updated.message.edited_timestamp is not None
        assert updated.message.member

    async def test_a_reply_that_is_edited_still_pings(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        await bot.rest.create_message(channel.id, "How can I help?")
        message = await discord.post(asker, channel, "like this", reply_to=discord.messages(channel)[0])
        await discord.edit(asker, message, "like that")
        assert (await bot.next(hikari.GuildMessageUpdateEvent)).message.content == "like that"

    async def test_a_preview_is_an_update_and_no_edit(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        message = await discord.post(
            discord.user("Diego"), discord.guild_channel(), "https://a.example", mention=True
        )
        await discord.unfurl(message, {"title": "A"})
        updated = (await bot.next(hikari.GuildMessageUpdateEvent)).message
        assert updated.edited_timestamp is None
        assert [embed.title for embed in updated.embeds or ()] == ["A"]

    async def test_a_deletion_names_the_message_and_its_place(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        here = await discord.post(asker, channel, "here")
        private = await discord.post(asker, discord.dm(asker), "in private")
        await discord.delete(asker, here)
        await discord.delete(asker, private)
        event = await bot.next(hikari.GuildMessageDeleteEvent)
        assert (event.message_id, event.channel_id, event.guild_id) == (here.id, channel.id, discord.guild.id)
        assert (await bot.next(hikari.DMMessageDeleteEvent)).message_id == private.id

    async def test_a_moderator_may_delete_what_the_bot_wrote_and_nobody_else_may(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        moderator, channel = discord.user("Mika"), discord.guild_channel()
        await bot.rest.create_message(channel.id, "hello")
        [written] = discord.messages(channel)
        with pytest.raises(AssertionError, match="may not delete"):
            await discord.delete(moderator, written)
        discord.permit(moderator, Permission.MANAGE_MESSAGES, channel)
        await discord.delete(moderator, written)
        assert (await bot.next(hikari.GuildMessageDeleteEvent)).message_id == written.id
        assert discord.messages(channel) == []

    async def test_several_go_in_one_event(self, discord: LoopbackDiscord, bot: ListeningBot) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        posted = [await discord.post(asker, channel, f"{number}") for number in range(3)]
        await discord.delete_in_bulk(discord.owner, *posted[:2])
        event = await bot.next(hikari.GuildBulkMessageDeleteEvent)
        assert set(event.message_ids) == {posted[0].id, posted[1].id}
        assert [shown.id for shown in discord.messages(channel)] == [posted[2].id]


class TestThreads:
    async def test_from_an_older_message_have_its_id_and_are_told_of_in_the_channel(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Aiko", locale="ja"), discord.guild_channel()
        origin = await discord.post(asker, channel, "旅行の話", mention=True)
        await discord.post(asker, channel, "別の話")
        thread = await discord.start_thread(asker, channel, "旅行", from_message=origin)
        event = await bot.next(hikari.GuildThreadCreateEvent)
        assert thread.id == event.thread_id == origin.id
        assert (event.thread.parent_id, event.thread.owner_id) == (channel.id, asker.id)
        updated = (await bot.next(hikari.GuildMessageUpdateEvent)).message
        assert updated.id == origin.id
        assert updated.edited_timestamp is None
        assert updated.flags
        assert updated.flags & hikari.MessageFlag.HAS_THREAD
        posts = [(await bot.next(hikari.GuildMessageCreateEvent)).message for _ in range(4)]
        starter, notice = posts[2:]
        assert (starter.type, starter.channel_id) == (hikari.MessageType.THREAD_STARTER_MESSAGE, thread.id)
        assert starter.referenced_message is not None
        assert starter.referenced_message.id == origin.id
        assert (notice.type, notice.channel_id) == (hikari.MessageType.THREAD_CREATED, channel.id)
        assert notice.message_reference is not None
        assert (notice.message_reference.channel_id, notice.message_reference.id) == (thread.id, None)

    async def test_right_under_their_message_need_no_notice(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        origin = await discord.post(asker, channel, "hello")
        await discord.start_thread(asker, channel, from_message=origin)
        assert [shown.id for shown in discord.messages(channel)] == [origin.id]

    @pytest.mark.parametrize(
        ("parent", "private", "kind"),
        [
            (ChannelKind.GUILD_TEXT, False, hikari.ChannelType.GUILD_PUBLIC_THREAD),
            (ChannelKind.GUILD_TEXT, True, hikari.ChannelType.GUILD_PRIVATE_THREAD),
            (ChannelKind.GUILD_ANNOUNCEMENT, False, hikari.ChannelType.GUILD_NEWS_THREAD),
        ],
    )
    async def test_of_every_kind_can_be_looked_up(
        self,
        discord: LoopbackDiscord,
        bot: ListeningBot,
        parent: ChannelKind,
        private: bool,
        kind: hikari.ChannelType,
    ) -> None:
        channel = discord.guild_channel(kind=parent)
        thread = await discord.start_thread(discord.user("Diego"), channel, "talk", private=private)
        found = await bot.rest.fetch_channel(thread.id)
        assert isinstance(found, hikari.GuildThreadChannel)
        assert (found.type, found.parent_id, found.name) == (kind, channel.id, "talk")
        assert thread.id > channel.id

    async def test_when_deleted_are_gone_with_all_that_stood_there(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        thread = await discord.start_thread(asker, channel)
        await discord.post(asker, thread, "hello")
        await discord.delete_channel(thread)
        event = await bot.next(hikari.GuildThreadDeleteEvent)
        assert (event.thread_id, event.parent_id) == (thread.id, channel.id)
        with pytest.raises(hikari.NotFoundError):
            await bot.rest.fetch_channel(thread.id)
        assert discord.messages(thread) == []

    async def test_go_with_their_channel_without_a_word(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        thread = await discord.start_thread(asker, channel)
        await discord.delete_channel(channel)
        assert (await bot.next(hikari.GuildChannelDeleteEvent)).channel_id == channel.id
        with pytest.raises(AssertionError, match="deleted"):
            await discord.post(asker, thread, "hello")
        later = await discord.start_thread(asker, discord.guild_channel())
        await discord.delete_channel(later)
        assert (await bot.next(hikari.GuildThreadDeleteEvent)).thread_id == later.id
