"""The archive as its users read it, and what goes with a conversation that one of them deletes."""

from datetime import timedelta
from typing import Final

import pytest
from freezegun import freeze_time

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import ConversationGone
from cc_bot.domain.message import Attachment
from cc_bot.domain.session import EMPTY_CANVAS, SessionKey
from cc_bot.features.canvas.drawing import make_redraw
from cc_bot.features.canvas.model import Card, Edit
from tests.proposals import remembering
from tests.stores.backends import KEY, OTHER_USER, OpenStores, contents, got, turn
from tests.stores.forgetting import summarized
from tests.stores.locations import CHANNEL
from tests.stores.test_public_turns import ME, ask, read

FILE: Final = Attachment("旅程.txt", "text/plain", "京都".encode())


async def talk(stores: Stores, *said: str, key: SessionKey = KEY, card: str = "", end: bool = False) -> str:
    """Have a conversation, and return its id."""
    session = await stores.sessions.open(key)
    for text in said:
        drawn = [Edit(Card("", card, "中身"), "public")] if card else []
        session = await stores.sessions.commit_turn(session, turn(text), redraw=make_redraw(drawn))
    if end:
        await stores.sessions.clear(key)
    return session.id


class TestReading:
    async def test_lists_what_was_said_in_the_newest_first(self, stores: Stores) -> None:
        first = await talk(stores, "旅行の計画", "もう一つ", end=True)
        second = await talk(stores, "dinner plans")
        tutor = SessionKey(KEY.user_id, 5, "tutor")
        await stores.sessions.open(tutor)  # nothing was said there yet
        listed = await stores.archive.list_sessions(KEY.user_id)
        assert [(each.id, each.opening, each.messages, each.closed_at is None) for each in listed] == [
            (second, "dinner plans", 2, True),
            (first, "旅行の計画", 4, False),
        ]
        assert await stores.archive.list_keys(KEY.user_id) == [KEY, KEY]
        third = await talk(stores, "そこ", key=tutor)
        by_channel = await stores.archive.list_sessions(KEY.user_id, channel_id=KEY.channel_id)
        assert [each.id for each in by_channel] == [second, first]
        by_agent = await stores.archive.list_sessions(KEY.user_id, agent="tutor")
        assert [(each.id, each.key) for each in by_agent] == [(third, tutor)]

    async def test_finds_the_sessions_in_which_all_words_were_said(self, stores: Stores) -> None:
        trip = await talk(stores, "旅行の計画", "100% Sure_", end=True)
        await talk(stores, "旅行の話")
        for search, found in {
            "": 2,
            "旅行": 2,
            "計画 旅行": 1,
            "sure_ 旅行の": 1,
            "%_": 0,
            "計画 話": 0,
            "x 計画": 0,
        }.items():
            assert len(await stores.archive.list_keys(KEY.user_id, search=search)) == found, search
            listed = await stores.archive.list_sessions(KEY.user_id, search=search)
            assert len(listed) == found, search
        [first] = await stores.archive.list_sessions(KEY.user_id, channel_id=KEY.channel_id, search="計画")
        assert first.id == trip
        assert await stores.archive.list_sessions(OTHER_USER.user_id, search="旅行") == []

    async def test_goes_page_by_page_with_the_names_of_files_for_its_user_alone(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY)
        session = await stores.sessions.commit_turn(session, turn("一", attachments=(FILE,)))
        await stores.sessions.commit_turn(session, turn("二"))
        first = await stores.archive.list_messages(KEY.user_id, session.id, limit=3)
        assert contents(first) == ["一", "一の答え", "二"]
        assert [file.name for file in first[0].attachments] == ["旅程.txt"]
        rest = await stores.archive.list_messages(KEY.user_id, session.id, limit=3, offset=3)
        assert contents(rest) == ["二の答え"]
        other = OTHER_USER.user_id
        assert await stores.archive.get_session(other, session.id) is None
        assert await stores.archive.list_messages(other, session.id) == []
        assert await stores.archive.list_sessions(other) == []
        assert await stores.archive.delete_session(other, session.id) is None
        assert await stores.archive.get_session(KEY.user_id, session.id)


