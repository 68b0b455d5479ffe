"""Erasing everything of a user: what goes, what stays, and that no byte of it is left in the files."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import pytest

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database, LockKey, Row, Statement, Transaction
from cc_bot.db.erasure_log import read_erasures
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import ConversationGone, StorageError
from cc_bot.domain.message import ChannelKey, Location, Message, Target
from cc_bot.domain.session import EMPTY_CANVAS, SessionKey
from cc_bot.features.privacy.personal_data import PersonalDataStore
from cc_bot.features.reminders.store import ScheduleStore
from tests.stores.backends import KEY, OTHER_USER, Recorder, contents, got, turn
from tests.stores.forgetting import everything
from tests.stores.life import about, left_in_files, live, talk, traces
from tests.stores.locations import answer, archived, list_waiting, said

ME: Final = KEY.user_id
YOU: Final = OTHER_USER.user_id
CHANNEL: Final = ChannelKey(3)
OPERATOR: Final = 99
T = TypeVar("T")


@pytest.fixture
async def lived(stores: Stores, database: Database) -> Stores:
    await live(stores, database, ME, "しまうま", channel=CHANNEL)
    await live(stores, database, YOU, "きりん", channel=CHANNEL)
    return stores


class Killed(Recorder):
    """A database whose program ends before its nth write."""

    def __init__(self, database: Database, writes: int) -> None:
        super().__init__(database)
        self.left = writes

    async def transaction(
        self, statements: Sequence[Statement], about: Sequence[LockKey]
    ) -> list[Sequence[Row]]:
        self._count()
        return await super().transaction(statements, about)

    async def write(self, begin: Callable[[], Transaction[T]], about: Sequence[LockKey]) -> T:
        self._count()
        return await super().write(begin, about)

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise StorageError


class TestErased:
    async def test_user_is_in_no_table_and_others_keep_all(self, lived: Stores, database: Database) -> None:
        before = await lived.personal_data.get_overview(YOU)
        assert await lived.personal_data.list_users() == {ME, YOU, OPERATOR}
        session = await lived.sessions.open(KEY)
        await lived.personal_data.erase(ME)
        assert await about(database, ME) == {("access_rules", "subject_id"), ("limits", "scope_id")}
        assert await lived.personal_data.list_users() == {YOU, OPERATOR}
        assert await lived.personal_data.get_overview(YOU) == before
        assert "きりん" in await everything(database)
        log = read_erasures(lived.erasures.path)
        assert log.match("user", ME, None)
        assert not log.match("user", YOU, None)
        with pytest.raises(ConversationGone):  # a turn that was on its way
            await lived.sessions.commit_turn(session, turn("おそい"))
        assert {*(await lived.personal_data.get_overview(ME)).kinds} == {"rules"}
        session = await lived.sessions.open(KEY)  # the user may come back
        assert (session.history, session.canvas) == ((), EMPTY_CANVAS)
        await lived.sessions.commit_turn(session, turn("またきました"))
        assert contents((await lived.sessions.open(KEY)).history)[0] == "またきました"

    @pytest.mark.sqlite("what stands in its file")
    async def test_user_is_in_no_byte_left(self, lived: Stores, database: Database, tmp_path: Path) -> None:
        rules = ("access_rules WHERE subject_id", "limits WHERE scope_id")
        await database.transaction([Statement(f"DELETE FROM {each} = $1", (ME,)) for each in rules], ())
        there = {needle for _, needle in left_in_files(tmp_path, *traces(ME, "しまうま"))}
        assert there == {*traces(ME, "しまうま")}
        await lived.personal_data.erase(ME)
        assert await lived.memory_removal.scrub() == "done"
        assert left_in_files(tmp_path, *traces(ME, "しまうま")) == []

    async def test_summary_and_reminder_underway_are_lost(self, stores: Stores, database: Database) -> None:
        session = await stores.sessions.open(KEY)
        await stores.sessions.commit_turn(session, turn("やあ"))
        backlog = got(await stores.summaries.get_backlog(KEY))
        locations: tuple[Target, ...] = ("dm",)
        await stores[ScheduleStore].add(KEY, "牛乳", utc_now(), target="dm")
        [firing] = await stores[ScheduleStore].claim_due(utc_now(), locations, user_id=ME, limit=1)
        await stores.personal_data.erase(ME)
        assert not await stores.summaries.put(backlog, {"public": "やあ"})
        await stores[ScheduleStore].mark_sent(firing, Message("assistant", "牛乳", discord_id=8))
        assert await about(database, ME) == set()


class TestChannels:
    async def test_lose_what_was_said_and_the_answers_to_it(self, stores: Stores, database: Database) -> None:
        await stores.channels.add(CHANNEL, said(10, "ほかの人", author_id=YOU))
        await talk(stores, ME, "しまうま", channel=CHANNEL, first=20)
        questions = [said(30, "わたし", author_id=ME), said(31, "あなた", author_id=YOU)]
        for question in questions:
            await stores.channels.add(CHANNEL, question, is_question=True)
        await stores.ledger.set_mention_answer(CHANNEL, questions, 32)
        await stores.channels.archive_answer(CHANNEL, answer(32, "お二人へ"), questions)
        late = said(40, "しまうま？", author_id=ME)
        await stores.channels.add(CHANNEL, late, is_question=True)
        await stores.personal_data.erase(ME)
        with pytest.raises(StorageError):
            await stores.channels.archive_answer(CHANNEL, answer(41, "しまうまです"), [late])
        assert await archived(database, CHANNEL) == {10: "ほかの人", 31: "あなた"}
        assert await list_waiting(stores, CHANNEL) == ()
        assert await stores.channels.list_pages(22) == ()

    async def test_are_not_caught_up_with_what_was_erased(self, stores: Stores) -> None:
        await stores.channels.record_channel(Location(CHANNEL, 5))
        await stores.channels.add(CHANNEL, said(10, author_id=YOU))
        await stores.channels.add(CHANNEL, said(20, author_id=ME))
        await stores.personal_data.erase(ME)
        [location] = await stores.channels.list_channels(limit=5)
        assert location.newest_id == 20
        await stores.channels.forget_channel(CHANNEL)
        await stores.channels.record_channel(Location(CHANNEL, 5))
        await stores.channels.add(CHANNEL, said(5, author_id=YOU))
        [location] = await stores.channels.list_channels(limit=5)
        assert location.newest_id == 5


class TestKill:
    async def test_at_any_point_is_made_up_for_by_the_next(self, lived: Stores, database: Database) -> None:
        kills = 0
        while True:
            try:
                await PersonalDataStore(Killed(database, kills + 1)).erase(ME)
                break
            except StorageError:
                kills += 1
            assert ME in await lived.personal_data.list_unfinished()
            assert (await lived.sessions.open(SessionKey(YOU, 2))).history
        assert kills >= 4
        assert await about(database, ME) == {("access_rules", "subject_id"), ("limits", "scope_id")}

    async def test_of_the_log_keeps_everything(self, lived: Stores) -> None:
        lived.erasures.path.write_text("broken")
        with pytest.raises(StorageError):
            await lived.personal_data.erase(ME)
        assert (await lived.sessions.open(SessionKey(ME, 2))).history
