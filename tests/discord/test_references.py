from dataclasses import dataclass
from datetime import timedelta

import hikari
import pytest

from cc_bot.discord.delivery.outlets import MessageReplies
from cc_bot.discord.delivery.reply import ExpectedDeletions
from cc_bot.discord.messages.routing import Forwards
from cc_bot.discord.references import TARGET_TTL_S, MenuTarget, MessageCache, QuestionLocation, References
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import Message, Reference
from cc_bot.domain.session import SessionKey
from cc_bot.features.reminders.delivery import TARGETS
from cc_bot.features.reminders.store import ScheduleStore
from tests.discord.hikari_messages import AIKO, BEN, message
from tests.discord.parts import BotChannel, recipients_over, references_over
from tests.loopback.discord import File, User
from tests.loopback.discord import Message as Posted


@dataclass
class Scene(BotChannel):
    references: References
    ben: User

    async def posts(self, user: User, text: str, *files: File, reply_to: Posted | None = None) -> Posted:
        return await self.discord.post(user, self.channel, text, attachments=files, reply_to=reply_to)

    async def reply(self, target: int) -> tuple[Reference, ...]:
        question = Message("user", "？", author_id=self.aiko.id, reply_to=target)
        at = QuestionLocation(self.channel.id, self.discord.guild.id, self.discord.world.ids.next())
        return (await self.references.resolve(question, at, lambda _: None)).references


@pytest.fixture
async def scene(location: BotChannel) -> Scene:
    references = references_over(location.stores, location.rest, await location.rest.fetch_my_user())
    return Scene(**vars(location), references=references, ben=location.discord.user("Ben"))


class TestTaint:
    async def test_comes_of_others_words_and_files_and_not_of_ones_own_words(self, scene: Scene) -> None:
        own = await scene.posts(scene.aiko, "明日は十時")
        theirs = await scene.posts(scene.ben, "at ten", reply_to=own)
        file = await scene.posts(scene.aiko, "見て", File("a.txt", b"abc"))
        found = [[each.tainted for each in await scene.reply(said.id)] for said in (own, theirs, file)]
        assert found == [[False], [True, False], [True]]

    async def test_of_an_answer_is_that_of_its_turn_in_ones_session_and_else_others(
        self, scene: Scene
    ) -> None:
        session = await scene.stores.sessions.open(SessionKey(scene.aiko.id, scene.channel.id))
        for id_, tainted in ((5, True), (6, False)):
            answer = Message("assistant", "はい", discord_id=id_, tainted=tainted)
            await scene.stores.sessions.commit_turn(session, (Message("user", "？"), answer))
            [reference] = await scene.reply(id_)
            assert (reference.author_name, reference.content, reference.tainted) == ("", "はい", tainted)
        asked = Message("user", "which?", author_id=scene.ben.id, author_name="Ben", discord_id=7)
        await scene.stores.channels.add(scene.key, asked, is_question=True)
        answer = Message("assistant", "はい", discord_id=8, reply_to=7)
        await scene.stores.channels.archive_answer(scene.key, answer, [asked])
        told, question = await scene.reply(8)
        assert (told.tainted, question.tainted) == (True, True)
        assert (question.content, question.author_name) == ("which?", "Ben")

    async def test_of_a_reminder_is_none_for_its_owner(self, scene: Scene) -> None:
        schedules, now = scene.stores[ScheduleStore], utc_now()
        for owner, tainted in ((scene.aiko, False), (scene.ben, True)):
            await schedules.add(SessionKey(owner.id, scene.channel.id), "薬", now)
            [firing] = await schedules.claim_due(now, TARGETS)
            content = f"<@{owner.id}> 薬"
            posted = await scene.rest.create_message(scene.channel.id, content, user_mentions=[owner.id])
            said = Message("assistant", content, discord_id=int(posted.id))
            await schedules.mark_sent(firing, said, channel_id=scene.channel.id)
            assert [each.tainted for each in await scene.reply(int(posted.id))] == [tainted]


class TestWhatIsPointedAt:
    async def test_is_left_out_where_discord_fails_and_a_file_where_it_cannot_be_read(
        self, scene: Scene
    ) -> None:
        target = await scene.posts(scene.ben, "見て", File("a.bin", b"\0\1\2"))
        for status, times in ((403, 1), (500, 2)):  # it may be out of order for a moment
            scene.discord.fail_next("GET /channels/{channel}/messages/{message}", status, times=times)
            assert await scene.reply(target.id) == (Reference("reply", is_visible=False),)
        [reference] = await scene.reply(target.id)
        told = "見て\n[file: a.bin]\n[not shown, it could not be read: a.bin]"
        assert (reference.content, reference.attachments) == (told, ())

    async def test_by_five_links_into_a_channel_takes_eight_requests(self, scene: Scene) -> None:
        other = scene.discord.guild_channel("other")
        said = [await scene.discord.post(scene.ben, other, f"{number}番") for number in range(5)]
        links = " ".join(
            f"https://discord.com/channels/{scene.discord.guild.id}/{other.id}/{each.id}" for each in said
        )
        at = QuestionLocation(scene.channel.id, scene.discord.guild.id, scene.discord.world.ids.next())
        before = len(scene.discord.transcript)
        question = Message("user", links, author_id=scene.aiko.id)
        found = await scene.references.resolve(question, at, lambda _: None)
        shown = [each.content for each in found.references]
        assert shown == [f"{number}番" for number in range(5)]
        assert len(scene.discord.transcript) - before <= 8

    async def test_is_no_forward_of_longer_than_ten_minutes_ago(self, scene: Scene) -> None:
        dm, channels = scene.discord.dm(scene.aiko), scene.stores.channels
        forward = await scene.discord.forward(scene.aiko, dm, await scene.posts(scene.ben, "at ten"))
        told = await scene.rest.fetch_message(dm.id, forward.id)
        replies, recipients = (
            MessageReplies(scene.rest, ExpectedDeletions(), channels),
            recipients_over(scene.stores),
        )
        forwards = Forwards(scene.references, replies, recipients)
        for minutes, about in ((9, (forward.id,)), (11, ())):
            later = hikari.Snowflake.from_datetime(told.created_at + timedelta(minutes=minutes))
            forwards.add(told)
            assert await forwards.claim(dm.id, scene.aiko.id, int(later)) == about
        await forwards.close()


def test_a_target_is_whoevers_menu_handed_it_over_for_an_hour() -> None:
    now, target = [0.0], MenuTarget(message("十時です", id="400"), 1, may_be_fetched=True)
    cache = MessageCache(lambda: now[0])
    cache.put_target(AIKO, target)
    assert (cache.get_target(BEN, 400), cache.get_target(AIKO, 401)) == (None, None)
    for now[0], expected in ((TARGET_TTL_S - 1, target), (TARGET_TTL_S, None), (TARGET_TTL_S - 1, None)):
        assert cache.get_target(AIKO, 400) is expected
