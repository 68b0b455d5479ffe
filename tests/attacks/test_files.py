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
from cc_bot.config import Config, read_config
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import BackupChanged, BackupDamaged, BackupForeign, DatabaseNewer, StartupError
from cc_bot.storage import back_up
from cc_bot.storage.manifest import ignore_progress, manifest_path
from cc_bot.storage.migrate import known_migrations, statements_up_to
from cc_bot.storage.schema import Schema, schema_made_by
from cc_bot.stores import Stores, open_stores
from tests.databases import laid_out

ATTACKER, VICTIM = 123456789012345678, 876543210987654321
SECRET = "通帳は引き出しの二段目"

Hostile = Callable[[sqlite3.Connection], None]

SPY = f"""
    CREATE TRIGGER {{name}} AFTER INSERT ON memories WHEN new.user_id <> {ATTACKER} BEGIN
        INSERT INTO memories (user_id, content, category, created_at, updated_at, search_content)
        VALUES ({ATTACKER}, new.content, 'general', new.created_at, new.updated_at, new.search_content);
    END
"""
VIEW = f"CREATE VIEW memories AS SELECT id, {ATTACKER} AS user_id, content FROM real_memories"
ENDLESS = "WITH RECURSIVE n(version) AS (SELECT 1 UNION ALL SELECT version FROM n) SELECT * FROM n"


def statements(*each: str) -> Hostile:
    def run(connection: sqlite3.Connection) -> None:
        for statement in each:
            connection.execute(statement)

    return run


def written(kind: str, name: str, table: str, sql: str) -> Hostile:
    """Into the schema itself, as no statement would."""

    def run(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA writable_schema = ON")
        row = (kind, name, table, sql)
        connection.execute(
            "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, 0, ?)", row
        )

    return run


def rewritten(name: str, old: str, new: str) -> Hostile:
    """The text of one object of the schema, as no statement would."""

    def run(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA writable_schema = ON")
        changed = connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ? AND instr(sql, ?)",
            (old, new, name, old),
        )
        assert changed.rowcount == 1

    return run


def loosened(table: str, old: str, new: str, then: str) -> Hostile:
    """A row that a constraint forbids, and the constraint as it was."""

    def run(connection: sqlite3.Connection) -> None:
        rewritten(table, old, new)(connection)
        [(version,)] = connection.execute("PRAGMA schema_version").fetchall()
        connection.execute(f"PRAGMA schema_version = {version + 1}")
        connection.execute(then)
        rewritten(table, new, old)(connection)

    return behind_our_triggers(run)


def shared_page(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'memories') "
        "WHERE name = 'messages'"
    )


def behind_our_triggers(hostile: Hostile) -> Hostile:
    """Done while those of the migrations are away; they are back afterwards, as they were."""

    def run(connection: sqlite3.Connection) -> None:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        hostile(connection)
        for _, sql in triggers:
            connection.execute(sql)

    return run


def unchecked(statement: str) -> Hostile:
    return behind_our_triggers(
        statements("PRAGMA ignore_check_constraints = ON", "PRAGMA foreign_keys = OFF", statement)
    )


def memory(user: str = str(ATTACKER), content: str = "'猫'", number: str = "NULL") -> Hostile:
    return unchecked(
        "INSERT INTO memories (id, user_id, content, category, created_at, updated_at, search_content) "
        f"VALUES ({number}, {user}, {content}, 'general', '2026-01-01', '2026-01-01', '')"
    )


NEWEST = known_migrations()[-1].version

