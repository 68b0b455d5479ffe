"""Sessions: one conversation per key, its window of messages, and what of it is shown."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.sessions import SessionStore
from cc_bot.db import Database
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import MAX_REQUEST_IMAGE_BYTES, Attachment, Message, ToolCall, Visibility
from cc_bot.domain.session import Session, SessionKey
from tests.stores.backends import (
    KEY,
    OTHER_KEYS,
    OTHER_USER,
    OpenStores,
    Recorder,
    columns_of,
    contents,
    turn,
)
from tests.stores.conversation import CAT, NOTE, REPORT, attachments_kept, heard, say


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
        assert (reference.is_visible, read.is_tainting) == (True, False)

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
        told = [(each.content, each.is_visible) for m in (*public, *private) for each in m.references]
        assert told == [("", False), ("", False), ("内緒の答え", True), ("", False)]


class TestOpening:
    async def test_gives_each_key_its_own_which_outlives_a_restart(self, open_again: OpenStores) -> None:
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

    async def test_in_passing_stores_and_takes_nothing(self, stores: Stores, database: Database) -> None:
        session = await stores.sessions.open(KEY, store=False)
        assert session.history == ()
        assert await database.query("SELECT id FROM sessions") == []
        with pytest.raises(StorageError):
            await stores.sessions.commit_turn(session, turn("残らない"))
        await say(stores, "やあ")
        assert await stores.sessions.open(KEY, store=False) == await stores.sessions.open(KEY)


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

    async def test_that_is_cancelled_is_stored_whole_or_not(self, stores: Stores, database: Database) -> None:
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
    async def test_is_of_the_last_twenty_messages(self, stores: Stores, database: Database) -> None:
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

    async def test_in_public_has_nothing_private_nor_its_room(self, open_again: OpenStores) -> None:
        async with open_again(history_limit=4) as stores:
            await say(stores, "一", "二")
            for number in range(3):
                await exchange(stores, *turn(f"{number}", visibility="private"), visibility="private")
            assert (await heard(stores))[::2] == ["一", "二"]
            private = (await stores.sessions.open(KEY, visibility="private")).history
            assert contents(private)[::2] == ["1", "2"]


class TestReplacedAnswer:
    async def test_leaves_for_the_new_one_but_the_archive(self, stores: Stores, database: Database) -> None:
        session = await stores.sessions.open(KEY)
        question, answer = turn("詩を書いて")
        with_file = Message("user", question.content, attachments=(CAT,))
        session = await stores.sessions.commit_turn(session, (with_file, answer))
        old = session.history[-1].id
        after = await stores.sessions.commit_turn(session, [Message("assistant", "別の詩")], replaces=old)
        assert contents(after.history) == ["詩を書いて", "別の詩"]
        assert after.history[0].attachments == (CAT,)
        assert await stores.sessions.open(KEY) == after
        assert await database.query("SELECT content, status FROM messages ORDER BY id") == [
            ("詩を書いて", "complete"),
            ("詩を書いての答え", "replaced"),
            ("別の詩", "complete"),
        ]

    async def test_is_never_a_question_nor_another_users(self, stores: Stores) -> None:
        await say(stores, "わたしの話")
        mine = await stores.sessions.open(KEY)
        theirs = await stores.sessions.open(OTHER_USER)
        await stores.sessions.commit_turn(theirs, turn("横取り"), replaces=mine.history[-1].id)
        assert await heard(stores) == ["わたしの話", "わたしの話の答え"]
        after = await stores.sessions.commit_turn(mine, turn("次"), replaces=mine.history[0].id)
        assert contents(after.history)[0] == "わたしの話"
        assert await stores.sessions.open(KEY) == after


class TestAttachments:
    async def test_leave_with_their_message_alone(self, open_again: OpenStores, database: Database) -> None:
        async with open_again(history_limit=4) as stores:
            for key in (KEY, OTHER_USER):
                session = await stores.sessions.open(key)
                await stores.sessions.commit_turn(session, turn("猫", attachments=(CAT,)))
            await say(stores, "一")
            assert await attachments_kept(database) == 4
            await say(stores, "二")
            await stores.sessions.clear(KEY)
            assert await attachments_kept(database) == 2
            assert (await stores.sessions.open(OTHER_USER)).history[0].attachments == (CAT,)

    async def test_stay_while_any_history_has_them(self, open_again: OpenStores, database: Database) -> None:
        async with open_again(history_limit=2) as stores:
            session = await stores.sessions.open(KEY)
            await stores.sessions.commit_turn(session, turn("猫", attachments=(CAT,)))
            private = await stores.sessions.open(KEY, visibility="private")
            for text in ("一", "二"):
                hidden = turn(text, visibility="private", attachments=(NOTE,))
                await stores.sessions.commit_turn(private, hidden)
            assert (await stores.sessions.open(KEY)).history[0].attachments == (CAT,)
            assert await attachments_kept(database) == 4
            await say(stores, "三", "四")  # public ones push out a private one
            assert await attachments_kept(database) == 0

    async def test_of_documents_come_back_as_text_alone(self, stores: Stores, database: Database) -> None:
        session = await stores.sessions.open(KEY)
        await stores.sessions.commit_turn(session, turn("報告書", attachments=(REPORT, CAT)))
        found = (await stores.sessions.open(KEY)).history[0].attachments
        assert found == (replace(REPORT, data=b""), CAT)
        kept = await database.query("SELECT data FROM attachments WHERE name = $1", REPORT.name)
        assert {*kept} == {(REPORT.data,)}


class TestView:
    async def test_lists_sessions_with_their_last_messages(self, stores: Stores, database: Database) -> None:
        await say(stores, *(f"{number}" for number in range(15)))
        session = await stores.sessions.open(KEY)
        new = [Message("assistant", "別の答え")]
        session = await stores.sessions.commit_turn(session, new, replaces=session.history[-1].id)
        await stores.sessions.clear(KEY)
        columns = await columns_of(database, "session_history")
        assert columns == ("id", "user_id", "channel_id", "history", "created_at", "last_active")
        row, cleared = await database.query("SELECT * FROM session_history ORDER BY created_at")
        assert row[:3] == (session.id, KEY.user_id, KEY.channel_id)
        times = [datetime.fromisoformat(moment) for moment in row[4:]]
        assert times == [session.created_at, session.last_active]
        expected = [text for number in range(5, 15) for text in (f"{number}", f"{number}の答え")]
        history = json.loads(row[3])
        assert [message["content"] for message in history] == [*expected[:-1], "別の答え"]
        assert history[0] == {"role": "user", "content": "5"}
        assert json.loads(cleared[3]) == []


class TestPages:
    async def test_of_a_cleared_session_or_another_users_are_not_shown(self, database: Database) -> None:
        recorder = Recorder(database)
        store = SessionStore(recorder, history_limit=0, page_size=4)
        for number in range(5):
            await store.commit_turn(await store.open(KEY), turn(f"質問{number}"))
        mine = await store.open(KEY)
        assert (contents(mine.history)[::2], mine.has_more) == (["質問3", "質問4"], True)
        stolen = Session(mine.id, OTHER_USER, (), mine.created_at, mine.last_active, has_more=True)
        assert (await store.load_earlier(stolen, visibility="private")).history == ()
        whole = await store.load_earlier(await store.load_earlier(mine))
        assert (len(whole.history), whole.has_more) == (10, False)
        recorder.trips = 0
        assert await store.load_earlier(whole) is whole
        assert recorder.trips == 0
        await store.clear(KEY)
        again = await store.load_earlier(mine)
        assert (again.history, again.has_more) == (mine.history, False)
