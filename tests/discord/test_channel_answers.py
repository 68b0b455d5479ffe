"""Answers to mentions, with real stores, a scripted model and a Discord double over REST."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import pytest
from structlog.testing import capture_logs

from cc_bot.chat.stores.ledger import Mention, channel_turn_id
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.delivery.outlets import UNREACHABLE_EMOJI, MessageReplies
from cc_bot.discord.delivery.reply import ExpectedDeletions
from cc_bot.discord.locations import LruCache
from cc_bot.discord.messages import mentions as queue
from cc_bot.discord.messages.mentions import MAX_CONCURRENT_USERS, MentionAnswerer, MentionQueue, WaitingUser
from cc_bot.discord.pages.custom_ids import RetryButton, parse_custom_id
from cc_bot.domain.errors import ModelError, ModelRefusedRequest, ModelUnavailable, StorageError
from cc_bot.domain.message import ChannelKey, Message, ToolCall
from cc_bot.domain.text import Locale
from cc_bot.features.memory.texts import ReceiptTexts
from cc_bot.llm.model import ToolRequest, UserPart
from cc_bot.texts import explain, texts
from cc_bot.texts.answer import AnswerTexts, MentionTexts
from tests.assistant.conftest import Table, laid_table
from tests.discord.parts import (
    BotChannel,
    boards_over,
    chooser_over,
    gate_over,
    recipients_over,
    references_over,
    running_over,
)
from tests.loopback.discord import File, Permission, User, refusals
from tests.loopback.discord import Message as Post
from tests.stores.locations import list_edited, list_waiting

FAILED = explain(ModelUnavailable(), texts(Locale.JA))
REMEMBER = ToolRequest("1", "remember", '{"content": "犬が好き"}')
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1"
POST = "POST /channels/{channel}/messages"
EDIT = "PATCH /channels/{channel}/messages/{message}"
ROOM_AGAIN = "DROP TRIGGER disk_is_full"


def full_disk(column: str) -> str:
    """Return a trigger that makes writes of a column fail."""
    fails = "BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END"
    return f"CREATE TRIGGER disk_is_full BEFORE UPDATE OF {column} ON turns {fails}"


@dataclass
class Room(BotChannel):
    """A channel with users, and the bot's answers there."""

    table: Table
    answers: MentionAnswerer
    people: dict[str, User] = field(default_factory=dict)
    posts: dict[str, Post] = field(default_factory=dict)

    async def asks(self, name: str, text: str, *files: File) -> Message:
        """Post a question of a user, and store it."""
        user = self.people.setdefault(name, self.discord.user(name, locale="ja"))
        posted = await self.discord.post(user, self.channel, text, mention=True, attachments=files)
        self.posts[text] = posted
        content = "\n".join((text, *(f"[file: {file.name}]" for file in files)))
        question = Message("user", content, discord_id=posted.id, author_id=user.id, author_name=name)
        await self.stores.channels.add(self.key, question, is_question=True)
        return question

    async def answer(self) -> bool:
        """Answer the user who has waited longest."""
        waiting = await self.mentions()
        author_id = waiting[0].question.author_id
        mine = [each for each in waiting if each.question.author_id == author_id]
        return await self.answers.answer(await self.user(author_id), mine)

    async def remake(self, question: Message, *, again: bool = False) -> bool:
        user = await self.user(question.author_id)
        return await self.answers.answer_edit(user, question, reopen_failed=again)

    async def user(self, user_id: int, key: ChannelKey | None = None) -> WaitingUser:
        key = key or self.key
        state = await self.stores.access.get_user_record(user_id, (key.location_id,))
        return WaitingUser(user_id, key, state)

    async def mentions(self, key: ChannelKey | None = None) -> list[Mention]:
        due = await self.stores.ledger.list_due(key or self.key)
        return [each for each in due if each.state == "accepted"]

    async def answer_fails(self) -> None:
        with pytest.raises(StorageError):
            await self.answer()

    async def waiting(self) -> tuple[Message, ...]:
        return await list_waiting(self.stores, self.key)

    async def stored_unseen(self) -> list[str]:
        """Return the stored answers that are not shown yet."""
        return [message.content for message in await self.stores.ledger.list_unshown(self.key)]

    async def edited(self, question: Message, text: str) -> Message:
        """Edit a question, and return it."""
        await self.stores.channels.edit(question.discord_id or 0, text)
        [edited] = await list_edited(self.stores, self.key)
        return edited

    async def done(self) -> None:
        """Wait until all questions are answered and shown."""
        await self.until(
            lambda: not self.execute("SELECT 1 FROM turns WHERE state NOT IN ('shown', 'interrupted')")
        )

    def replies(self) -> dict[str, str]:
        """Return the bot's answers, by question, in the order of the questions."""
        answers = {text: self.discord.answer(post) for text, post in self.posts.items()}
        return {question: answer.text for question, answer in answers.items() if answer.messages}

    def has_shown(self, tries: int, labels: list[str]) -> bool:
        """Return whether the model was asked `tries` times, and the only message has these buttons."""
        return len(self.table.model.requests) == tries and self.written()[0].labels == labels

    def prompt(self) -> str:
        return "\n".join(getattr(part, "text", "") for part in self.table.model.requests[-1].prompt)

    @asynccontextmanager
    async def served(self) -> AsyncIterator[MentionQueue]:
        """Answer all waiting questions, and retry failures soon."""
        mentions = MentionQueue(self.answers, gate_over(self.stores, self.rest))
        yield mentions
        mentions.close()
        await mentions.finish()


