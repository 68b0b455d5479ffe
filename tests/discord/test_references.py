"""What questions are about: whose words they point at, what was forwarded, and what a menu handed over."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import hikari
import pytest

from cc_bot.discord.delivery.outlets import MessageReplies
from cc_bot.discord.delivery.reply import TakenDown
from cc_bot.discord.messages.forwards import ASKED_AFTER, Forwards
from cc_bot.discord.recipients import Recipients
from cc_bot.discord.references import References, Standing
from cc_bot.discord.targets import KEPT_S, Target, Targets, is_same
from cc_bot.domain import Message
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import ChannelKey, Reference
from cc_bot.domain.session import SessionKey
from cc_bot.stores import Stores
from tests.discord.choosing import references_over
from tests.discord.hikari_messages import AIKO, BEN, message
from tests.loopback.discord import Channel, File, LoopbackDiscord, User
from tests.loopback.discord import Message as Posted

ASKS = {
    Locale.JA: "転送、受け取りました。どうしましょうか？",
    Locale.EN: "I got what you forwarded. What shall I do with it?",
}


@dataclass
class Scene:
    discord: LoopbackDiscord
    stores: Stores
    references: References
    channel: Channel
    aiko: User
    ben: User

    async def posts(self, user: User, text: str, *files: File, reply_to: Posted | None = None) -> Posted:
        return await self.discord.post(user, self.channel, text, attachments=files, reply_to=reply_to)

    async def reply(self, target: Posted | int, text: str = "？") -> tuple[Reference, ...]:
        """What Aiko's reply to a message points at."""
        id_ = target if isinstance(target, int) else target.id
        question = Message("user", text, author_id=self.aiko.id, reply_to=id_)
        at = Standing(self.channel.id, self.discord.guild.id, self.discord.world.ids.next())
        return (await self.references.resolve(question, at)).question.references

    async def forwarded(self) -> hikari.Message:
        """What Ben wrote, in Aiko's DM."""
        source = await self.discord.post(self.ben, self.channel, "at ten")
        dm = self.discord.dm(self.aiko)
        self.forward = await self.discord.forward(self.aiko, dm, source)
        return await self.references.rest.fetch_message(dm.id, self.forward.id)

    @asynccontextmanager
    async def waiting(self, late: timedelta) -> AsyncIterator[Forwards]:
        """Where it is so much later than when things come."""
        zone, rest = ZoneInfo("Asia/Tokyo"), self.references.rest
        recipients = Recipients(self.stores.settings, Locale.JA, zone, lambda: datetime.now(UTC) + late)
        replies = MessageReplies(rest, TakenDown(), self.stores.channels)
        forwards = Forwards(rest, self.stores.channels, self.references, replies, recipients)
        yield forwards
        await forwards.close()

    async def take(self, forwards: Forwards, question_id: int | None = None) -> tuple[int, ...]:
        """The forwards that a question in the DM is about."""
        dm = self.discord.dm(self.aiko)
        if question_id is None:
            question_id = (await self.discord.post(self.aiko, dm, "何時？")).id
        return await forwards.take(dm.id, self.aiko.id, question_id)


@pytest.fixture
async def scene(
    discord: LoopbackDiscord, rest: hikari.api.RESTClient, stores: Stores, channel: Channel, aiko: User
) -> Scene:
    references = references_over(stores, rest, await rest.fetch_my_user())
    return Scene(discord, stores, references, channel, aiko, discord.user("Ben"))


class TestTaint:
    async def test_comes_of_others_words_and_files_and_not_of_ones_own_words(self, scene: Scene) -> None:
        own = await scene.posts(scene.aiko, "明日は十時")
        theirs = await scene.posts(scene.ben, "at ten", reply_to=own)
        file = await scene.posts(scene.aiko, "見て", File("a.txt", b"abc"))
        assert [each.tainted for each in await scene.reply(own)] == [False]
        assert [each.tainted for each in await scene.reply(theirs)] == [True, False]
        assert [each.tainted for each in await scene.reply(file)] == [True]

    @pytest.mark.parametrize("tainted", [True, False])
    async def test_of_an_answer_of_ones_session_is_that_of_its_turn(
        self, scene: Scene, *, tainted: bool
    ) -> None:
        session = await scene.stores.sessions.open(SessionKey(scene.aiko.id, scene.channel.id))
        answer = Message("assistant", "はい", discord_id=5, tainted=tainted)
        await scene.stores.sessions.commit_turn(session, (Message("user", "？"), answer))
        [reference] = await scene.reply(5)
        assert (reference.author_name, reference.content, reference.tainted) == ("", "はい", tainted)

    async def test_comes_of_what_the_channel_was_answered(self, scene: Scene) -> None:
        key = ChannelKey(scene.channel.id)
        asked = Message("user", "which?", author_id=scene.ben.id, author_name="Ben", discord_id=4)
        await scene.stores.channels.add(key, asked, waiting=True)
        answer = Message("assistant", "はい", discord_id=5, reply_to=4)
        await scene.stores.channels.commit_answer(key, answer, [asked])
        told, question = await scene.reply(5)
        assert (told.tainted, question.tainted) == (True, True)
        assert (question.content, question.author_name) == ("which?", "Ben")


