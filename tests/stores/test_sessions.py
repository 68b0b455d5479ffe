"""Sessions: one conversation per key, its window of messages, and how it ends."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from freezegun import freeze_time

from cc_bot.domain import Attachment, Message, SessionKey, ToolCall
from cc_bot.domain.errors import StorageError
from cc_bot.storage import Database
from cc_bot.stores import Stores
from tests.stores.backends import KEY, OTHER_USER, OpenStores, Recorder, contents, stores_over, turn

START = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
CAT = Attachment("猫.png", "image/png", b"\x89PNG\0\xff")
NOTE = Attachment("メモ.txt", "text/plain", "牛乳を買う".encode())


async def say(stores: Stores, *texts: str, key: SessionKey = KEY) -> None:
    for text in texts:
        session = await stores.sessions.open(key)
        await stores.sessions.commit_turn(session, turn(text))


async def heard(stores: Stores, key: SessionKey = KEY) -> list[str]:
    return contents((await stores.sessions.open(key)).history)


async def attachments_kept(database: Database) -> int:
    [(number,)] = await database.query("SELECT count(*) FROM attachments")
    return int(number)


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

    async def test_costs_one_more_trip_to_read_files(self, database: Database) -> None:
        recorder = Recorder(database)
        store = stores_over(recorder).sessions
        await store.commit_turn(await store.open(KEY), turn("最初", attachments=(CAT,)))
        recorder.trips = 0
        session = await store.open(KEY)
        assert (recorder.trips, session.history[0].attachments) == (2, (CAT,))

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


class TestPrivacy:
    async def test_a_public_turn_is_not_shown_what_was_said_in_private(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY, visibility="private")
        await stores.sessions.commit_turn(session, turn("ひみつ", visibility="private"))
        await say(stores, "公開")
        assert await heard(stores) == ["公開", "公開の答え"]

    async def test_a_private_turn_is_shown_both(self, stores: Stores) -> None:
        await say(stores, "公開")
        session = await stores.sessions.open(KEY, visibility="private")
        await stores.sessions.commit_turn(session, turn("ひみつ", visibility="private"))
        session = await stores.sessions.open(KEY, visibility="private")
        assert contents(session.history)[::2] == ["公開", "ひみつ"]

    async def test_private_messages_take_no_place_in_a_public_history(self, open_again: OpenStores) -> None:
        async with open_again(history_limit=4) as stores:
            await say(stores, "一", "二")
            for number in range(5):
                session = await stores.sessions.open(KEY, visibility="private")
                await stores.sessions.commit_turn(session, turn(f"{number}", visibility="private"))
            assert (await heard(stores))[::2] == ["一", "二"]


class TestReplacedAnswer:
    async def test_leaves_the_history_for_the_new_one(self, stores: Stores) -> None:
        await say(stores, "詩を書いて")
        session = await stores.sessions.open(KEY)
        old = session.history[-1]
        after = await stores.sessions.commit_turn(session, [Message("assistant", "別の詩")], replaces=old.id)
        assert contents(after.history) == ["詩を書いて", "別の詩"]
        assert await stores.sessions.open(KEY) == after

    async def test_stays_in_the_archive_marked_as_such(self, stores: Stores, database: Database) -> None:
        await say(stores, "詩を書いて")
        session = await stores.sessions.open(KEY)
        await stores.sessions.commit_turn(
            session, [Message("assistant", "別の詩")], replaces=session.history[-1].id
        )
        assert await database.query("SELECT content, status FROM messages ORDER BY id") == [
            ("詩を書いて", "complete"),
            ("詩を書いての答え", "replaced"),
            ("別の詩", "complete"),
        ]

    async def test_is_an_answer_and_never_a_question(self, stores: Stores) -> None:
        await say(stores, "詩を書いて")
        session = await stores.sessions.open(KEY)
        after = await stores.sessions.commit_turn(session, turn("次"), replaces=session.history[0].id)
        assert contents(after.history)[0] == "詩を書いて"
        assert await stores.sessions.open(KEY) == after

    async def test_is_never_another_users(self, stores: Stores) -> None:
        await say(stores, "わたしの話")
        mine = (await stores.sessions.open(KEY)).history[-1]
        theirs = await stores.sessions.open(OTHER_USER)
        await stores.sessions.commit_turn(theirs, turn("横取り"), replaces=mine.id)
        assert await heard(stores) == ["わたしの話", "わたしの話の答え"]


class TestClear:
    async def test_begins_with_nothing(self, stores: Stores) -> None:
        await say(stores, "忘れて")
        before = await stores.sessions.open(KEY)
        cleared = await stores.sessions.clear(KEY)
        assert cleared.history == ()
        assert cleared.id != before.id
        assert await stores.sessions.open(KEY) == cleared

    async def test_without_a_session_makes_one(self, stores: Stores) -> None:
        assert await stores.sessions.clear(KEY) == await stores.sessions.open(KEY)

    async def test_keeps_the_archive(self, stores: Stores, database: Database) -> None:
        await say(stores, "忘れて")
        await stores.sessions.clear(KEY)
        assert await database.query("SELECT count(*) FROM messages") == [(2,)]

    async def test_leaves_other_keys_alone(self, stores: Stores) -> None:
        await say(stores, "残る", key=OTHER_USER)
        await stores.sessions.clear(KEY)
        assert await heard(stores, OTHER_USER) == ["残る", "残るの答え"]

    async def test_at_once_by_many_leaves_one_open_session(self, stores: Stores, database: Database) -> None:
        await asyncio.gather(*(stores.sessions.clear(KEY) for _ in range(10)))
        assert await database.query("SELECT count(*) FROM sessions WHERE closed_at IS NULL") == [(1,)]

    async def test_a_turn_that_ends_after_it_is_kept_and_reopens_nothing(
        self, stores: Stores, database: Database
    ) -> None:
        session = await stores.sessions.open(KEY)
        await stores.sessions.clear(KEY)
        await stores.sessions.commit_turn(session, turn("遅れた", attachments=(CAT,)))
        assert await heard(stores) == []
        [(number, closed)] = await database.query(
            "SELECT count(*), s.closed_at IS NOT NULL AND s.last_active <= s.closed_at"
            " FROM messages AS m JOIN sessions AS s ON s.id = m.session_id"
        )
        assert (number, closed) == (2, 1)
        assert await attachments_kept(database) == 0


class TestExpiry:
    async def test_comes_after_the_time_to_live_without_a_turn(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            await say(stores, "昨日の話")
            clock.tick(timedelta(days=1) - timedelta(milliseconds=1))
            assert await heard(stores) == ["昨日の話", "昨日の話の答え"]
            clock.tick(timedelta(milliseconds=1))
            assert await heard(stores) == []

    async def test_is_put_off_by_each_turn(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            for number in range(4):
                await say(stores, f"{number}")
                clock.tick(timedelta(hours=20))
            assert len(await heard(stores)) == 8

    async def test_is_not_put_off_by_reading(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            await say(stores, "話")
            clock.tick(timedelta(hours=20))
            await heard(stores)
            clock.tick(timedelta(hours=20))
            assert await heard(stores) == []

    async def test_on_access_closes_the_old_session_and_keeps_the_archive(
        self, stores: Stores, database: Database
    ) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            await say(stores, "昨日の話")
            clock.tick(timedelta(days=2))
            await stores.sessions.open(KEY)
        assert await database.query("SELECT closed_at IS NOT NULL FROM sessions ORDER BY created_at") == [
            (1,),
            (0,),
        ]
        assert await database.query("SELECT count(*) FROM messages") == [(2,)]

    async def test_is_not_undone_by_a_turn_that_ends_after_it(
        self, stores: Stores, database: Database
    ) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            session = await stores.sessions.open(KEY)
            clock.tick(timedelta(days=2))
            await stores.sessions.commit_turn(session, turn("遅れた"))
            assert (await stores.sessions.open(KEY)).id != session.id
            assert await heard(stores) == []
        assert await database.query("SELECT count(*) FROM messages") == [(2,)]

    async def test_met_by_many_at_once_makes_one_new_session(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            await say(stores, "昨日の話")
            clock.tick(timedelta(days=2))
            sessions = await asyncio.gather(*(stores.sessions.open(KEY) for _ in range(10)))
        assert len({session.id for session in sessions}) == 1

    async def test_after_no_time_at_all_makes_every_turn_the_first(self, open_again: OpenStores) -> None:
        async with open_again(session_ttl=timedelta(0)) as stores:
            await say(stores, "一", "二")
            assert await heard(stores) == []

    async def test_never_comes_after_a_time_longer_than_the_calendar(self, open_again: OpenStores) -> None:
        async with open_again(session_ttl=timedelta(days=4_000_000)) as stores:
            await say(stores, "覚えていて")
            assert await stores.sessions.expire() == 0
            assert await heard(stores) == ["覚えていて", "覚えていての答え"]

    async def test_survives_a_clock_that_was_set_back(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True):
            await say(stores, "未来")
        with freeze_time(START - timedelta(days=3), real_asyncio=True):
            await say(stores, "過去")
            assert (await heard(stores))[::2] == ["未来", "過去"]


class TestSweep:
    async def test_closes_the_idle_and_tells_how_many(self, stores: Stores, database: Database) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            for channel in range(3):
                await say(stores, "古い", key=SessionKey(1, channel))
            clock.tick(timedelta(hours=23))
            await say(stores, "新しい", key=SessionKey(2, 0))
            clock.tick(timedelta(hours=1))
            assert await stores.sessions.expire() == 3
            assert await stores.sessions.expire() == 0
            assert await heard(stores, SessionKey(2, 0)) == ["新しい", "新しいの答え"]
            assert await heard(stores, SessionKey(1, 0)) == []
        assert await database.query("SELECT count(*) FROM messages") == [(8,)]

    async def test_lets_a_late_turn_into_the_closed_session(self, stores: Stores, database: Database) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            session = await stores.sessions.open(KEY)
            clock.tick(timedelta(days=2))
            await stores.sessions.expire()
            await stores.sessions.commit_turn(session, turn("遅れた"))
            assert await heard(stores) == []
        assert await database.query("SELECT count(*) FROM messages") == [(2,)]


class TestAttachments:
    async def test_leave_with_their_message(self, open_again: OpenStores, database: Database) -> None:
        async with open_again(history_limit=4) as stores:
            session = await stores.sessions.open(KEY)
            await stores.sessions.commit_turn(session, turn("猫", attachments=(CAT,)))
            await say(stores, "一")
            assert await attachments_kept(database) == 2
            await say(stores, "二")
            assert await attachments_kept(database) == 0

    async def test_stay_when_only_the_public_history_still_has_them(
        self, open_again: OpenStores, database: Database
    ) -> None:
        async with open_again(history_limit=2) as stores:
            session = await stores.sessions.open(KEY)
            await stores.sessions.commit_turn(session, turn("猫", attachments=(CAT,)))
            private = await stores.sessions.open(KEY, visibility="private")
            for text in ("一", "二"):
                await stores.sessions.commit_turn(
                    private, turn(text, visibility="private", attachments=(NOTE,))
                )
            assert (await stores.sessions.open(KEY)).history[0].attachments == (CAT,)
            assert await attachments_kept(database) == 4

    async def test_of_a_private_turn_leave_when_public_ones_push_it_out(
        self, open_again: OpenStores, database: Database
    ) -> None:
        async with open_again(history_limit=2) as stores:
            private = await stores.sessions.open(KEY, visibility="private")
            await stores.sessions.commit_turn(private, turn("猫", visibility="private", attachments=(CAT,)))
            await say(stores, "一", "二")
            assert await attachments_kept(database) == 0

    async def test_of_other_sessions_stay(self, open_again: OpenStores, database: Database) -> None:
        async with open_again(history_limit=2) as stores:
            session = await stores.sessions.open(OTHER_USER)
            await stores.sessions.commit_turn(session, turn("猫", attachments=(CAT,)))
            await say(stores, "一", "二")
            await stores.sessions.clear(KEY)
            assert await attachments_kept(database) == 2

    @pytest.mark.parametrize("end", ["clear", "access", "sweep"])
    async def test_are_deleted_when_their_session_ends(
        self, stores: Stores, database: Database, end: str
    ) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            session = await stores.sessions.open(KEY)
            await stores.sessions.commit_turn(session, turn("猫", attachments=(CAT, NOTE)))
            assert await attachments_kept(database) == 4
            if end == "clear":
                await stores.sessions.clear(KEY)
            else:
                clock.tick(timedelta(days=2))
                await (stores.sessions.open(KEY) if end == "access" else stores.sessions.expire())
        assert await attachments_kept(database) == 0

    async def test_survive_a_new_answer_to_their_question(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY)
        question, answer = turn("猫")
        with_file = Message("user", question.content, attachments=(CAT,))
        session = await stores.sessions.commit_turn(session, (with_file, answer))
        await stores.sessions.commit_turn(session, [answer], replaces=session.history[-1].id)
        assert (await stores.sessions.open(KEY)).history[0].attachments == (CAT,)


class TestView:
    async def test_has_the_columns_of_the_spec(self, stores: Stores, database: Database) -> None:
        await say(stores, "やあ")
        session = await stores.sessions.open(KEY)
        columns = await database.query("SELECT name FROM pragma_table_info('session_history')")
        assert [name for (name,) in columns] == [
            "id",
            "user_id",
            "channel_id",
            "history",
            "created_at",
            "last_active",
        ]
        [row] = await self._rows(database)
        assert row[:3] == (session.id, KEY.user_id, KEY.channel_id)
        assert [datetime.fromisoformat(moment) for moment in row[4:]] == [
            session.created_at,
            session.last_active,
        ]

    async def test_lists_the_last_twenty_messages_oldest_first(
        self, stores: Stores, database: Database
    ) -> None:
        await say(stores, *(f"{number}" for number in range(15)))
        [row] = await self._rows(database)
        history = json.loads(row[3])
        assert len(history) == 20
        assert history[:2] == [
            {"role": "user", "content": "5"},
            {"role": "assistant", "content": "5の答え"},
        ]

    async def test_has_closed_sessions_and_no_replaced_answers(
        self, stores: Stores, database: Database
    ) -> None:
        await say(stores, "詩")
        session = await stores.sessions.open(KEY)
        await stores.sessions.commit_turn(
            session, [Message("assistant", "別の詩")], replaces=session.history[-1].id
        )
        await stores.sessions.clear(KEY)
        histories = [json.loads(row[3]) for row in await self._rows(database)]
        assert [[message["content"] for message in history] for history in histories] == [
            ["詩", "別の詩"],
            [],
        ]

    async def _rows(self, database: Database) -> Sequence[Sequence[str]]:
        return await database.query("SELECT * FROM session_history ORDER BY created_at")