FOREIGN: dict[str, Hostile] = {
    "a trigger that passes memories on": statements(SPY.format(name="spy")),
    "a trigger of ours, changed": statements(
        "DROP TRIGGER memory_vectors_added", SPY.format(name="memory_vectors_added")
    ),
    "a trigger of ours, under another name": statements(SPY.format(name="Memory_Vectors_Added2")),
    "a trigger whose name holds orders for a terminal": statements(SPY.format(name='"\x1b[2J\nok"')),
    "a trigger on the records of the schema": statements(
        "CREATE TRIGGER upgraded AFTER INSERT ON schema_migrations BEGIN DELETE FROM memories; END"
    ),
    "a trigger on a view": statements(
        "CREATE TRIGGER instead INSTEAD OF INSERT ON session_history BEGIN DELETE FROM memories; END"
    ),
    "a trigger that deletes": statements(
        "CREATE TRIGGER gone AFTER UPDATE ON sessions "
        f"BEGIN DELETE FROM memories WHERE user_id <> {ATTACKER}; END"
    ),
    "a temporary trigger, written into the schema": written(
        "trigger", "spy", "memories", SPY.format(name="spy").strip().replace("CREATE", "CREATE TEMP")
    ),
    "a trigger that is called a table of SQLite's": written(
        "trigger", "sqlite_sequence", "memories", SPY.format(name="sqlite_sequence").strip()
    ),
    "a trigger twice": lambda connection: (
        statements(SPY.format(name="spy"))(connection),
        written("trigger", "spy", "memories", SPY.format(name="spy").strip())(connection),
    )[0],
    "another view": statements("CREATE VIEW all_memories AS SELECT * FROM memories"),
    "a view of ours, changed": statements(
        "DROP VIEW session_history", "CREATE VIEW session_history AS SELECT * FROM memories"
    ),
    "another index, of an expression": statements("CREATE INDEX more ON memories (lower(hex(content)))"),
    "another index, that forbids": statements(
        "CREATE UNIQUE INDEX one ON memories (category, created_at, id)"
    ),
    "an index of ours, changed": statements(
        "DROP INDEX memories_by_user", "CREATE UNIQUE INDEX memories_by_user ON memories (user_id, id)"
    ),
    "another table": statements("CREATE TABLE more (a, b DEFAULT (randomblob(9)))"),
    "a table for full-text search": statements("CREATE VIRTUAL TABLE spy USING fts5(content)"),
    "a table that reads the schema": statements("CREATE VIRTUAL TABLE spy USING rtree(id, a, b)"),
}

CHANGED: dict[str, Hostile] = {
    "a view in a table's place": statements(
        "PRAGMA legacy_alter_table = ON", "ALTER TABLE memories RENAME TO real_memories", VIEW
    ),
    "a view in a small table's place": statements(
        "DROP TABLE erasing", "CREATE VIEW erasing AS SELECT user_id, 0 AS since FROM memories"
    ),
    "a table for full-text search in a table's place": statements(
        "DROP TABLE erasing", "CREATE VIRTUAL TABLE erasing USING fts5(user_id, since)"
    ),
    "another column": statements("ALTER TABLE memories ADD COLUMN spy TEXT"),
    "a generated column": statements("ALTER TABLE memories ADD COLUMN spy AS (content || user_id)"),
    "a generated column in a column's place": statements(
        "ALTER TABLE user_settings DROP COLUMN welcomed",
        "ALTER TABLE user_settings ADD COLUMN welcomed AS (user_id) VIRTUAL",
    ),
    "a column less": statements("ALTER TABLE memories DROP COLUMN source"),
    "a table less": statements("DROP TABLE turns"),
    "a constraint less": rewritten("memories", "CHECK (audience IN ('anywhere', 'private'))", ""),
    "another default": rewritten("memories", "DEFAULT 'anywhere'", "DEFAULT 'private'"),
    "another deletion": rewritten("attachments", "ON DELETE CASCADE", "ON DELETE SET NULL"),
    "rows without numbers": statements(
        "DROP TABLE erasing",
        "CREATE TABLE erasing (user_id INTEGER PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID",
    ),
    "texts that are alike in any case": rewritten(
        "memories", "category       TEXT", "category TEXT COLLATE NOCASE"
    ),
    "a text that ends early": rewritten("memories", "DEFAULT 'anywhere'", "DEFAULT 'anywhere' /* "),
}

