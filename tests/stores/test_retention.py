"""What is deleted by its age, and what of old things stays because something still needs it."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Final

import pytest
from freezegun import freeze_time
from freezegun.api import FrozenDateTimeFactory

from cc_bot.domain import Attachment, ChannelKey, SessionKey
from cc_bot.domain.canvas import AddCard, Drawn
from cc_bot.domain.clock import utc_now
from cc_bot.storage import Database, Statement
from cc_bot.stores import RetentionStore, Stores
from tests.stores.backends import KEY, OpenStores, contents, turn
from tests.stores.forgetting import stored, summarized
from tests.stores.places import answer, archived, freeze, frozen, said

MONTH: Final = timedelta(days=30)
CHANNEL: Final = ChannelKey(3)
FILE: Final = Attachment("a.txt", "text/plain", b"a")


@pytest.fixture
def now() -> Iterator[FrozenDateTimeFactory]:
    with freeze_time("2026-01-01 09:00:00", real_asyncio=True) as clock:
        assert isinstance(clock, FrozenDateTimeFactory)
        yield clock


async def prune_messages(stores: Stores, before: datetime) -> int:
    """All steps of it."""
    count, after = 0, 0
    while True:
        step = await stores.retention.prune_messages(before, after)
        count += step.count
        if step.after is None:
            return count
        after = step.after


async def everything_said(database: Database) -> list[str]:
    return [row[0] for row in await database.query("SELECT content FROM messages ORDER BY id")]


class TestMessages:
    async def test_older_than_that_go_and_younger_ones_stay(
        self, stores: Stores, database: Database, now: FrozenDateTimeFactory
    ) -> None:
        await stored(stores, "古い", "はい")
        await stores.sessions.clear(KEY)
        await stores.channels.add(CHANNEL, said(10, "前の話"))
        now.tick(MONTH)
        await stored(stores, "新しい", "はい")
        await stores.channels.add(CHANNEL, said(20, "今の話"))
        assert await prune_messages(stores, utc_now() - timedelta(days=1)) == 3
        assert await everything_said(database) == ["新しい", "はい", "今の話"]

    async def test_that_an_open_conversation_still_shows_stay(
        self, open_again: OpenStores, database: Database, now: FrozenDateTimeFactory
    ) -> None:
        async with open_again(history_limit=2, session_ttl=MONTH * 9) as stores:
            for number in range(3):
                await stored(stores, f"問{number}", f"答{number}")
            await stored(stores, "内緒", "ええ", visibility="private")
            now.tick(MONTH)
            before = (
                contents((await stores.sessions.open(KEY)).history),
                contents((await stores.sessions.open(KEY, visibility="private")).history),
            )
            assert before == (["問2", "答2"], ["内緒", "ええ"])
            assert await prune_messages(stores, utc_now()) == 4
            after = (
                contents((await stores.sessions.open(KEY)).history),
                contents((await stores.sessions.open(KEY, visibility="private")).history),
            )
            assert after == before

    async def test_of_an_open_conversation_without_a_bound_stay(
        self, stores: Stores, database: Database, now: FrozenDateTimeFactory
    ) -> None:
        await stored(stores, "問", "答")
        now.tick(MONTH)
        unbounded = RetentionStore(database, history_limit=0)
        assert (await unbounded.prune_messages(utc_now())).count == 0

    async def test_go_with_their_files_pages_and_what_waits(
        self, stores: Stores, database: Database, now: FrozenDateTimeFactory
    ) -> None:
        session = await stores.sessions.open(KEY)
        await stores.sessions.commit_turn(session, turn("見て", attachments=(FILE,)))
        await stores.channels.add(CHANNEL, said(10), waiting=True)
        await stores.channels.add(CHANNEL, said(11), waiting=True)
        await stores.mentions.note_answer(CHANNEL, [said(10)], 12)
        await stores.channels.commit_answer(CHANNEL, answer(12), [said(10)])
        await stores.channels.add_pages(CHANNEL.place_id, 12, [13])
        await stores.sessions.clear(KEY)
        now.tick(MONTH)
        await prune_messages(stores, utc_now())
        for table in ("messages", "attachments", "mentions", "answer_pages"):
            assert await database.query(f"SELECT * FROM {table}") == []

    async def test_thaw_the_blocks_that_held_them(
        self, stores: Stores, database: Database, now: FrozenDateTimeFactory
    ) -> None:
        await stores.channels.add_all(CHANNEL, [said(n) for n in range(1, 6)])
        now.tick(MONTH)
        await stores.channels.add_all(CHANNEL, [said(n) for n in range(6, 9)])
        await freeze(database, CHANNEL, (1, 4), (5, 6), (7, 8))
        await prune_messages(stores, utc_now() - timedelta(days=1))
        assert await frozen(database, CHANNEL) == []
        page = await stores.blocks.get_page(CHANNEL, first=0, before=99, limit=99)
        assert [each.id for each in page] == [8, 7, 6]

    async def test_are_not_fetched_again_where_an_answer_is_left(
        self, stores: Stores, now: FrozenDateTimeFactory
    ) -> None:
        await stores.channels.add(CHANNEL, said(10), waiting=True)
        now.tick(MONTH)
        await stores.channels.commit_answer(CHANNEL, answer(11), [said(10)])
        await prune_messages(stores, utc_now() - timedelta(days=1))
        [place] = await stores.channels.list_places(limit=5)
        assert place.newest_id == 10

    async def test_are_looked_at_some_at_a_time(
        self, stores: Stores, database: Database, now: FrozenDateTimeFactory
    ) -> None:
        await stores.channels.add_all(CHANNEL, [said(n) for n in range(1, 301)])
        now.tick(MONTH)
        first = await stores.retention.prune_messages(utc_now())
        assert 0 < first.count < 300
        assert first.after
        assert len(await archived(database, CHANNEL)) == 300 - first.count
        assert (await stores.retention.prune_messages(utc_now() - MONTH * 2)).after is None


class TestSessions:
    async def test_that_ended_long_ago_go_with_all_that_was_said(
        self, stores: Stores, database: Database, now: FrozenDateTimeFactory
    ) -> None:
        session = await stores.sessions.open(KEY)
        drawn = [Drawn(AddCard("買い物", "牛乳"), "public")]
        await stores.sessions.archive_turn(session, turn("古い", discord_id=None), drawn=drawn)
        await stores.canvases.note_message(KEY, 77, 1)
        await stored(stores, "別の場所", "はい", key=SessionKey(KEY.user_id, 4))
        await summarized(stores)
        now.tick(timedelta(days=2))
        await stores.sessions.expire()
        now.tick(MONTH)
        pruned = await stores.retention.prune_sessions(utc_now() - timedelta(days=7))
        assert pruned.count == 2
        for table in ("messages", "sessions", "summaries", "canvas_messages"):
            assert await database.query(f"SELECT * FROM {table}") == []

    async def test_that_are_open_or_young_stay(
        self, stores: Stores, database: Database, now: FrozenDateTimeFactory
    ) -> None:
        await stored(stores, "終わったばかり", "はい")
        now.tick(MONTH)
        await stores.sessions.clear(KEY)
        assert (await stores.retention.prune_sessions(utc_now() - timedelta(days=7))).count == 0
        assert await everything_said(database) == ["終わったばかり", "はい"]

    async def test_leave_the_summary_as_long_as_the_key_is_in_use(
        self, stores: Stores, database: Database, now: FrozenDateTimeFactory
    ) -> None:
        await stored(stores, "古い", "はい")
        await summarized(stores, "昔の話")
        now.tick(timedelta(days=2))
        await stores.sessions.expire()
        now.tick(MONTH)
        await stored(stores, "新しい", "はい")
        await stores.retention.prune_sessions(utc_now() - timedelta(days=7))
        assert await everything_said(database) == ["新しい", "はい"]
        assert [each.content for each in await stores.summaries.list_current(KEY)] == ["昔の話"]
        await summarized(stores, "今の話")
        assert (await stores.retention.prune_sessions(utc_now() - timedelta(days=7))).count == 1
        assert [each.content for each in await stores.summaries.list_current(KEY)] == ["今の話"]


class TestFiles:
    async def test_go_with_the_history(self, open_again: OpenStores, database: Database) -> None:
        async with open_again(history_limit=2) as stores:
            session = await stores.sessions.open(KEY)
            await stores.sessions.commit_turn(session, turn("見て", attachments=(FILE,)))
            assert await database.query("SELECT name FROM attachments")
            await stored(stores, "次", "はい")
            assert await database.query("SELECT name FROM attachments") == []


class TestUsage:
    async def test_before_the_first_day_that_is_kept_goes(self, stores: Stores, database: Database) -> None:
        for day in ("2026-01-30", "2026-01-31", "2026-02-01"):
            values = "VALUES ($1, 1, 0, 'm', 'turn')"
            sql = f"INSERT INTO usage (day, user_id, guild_id, model, purpose) {values}"
            await database.transaction([Statement(sql, (day,))], ())
        assert await stores.retention.prune_usage(date(2026, 2, 1)) == 2
        assert [row[0] for row in await database.query("SELECT day FROM usage")] == ["2026-02-01"]
