"""Summaries in the database: what they cover, who they are for, and when one comes too late."""

from datetime import UTC, datetime, timedelta

from freezegun import freeze_time

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database
from cc_bot.domain.message import Visibility
from cc_bot.domain.session import Backlog, PromptNote, SessionKey
from tests.stores.backends import KEY, OTHER_KEYS, OTHER_USER, OpenStores, contents, got, turn

START = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
A_DAY_LATER = START + timedelta(days=1, seconds=1)
LATER = timedelta(days=365)


async def say(stores: Stores, *texts: str, key: SessionKey = KEY, visibility: Visibility = "public") -> None:
    for text in texts:
        session = await stores.sessions.open(key, visibility=visibility)
        await stores.sessions.commit_turn(session, turn(text, visibility=visibility))


async def backlog(stores: Stores, key: SessionKey = KEY) -> Backlog:
    return got(await stores.summaries.get_backlog(key))


async def fold(stores: Stores, text: str = "要約", key: SessionKey = KEY) -> bool:
    return await stores.summaries.put(await backlog(stores, key), {"public": text})


async def kept(stores: Stores, key: SessionKey = KEY) -> list[str]:
    return [summary.content for summary in await stores.summaries.list_current(key)]


async def seen(stores: Stores, visibility: Visibility = "private", key: SessionKey = KEY) -> list[str]:
    return [known.text for known in (await stores.sessions.open(key, visibility=visibility)).summaries]


async def rest(stores: Stores, visibility: Visibility = "private", key: SessionKey = KEY) -> list[str]:
    return [known.text for known in (await stores.sessions.open(key, visibility=visibility)).unsummarized]


class TestBacklog:
    async def test_is_what_is_in_no_summary_yet(self, stores: Stores) -> None:
        assert await stores.summaries.get_backlog(KEY) is None
        await say(stores, "一つ目", "二つ目")
        session = await stores.sessions.open(KEY)
        await stores.sessions.commit_turn(session, turn("新")[1:], replaces=session.history[-1].id)
        first = await backlog(stores)
        assert contents(first.messages) == ["一つ目", "一つ目の答え", "二つ目", "新の答え"]
        assert (first.closed, first.summarized_to) == (False, 0)
        await say(stores, "三つ目")  # it came while the first summary was being written
        assert await stores.summaries.put(first, {"public": "一番"})
        assert not await stores.summaries.put(first, {"public": "二番"})
        assert await kept(stores) == ["一番"]
        second = await backlog(stores)
        assert contents(second.messages) == ["三つ目", "三つ目の答え"]
        assert second.summarized_to == first.messages[-1].id
        assert await fold(stores)
        assert await stores.summaries.get_backlog(KEY) is None


class TestSummary:
    async def test_comes_with_its_session_and_outlives_a_restart(self, open_again: OpenStores) -> None:
        told = (PromptNote("public", "- 犬はポチ"),)
        with freeze_time(START, real_asyncio=True):
            async with open_again() as stores:
                await say(stores, "犬の名前はポチ")
                await fold(stores, "- 犬はポチ")
                assert (await stores.sessions.open(KEY)).summaries == told
        with freeze_time(A_DAY_LATER, real_asyncio=True):
            async with open_again() as stores:
                session = await stores.sessions.open(KEY)
                assert (session.history, session.summaries) == ((), told)

    async def test_of_private_turns_is_not_read_for_a_public_one(self, stores: Stores) -> None:
        await say(stores, "公開の話")
        await say(stores, "内緒の話", visibility="private")
        await stores.summaries.put(await backlog(stores), {"public": "公開", "private": "内緒"})
        assert await seen(stores, "public") == ["公開"]
        assert sorted(await seen(stores, "private")) == ["公開", "内緒"]
        assert await kept(stores) == ["公開", "内緒"]

    async def test_is_of_its_key_alone(self, stores: Stores) -> None:
        await say(stores, "ひみつは123")
        theirs = await backlog(stores)
        stolen = Backlog(OTHER_USER, theirs.session_id, False, 0, theirs.messages)
        assert not await stores.summaries.put(stolen, {"public": "乗っ取り"})
        await fold(stores, "ひみつは123")
        for other in OTHER_KEYS:
            await say(stores, "やあ", key=other)
            assert await kept(stores, other) == await seen(stores, key=other) == []
            assert not await stores.summaries.delete(other)
            await stores.sessions.clear(other)
            assert await kept(stores) == ["ひみつは123"]


