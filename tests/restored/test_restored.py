import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from cc_bot.app.database import Restoration, run_restore, run_wipe
from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.config import Config, read_config
from cc_bot.db import Database, ErasureLog, back_up
from cc_bot.db.backup import Stage
from cc_bot.db.erasure_log import read_erasures
from cc_bot.db.files import instance_lock
from cc_bot.domain.access import SignInOrigin
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import (
    AlreadyRunning,
    BackupDamaged,
    BackupMissing,
    DatabaseInUse,
    DatabaseNotOurs,
    DatabaseUnusable,
    ErasuresCut,
    ErasuresMissing,
    ErasuresUnreadable,
    NotConfirmed,
)
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.session import SessionKey
from cc_bot.features.privacy.restored import ReappliedErasures
from tests.stores.forgetting import FACT, MARK, remembered, stored
from tests.stores.life import live
from tests.stores.locations import answer, said

pytestmark = pytest.mark.sqlite("a backup is a file")

ME = 123456789012345678
YOU = 876543210987654321
CHANNEL = ChannelKey(3)


class Bot:
    """A database in a folder with its backups, and the commands of its operator."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "sessions.db"
        self.backups = folder / "backups"
        self.stages = list[Stage]()

    @property
    def config(self) -> Config:
        return read_config({"CC_BOT_DATABASE_URL": f"sqlite:///{self.database}"}, self.folder / ".env")

    @asynccontextmanager
    async def stores(self, now: datetime | None = None) -> AsyncIterator[Stores]:
        clock = (lambda: now) if now else utc_now
        async with open_stores(f"sqlite:///{self.database}", embedder=None, clock=clock) as stores:
            yield stores

    async def back_up(self, now: datetime | None = None) -> Path:
        return (await back_up(self.database, self.backups, now or utc_now())).path

    async def restore(self, backup: Path, *, yes: bool = True, without_erasures: bool = False) -> Restoration:
        return await run_restore(
            self.config, backup, lambda _: yes, self.stages.append, without_erasures=without_erasures
        )

    def holds(self, word: str) -> bool:
        return word.encode() in self.database.read_bytes()

    def files(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.name.startswith((".s", "s")))

    def logs(self) -> list[Path]:
        """Its record of erasures, and the copies beside its backups."""
        return [ErasureLog.beside(self.database).path, *self.backups.glob("erasures*.jsonl")]


@pytest.fixture
def bot(tmp_path: Path) -> Bot:
    return Bot(tmp_path)


async def contents(bot: Bot, user_id: int) -> list[str]:
    async with bot.stores() as stores:
        return sorted(memory.content for memory in await stores.memories.list(user_id))


async def backup_of_mine(bot: Bot, now: datetime | None = None) -> Path:
    """A backup with one memory."""
    async with bot.stores(now) as stores:
        await stores.memories.add(ME, "前の話")
        return await bot.back_up(now)


async def erase_me(bot: Bot) -> None:
    async with bot.stores() as stores:
        await stores.personal_data.erase(ME)


class TestForgotten:
    async def test_users_stay_forgotten_to_the_last_byte(self, bot: Bot) -> None:
        async with bot.stores() as stores:
            database: Database = stores.memories._database
            await live(stores, database, ME, "しまうま", channel=ChannelKey(3))
            await live(stores, database, YOU, "きりん", channel=ChannelKey(3))
            signed_in = await stores.web_sessions.sign_in(
                await stores.web_sessions.make_code(SignInOrigin(YOU))
            )
            assert signed_in is not None
            await stores.erasures.note("user", ME)
            backup = await bot.back_up()  # the erasing has begun, and this still has everything
            await stores.personal_data.erase(ME)
            await stores.web_sessions.end_all(YOU)
        done = await bot.restore(backup)
        assert done.reapplied == ReappliedErasures(users=1)
        assert not bot.holds("しまうま")
        assert await contents(bot, ME) == []
        assert await contents(bot, YOU) == ["きりんが大好き", "きりんの残り"]
        assert "しまうま".encode() in backup.read_bytes()  # a backup is not changed
        async with bot.stores() as stores:
            assert await stores.web_sessions.get(signed_in[0]) is None, "it stays signed out"
        with closing(sqlite3.connect(bot.database)) as restored:
            assert restored.execute("SELECT count(*) FROM turns WHERE kind <> 'mention'").fetchone() == (
                0,
            )  # they are over
            assert restored.execute("SELECT count(*) FROM messages").fetchone() > (0,)

    async def test_users_who_came_back_are_not_forgotten_once_more(self, bot: Bot) -> None:
        start = utc_now() - timedelta(hours=9)
        old = await backup_of_mine(bot, start)
        async with bot.stores(start + timedelta(hours=1)) as stores:
            await stores.personal_data.erase(ME)
            await stores.memories.add(ME, "新しい話")
            new = await bot.back_up(start + timedelta(hours=2))
        assert (await bot.restore(old)).reapplied == ReappliedErasures(users=1)
        assert not (await bot.restore(new)).reapplied
        assert await contents(bot, ME) == ["新しい話"]

    async def test_memories_and_conversations_stay_forgotten_with_what_told_of_them(self, bot: Bot) -> None:
        async with bot.stores() as stores:
            memory = await stores.memories.add(ME, FACT)
            emptied = await stores.memories.add(YOU, FACT)
            await stores.memories.add(ME, "猫が好き")
            await stored(stores, FACT, "はい", remembered(memory), key=SessionKey(ME, 2))
            await stored(stores, FACT, "はい", remembered(emptied), key=SessionKey(YOU, 2))
            await stored(stores, "消した話", "はい", key=SessionKey(ME, 3))
            backup = await bot.back_up()
            [deleted] = await stores.archive.list_sessions(ME, channel_id=3)
            await stores.archive.delete_session(ME, deleted.id)
            await stores.memory_removal.erase(ME, memory.id)
            await stores.memory_removal.erase(YOU, emptied.id, stub=MARK)
        assert (await bot.restore(backup)).reapplied == ReappliedErasures(memories=2, sessions=1)
        assert (await contents(bot, ME), await contents(bot, YOU)) == (["猫が好き"], [])
        async with bot.stores() as stores:
            [question, reply] = (await stores.sessions.open(SessionKey(ME, 2))).history
            theirs = (await stores.sessions.open(SessionKey(YOU, 2))).history
            assert [each.opening for each in await stores.archive.list_sessions(ME)] == [FACT]
        assert question.content == FACT  # the user did not want that emptied
        assert FACT not in str(reply.tool_calls)
        assert [message.content for message in theirs] == [MARK, MARK]
        assert not bot.holds("消した話")

    async def test_messages_threads_and_channels_that_were_deleted_on_discord_stay_deleted(
        self, bot: Bot
    ) -> None:
        locations = (CHANNEL, ChannelKey(3, 4), ChannelKey(5, 6), ChannelKey(5), ChannelKey(7, 8))
        async with bot.stores() as stores:
            await stores.channels.delete([11, 12])  # of which nothing was kept
            assert not stores.erasures.path.read_bytes()
            for number, text in ((11, "消した発言"), (12, "残る発言"), (13, "消した質問")):
                await stores.channels.add(CHANNEL, said(number, text), is_question=number == 13)
            await stores.channels.archive_answer(CHANNEL, answer(21, "消した答え"), [said(13, "消した質問")])
            await stores.channels.add_pages(CHANNEL.location_id, 21, [22])
            for number, location in enumerate(locations):
                await stores.channels.add(location, said(100 + number, f"発言{number}"))
            backup = await bot.back_up()
            await stores.channels.delete([11, 999])
            await stores.channels.delete([22])  # of an answer's pages, the second
            await stores.channels.forget_channel(ChannelKey(3, 4))
            await stores.channels.forget_channel(ChannelKey(5))
        assert (await bot.restore(backup)).reapplied == ReappliedErasures(deleted=5)
        assert not any(bot.holds(text) for text in ("消した発言", "消した答え"))
        assert bot.holds("残る発言")
        assert [number for number in range(5) if bot.holds(f"発言{number}")] == [0, 4]


class TestWhatIsToBeReplaced:
    async def test_is_left_alone_where_it_is_no_database_of_ours(self, bot: Bot, tmp_path: Path) -> None:
        backup = await backup_of_mine(bot)
        (tmp_path / "system").mkdir()
        for file in (bot.database, tmp_path / "system" / "file"):
            bot.database.unlink()
            if file == bot.database:
                file.write_text("root:x:0:0\n")
            else:
                with closing(sqlite3.connect(file)) as connection:
                    connection.execute("CREATE TABLE bookmarks (url TEXT)")
                bot.database.symlink_to(file)
            file.chmod(0o644)
            before = (file.read_bytes(), file.stat().st_mode, file.stat().st_ino)
            with pytest.raises(DatabaseNotOurs):
                await bot.restore(backup)
            with pytest.raises(DatabaseNotOurs):
                await run_wipe(bot.config, lambda _: True)
            with pytest.raises(DatabaseUnusable):
                async with bot.stores():
                    pass
            assert (file.read_bytes(), file.stat().st_mode, file.stat().st_ino) == before
            assert not list(file.parent.glob("*file.*"))  # nor is anything put beside it

    async def test_may_be_damaged_or_empty(self, bot: Bot) -> None:
        backup = await backup_of_mine(bot)
        for lost in (slice(16, 5000), slice(100, 4096), slice(0, None)):
            content = bytearray(bot.database.read_bytes())
            content[lost] = b"\xff" * len(content[lost]) if lost.start else b""
            bot.database.write_bytes(content)
            await bot.restore(backup)
            assert await contents(bot, ME) == ["前の話"]


class TestCut:
    """A record of erasures that lost lines at its end, or was begun again: each file is one by itself."""

    @staticmethod
    def cut(bot: Bot, lines: int) -> None:
        for path in bot.logs():
            path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))

    async def test_record_is_noticed_by_what_the_backup_knows_of_it(self, bot: Bot) -> None:
        async with bot.stores() as stores:
            await stores.erasures.note("user", 1, 2, 3)
        backup = await backup_of_mine(bot)
        self.cut(bot, 2)
        with pytest.raises(ErasuresCut) as refused:
            await bot.restore(backup)
        [copy] = bot.backups.glob("erasures*.jsonl")
        assert refused.value.params == {"path": str(backup), "name": copy.name}
        assert not (await bot.restore(backup, without_erasures=True)).erasures_known
        for path in bot.logs():
            path.unlink()
        ErasureLog.beside(bot.database).create()
        with pytest.raises(ErasuresCut):
            await bot.restore(backup)

    async def test_record_is_noticed_by_what_a_later_backup_knows_of_it(self, bot: Bot) -> None:
        old = await backup_of_mine(bot)
        await erase_me(bot)
        await bot.back_up()
        own, *copies = bot.logs()
        whole = own.read_bytes()
        self.cut(bot, 0)
        with pytest.raises(ErasuresCut):
            await bot.restore(old)
        copies[0].write_bytes(whole)  # an uncut copy will do
        assert (await bot.restore(old)).reapplied == ReappliedErasures(users=1)


class TestLog:
    async def test_that_is_missing_or_spoiled_stops_a_restore_until_the_operator_goes_on(
        self, bot: Bot
    ) -> None:
        backup = await backup_of_mine(bot)
        await erase_me(bot)
        spoiled = next(bot.backups.glob("erasures*"))
        spoiled.write_text("no log\n")
        with pytest.raises(ErasuresUnreadable) as stopped:
            await bot.restore(backup)
        assert stopped.value.params == {"path": str(spoiled)}
        done = await bot.restore(backup, without_erasures=True)  # with what the other one says
        assert (done.reapplied, done.erasures_known) == (ReappliedErasures(users=1), False)
        for log in bot.logs():
            log.unlink()
        with pytest.raises(ErasuresMissing):
            await bot.restore(backup)
        assert not (await bot.restore(backup, without_erasures=True)).erasures_known

    async def test_that_came_with_the_backups_is_gone_on_with(self, bot: Bot, tmp_path: Path) -> None:
        backup = await backup_of_mine(bot)
        await erase_me(bot)
        await bot.back_up()  # takes the log along
        other = Bot(tmp_path / "new machine")
        other.folder.mkdir()
        done = await other.restore(backup)
        assert (done.reapplied, done.old_database) == (ReappliedErasures(users=1), None)
        assert await contents(other, ME) == []
        assert read_erasures(ErasureLog.beside(other.database).path).match("user", ME, None)


class TestRestored:
    async def test_says_how_far_it_is_and_leaves_nothing_about(self, bot: Bot) -> None:
        async with bot.stores():
            pass
        done = await bot.restore((await back_up(bot.database, bot.backups, utc_now())).path)
        assert bot.stages == ["copying", "checking", "erasing"]
        assert done.old_database
        log = ErasureLog.beside(bot.database).path.name
        assert bot.files() == sorted(["sessions.db", "sessions.db.lock", log, done.old_database.name])

    async def test_refused_it_changes_nothing(self, bot: Bot) -> None:
        backup = await backup_of_mine(bot)
        async with bot.stores() as stores:
            await stores.memories.add(ME, "あとの話")
            with pytest.raises(DatabaseInUse):  # somebody chats in a terminal
                await bot.restore(backup)
        before = bot.files()
        for missing in ("sessions_20261122-041500.db", "x" * 5000):
            with pytest.raises(BackupMissing):
                await bot.restore(bot.backups / missing)
        with instance_lock(bot.database), pytest.raises(AlreadyRunning):
            await bot.restore(backup)
        with pytest.raises(NotConfirmed) as refused:
            await bot.restore(backup, yes=False, without_erasures=True)
        assert refused.value.params["command"] == f"cc-bot restore {backup} --yes --without-erasures"
        backup.write_bytes(backup.read_bytes()[:-1])
        with pytest.raises(BackupDamaged):
            await bot.restore(backup)
        assert await contents(bot, ME) == ["あとの話", "前の話"]
        assert {*bot.files()} == {*before, "sessions.db.lock"}
