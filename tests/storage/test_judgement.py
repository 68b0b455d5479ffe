"""A file is judged alike by whoever looks at it: the start, the doctor and a restore."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from cc_bot.domain.errors import BackupDamaged, DatabaseDamaged, SchemaChanged, UpgradeFailed
from cc_bot.storage import Statement, apply_pending, open_database
from cc_bot.storage.migrate import Migration, known_migrations, statements_up_to
from cc_bot.storage.restoring import examine, staged
from tests.databases import laid_out

NEWEST = len(known_migrations())
SCHEDULE = (
    "INSERT INTO schedules (user_id, channel_id, kind, place, due_at, timezone, created_at, advanced_at, "
    "tainted) VALUES (1, 2, 'reminder', 'channel', 1, 'Asia/Tokyo', 1, 1, 0)"
)


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
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            connection.execute(statement)


async def start(path: Path, migrations: Sequence[Migration] | None = None) -> None:
    async with open_database(f"sqlite:///{path}") as database:
        await apply_pending(database, migrations)


def restore(path: Path) -> None:
    (path.parent / "other").mkdir(exist_ok=True)
    with staged(path, path.parent / "other" / "sessions.db"):
        pass


class TestRecordsOfTheSchema:
    async def test_that_are_not_whole_are_damage_to_all_three(self, path: Path, whole: bytes) -> None:
        for statement in (
            "DELETE FROM schema_migrations",
            "DELETE FROM schema_migrations WHERE version = 3",
            "DELETE FROM schema_migrations WHERE version = 1",
            "UPDATE schema_migrations SET version = -1 WHERE version = 2",
        ):
            change(path, statement, whole=whole)
            assert examine(path).condition == "damaged"
            with pytest.raises(DatabaseDamaged):
                await start(path)
            with pytest.raises(BackupDamaged):
                restore(path)

    async def test_of_a_start_that_was_cut_off_are_gone_on_with(self, tmp_path: Path) -> None:
        path = tmp_path / "new.db"
        change(path, statements_up_to(0)[0])
        assert examine(path).condition == "fine"
        await start(path)
        assert examine(path).version == NEWEST


QUIET = ("'night'", "'[1, 2]'", """'{"since": 1, "until": "2"}'""", """'{"since": 1, "until": 1440}'""")
IMPOSSIBLE = {
    "schedules": (
        "UPDATE schedules SET locale = 'xx'",
        "UPDATE schedules SET due_at = -1",
        "UPDATE schedules SET advanced_at = 9223372036854775807",
        *(f"UPDATE schedules SET quiet = {quiet}" for quiet in QUIET),
        "UPDATE schedules SET user_id = 'everybody'",
        "UPDATE schedules SET text = CAST(x'ff' AS TEXT)",
        f"UPDATE schedules SET text = CAST(zeroblob({2**26 + 1}) AS TEXT)",
        "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'schedules'",
    ),
    "numbers": ("UPDATE numbers SET last = 9223372036854775807",),
    "firings": ("INSERT INTO firings VALUES (99, 1, 'me', 'claimed', '', 1, NULL, 0, NULL)",),
    "proposals": ("INSERT INTO proposals VALUES (1, 1, 1, '', 7, 'public', NULL, '{}', 1, 1)",),
}


class TestARowThatCannotBe:
    @pytest.mark.slow
    async def test_is_named_by_the_doctor_and_not_restored(self, path: Path, whole: bytes) -> None:
        found = []
        for table, statement in ((table, each) for table, all_ in IMPOSSIBLE.items() for each in all_):
            change(path, SCHEDULE, statement, whole=whole)
            examined = examine(path)
            if (examined.condition, examined.table) != ("unsound", table):
                found.append((statement, examined.condition, examined.table))
            with pytest.raises(BackupDamaged):
                restore(path)
        assert found == []

    async def test_is_none_of_those_that_may_be(self, path: Path) -> None:
        change(
            path,
            SCHEDULE,
            SCHEDULE,
            "UPDATE schedules SET locale = 'ja', quiet = '{\"since\": 1320, \"until\": 0}' WHERE id = 1",
        )
        assert examine(path).condition == "fine"
        restore(path)


class TestAnUpgrade:
    async def test_names_what_stands_in_its_way_and_changes_nothing(self, tmp_path: Path) -> None:
        for number, statement in enumerate(
            (
                "CREATE TABLE proposals (mine TEXT)",
                "CREATE TABLE Proposals (mine TEXT)",
                "CREATE INDEX proposals_by_user ON schedules (agent)",
                "CREATE VIEW proposals AS SELECT 1",
            )
        ):
            path = tmp_path / f"{number}.db"
            await start(path, known_migrations()[:16])
            change(path, statement)
            [deviation] = examine(path).deviations
            assert deviation.runs
            with pytest.raises(SchemaChanged) as refused:
                await start(path)
            assert "proposals" in str(refused.value.params["name"]).lower()
            assert examine(path).version == 16

    async def test_takes_canvases_that_are_none(self, tmp_path: Path) -> None:
        path = tmp_path / "sessions.db"
        await start(path, known_migrations()[:16])
        elements = '{"elements":["x",[1],null,{"id":"a"}]}'
        states = ("", "[]", "5", "null", '{"elements":5}', elements, "[" * 3000)
        sql = (
            "INSERT INTO sessions (id, user_id, channel_id, agent, canvas_state, created_at, last_active)"
            " VALUES ($1, $2, 2, 'default', $3, '2026', '2026')"
        )
        async with open_database(f"sqlite:///{path}") as database:
            rows = [Statement(sql, (f"{n}", n, state)) for n, state in enumerate(states)]
            await database.transaction(rows, ())
        await start(path)
        assert examine(path).version == NEWEST

    async def test_that_does_not_fit_what_is_there_says_so_and_changes_nothing(self, path: Path) -> None:
        broken = Migration(NEWEST + 1, "broken", ("INSERT INTO schema_migrations VALUES (1, 1, '')",))
        with pytest.raises(UpgradeFailed) as refused:
            await start(path, [*known_migrations(), broken])
        assert refused.value.params["version"] == NEWEST + 1
        assert examine(path).version == NEWEST

    async def test_takes_reminders_of_before_for_what_others_may_have_written(self, tmp_path: Path) -> None:
        path = tmp_path / "sessions.db"
        await start(path, known_migrations()[:16])
        change(path, SCHEDULE.replace(", tainted", "").replace(", 0)", ")"))
        await start(path)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT tainted FROM schedules").fetchall() == [(1,)]
