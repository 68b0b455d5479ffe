"""Whose words a question points at, and how it is told."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import hikari
import pytest

from cc_bot.discord.references import References, Standing
from cc_bot.domain import Message
from cc_bot.domain.message import ChannelKey, Reference
from cc_bot.domain.session import SessionKey
from cc_bot.stores import Stores, open_stores
from tests.databases import laid_out
from tests.discord.choosing import references_over
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

    async def reply(self, target: Posted | int, text: str = "？") -> tuple[Reference, ...]:
        """What Aiko's reply to a message points at."""
        id_ = target if isinstance(target, int) else target.id
        question = Message("user", text, author_id=self.aiko.id, reply_to=id_)
        at = Standing(self.channel.id, self.discord.guild.id, self.discord.world.ids.next())
        return (await self.references.resolve(question, at)).question.references


@pytest.fixture
async def scene(
    discord: LoopbackDiscord, rest: hikari.api.RESTClient, tmp_path: Path
) -> AsyncIterator[Scene]:
    async with open_stores(laid_out(tmp_path / "sessions.db")) as stores:
        references = references_over(stores, rest, await rest.fetch_my_user())
        aiko, ben = discord.user("Aiko", locale="ja"), discord.user("Ben")
        yield Scene(discord, stores, references, discord.guild_channel(), aiko, ben)


class TestTaint:
    async def test_comes_of_others_words_and_not_of_ones_own(self, scene: Scene) -> None:
        own = await scene.discord.post(scene.aiko, scene.channel, "明日は十時")
        theirs = await scene.discord.post(scene.ben, scene.channel, "at ten", reply_to=own)
        assert [each.tainted for each in await scene.reply(own)] == [False]
        assert [each.tainted for each in await scene.reply(theirs)] == [True, False]

    async def test_comes_of_a_file_whoever_sent_it(self, scene: Scene) -> None:
        own = await scene.discord.post(
            scene.aiko, scene.channel, "見て", attachments=(File("a.txt", b"abc"),)
        )
        assert [each.tainted for each in await scene.reply(own)] == [True]

    @pytest.mark.parametrize("tainted", [True, False])
    async def test_of_an_answer_of_ones_session_is_that_of_its_turn(
        self, scene: Scene, tainted: bool
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
        await scene.stores.channels.commit_answer(
            key, Message("assistant", "はい", discord_id=5, reply_to=4), [asked]
        )
        answer, question = await scene.reply(5)
        assert (answer.tainted, question.tainted) == (True, True)
        assert (question.content, question.author_name) == ("which?", "Ben")


class TestAnError:
    async def test_of_discords_leaves_the_message_out(self, scene: Scene) -> None:
        target = await scene.discord.post(scene.ben, scene.channel, "at ten")
        for status in (403, 404, 500):
            times = 2 if status == 500 else 1  # it may be out of order for a moment
            scene.discord.fail_next("GET /channels/{channel}/messages/{message}", status, times=times)
            assert await scene.reply(target) == (Reference("reply", shown=False),)

    async def test_of_a_file_leaves_the_file_out(self, scene: Scene) -> None:
        target = await scene.discord.post(
            scene.ben, scene.channel, "見て", attachments=(File("a.bin", b"\0\1\2"),)
        )
        [reference] = await scene.reply(target)
        told = "見て\n[file: a.bin]\n[not shown, it could not be read: a.bin]"
        assert (reference.content, reference.attachments) == (told, ())


class TestWhatWasTold:
    async def test_is_asked_for_once_more_after_a_change(self, scene: Scene) -> None:
        target = await scene.discord.post(scene.ben, scene.channel, "at ten")
        reply = await scene.discord.post(scene.aiko, scene.channel, "？", reply_to=target)
        scene.references.note(await scene.references.rest.fetch_message(scene.channel.id, reply.id))
        await scene.discord.edit(scene.ben, target, "at nine")
        assert [each.content for each in await scene.reply(target)] == ["at ten"]
        scene.references.forget(target.id)
        assert [each.content for each in await scene.reply(target)] == ["at nine"]
