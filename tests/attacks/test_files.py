"""Files that somebody prepared: backups that the operator is talked into restoring.

Each is made from a true backup, in which two people have said something in private. It is refused with the
database as it was, or it is harmless: afterwards nothing runs in the database that the migrations did not
make, and what one of the two has exported holds nothing of the other.
"""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cc_bot.app.restoring import RestoreRequest, run_restore
from cc_bot.config import read_config
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import BackupChanged, BackupDamaged, BackupForeign
from cc_bot.storage import back_up
from cc_bot.storage.manifest import ignore_progress, manifest_path
from cc_bot.storage.migrate import known_migrations, statements_up_to
from cc_bot.storage.schema import Schema, schema_made_by
from cc_bot.stores import Stores, open_stores
from tests.databases import laid_out

ATTACKER, VICTIM = 123456789012345678, 876543210987654321
SECRET = "通帳は引き出しの二段目"
NEWEST = known_migrations()[-1].version

Hostile = Callable[[sqlite3.Connection], None]

SPY = f"""
    CREATE TRIGGER {{name}} AFTER INSERT ON memories WHEN new.user_id <> {ATTACKER} BEGIN
        INSERT INTO memories (user_id, content, category, created_at, updated_at, search_content)
        VALUES ({ATTACKER}, new.content, 'general', new.created_at, new.updated_at, new.search_content);
    END
"""
VIEW = f"CREATE VIEW memories AS SELECT id, {ATTACKER} AS user_id, content FROM real_memories"
WRITABLE = "PRAGMA writable_schema = ON"


def statements(*each: str) -> Hostile:
    def run(connection: sqlite3.Connection) -> None:
        for statement in each:
            connection.execute(statement)

    return run


def written(kind: str, name: str, table: str, sql: str) -> Hostile:
    """Into the schema itself, as no statement would."""
    values = ", ".join(f"'{each.replace(chr(39), chr(39) * 2)}'" for each in (kind, name, table, sql.strip()))
    return statements(
        WRITABLE, f"INSERT INTO sqlite_master (type, name, tbl_name, sql, rootpage) VALUES ({values}, 0)"
    )


FOREIGN: dict[str, Hostile] = {
    "a trigger that passes memories on": statements(SPY.format(name="spy")),
    "a view of ours, changed": statements(
        "DROP VIEW session_history", "CREATE VIEW session_history AS SELECT user_id, content FROM memories"
    ),
    "a temporary trigger, written into the schema": written(
        "trigger", "spy", "memories", SPY.format(name="spy").replace("CREATE", "CREATE TEMP")
    ),
    "another index, of an expression": statements("CREATE INDEX more ON memories (lower(hex(content)))"),
}
WRONG: dict[str, Hostile] = {
    "a view in a table's place": statements(
        "PRAGMA legacy_alter_table = ON", "ALTER TABLE memories RENAME TO real_memories", VIEW
    ),
    "a generated column": statements("ALTER TABLE memories ADD COLUMN spy AS (content || user_id)"),
    "two tables on one page": statements(
        WRITABLE,
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'memories') "
        "WHERE name = 'messages'",
    ),
}


class Operator:
    """Somebody with a database, who was sent a backup."""

    def __init__(self, folder: Path, backup: Path) -> None:
        self.database = folder / "bot" / "sessions.db"
        self.backup = backup

    async def restores(self, *, rows_only: bool = False) -> None:
        environment = {"CC_BOT_DATABASE_URL": f"sqlite:///{self.database}"}
        config = read_config(environment, self.database.with_name(".env"))
        request = RestoreRequest(self.backup, lambda _: True, rows_only=rows_only)
        await asyncio.wait_for(run_restore(config, request, ignore_progress), 60)

    def prepare(self, hostile: Hostile) -> None:
        """Change the backup, which has no manifest then: nothing tells that it was changed."""
        with closing(sqlite3.connect(self.backup, isolation_level=None)) as connection:
            hostile(connection)

    def content(self) -> tuple[int, list[str]]:
        """Which file it is, and all that it holds."""
        with closing(sqlite3.connect(self.database)) as connection:
            return self.database.stat().st_ino, list(connection.iterdump())


