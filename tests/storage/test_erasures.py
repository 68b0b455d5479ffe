"""The log of erasures: what it remembers, and what it does not tell."""

import asyncio
import hashlib
import hmac
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time
from typing import Literal

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import ErasureNotNoted, StorageError
from cc_bot.storage.erasures import ErasureLog, Erasures, copy_log, memory_name, read_erasures, read_lines

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
    async def test_remembers_who_was_erased_last_at_which_moment_and_nobody_else(
        self, log: ErasureLog, time: Time
    ) -> None:
        await log.note("user", ME)
        erasures = await read(log)
        moments = (None, NOW - SECOND, NOW, NOW + SECOND)
        assert [erasures.match("user", ME, moment) for moment in moments] == [True, True, True, False]
        assert not erasures.match("user", YOU, None)
        assert not erasures.match("memory", ME, None)
        time.now += SECOND
        await log.note("user", ME)
        time.now -= 2 * SECOND  # the clock was put back
        await log.note("user", ME)
        assert (await read(log)).match("user", ME, NOW + SECOND)

    async def test_is_private_and_names_nobody(self, log: ErasureLog, tmp_path: Path) -> None:
        await log.note("user", ME)
        other = ErasureLog(tmp_path / "other")
        await other.note("user", ME)
        hashes = {json.loads(each.path.read_text().splitlines()[1])["id"] for each in (log, other)}
        assert len(hashes) == 2
        await log.note("memory", memory_name(ME, 42, "2026-11-22T00:00:00.000000+00:00"))
        content = log.path.read_text()
        assert log.path.stat().st_mode & 0o777 == 0o600
        assert str(ME) not in content
        assert [set(json.loads(line)) for line in content.splitlines()[1:]] == [{"kind", "id", "at"}] * 2

    async def test_takes_many_at_once_and_from_several_at_a_time(self, log: ErasureLog) -> None:
        await asyncio.gather(*(log.note("memory", *range(n * 50, n * 50 + 50)) for n in range(8)))
        erasures = await read(log)
        assert all(erasures.match("memory", n, None) for n in range(400))
        assert len(log.path.read_text().splitlines()) == 401
        assert {file.name for file in log.path.parent.iterdir()} == {log.path.name, f".{log.path.name}.lock"}

    async def test_survives_a_line_that_a_crash_cut_off(self, log: ErasureLog) -> None:
        await log.note("user", ME, YOU)
        log.path.write_bytes(log.path.read_bytes()[:-20])
        await log.note("user", 3)
        erasures = await read(log)
        assert erasures.match("user", ME, None)
        assert erasures.match("user", 3, None)
        assert not erasures.match("user", YOU, None)

    async def test_with_a_line_that_no_crash_leaves_is_refused(self, log: ErasureLog) -> None:
        """Such as a disk leaves, that has lost what was on it: somebody may have stood there."""
        await log.note("user", ME)
        whole = log.path.read_bytes()
        for lost in (b"\0" * 40, b'{"kind": "user", \0\0\0', b'{"kind": "user"}', b"x"):
            log.path.write_bytes(whole + lost + b"\n")
            with pytest.raises(ErasureNotNoted):
                await log.read()
            await log.note("user", YOU)  # whom it takes all the same
            assert log.path.read_bytes().count(b"\n") == 4

    async def test_that_is_missing_is_told_from_an_empty_one(self, log: ErasureLog) -> None:
        assert await log.read() is None
        await log.note("user")
        assert await log.read() is None
        await log.ensure()
        made = log.path.read_bytes()
        await log.ensure()
        assert log.path.read_bytes() == made
        assert not (await read(log)).match("user", ME, None)

    async def test_that_is_none_of_ours_is_refused_and_left_as_it_is(self, log: ErasureLog) -> None:
        for content in ("", "hello\n", "[]\n", '{"version": 3, "salt": "00"}\n', '{"version": 1}\n'):
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


QUICK = '{"kind": "user", "id": "%s", "at": "2026-11-22T03:04:05.000+00:00"}\n'


class TestVersion1:
    async def test_is_read_and_gone_on_with(self, log: ErasureLog) -> None:
        """A log of a former program."""
        quick = hmac.new(b"salt", f"user/{ME}".encode(), hashlib.sha256).hexdigest()
        head = json.dumps({"version": 1, "salt": b"salt".hex()})
        log.path.write_text(f"{head}\n{QUICK % quick}")
        erasures = await read(log)
        assert [erasures.match("user", user, NOW) for user in (ME, YOU)] == [True, False]
        await log.note("user", YOU)
        erasures = await read(log)
        assert [erasures.match("user", user, NOW) for user in (ME, YOU)] == [True, True]
        assert json.loads(log.path.read_text().splitlines()[0])["version"] == 2


