"""What questions are about: whose words they point at, what was forwarded, and what a menu handed over."""

from dataclasses import dataclass
from datetime import timedelta
from zoneinfo import ZoneInfo

import hikari
import pytest

from cc_bot.discord.delivery.outlets import MessageReplies
from cc_bot.discord.delivery.reply import TakenDown
from cc_bot.discord.messages.forwards import Forwards
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


async def test_a_forward_of_longer_than_ten_minutes_ago_is_not_what_a_question_is_about(scene: Scene) -> None:
    dm, rest = scene.discord.dm(scene.aiko), scene.references.rest
    forward = await scene.discord.forward(scene.aiko, dm, await scene.posts(scene.ben, "at ten"))
    message = await rest.fetch_message(dm.id, forward.id)
    recipients = Recipients(scene.stores.settings, Locale.JA, ZoneInfo("Asia/Tokyo"))
    replies = MessageReplies(rest, TakenDown(), scene.stores.channels)
    forwards = Forwards(rest, scene.stores.channels, scene.references, replies, recipients)
    for minutes, about in ((9, (forward.id,)), (11, ())):
        later = hikari.Snowflake.from_datetime(message.created_at + timedelta(minutes=minutes))
        forwards.wait(message)
        assert await forwards.take(dm.id, scene.aiko.id, int(later)) == about
    await forwards.close()


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
