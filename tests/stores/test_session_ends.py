import asyncio
from datetime import timedelta

from freezegun import freeze_time

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database
from cc_bot.domain.session import SessionKey
from tests.stores.backends import KEY, OTHER_USER, turn
from tests.stores.conversation import CAT, NOTE, START, attachments_kept, heard, say


class TestClear:
    async def test_begins_anew_and_keeps_archive_and_others(self, stores: Stores, database: Database) -> None:
        assert await stores.sessions.clear(KEY) == await stores.sessions.open(KEY)
        await say(stores, "忘れて")
        await say(stores, "残る", key=OTHER_USER)
        before = await stores.sessions.open(KEY)
        cleared = await stores.sessions.clear(KEY)
        assert cleared.history == ()
        assert cleared.id != before.id
        assert await stores.sessions.open(KEY) == cleared
        assert await database.query("SELECT count(*) FROM messages") == [(4,)]
        assert await heard(stores, OTHER_USER) == ["残る", "残るの答え"]

    async def test_a_turn_that_ends_later_reopens_nothing(self, stores: Stores, database: Database) -> None:
        session = await stores.sessions.open(KEY)
        await stores.sessions.clear(KEY)
        await stores.sessions.commit_turn(session, turn("遅れた", attachments=(CAT,)))
        assert await heard(stores) == []
        [(number, in_time)] = await database.query(
            "SELECT count(*), min(CASE WHEN s.last_active <= s.closed_at THEN 1 ELSE 0 END)"
            " FROM messages AS m JOIN sessions AS s ON s.id = m.session_id"
        )
        assert (number, in_time) == (2, 1)
        assert await attachments_kept(database) == 0


class TestExpiry:
    async def test_comes_after_a_time_that_turns_put_off(self, stores: Stores, database: Database) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            for number in range(4):
                await say(stores, f"{number}")
                clock.tick(timedelta(hours=20))
            assert len(await heard(stores)) == 8
            clock.tick(timedelta(hours=4) - timedelta(milliseconds=1))
            assert len(await heard(stores)) == 8
            clock.tick(timedelta(milliseconds=1))
            opened = await asyncio.gather(*(stores.sessions.open(KEY) for _ in range(10)))
        assert [session.history for session in opened] == [()] * 10
        sql = "SELECT closed_at IS NOT NULL FROM sessions ORDER BY created_at"
        assert await database.query(sql) == [(1,), (0,)]
        assert await database.query("SELECT count(*) FROM messages") == [(8,)]

    async def test_is_not_undone_by_a_turn_that_ends_late(self, stores: Stores, database: Database) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            for swept in (False, True):
                session = await stores.sessions.open(KEY)
                clock.tick(timedelta(days=2))
                if swept:
                    await stores.sessions.expire()
                await stores.sessions.commit_turn(session, turn("遅れた"))
                assert (await stores.sessions.open(KEY)).id != session.id
                assert await heard(stores) == []
        assert await database.query("SELECT count(*) FROM messages") == [(4,)]

    async def test_swept_closes_the_idle_and_tells_how_many(self, stores: Stores, database: Database) -> None:
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


class TestFiles:
    async def test_are_deleted_however_their_session_ends(self, stores: Stores, database: Database) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            for end in ("clear", "access", "sweep"):
                session = await stores.sessions.open(KEY)
                await stores.sessions.commit_turn(session, turn("猫", attachments=(CAT, NOTE)))
                assert await attachments_kept(database) == 4
                if end == "clear":
                    await stores.sessions.clear(KEY)
                else:
                    clock.tick(timedelta(days=2))
                    await (stores.sessions.open(KEY) if end == "access" else stores.sessions.expire())
                assert await attachments_kept(database) == 0, end
