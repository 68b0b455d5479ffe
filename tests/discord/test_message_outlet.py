"""Messages that are posted under a nonce: each stands once, whatever an earlier run of the program left."""

from dataclasses import dataclass, replace

import hikari
import pytest

from cc_bot.discord.delivery.outlets import MessageReplies, nowhere
from cc_bot.discord.delivery.reply import Reply, Sent, TakenDown
from cc_bot.discord.pages.answer import page_of
from cc_bot.discord.pages.page import Page, PictureFile, SoundFile
from cc_bot.domain.locale import Locale
from tests.discord.parts import Place
from tests.loopback.discord import Message, Permission

EDIT = "PATCH /channels/{channel}/messages/{message}"
POST = "POST /channels/{channel}/messages"
FIRST, SECOND, THIRD = Page("一枚目"), Page("二枚目"), Page("三枚目")
THINKING = Page("考えています…")
SEA = Page("海です", pictures=(PictureFile("1.png", b"\x89PNG"),))


@dataclass
class Scene(Place):
    """A question in a channel, and the bot's replies there."""

    replies: MessageReplies
    question: Message

    def reply(self, sent: tuple[Sent, ...] = (), edition: str = "1x") -> Reply:
        return self.replies.to(self.channel.id, self.question.id, sent, edition=edition)

    async def again(self, reply: Reply, count: int, edition: str = "1x") -> Reply:
        """The same with the next run of the program, which knows so many of its messages."""
        return self.reply(await sent(reply, count), edition)


async def sent(reply: Reply, count: int) -> tuple[Sent, ...]:
    return tuple(Sent(hikari.Snowflake(id_)) for id_ in (await reply.message_ids())[:count])


@pytest.fixture
async def scene(place: Place) -> Scene:
    question = await place.discord.post(place.aiko, place.channel, "質問", mention=True)
    replies = MessageReplies(place.rest, TakenDown(), place.stores.channels)
    return Scene(**vars(place), replies=replies, question=question)


class TestAnAnswer:
    async def test_begun_by_an_earlier_run_is_written_on(self, scene: Scene) -> None:
        await scene.reply().show((THINKING,))
        begun = scene.reply()
        await begun.show((FIRST, Page("二枚")))
        again = await scene.again(begun, 1)  # the second was not noted
        await again.show((FIRST, SECOND))
        assert scene.texts() == ["一枚目", "二枚目"]
        other = await scene.again(begun, 1, "1y")  # to other words of the question
        await other.show((FIRST, THIRD))
        assert scene.texts() == ["一枚目", "二枚目", "三枚目"]

    async def test_that_grew_shorter_and_longer_again_is_all_there(self, scene: Scene) -> None:
        """Its nonces bring back messages that were deleted: of that Discord says nothing."""
        reply = scene.reply()
        for further in (SECOND, THIRD, SECOND):
            await reply.show((FIRST, further))
            assert scene.texts() == ["一枚目", further.content]
            reply = await scene.again(reply, 2)
            await reply.show((FIRST,))
            reply = await scene.again(reply, 1)
        for _ in range(2):
            await reply.show((FIRST, SECOND))
            assert scene.texts() == ["一枚目", "二枚目"]
            first, *pages = await reply.message_ids()
            assert await scene.replies.channels.list_pages(first) == tuple(pages)
            await reply.show((FIRST,))
        assert scene.texts() == ["一枚目"]

    async def test_that_was_written_anew_and_not_noted_has_each_message_once(self, scene: Scene) -> None:
        """The run that was killed had taken a message down before: its place tells its nonce, not how many
        were posted till then."""
        begun = scene.reply()
        await begun.show((FIRST, SECOND))
        anew = await scene.again(begun, 2)
        await anew.show((THINKING,))
        await anew.show((FIRST, THIRD))
        await (await scene.again(anew, 1)).show((FIRST, THIRD))
        assert scene.texts() == ["一枚目", "三枚目"]

    async def test_that_is_late_is_posted_once_and_noted_message_by_message(self, scene: Scene) -> None:
        noted: list[int] = []

        async def note(message_id: int) -> None:
            noted.append(message_id)

        for pages in ((FIRST,), (FIRST, SECOND)):
            reply = scene.replies.late(scene.channel.id, "e1", None, noting=note)
            await reply.show(pages)
        shown = [message.id for message in scene.written()]
        assert noted == [shown[0], *shown]
        for count, pages in ((2, (FIRST,)), (1, (FIRST, SECOND))):
            reply = scene.replies.late(scene.channel.id, "e1", None, await sent(reply, count), noting=nowhere)
            await reply.show(pages)
        assert scene.texts() == ["一枚目", "二枚目"]


class TestPictures:
    async def test_are_attached_once_and_stay_beside_other_words_and_sound(self, scene: Scene) -> None:
        reply = scene.reply()
        for page in (THINKING, SEA, replace(SEA, content="海でした")):
            await reply.show((page,))
        assert len([call for call in scene.discord.transcript if call.files]) == 1
        await reply.attach(SoundFile("回答.mp3", b"ID3"))
        [shown] = scene.written()
        assert shown.text == "海でした"
        assert {each.file.name for each in shown.attachments} == {"回答.mp3", "1.png"}

    async def test_are_left_out_where_no_files_are_taken(self, scene: Scene) -> None:
        scene.discord.forbid(scene.discord.bot, Permission.ATTACH_FILES, scene.channel)
        reply = scene.reply()
        for page in (THINKING, SEA):
            await reply.show((page,))
        assert scene.texts() == ["海です"]

    async def test_of_an_older_answer_go_with_it(self, scene: Scene) -> None:
        first = scene.reply()
        await first.show((SEA,))
        [id_] = await first.message_ids()
        before = page_of(await scene.rest.fetch_message(scene.channel.id, id_), Locale.JA)
        assert [each.name for each in before.pictures] == ["1.png"]
        await scene.reply((Sent(hikari.Snowflake(id_), before),)).show((Page("山です"),))
        [shown] = scene.written()
        assert (shown.text, shown.attachments) == ("山です", ())