class TestWhatIsPointedAt:
    async def test_is_left_out_where_discord_fails_and_a_file_where_it_cannot_be_read(
        self, scene: Scene
    ) -> None:
        target = await scene.posts(scene.ben, "見て", File("a.bin", b"\0\1\2"))
        for status in (403, 404, 500):
            times = 2 if status == 500 else 1  # it may be out of order for a moment
            scene.discord.fail_next("GET /channels/{channel}/messages/{message}", status, times=times)
            assert await scene.reply(target) == (Reference("reply", shown=False),)
        [reference] = await scene.reply(target)
        told = "見て\n[file: a.bin]\n[not shown, it could not be read: a.bin]"
        assert (reference.content, reference.attachments) == (told, ())

    async def test_is_asked_for_once_more_after_a_change(self, scene: Scene) -> None:
        target = await scene.posts(scene.ben, "at ten")
        reply = await scene.posts(scene.aiko, "？", reply_to=target)
        scene.references.note(await scene.references.rest.fetch_message(scene.channel.id, reply.id))
        await scene.discord.edit(scene.ben, target, "at nine")
        assert [each.content for each in await scene.reply(target)] == ["at ten"]
        scene.references.forget(target.id)
        assert [each.content for each in await scene.reply(target)] == ["at nine"]


class TestAForward:
    @pytest.mark.parametrize("locale", Locale)
    async def test_is_asked_about_after_a_minute(self, scene: Scene, locale: Locale) -> None:
        message = await scene.forwarded()
        async with scene.waiting(ASKED_AFTER) as forwards:
            await forwards.recipients.settings.set(scene.aiko.id, locale=locale)
            forwards.wait(message)
            reply = await scene.discord.reply_to(scene.forward)
            assert reply.text.startswith(ASKS[locale])
            assert await scene.take(forwards) == (scene.forward.id,)

    async def test_is_not_when_the_question_has_come(self, scene: Scene) -> None:
        message = await scene.forwarded()
        async with scene.waiting(ASKED_AFTER - timedelta(seconds=0.3)) as forwards:
            forwards.wait(message)
            assert await scene.take(forwards) == (scene.forward.id,)
            await asyncio.sleep(0.6)
            assert await scene.take(forwards) == ()
        shown = scene.discord.messages(scene.forward.channel)
        assert [each for each in shown if each.author.is_bot] == []

    async def test_of_longer_than_ten_minutes_ago_is_not_what_a_question_is_about(self, scene: Scene) -> None:
        message = await scene.forwarded()
        async with scene.waiting(timedelta(0)) as forwards:
            for minutes, about in ((9, (scene.forward.id,)), (11, ())):
                later = hikari.Snowflake.from_datetime(message.created_at + timedelta(minutes=minutes))
                forwards.wait(message)
                assert await scene.take(forwards, int(later)) == about


def target(message_id: int = 400) -> Target:
    return Target(message("十時です", id=str(message_id)), 1, may_be_fetched=True)


class TestATarget:
    def test_is_whoevers_menu_handed_it_over_for_an_hour(self) -> None:
        now = [0.0]
        targets, kept = Targets(lambda: now[0]), target()
        targets.keep(AIKO, kept)
        assert targets.get(BEN, 400) is None
        assert targets.get(AIKO, 401) is None
        for now[0], expected in ((KEPT_S - 1, kept), (KEPT_S, None), (KEPT_S - 1, None)):
            assert targets.get(AIKO, 400) is expected

    def test_is_the_same_until_its_author_changes_it(self) -> None:
        edited = message("十一時です", edited_timestamp="2026-11-22T05:01:00+00:00")
        assert is_same(message(""), target())
        assert not is_same(edited, target())