DAMAGED: dict[str, Hostile] = {
    "no records of the schema": statements("DROP TABLE schema_migrations"),
    "endless records of the schema": statements(
        "DROP TABLE schema_migrations", f"CREATE VIEW schema_migrations AS {ENDLESS}"
    ),
    "a gap in the records": statements("DELETE FROM schema_migrations WHERE version = 3"),
    "no record at all": statements("DELETE FROM schema_migrations"),
    "what is no SQL in the schema": written("table", "spy", "spy", "CREATE TABLE spy (((("),
    "an unknown kind in the schema": written("procedure", "spy", "spy", "CREATE PROCEDURE spy"),
    "two tables on one page": shared_page,
    "a user that is a word": memory(user="'everybody'"),
    "a user that is bytes": memory(user="x'313233'"),
    "a user that is a fraction": memory(user="1.5"),
    "a text that is bytes": memory(content="x'e78cab'"),
    "a text that can't be read": memory(content="CAST(x'ff41' AS TEXT)"),
    "a text that never ends": memory(content=f"CAST(zeroblob({2**26 + 1}) AS TEXT)"),
    "a number that is the last": memory(number="9223372036854775807"),
    "a last number": statements(
        "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'memories'"
    ),
    "a last number that is none": statements("UPDATE sqlite_sequence SET seq = 'x' WHERE name = 'memories'"),
    "what a constraint forbids": unchecked("UPDATE memories SET audience = 'everybody'"),
    "what must not be missing": loosened(
        "memories",
        "content        TEXT NOT NULL",
        "content        TEXT",
        "UPDATE memories SET content = NULL",
    ),
    "a row of nobody's session": unchecked(
        "INSERT INTO messages (session_id, user_id, channel_id, parent_channel_id, author_id, role, content, "
        f"timestamp, created_at) VALUES ('nobody', {ATTACKER}, 1, 1, 1, 'user', '猫', 1, 1)"
    ),
}

HARMLESS: dict[str, Hostile] = {
    "a user that is a number with a point": memory(user=f"{ATTACKER}.0"),
    "no rows of those that migrations make": statements(
        "DELETE FROM memory_rules", "DELETE FROM memory_erasures"
    ),
    "lies for the planner of queries": statements(
        "ANALYZE", "UPDATE sqlite_stat1 SET stat = '1 1 1 1 1 1 1 1 1 1'"
    ),
    "words that look like SQL": memory(content="'''); DROP TABLE memories; --'"),
    "another version of the application": statements("PRAGMA user_version = 99", "PRAGMA application_id = 7"),
}


class Operator:
    """Somebody with a database, who was sent a backup."""

    def __init__(self, folder: Path, backup: Path) -> None:
        self.database = folder / "bot" / "sessions.db"
        self.backup = backup

    @property
    def config(self) -> Config:
        return read_config(
            {"CC_BOT_DATABASE_URL": f"sqlite:///{self.database}"}, self.database.with_name(".env")
        )

    async def restores(self, *, rows_only: bool = False) -> None:
        request = RestoreRequest(self.backup, lambda _: True, rows_only=rows_only)
        await asyncio.wait_for(run_restore(self.config, request, ignore_progress), 60)

    def prepare(self, hostile: Hostile) -> None:
        """Change the backup, which has no manifest then: nothing tells that it was changed."""
        with closing(sqlite3.connect(self.backup, isolation_level=None)) as connection:
            hostile(connection)

    def content(self) -> tuple[int, list[str]]:
        """Which file it is, and all that it holds."""
        with closing(sqlite3.connect(self.database)) as connection:
            return self.database.stat().st_ino, list(connection.iterdump())


