"""What a database does by itself is what the migrations made; and all who look at a file judge it alike."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from cc_bot.domain.errors import BackupDamaged, DatabaseDamaged, SchemaChanged
from cc_bot.storage import apply_pending, open_database
from cc_bot.storage.migrate import Migration, known_migrations
from cc_bot.storage.restoring import examine, staged
from cc_bot.storage.schema import Schema, SchemaObject, schema_made_by
from tests.databases import laid_out
from tests.storage.files import change

SPY = "CREATE TRIGGER spy AFTER INSERT ON memories BEGIN DELETE FROM memories WHERE id <> new.id; END"


@pytest.fixture
def whole(path: Path) -> bytes:
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    laid_out(tmp_path / "sessions.db")
    return tmp_path / "sessions.db"


async def start(path: Path, migrations: Sequence[Migration] | None = None) -> None:
    async with open_database(f"sqlite:///{path}") as database:
        await apply_pending(database, migrations)


def restore(path: Path) -> None:
    (path.parent / "other").mkdir(exist_ok=True)
    with staged(path, path.parent / "other" / "sessions.db"):
        pass


class TestSchema:
    def test_takes_nothing_that_a_write_could_run_into_for_an_addition(self) -> None:
        made = schema_made_by(("CREATE TABLE a (x)",))
        for kind, table, sql in (
            ("TRIGGER", "a", "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a; END"),
            ("view", "a", "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a; END"),
            ("VIEW", "v", "CREATE VIEW v AS SELECT 1"),
            ("table", "t", "CREATE TABLE t (x REFERENCES a (x))"),
            ("table", "t", "CREATE VIRTUAL TABLE t USING fts5(x)"),
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

    async def test_before_an_upgrade_names_what_stands_in_its_way_and_changes_nothing(
        self, path: Path, whole: bytes
    ) -> None:
        later = ("CREATE TABLE notes (text TEXT)", "CREATE INDEX notes_by_text ON notes (text)")
        migrations = (*known_migrations(), Migration(len(known_migrations()) + 1, "notes", later))
        for name, statement in (
            ("spy", SPY),
            ("notes", "CREATE TABLE Notes (mine TEXT)"),
            ("notes", "CREATE INDEX notes_by_text ON schedules (agent)"),
        ):
            change(path, statement, whole=whole)
            with pytest.raises(SchemaChanged) as refused:
                await start(path, migrations)
            assert name in str(refused.value.params["name"]).lower()
            assert examine(path).version == len(known_migrations())

    async def test_on_one_with_an_index_and_a_view_of_its_operators_own_goes_on(self, path: Path) -> None:
        change(
            path,
            "CREATE INDEX mine ON memories (category)",
            "CREATE VIEW counts AS SELECT count(*) FROM memories",
            "CREATE TABLE notes (text)",
            "ANALYZE",
        )
        await start(path)


class TestRecordsOfTheSchema:
    async def test_that_are_not_whole_are_damage_to_all_three(self, path: Path, whole: bytes) -> None:
        for statement in (
            "DELETE FROM schema_migrations",
            "UPDATE schema_migrations SET version = -1",
        ):
            change(path, statement, whole=whole)
            assert examine(path).condition == "damaged"
            with pytest.raises(DatabaseDamaged):
                await start(path)
            with pytest.raises(BackupDamaged):
                restore(path)
