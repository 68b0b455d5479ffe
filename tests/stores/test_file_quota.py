"""Files: of each user and of all together only so many bytes are kept, and the oldest go."""

from dataclasses import replace
from typing import Final

from cc_bot.chat.stores.sessions import SessionStore, StoredTurn
from cc_bot.db import Database
from cc_bot.domain.message import Attachment, FileQuota, Message
from cc_bot.domain.session import SessionKey
from tests.stores.backends import KEY, OTHER_USER

SIZE: Final = 10


def file(name: str) -> Attachment:
    return Attachment(name, "image/png", b"x" * SIZE)


async def attach(store: SessionStore, channel_id: int, name: str = "", user: SessionKey = KEY) -> StoredTurn:
    """A turn in a channel; with a file, where that has a name."""
    session = await store.open(replace(user, channel_id=channel_id))
    question = Message("user", "これ", attachments=(file(name),) if name else ())
    return await store.store_turn(session, (question, Message("assistant", "はい")))


async def names(store: SessionStore, channel_id: int, user: SessionKey = KEY) -> list[str]:
    """The files that a history shows."""
    session = await store.open(replace(user, channel_id=channel_id))
    return [
        each.name for message in session.history for each in message.attachments if message.role == "user"
    ]


def quota(database: Database, *, user: int = 1000, total: int = 1000) -> SessionStore:
    """Sessions with room for so many of these files."""
    return SessionStore(database, file_quota=FileQuota(user * SIZE, total * SIZE))


class TestUsersFiles:
    async def test_beyond_their_quota_the_oldest_go_wherever_they_are(self, database: Database) -> None:
        await attach(quota(database), 9, "yours.png", user=OTHER_USER)
        store = quota(database, user=2)
        assert [(await attach(store, n, f"{n}.png")).files_deleted for n in (1, 2)] == [0, 0]
        assert (await attach(store, 3, "3.png")).files_deleted == 1
        assert [await names(store, n) for n in (1, 2, 3)] == [[], ["2.png"], ["3.png"]]
        assert await names(store, 9, user=OTHER_USER) == ["yours.png"]
        without_one = await attach(quota(database, user=0), 3)
        assert without_one.files_deleted == 0
        assert await names(store, 3) == ["3.png"]


class TestFilesOfAll:
    async def test_cannot_be_pushed_out_by_one_user(self, database: Database) -> None:
        store = quota(database, total=3)
        await attach(store, 1, "yours.png", user=OTHER_USER)
        for n in range(10):
            await attach(store, n, f"{n}.png")
        assert await names(store, 1, user=OTHER_USER) == ["yours.png"]
        assert [await names(store, n) for n in (7, 8, 9)] == [[], ["8.png"], ["9.png"]]

    async def test_leave_no_bytes_and_are_told_of_once_where_they_were(self, database: Database) -> None:
        store = quota(database, total=1)
        await attach(store, 1, "1.png")
        await attach(store, 2, "2.png")
        assert await database.query("SELECT sum(length(data)) FROM attachments") == [(SIZE,)]
        assert [(await attach(store, 1)).files_deleted for _ in range(2)] == [1, 0]
        assert await database.query("SELECT DISTINCT name FROM attachments") == [("2.png",)]
