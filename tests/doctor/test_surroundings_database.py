"""What the doctor finds out about the database's file."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from cc_bot.doctor.checkup import Finding
from cc_bot.doctor.surroundings import LEAST_BYTES, WANTED_BYTES, FilesSide, check_database, size_of
from cc_bot.domain import Locale
from cc_bot.storage import Statement, apply_pending, open_database
from cc_bot.storage.copying import prepare_target
from cc_bot.storage.restoring import examine
from cc_bot.texts import texts
from tests.no_files import NO_FILES

EN = texts(Locale.EN)


@pytest.fixture
async def side(tmp_path: Path) -> FilesSide:
    """A database that is as it should be, on a disk with room."""
    path = tmp_path / "sessions.db"
    async with open_database(f"sqlite:///{path}") as database:
        await apply_pending(database)
    return FilesSide(path, [tmp_path / ".env"], free=lambda _: 10**12)


async def findings(side: FilesSide) -> dict[str, Finding]:
    return {finding.check: finding for finding in await check_database(side, EN)}


def verdicts(found: dict[str, Finding]) -> dict[str, str]:
    return {name: finding.verdict for name, finding in found.items()}


@contextmanager
def changing(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


class TestADatabase:
    async def test_that_is_well_is_told_with_its_size(self, side: FilesSide) -> None:
        found = await findings(side)
        assert verdicts(found) == {"database": "ok", "migrations": "ok", "disk": "ok", "files": "ok"}
        assert size_of(side.database.stat().st_size) in found["database"].detail

    async def test_is_told_with_the_size_of_its_log(self, side: FilesSide) -> None:
        async with open_database(f"sqlite:///{side.database}") as database:
            for number in range(200):
                sql = "INSERT INTO user_settings (user_id, updated_at) VALUES ($1, '')"
                await database.transaction([Statement(sql, (number,))], ())
            log = side.database.with_name("sessions.db-wal").stat().st_size
            size = side.database.stat().st_size
            found = await findings(side)
        assert log > 10_000
        assert size_of(size + log) in found["database"].detail

    async def test_that_there_is_no_time_to_look_through_is_not_called_whole(self, side: FilesSide) -> None:
        over = replace(side, until_s=time.monotonic() - 1)
        found = await findings(over)
        assert verdicts(found) == {"database": "warning", "migrations": "ok", "disk": "ok", "files": "ok"}
        assert not found["database"].finished
        assert (await findings(replace(side, until_s=time.monotonic() + 600)))["database"].finished

    async def test_that_was_not_looked_through_is_not_called_damaged_either(self, side: FilesSide) -> None:
        size = side.database.stat().st_size
        with side.database.open("r+b") as file:
            file.seek(size // 2)
            file.write(b"\xff" * 4096)
        assert (await findings(side))["database"].verdict == "failed"
        found = await findings(replace(side, until_s=time.monotonic() - 1))
        assert (found["database"].verdict, found["database"].finished) == ("warning", False)

    async def test_is_the_same_afterwards(self, side: FilesSide) -> None:
        before = side.database.read_bytes()
        await findings(side)
        assert side.database.read_bytes() == before
        assert [path.name for path in side.database.parent.iterdir()] == ["sessions.db"]

    async def test_may_be_looked_at_beside_a_bot(self, side: FilesSide) -> None:
        async with open_database(f"sqlite:///{side.database}") as database:
            await database.query("SELECT 1")
            assert (await findings(side))["database"].verdict == "ok"

    async def test_that_is_not_there_yet_is_no_fault_and_is_not_made(self, tmp_path: Path) -> None:
        found = await findings(FilesSide(tmp_path / "new.db", [], free=lambda _: 10**12))
        assert verdicts(found) == {"database": "ok", "disk": "ok", "files": "ok"}
        assert not (tmp_path / "new.db").exists()

    async def test_in_a_folder_that_is_not_there_fails(self, tmp_path: Path) -> None:
        found = await findings(FilesSide(tmp_path / "no" / "sessions.db", []))
        assert found["database"].verdict == "failed"
        assert str(tmp_path / "no") in found["database"].detail
        assert "disk" not in found

    async def test_in_the_default_folder_is_no_fault_for_that_is_made(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        found = await findings(FilesSide(Path("data/sessions.db"), [], free=lambda _: 10**12))
        assert verdicts(found) == {"database": "ok", "disk": "ok", "files": "ok"}
        assert not [*tmp_path.iterdir()]  # noqa: ASYNC240 - nothing else runs here

    async def test_with_a_trigger_that_migrations_do_not_make_fails_by_name(self, side: FilesSide) -> None:
        with changing(side.database) as connection:
            connection.execute("CREATE TRIGGER spy AFTER INSERT ON memories BEGIN DELETE FROM sessions; END")
        found = await findings(side)
        assert (found["database"].verdict, found["schema"].verdict) == ("ok", "failed")
        assert "TRIGGER spy" in found["schema"].detail
        assert found["schema"].mend

    async def test_with_a_view_of_the_operators_own_is_warned_of(self, side: FilesSide) -> None:
        with changing(side.database) as connection:
            connection.execute("CREATE VIEW mine AS SELECT 1")
        found = await findings(side)
        assert found["schema"].verdict == "warning"
        assert "VIEW mine" in found["schema"].detail
        assert "--rows-only" in found["schema"].mend

    async def test_that_is_an_unfinished_copy_fails_by_its_source(self, tmp_path: Path) -> None:
        async with open_database(f"sqlite:///{tmp_path / 'half.db'}") as target:
            assert not await prepare_target(target, "postgresql://cc_bot@db/猫")
        found = await findings(FilesSide(tmp_path / "half.db", [], free=lambda _: 10**12))
        assert verdicts(found) == {"database": "failed", "migrations": "ok", "disk": "ok", "files": "ok"}
        assert "is an unfinished copy of postgresql://cc_bot@db/猫" in found["database"].detail
        assert found["database"].mend

    async def test_of_another_program_fails(self, tmp_path: Path) -> None:
        with changing(tmp_path / "other.db") as other:
            other.execute("CREATE TABLE notes (text TEXT)")
        assert (await findings(FilesSide(tmp_path / "other.db", [])))["database"].verdict == "failed"

    async def test_that_is_no_database_at_all_fails(self, tmp_path: Path) -> None:
        (tmp_path / "text.db").write_text("日記" * 1000, encoding="utf-8")
        assert (await findings(FilesSide(tmp_path / "text.db", [])))["database"].verdict == "failed"

    @pytest.mark.parametrize("make", NO_FILES.values(), ids=NO_FILES)
    async def test_that_is_no_file_is_not_taken_for_one_that_is_yet_to_be_made(
        self, tmp_path: Path, make: Callable[[Path], None]
    ) -> None:
        make(tmp_path / "sessions.db")
        assert (await findings(FilesSide(tmp_path / "sessions.db", [])))["database"].verdict == "failed"

    async def test_with_a_page_overwritten_fails_and_names_the_way_back(self, side: FilesSide) -> None:
        size = side.database.stat().st_size
        with side.database.open("r+b") as file:
            for offset in range(8192, size - 4096, 8192):
                file.seek(offset)
                file.write(b"\xff" * 64)
        found = (await findings(side))["database"]
        assert found.verdict == "failed"
        assert "damaged" in found.detail
        assert "restore" in found.mend

    def test_that_somebody_holds_is_locked_and_not_broken(self, side: FilesSide) -> None:
        with changing(side.database) as writer:
            writer.execute("BEGIN IMMEDIATE")
            assert examine(side.database, patience_s=0.01).condition == "locked"


class TestTheSchema:
    async def test_that_is_behind_is_a_warning(self, side: FilesSide) -> None:
        with changing(side.database) as connection:
            connection.execute("DELETE FROM schema_migrations WHERE version > 3")
        assert (await findings(side))["migrations"].verdict == "warning"

    async def test_that_is_newer_than_the_program_fails(self, side: FilesSide) -> None:
        with changing(side.database) as connection:
            connection.execute("INSERT INTO schema_migrations VALUES (9999, 0, 'later')")
        assert (await findings(side))["migrations"].verdict == "failed"


class TestTheDisk:
    @pytest.mark.parametrize(
        ("free", "verdict"),
        [(2 * WANTED_BYTES, "ok"), (WANTED_BYTES, "warning"), (LEAST_BYTES - 1, "failed")],
    )
    async def test_is_judged_by_what_will_be_needed(self, side: FilesSide, free: int, verdict: str) -> None:
        assert (await findings(replace(side, free=lambda _: free)))["disk"].verdict == verdict

    async def test_that_cannot_be_asked_fails(self, side: FilesSide) -> None:
        def gone(_: Path) -> int:
            raise OSError

        assert (await findings(replace(side, free=gone)))["disk"].verdict == "failed"

    def test_tells_sizes_as_people_do(self) -> None:
        assert [size_of(count) for count in (4096, 12_345_678, 3_000_000_000)] == [
            "4 kB",
            "12.3 MB",
            "3.0 GB",
        ]


class TestModes:
    async def test_that_let_others_read_are_a_warning_with_the_way_to_mend_it(self, side: FilesSide) -> None:
        env = side.database.with_name(".env")
        env.write_text("DISCORD_TOKEN=", encoding="utf-8")
        env.chmod(0o644)
        found = (await findings(side))["files"]
        assert found.verdict == "warning"
        assert found.mend == f"chmod 600 {env}"
        env.chmod(0o600)
        assert (await findings(side))["files"].verdict == "ok"

    async def test_are_looked_at_for_the_log_too(self, side: FilesSide) -> None:
        log = side.database.with_name("sessions.db-wal")
        async with open_database(f"sqlite:///{side.database}") as database:
            await database.transaction([Statement("UPDATE schema_migrations SET applied_at = 0")], ())
            log.chmod(0o604)
            assert str(log) in (await findings(side))["files"].detail