@pytest.fixture
async def room(location: BotChannel, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Room]:
    monkeypatch.setattr(queue, "RETRY_S", 0.05)
    rest, location.folder = location.rest, location.folder / "table"
    location.folder.mkdir()
    async with laid_table(location.folder, max_turns=8) as table:
        location.stores = stores = table.stores
        me = await rest.fetch_my_user()
        runner = Answers(
            table.assistant,
            running_over(stores, rest),
            chooser_over(stores, rest),
            recipients_over(stores),
            references_over(stores, rest, me),
            boards_over(stores, rest),
            MessageReplies(rest, ExpectedDeletions(), stores.channels),
        )
        answers = MentionAnswerer(stores, runner, LruCache(9))
        yield Room(**vars(location), table=table, answers=answers)


class TestWaiting:
    async def test_many_are_answered_some_at_a_time(self, room: Room) -> None:
        for number in range(12):
            await room.asks("アイコ", f"質問{number}")
        assert await room.answer()
        assert ("質問9" in room.prompt(), "質問10" in room.prompt()) == (True, False)
        assert [question.content for question in await room.waiting()] == ["質問10", "質問11"]

    async def test_in_a_thread_tells_the_model_what_that_is_called(self, room: Room) -> None:
        thread = room.discord.thread(room.channel, "冷蔵庫が鳴る")
        key = ChannelKey(room.channel.id, thread.id)
        posted = await room.discord.post(room.aiko, thread, "どうしたらいい？", mention=True)
        question = Message("user", posted.content, discord_id=posted.id, author_id=room.aiko.id)
        await room.stores.channels.add(key, question, is_question=True)
        assert await room.answers.answer(await room.user(room.aiko.id, key), await room.mentions(key))
        assert "冷蔵庫が鳴る" in room.prompt()

    async def test_that_was_deleted_since_is_not_answered_and_others_are(self, room: Room) -> None:
        gone = await room.asks("アイコ", "秘密の質問")
        alone, user = await room.mentions(), await room.user(gone.author_id)
        await room.asks("アイコ", "元気？")
        both = await room.mentions()
        await room.stores.channels.delete([gone.discord_id or 0])
        assert await room.answers.answer(user, alone)
        assert (room.table.model.requests, room.written()) == ([], [])
        await room.answers.answer(user, both)
        assert "秘密" not in room.prompt()
        assert (len(room.written()), await room.waiting()) == (1, ())

    async def test_has_one_message_for_its_answer_however_often_the_database_fails(self, room: Room) -> None:
        await room.asks("アイコ", "ひとつ")
        room.execute(full_disk("shown_in"))
        await room.answer_fails()
        room.discord.forget_nonces()
        await room.asks("ケン", "ふたつ")
        await room.answer_fails()
        assert len(room.written()) == 1
        room.execute(ROOM_AGAIN)
        room.table.model.script = [["いち。"], ["に。"]]
        for _ in range(2):
            assert await room.answer()
        assert room.texts() == ["いち。", "に。"]

    async def test_for_an_answer_that_a_kill_kept_from_being_noted_is_served_in_its_message(
        self, room: Room
    ) -> None:
        await room.asks("アイコ", "ひとつ")
        room.execute(full_disk("shown_in"))
        await room.answer_fails()
        room.execute(ROOM_AGAIN)
        await room.asks("ケン", "ふたつ")
        room.table.model.script = [["いち。"], ["に。"]]
        for _ in range(2):  # of which the next run of the program knows nothing
            room.answers = replace(room.answers, _unrecorded_answer_ids={})
            assert await room.answer()
        assert room.texts() == ["いち。", "に。"]


