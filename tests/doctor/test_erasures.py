"""What the doctor finds out about the record of erasures: what a restore and an erasing would."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cc_bot.app.doctor import run_doctor
from cc_bot.config import Config, read_config
from cc_bot.doctor.checkup import Finding
from cc_bot.domain.errors import ErasureNotNoted
from cc_bot.storage import ErasureLog
from cc_bot.storage.erasures import copy_log
from tests.no_files import NO_FILES


@pytest.fixture
def config(tmp_path: Path) -> Config:
    environment = {
        "CC_BOT_DATABASE_URL": f"sqlite:///{tmp_path / 'sessions.db'}",
        "CC_BOT_BACKUP_FOLDER": str(tmp_path / "backup"),
        "CC_BOT_EMBEDDING_MODEL": "off",
        "CC_BOT_LOCALE": "en",
    }
    return read_config(environment, tmp_path / ".env")


@pytest.fixture
def log(tmp_path: Path) -> ErasureLog:
    return ErasureLog.beside(tmp_path / "sessions.db")


async def finding(config: Config) -> Finding:
    report = await run_doctor(config, offline=True)
    [found] = [each for each in report.findings if each.check == "erasures"]
    return found


class TestTheRecord:
    @pytest.mark.slow
    async def test_is_well_before_it_is_made_and_when_somebody_stands_in_it(
        self, config: Config, log: ErasureLog
    ) -> None:
        assert (await finding(config)).verdict == "ok"
        await log.note("user", 1)
        before = (log.path.read_bytes(), log.path.stat().st_mtime_ns, log.path.stat().st_ino)
        assert (await finding(config)).verdict == "ok"
        assert (log.path.read_bytes(), log.path.stat().st_mtime_ns, log.path.stat().st_ino) == before

    @pytest.mark.parametrize("content", ["", "garbage\n", '{"version": 2, "salt": "00"}\n\0\0\0\n'])
    async def test_that_is_none_fails_with_the_way_to_mend_it(
        self, config: Config, log: ErasureLog, content: str
    ) -> None:
        log.path.write_text(content)
        found = await finding(config)
        assert found.verdict == "failed"
        assert str(log.path) in found.detail
        assert "erasures_" in found.mend

    @pytest.mark.parametrize("make", NO_FILES.values(), ids=NO_FILES)
    async def test_in_whose_place_something_else_stands_fails_and_stops_nobody(
        self, config: Config, log: ErasureLog, make: Callable[[Path], None]
    ) -> None:
        make(log.path)
        assert (await finding(config)).verdict == "failed"
        with pytest.raises(ErasureNotNoted):
            await log.note("user", 1)

    @pytest.mark.slow
    async def test_of_the_backups_is_looked_at_too(self, config: Config, log: ErasureLog) -> None:
        await log.ensure()
        config.backup_folder.mkdir()
        copy = copy_log(log.path, config.backup_folder)
        assert (await finding(config)).verdict == "ok"
        copy.write_bytes(b"")
        found = await finding(config)
        assert found.verdict == "failed"
        assert found.detail.endswith(str(copy))
