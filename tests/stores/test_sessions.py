"""Sessions: one conversation per key, and its window of messages."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from freezegun import freeze_time

from cc_bot.domain import Attachment, Message, SessionKey, ToolCall
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import MAX_REQUEST_IMAGE_BYTES
from cc_bot.storage import Database
from cc_bot.stores import Stores
from tests.stores.backends import KEY, OTHER_USER, OpenStores, Recorder, contents, stores_over, turn
from tests.stores.conversation import CAT, NOTE, START, heard, say


class TestAReply:
    async def test_comes_back_with_the_beginning_of_what_it_replies_to(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY)
        said = (Message("user", "どこへ？"), Message("assistant", "1. 海\n" + "あ" * 200, discord_id=50))
        session = await stores.sessions.commit_turn(session, said)
        for number in (51, 53):
            reply = Message("user", "1番", discord_id=number, reply_to=50)
            answer = Message("assistant", "はい", discord_id=number + 1)
            session = await stores.sessions.commit_turn(session, (reply, answer))
        *_, right_below, _, read, _ = (await stores.sessions.open(KEY)).history
        assert right_below.references == ()
        [reference] = read.references
        assert (reference.content, reference.author_name) == (("1. 海\n" + "あ" * 200)[:100], "")
        assert (reference.shown, read.taints) == (True, False)

    async def test_in_public_tells_nothing_of_what_was_private(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY, visibility="private")
        hidden = (
            Message("user", "秘密", visibility="private"),
            Message("assistant", "内緒の答え", visibility="private", discord_id=50),
        )
        session = await stores.sessions.commit_turn(session, hidden)
        session = await stores.sessions.commit_turn(session, turn("ところで"))
        reply = Message("user", "続き", reply_to=50)
        await stores.sessions.commit_turn(session, (reply, Message("assistant", "はい")))
        [shown] = (await stores.sessions.open(KEY, visibility="private")).history[-2].references
        assert (shown.content, shown.shown) == ("内緒の答え", True)
        [hidden_one] = (await stores.sessions.open(KEY)).history[-2].references
        assert (hidden_one.content, hidden_one.shown) == ("", False)

    async def test_tells_nobody_what_another_user_was_answered(self, stores: Stores) -> None:
        other = OTHER_USER
        session = await stores.sessions.open(other)
        await stores.sessions.commit_turn(
            session, (Message("user", "何？"), Message("assistant", "花子さんの答え", discord_id=50))
        )
        session = await stores.sessions.open(KEY)
        await stores.sessions.commit_turn(
            session, (Message("user", "1番", reply_to=50), Message("assistant", "はい"))
        )
        [reference] = (await stores.sessions.open(KEY)).history[0].references
        assert (reference.content, reference.shown) == ("", False)

    async def test_tells_of_a_menu_where_it_was_asked_in_one(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY)
        asked = Message("user", "要約して", reply_to=9, pointing="since")
        session = await stores.sessions.commit_turn(session, (asked, Message("assistant", "海の話")))
        question = await stores.sessions.get_question(KEY.user_id, session.history[-1].id or 0)
        assert question is not None
        assert question.pointing == "since"
        [reference] = (await stores.sessions.open(KEY)).history[0].references
        assert (reference.pointing, reference.shown) == ("since", False)

    async def test_is_the_question_of_its_users_answer_alone(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY)
        session = await stores.sessions.commit_turn(
            session, (Message("user", "どこへ？", reply_to=9), Message("assistant", "海へ"))
        )
        answer_id = session.history[-1].id or 0
        question = await stores.sessions.get_question(KEY.user_id, answer_id)
        assert question is not None
        assert (question.content, question.reply_to) == ("どこへ？", 9)
        assert await stores.sessions.get_question(KEY.user_id + 1, answer_id) is None


class TestOpening:
    async def test_a_first_session_is_empty_and_new(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY)
        assert (session.key, session.history) == (KEY, ())
        assert session.created_at == session.last_active
        assert datetime.now(UTC) - session.created_at < timedelta(minutes=1)

    async def test_again_gives_the_same_session(self, stores: Stores) -> None:
        assert await stores.sessions.open(KEY) == await stores.sessions.open(KEY)

    async def test_at_once_by_many_makes_one_session(self, stores: Stores) -> None:
        sessions = await asyncio.gather(*(stores.sessions.open(KEY) for _ in range(20)))
        assert len({session.id for session in sessions}) == 1

    async def test_after_a_restart_gives_the_same_session(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            await say(stores, "My name is Diego")
            before = await stores.sessions.open(KEY)
        async with open_again() as stores:
            assert await stores.sessions.open(KEY) == before

    @pytest.mark.parametrize(
        "other",
        [
            OTHER_USER,
            SessionKey(KEY.user_id, channel_id=1),
            SessionKey(KEY.user_id, KEY.channel_id, agent="tutor"),
        ],
        ids=["user", "channel", "agent"],
    )
    async def test_under_another_key_knows_nothing_of_this_one(
        self, stores: Stores, other: SessionKey
    ) -> None:
        await say(stores, "ひみつは123")
        assert await heard(stores, other) == []


class TestImages:
    async def test_are_read_as_far_as_one_request_may_have_them(self, stores: Stores) -> None:
        half = MAX_REQUEST_IMAGE_BYTES // 2
        image = Attachment("猫.png", "image/png", b"\x89PNG" + bytes(half - 4))
        session = await stores.sessions.open(KEY)
        for files in ((image,), (NOTE,), (image, CAT), (replace(image, name="犬.png"),)):
            said = (Message("user", "これ", attachments=files), Message("assistant", "はい"))
            session = await stores.sessions.commit_turn(session, said)
        questions = (await stores.sessions.open(KEY)).history[::2]
        shown = [[(file.name, len(file.data)) for file in question.attachments] for question in questions]
        assert shown == [
            [("猫.png", 0)],
            [(NOTE.name, len(NOTE.data))],
            [("猫.png", 0), (CAT.name, len(CAT.data))],
            [("犬.png", half)],
        ]

    async def test_that_were_private_leave_no_less_room_in_public(self, stores: Stores) -> None:
        image = Attachment("猫.png", "image/png", b"\x89PNG" + bytes(MAX_REQUEST_IMAGE_BYTES - 4))
        session = await stores.sessions.open(KEY, visibility="private")
        said = (Message("user", "これ", attachments=(image,)), Message("assistant", "はい"))
        session = await stores.sessions.commit_turn(session, said)
        hidden = (
            Message("user", "秘密", visibility="private", attachments=(CAT,)),
            Message("assistant", "内緒", visibility="private"),
        )
        await stores.sessions.commit_turn(session, hidden)
        [shown] = (await stores.sessions.open(KEY)).history[0].attachments
        assert len(shown.data) == len(image.data)


class TestTurn:
    async def test_is_read_back_as_it_was_committed(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY)
        question = Message(
            "user", "これは何？ 🐈‍⬛", author_id=7, author_name="花子", discord_id=42, attachments=(CAT, NOTE)
        )
        calls = (
            ToolCall("call_1", "recall", '{"query": "猫"}', "何もありません"),
            ToolCall("call_2", "remember", "{not json", "invalid arguments", ok=False),
        )
        answer = Message("assistant", "猫です。", tool_calls=calls, status="stopped")
        after = await stores.sessions.commit_turn(session, (question, answer))
        assert await stores.sessions.open(KEY) == after
        read = after.history[0]
        assert (read.content, read.author_id, read.author_name, read.discord_id) == (
            question.content,
            7,
            "花子",
            42,
        )
        assert read.attachments == (CAT, NOTE)
        assert after.history[1].tool_calls == calls
        assert after.history[1].status == "stopped"

    async def test_gives_its_messages_their_ids_and_time(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY)
        with freeze_time(START, real_asyncio=True):
            after = await stores.sessions.commit_turn(session, turn("今何時？"))
        question, answer = after.history
        assert question.id is not None
        assert answer.id is not None
        assert question.id < answer.id
        assert question.created_at == answer.created_at == after.last_active == START

    async def test_of_an_unnamed_author_is_the_users(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY)
        after = await stores.sessions.commit_turn(session, turn("だれ？"))
        assert [message.author_id for message in after.history] == [KEY.user_id, 0]
        assert [message.author_id for message in (await stores.sessions.open(KEY)).history] == [
            KEY.user_id,
            0,
        ]

    @pytest.mark.parametrize("ms", [0, 1, 123, 999])
    async def test_returns_the_time_that_is_read_back(self, stores: Stores, ms: int) -> None:
        session = await stores.sessions.open(KEY)
        with freeze_time(START + timedelta(milliseconds=ms, microseconds=789), real_asyncio=True):
            after = await stores.sessions.commit_turn(session, turn("時刻"))
            assert await stores.sessions.open(KEY) == after
        assert after.last_active == START + timedelta(milliseconds=ms)

    async def test_with_a_message_that_cant_be_stored_leaves_no_trace(
        self, stores: Stores, database: Database
    ) -> None:
        session = await stores.sessions.open(KEY)
        await stores.sessions.commit_turn(session, turn("一つ目", discord_id=None))
        twice = (Message("user", "二つ目", discord_id=5), Message("assistant", "答え", discord_id=5))
        with pytest.raises(StorageError):
            await stores.sessions.commit_turn(session, twice)
        assert await database.query("SELECT content FROM messages WHERE role = 'user'") == [("一つ目",)]

    async def test_cant_be_put_into_another_users_session(self, stores: Stores) -> None:
        await say(stores, "わたしの話")
        mine = await stores.sessions.open(KEY)
        stolen = type(mine)(mine.id, OTHER_USER, (), mine.created_at, mine.last_active)
        with pytest.raises(StorageError):
            await stores.sessions.commit_turn(stolen, turn("割り込み", attachments=(CAT,)))
        assert await heard(stores) == ["わたしの話", "わたしの話の答え"]

    async def test_costs_one_trip_to_read_and_one_to_write(self, database: Database) -> None:
        recorder = Recorder(database)
        store = stores_over(recorder).sessions
        await store.commit_turn(await store.open(KEY), turn("最初"))
        recorder.trips = 0
        session = await store.open(KEY)
        assert recorder.trips == 1
        await store.commit_turn(session, turn("次", attachments=(CAT,)), replaces=session.history[-1].id)
        assert recorder.trips == 2

    @pytest.mark.parametrize(("file", "trips"), [(NOTE, 2), (CAT, 3)])
    async def test_costs_one_more_trip_to_read_files_and_another_to_read_images(
        self, database: Database, file: Attachment, trips: int
    ) -> None:
        recorder = Recorder(database)
        store = stores_over(recorder).sessions
        await store.commit_turn(await store.open(KEY), turn("最初", attachments=(file,)))
        recorder.trips = 0
        session = await store.open(KEY)
        assert (recorder.trips, session.history[0].attachments) == (trips, (file,))

    async def test_of_many_at_once_in_one_session_stay_whole_and_in_order(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY)
        await asyncio.gather(
            *(stores.sessions.commit_turn(session, turn(f"質問{number}")) for number in range(10))
        )
        history = (await stores.sessions.open(KEY)).history
        assert contents(history) == [
            text for number in range(10) for text in (f"質問{number}", f"質問{number}の答え")
        ]
        ids = [message.id or 0 for message in history]
        assert ids == sorted(ids)

    async def test_of_fifty_sessions_at_once_stay_apart(self, stores: Stores) -> None:
        keys = [SessionKey(user, channel) for user in range(1, 11) for channel in range(5)]

        async def talk(key: SessionKey) -> None:
            for number in range(3):
                session = await stores.sessions.open(key)
                await stores.sessions.commit_turn(session, turn(f"{key.user_id}/{key.channel_id}/{number}"))

        await asyncio.gather(*map(talk, keys))
        for key in keys:
            name = f"{key.user_id}/{key.channel_id}"
            assert (await heard(stores, key))[::2] == [f"{name}/0", f"{name}/1", f"{name}/2"]


class TestCancelledTurn:
    async def test_is_stored_whole_or_not_at_all_and_the_next_one_goes_on(
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
    async def test_is_the_last_twenty_messages_first_in_first_out(self, stores: Stores) -> None:
        await say(stores, *(f"{number}" for number in range(15)))
        history = (await stores.sessions.open(KEY)).history
        assert len(history) == 20
        assert contents(history)[::2] == [f"{number}" for number in range(5, 15)]

    async def test_never_starts_with_an_answer(self, open_again: OpenStores) -> None:
        async with open_again(history_limit=3) as stores:
            await say(stores, "一", "二", "三")
            assert await heard(stores) == ["三", "三の答え"]

    async def test_of_a_lone_answer_is_empty(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY)
        after = await stores.sessions.commit_turn(session, [Message("assistant", "独り言")])
        assert after.history == ()
        assert await heard(stores) == []

    async def test_without_a_limit_is_the_whole_session(self, open_again: OpenStores) -> None:
        async with open_again(history_limit=0) as stores:
            await say(stores, *(f"{number}" for number in range(30)))
            assert len(await heard(stores)) == 60

    async def test_returned_by_commit_is_what_the_next_open_reads(self, open_again: OpenStores) -> None:
        async with open_again(history_limit=5) as stores:
            session = await stores.sessions.open(KEY)
            for number in range(6):
                session = await stores.sessions.commit_turn(session, turn(f"{number}"))
                assert await stores.sessions.open(KEY) == session

    async def test_has_no_message_without_a_session(self, stores: Stores, database: Database) -> None:
        await say(stores, "やあ")
        await database.query(
            "INSERT INTO messages (user_id, channel_id, parent_channel_id, author_id, role, content,"
            " timestamp, created_at) VALUES ($1, $2, $2, $1, 'assistant', 'heartbeat', 0, 0)",
            KEY.user_id,
            KEY.channel_id,
        )
        assert await heard(stores) == ["やあ", "やあの答え"]


class TestPassingSession:
    async def test_is_not_stored(self, stores: Stores, database: Database) -> None:
        session = await stores.sessions.open(KEY, lasting=False)
        assert session.history == ()
        assert await database.query("SELECT id FROM sessions") == []

    async def test_takes_nothing(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY, lasting=False)
        with pytest.raises(StorageError):
            await stores.sessions.commit_turn(session, turn("残らない"))

    async def test_is_the_open_one_where_there_is_one(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY)
        await stores.sessions.commit_turn(session, turn("やあ"))
        passing = await stores.sessions.open(KEY, lasting=False)
        assert passing == await stores.sessions.open(KEY)
