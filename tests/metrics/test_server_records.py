"""Warnings and errors of the log are counted by their names."""

import logging
from collections.abc import Iterator

import pytest
import structlog
from prometheus_client import CollectorRegistry, generate_latest

from cc_bot.log import configure_logging
from cc_bot.metrics import OURS, count_records


@pytest.fixture(autouse=True)
def _configured() -> Iterator[None]:
    """Logging is the process's own: put it back for the other tests."""
    root, ours = logging.getLogger(), logging.getLogger(OURS)
    before = (root.handlers[:], root.level, ours.level)
    configure_logging("info")
    yield
    root.handlers[:], level, own_level = before
    root.setLevel(level)
    ours.setLevel(own_level)
    structlog.reset_defaults()


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def count(registry: CollectorRegistry, level: str, event: str) -> float | None:
    return registry.get_sample_value("cc_bot_log_records_total", {"level": level, "event": event})


class TestRecords:
    def test_of_the_program_are_counted_from_warnings_on(self, registry: CollectorRegistry) -> None:
        log = structlog.get_logger("cc_bot.somewhere")
        with count_records(registry):
            log.info("turn_done")
            log.warning("edit_failed", error="NotFoundError")
            log.warning("edit_failed")
            log.error("turn_broke", exc_info=ValueError("秘密の日記"))
        assert count(registry, "warning", "edit_failed") == 2
        assert count(registry, "error", "turn_broke") == 1
        assert count(registry, "info", "turn_done") is None
        assert "秘密".encode() not in generate_latest(registry)

    def test_of_libraries_are_not(self, registry: CollectorRegistry) -> None:
        with count_records(registry):
            logging.getLogger("hikari").error("秘密の日記")
            logging.getLogger("cc_bot.somewhere").error("秘密の日記")
        assert b"error" not in generate_latest(registry)

    def test_are_not_counted_any_more_afterwards(self, registry: CollectorRegistry) -> None:
        with count_records(registry):
            pass
        structlog.get_logger("cc_bot.somewhere").error("turn_broke")
        assert count(registry, "error", "turn_broke") is None

    def test_are_written_as_before(
        self, registry: CollectorRegistry, capsys: pytest.CaptureFixture[str]
    ) -> None:
        configure_logging("info")  # onto what is captured now
        with count_records(registry):
            structlog.get_logger("cc_bot.somewhere").warning("edit_failed")
        assert capsys.readouterr().err.count("edit_failed") == 1
