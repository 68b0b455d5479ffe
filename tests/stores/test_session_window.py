"""What of a session is shown: after a new answer, with which files, and to other tools."""

import json
from dataclasses import replace
from datetime import datetime

from cc_bot.domain import Message
from cc_bot.storage import Database
from cc_bot.stores import Stores
from tests.stores.backends import KEY, OTHER_USER, OpenStores, columns_of, contents, turn
from tests.stores.conversation import CAT, NOTE, REPORT, attachments_kept, heard, say


class TestReplacedAnswer:
    async def test_leaves_the_history_for_the_new_one_and_stays_in_the_archive(
        self, stores: Stores, database: Database
    ) -> None:
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
    async def test_leave_with_their_message_and_those_of_other_sessions_stay(
        self, open_again: OpenStores, database: Database
    ) -> None:
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

    async def test_stay_as_long_as_any_history_has_them(
        self, open_again: OpenStores, database: Database
    ) -> None:
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

    async def test_of_documents_come_back_as_their_text_alone(
        self, stores: Stores, database: Database
    ) -> None:
        session = await stores.sessions.open(KEY)
        await stores.sessions.commit_turn(session, turn("報告書", attachments=(REPORT, CAT)))
        found = (await stores.sessions.open(KEY)).history[0].attachments
        assert found == (replace(REPORT, data=b""), CAT)
        kept = await database.query("SELECT data FROM attachments WHERE name = $1", REPORT.name)
        assert {*kept} == {(REPORT.data,)}


class TestView:
    async def test_lists_sessions_with_their_last_twenty_messages_as_the_spec_has_it(
        self, stores: Stores, database: Database
    ) -> None:
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
