"""Sessions: one conversation per key, and its window of messages."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cc_bot.domain import Attachment, Message, Session, SessionKey, ToolCall
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import MAX_REQUEST_IMAGE_BYTES, Visibility
from cc_bot.storage import Database
from cc_bot.stores import Stores
from tests.stores.backends import (
    KEY,
    OTHER_KEYS,
    OTHER_USER,
    OpenStores,
    contents,
    turn,
)
from tests.stores.conversation import CAT, NOTE, heard, say


async def exchange(
    stores: Stores,
    question: Message,
    answer: Message | None = None,
    *,
    key: SessionKey = KEY,
    visibility: Visibility = "public",
) -> Session:
    session = await stores.sessions.open(key, visibility=visibility)
    answer = answer or Message("assistant", "はい", visibility=visibility)
    return await stores.sessions.commit_turn(session, (question, answer))


class TestAReply:
    async def test_comes_back_with_the_beginning_of_what_it_replies_to(self, stores: Stores) -> None:
        text = "1. 海\n" + "あ" * 200
        await exchange(stores, Message("user", "どこへ？"), Message("assistant", text, discord_id=50))
        for number in (51, 53):
            reply = Message("user", "1番", discord_id=number, reply_to=50)
            await exchange(stores, reply, Message("assistant", "はい", discord_id=number + 1))
        *_, right_below, _, read, _ = (await stores.sessions.open(KEY)).history
        assert right_below.references == ()
        [reference] = read.references
        assert (reference.content, reference.author_name) == (text[:100], "")
        assert (reference.shown, read.taints) == (True, False)

    async def test_tells_nothing_of_what_was_private_or_of_another_user(self, stores: Stores) -> None:
        hidden = Message("assistant", "内緒の答え", visibility="private", discord_id=50)
        question = Message("user", "秘密", visibility="private")
        await exchange(stores, question, hidden, visibility="private")
        theirs = Message("assistant", "花子さんの答え", discord_id=60)
        await exchange(stores, Message("user", "何？"), theirs, key=OTHER_USER)
        await say(stores, "ところで")
        for number in (50, 60):
            await exchange(stores, Message("user", "続き", reply_to=number))
        public = (await stores.sessions.open(KEY)).history
        private = (await stores.sessions.open(KEY, visibility="private")).history
        told = [(each.content, each.shown) for m in (*public, *private) for each in m.references]
        assert told == [("", False), ("", False), ("内緒の答え", True), ("", False)]


class TestOpening:
    async def test_gives_each_key_its_own_session_which_outlives_a_restart(
        self, open_again: OpenStores
    ) -> None:
        async with open_again() as stores:
            first = await stores.sessions.open(KEY)
            assert (first.key, first.history) == (KEY, ())
            assert first.created_at == first.last_active
            assert datetime.now(UTC) - first.created_at < timedelta(minutes=1)
            assert await stores.sessions.open(KEY) == first
            await say(stores, "ひみつは123")
            for other in OTHER_KEYS:
                assert await heard(stores, other) == []
            before = await stores.sessions.open(KEY)
        async with open_again() as stores:
            assert await stores.sessions.open(KEY) == before
            assert contents(before.history) == ["ひみつは123", "ひみつは123の答え"]

    async def test_in_passing_stores_and_takes_nothing_where_no_session_is_open(
        self, stores: Stores, database: Database
    ) -> None:
        session = await stores.sessions.open(KEY, lasting=False)
        assert session.history == ()
        assert await database.query("SELECT id FROM sessions") == []
        with pytest.raises(StorageError):
            await stores.sessions.commit_turn(session, turn("残らない"))
        await say(stores, "やあ")
        assert await stores.sessions.open(KEY, lasting=False) == await stores.sessions.open(KEY)


class TestImages:
    async def test_are_read_as_far_as_one_request_may_have_them(self, stores: Stores) -> None:
        half = MAX_REQUEST_IMAGE_BYTES // 2
        image = Attachment("猫.png", "image/png", b"\x89PNG" + bytes(half - 4))
        for files in ((image,), (NOTE,), (image, CAT), (replace(image, name="犬.png"),)):
            await exchange(stores, Message("user", "これ", attachments=files))
        questions = (await stores.sessions.open(KEY)).history[::2]
        shown = [[(file.name, len(file.data)) for file in question.attachments] for question in questions]
        assert shown == [
            [("猫.png", 0)],
            [(NOTE.name, len(NOTE.data))],
            [("猫.png", 0), (CAT.name, len(CAT.data))],
            [("犬.png", half)],
        ]


class TestTurn:
    async def test_is_read_back_as_it_was_committed(self, stores: Stores) -> None:
        question = Message(
            "user", "これは何？ 🐈‍⬛", author_id=7, author_name="花子", discord_id=42, attachments=(CAT, NOTE)
        )
        calls = (
            ToolCall("call_1", "recall", '{"query": "猫"}', "何もありません"),
            ToolCall("call_2", "remember", "{not json", "invalid arguments", ok=False),
        )
        answer = Message("assistant", "猫です。", tool_calls=calls, status="stopped")
        after = await exchange(stores, question, answer)
        assert await stores.sessions.open(KEY) == after
        kept = [replace(each, id=None, created_at=None) for each in after.history]
        assert kept == [replace(question, tainted=True), answer]  # a file holds the words of others
        ids = [message.id or 0 for message in after.history]
        assert 0 < ids[0] < ids[1]
        unnamed = await exchange(stores, *turn("だれ？"))
        assert [message.author_id for message in unnamed.history[2:]] == [KEY.user_id, 0]
        assert await stores.sessions.open(KEY) == unnamed

    async def test_that_cant_be_stored_leaves_no_trace(self, stores: Stores, database: Database) -> None:
        await exchange(stores, *turn("一つ目", discord_id=None))
        mine = await stores.sessions.open(KEY)
        stolen = replace(mine, key=OTHER_USER, history=())
        twice = (Message("user", "二つ目", discord_id=5), Message("assistant", "答え", discord_id=5))
        for session, said in ((mine, twice), (stolen, turn("割り込み", attachments=(CAT,)))):
            with pytest.raises(StorageError):
                await stores.sessions.commit_turn(session, said)
        assert await database.query("SELECT content FROM messages WHERE role = 'user'") == [("一つ目",)]
        assert await database.query("SELECT * FROM attachments") == []

    async def test_that_is_cancelled_is_stored_whole_or_not_at_all_and_the_next_one_goes_on(
        self, stores: Stores, database: Database
    ) -> None:
        session = await stores.sessions.open(KEY)
        for steps in range(12):
            task = asyncio.create_task(stores.sessions.commit_turn(session, turn(f"{steps}")))
            for _ in range(steps % 4):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        await stores.sessions.commit_turn(session, turn("最後"))
        rows = await database.query("SELECT role, content FROM messages ORDER BY id")
        questions, answers = rows[::2], rows[1::2]
        assert [("assistant", f"{text}の答え") for _, text in questions] == list(answers)
        assert rows[-2] == ("user", "最後")


class TestHistory:
    async def test_is_the_last_twenty_messages_that_belong_to_a_session(
        self, stores: Stores, database: Database
    ) -> None:
        session = await stores.sessions.open(KEY)
        after = await stores.sessions.commit_turn(session, [Message("assistant", "独り言")])
        assert after.history == (await stores.sessions.open(KEY)).history == ()
        await say(stores, *(f"{number}" for number in range(15)))
        await database.query(
            "INSERT INTO messages (user_id, channel_id, parent_channel_id, author_id, role, content,"
            " timestamp, created_at) VALUES ($1, $2, $2, $1, 'assistant', 'heartbeat', 0, 0)",
            KEY.user_id,
            KEY.channel_id,
        )
        history = (await stores.sessions.open(KEY)).history
        assert contents(history) == [text for n in range(5, 15) for text in (f"{n}", f"{n}の答え")]

    async def test_in_public_has_nothing_of_what_was_private_which_takes_no_room_in_it(
        self, open_again: OpenStores
    ) -> None:
        async with open_again(history_limit=4) as stores:
            await say(stores, "一", "二")
            for number in range(3):
                await exchange(stores, *turn(f"{number}", visibility="private"), visibility="private")
            assert (await heard(stores))[::2] == ["一", "二"]
            private = (await stores.sessions.open(KEY, visibility="private")).history
            assert contents(private)[::2] == ["1", "2"]
