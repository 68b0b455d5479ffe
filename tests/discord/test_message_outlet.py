"""Messages with a nonce are posted once, whatever an earlier process posted."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from unittest.mock import AsyncMock

import hikari
import pytest

from cc_bot.discord.delivery.outlets import DmFallback, InteractionOutlet, MessageOutlet, MessageReplies
from cc_bot.discord.delivery.reply import DiscordReply, ExpectedDeletions, SentMessage
from cc_bot.discord.pages.answer import page_of
from cc_bot.discord.pages.page import (
    RECEIPTS_COLOUR,
    Box,
    Button,
    Facts,
    MediaFile,
    Page,
    Paragraph,
    TextFile,
)
from tests.discord.parts import BotChannel
from tests.loopback.discord import Channel, Message, Permission, Shown, refusals
from tests.loopback.discord.refusals import Refusal

EDIT = "PATCH /channels/{channel}/messages/{message}"
POST = "POST /channels/{channel}/messages"
FIRST, SECOND, THIRD = Page("一枚目"), Page("二枚目"), Page("三枚目")
THINKING = Page("考えています…")
SEA = Page("海です", files=(MediaFile("1.png", b"\x89PNG"),))
CARD = Page(boxes=(Box((Paragraph("覚えました", Button("取り消す", "undo:1")),), RECEIPTS_COLOUR),))
NOTE = "お届けします"
FULL = replace(SEA, facts=Facts(("覚えました",)), buttons=(Button("もう一度", "again:1:1"),))
LONG = "".join(f"{number}行目です。\n" for number in range(1500))


@dataclass
class Scene(BotChannel):
    """A question in a channel, and the bot's replies there."""

    replies: MessageReplies
    question: Message

    def reply(self, sent: tuple[SentMessage, ...] = ()) -> DiscordReply:
        dm_fallback = DmFallback(self.aiko.id, NOTE)
        return self.replies.make_reply(self.channel.id, self.question.id, sent, dm_fallback=dm_fallback)

    @property
    def dm(self) -> Channel:
        return self.discord.dm(self.aiko)

    async def asked_in(self, channel: Channel) -> None:
        self.channel = channel
        self.question = await self.discord.post(self.aiko, channel, "質問", mention=True)

    async def again(self, reply: DiscordReply, count: int) -> DiscordReply:
        """Return the reply of the next process, which knows the first `count` messages."""
        return self.reply(await sent(reply, count))


async def sent(reply: DiscordReply, count: int) -> tuple[SentMessage, ...]:
    return tuple(SentMessage(hikari.Snowflake(id_)) for id_ in (await reply.message_ids())[:count])


@pytest.fixture
async def scene(location: BotChannel) -> Scene:
    question = await location.discord.post(location.aiko, location.channel, "質問", mention=True)
    replies = MessageReplies(location.rest, ExpectedDeletions(), location.stores.channels)
    return Scene(**vars(location), replies=replies, question=question)


