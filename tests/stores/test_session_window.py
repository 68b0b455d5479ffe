"""What of a session is shown: to whom, after a new answer, with which files, and to other tools."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from freezegun import freeze_time

from cc_bot.domain import Message
from cc_bot.storage import Database
from cc_bot.stores import Stores
from tests.stores.backends import KEY, OTHER_USER, OpenStores, columns_of, contents, turn
from tests.stores.conversation import CAT, NOTE, REPORT, START, attachments_kept, heard, say


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

    async def test_of_documents_come_back_as_their_text_alone(
        self, stores: Stores, database: Database
    ) -> None:
        session = await stores.sessions.open(KEY)
        await stores.sessions.commit_turn(session, turn("報告書", attachments=(REPORT, CAT)))
        found = (await stores.sessions.open(KEY)).history[0].attachments
        assert found == (replace(REPORT, data=b""), CAT)
        kept = await database.query("SELECT data FROM attachments WHERE name = $1", REPORT.name)
        assert {*kept} == {(REPORT.data,)}

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
        columns = await columns_of(database, "session_history")
        assert columns == ("id", "user_id", "channel_id", "history", "created_at", "last_active")
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