class TestHiding:
    async def test_ends_a_session_without_a_trace_until_it_is_restored(self, open_again: OpenStores) -> None:
        with freeze_time("2026-11-22 03:04:05", real_asyncio=True) as now:
            async with open_again() as stores:
                archive = stores.archive
                session = await talk(stores, "要約される話", card="札")
                await summarized(stores)
                hidden_in = await stores.sessions.open(KEY)
                assert await archive.hide_session(OTHER_USER.user_id, session) is None
                assert await archive.hide_session(KEY.user_id, session) == KEY
                with pytest.raises(ConversationGone):
                    await stores.sessions.commit_turn(hidden_in, turn("後"))
                assert await archive.get_session(KEY.user_id, session) is None
                assert await archive.list_sessions(KEY.user_id) == []
                assert await archive.list_keys(KEY.user_id) == []
                assert await stores.summaries.list_current(KEY) == ()
                opened = await stores.sessions.open(KEY)
                assert (opened.history, opened.summaries, opened.canvas) == ((), (), EMPTY_CANVAS)
                await archive.hide_session(KEY.user_id, session)  # pressed twice
                assert await archive.list_due(utc_now()) == [(KEY.user_id, session)]
                assert [each.id for each in await archive.list_hidden(KEY.user_id)] == [session]
                assert await archive.list_hidden(OTHER_USER.user_id) == []
                now.tick(1)
                assert await archive.list_due(utc_now() - timedelta(seconds=2)) == []
                assert await archive.restore_session(OTHER_USER.user_id, session) is None
                assert await archive.restore_session(KEY.user_id, session) == KEY
                assert await archive.restore_session(KEY.user_id, session) is None
                [listed] = await archive.list_sessions(KEY.user_id)
                assert (listed.id, listed.closed_at is None) == (session, False)
                opened = await stores.sessions.open(KEY)
                assert [each.text for each in opened.summaries] == ["要約"]
                assert opened.canvas == hidden_in.canvas

    async def test_restores_a_session_that_was_open_as_an_expired_one(self, stores: Stores) -> None:
        session = await talk(stores, "まだの話")
        await stores.archive.hide_session(KEY.user_id, session)
        assert await stores.summaries.get_backlog(KEY) is None
        await stores.archive.restore_session(KEY.user_id, session)
        assert [each.text for each in (await stores.sessions.open(KEY)).unsummarized] == ["まだの話"]

    async def test_keeps_what_was_drawn_since(self, stores: Stores) -> None:
        session = await talk(stores, "前の話", card="前の札")
        await stores.archive.hide_session(KEY.user_id, session)
        await talk(stores, "次の話", card="次の札")
        drawn = got(await stores.canvases.get(KEY))
        await stores.archive.restore_session(KEY.user_id, session)
        assert await stores.canvases.get(KEY) == drawn


class TestDeleting:
    async def test_takes_all_that_was_said_and_lets_no_turn_in(
        self, stores: Stores, database: Database
    ) -> None:
        kept = await talk(stores, "残る話", end=True)
        session = await stores.sessions.open(KEY)
        await stores.sessions.store_turn(
            session, turn("消える話", attachments=(FILE,)), proposals=[remembering("猫は三毛")]
        )
        assert await stores.archive.delete_session(KEY.user_id, session.id) == KEY
        with pytest.raises(ConversationGone):
            await stores.sessions.commit_turn(session, turn("後"))
        assert [each.id for each in await stores.archive.list_sessions(KEY.user_id)] == [kept]
        for table in ("attachments", "proposals"):
            assert await database.query(f"SELECT 1 FROM {table}") == []
        assert (await stores.sessions.open(KEY)).history == ()

    async def test_takes_it_out_of_its_channel(self, stores: Stores) -> None:
        await ask(stores)
        [mine] = await stores.archive.list_sessions(ME)
        assert await read(stores)
        await stores.archive.delete_session(ME, mine.id)
        assert await read(stores, CHANNEL) == []

    async def test_takes_the_summary_that_tells_of_it_and_none_that_does_not(self, stores: Stores) -> None:
        old = await talk(stores, "前の話", end=True)
        told = await talk(stores, "要約される話")
        await summarized(stores)
        await talk(stores, "まだの話")
        late = got(await stores.summaries.get_backlog(KEY))
        await stores.archive.delete_session(KEY.user_id, old)
        assert [each.content for each in await stores.summaries.list_current(KEY)] == ["要約"]
        await stores.archive.delete_session(KEY.user_id, told)
        assert await stores.summaries.list_current(KEY) == ()
        assert not await stores.summaries.put(late, {"public": "消えた話を含む要約"})

    async def test_of_the_newest_alone_takes_the_canvas_for_good(self, open_again: OpenStores) -> None:
        async with open_again(session_ttl=timedelta()) as stores:
            oldest = await talk(stores, "一昨日の話", card="一昨日の札")
            await talk(stores, "昨日の話", card="昨日の札")
            newest = await talk(stores, "今の話", card="今の札")
            before = got(await stores.canvases.get(KEY))
            await stores.archive.delete_session(KEY.user_id, oldest)
            assert await stores.canvases.get(KEY) == before
            await stores.archive.delete_session(KEY.user_id, newest)
            after = got(await stores.canvases.get(KEY))
            assert after.state == EMPTY_CANVAS
            assert after.revision > before.revision
            assert (await stores.sessions.open(KEY)).canvas == EMPTY_CANVAS
