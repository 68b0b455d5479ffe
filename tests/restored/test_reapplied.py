from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cc_bot.app.database import run_apply_erasures, run_copy
from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.config import Config, read_config
from cc_bot.db import open_database
from cc_bot.db.backup import announce_nothing
from cc_bot.db.engines import dialect_of
from cc_bot.db.erasure_log import ErasureLog
from cc_bot.domain.errors import ErasuresBroken, ErasuresNotFound
from cc_bot.domain.message import ChannelKey
from cc_bot.features.privacy.restored import ReappliedErasures
from tests.databases import laid_out
from tests.stores.life import about, left_in_files, live

ME = 1_100_000_000_000_000_007
YOU = 1_200_000_000_000_000_011
CHANNEL = ChannelKey(3)
START = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Operator:
    def __init__(self, folder: Path, restored: str) -> None:
        self.folder = folder
        self.lived = laid_out(folder / "lived.db")
        self.restored = restored
        self.log = ErasureLog.beside(folder / "lived.db").path

    @property
    def config(self) -> Config:
        settings = {"CC_BOT_DATABASE_URL": self.restored, "CC_BOT_DATA_FOLDER": str(self.folder)}
        return read_config(settings, self.folder / ".env")

    def stores(self, url: str, now: datetime = START) -> AbstractAsyncContextManager[Stores]:
        return open_stores(url, embedder=None, clock=lambda: now, data_folder=self.folder)

    async def dump(self) -> None:
        """Have what is stored now restored later."""
        await run_copy(self.config, self.lived, self.restored, announce_nothing)

    async def apply(self, *files: Path, since: datetime | None = None) -> ReappliedErasures:
        return await run_apply_erasures(self.config, announce_nothing, files or (self.log,), since)


@pytest.fixture
def operator(url: str, tmp_path: Path) -> Operator:
    return Operator(tmp_path, url if dialect_of(url) == "postgresql" else laid_out(tmp_path / "sessions.db"))


async def contents(operator: Operator, user_id: int) -> list[str]:
    async with operator.stores(operator.restored) as stores:
        return sorted(memory.content for memory in await stores.memories.list(user_id))


async def erased_since(operator: Operator, word: str = "しまうま") -> None:
    """A user was erased after the copy was made."""
    async with operator.stores(operator.lived) as stores:
        await stores.memories.add(ME, word)
    await operator.dump()
    async with operator.stores(operator.lived, START + HOUR) as stores:
        await stores.personal_data.erase(ME)


class TestErasedSince:
    async def test_users_are_erased_from_every_table_and_once(self, operator: Operator) -> None:
        async with operator.stores(operator.lived) as stores, open_database(operator.lived) as database:
            await live(stores, database, ME, "しまうま", channel=CHANNEL)
            await live(stores, database, YOU, "きりん", channel=CHANNEL)
        await erased_since(operator)
        before = operator.log.read_bytes()
        assert await operator.apply() == ReappliedErasures(users=1)
        async with open_database(operator.restored) as database:
            owners_rules = {("limits", "scope_id"), ("access_rules", "subject_id")}
            assert await about(database, ME) == owners_rules
        assert await contents(operator, YOU) == ["きりんが大好き", "きりんの残り"]
        if operator.restored.startswith("sqlite"):  # a server writes its files anew by itself
            assert left_in_files(operator.folder, "しまうま".encode()) == []
        # It is not noted once more: who comes back is not forgotten by the next restore.
        for log in operator.folder.glob("*.erasures.jsonl"):
            assert {*log.read_bytes().splitlines()} == {*before.splitlines()}
        assert not await operator.apply()

    async def test_users_are_erased_after_others_went_on_where_the_moment_is_told(
        self, operator: Operator
    ) -> None:
        await erased_since(operator)
        async with operator.stores(operator.restored, START + 2 * HOUR) as stores:
            await stores.memories.add(YOU, "あとの話")
        assert not await operator.apply()
        without_a_zone = datetime(2026, 11, 22, 12, 0)  # noqa: DTZ001 - it is the operator's, Asia/Tokyo
        done = await operator.apply(since=without_a_zone)
        assert (done, done.since) == (ReappliedErasures(users=1), START)
        assert (await contents(operator, ME), await contents(operator, YOU)) == ([], ["あとの話"])

    async def test_by_logs_that_are_none_are_not_and_told_which(self, operator: Operator) -> None:
        async with operator.stores(operator.lived) as stores:
            await stores.memories.add(ME, "前の話")
        await operator.dump()
        await ErasureLog(operator.log, clock=lambda: START + HOUR).note("user", ME)
        other = operator.folder / "other.jsonl"
        with pytest.raises(ErasuresNotFound):
            await operator.apply(operator.log, other)
        for content, line in (("x\n", 1), ("{}\n", 1)):
            other.write_text(content)
            with pytest.raises(ErasuresBroken) as refused:
                await operator.apply(operator.log, other)
            assert refused.value.params["line"] == line
        other.write_bytes(operator.log.read_bytes() + b'{"at": "sometime", "id": "x"}\n{"id"')
        with pytest.raises(ErasuresBroken) as refused:
            await operator.apply(operator.log, other)
        assert refused.value.params["line"] == 2
        assert await contents(operator, ME) == ["前の話"]
