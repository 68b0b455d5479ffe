"""The life of an interaction, answered by hand: what it tells, and each way of answering it wrongly."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.loopback.discord import Allowance, File, LoopbackDiscord, Reply
from tests.loopback.discord.interactions import Callback
from tests.loopback.discord.raw import RawBot

Body = dict[str, Any]
EPHEMERAL = 64
ASK: Body = {
    "name": "ask",
    "description": "Asks",
    "integration_types": [0, 1],
    "options": [
        {"type": 3, "name": "question", "description": "What", "required": True, "max_length": 10},
        {"type": 11, "name": "attachment", "description": "A file"},
        {"type": 4, "name": "id", "description": "Which", "autocomplete": True},
    ],
}
ADD: Body = {"type": 1, "name": "add", "description": "Adds", "options": [ASK["options"][0]]}
MEMORY: Body = {"name": "memory", "description": "Memories", "contexts": [0], "options": [ADD]}
KEEP: Body = {"type": 3, "name": "Keep"}


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord(webhook_rate=Allowance(100, 2.0)) as double:
        yield double


@pytest.fixture
async def bot(discord: LoopbackDiscord) -> AsyncIterator[RawBot]:
    async with RawBot(discord) as bot:
        status, _ = await bot.register(ASK, MEMORY, KEEP)
        assert status == 200
        yield bot


@pytest.fixture
async def reply(discord: LoopbackDiscord, bot: RawBot) -> Reply:
    return await discord.slash(
        discord.user("Aiko", locale="ja"), discord.guild_channel(), "ask", question="何？"
    )


class TestWhatItTells:
    async def test_in_a_guild_there_is_a_member_and_both_locales(
        self, discord: LoopbackDiscord, reply: Reply
    ) -> None:
        told = reply.interaction.payload()
        assert (told["type"], told["locale"], told["guild_locale"], told["context"]) == (2, "ja", "ja", 0)
        assert told["authorizing_integration_owners"] == {"0": str(discord.guild.id)}
        assert told["member"]["user"]["username"] == "aiko"
        assert "user" not in told
        assert told["data"]["options"] == [{"name": "question", "type": 3, "value": "何？"}]
        assert told["data"]["id"] == str(discord.commands[0].id)
        assert (told["entitlements"], told["attachment_size_limit"]) == ([], 10 * 1024 * 1024)

    async def test_in_a_dm_with_the_bot_there_is_a_user(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        asker = discord.user("Diego")
        told = (await discord.slash(asker, discord.dm(asker), "ask", question="?")).interaction.payload()
        assert (told["context"], told["authorizing_integration_owners"]) == (1, {"0": "0"})
        assert told["user"]["id"] == str(asker.id)
        assert not {"member", "guild_id", "guild_locale"} & told.keys()

    async def test_from_a_user_installed_app_the_user_is_the_owner(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        asker = discord.user("Diego")
        for place, context in ((discord.user_installed_channel(asker), 0), (discord.group_dm(asker), 2)):
            told = (await discord.slash(asker, place, "ask", question="?")).interaction.payload()
            assert (told["context"], told["authorizing_integration_owners"]) == (
                context,
                {"1": str(asker.id)},
            )

    async def test_in_a_thread_the_channel_names_its_parent(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        parent = discord.guild_channel()
        told = (
            await discord.slash(discord.owner, discord.thread(parent), "ask", question="?")
        ).interaction.payload()
        assert (told["channel"]["type"], told["channel"]["parent_id"]) == (11, str(parent.id))

    async def test_subcommands_nest_their_options(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        reply = await discord.slash(discord.owner, discord.guild_channel(), "memory add", question="x")
        options = [{"name": "question", "type": 3, "value": "x"}]
        assert reply.interaction.data["options"] == [{"name": "add", "type": 1, "options": options}]

    async def test_files_and_messages_are_resolved(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        channel = discord.guild_channel()
        file = File("図.png", b"png", "image/png")
        data = (
            await discord.slash(discord.owner, channel, "ask", question="?", attachment=file)
        ).interaction.data
        resolved = data["resolved"]["attachments"][data["options"][1]["value"]]
        assert (resolved["filename"], resolved["size"], resolved["content_type"]) == (
            "図.png",
            3,
            "image/png",
        )
        target = await discord.post(discord.user("Diego"), channel, "secret")
        data = (await discord.message_command(discord.owner, channel, "Keep", target)).interaction.data
        assert data["resolved"]["messages"][data["target_id"]]["content"] == "secret"

    async def test_a_menu_is_opened_on_what_its_user_sees_there(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        channel, elsewhere = discord.guild_channel(), discord.guild_channel("elsewhere")
        gone, other = await discord.post(discord.owner, channel, "gone"), discord.user("Other")
        await discord.delete(discord.owner, gone)
        reply = await discord.slash(other, channel, "ask", question="?")
        await bot.answer(reply, Callback.MESSAGE, {"content": "between us", "flags": 64})
        for target in (gone, await discord.post(discord.owner, elsewhere, "far"), reply.message):
            with pytest.raises(AssertionError):
                await discord.message_command(discord.owner, channel, "Keep", target)

    @pytest.mark.parametrize(
        ("name", "options"),
        [
            ("ask", {}),
            ("ask", {"question": "01234567890"}),
            ("ask", {"question": 1}),
            ("ask", {"question": "x", "other": "x"}),
            ("memory", {"question": "x"}),
            ("memory remove", {"question": "x"}),
            ("forget", {}),
        ],
    )
    async def test_what_no_client_would_send_is_the_tests_mistake(
        self, discord: LoopbackDiscord, bot: RawBot, name: str, options: dict[str, Any]
    ) -> None:
        with pytest.raises(AssertionError):
            await discord.slash(discord.owner, discord.guild_channel(), name, **options)

    async def test_a_command_is_offered_in_its_contexts_only(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        with pytest.raises(AssertionError, match="BOT_DM"):
            await discord.slash(discord.owner, discord.dm(discord.owner), "memory add", question="x")


class TestAcknowledgement:
    async def test_has_as_much_longer_as_the_double_itself_stood_still(
        self, bot: RawBot, reply: Reply
    ) -> None:
        await asyncio.sleep(0)  # so that it ticks
        time.sleep(3.5)  # noqa: ASYNC251 - as a busy machine does, now and then
        await asyncio.sleep(0.01)
        await bot.answer(reply, Callback.DEFERRED_MESSAGE)
        assert reply.is_acknowledged

    async def test_of_what_came_after_it_stood_still_has_no_longer(
        self, bot: RawBot, discord: LoopbackDiscord
    ) -> None:
        await asyncio.sleep(0)
        time.sleep(2)  # noqa: ASYNC251
        reply = await discord.slash(discord.owner, discord.guild_channel(), "ask", question="?")
        await asyncio.sleep(0.01)
        await bot.answer(reply, Callback.MESSAGE, {"content": "x"})
        assert [shown.content for shown in reply.history] == ["x"]

    async def test_after_three_seconds_the_interaction_is_unknown(self, bot: RawBot, reply: Reply) -> None:
        reply.age(3.0)
        status, answer = await bot.answer(reply, Callback.DEFERRED_MESSAGE)
        assert (status, answer["code"]) == (404, 10062)
        assert not reply.is_acknowledged

    async def test_a_second_one_is_refused(self, bot: RawBot, reply: Reply) -> None:
        assert (await bot.answer(reply, Callback.DEFERRED_MESSAGE))[0] == 200
        status, answer = await bot.answer(reply, Callback.MESSAGE, {"content": "x"})
        assert (status, answer["code"]) == (400, 40060)

    async def test_too_much_content_leaves_the_interaction_open(self, bot: RawBot, reply: Reply) -> None:
        status, answer = await bot.answer(reply, Callback.MESSAGE, {"content": "x" * 2001})
        assert (status, answer["code"]) == (400, 50035)
        assert (await bot.answer(reply, Callback.MESSAGE, {"content": "x"}))[0] == 200

    @pytest.mark.parametrize("callback", [Callback.UPDATE, Callback.DEFERRED_UPDATE, Callback.CHOICES])
    async def test_of_a_command_cannot_update_or_choose(
        self, bot: RawBot, reply: Reply, callback: Callback
    ) -> None:
        assert (await bot.answer(reply, callback))[0] == 400

    async def test_that_never_comes_fails_the_wait(self, reply: Reply) -> None:
        with pytest.raises(AssertionError, match="acknowledgement"):
            await reply.until(lambda reply: reply.is_acknowledged, "an acknowledgement", timeout_s=0.01)

    async def test_tells_of_the_response_message(self, bot: RawBot, reply: Reply) -> None:
        _, answer = await bot.answer(reply, Callback.DEFERRED_MESSAGE, {"flags": EPHEMERAL})
        told = answer["interaction"]
        assert (told["response_message_loading"], told["response_message_ephemeral"]) == (True, True)
        assert told["response_message_id"] == answer["resource"]["message"]["id"]


class TestDeferredResponse:
    async def test_is_private_or_public_from_the_defer_on(
        self, bot: RawBot, discord: LoopbackDiscord
    ) -> None:
        seen: list[bool] = []
        for defer, edit in ((0, EPHEMERAL), (EPHEMERAL, 0)):
            reply = await discord.slash(discord.owner, discord.guild_channel(), "ask", question="?")
            await bot.answer(reply, Callback.DEFERRED_MESSAGE, {"flags": defer})
            assert reply.loading
            await bot.edit(reply, {"content": "x", "flags": edit})
            assert not reply.loading
            seen.append(reply.message.ephemeral)
        assert seen == [False, True]

    async def test_is_filled_by_the_first_follow_up(self, bot: RawBot, reply: Reply) -> None:
        await bot.answer(reply, Callback.DEFERRED_MESSAGE, {"flags": EPHEMERAL})
        _, first = await bot.follow_up(reply, {"content": "one", "flags": 0})
        _, second = await bot.follow_up(reply, {"content": "two", "flags": 0})
        assert [int(first["id"]), int(second["id"])] == [shown.id for shown in reply.messages]
        assert [shown.ephemeral for shown in reply.messages] == [True, False]

    async def test_that_is_ephemeral_is_out_of_reach_of_channel_routes(
        self, bot: RawBot, discord: LoopbackDiscord
    ) -> None:
        reply = await discord.slash(discord.owner, discord.guild_channel(), "ask", question="?")
        await bot.answer(reply, Callback.MESSAGE, {"content": "x", "flags": EPHEMERAL})
        path = f"/channels/{reply.interaction.channel.id}/messages/{reply.message.id}"
        status, answer = await bot.call("PATCH", path, {"content": "y"})
        assert (status, answer["code"]) == (404, 10008)

    async def test_keeps_every_state_it_was_seen_in(self, bot: RawBot, reply: Reply) -> None:
        await bot.answer(reply, Callback.DEFERRED_MESSAGE)
        for content in ("a", "ab", "abc"):
            await bot.edit(reply, {"content": content})
        await bot.delete(reply)
        assert [shown.content for shown in reply.history] == ["", "a", "ab", "abc", "abc"]
        assert reply.history[-1].deleted
        assert reply.messages == []

    async def test_cannot_be_emptied(self, bot: RawBot, reply: Reply) -> None:
        await bot.answer(reply, Callback.MESSAGE, {"content": "x"})
        status, answer = await bot.edit(reply, {"content": ""})
        assert (status, answer["code"]) == (400, 50006)


class TestToken:
    async def test_is_unknown_before_the_acknowledgement(self, bot: RawBot, reply: Reply) -> None:
        status, answer = await bot.follow_up(reply, {"content": "x"})
        assert (status, answer["code"]) == (404, 10015)

    async def test_is_dead_after_fifteen_minutes(self, bot: RawBot, reply: Reply) -> None:
        await bot.answer(reply, Callback.DEFERRED_MESSAGE)
        reply.age(15 * 60)
        for status, answer in (
            await bot.edit(reply, {"content": "x"}),
            await bot.follow_up(reply, {"content": "x"}),
        ):
            assert (status, answer["code"]) == (401, 50027)

    async def test_leaves_the_public_message_to_the_bots_own_token(self, bot: RawBot, reply: Reply) -> None:
        await bot.answer(reply, Callback.MESSAGE, {"content": "x"})
        reply.age(15 * 60)
        path = f"/channels/{reply.interaction.channel.id}/messages/{reply.message.id}"
        assert (await bot.call("PATCH", path, {"content": "y"}))[0] == 200
        assert reply.message.content == "y"

    async def test_reaches_its_own_messages_only(
        self, bot: RawBot, reply: Reply, discord: LoopbackDiscord
    ) -> None:
        await bot.answer(reply, Callback.MESSAGE, {"content": "x"})
        _, other = await bot.call(
            "POST", f"/channels/{reply.interaction.channel.id}/messages", {"content": "x"}
        )
        status, answer = await bot.edit(reply, {"content": "y"}, other["id"])
        assert (status, answer["code"]) == (404, 10008)

    async def test_of_a_user_installed_app_gives_five_follow_ups(
        self, bot: RawBot, discord: LoopbackDiscord
    ) -> None:
        asker = discord.user("Diego")
        reply = await discord.slash(asker, discord.user_installed_channel(asker), "ask", question="?")
        await bot.answer(reply, Callback.MESSAGE, {"content": "0"})
        answers = [await bot.follow_up(reply, {"content": str(number)}) for number in range(1, 7)]
        assert [status for status, _ in answers] == [200] * 5 + [400]
        assert answers[5][1]["code"] == 40094

    async def test_of_an_app_in_the_guild_gives_more(
        self, bot: RawBot, reply: Reply, discord: LoopbackDiscord
    ) -> None:
        discord.install(reply.interaction.user)
        await bot.answer(reply, Callback.MESSAGE, {"content": "0"})
        answers = [await bot.follow_up(reply, {"content": str(number)}) for number in range(1, 9)]
        assert {status for status, _ in answers} == {200}
