"""Log records tell facts, and never what people wrote."""

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from cc_bot.log import configure_logging


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    """Logging is the process's own: put it back for the other tests."""
    root = logging.getLogger()
    handlers, level, ours = root.handlers[:], root.level, logging.getLogger("cc_bot").level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.getLogger("cc_bot").setLevel(ours)
    structlog.reset_defaults()


def records(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_record_is_one_json_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info")
    structlog.get_logger("cc_bot.test").info("turn_done", seconds=1.5)
    [record] = records(capsys)
    assert (record["event"], record["level"], record["seconds"]) == ("turn_done", "info", 1.5)
    assert record["timestamp"].endswith("Z")


def test_an_exception_is_told_by_its_type_and_place_only(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info")
    for log in (structlog.get_logger("cc_bot.test"), logging.getLogger("some.library")):
        try:
            raise ValueError("秘密の日記")
        except ValueError:
            log.error("broke", exc_info=True)
    ours, theirs = records(capsys)
    assert (ours["error"], theirs["error"]) == ("ValueError", "ValueError")
    assert ours["at"].startswith("test_log.py:")
    assert "秘密" not in str((ours, theirs))


def test_libraries_are_heard_from_warnings_on(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("debug")
    logging.getLogger("openai").debug("request: 秘密の日記")
    logging.getLogger("hikari").info("秘密の日記")
    logging.getLogger("hikari").warning("slow")
    assert [record["event"] for record in records(capsys)] == ["slow"]


async def test_a_task_that_failed_unheard_is_told_without_its_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def fail() -> None:
        raise ValueError("秘密の日記")

    configure_logging("info")
    loop = asyncio.get_running_loop()
    task = loop.create_task(fail())
    await asyncio.wait((task,))
    loop.default_exception_handler(
        {"message": "Task exception was never retrieved", "task": task, "exception": task.exception()}
    )
    [record] = records(capsys)
    assert (record["event"], record["error"]) == ("Task exception was never retrieved", "ValueError")
    assert "秘密" not in str(record)


@pytest.mark.parametrize(("level", "count"), [("debug", 2), ("info", 1), ("error", 0)])
def test_the_level_is_the_operators(capsys: pytest.CaptureFixture[str], level: str, count: int) -> None:
    configure_logging(level)
    structlog.get_logger("cc_bot.test").debug("detail")
    structlog.get_logger("cc_bot.test").info("fact")
    assert len(records(capsys)) == count
