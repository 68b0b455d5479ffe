"""A start refuses a file whose schema is not the one that the migrations make."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from cc_bot.app.database import CopyRequest, run_copy
from cc_bot.config import read_config
from cc_bot.domain.errors import DatabaseOutdated, SchemaChanged, UpgradeFailed
from cc_bot.storage import apply_pending, open_database
from cc_bot.storage.manifest import ignore_progress
from cc_bot.storage.migrate import Migration, known_migrations
from cc_bot.storage.restoring import examine, staged
from cc_bot.stores import open_stores
from cc_bot.stores.memory.upkeep import recompute_outdated
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
    with staged(path, path.with_name("restored.db")):
        pass


class TestStart:
    async def test_on_a_database_with_a_trigger_of_somebody_elses_is_refused(self, path: Path) -> None:
        change(path, SPY)
        with pytest.raises(SchemaChanged) as refused:
            await start(path)
        assert refused.value.params == {"path": str(path), "name": "TRIGGER spy"}

    async def test_on_one_that_is_not_as_it_was_made_is_refused(self, path: Path, whole: bytes) -> None:
        changes = {
            "TABLE memories": (
                "ALTER TABLE memories RENAME TO m",
                "CREATE VIEW memories AS SELECT * FROM m",
            ),
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
        for statement, error in (("CREATE TABLE Notes (mine TEXT)", UpgradeFailed), (SPY, SchemaChanged)):
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
        with staged(path, path.with_name("restored.db")) as copy:
            assert "notes" in copy.rows


class TestADatabaseFromBeforeTheFirstRelease:
    async def test_is_refused_with_the_command_that_brings_it_over(self, path: Path) -> None:
        async with open_stores(f"sqlite:///{path}", embedder=None) as stores:
            kept = [await stores.memories.add(1, text) for text in ("猫の名前はモチ", "犬の名前はポチ")]
            await stores.memory_removal.erase(1, kept.pop().id)
        change(
            path,
            "UPDATE schema_migrations SET description = 'initial'",
            "INSERT INTO schema_migrations VALUES (2, 0, 'token factors'), (39, 0, 'erasure lines stay')",
            "DROP TABLE memory_terms",
            "DROP INDEX memories_by_text",
            "ALTER TABLE memories DROP COLUMN term_count",
            "CREATE TABLE memory_segments (user_id INTEGER PRIMARY KEY)",
            "UPDATE memory_rules SET version = 1",
        )
        for refused in (start(path), asyncio.to_thread(restore, path)):
            with pytest.raises(DatabaseOutdated) as refusal:
                await refused
            assert "cc-bot copy" in str(refusal.value.params["command"])
        assert examine(path).condition == "outdated"
        new = f"sqlite:///{path.with_name('new.db')}"
        config = read_config({"CC_BOT_DATA_FOLDER": str(path.parent)}, path.with_name(".env"))
        await run_copy(config, CopyRequest(f"sqlite:///{path}", new), ignore_progress)
        async with open_database(new) as database:
            await recompute_outdated(database)
        async with open_stores(new, embedder=None) as stores:
            assert await stores.memories.search(1, "猫") == kept
            assert (await stores.memories.add(1, "鳥")).number == 3