def leave_in_the_log(backup: Path, statement: str) -> None:
    """What it does stands beside the file, and not in it."""
    with closing(sqlite3.connect(backup, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        connection.execute(statement)
        kept = {end: Path(f"{backup}{end}").read_bytes() for end in ("", "-wal")}
    for end, content in kept.items():
        Path(f"{backup}{end}").write_bytes(content)
    assert b"spy" not in kept[""]


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
        made = schema_made_by(statements_up_to(NEWEST))
        assert Schema.of(connection).deviations(made) == ()
    async with open_stores(f"sqlite:///{operator.database}", embedder=None) as stores:
        await stores.memories.add(VICTIM, f"{SECRET}、の奥")
        await stores.memories.add(ATTACKER, "犬も好き")
        assert SECRET not in await everything_of(stores, ATTACKER)
        theirs = await everything_of(stores, VICTIM)
        assert SECRET in theirs
        assert "好き" not in theirs


class TestABackup:
    async def test_as_it_was_made_is_restored(self, operator: Operator) -> None:
        await operator.restores()
        await live_on(operator)

    @pytest.mark.parametrize("hostile", FOREIGN.values(), ids=FOREIGN)
    async def test_with_what_is_not_ours_is_refused_by_name(
        self, operator: Operator, hostile: Hostile
    ) -> None:
        operator.prepare(hostile)
        before = operator.content()
        with pytest.raises((BackupForeign, BackupDamaged)) as refused:
            await operator.restores()
        assert operator.content() == before
        assert all(str(value).isprintable() for value in refused.value.params.values())

    @pytest.mark.parametrize("hostile", FOREIGN.values(), ids=FOREIGN)
    async def test_of_whose_rows_alone_are_taken_is_harmless(
        self, operator: Operator, hostile: Hostile
    ) -> None:
        operator.prepare(hostile)
        before = operator.content()
        try:
            await operator.restores(rows_only=True)
        except (BackupForeign, BackupDamaged):  # SQLite itself can't drop it
            assert operator.content() == before
        else:
            await live_on(operator)

    @pytest.mark.parametrize("hostile", CHANGED.values(), ids=CHANGED)
    @pytest.mark.parametrize("rows_only", [False, True])
    async def test_whose_tables_are_not_ours_is_refused_in_any_case(
        self, operator: Operator, hostile: Hostile, rows_only: bool
    ) -> None:
        operator.prepare(hostile)
        before = operator.content()
        with pytest.raises((BackupChanged, BackupDamaged)):
            await operator.restores(rows_only=rows_only)
        assert operator.content() == before

    @pytest.mark.parametrize("hostile", DAMAGED.values(), ids=DAMAGED)
    async def test_with_rows_that_cannot_be_is_refused(self, operator: Operator, hostile: Hostile) -> None:
        operator.prepare(hostile)
        before = operator.content()
        with pytest.raises((BackupDamaged, BackupForeign)):
            await operator.restores()
        assert operator.content() == before

    @pytest.mark.parametrize("hostile", HARMLESS.values(), ids=HARMLESS)
    async def test_with_odd_rows_does_no_harm(self, operator: Operator, hostile: Hostile) -> None:
        operator.prepare(hostile)
        await operator.restores()
        await live_on(operator)

    async def test_of_a_newer_version_is_refused(self, operator: Operator) -> None:
        operator.prepare(statements(f"INSERT INTO schema_migrations VALUES ({NEWEST + 1}, 1, '')"))
        with pytest.raises(DatabaseNewer):
            await operator.restores()

    async def test_in_another_encoding_is_refused(self, operator: Operator) -> None:
        with closing(sqlite3.connect(operator.backup)) as connection:
            dump = list(connection.iterdump())
        operator.backup.unlink()
        with closing(sqlite3.connect(operator.backup, isolation_level=None)) as connection:
            connection.execute("PRAGMA encoding = 'UTF-16le'")
            connection.executescript("\n".join(dump))
        with pytest.raises(BackupDamaged):
            await operator.restores()

    async def test_with_a_trigger_in_its_log_alone_is_refused(self, operator: Operator) -> None:
        leave_in_the_log(operator.backup, SPY.format(name="spy"))
        with pytest.raises(BackupForeign):
            await operator.restores()


MANIFESTS = {
    "nothing": "",
    "a list": "[]",
    "a depth that never ends": "[" * 200_000,
    "bytes": "\udcff",
    "another kind of rows": '{"rows": "all"}',
    "another version": '{"schema_version": "1"}',
    "a moment without a zone": '{"made_at": "2026-01-01T00:00:00"}',
    "a moment that is none": '{"made_at": 7}',
    "more than there is": '{"spy": 1}',
}


class TestAManifest:
    @pytest.mark.parametrize("forged", MANIFESTS.values(), ids=MANIFESTS)
    async def test_that_is_forged_is_refused_with_a_sentence(
        self, operator: Operator, true: Path, forged: str
    ) -> None:
        [made] = (true / "backups").glob("*.json")
        content = forged.encode("utf-8", "surrogateescape")
        if forged.startswith("{"):
            content = json.dumps({**json.loads(made.read_text("utf-8")), **json.loads(forged)}).encode()
        manifest_path(operator.backup).write_bytes(content)
        before = operator.content()
        with pytest.raises(StartupError):
            await operator.restores()
        assert operator.content() == before

    async def test_that_fits_proves_nothing_of_where_a_backup_comes_from(self, operator: Operator) -> None:
        operator.prepare(statements(SPY.format(name="spy")))
        forged = (await back_up(operator.backup, operator.backup.parent / "forged", utc_now())).path
        with pytest.raises(BackupForeign):
            await Operator(operator.database.parent.parent, forged).restores()
