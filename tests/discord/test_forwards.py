"""Forwards that nobody asks about: their user is asked what to do with them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import hikari
import pytest

from cc_bot.discord.delivery.outlets import MessageReplies
from cc_bot.discord.delivery.reply import TakenDown
from cc_bot.discord.messages.forwards import ASKED_AFTER, Forwards
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.locale import Locale
from cc_bot.stores import open_stores
from tests.databases import laid_out
from tests.discord.choosing import references_over
from tests.loopback.discord import LoopbackDiscord, Message, User

ASKS = {
    Locale.JA: "転送、受け取りました。どうしましょうか？",
    Locale.EN: "I got what you forwarded. What shall I do with it?",
}


@pytest.fixture
def aiko(discord: LoopbackDiscord) -> User:
    return discord.user("Aiko", locale="ja")


@asynccontextmanager
async def waiting(
    discord: LoopbackDiscord, rest: hikari.api.RESTClient, folder: Path, late: timedelta
) -> AsyncIterator[Forwards]:
    """Where it is so much later than when things come."""
    async with open_stores(laid_out(folder / "sessions.db")) as stores:
        recipients = Recipients(
            stores.settings, Locale.JA, ZoneInfo("Asia/Tokyo"), lambda: datetime.now(UTC) + late
        )
        replies = MessageReplies(rest, TakenDown(), stores.channels)
        references = references_over(stores, rest, await rest.fetch_my_user())
        forwards = Forwards(rest, stores.channels, references, replies, recipients)
        yield forwards
        await forwards.close()


async def forwarded(discord: LoopbackDiscord, user: User) -> Message:
    source = await discord.post(discord.user("Ben"), discord.guild_channel(), "at ten")
    return await discord.forward(user, discord.dm(user), source)


class TestAForward:
    @pytest.mark.parametrize("locale", Locale)
    async def test_is_asked_about_after_a_minute(
        self,
        discord: LoopbackDiscord,
        rest: hikari.api.RESTClient,
        tmp_path: Path,
        aiko: User,
        locale: Locale,
    ) -> None:
        forward = await forwarded(discord, aiko)
        message = await rest.fetch_message(forward.channel.id, forward.id)
        async with waiting(discord, rest, tmp_path, ASKED_AFTER) as forwards:
            await forwards.recipients.settings.set(aiko.id, locale=locale)
            forwards.wait(message)
            reply = await discord.reply_to(forward)
            assert reply.text.startswith(ASKS[locale])
            question = await discord.post(aiko, discord.dm(aiko), "何時？")
            assert await forwards.take(forward.channel.id, aiko.id, question.id) == (forward.id,)

    async def test_is_not_when_the_question_has_come(
        self, discord: LoopbackDiscord, rest: hikari.api.RESTClient, tmp_path: Path, aiko: User
    ) -> None:
        forward = await forwarded(discord, aiko)
        message = await rest.fetch_message(forward.channel.id, forward.id)
        async with waiting(discord, rest, tmp_path, ASKED_AFTER - timedelta(seconds=0.3)) as forwards:
            forwards.wait(message)
            question = await discord.post(aiko, discord.dm(aiko), "何時？")
            assert await forwards.take(forward.channel.id, aiko.id, question.id) == (forward.id,)
            await asyncio.sleep(0.6)
            assert await forwards.take(forward.channel.id, aiko.id, question.id) == ()
        assert [shown for shown in discord.messages(forward.channel) if shown.author.is_bot] == []

    async def test_of_longer_than_ten_minutes_ago_is_not_what_a_question_is_about(
        self, discord: LoopbackDiscord, rest: hikari.api.RESTClient, tmp_path: Path, aiko: User
    ) -> None:
        forward = await forwarded(discord, aiko)
        message = await rest.fetch_message(forward.channel.id, forward.id)
        later = [
            int(hikari.Snowflake.from_datetime(message.created_at + timedelta(minutes=after)))
            for after in (9, 11)
        ]
        async with waiting(discord, rest, tmp_path, timedelta(0)) as forwards:
            for question_id, about in zip(later, [(forward.id,), ()], strict=True):
                forwards.wait(message)
                assert await forwards.take(forward.channel.id, aiko.id, question_id) == about