class TestCopiedLog:
    @pytest.fixture
    async def twin(self, log: ErasureLog, time: Time) -> ErasureLog:
        """One that began as a copy of the log, in which I was erased."""
        await log.note("user", ME)
        folder = log.path.with_name("copied")
        folder.mkdir()
        shutil.copy(log.path, folder)
        return ErasureLog(folder / log.path.name, clock=time)

    async def test_gives_what_it_has_got_since(self, log: ErasureLog, twin: ErasureLog) -> None:
        await twin.note("user", YOU)
        await log.note("message", 7)
        for _ in range(2):
            await log.take_in(read_lines(twin.path))
        erasures = await read(log)
        assert erasures.match("user", ME, NOW)
        assert erasures.match("user", YOU, NOW)
        assert erasures.match("message", 7, NOW)
        assert erasures.noted == 3  # each once
        assert log.path.stat().st_mode & 0o777 == 0o600

    async def test_is_taken_in_by_many_at_once(self, log: ErasureLog, twin: ErasureLog) -> None:
        """As by the processes that share a folder."""
        await twin.note("message", *range(100))
        lines = read_lines(twin.path)
        notes = [log.note("message", number) for number in range(1000, 1010)]
        await asyncio.gather(*(log.take_in(lines) for _ in range(4)), *notes)
        assert (await read(log)).noted == 111

    async def test_brings_nothing_back_that_was_taken_out(
        self, log: ErasureLog, twin: ErasureLog, time: Time
    ) -> None:
        await twin.note("message", 7)
        time.now += SECOND
        await twin.note("message", 8)
        await log.thin(NOW + SECOND)
        await log.take_in(read_lines(twin.path))
        erasures = await read(log)
        assert erasures.match("message", 8, None)
        assert not erasures.match("message", 7, None)
        assert not erasures.match("user", ME, None)

    async def test_that_was_thinned_does_not_say_that_of_the_other(
        self, log: ErasureLog, twin: ErasureLog, time: Time
    ) -> None:
        await twin.thin(NOW + SECOND)
        time.now += SECOND
        await twin.note("message", 7)
        await log.take_in(read_lines(twin.path))
        erasures = await read(log)
        assert erasures.match("message", 7, NOW + SECOND)
        assert erasures.match("user", ME, NOW)
        assert erasures.whole_since is None
        assert erasures.noted == 2

    async def test_makes_one_of_a_former_version_one_of_this(self, tmp_path: Path, time: Time) -> None:
        log, twin = (ErasureLog(tmp_path / name, clock=time) for name in "ab")
        for each in (log, twin):
            each.path.write_text(json.dumps({"version": 1, "salt": b"salt".hex()}) + "\n")
        await twin.note("user", YOU)
        await log.take_in(read_lines(twin.path))
        assert (await read(log)).match("user", YOU, NOW)

    async def test_is_none_with_another_salt(self, log: ErasureLog, twin: ErasureLog) -> None:
        await twin.note("user", YOU)
        log.path.unlink()
        with pytest.raises(ErasureNotNoted):
            await log.take_in(read_lines(twin.path))
        await log.note("user", ME)
        with pytest.raises(ErasureNotNoted):
            await log.take_in(read_lines(twin.path))
        assert (await read(log)).noted == 1


class TestUsers:
    async def test_take_a_thousand_times_as_long_to_be_tried_as_a_message(self, log: ErasureLog) -> None:
        """Somebody who holds the file and knows a million ids would try them all in seconds else."""
        await log.note("user", ME)
        await log.note("message", 7)
        erasures = await read(log)

        def tried(kind: Literal["user", "message"], count: int) -> float:
            begun = process_time()
            assert not any(erasures.match(kind, number, None) for number in range(100, 100 + count))
            return (process_time() - begun) / count

        assert tried("user", 30) > 100 * tried("message", 3000)


class TestThinning:
    async def test_takes_out_what_is_older_and_says_since_when_the_log_is_whole(
        self, log: ErasureLog, time: Time
    ) -> None:
        assert await log.thin(NOW) == 0
        assert not log.path.exists()
        await log.note("user", ME)
        await log.note("memory", "1/2/x")
        before = log.path.read_bytes()
        assert await log.thin(NOW) == 0
        assert log.path.read_bytes() == before
        time.now += SECOND
        await log.note("user", YOU)
        assert await log.thin(NOW + SECOND) == 2
        erasures = await read(log)
        assert not erasures.match("user", ME, None)
        assert not erasures.match("memory", "1/2/x", None)
        assert erasures.match("user", YOU, NOW)
        assert erasures.whole_since == NOW + SECOND
        assert erasures.noted == 3  # with those that it no longer has: a log that was cut says fewer
        assert log.path.stat().st_mode & 0o777 == 0o600

    async def test_keeps_what_is_noted_meanwhile(self, log: ErasureLog, time: Time) -> None:
        await log.note("message", *range(500))
        time.now += SECOND
        notes = [log.note("message", number) for number in range(1000, 1040)]
        await asyncio.gather(*notes[:20], log.thin(NOW + SECOND), *notes[20:])
        erasures = await read(log)
        assert all(erasures.match("message", number, None) for number in range(1000, 1040))
        assert not any(erasures.match("message", number, None) for number in range(500))

    async def test_is_not_undone_by_the_copy_beside_the_backups(
        self, log: ErasureLog, time: Time, tmp_path: Path
    ) -> None:
        await log.note("user", ME)
        folder = tmp_path / "backups"
        folder.mkdir()
        copy_log(log.path, folder)
        time.now += SECOND
        await log.note("user", YOU)
        await log.thin(NOW + SECOND)
        copied = read_erasures(copy_log(log.path, folder))
        assert copied
        assert not copied.match("user", ME, None)
        assert copied.match("user", YOU, None)
        assert copied.whole_since == NOW + SECOND
