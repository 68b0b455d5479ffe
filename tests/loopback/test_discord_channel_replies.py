"""How a test sees the bot's answers in channels: what belongs to which question, and what is checked."""

from collections.abc import AsyncIterator

import hikari
import pytest

from tests.loopback.discord import LoopbackDiscord, Message
from tests.loopback.discord.interactions import Callback
from tests.loopback.discord.listening import ListeningBot
from tests.loopback.discord.raw import RawBot


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord() as double:
        yield double


@pytest.fixture
async def bot(discord: LoopbackDiscord) -> AsyncIterator[ListeningBot]:
    async with ListeningBot(discord) as bot:
        yield bot


async def answer(bot: ListeningBot, question: Message, text: str, *buttons: str) -> hikari.Message:
    row = bot.rest.build_message_action_row()
    for label in buttons:
        row.add_interactive_button(hikari.ButtonStyle.PRIMARY, label, label=label)
    rows = [row] if buttons else []
    return await bot.rest.create_message(question.channel.id, text, reply=question.id, components=rows)


class TestChannelReply:
    async def test_is_what_refers_to_the_question_and_its_later_pages(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        first = await discord.post(asker, channel, "one?", mention=True)
        second = await discord.post(asker, channel, "two?", mention=True)
        begun = await answer(bot, first, "one")
        await bot.rest.create_message(channel.id, "one, more")
        await answer(bot, second, "two")
        await bot.rest.create_message(channel.id, "one, at last", reply=begun.id)
        assert (await discord.reply_to(first)).text == "one\none, more\none, at last"
        assert (await discord.reply_to(second)).text == "two"
        assert discord.answer(second) is await discord.reply_to(second)

    async def test_waits_until_the_answer_was_written(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Aiko", locale="ja"), discord.guild_channel()
        question = await discord.post(asker, channel, "元気?", mention=True)
        begun = await answer(bot, question, "考えています…", "止める")
        reply = await discord.reply_to(question)
        assert (reply.is_finished, reply.labels) == (False, ["止める"])
        await bot.rest.edit_message(channel.id, begun.id, "元気です。", components=[])
        await reply.finished(lambda reply: reply.text == "元気です。")
        assert [shown.content for shown in reply.history] == ["考えています…", "元気です。"]

    async def test_says_what_was_seen_when_nothing_comes(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        question = await discord.post(discord.user("Diego"), discord.guild_channel(), "anyone?")
        await discord.quiet()
        assert discord.answer(question).messages == []
        with pytest.raises(AssertionError, match="anyone"):
            await discord.reply_to(question, timeout_s=0.01)

    async def test_in_a_dm_need_not_refer_to_anything(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker = discord.user("Diego")
        dm = discord.dm(asker)
        await bot.rest.create_message(dm.id, "a reminder")
        question = await discord.post(asker, dm, "thanks")
        await bot.rest.create_message(dm.id, "you are welcome")
        assert (await discord.reply_to(question)).text == "you are welcome"

    async def test_has_buttons_that_can_be_clicked(self, discord: LoopbackDiscord, bot: ListeningBot) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        question = await discord.post(asker, channel, "?", mention=True)
        await answer(bot, question, "thinking…", "Stop")
        reply = await discord.reply_to(question)
        clicked = await discord.click(asker, reply.message, "Stop")
        told = clicked.interaction.payload()
        assert told["message"]["id"] == str(reply.message.id)
        assert told["message"]["referenced_message"]["id"] == str(question.id)
        async with RawBot(discord) as raw:
            await raw.answer(clicked, Callback.UPDATE, {"content": "stopped", "components": []})
        await reply.finished()
        assert reply.text == clicked.text == "stopped"

    async def test_leaves_answers_to_interactions_alone(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        question = await discord.post(asker, channel, "?", mention=True)
        await answer(bot, question, "done", "Again")
        reply = await discord.reply_to(question)
        clicked = await discord.click(asker, reply.message, "Again")
        async with RawBot(discord) as raw:
            await raw.answer(clicked, Callback.MESSAGE, {"content": "not you"})
            await raw.follow_up(clicked, {"content": "really"})
        assert reply.text == "done"
        assert clicked.text == "not you\nreally"

    async def test_pings_nobody_unless_told_to_neither_when_edited(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        question = await discord.post(asker, channel, "?", mention=True)
        begun = await answer(bot, question, f"{asker.mention} @everyone")
        await bot.rest.edit_message(channel.id, begun.id, f"{asker.mention} again")
        assert discord.pings == []
        await bot.rest.edit_message(channel.id, begun.id, "really", mentions_reply=True)
        assert [(set(ping.whom.user_ids), ping.edited) for ping in discord.pings] == [({asker.id}, True)]

    async def test_with_a_nonce_is_posted_once_though_the_answer_was_lost(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        question = await discord.post(asker, channel, "?", mention=True)
        discord.fail_next("POST /channels/{channel}/messages", 502, take_effect=True)
        sent = await bot.rest.create_message(channel.id, "one", reply=question.id, nonce=str(question.id))
        reply = await discord.reply_to(question)
        assert [message.id for message in reply.messages] == [sent.id]
        assert len(discord.calls("POST /channels/{channel}/messages")) == 2

    async def test_is_checked_for_its_language(self, discord: LoopbackDiscord, bot: ListeningBot) -> None:
        asker, channel = discord.user("Aiko", locale="ja"), discord.guild_channel()
        question = await discord.post(asker, channel, "元気?", mention=True)
        await answer(bot, question, "thinking…")
        assert discord.wrong_language == [("ja", "thinking…")]
        discord.answer(question).locale = "en-US"
        assert discord.wrong_language == []


class TestInteractionMessages:
    async def test_come_as_events_that_name_the_interaction_and_private_ones_do_not(
        self, discord: LoopbackDiscord, bot: ListeningBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        async with RawBot(discord) as raw:
            await raw.register({"name": "ask", "description": "asks"})
            private = await discord.slash(asker, channel, "ask")
            await raw.answer(private, Callback.MESSAGE, {"content": "private", "flags": 64})
            await raw.edit(private, {"content": "still private"})
            reply = await discord.slash(asker, channel, "ask")
            await raw.answer(reply, Callback.DEFERRED_MESSAGE)
            await raw.edit(reply, {"content": "public"})
            await raw.follow_up(reply, {"content": "more"})
        loading = (await bot.next(hikari.GuildMessageCreateEvent)).message
        public = (await bot.next(hikari.GuildMessageUpdateEvent)).message
        more = (await bot.next(hikari.GuildMessageCreateEvent)).message
        assert (loading.content, loading.flags) == (None, hikari.MessageFlag.LOADING)
        assert (public.content, public.flags) == ("public", hikari.MessageFlag.NONE)
        assert (more.content, more.type) == ("more", hikari.MessageType.REPLY)
        for message in (loading, more):
            assert message.interaction_metadata is not None
            assert message.interaction_metadata.interaction_id == reply.interaction.id
            assert message.interaction_metadata.user.id == asker.id
            assert message.webhook_id == discord.application_id
