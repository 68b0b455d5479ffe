import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from cc_bot.chat.checks import Finding
from cc_bot.config import read_config
from cc_bot.db import ErasureLog, Statement, apply_pending, open_database
from cc_bot.db.erasure_log import copied_log_path, merge_log
from cc_bot.domain.errors import ErasureNotNoted
from cc_bot.domain.text import Locale, format_size
from cc_bot.features.doctor.checks import run_doctor
from cc_bot.features.doctor.database import MIN_FREE_BYTES, WANTED_BYTES, GetFreeBytes, check_database_file
from cc_bot.texts import texts

EN = texts(Locale.EN)


@pytest.fixture
async def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database that is as it should be."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "sessions.db"
    async with open_database(f"sqlite:///{path}") as database:
        await apply_pending(database)
    return path


async def findings(path: Path, free: GetFreeBytes = lambda _: 10**12) -> dict[str, Finding]:
    config = read_config({"CC_BOT_DATABASE_URL": f"sqlite:///{path}"})
    return {finding.check: finding for finding in await check_database_file(config, EN, free)}


def verdicts(found: dict[str, Finding]) -> dict[str, str]:
    return {name: finding.verdict for name, finding in found.items()}


@contextmanager
def changing(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


class TestADatabase:
    async def test_that_is_well_is_told_with_its_size_and_the_same_afterwards(self, path: Path) -> None:
        before = path.read_bytes()  # noqa: ASYNC240
        found = await findings(path)
        assert verdicts(found) == {"database": "ok", "migrations": "ok", "disk": "ok", "files": "ok"}
        assert format_size(len(before)) in found["database"].detail
        assert path.read_bytes() == before  # noqa: ASYNC240
        assert [path.name for path in path.parent.iterdir()] == ["sessions.db"]

    async def test_that_is_not_there_yet_is_no_fault_and_is_not_made(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for path in (tmp_path / "new.db", Path("data/sessions.db")):
            assert verdicts(await findings(path)) == {"database": "ok", "disk": "ok", "files": "ok"}
        assert not [*tmp_path.iterdir()]  # noqa: ASYNC240 - nothing else runs here
        found = await findings(tmp_path / "no" / "sessions.db")
        assert (found["database"].verdict, "disk" in found) == ("failed", False)
        assert str(tmp_path / "no") in found["database"].detail

    async def test_with_a_trigger_that_is_not_ours_fails_by_its_name(self, path: Path) -> None:
        with changing(path) as connection:
            connection.execute("CREATE VIEW mine AS SELECT 1")
            assert "schema" not in await findings(path)
            connection.execute("CREATE TRIGGER spy AFTER INSERT ON turns BEGIN SELECT 1; END")
        found = (await findings(path))["schema"]
        assert (found.verdict, "TRIGGER spy" in found.detail, bool(found.fix)) == ("failed", True, True)

    async def test_of_another_program_or_none_fails(self, tmp_path: Path) -> None:
        with changing(tmp_path / "other.db") as other:
            other.execute("CREATE TABLE notes (text TEXT)")
        (tmp_path / "text.db").write_text("日記" * 1000, encoding="utf-8")
        for name in ("other.db", "text.db"):
            assert (await findings(tmp_path / name))["database"].verdict == "failed"

    async def test_with_pages_overwritten_fails_and_names_the_way_back(self, path: Path) -> None:
        with path.open("r+b") as file:
            for offset in range(8192, path.stat().st_size - 4096, 8192):  # noqa: ASYNC240
                file.seek(offset)
                file.write(b"\xff" * 64)
        found = (await findings(path))["database"]
        assert (found.verdict, "damaged" in found.detail, "restore" in found.detail) == ("failed", True, True)

    async def test_of_a_newer_program_fails(self, path: Path) -> None:
        with changing(path) as connection:
            connection.execute("INSERT INTO schema_migrations VALUES (9999, 0, 'later')")
        assert (await findings(path))["migrations"].verdict == "failed"


async def test_the_disk_is_judged_by_what_will_be_needed(path: Path) -> None:
    def gone(_: Path) -> int:
        raise OSError

    expected = {2 * WANTED_BYTES: "ok", WANTED_BYTES: "warning", MIN_FREE_BYTES - 1: "failed"}
    for room, verdict in expected.items():
        assert (await findings(path, lambda _: room))["disk"].verdict == verdict  # noqa: B023
    assert (await findings(path, gone))["disk"].verdict == "failed"


async def test_modes_that_let_others_read_are_a_warning_with_the_way_to_mend_it(path: Path) -> None:
    env, log = path.with_name(".env"), path.with_name("sessions.db-wal")
    env.write_text("DISCORD_TOKEN=", encoding="utf-8")
    env.chmod(0o644)
    found = (await findings(path))["files"]
    assert (found.verdict, found.fix) == ("warning", "chmod 600 .env")
    env.chmod(0o600)
    assert (await findings(path))["files"].verdict == "ok"
    async with open_database(f"sqlite:///{path}") as database:
        await database.transaction([Statement("UPDATE schema_migrations SET applied_at = 0")], ())
        log.chmod(0o604)
        assert str(log) in (await findings(path))["files"].detail


@pytest.mark.slow
async def test_the_record_of_erasures_is_looked_at_with_the_backups_and_left_as_it_is(tmp_path: Path) -> None:
    environment = {
        "CC_BOT_DATABASE_URL": f"sqlite:///{tmp_path / 'sessions.db'}",
        "CC_BOT_BACKUP_FOLDER": str(tmp_path / "backup"),
        "CC_BOT_EMBEDDING_MODEL": "off",
    }
    config, log = read_config(environment, tmp_path / ".env"), ErasureLog.beside(tmp_path / "sessions.db")

    async def finding() -> Finding:
        report = await run_doctor(config, offline=True)
        return next(each for each in report.findings if each.check == "erasures")

    assert (await finding()).verdict == "ok"
    await log.note("user", 1)
    before = (log.path.read_bytes(), log.path.stat().st_mtime_ns, log.path.stat().st_ino)
    config.backup_folder.mkdir()
    copy = copied_log_path(config.backup_folder)
    merge_log(log.path, copy)
    assert (await finding()).verdict == "ok"
    assert (log.path.read_bytes(), log.path.stat().st_mtime_ns, log.path.stat().st_ino) == before
    copy.write_bytes(b"x\n")
    found = await finding()
    assert (found.verdict, found.detail.endswith(str(copy))) == ("failed", True)
    copy.unlink()
    log.path.write_text("garbage\n")
    found = await finding()
    assert found.verdict == "failed"
    assert str(log.path) in found.detail
    assert "erasures.jsonl" in found.fix
    log.path.unlink()
    log.path.mkdir()
    assert (await finding()).verdict == "failed"
    with pytest.raises(ErasureNotNoted):
        await log.note("user", 1)