class TestAnAnswer:
    async def test_begun_by_an_earlier_run_is_written_on(self, scene: Scene) -> None:
        await scene.reply().show((THINKING,))
        begun = scene.reply()
        await begun.show((FIRST, Page("二枚")))
        again = await scene.again(begun, 1)  # the second was not noted
        await again.show((FIRST, SECOND))
        assert scene.texts() == ["一枚目", "二枚目"]
        other = await scene.again(begun, 1)  # to other words of the question
        await other.show((FIRST, THIRD))
        assert scene.texts() == ["一枚目", "三枚目"]

    async def test_that_grew_shorter_and_longer_again_is_all_there(self, scene: Scene) -> None:
        """For its nonces Discord returns deleted messages, without a sign that they are."""
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
        """The killed process had deleted a message before: its nonce is made of its position."""
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
            reply = scene.replies.make_reply(scene.channel.id, None, nonce="e1", on_posted=note)
            await reply.show(pages)
        shown = [message.id for message in scene.written()]
        assert noted == [shown[0], *shown]
        for count, pages in ((2, (FIRST,)), (1, (FIRST, SECOND))):
            reply = scene.replies.make_reply(scene.channel.id, None, await sent(reply, count), nonce="e1")
            await reply.show(pages)
        assert scene.texts() == ["一枚目", "二枚目"]

    async def test_is_not_taken_for_deleted_by_a_user_while_the_bot_deletes_a_message(
        self, scene: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reply, delete, included = scene.reply(), MessageOutlet.delete, list[bool]()
        await reply.show((FIRST, SECOND))
        _, second = await reply.message_ids()

        async def recorded(outlet: MessageOutlet, message_id: hikari.Snowflake) -> None:
            included.append(reply.includes(second))
            await delete(outlet, message_id)

        monkeypatch.setattr(MessageOutlet, "delete", recorded)
        await reply.show((FIRST,))
        assert included == [False]


class TestACard:
    async def test_makes_way_for_a_longer_text_also_where_it_is_unknown_which_message_it_is(
        self, scene: Scene
    ) -> None:
        reply = scene.reply()
        await reply.show((FIRST, CARD))
        for is_known in (True, False):
            reply = reply if is_known else await scene.again(reply, 2)
            await reply.show((FIRST, SECOND, CARD))
            assert scene.texts() == ["一枚目", "二枚目", "覚えました"]
            assert await reply.text_ids() == (await reply.message_ids())[:2]
            await reply.show((FIRST, CARD))
            assert scene.texts() == ["一枚目", "覚えました"]
        first, *pages = await reply.message_ids()
        assert await scene.replies.channels.list_pages(first) == tuple(pages)

    async def test_that_is_gone_is_posted_again(self, scene: Scene) -> None:
        begun = scene.reply()
        await begun.show((FIRST, CARD))
        await scene.rest.delete_message(scene.channel.id, (await begun.message_ids())[1])
        await (await scene.again(begun, 2)).show((FIRST, CARD))
        assert scene.texts() == ["一枚目", "覚えました"]

    async def test_that_is_refused_is_a_plain_message(self, scene: Scene) -> None:
        reply = scene.reply()
        await reply.show((FIRST,))
        scene.discord.refuse(POST, invalid("components"), holding="flags", channel=scene.channel)
        for _ in range(2):
            await reply.show((FIRST, CARD))
        text, plain = scene.written()
        assert (plain.content, plain.labels) == ("覚えました", ["取り消す"])
        assert text.labels == []


class TestPictures:
    async def test_are_attached_once_and_stay_beside_other_words_and_sound(self, scene: Scene) -> None:
        reply = scene.reply()
        for page in (THINKING, SEA, replace(SEA, content="海でした")):
            await reply.show((page,))
        assert len([call for call in scene.discord.transcript if call.files]) == 1
        await reply.attach(MediaFile("回答.mp3", b"ID3"))
        [shown] = scene.written()
        assert shown.text == "海でした"
        assert {each.file.name for each in shown.attachments} == {"回答.mp3", "1.png"}

    async def test_of_an_older_answer_go_with_it(self, scene: Scene) -> None:
        first = scene.reply()
        await first.show((SEA,))
        [id_] = await first.message_ids()
        before = page_of(await scene.rest.fetch_message(scene.channel.id, id_))
        assert [each.name for each in before.files] == ["1.png"]
        await scene.reply((SentMessage(hikari.Snowflake(id_), before),)).show((Page("山です"),))
        [shown] = scene.written()
        assert (shown.text, shown.attachments) == ("山です", ())


def invalid(field: str) -> Refusal:
    return refusals.invalid_form([field, 0], "BASE_TYPE_INVALID", "Not like that.")


REFUSED: Final[dict[str, tuple[Callable[[], Refusal], str, str]]] = {
    "no permission to attach": (refusals.missing_permissions, "files", "files"),
    "no permission to embed": (refusals.missing_permissions, "embeds", "embeds"),
    "no permission to read the past": (refusals.cannot_reply_unseen, "message_reference", ""),
    "a question that is gone": (refusals.unknown_message, "message_reference", ""),
    "a question in another state": (lambda: invalid("message_reference"), "message_reference", ""),
    "a file that is too large": (refusals.upload_too_large, "files", "files"),
    "an embed": (lambda: invalid("embeds"), "embeds", "embeds"),
    "buttons": (lambda: invalid("components"), "components", "buttons"),
    "what nobody knows": (lambda: Refusal(400, 12345, "No."), "components", "files embeds buttons"),
}


def held_in(shown: Shown) -> set[str]:
    parts = {"files": shown.attachments, "embeds": shown.embeds, "buttons": shown.labels}
    return {name for name, there in parts.items() if there}


class TestWhatDiscordRefuses:
    async def test_is_shown_without_what_it_does_not_take(self, scene: Scene) -> None:
        for name, (refusal, holding, lost) in REFUSED.items():
            await scene.asked_in(scene.discord.guild_channel())
            for route in (POST, EDIT):
                scene.discord.refuse(route, refusal(), holding=holding, channel=scene.channel)
            reply = scene.reply()
            for page in (THINKING, FULL):
                await reply.show((page,))
            shown, *cards = scene.written()
            left = {"files", "embeds", "buttons"} - set(lost.split())
            assert (shown.content, held_in(shown)) == ("海です", left), name
            assert [card.text for card in cards] == ([] if "embeds" in left else ["覚えました"]), name
        assert contents(scene, scene.dm) == []

    async def test_comes_in_plain_messages_where_no_file_is_taken(self, scene: Scene) -> None:
        scene.discord.forbid(scene.discord.bot, Permission.ATTACH_FILES, scene.channel)
        page = Page(LONG[:1000], files=(TextFile("回答.md", LONG, "ファイルで添付しました"),))
        page = replace(page, facts=Facts(("-# ファイルで添付しました", "-# 別の知らせ")))
        reply = scene.reply()
        for pages in ((THINKING,), (page,), (replace(page, buttons=FULL.buttons),)):
            await reply.show(pages)
        shown = scene.written()
        assert "".join(contents(scene)).replace("\n", "") == LONG.replace("\n", "")
        assert "別の知らせ" in str(shown[-1].embeds)
        assert "添付" not in str(shown[-1].embeds)
        assert [bool(each.labels) for each in shown] == [*[False] * (len(shown) - 1), True]

    async def test_comes_by_dm_where_nothing_is_taken(self, scene: Scene) -> None:
        discord = scene.discord

        def forbidden(permission: Permission) -> Callable[[Channel], object]:
            return lambda channel: discord.forbid(discord.bot, permission, channel)

        def refused(refusal: Refusal, holding: str = "") -> Callable[[Channel], object]:
            return lambda channel: discord.refuse(EDIT, refusal, holding=holding, channel=channel)

        begun: dict[str, Callable[[Channel], object]] = {
            "not seen any more": forbidden(Permission.VIEW_CHANNEL),
            "its words blocked": refused(refusals.blocked_words(), "content"),
            "edited too often": refused(refusals.too_many_edits()),
            "words that are no words": refused(invalid("content"), "content"),
        }
        for name, happens in begun.items():
            await scene.asked_in(discord.guild_channel())
            reply = scene.reply()
            await reply.show((THINKING,))
            happens(scene.channel)
            await reply.show((replace(FIRST, content=name),))
            assert contents(scene, scene.dm)[-1] == name
        for happens in (forbidden(Permission.SEND_MESSAGES), locked):
            await scene.asked_in(discord.guild_channel())
            happens(scene.channel)
            reply = scene.reply()
            for page in (THINKING, FIRST, SECOND):
                await reply.show((page,))
            assert (contents(scene), contents(scene, scene.dm)[-1]) == ([], "二枚目")
        assert len(scene.written(scene.dm)) == len(begun) + 2
        assert all(NOTE in str(each.embeds) for each in scene.written(scene.dm))

    async def test_is_written_on_in_the_dm_by_the_next_run(self, scene: Scene) -> None:
        locked(scene.channel)
        begun = scene.reply()
        await begun.show((THINKING,))
        await (await scene.again(begun, 1)).show((FIRST,))
        assert contents(scene, scene.dm) == ["一枚目"]

    async def test_goes_nowhere_once_it_was_deleted(self, scene: Scene) -> None:
        reply = scene.reply()
        await reply.show((THINKING,))
        await scene.discord.delete(scene.discord.owner, scene.written()[0])
        with pytest.raises(hikari.NotFoundError):
            await reply.show((FIRST,))
        locked(scene.channel)
        withdrawn = scene.reply()
        withdrawn.no_dm = True
        with pytest.raises(hikari.ForbiddenError):
            await withdrawn.show((FIRST,))
        assert contents(scene, scene.dm) == []

    async def test_of_an_archived_thread_opens_it(self, scene: Scene) -> None:
        await scene.asked_in(thread := scene.discord.thread(scene.channel))
        reply = scene.reply()
        await reply.show((THINKING,))
        thread.archived = True
        await reply.show((FIRST,))
        assert (contents(scene), thread.archived) == (["一枚目"], False)


def locked(channel: Channel) -> None:
    channel.locked = True


def contents(scene: Scene, channel: Channel | None = None) -> list[str]:
    return [shown.content for shown in scene.written(channel)]


async def test_an_interactions_message_that_the_bot_deletes_is_expected_to_go() -> None:
    rest, expected = AsyncMock(), ExpectedDeletions()
    rest.fetch_interaction_response.return_value.id = hikari.Snowflake(5)
    outlet = InteractionOutlet(rest, 1, "token", 2, 3, ephemeral=False, expected_deletions=expected)
    for message_id, gone_id in ((None, 5), (hikari.Snowflake(6), 6)):
        await outlet.delete(message_id)
        assert expected.pop(gone_id)
