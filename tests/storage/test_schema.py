"""What a database does by itself is what the migrations made, and nothing else."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cc_bot.domain.errors import SchemaChanged
from cc_bot.storage import apply_pending, open_database
from cc_bot.storage.migrate import known_migrations, statements_up_to
from cc_bot.storage.schema import Deviation, Schema, SchemaObject, schema_made_by
from tests.databases import laid_out

SPY = "CREATE TRIGGER spy AFTER INSERT ON memories BEGIN DELETE FROM memories WHERE id <> new.id; END"


@pytest.fixture
def whole(path: Path) -> bytes:
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    laid_out(tmp_path / "sessions.db")
    return tmp_path / "sessions.db"


def change(path: Path, *statements: str, whole: bytes = b"") -> None:
    """Change the file, or what it once was."""
    if whole:
        path.write_bytes(whole)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


async def start(path: Path) -> None:
    async with open_database(f"sqlite:///{path}") as database:
        await apply_pending(database)


class TestSchema:
    async def test_of_every_version_is_the_one_that_its_migrations_make(self, tmp_path: Path) -> None:
        path, known = tmp_path / "old.db", known_migrations()
        deviations = list[Deviation]()
        for version in range(1, len(known) + 1):
            async with open_database(f"sqlite:///{path}") as database:
                await apply_pending(database, known[:version])
            with closing(sqlite3.connect(path)) as connection:
                deviations += Schema.of(connection).deviations(schema_made_by(statements_up_to(version)))
        assert deviations == []

    def test_is_another_where_more_than_comments_and_spaces_differs(self) -> None:
        def plain(text: str) -> object:
            return SchemaObject("table", "t", "t", text).plain

        one = plain("CREATE TABLE t (a TEXT DEFAULT ' -- ', /* x */ b)")
        assert one == plain("CREATE TABLE t(a TEXT   DEFAULT ' -- ',b) -- here\n")
        for text in (
            "CREATE TABLE t (a TEXT DEFAULT '--', b)",
            "CREATE TABLE t (a TEXT DEFAULT ' -- ', bb)",
            "CREATE TABLE t (a TEXT DEFAULT ' -- ', b) STRICT",
            "CREATE TABLE t (a TEXT DEFAULT ' -- ', b /* */ DEFAULT 1)",
            'CREATE TABLE t (a TEXT DEFAULT " -- ", b)',
        ):
            assert plain(text) != one, text

    def test_tells_what_is_more_what_is_less_and_what_is_different(self) -> None:
        made = schema_made_by(("CREATE TABLE a (x)", "CREATE TABLE b (x)", "CREATE INDEX c ON a (x)"))
        found = schema_made_by(
            ("CREATE TABLE A (x, y)", "CREATE INDEX c ON a (x)", "CREATE VIEW v AS SELECT 1")
        )
        assert set(found.deviations(made)) == {
            Deviation("table", "A", "different", is_table=True),
            Deviation("table", "b", "missing", is_table=True),
            Deviation("index", "c", "different"),
            Deviation("view", "v", "extra", runs=False),
        }

    def test_takes_nothing_that_a_write_could_run_into_for_an_addition(self) -> None:
        made = schema_made_by(("CREATE TABLE a (x)",))
        for kind, table, sql in (
            ("TRIGGER", "a", "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a; END"),
            ("view", "a", "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a; END"),
            ("VIEW", "v", "CREATE VIEW v AS SELECT 1"),
            ("table", "t", "CREATE TABLE t (x REFERENCES a (x))"),
            ("table", "t", "CREATE VIRTUAL TABLE t USING fts5(x)"),
            ("index", "a", "CREATE UNIQUE INDEX i ON a (x)"),
            ("index", "t", "CREATE UNIQUE INDEX i ON a (x)"),
            ("index", "a", 'CREATE INDEX i ON "a" (x) WHERE x > 1'),
            ("index", "a", "CREATE INDEX i ON a (json(x))"),
            ("index", "a", "CREATE INDEX i ON a (x COLLATE mine)"),
        ):
            [found] = Schema((*made.objects, SchemaObject(kind, "i", table, sql))).deviations(made)
            assert found.runs, sql
        own = ("CREATE TABLE a (x)", "CREATE TABLE t (x UNIQUE)", "CREATE UNIQUE INDEX i ON t (lower(x))")
        assert not any(each.runs for each in schema_made_by(own).deviations(made))


class TestStart:
    async def test_on_a_database_with_a_trigger_of_somebody_elses_is_refused(self, path: Path) -> None:
        change(path, SPY)
        with pytest.raises(SchemaChanged) as refused:
            await start(path)
        assert refused.value.params == {"path": str(path), "name": "TRIGGER spy"}

    async def test_on_one_that_is_not_as_it_was_made_is_refused(self, path: Path, whole: bytes) -> None:
        changes = {
            "VIEW memories": (
                "ALTER TABLE memories RENAME TO m",
                "CREATE VIEW memories AS SELECT * FROM m",
            ),
            "TRIGGER sessions_canvas_changed": ("DROP TRIGGER sessions_canvas_changed",),
            "TABLE erasing": ("DROP TABLE erasing",),
            "INDEX schedules_heartbeat": ("DROP INDEX schedules_heartbeat",),
            # A name is shown on one line however it was chosen.
            "TRIGGER ?[2J?" + "長" * 55: (SPY.replace("spy", '"\x1b[2J\n' + "長" * 100 + '"'),),
        }
        for name, statements in changes.items():
            change(path, "PRAGMA legacy_alter_table = ON", *statements, whole=whole)
            with pytest.raises(SchemaChanged) as refused:
                await start(path)
            assert refused.value.params["name"] == name

    async def test_before_an_upgrade_looks_as_well(self, tmp_path: Path) -> None:
        path = tmp_path / "old.db"
        async with open_database(f"sqlite:///{path}") as database:
            await apply_pending(database, known_migrations()[:9])
        change(path, SPY)
        with pytest.raises(SchemaChanged):
            await start(path)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT max(version) FROM schema_migrations").fetchone() == (9,)

    async def test_on_one_with_an_index_and_a_view_of_its_operators_own_goes_on(self, path: Path) -> None:
        change(
            path,
            "CREATE INDEX mine ON memories (category)",
            "CREATE VIEW counts AS SELECT count(*) FROM memories",
            "CREATE TABLE notes (text)",
            "ANALYZE",
        )
        await start(path)
