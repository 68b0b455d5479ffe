"""A start refuses a file whose schema is not the one that the migrations make."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from cc_bot.db import apply_pending, open_database
from cc_bot.db.backup import announce_nothing
from cc_bot.db.restore import stage_backup
from cc_bot.db.schema import Migration, examine, known_migrations
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import SchemaChanged, StorageError
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


class TestStart:
    async def test_on_a_database_with_a_trigger_of_somebody_elses_is_refused(self, path: Path) -> None:
        change(path, SPY)
        with pytest.raises(SchemaChanged) as refused:
            await start(path)
        assert refused.value.params == {"path": str(path), "name": "TRIGGER spy"}

    async def test_on_one_that_is_not_as_it_was_made_is_refused(self, path: Path, whole: bytes) -> None:
        changes = {
            "TABLE memories": ("ALTER TABLE memories RENAME TO m", "CREATE VIEW memories AS SELECT * FROM m"),
            "TABLE erasing": ("DROP TABLE erasing",),
            "INDEX schedules_heartbeat": ("DROP INDEX schedules_heartbeat",),
            # A name is shown on one line however it was chosen.
            "TRIGGER ?[2J?" + "長" * 47: (SPY.replace("spy", '"\x1b[2J\n' + "長" * 100 + '"'),),
        }
        for name, statements in changes.items():
            change(path, "PRAGMA legacy_alter_table = ON", *statements, whole=whole)
            with pytest.raises(SchemaChanged) as refused:
                await start(path)
            assert refused.value.params["name"] == name

    async def test_that_cannot_upgrade_it_changes_nothing(self, path: Path, whole: bytes) -> None:
        later = Migration(len(known_migrations()) + 1, "notes", ("CREATE TABLE notes (text TEXT)",))
        for statement, error in (("CREATE TABLE Notes (mine TEXT)", StorageError), (SPY, SchemaChanged)):
            change(path, statement, whole=whole)
            with pytest.raises(error):
                await start(path, (*known_migrations(), later))
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
        async with stage_backup(path, path.with_name("restored.db"), utc_now, announce_nothing) as copy:
            assert "notes" in copy.rows