class TestRest:
    async def test_is_told_to_the_next_session_until_it_is_in_a_summary(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True):
            await say(stores, "名前はディエゴ")
            assert await rest(stores) == []
            await say(stores, "猫を飼っている")
            await say(stores, "内緒の話", visibility="private")
        with freeze_time(A_DAY_LATER, real_asyncio=True):
            for _ in range(2):
                assert await rest(stores, "public") == ["名前はディエゴ", "猫を飼っている"]
                assert await rest(stores) == ["名前はディエゴ", "猫を飼っている", "内緒の話"]
            await stores.sessions.expire()
            await fold(stores, "- ディエゴさん")
            assert (await rest(stores), await seen(stores)) == ([], ["- ディエゴさん"])


class TestClear:
    async def test_drops_all_that_is_summarized_or_being_so(self, stores: Stores, database: Database) -> None:
        with freeze_time(START, real_asyncio=True):
            await say(stores, "一昨日の話")
            being_written = [await backlog(stores)]
        with freeze_time(A_DAY_LATER, real_asyncio=True):
            await say(stores, "昨日の話")
            await fold(stores)
            being_written.append(await backlog(stores))
            session = await stores.sessions.clear(KEY)
            assert (session.summaries, session.unsummarized) == ((), ())
            assert await stores.summaries.get_backlog(KEY) is None
            for each in being_written:
                assert not await stores.summaries.put(each, {"public": "忘れない"})
            assert await database.query("SELECT * FROM summaries") == []


class TestDeleting:
    async def test_takes_it_and_its_conversation_away(self, stores: Stores, database: Database) -> None:
        await say(stores, "一つ目")
        await say(stores, "内緒の話", visibility="private")
        await stores.summaries.put(await backlog(stores), {"public": "公開", "private": "内緒"})
        await say(stores, "二つ目")
        being_written = await backlog(stores)
        assert await stores.summaries.delete(KEY)
        assert not await stores.summaries.delete(KEY)
        assert not await stores.summaries.put(being_written, {"public": "また一つ目"})
        assert await database.query("SELECT * FROM summaries") == []
        assert await stores.summaries.get_backlog(KEY) is None
        await say(stores, "三つ目")
        assert contents((await backlog(stores)).messages) == ["三つ目", "三つ目の答え"]
        assert len((await stores.sessions.open(KEY)).history) == 6


class TestWaiting:
    async def test_names_expired_sessions_until_they_are_covered(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True):
            await say(stores, "昨日の話")
            await say(stores, "やあ", key=OTHER_USER)
            await stores.sessions.clear(OTHER_USER)
            assert await stores.summaries.list_unsummarized(10) == ()
        with freeze_time(A_DAY_LATER, real_asyncio=True):
            await stores.sessions.expire()
            assert KEY in await stores.summaries.list_unsummarized(10)
            await stores.summaries.stop_summarizing(datetime.now(UTC) + LATER)
            assert await stores.summaries.list_unsummarized(10) == (KEY,)
            await fold(stores)
            await stores.summaries.stop_summarizing(datetime.now(UTC) - LATER)
            assert KEY in await stores.summaries.list_unsummarized(10)  # a turn may be on its way to it
            await stores.summaries.stop_summarizing(datetime.now(UTC) + LATER)
            assert await stores.summaries.list_unsummarized(10) == ()
            assert await kept(stores) == ["要約"]
