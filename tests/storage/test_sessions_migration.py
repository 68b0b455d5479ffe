"""Upgrading a file of version 0005: conversations go on, and have a canvas from then on."""

from datetime import timedelta
from pathlib import Path

from cc_bot.domain import Message, SessionKey
from cc_bot.domain.canvas import AddCard, Drawn
from cc_bot.storage import Statement, apply_pending, open_database
from cc_bot.storage.migrate import known_migrations
from cc_bot.stores import open_stores

KEY = SessionKey(user_id=1, channel_id=10)
NOW = "2026-11-22T09:00:00.000000+00:00"

OPEN_SESSION = """
    INSERT INTO sessions (id, user_id, channel_id, agent, created_at, last_active)
    VALUES ('s', 1, 10, 'default', $1, $1)
"""
SAY = """
    INSERT INTO messages (
        session_id, user_id, channel_id, parent_channel_id, author_id, author_name, role, content,
        timestamp, created_at
    ) VALUES ('s', 1, 10, 10, 1, '', $1, $2, 0, 0)
"""


class TestConversation:
    async def test_of_0005_goes_on_and_can_be_drawn_in(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/old.db"
        async with open_database(url) as database:
            await apply_pending(database, known_migrations()[:5])
            said = [Statement(SAY, ("user", "猫の名前は？")), Statement(SAY, ("assistant", "タマです。"))]
            await database.transaction([Statement(OPEN_SESSION, (NOW,)), *said], ())
        async with open_stores(url, session_ttl=timedelta.max) as stores:
            session = await stores.sessions.open(KEY)
            assert (session.id, [each.content for each in session.history]) == (
                "s",
                ["猫の名前は？", "タマです。"],
            )
            assert session.canvas.empty
            turn = (Message("user", "出して"), Message("assistant", "はい。"))
            await stores.sessions.commit_turn(session, turn, drawn=[Drawn(AddCard("猫", "タマ"), "public")])
            seen = await stores.canvases.get(KEY)
            assert seen is not None
            assert (seen.revision, [each.title for each in seen.canvas.elements]) == (1, ["猫"])
            assert await stores.schedules.list(KEY.user_id) == []
