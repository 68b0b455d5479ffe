"""The log of erasures: what it remembers, and what it does not tell."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import ErasureNotNoted, StorageError
from cc_bot.storage.erasures import ErasureLog, Erasures, memory_name

NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
SECOND = timedelta(seconds=1)
ME = 123456789012345678
YOU = 876543210987654321


class Time:
    """A clock that is moved on by hand."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def log(tmp_path: Path, time: Time) -> ErasureLog:
    return ErasureLog.beside(tmp_path / "sessions.db", clock=time)


async def read(log: ErasureLog) -> Erasures:
    erasures = await log.read()
    assert erasures is not None
    return erasures


class TestErasureLog:
    async def test_remembers_who_was_erased_and_nobody_else(self, log: ErasureLog) -> None:
        await log.note("user", ME)
        erasures = await read(log)
        assert erasures.match("user", ME, None)
        assert not erasures.match("user", YOU, None)
        assert not erasures.match("memory", ME, None)

    async def test_tells_an_erasure_before_a_moment_from_one_after_it(self, log: ErasureLog) -> None:
        await log.note("user", ME)
        erasures = await read(log)
        assert erasures.match("user", ME, NOW - SECOND)
        assert erasures.match("user", ME, NOW)
        assert not erasures.match("user", ME, NOW + SECOND)

    async def test_knows_the_last_of_several_erasures(self, log: ErasureLog, time: Time) -> None:
        await log.note("user", ME)
        time.now += SECOND
        await log.note("user", ME)
        time.now -= 2 * SECOND  # the clock was put back
        await log.note("user", ME)
        assert (await read(log)).match("user", ME, NOW + SECOND)

    async def test_notes_an_erasing_before_it_begins_and_when_it_is_done(
        self, log: ErasureLog, time: Time
    ) -> None:
        async with log.erasing("user", ME):
            assert (await read(log)).match("user", ME, NOW)
            time.now += SECOND
        assert (await read(log)).match("user", ME, NOW + SECOND)

    async def test_takes_an_erasing_that_failed_for_one_that_was_begun(
        self, log: ErasureLog, time: Time
    ) -> None:
        async def fail() -> None:
            async with log.erasing("user", ME):
                time.now += SECOND
                raise StorageError

        with pytest.raises(StorageError):
            await fail()
        assert (await read(log)).match("user", ME, NOW)
        assert not (await read(log)).match("user", ME, NOW + SECOND)

    async def test_is_private_and_names_nobody(self, log: ErasureLog) -> None:
        await log.note("user", ME)
        await log.note("memory", memory_name(ME, 42, "2026-11-22T00:00:00.000000+00:00"))
        content = log.path.read_text()
        assert log.path.stat().st_mode & 0o777 == 0o600
        assert str(ME) not in content
        assert [set(json.loads(line)) for line in content.splitlines()[1:]] == [{"kind", "id", "at"}] * 2

    async def test_hashes_the_same_user_differently_in_each_log(self, tmp_path: Path) -> None:
        hashes = set()
        for name in "ab":
            log = ErasureLog(tmp_path / name)
            await log.note("user", ME)
            hashes.add(json.loads(log.path.read_text().splitlines()[1])["id"])
        assert len(hashes) == 2

    async def test_takes_many_at_once_and_from_several_at_a_time(self, log: ErasureLog) -> None:
        await asyncio.gather(*(log.note("memory", *range(n * 50, n * 50 + 50)) for n in range(8)))
        erasures = await read(log)
        assert all(erasures.match("memory", n, None) for n in range(400))
        assert len(log.path.read_text().splitlines()) == 401
        assert [file.name for file in log.path.parent.iterdir()] == [log.path.name]

    async def test_survives_a_line_that_a_crash_cut_off(self, log: ErasureLog) -> None:
        await log.note("user", ME, YOU)
        log.path.write_bytes(log.path.read_bytes()[:-20])
        await log.note("user", 3)
        erasures = await read(log)
        assert erasures.match("user", ME, None)
        assert erasures.match("user", 3, None)
        assert not erasures.match("user", YOU, None)

    async def test_that_is_missing_is_told_from_an_empty_one(self, log: ErasureLog) -> None:
        assert await log.read() is None
        await log.note("user")
        assert await log.read() is None
        await log.ensure()
        made = log.path.read_bytes()
        await log.ensure()
        assert log.path.read_bytes() == made
        assert not (await read(log)).match("user", ME, None)

    @pytest.mark.parametrize(
        "content", ["", "hello\n", "[]\n", '{"version": 2, "salt": "00"}\n', '{"version": 1}\n']
    )
    async def test_that_is_none_of_ours_is_refused_and_left_as_it_is(
        self, log: ErasureLog, content: str
    ) -> None:
        log.path.write_text(content)
        with pytest.raises(StorageError):
            await log.note("user", ME)
        with pytest.raises(StorageError):
            await log.read()
        assert log.path.read_text() == content

    async def test_that_cannot_be_written_says_so_once_to_the_operator(self, tmp_path: Path) -> None:
        log = ErasureLog.beside(tmp_path / "missing" / "sessions.db")
        with capture_logs() as logs:
            for _ in range(2):
                with pytest.raises(ErasureNotNoted):
                    await log.note("user", ME)
            log.path.parent.mkdir()
            await log.note("user", ME)
            log.path.write_text("none of ours\n")
            with pytest.raises(ErasureNotNoted):
                await log.note("user", ME)
        assert [(each["event"], each["path"]) for each in logs] == [("erasures_not_noted", str(log.path))] * 2
