"""The log of erasures: what it remembers, and what it does not tell."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time
from typing import Literal

import pytest
from structlog.testing import capture_logs

from cc_bot.db.erasure_log import ErasureLog, memory_log_id, merge_log, read_erasures
from cc_bot.domain.errors import ErasureNotNoted, StorageError
from tests.storage.files import mode, names

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


class TestErasureLog:
    async def test_remembers_who_was_erased_last_at_which_moment_and_nobody_else(
        self, log: ErasureLog, time: Time
    ) -> None:
        log.create()
        assert log.path.read_bytes() == b""
        assert not read_erasures(log.path).match("user", ME, None)
        await log.note("user", ME)
        erasures = read_erasures(log.path)
        moments = (None, NOW - SECOND, NOW, NOW + SECOND)
        assert [erasures.match("user", ME, moment) for moment in moments] == [True, True, True, False]
        assert not erasures.match("user", YOU, None)
        assert not erasures.match("memory", ME, None)
        time.now += SECOND
        await log.note("user", ME)
        time.now -= 2 * SECOND  # the clock was put back
        await log.note("user", ME)
        assert read_erasures(log.path).match("user", ME, NOW + SECOND)

    async def test_is_private_and_names_nobody(self, log: ErasureLog, tmp_path: Path) -> None:
        await log.note("user", ME)
        other = ErasureLog(tmp_path / "other")
        await other.note("user", ME)
        hashes = {json.loads(each.path.read_text())["id"] for each in (log, other)}
        assert len(hashes) == 2
        await log.note("memory", memory_log_id(ME, 42, "2026-11-22T00:00:00.000000+00:00"))
        content = log.path.read_text()
        assert mode(log.path) == 0o600
        assert str(ME) not in content
        entries = [json.loads(line) for line in content.splitlines()]
        assert [set(entry) for entry in entries] == [{"kind", "salt", "id", "at"}] * 2

    async def test_takes_many_at_once_and_from_several_at_a_time(self, log: ErasureLog) -> None:
        await asyncio.gather(*(log.note("memory", *range(n * 50, n * 50 + 50)) for n in range(8)))
        erasures = read_erasures(log.path)
        assert all(erasures.match("memory", n, None) for n in range(400))
        assert len(log.path.read_text().splitlines()) == 400
        assert names(log.path.parent) == [log.path.name]

    async def test_survives_a_line_that_a_crash_cut_off_and_is_refused_with_one_that_none_leaves(
        self, log: ErasureLog
    ) -> None:
        await log.note("user", ME, YOU)
        log.path.write_bytes(log.path.read_bytes()[:-20])
        await log.note("user", 3)
        erasures = read_erasures(log.path)
        assert [erasures.match("user", each, None) for each in (ME, YOU, 3)] == [True, False, True]
        whole = log.path.read_bytes()
        # Such as a disk leaves that has lost what was on it: somebody may have stood there.
        for lost in (b"\0" * 40, b'{"kind": "user", \0\0\0', b'{"kind": "user"}', b"x"):
            log.path.write_bytes(whole + lost + b"\n")
            assert log.path in read_erasures(log.path).unreadable
            await log.note("user", YOU)  # whom it takes all the same
            assert log.path.read_bytes().count(b"\n") == whole.count(b"\n") + 2

    async def test_of_an_earlier_checkout_is_read_added_to_and_merged(
        self, log: ErasureLog, tmp_path: Path
    ) -> None:
        await log.note("user", 7)
        [line] = log.path.read_text().splitlines()
        salt = json.loads(line)["salt"]
        entry = {name: value for name, value in json.loads(line).items() if name != "salt"}
        log.path.write_text(f'{{"version": 2, "salt": "{salt}"}}\n{json.dumps(entry)}\n')
        await log.note("message", 8)
        merge_log(log.path, copy := tmp_path / "copy.jsonl")
        for path in (log.path, copy):
            erased = read_erasures(path)
            assert (erased.count, erased.match("user", 7, None), erased.match("message", 8, None)) == (
                2,
                True,
                True,
            )

    async def test_that_is_none_of_ours_is_refused_and_left_as_it_is(self, log: ErasureLog) -> None:
        for content in ("hello\n", '{"kind": "user", "id": "00"}\n', "{}\n"):
            log.path.write_text(content)
            with pytest.raises(StorageError):
                await log.note("user", ME)
            assert log.path in read_erasures(log.path).unreadable
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


class TestUsers:
    async def test_take_a_thousand_times_as_long_to_be_tried_as_a_message(self, log: ErasureLog) -> None:
        await log.note("user", ME)
        await log.note("message", 7)
        erasures = read_erasures(log.path)

        def tried(kind: Literal["user", "message"], count: int) -> float:
            begun = process_time()
            assert not any(erasures.match(kind, number, None) for number in range(100, 100 + count))
            return (process_time() - begun) / count

        users = min(tried("user", 10) for _ in range(3))
        messages = min(tried("message", 1000) for _ in range(3))
        assert users > 100 * messages
