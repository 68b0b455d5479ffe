"""Messages that are posted under a nonce: each stands once, whatever an earlier run of the program left."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace

import hikari
import pytest

from cc_bot.discord.delivery.outlets import MessageReplies, nowhere
from cc_bot.discord.delivery.reply import REMEMBERED, Reply, Sent, TakenDown
from cc_bot.discord.pages.answer import page_of
from cc_bot.discord.pages.page import Page, PictureFile, SoundFile
from cc_bot.domain.locale import Locale
from cc_bot.stores import Stores
from tests.loopback.discord import Channel, LoopbackDiscord, Message, Shown, User
from tests.loopback.discord.faults import Fault
from tests.loopback.discord.permissions import Permission

EDIT = "PATCH /channels/{channel}/messages/{message}"
POST = "POST /channels/{channel}/messages"
FIRST, SECOND, THIRD = Page("一枚目"), Page("二枚目"), Page("三枚目")
THINKING = Page("考えています…")
SEA = Page("海です", pictures=(PictureFile("1.png", b"\x89PNG"),))


@dataclass
class Scene:
    """A question in a channel, and the bot's replies there."""

    discord: LoopbackDiscord
    replies: MessageReplies
    channel: Channel
    question: Message

    def reply(self, sent: tuple[Sent, ...] = (), edition: str = "1x") -> Reply:
        return self.replies.to(self.channel.id, self.question.id, sent, edition=edition)

    async def again(self, reply: Reply, count: int, edition: str = "1x") -> Reply:
        """The same with the next run of the program, which knows so many of its messages."""
        return self.reply(await sent(reply, count), edition)

    @property
    def shown(self) -> list[Shown]:
        return [message for message in self.discord.messages(self.channel) if message.author.is_bot]

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.shown]

    async def killed_while_it_edits(self, reply: Reply, *pages: Page) -> None:
        self.discord.faults.order(Fault(EDIT, 200, 9, take_effect=False, retry_after_s=0.0, delay_s=60.0))
        showing = asyncio.create_task(reply.show(pages))
        await self.discord.wait(lambda: self.discord.faults.outstanding < 9, "the edit")
        showing.cancel()
        with suppress(asyncio.CancelledError):
            await showing
        self.discord.faults.forget()


async def sent(reply: Reply, count: int) -> tuple[Sent, ...]:
    return tuple(Sent(hikari.Snowflake(id_)) for id_ in (await reply.message_ids())[:count])


@pytest.fixture
async def scene(
    discord: LoopbackDiscord, rest: hikari.api.RESTClient, stores: Stores, channel: Channel, aiko: User
) -> Scene:
    question = await discord.post(aiko, channel, "質問", mention=True)
    return Scene(discord, MessageReplies(rest, TakenDown(), stores.channels), channel, question)


