"""The end of the program: nothing that began with a message uses the database afterwards."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from zoneinfo import ZoneInfo

from hikari.impl import RESTClientImpl

from cc_bot.assistant import Assistant
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.delivery.live import RunningTurns
from cc_bot.discord.delivery.outlets import MessageReplies
from cc_bot.discord.delivery.reply import TakenDown
from cc_bot.discord.gateway import GrantedReading, Shards, gateway_bot
from cc_bot.discord.messages.listening import Messages
from cc_bot.discord.places import Places
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.stores import Stores, open_stores
from cc_bot.tools.registry import ToolRegistry
from tests.databases import laid_out
from tests.discord.boards import boards_over
from tests.discord.choosing import chooser_over, deliveries_over, gate_over, references_over
from tests.loopback.discord import LoopbackDiscord
from tests.scripted_model import ScriptedModel, only

POST = "POST /channels/{channel}/messages"


@asynccontextmanager
async def waiting_messages(stores: Stores, discord: LoopbackDiscord) -> AsyncIterator[Messages]:
    """What serves messages, with REST alone."""
    bot = gateway_bot(discord.token, discord.api_url, "mentions")
    assert isinstance(bot.rest, RESTClientImpl)
    bot.rest.start()
    try:
        running, taken_down, places = RunningTurns(), TakenDown(), Places(bot.rest, stores.channels)
        assistant = Assistant(stores, only(ScriptedModel()), ToolRegistry(()))
        recipients = Recipients(stores.settings, Locale.JA, ZoneInfo("Asia/Tokyo"))
        chooser = chooser_over(stores, bot.rest)
        answers = Answers(
            assistant,
            running,
            deliveries_over(stores, running),
            boards_over(stores, bot.rest),
            chooser,
            recipients,
            taken_down,
            references_over(stores, bot.rest),
        )
        yield Messages(
            bot,
            stores,
            answers,
            gate_over(stores, bot.rest),
            places=places,
            replies=MessageReplies(bot.rest, taken_down, stores.channels),
            shards=Shards(places, recipients.guilds),
            granted=GrantedReading("mentions", since=0),
        )
    finally:
        await bot.rest.close()


class TestAnAnswer:
    async def test_that_takes_too_long_at_the_end_waits_for_the_next_start(
        self, discord: LoopbackDiscord, tmp_path: Path
    ) -> None:
        channel, aiko = discord.guild_channel(), discord.user("Aiko", locale="ja")
        posted = await discord.post(aiko, channel, "元気？", mention=True)
        question = Message("user", "元気？", author_id=aiko.id, discord_id=posted.id)
        key, loop = ChannelKey(channel.id), asyncio.get_running_loop()
        discord.fail_next(POST, 200, delay_s=60.0)
        async with (
            open_stores(laid_out(tmp_path / "sessions.db")) as stores,
            waiting_messages(stores, discord) as messages,
        ):
            await stores.channels.add(key, question, waiting=True)
            messages.resume()
            await discord.wait(lambda: discord.faults.outstanding == 0, "the answer's first message")
            messages.close()
            async with asyncio.timeout(discord.patience_s):
                await messages.finish(loop.time())
            assert serving() == []
            assert [message.content for message in await stores.mentions.list_waiting(key)] == ["元気？"]


def serving() -> list[str]:
    """The tasks of the program that still run."""
    names = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
    return [name for name in names if name.startswith(("Mentions.", "_Run.", "Messages."))]
