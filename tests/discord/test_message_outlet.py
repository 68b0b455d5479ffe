"""Messages that are posted under a nonce: each stands once, whatever an earlier run of the program left."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import hikari
import pytest

from cc_bot.discord.delivery.outlets import MessageReplies, nowhere
from cc_bot.discord.delivery.reply import Reply, Sent, TakenDown
from cc_bot.discord.pages.answer import page_of
from cc_bot.discord.pages.page import Page, PictureFile, SoundFile
from cc_bot.domain.locale import Locale
from cc_bot.stores import open_stores
from tests.databases import laid_out
from tests.loopback.discord import Channel, LoopbackDiscord, Message
from tests.loopback.discord.faults import Fault
from tests.loopback.discord.permissions import Permission

EDIT = "PATCH /channels/{channel}/messages/{message}"
POST = "POST /channels/{channel}/messages"
FIRST, SECOND, THIRD = Page("一枚目"), Page("二枚目"), Page("三枚目")


@pytest.fixture
async def replies(rest: hikari.api.RESTClient, tmp_path: Path) -> AsyncIterator[MessageReplies]:
    async with open_stores(laid_out(tmp_path / "sessions.db")) as stores:
        yield MessageReplies(rest, TakenDown(), stores.channels)


@pytest.fixture
def channel(discord: LoopbackDiscord) -> Channel:
    return discord.guild_channel()


@pytest.fixture
async def question(discord: LoopbackDiscord, channel: Channel) -> Message:
    return await discord.post(discord.user("Aiko", locale="ja"), channel, "質問", mention=True)


def texts(discord: LoopbackDiscord, channel: Channel) -> list[str]:
    return [message.text for message in discord.messages(channel) if message.author.is_bot]


async def sent(reply: Reply, count: int) -> tuple[Sent, ...]:
    """The first messages of a reply, as the next run of the program knows them."""
    return tuple(Sent(hikari.Snowflake(id_)) for id_ in (await reply.message_ids())[:count])


class TestAnAnswer:
    async def test_begun_by_an_earlier_run_is_written_on(
        self, discord: LoopbackDiscord, replies: MessageReplies, channel: Channel, question: Message
    ) -> None:
        await replies.to(channel.id, question.id).show((Page("考えています…"),))
        await replies.to(channel.id, question.id).show((FIRST,))
        assert texts(discord, channel) == ["一枚目"]

    async def test_whose_further_message_was_not_noted_has_it_once(
        self, discord: LoopbackDiscord, replies: MessageReplies, channel: Channel, question: Message
    ) -> None:
        begun = replies.to(channel.id, question.id, edition="1x")
        await begun.show((FIRST, Page("二枚")))
        again = replies.to(channel.id, question.id, await sent(begun, 1), edition="1x")
        await again.show((FIRST, SECOND))
        assert texts(discord, channel) == ["一枚目", "二枚目"]

    async def test_is_on_record_page_by_page_while_an_edit_waits_for_discord(
        self, discord: LoopbackDiscord, replies: MessageReplies, channel: Channel, question: Message
    ) -> None:
        """Who is stopped while it waits finds the page by its id: nonces are forgotten within minutes."""
        begun = replies.to(channel.id, question.id, edition="1x")
        await begun.show((FIRST,))
        [first] = await begun.message_ids()
        again = replies.to(channel.id, question.id, (Sent(hikari.Snowflake(first), FIRST),), edition="1x")
        discord.faults.order(Fault(EDIT, 200, 9, take_effect=False, retry_after_s=0.0, delay_s=60.0))
        showing = asyncio.create_task(again.show((FIRST, SECOND)))
        await discord.wait(lambda: discord.faults.outstanding < 9, "the look at the second message")
        showing.cancel()
        with suppress(asyncio.CancelledError):
            await showing
        discord.faults.forget()
        pages = await replies.channels.list_pages(first)
        assert pages == tuple(message.id for message in discord.messages(channel))[-1:]

    async def test_of_an_earlier_run_has_its_further_messages_on_record_before_its_edits(
        self, discord: LoopbackDiscord, replies: MessageReplies, channel: Channel, question: Message
    ) -> None:
        begun = replies.to(channel.id, question.id, edition="1x")
        await begun.show((FIRST, SECOND))
        [first, second] = await begun.message_ids()
        await replies.channels.drop_pages(channel.id, [second])
        again = replies.to(channel.id, question.id, await sent(begun, 1), edition="1x")
        discord.faults.order(Fault(EDIT, 200, 9, take_effect=False, retry_after_s=0.0, delay_s=60.0))
        showing = asyncio.create_task(again.show((FIRST, SECOND)))
        await discord.wait(lambda: discord.faults.outstanding < 9, "the first edit")
        showing.cancel()
        with suppress(asyncio.CancelledError):
            await showing
        discord.faults.forget()
        assert await replies.channels.list_pages(first) == (second,)

    async def test_whose_noted_page_was_deleted_does_not_know_it_any_more(
        self, discord: LoopbackDiscord, replies: MessageReplies, channel: Channel, question: Message
    ) -> None:
        begun = replies.to(channel.id, question.id, edition="1x")
        await begun.show((FIRST, SECOND))
        await begun.show((FIRST,))
        again = replies.to(channel.id, question.id, await sent(begun, 1), edition="1x")
        await again.show((FIRST, SECOND))
        [first, second] = await again.message_ids()
        assert await replies.channels.list_pages(first) == (second,)

    async def test_that_grew_shorter_and_longer_again_is_all_there(
        self, discord: LoopbackDiscord, replies: MessageReplies, channel: Channel, question: Message
    ) -> None:
        """Its nonces bring back messages that were deleted: of that Discord says nothing."""
        reply = replies.to(channel.id, question.id, edition="1x")
        await reply.show((FIRST, SECOND))
        for further in (SECOND, THIRD, SECOND):
            reply = replies.to(channel.id, question.id, await sent(reply, 2), edition="1x")
            await reply.show((FIRST,))
            reply = replies.to(channel.id, question.id, await sent(reply, 1), edition="1x")
            await reply.show((FIRST, further))
            assert texts(discord, channel) == ["一枚目", further.content]

    async def test_that_was_written_anew_and_not_noted_has_each_message_once(
        self, discord: LoopbackDiscord, replies: MessageReplies, channel: Channel, question: Message
    ) -> None:
        """The run that was killed had taken a message down before: its place tells its nonce, not how many
        were posted till then."""
        begun = replies.to(channel.id, question.id, edition="1x")
        await begun.show((FIRST, SECOND))
        anew = replies.to(channel.id, question.id, await sent(begun, 2), edition="1x")
        await anew.show((Page("考えています…"),))
        await anew.show((FIRST, THIRD))
        again = replies.to(channel.id, question.id, await sent(anew, 1), edition="1x")
        await again.show((FIRST, THIRD))
        assert texts(discord, channel) == ["一枚目", "三枚目"]

    async def test_whose_last_message_comes_and_goes_in_one_run_is_all_there(
        self, discord: LoopbackDiscord, replies: MessageReplies, channel: Channel, question: Message
    ) -> None:
        reply = replies.to(channel.id, question.id, edition="1x")
        for _ in range(3):
            await reply.show((FIRST, SECOND))
            assert texts(discord, channel) == ["一枚目", "二枚目"]
            await reply.show((FIRST,))
        assert texts(discord, channel) == ["一枚目"]

    async def test_to_other_words_of_a_question_has_messages_of_its_own(
        self, discord: LoopbackDiscord, replies: MessageReplies, channel: Channel, question: Message
    ) -> None:
        first = replies.to(channel.id, question.id, edition="1x")
        await first.show((FIRST, SECOND))
        anew = replies.to(channel.id, question.id, await sent(first, 1), edition="1y")
        await anew.show((FIRST, THIRD))
        assert texts(discord, channel) == ["一枚目", "二枚目", "三枚目"]


class TestMentionsInAnAnswer:
    @pytest.mark.parametrize("again", [False, True], ids=["posted", "edited"])
    async def test_ping_nobody(
        self,
        discord: LoopbackDiscord,
        replies: MessageReplies,
        channel: Channel,
        question: Message,
        *,
        again: bool,
    ) -> None:
        everybody = Page(f"@everyone @here <@{question.author.id}>")
        reply = replies.to(channel.id, question.id)
        for page in (FIRST, everybody) if again else (everybody,):
            await reply.show((page,))
        assert texts(discord, channel) == [everybody.content]
        assert discord.pings == []


class TestALateAnswer:
    async def test_is_posted_once_and_noted_message_by_message(
        self, discord: LoopbackDiscord, replies: MessageReplies, channel: Channel
    ) -> None:
        noted: list[int] = []

        async def note(message_id: int) -> None:
            noted.append(message_id)

        for pages in ((FIRST,), (FIRST, SECOND)):
            await replies.late(channel.id, "e1", None, noting=note).show(pages)
        assert texts(discord, channel) == ["一枚目", "二枚目"]
        shown = [message.id for message in discord.messages(channel)]
        assert noted == [shown[0], *shown]
        assert [entry.body["nonce"] for entry in discord.calls(POST)] == ["e1", "e1", "e1-2"]

    async def test_that_grew_shorter_and_longer_again_is_all_there(
        self, discord: LoopbackDiscord, replies: MessageReplies, channel: Channel
    ) -> None:
        reply = replies.late(channel.id, "e1", None, noting=nowhere)
        await reply.show((FIRST, SECOND))
        for count, pages in ((2, (FIRST,)), (1, (FIRST, SECOND))):
            reply = replies.late(channel.id, "e1", None, await sent(reply, count), noting=nowhere)
            await reply.show(pages)
        assert texts(discord, channel) == ["一枚目", "二枚目"]


class TestPictures:
    SEA = Page("海です", pictures=(PictureFile("1.png", b"\x89PNG"),))

    async def test_are_attached_once_and_stay_when_the_text_changes(
        self, discord: LoopbackDiscord, replies: MessageReplies, channel: Channel, question: Message
    ) -> None:
        reply = replies.to(channel.id, question.id)
        await reply.show((Page("考えています…"),))
        await reply.show((self.SEA,))
        await reply.show((replace(self.SEA, content="海でした"),))
        [shown] = [message for message in discord.messages(channel) if message.author.is_bot]
        assert (shown.text, [each.file.name for each in shown.attachments]) == ("海でした", ["1.png"])
        uploads = [call for call in discord.transcript if call.files]
        assert len(uploads) == 1

    async def test_stay_beside_the_answer_read_aloud(
        self, discord: LoopbackDiscord, replies: MessageReplies, channel: Channel, question: Message
    ) -> None:
        reply = replies.to(channel.id, question.id)
        await reply.show((self.SEA,))
        await reply.attach(SoundFile("回答.mp3", b"ID3"))
        [shown] = [message for message in discord.messages(channel) if message.author.is_bot]
        assert {each.file.name for each in shown.attachments} == {"回答.mp3", "1.png"}

    async def test_are_left_out_where_no_files_are_taken(
        self, discord: LoopbackDiscord, replies: MessageReplies, channel: Channel, question: Message
    ) -> None:
        discord.forbid(discord.bot, Permission.ATTACH_FILES, channel)
        reply = replies.to(channel.id, question.id)
        await reply.show((Page("考えています…"),))
        await reply.show((self.SEA,))
        assert texts(discord, channel) == ["海です"]

    async def test_of_an_older_answer_go_with_it(
        self,
        discord: LoopbackDiscord,
        rest: hikari.api.RESTClient,
        replies: MessageReplies,
        channel: Channel,
        question: Message,
    ) -> None:
        first = replies.to(channel.id, question.id)
        await first.show((self.SEA,))
        [id_] = await first.message_ids()
        before = page_of(await rest.fetch_message(channel.id, id_), Locale.JA)
        assert [each.name for each in before.pictures] == ["1.png"]
        again = replies.to(channel.id, question.id, (Sent(hikari.Snowflake(id_), before),))
        await again.show((Page("山です"),))
        [shown] = [message for message in discord.messages(channel) if message.author.is_bot]
        assert (shown.text, shown.attachments) == ("山です", ())
