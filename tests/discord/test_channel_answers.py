"""Answers in channels, between real stores, a scripted model and a Discord that is asked over REST."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from zoneinfo import ZoneInfo

import hikari
import pytest

from cc_bot.assistant import Stop
from cc_bot.discord.access import SeenRoles
from cc_bot.discord.attachments import AttachmentFetcher
from cc_bot.discord.delivery.forms import OpenForms
from cc_bot.discord.delivery.live import RunningTurns
from cc_bot.discord.delivery.outlets import MessageReplies
from cc_bot.discord.delivery.reply import TakenDown
from cc_bot.discord.messages.channel_answers import (
    MAX_TOGETHER,
    MAX_TOGETHER_CHARACTERS,
    ChannelAnswers,
    ChannelAssistant,
    together,
)
from cc_bot.discord.messages.mentions import Mentions, TypingSigns
from cc_bot.discord.messages.question_files import QuestionFiles
from cc_bot.discord.messages.withdrawals import Withdrawals
from cc_bot.discord.recipients import Recipients
from cc_bot.domain import ChannelKey, Locale
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import ModelRefusedRequest, StorageError
from cc_bot.domain.message import Message
from cc_bot.llm.model import UserPart
from cc_bot.reading.reader import DocumentReader
from tests.assistant.conftest import Table, laid_table
from tests.discord.cases import check
from tests.discord.choosing import chooser_over, gate_over, references_over
from tests.loopback.discord import Channel, File, LoopbackDiscord, User
from tests.reading.confinement import UNCONFINED

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1"
EDIT = "PATCH /channels/{channel}/messages/{message}"


@dataclass
class Room:
    """A channel with people in it, and the bot's answers there."""

    discord: LoopbackDiscord
    table: Table
    answers: ChannelAnswers
    channel: Channel
    withdrawals: Withdrawals
    folder: Path
    people: dict[str, User] = field(default_factory=dict)

    @property
    def key(self) -> ChannelKey:
        return ChannelKey(self.channel.id)

    async def asks(self, name: str, text: str, *files: File) -> Message:
        """Somebody asks, and it is stored."""
        user = self.people.setdefault(name, self.discord.user(name, locale="ja"))
        posted = await self.discord.post(user, self.channel, text, mention=True, attachments=files)
        content = "\n".join((text, *(f"[file: {file.name}]" for file in files)))
        question = Message("user", content, discord_id=posted.id, author_id=user.id, author_name=name)
        await self.table.stores.channels.add(self.key, question, waiting=True)
        return question

    async def answer(self) -> bool:
        return await self.answers.answer(self.key, await self.waiting())

    async def waiting(self) -> tuple[Message, ...]:
        return await self.table.stores.mentions.list_waiting(self.key)

    async def stored_unseen(self) -> list[str]:
        """Answers that are stored, and are still to be shown."""
        return [message.content for message in await self.table.stores.mentions.list_unshown(self.key)]

    def change(self, sql: str) -> None:
        with closing(sqlite3.connect(self.folder / "sessions.db")) as connection, connection:
            connection.execute(sql)

    def shown(self) -> list[str]:
        """What the bot has written."""
        return [message.content for message in self.discord.messages(self.channel) if message.author.is_bot]

    async def edited(self, question: Message, text: str) -> Message:
        """The question, once its author has changed it."""
        await self.table.stores.channels.edit(question.discord_id or 0, text)
        [edited] = await self.table.stores.mentions.list_edited(self.key)
        return edited

    def prompt(self, number: int = -1) -> str:
        return "\n".join(getattr(part, "text", "") for part in self.table.model.requests[number].prompt)


@pytest.fixture
async def room(discord: LoopbackDiscord, rest: hikari.api.RESTClient, tmp_path: Path) -> AsyncIterator[Room]:
    async with laid_table(tmp_path) as table:
        stores, withdrawals = table.stores, Withdrawals()
        me = await rest.fetch_my_user()
        turns = ChannelAssistant(
            table.assistant,
            chooser_over(stores, rest),
            Recipients(stores.settings, Locale.JA, ZoneInfo("Asia/Tokyo")),
            SeenRoles(),
            QuestionFiles(rest, AttachmentFetcher(DocumentReader(unconfined=UNCONFINED))),
            references_over(stores, rest, me),
            OpenForms(),
            lambda: me,
        )
        replies = MessageReplies(rest, TakenDown(), stores.channels)
        answers = ChannelAnswers(stores, turns, replies, RunningTurns(), withdrawals)
        yield Room(discord, table, answers, discord.guild_channel(), withdrawals, tmp_path)


@asynccontextmanager
async def served(
    room: Room, rest: hikari.api.RESTClient, *, owners: frozenset[int] = frozenset()
) -> AsyncIterator[Mentions]:
    """Whoever waits is answered, and what fails is tried again soon."""
    stores = room.table.stores
    gate = gate_over(stores, rest, owners=owners)
    mentions = Mentions(stores.mentions, room.answers, TypingSigns(rest), gate, utc_now, retry_s=0.05)
    yield mentions
    mentions.close()
    await mentions.finish()