class TestPeople:
    """Users who ask in one channel at the same time."""

    async def test_are_answered_separately_and_one_fault_of_the_model_fails_one(self, room: Room) -> None:
        for name in ("アイコ", "ケン", "チエ"):
            await room.asks(name, f"{name}の質問")
        room.table.model.script = [[ModelUnavailable()]]
        async with room.served() as mentions:
            mentions.wake(room.key)
            await room.done()
        replies = room.replies()
        failed = [question for question, text in replies.items() if text.startswith(FAILED)]
        assert len(failed) == 1
        for question in replies.keys() - failed:
            assert replies[question].endswith(f": {question}")
        assert all(request.tools for request in room.table.model.requests)

    async def test_have_one_answer_to_what_one_of_them_asks_while_waiting(self, room: Room) -> None:
        go_on = asyncio.Event()
        room.table.model.script = [["はい。", go_on], ["降ります。"]]
        async with room.served() as mentions:
            await room.asks("アイコ", "犬は？")
            mentions.wake(room.key)
            await room.table.model.asked()
            for name, text in (("アイコ", "猫は？"), ("ケン", "雨？"), ("アイコ", "鳥は？")):
                await room.asks(name, text)
                mentions.wake(room.key)
                await room.until(lambda: room.discord.calls("POST /channels/{channel}/typing"))
            await room.table.model.asked()
            go_on.set()
            await room.done()
        assert [*room.replies()] == ["犬は？", "雨？", "鳥は？"]
        assert len(room.table.model.requests) == 3
        assert [room.prompt().count(text) for text in ("犬は？", "雨？", "猫は？", "鳥は？")] == [1, 1, 1, 1]

    async def test_have_long_answers_whose_pages_all_belong_to_their_questions(self, room: Room) -> None:
        go_on = asyncio.Event()
        room.table.model.script = [["はい。", go_on, "a。" * 1500], ["いいえ。", go_on, "b。" * 1500]]
        async with room.served() as mentions:
            for name in ("アイコ", "ケン"):
                await room.asks(name, f"{name}の質問")
                mentions.wake(room.key)
                await room.table.model.asked()
            go_on.set()
            await room.done()
        assert [{*text} & {"a", "b"} for text in room.replies().values()] == [{"a"}, {"b"}]

    async def test_beyond_those_who_are_answered_at_once_wait_for_one_of_them(self, room: Room) -> None:
        go_on, people = asyncio.Event(), [f"人{number}" for number in range(MAX_CONCURRENT_USERS + 2)]
        room.table.model.script = [["はい。", go_on] for _ in people]
        for name in people:
            await room.asks(name, f"{name}の質問")
        async with room.served() as mentions:
            mentions.wake(room.key)
            for _ in range(MAX_CONCURRENT_USERS):
                await room.table.model.asked()
            assert len(room.written()) == MAX_CONCURRENT_USERS
            go_on.set()
            await room.done()
        assert [*room.replies()] == [f"{name}の質問" for name in people]

    async def test_who_ask_after_a_fault_wait_for_nothing(
        self, room: Room, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(queue, "RETRY_S", 3600)
        await room.asks("アイコ", "ひとつ")
        room.discord.fail_next(POST, 401)
        async with room.served() as mentions:
            mentions.wake(room.key)
            await room.until(lambda: room.discord.faults.outstanding == 0)
            await room.asks("ケン", "ふたつ")
            mentions.wake(room.key)
            await room.done()
        assert [*room.replies()] == ["ひとつ", "ふたつ"]


class TestAnAnswer:
    @pytest.mark.parametrize("anew", [False, True])
    async def test_that_discord_did_not_take_is_shown_later(self, room: Room, *, anew: bool) -> None:
        question = await room.asks("アイコ", "質問")
        room.table.model.script = [["答えです。"], ["別の答えです。"]]
        if anew:
            await room.answer()
            edited = await room.edited(question, "別の質問")
        room.aiko.accepts_dms = room.people["アイコ"].accepts_dms = False
        room.discord.refuse(EDIT, refusals.missing_access())
        await (room.remake(edited) if anew else room.answer())
        room.discord.faults.forget()
        expected = ["別の答えです。" if anew else "答えです。"]
        assert await room.stored_unseen() == expected
        await room.answers.show_stored(await room.user(question.author_id))
        assert (room.texts(), await room.stored_unseen()) == (expected, [])

    async def test_that_can_not_be_stored_leaves_the_one_before_and_tells_what_was_done(
        self, room: Room
    ) -> None:
        question = await room.asks("アイコ", "質問")
        room.table.model.script = [["答えです。"], [REMEMBER], ["別の答えです。"]]
        await room.answer()
        edited = await room.edited(question, "犬が好き。覚えて")
        room.execute(full_disk("shown_in"))
        await room.remake(edited)
        shown, card = room.written()
        words = texts(Locale.JA)
        assert shown.content == "答えです。"
        assert explain(StorageError(), words) in shown.text
        assert card.text == words[ReceiptTexts].added.format(number="", content=words[ReceiptTexts].hidden)
        assert card.labels == [words[ReceiptTexts].undo]

    async def test_of_any_length_is_shown_where_the_bot_may_not_attach_files(self, room: Room) -> None:
        room.discord.forbid(room.discord.bot, Permission.ATTACH_FILES, room.channel)
        lines = [f"{number}行目です。" for number in range(1500)]
        room.table.model.script = [["\n".join(lines)]]
        await room.asks("アイコ", "長い話をして")
        assert await room.answer()
        assert "\n".join(room.texts()).split("\n") == lines
        assert await room.stored_unseen() == []

    async def test_comes_by_dm_where_the_bot_may_not_write_or_is_given_up(self, room: Room) -> None:
        room.discord.forbid(room.discord.bot, Permission.SEND_MESSAGES, room.channel)
        room.answers.answers.recipients.guilds.by_channel[room.channel.id] = room.discord.guild.id
        asked = [await room.asks("アイコ", "元気？")]
        room.table.model.script = [["元気です。"], ["まだ元気です。"]]
        assert await room.answer()
        [shown] = room.written(room.discord.dm(room.people["アイコ"]))
        assert (shown.content, await room.stored_unseen()) == ("元気です。", [])
        assert f"/{room.channel.id}/{asked[0].discord_id}" in shown.text
        room.people["アイコ"].accepts_dms = False
        asked.append(await room.asks("アイコ", "まだ元気？"))
        with capture_logs() as records:
            assert await room.answer()
        assert (await room.waiting(), room.texts()) == ((), [])
        assert [each["event"] for each in records if each["log_level"] == "warning"] == ["answer_not_allowed"]
        assert room.posts["まだ元気？"].reactions == [UNREACHABLE_EMOJI]
        room.discord.forbid(room.discord.bot, Permission.ADD_REACTIONS, room.channel)
        await room.asks("アイコ", "もしもし？")
        assert await room.answer()

    @pytest.mark.usefixtures("uncollected")
    async def test_that_fails_lets_go_of_its_pictures(self, room: Room) -> None:
        await room.asks("アイコ", "これは？", File("a.png", PNG, "image/png"))
        room.table.model.script = [[ModelRefusedRequest()]]
        await room.answer()
        shown = (await room.table.model.asked()).prompt[-1]
        assert isinstance(shown, UserPart)
        assert gc.get_referrers(shown.images[0]) == [shown.images]


class TestAFailedAnswer:
    async def test_that_discord_did_not_take_is_asked_again(self, room: Room) -> None:
        await room.asks("アイコ", "質問")
        room.table.model.script = [[ModelUnavailable()], ["答えです。"]]
        room.people["アイコ"].accepts_dms = False
        room.discord.refuse(EDIT, refusals.missing_access())
        assert not await room.answer()
        room.discord.faults.forget()
        assert await room.answer()
        assert [(shown.text, shown.labels) for shown in room.written()] == [("答えです。", [])]

    async def test_becomes_the_answer_once_its_asker_asks_again(self, room: Room) -> None:
        room.table.model.script = [[ModelUnavailable()], [ModelUnavailable()], ["元気です。"]]
        [asked, _] = [await room.asks("アイコ", text) for text in ("やあ", "元気？")]
        assert await room.answer()
        again = texts(Locale.JA)[AnswerTexts].try_again
        async with room.served() as mentions:
            for tries, labels in ((2, [again]), (3, [])):
                [failed] = room.written()
                [button] = failed.buttons
                pressed = parse_custom_id(button.custom_id or "")
                assert isinstance(pressed, RetryButton)
                assert (button.label, pressed.user_id) == (again, asked.author_id)
                assert not await mentions.ask_again(pressed.turn_id, room.aiko.id, failed.id)
                assert await mentions.ask_again(pressed.turn_id, asked.author_id, failed.id)
                assert not await mentions.ask_again(pressed.turn_id, asked.author_id, failed.id)
                await room.until(partial(room.has_shown, tries, labels))
        assert room.texts() == ["元気です。"]
        assert "やあ" in room.prompt()

    @pytest.mark.parametrize("error", [ModelUnavailable(), ModelRefusedRequest()])
    async def test_becomes_the_answer_to_what_its_question_is_edited_to(
        self, room: Room, error: ModelError
    ) -> None:
        room.table.model.script = [[error], ["火曜日です。"]]
        [first, _] = [await room.asks("アイコ", text) for text in ("ねえ", "今日は？")]
        assert await room.answer()
        [failed] = room.written()
        edited = await room.edited(first, "あのね")
        assert await room.remake(edited)  # long ago
        assert await room.waiting() == ()
        await room.edited(first, "明日は？")
        async with room.served() as mentions:
            await mentions.handle_edit(first.discord_id or 0)
            await room.until(partial(room.has_shown, 2, []))
        assert [(shown.id, shown.text, shown.labels) for shown in room.written()] == [
            (failed.id, "火曜日です。", [])
        ]
        assert [text in room.prompt() for text in ("明日は？", "今日は？", "あのね")] == [True, True, False]

    async def test_goes_on_from_what_its_tools_had_done_when_it_is_asked_again(self, room: Room) -> None:
        question = await room.asks("アイコ", "覚えて")
        call = ToolCall("c", "remember", "{}", "{}")
        turn = channel_turn_id(question.discord_id or 0)
        await room.stores.ledger.note_calls(turn, question.author_id, [call])
        room.table.model.script = [[ModelUnavailable()], ["はい。"]]
        assert await room.answer()
        [failed] = room.written()
        assert await room.stores.ledger.reopen(room.key, question.author_id, failed.id)
        assert await room.answer()
        assert "remember" in str(room.table.model.requests[-1].prompt[-2:])


class TestAWithdrawnAnswer:
    @pytest.mark.parametrize("locale", Locale)
    async def test_is_removed_and_its_asker_reads_in_a_dm_what_was_done_by_then(
        self, room: Room, locale: Locale
    ) -> None:
        go_on, words = asyncio.Event(), texts(locale)
        for script, told in (([REMEMBER], True), (["読まないで"], False)):
            question = await room.asks("アイコ", "犬が好きです。覚えて" if told else "質問")
            await room.stores.settings.set(question.author_id, locale=locale)
            room.table.model.script = [script, [go_on]] if told else [[*script, go_on]]
            answering = asyncio.create_task(room.answer())
            for _ in range(1 + told):
                await room.table.model.asked()
            await room.stores.channels.delete([question.discord_id or 0])
            room.answers.answers.running_turns.handle_deletion([question.discord_id or 0])
            assert await answering
            assert room.written() == []
        dm, card = room.written(room.discord.dm(room.people["アイコ"]))
        assert dm.text.startswith(words[MentionTexts].message_deleted)
        assert card.text.startswith(words[ReceiptTexts].added.format(number="", content="犬が好き"))
        assert card.labels == [words[ReceiptTexts].undo]


class TestEdit:
    async def test_is_not_lost_while_the_database_fails(self, room: Room) -> None:
        question = await room.asks("アイコ", "今日は？")
        room.table.model.script = [["月曜日です。"], *[["火曜日です。"]] * 50]
        await room.answer()
        await room.remake(question)  # which it has seen
        assert len(room.table.model.requests) == 1
        await room.edited(question, "明日は？")
        room.execute(full_disk("state"))
        async with room.served() as mentions:
            await mentions.handle_edit(question.discord_id or 0)
            await room.until(lambda: len(room.table.model.requests) > 3)
            assert await list_edited(room.stores, room.key) != ()
            room.execute(ROOM_AGAIN)
            await room.until(lambda: not room.execute("SELECT 1 FROM turns WHERE state = 'edited'"))

    async def test_remakes_the_answer_of_its_author_alone_also_where_others_have_a_newer_one(
        self, room: Room
    ) -> None:
        room.table.model.script = [["月曜日です。"], ["降ります。"], ["火曜日です。"]]
        question = await room.asks("アイコ", "今日は？")
        await room.answer()
        await room.asks("ケン", "雨？")
        await room.answer()
        edited = await room.edited(question, "明日は？")
        assert await room.remake(edited)
        assert room.replies() == {"今日は？": "火曜日です。", "雨？": "降ります。"}

    async def test_gets_no_new_answer_for_who_may_not_use_the_bot(self, room: Room) -> None:
        question = await room.asks("アイコ", "今日は？")
        await room.answer()
        await room.edited(question, "明日は？")
        await room.stores.access.set("user", question.author_id, "deny", set_by=1)
        async with room.served() as mentions:
            await mentions.handle_edit(question.discord_id or 0)
            await asyncio.sleep(0.05)
        assert len(room.table.model.requests) == 1
        assert await list_edited(room.stores, room.key) == ()
