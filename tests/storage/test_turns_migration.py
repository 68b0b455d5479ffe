"""Upgrading a file of version 0011: answers that were on their way in DMs are still known to be."""

from pathlib import Path

from cc_bot.storage import Statement, apply_pending, open_database
from cc_bot.storage.migrate import known_migrations
from cc_bot.stores import open_stores

BEFORE = (
    "INSERT INTO sessions (id, user_id, channel_id, agent, created_at, last_active)"
    " VALUES ('s', 1, 10, 'tutor', '2026-11-22T09:00:00.000000+00:00', '2026-11-22T09:00:00.000000+00:00')",
    "INSERT INTO messages (discord_id, session_id, user_id, channel_id, parent_channel_id, author_id, role,"
    " content, visibility, timestamp, created_at)"
    " VALUES (40, 's', 1, 10, 10, 0, 'assistant', 'タマです。', 'private', 0, 0)",
    "INSERT INTO personal_answers (answer_id, channel_id, user_id, created_at) VALUES (40, 10, 1, 1000)",
    "INSERT INTO personal_answers (answer_id, channel_id, user_id, created_at) VALUES (41, 11, 2, 2000)",
)


class TestAnswersOnTheirWay:
    async def test_are_carried_over(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/old.db"
        async with open_database(url) as database:
            await apply_pending(database, known_migrations()[:11])
            await database.transaction([Statement(sql) for sql in BEFORE], ())
        async with open_stores(url) as stores:
            answered, accepted = await stores.ledger.list_unfinished()
            answer = await stores.ledger.get_answer(answered)
        assert answer is not None
        assert answer.content == "タマです。"
        assert (answered.state, answered.kind, answered.key.agent) == ("answered", "message", "tutor")
        assert (answered.place_id, answered.shown_in) == (10, 40)
        assert (accepted.state, accepted.key.user_id, accepted.shown_in) == ("accepted", 2, 41)
        assert (accepted.question, accepted.locale, accepted.token) == (None, None, None)