@pytest.fixture
async def true(tmp_path: Path) -> Path:
    """A folder with a database and a backup of it."""
    folder = tmp_path / "true"
    database = folder / "bot" / "sessions.db"
    database.parent.mkdir(parents=True)
    async with open_stores(laid_out(database), embedder=None) as stores:
        await stores.memories.add(VICTIM, SECRET)
        await stores.memories.add(ATTACKER, "猫が好き")
        await back_up(database, folder / "backups", utc_now())
    return folder


@pytest.fixture
def operator(true: Path, tmp_path: Path) -> Iterator[Operator]:
    shutil.copytree(true, tmp_path, dirs_exist_ok=True)
    [backup] = (tmp_path / "backups").glob("*.db")
    manifest_path(backup).unlink()
    yield Operator(tmp_path, backup)
    assert not list((tmp_path / "bot").glob(".sessions.db.restoring-*"))


async def everything_of(stores: Stores, user_id: int) -> str:
    """What this user gets by `/privacy export` and `/memory export`."""
    records = [dict(record) async for _, record in stores.personal_data.read_records(user_id)]
    memories = [memory.content for memory in await stores.memory_transfer.list_all(user_id)]
    return json.dumps([records, memories], ensure_ascii=False, default=str)


async def live_on(operator: Operator) -> None:
    """Both go on using the bot, and neither has anything of the other."""
    with closing(sqlite3.connect(operator.database)) as connection:
        assert Schema.of(connection).deviations(schema_made_by(statements_up_to(NEWEST))) == ()
    async with open_stores(f"sqlite:///{operator.database}", embedder=None) as stores:
        await stores.memories.add(VICTIM, f"{SECRET}、の奥")
        await stores.memories.add(ATTACKER, "犬も好き")
        assert SECRET not in await everything_of(stores, ATTACKER)
        theirs = await everything_of(stores, VICTIM)
        assert (SECRET in theirs, "好き" in theirs) == (True, False)


class TestABackup:
    @pytest.mark.parametrize("hostile", FOREIGN.values(), ids=FOREIGN)
    async def test_with_what_is_not_ours_is_refused_by_name(
        self, operator: Operator, hostile: Hostile
    ) -> None:
        """And it is harmless where its rows alone are taken."""
        operator.prepare(hostile)
        before = operator.content()
        with pytest.raises((BackupForeign, BackupDamaged)) as refused:
            await operator.restores()
        assert operator.content() == before
        assert all(str(value).isprintable() for value in refused.value.params.values())
        try:
            await operator.restores(rows_only=True)
        except (BackupForeign, BackupDamaged):  # SQLite itself can't drop it
            assert operator.content() == before
        else:
            await live_on(operator)

    @pytest.mark.parametrize("rows_only", [False, True])
    @pytest.mark.parametrize("hostile", WRONG.values(), ids=WRONG)
    async def test_whose_tables_or_rows_cannot_be_ours_is_refused(
        self, operator: Operator, hostile: Hostile, rows_only: bool
    ) -> None:
        operator.prepare(hostile)
        before = operator.content()
        with pytest.raises((BackupChanged, BackupDamaged, BackupForeign)):
            await operator.restores(rows_only=rows_only)
        assert operator.content() == before

    async def test_as_it_was_made_is_restored(self, operator: Operator) -> None:
        await operator.restores()
        await live_on(operator)

    async def test_that_fits_proves_nothing_of_where_a_backup_comes_from(self, operator: Operator) -> None:
        operator.prepare(statements(SPY.format(name="spy")))
        forged = (await back_up(operator.backup, operator.backup.parent / "forged", utc_now())).path
        with pytest.raises(BackupForeign):
            await Operator(operator.database.parent.parent, forged).restores()