def full_disk(column: str) -> str:
    """From now on this is not written."""
    return f"""
        CREATE TRIGGER disk_is_full BEFORE UPDATE OF {column} ON mentions
        BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END
    """


ROOM_AGAIN = "DROP TRIGGER disk_is_full"


@contextmanager
def refused_edits(room: Room) -> Iterator[None]:
    """Meanwhile Discord lets nobody edit a message."""
    room.discord.fail_next(EDIT, 403, times=100)
    yield
    assert room.discord.faults.outstanding < 100
    room.discord.faults.forget()


def question(number: int, text: str = "質問") -> Message:
    return Message("user", text, discord_id=number)


class TestWaiting:
    def test_are_the_oldest_few_that_fit_and_one_at_least(self) -> None:
        many = [question(number) for number in range(25)]
        halves = [question(number, "あ" * (MAX_TOGETHER_CHARACTERS // 2)) for number in range(3)]
        huge = [question(1, "あ" * (MAX_TOGETHER_CHARACTERS + 1)), question(2)]
        check(
            (together(many), many[:MAX_TOGETHER]),
            (together(many[:2]), many[:2]),
            (together(halves), halves[:2]),
            (together(huge), huge[:1]),
        )

    async def test_many_are_answered_some_at_a_time(self, room: Room) -> None:
        for number in range(12):
            await room.asks("アイコ", f"質問{number}")
        assert await room.answer()
        assert ("質問9" in room.prompt(), "質問10" in room.prompt()) == (True, False)
        assert [question.content for question in await room.waiting()] == ["質問10", "質問11"]

    async def test_that_was_deleted_since_is_not_answered_and_others_are(self, room: Room) -> None:
        gone = await room.asks("アイコ", "秘密の質問")
        alone = await room.waiting()
        await room.asks("ケン", "元気？")
        both = await room.waiting()
        await room.table.stores.channels.delete([gone.discord_id or 0])
        assert await room.answers.answer(room.key, alone)
        assert (room.table.model.requests, room.shown()) == ([], [])
        await room.answers.answer(room.key, both)
        assert "秘密" not in room.prompt()
        assert (len(room.shown()), await room.waiting()) == (1, ())

    async def test_has_one_message_for_its_answer_however_often_the_database_fails(self, room: Room) -> None:
        await room.asks("アイコ", "ひとつ")
        room.change(full_disk("answer_id"))
        with pytest.raises(StorageError):
            await room.answer()
        room.discord.forget_nonces()
        await room.asks("ケン", "ふたつ")
        with pytest.raises(StorageError):
            await room.answer()
        assert len(room.shown()) == 1
        room.change(ROOM_AGAIN)
        room.table.model.script = [["いち。"], ["に。"]]
        for _ in range(2):
            assert await room.answer()
        assert room.shown() == ["いち。", "に。"]

    async def test_for_an_answer_that_a_kill_kept_from_being_noted_is_served_in_its_message(
        self, room: Room
    ) -> None:
        await room.asks("アイコ", "ひとつ")
        room.change(full_disk("answer_id"))
        with pytest.raises(StorageError):
            await room.answer()
        room.change(ROOM_AGAIN)
        await room.asks("ケン", "ふたつ")
        room.table.model.script = [["いち。"], ["に。"]]
        for _ in range(2):  # of which the next run of the program knows nothing
            next_run = replace(room.answers, _posted={}, _told=set())
            assert await next_run.answer(room.key, await room.waiting())
        assert room.shown() == ["いち。", "に。"]

    async def test_for_too_long_is_told_once_while_the_database_fails(self, room: Room) -> None:
        async def say() -> None:
            await room.answers.say(room.key, await room.waiting(), lambda recipient: "遅くなりました。")

        await room.asks("アイコ", "ひとつ")
        room.change(full_disk("answered"))
        for _ in range(2):
            with pytest.raises(StorageError):
                await say()
            room.discord.forget_nonces()
        room.change(ROOM_AGAIN)
        await say()
        assert (room.shown(), await room.waiting()) == (["遅くなりました。"], ())

    async def test_is_left_to_be_told_by_a_reset_in_the_moment_in_which_its_answer_begins(
        self, room: Room
    ) -> None:
        question = await room.asks("アイコ", "今日は？")
        waiting = await room.waiting()
        await room.table.stores.channels.reset(room.key, bot_id=0, discord_id=question.discord_id or 0)
        assert await room.answers.answer(room.key, waiting)
        assert (room.table.model.requests, room.shown()) == ([], [])
        [left] = await room.table.stores.mentions.list_left_behind(room.key)
        assert left.content == "今日は？"


class TestAnAnswer:
    @pytest.mark.parametrize("anew", [False, True])
    async def test_that_discord_did_not_take_is_shown_later(self, room: Room, *, anew: bool) -> None:
        question = await room.asks("アイコ", "質問")
        room.table.model.script = [["答えです。"], ["別の答えです。"]]
        if anew:
            await room.answer()
            edited = await room.edited(question, "別の質問")
        with refused_edits(room):
            await (room.answers.remake(room.key, edited) if anew else room.answer())
        expected = ["別の答えです。" if anew else "答えです。"]
        assert await room.stored_unseen() == expected
        await room.answers.show_stored(room.key)
        assert (room.shown(), await room.stored_unseen()) == (expected, [])


class TestFiles:
    async def test_that_the_model_refuses_keep_nobody_else_from_their_answer(self, room: Room) -> None:
        await room.asks("アイコ", "これは？", File("a.png", PNG, "image/png"))
        await room.asks("ケン", "元気？")
        room.table.model.script = [[ModelRefusedRequest()], ["元気です。"]]
        await room.answer()
        assert room.shown() == ["元気です。"]
        assert "not shown: the model refused them" in room.prompt()
        assert not any(isinstance(p, UserPart) and p.images for p in room.table.model.requests[-1].prompt)

    async def test_of_several_questions_share_one_limit(self, room: Room) -> None:
        photo = File("a.png", PNG + b"\0" * (7 * 2**20), "image/png")
        for name in ("アイコ", "ケン", "ユキ"):
            await room.asks(name, "これは？", photo)
        await room.answer()
        images = [p.images for p in room.table.model.requests[-1].prompt if isinstance(p, UserPart)]
        assert sum(map(len, images)) == 2
        assert room.prompt().count("not shown: too large") == 1


class TestEdit:
    async def test_is_not_lost_while_the_database_fails(
        self, room: Room, rest: hikari.api.RESTClient
    ) -> None:
        question = await room.asks("アイコ", "今日は？")
        room.table.model.script = [["月曜日です。"], ["火曜日です。"]]
        await room.answer()
        await room.answers.remake(room.key, question)  # which it has seen
        assert len(room.table.model.requests) == 1
        await room.edited(question, "明日は？")
        room.change(full_disk("shown"))
        async with served(room, rest) as mentions:
            await mentions.follow_edit(question.discord_id or 0)
            await asyncio.sleep(0.1)
            assert len(room.table.model.requests) == 1
            room.change(ROOM_AGAIN)
            await room.discord.wait(lambda: room.shown() == ["火曜日です。"], "the new answer")


class TestWhoMayNotUseTheBot:
    async def test_gets_no_new_answer_by_an_edit(self, room: Room, rest: hikari.api.RESTClient) -> None:
        question = await room.asks("アイコ", "今日は？")
        await room.answer()
        await room.edited(question, "明日は？")
        await room.table.stores.access.set("user", question.author_id, "deny", set_by=1)
        async with served(room, rest) as mentions:
            await mentions.follow_edit(question.discord_id or 0)
            await asyncio.sleep(0.05)
        assert len(room.table.model.requests) == 1
        assert await room.table.stores.mentions.list_edited(room.key) == ()

    async def test_is_told_of_maintenance_once_where_owners_are_answered(
        self, room: Room, rest: hikari.api.RESTClient
    ) -> None:
        await room.asks("アイコ", "ひとつ")
        await room.asks("オーナー", "ふたつ")
        await room.table.stores.access.begin_maintenance("9時に戻ります。", set_by=1)
        async with served(room, rest, owners=frozenset({room.people["オーナー"].id})) as mentions:
            mentions.wake(room.key)
            await room.discord.wait(lambda: len(room.shown()) == 2, "both")
        told, answered = room.shown()
        assert ("9時に戻ります。" in told, "ふたつ" in answered) == (True, True)
        assert await room.waiting() == ()


CHANNEL, THREAD = ChannelKey(700), ChannelKey(700, 750)


class TestWithdrawal:
    def test_is_of_an_answer_with_any_of_its_messages(self) -> None:
        withdrawals, stop = Withdrawals(), Stop()
        with withdrawals.watch([10, 11], {20, 21}.__contains__) as answer:
            answer.begin(stop)
            withdrawals.withdraw([10, 30])
            assert not answer.withdrawn
            withdrawals.withdraw([21])
        assert (answer.withdrawn, stop.requested) == (True, True)

    def test_is_of_what_is_in_the_deleted_place(self) -> None:
        """A session is its user's own."""
        for place, deleted, withdrawn in (
            (THREAD, CHANNEL, True),
            (THREAD, THREAD, True),
            (THREAD, ChannelKey(700, 760), False),
            (THREAD, ChannelKey(701), False),
            (CHANNEL, THREAD, False),
            (None, CHANNEL, False),
        ):
            withdrawals = Withdrawals()
            with withdrawals.watch([10], {20}.__contains__, place) as answer:
                withdrawals.withdraw_place(deleted)
            assert answer.withdrawn is withdrawn, (place, deleted)
