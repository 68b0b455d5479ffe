from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

import pytest
from freezegun import freeze_time
from freezegun.api import FrozenDateTimeFactory as Clock

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database, Statement
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import Attachment, ChannelKey, Location, Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.features.canvas.drawing import make_redraw
from cc_bot.features.canvas.model import Card, Edit
from cc_bot.features.canvas.store import CanvasMessageStore
from cc_bot.features.privacy.retention import RetentionStore, VitalsStore
from tests.stores.backends import KEY, OpenStores, contents, turn
from tests.stores.forgetting import stored, summarized
from tests.stores.locations import answer, freeze, frozen, read_page, said

MONTH: Final = timedelta(days=30)
CHANNEL: Final = ChannelKey(3)
FILE: Final = Attachment("a.txt", "text/plain", b"a")


@pytest.fixture
def now() -> Iterator[Clock]:
    with freeze_time("2026-01-01 09:00:00", real_asyncio=True) as clock:
        assert isinstance(clock, Clock)
        yield clock


async def everything_said(database: Database) -> list[str]:
    return [row[0] for row in await database.query("SELECT content FROM messages ORDER BY id")]


class TestMessages:
    async def test_go_with_files_and_pages(self, stores: Stores, database: Database, now: Clock) -> None:
        session = await stores.sessions.open(KEY)
        await stores.sessions.commit_turn(session, turn("古い", attachments=(FILE,)))
        await stores.sessions.clear(KEY)
        await stores.channels.add(CHANNEL, said(10), is_question=True)
        await stores.channels.add(CHANNEL, said(11), is_question=True)
        await stores.ledger.set_mention_answer(CHANNEL, [said(10)], 12)
        await stores.channels.archive_answer(CHANNEL, answer(12), [said(10)])
        await stores.channels.add_pages(CHANNEL.location_id, 12, [13])
        now.tick(MONTH)
        await stored(stores, "新しい", "はい")
        await stores.channels.add(CHANNEL, said(20, "今の話"))
        assert await stores.retention.prune_messages(utc_now() - timedelta(days=1)) == 5
        assert await everything_said(database) == ["新しい", "はい", "今の話"]
        for table in ("attachments", "turns", "answer_pages"):
            assert await database.query(f"SELECT * FROM {table}") == []

    async def test_that_an_open_conversation_still_shows_stay(
        self, open_again: OpenStores, database: Database, now: Clock
    ) -> None:
        async with open_again(history_limit=2, session_ttl=MONTH * 9) as stores:

            async def shown() -> list[list[str]]:
                seen: tuple[Visibility, ...] = ("public", "private")
                return [contents((await stores.sessions.open(KEY, visibility=v)).history) for v in seen]

            for number in range(3):
                await stored(stores, f"問{number}", f"答{number}")
            await stored(stores, "内緒", "ええ", visibility="private")
            now.tick(MONTH)
            assert await shown() == [["問2", "答2"], ["内緒", "ええ"]]
            unbounded = RetentionStore(database, history_limit=0)
            assert await unbounded.prune_messages(utc_now()) == 0
            assert await stores.retention.prune_messages(utc_now()) == 4
            assert await shown() == [["問2", "答2"], ["内緒", "ええ"]]

    async def test_thaw_the_blocks_with_them(self, stores: Stores, database: Database, now: Clock) -> None:
        await stores.channels.add_all(CHANNEL, [said(n) for n in range(1, 6)])
        now.tick(MONTH)
        await stores.channels.add_all(CHANNEL, [said(n) for n in range(6, 9)])
        await freeze(database, CHANNEL, (1, 4), (5, 6), (7, 8))
        await stores.retention.prune_messages(utc_now() - timedelta(days=1))
        assert await frozen(database, CHANNEL) == []
        page = await read_page(stores, CHANNEL, first=0, before=99, limit=99)
        assert [each.id for each in page] == [8, 7, 6]

    async def test_are_not_fetched_again_where_an_answer_is_left(self, stores: Stores, now: Clock) -> None:
        await stores.channels.add(CHANNEL, said(10), is_question=True)
        now.tick(MONTH)
        await stores.channels.archive_answer(CHANNEL, answer(11), [said(10)])
        await stores.retention.prune_messages(utc_now() - timedelta(days=1))
        await stores.channels.record_channel(Location(CHANNEL, 5))
        [location] = await stores.channels.list_channels(limit=5)
        assert location.newest_id == 10


class TestSessions:
    async def test_ended_long_ago_go_as_a_whole(self, stores: Stores, database: Database, now: Clock) -> None:
        session = await stores.sessions.open(KEY)
        drawn = [Edit(Card("", "買い物", "牛乳"), "public")]
        await stores.sessions.store_turn(session, turn("古い", discord_id=None), redraw=make_redraw(drawn))
        await stores[CanvasMessageStore].record(KEY, 77, 1)
        await stored(stores, "別の場所", "はい", key=SessionKey(KEY.user_id, 4))
        await summarized(stores)
        now.tick(timedelta(days=2))
        await stores.sessions.expire()
        now.tick(MONTH)
        pruned = await stores.retention.prune_sessions(utc_now() - timedelta(days=7))
        assert pruned == 2
        for table in ("messages", "sessions", "summaries", "canvas_messages"):
            assert await database.query(f"SELECT * FROM {table}") == []

    async def test_leave_the_summary_in_use(self, stores: Stores, database: Database, now: Clock) -> None:
        await stored(stores, "古い", "はい")
        await summarized(stores, "昔の話")
        now.tick(timedelta(days=2))
        await stores.sessions.expire()
        now.tick(MONTH)
        young = SessionKey(KEY.user_id, 4)
        await stored(stores, "終わったばかり", "はい", key=young)
        await stores.sessions.clear(young)
        await stored(stores, "新しい", "はい")
        await stores.retention.prune_sessions(utc_now() - timedelta(days=7))
        assert await everything_said(database) == ["終わったばかり", "はい", "新しい", "はい"]
        assert [each.content for each in await stores.summaries.list_current(KEY)] == ["昔の話"]
        await summarized(stores, "今の話")
        assert await stores.retention.prune_sessions(utc_now() - timedelta(days=7)) == 1
        assert [each.content for each in await stores.summaries.list_current(KEY)] == ["今の話"]


class TestUsage:
    async def test_before_the_first_day_that_is_kept_goes(self, stores: Stores, database: Database) -> None:
        for day in ("2026-01-30", "2026-01-31", "2026-02-01"):
            values = "VALUES ($1, 1, 0, 'm', 'turn')"
            sql = f"INSERT INTO usage (day, user_id, guild_id, model, purpose) {values}"
            await database.transaction([Statement(sql, (day,))], ())
        assert await stores.retention.prune_usage(date(2026, 2, 1)) == 2
        assert [row[0] for row in await database.query("SELECT day FROM usage")] == ["2026-02-01"]


class TestVitals:
    async def test_count_the_conversations_that_go_on(self, stores: Stores) -> None:
        assert await stores.vitals.count_open_sessions() == 0
        for user in (1, 2):
            await stores.sessions.open(SessionKey(user, 10))
        await stores.sessions.clear(SessionKey(1, 10))
        assert await stores.vitals.count_open_sessions() == 2


@pytest.mark.sqlite("a file that nobody may write")
class TestTheCheck:
    async def test_fails_where_nobody_may_write(self, stores: Stores, database: Database) -> None:
        await stores.vitals.check_writable()
        await database.query("PRAGMA query_only = ON")
        with pytest.raises(StorageError):
            await VitalsStore(database).check_writable()
