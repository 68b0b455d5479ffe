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


async def findings_of(path: Path) -> dict[str, Finding]:
    return await findings(FilesSide(path, [], free=lambda _: 10**12))


def verdicts(found: dict[str, Finding]) -> dict[str, str]:
    return {name: finding.verdict for name, finding in found.items()}


@contextmanager
def changing(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


class TestADatabase:
    async def test_that_is_well_is_told_with_its_size_and_the_same_afterwards(self, side: FilesSide) -> None:
        before = side.database.read_bytes()
        found = await findings(side)
        assert verdicts(found) == {"database": "ok", "migrations": "ok", "disk": "ok", "files": "ok"}
        assert size_of(len(before)) in found["database"].detail
        assert side.database.read_bytes() == before
        assert [path.name for path in side.database.parent.iterdir()] == ["sessions.db"]

    async def test_is_looked_at_beside_a_bot_and_told_with_the_size_of_its_log(self, side: FilesSide) -> None:
        async with open_database(f"sqlite:///{side.database}") as database:
            for number in range(200):
                sql = "INSERT INTO user_settings (user_id, updated_at) VALUES ($1, '')"
                await database.transaction([Statement(sql, (number,))], ())
            log = side.database.with_name("sessions.db-wal").stat().st_size
            found = (await findings(side))["database"]
            size = side.database.stat().st_size
        assert log > 10_000
        assert (found.verdict, size_of(size + log) in found.detail) == ("ok", True)

    async def test_that_there_is_no_time_to_look_through_is_called_neither_whole_nor_damaged(
        self, side: FilesSide
    ) -> None:
        over = replace(side, until_s=time.monotonic() - 1)
        whole = await findings(over)
        assert verdicts(whole) == {"database": "warning", "migrations": "ok", "disk": "ok", "files": "ok"}
        assert (await findings(replace(side, until_s=time.monotonic() + 600)))["database"].finished
        with side.database.open("r+b") as file:
            file.seek(side.database.stat().st_size // 2)
            file.write(b"\xff" * 4096)
        assert (await findings(side))["database"].verdict == "failed"
        damaged = (await findings(over))["database"]
        assert (damaged.verdict, damaged.finished, whole["database"].finished) == ("warning", False, False)

    async def test_that_is_not_there_yet_is_no_fault_and_is_not_made(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for path in (tmp_path / "new.db", Path("data/sessions.db")):
            assert verdicts(await findings_of(path)) == {"database": "ok", "disk": "ok", "files": "ok"}
        assert not [*tmp_path.iterdir()]  # noqa: ASYNC240 - nothing else runs here
        found = await findings_of(tmp_path / "no" / "sessions.db")
        assert (found["database"].verdict, "disk" in found) == ("failed", False)
        assert str(tmp_path / "no") in found["database"].detail

    async def test_with_what_migrations_do_not_make_is_told_by_its_name(self, side: FilesSide) -> None:
        with changing(side.database) as connection:
            connection.execute("CREATE VIEW mine AS SELECT 1")
        found = (await findings(side))["schema"]
        assert (found.verdict, "VIEW mine" in found.detail, "--rows-only" in found.mend) == (
            *("warning", True, True),
        )
        with changing(side.database) as connection:
            connection.execute("DROP VIEW mine")
            connection.execute("CREATE TRIGGER spy AFTER INSERT ON memories BEGIN DELETE FROM sessions; END")
        found = (await findings(side))["schema"]
        assert (found.verdict, "TRIGGER spy" in found.detail, bool(found.mend)) == ("failed", True, True)

    async def test_that_is_an_unfinished_copy_fails_by_its_source(self, tmp_path: Path) -> None:
        async with open_database(f"sqlite:///{tmp_path / 'half.db'}") as target:
            assert not await prepare_target(target, "postgresql://cc_bot@db/猫")
        found = await findings_of(tmp_path / "half.db")
        assert verdicts(found) == {"database": "failed", "migrations": "ok", "disk": "ok", "files": "ok"}
        assert "is an unfinished copy of postgresql://cc_bot@db/猫" in found["database"].detail

    async def test_of_another_program_or_none_fails(self, tmp_path: Path) -> None:
        with changing(tmp_path / "other.db") as other:
            other.execute("CREATE TABLE notes (text TEXT)")
        (tmp_path / "text.db").write_text("日記" * 1000, encoding="utf-8")
        for name in ("other.db", "text.db"):
            assert (await findings_of(tmp_path / name))["database"].verdict == "failed"

    @pytest.mark.parametrize("make", NO_FILES.values(), ids=NO_FILES)
    async def test_that_is_no_file_is_not_taken_for_one_that_is_yet_to_be_made(
        self, tmp_path: Path, make: Callable[[Path], None]
    ) -> None:
        make(tmp_path / "sessions.db")
        assert (await findings_of(tmp_path / "sessions.db"))["database"].verdict == "failed"

    async def test_with_pages_overwritten_fails_and_names_the_way_back(self, side: FilesSide) -> None:
        with side.database.open("r+b") as file:
            for offset in range(8192, side.database.stat().st_size - 4096, 8192):
                file.seek(offset)
                file.write(b"\xff" * 64)
        found = (await findings(side))["database"]
        assert (found.verdict, "damaged" in found.detail, "restore" in found.mend) == ("failed", True, True)

    def test_that_somebody_holds_is_locked_and_not_broken(self, side: FilesSide) -> None:
        with changing(side.database) as writer:
            writer.execute("BEGIN IMMEDIATE")
            assert examine(side.database, patience_s=0.01).condition == "locked"

    @pytest.mark.parametrize(
        ("sql", "verdict"),
        [
            ("DELETE FROM schema_migrations WHERE version > 3", "warning"),
            ("INSERT INTO schema_migrations VALUES (9999, 0, 'later')", "failed"),
        ],
        ids=["behind", "newer than the program"],
    )
    async def test_is_told_whose_schema_is_another(self, side: FilesSide, sql: str, verdict: str) -> None:
        with changing(side.database) as connection:
            connection.execute(sql)
        assert (await findings(side))["migrations"].verdict == verdict


async def test_the_disk_is_judged_by_what_will_be_needed(side: FilesSide) -> None:
    def gone(_: Path) -> int:
        raise OSError

    expected = {2 * WANTED_BYTES: "ok", WANTED_BYTES: "warning", LEAST_BYTES - 1: "failed"}
    for room, verdict in expected.items():
        assert (await findings(replace(side, free=lambda _: room)))["disk"].verdict == verdict  # noqa: B023
    assert (await findings(replace(side, free=gone)))["disk"].verdict == "failed"
    assert [*map(size_of, (4096, 12_345_678, 3_000_000_000))] == ["4 kB", "12.3 MB", "3.0 GB"]


async def test_modes_that_let_others_read_are_a_warning_with_the_way_to_mend_it(side: FilesSide) -> None:
    env, log = side.database.with_name(".env"), side.database.with_name("sessions.db-wal")
    env.write_text("DISCORD_TOKEN=", encoding="utf-8")
    env.chmod(0o644)
    found = (await findings(side))["files"]
    assert (found.verdict, found.mend) == ("warning", f"chmod 600 {env}")
    env.chmod(0o600)
    assert (await findings(side))["files"].verdict == "ok"
    async with open_database(f"sqlite:///{side.database}") as database:
        await database.transaction([Statement("UPDATE schema_migrations SET applied_at = 0")], ())
        log.chmod(0o604)
        assert str(log) in (await findings(side))["files"].detail