class TestAnAnswer:
    async def test_begun_by_an_earlier_run_is_written_on(self, scene: Scene) -> None:
        await scene.reply().show((THINKING,))
        begun = scene.reply()
        await begun.show((FIRST, Page("二枚")))
        again = await scene.again(begun, 1)  # the second was not noted
        await again.show((FIRST, SECOND))
        assert scene.texts == ["一枚目", "二枚目"]
        other = await scene.again(begun, 1, "1y")  # to other words of the question
        await other.show((FIRST, THIRD))
        assert scene.texts == ["一枚目", "二枚目", "三枚目"]

    async def test_is_on_record_page_by_page_while_an_edit_waits_for_discord(self, scene: Scene) -> None:
        """Who is stopped while it waits finds the page by its id: nonces are forgotten within minutes."""
        begun = scene.reply()
        await begun.show((FIRST,))
        [first] = await begun.message_ids()
        again = scene.reply((Sent(hikari.Snowflake(first), FIRST),))
        await scene.killed_while_it_edits(again, FIRST, SECOND)
        assert await scene.replies.channels.list_pages(first) == (scene.shown[-1].id,)

    async def test_that_grew_shorter_and_longer_again_is_all_there(self, scene: Scene) -> None:
        """Its nonces bring back messages that were deleted: of that Discord says nothing."""
        reply = scene.reply()
        for further in (SECOND, THIRD, SECOND):
            await reply.show((FIRST, further))
            assert scene.texts == ["一枚目", further.content]
            reply = await scene.again(reply, 2)
            await reply.show((FIRST,))
            reply = await scene.again(reply, 1)
        for _ in range(3):
            await reply.show((FIRST, SECOND))
            assert scene.texts == ["一枚目", "二枚目"]
            first, *pages = await reply.message_ids()
            assert await scene.replies.channels.list_pages(first) == tuple(pages)
            await reply.show((FIRST,))
        assert scene.texts == ["一枚目"]

    async def test_that_was_written_anew_and_not_noted_has_each_message_once(self, scene: Scene) -> None:
        """The run that was killed had taken a message down before: its place tells its nonce, not how many
        were posted till then."""
        begun = scene.reply()
        await begun.show((FIRST, SECOND))
        anew = await scene.again(begun, 2)
        await anew.show((THINKING,))
        await anew.show((FIRST, THIRD))
        await (await scene.again(anew, 1)).show((FIRST, THIRD))
        assert scene.texts == ["一枚目", "三枚目"]

    async def test_pings_nobody_when_it_is_posted_or_edited(self, scene: Scene) -> None:
        everybody = Page(f"@everyone @here <@{scene.question.author.id}>")
        for pages in ((everybody,), (FIRST,), (everybody,)):
            await scene.reply().show(pages)
        assert scene.texts == [everybody.content]
        assert scene.discord.pings == []

    async def test_that_is_late_is_posted_once_and_noted_message_by_message(self, scene: Scene) -> None:
        noted: list[int] = []

        async def note(message_id: int) -> None:
            noted.append(message_id)

        for pages in ((FIRST,), (FIRST, SECOND)):
            reply = scene.replies.late(scene.channel.id, "e1", None, noting=note)
            await reply.show(pages)
        assert scene.texts == ["一枚目", "二枚目"]
        shown = [message.id for message in scene.shown]
        assert noted == [shown[0], *shown]
        assert [entry.body["nonce"] for entry in scene.discord.calls(POST)] == ["e1", "e1", "e1-2"]
        for count, pages in ((2, (FIRST,)), (1, (FIRST, SECOND))):
            reply = scene.replies.late(scene.channel.id, "e1", None, await sent(reply, count), noting=nowhere)
            await reply.show(pages)
        assert scene.texts == ["一枚目", "二枚目"]


class TestPictures:
    async def test_are_attached_once_and_stay_beside_other_words_and_sound(self, scene: Scene) -> None:
        reply = scene.reply()
        for page in (THINKING, SEA, replace(SEA, content="海でした")):
            await reply.show((page,))
        assert len([call for call in scene.discord.transcript if call.files]) == 1
        await reply.attach(SoundFile("回答.mp3", b"ID3"))
        [shown] = scene.shown
        assert shown.text == "海でした"
        assert {each.file.name for each in shown.attachments} == {"回答.mp3", "1.png"}

    async def test_are_left_out_where_no_files_are_taken(self, scene: Scene) -> None:
        scene.discord.forbid(scene.discord.bot, Permission.ATTACH_FILES, scene.channel)
        reply = scene.reply()
        for page in (THINKING, SEA):
            await reply.show((page,))
        assert scene.texts == ["海です"]

    async def test_of_an_older_answer_go_with_it(self, scene: Scene, rest: hikari.api.RESTClient) -> None:
        first = scene.reply()
        await first.show((SEA,))
        [id_] = await first.message_ids()
        before = page_of(await rest.fetch_message(scene.channel.id, id_), Locale.JA)
        assert [each.name for each in before.pictures] == ["1.png"]
        await scene.reply((Sent(hikari.Snowflake(id_), before),)).show((Page("山です"),))
        [shown] = scene.shown
        assert (shown.text, shown.attachments) == ("山です", ())


def test_a_deletion_by_the_bot_is_known_once_and_forgotten_in_the_end_if_discord_never_tells_of_it() -> None:
    taken_down = TakenDown()
    assert not taken_down.was_expected(1)
    for message_id in range(REMEMBERED + 1):
        taken_down.expect(message_id)
    assert [taken_down.was_expected(id_) for id_ in (0, 1, 1)] == [False, True, False]
