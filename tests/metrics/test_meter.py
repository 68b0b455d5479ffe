import logging
from collections.abc import Iterator

import pytest
import structlog
from prometheus_client import CollectorRegistry, generate_latest

from cc_bot.app.metrics import MAX_SERVER_TOOLS, PrometheusMeter, count_records
from cc_bot.domain.turn import Usage
from cc_bot.log import OUR_LOGGER, configure_logging


@pytest.fixture
def meter() -> PrometheusMeter:
    return PrometheusMeter("1.2.3")


def check(meter: PrometheusMeter, *expected: tuple[str, dict[str, str], float | None]) -> None:
    """Assert that the samples with these names and labels have these values."""
    found = [(name, labels, meter.registry.get_sample_value(name, labels)) for name, labels, _ in expected]
    assert found == [*expected]


class TestTheMeter:
    def test_counts_turns_tools_errors_waits_and_what_discord_took(self, meter: PrometheusMeter) -> None:
        meter.record_turn("complete", 2.0, {"queue": 0.1, "model": 1.5})
        meter.record_turn("failed", 3.0, {"queue": 0.3})
        meter.record_shown(0.2, ok=True)
        meter.record_shown(9.0, ok=False)
        meter.record_tool_call("recall", ok=True)
        meter.record_tool_call("recall", ok=False)
        meter.record_failure("ModelUnavailable")
        check(
            meter,
            ("cc_bot_turns_total", {"status": "complete"}, 1),
            ("cc_bot_turns_total", {"status": "failed"}, 1),
            ("cc_bot_turn_seconds_sum", {}, 5),
            ("cc_bot_phase_seconds_count", {"phase": "queue"}, 2),
            ("cc_bot_phase_seconds_sum", {"phase": "model"}, 1.5),
            ("cc_bot_phase_seconds_sum", {"phase": "discord"}, 0.2),
            ("cc_bot_answers_not_shown_total", {}, 1),
            ("cc_bot_tool_calls_total", {"tool": "recall", "outcome": "failed"}, 1),
            ("cc_bot_errors_total", {"kind": "ModelUnavailable"}, 1),
            ("cc_bot_build_info", {"version": "1.2.3"}, 1),
        )

    def test_counts_each_token_once_even_of_a_server_that_counts_oddly(self, meter: PrometheusMeter) -> None:
        usage = Usage(prompt_tokens=100, completion_tokens=20, cached_tokens=60)
        meter.record_tokens("turn", "small", usage)
        meter.record_tokens("summary", "small", usage)
        meter.record_tokens("turn", "odd", Usage(prompt_tokens=10, cached_tokens=12))
        check(
            meter,
            ("cc_bot_tokens_total", {"kind": "prompt", "model": "small"}, 80),
            ("cc_bot_tokens_total", {"kind": "cached", "model": "small"}, 120),
            ("cc_bot_tokens_total", {"kind": "completion", "model": "small"}, 40),
            ("cc_bot_tokens_total", {"kind": "prompt", "model": "odd"}, 0),
            ("cc_bot_tokens_by_purpose_total", {"purpose": "summary"}, 120),
        )

    def test_counts_calls_of_servers_and_puts_those_of_too_many_tools_together(
        self, meter: PrometheusMeter
    ) -> None:
        for number in range(MAX_SERVER_TOOLS + 5):
            meter.record_server_call("notes", f"道具{number}", 0.2, ok=number > 0)
        meter.record_server_call("notes", "道具0", 0.3, ok=False)
        first, other = {"server": "notes", "tool": "道具0"}, {"server": "notes", "tool": "other"}
        check(
            meter,
            ("cc_bot_tool_server_calls_total", first | {"outcome": "failed"}, 2),
            ("cc_bot_tool_server_call_seconds_sum", first, 0.5),
            ("cc_bot_tool_server_calls_total", other | {"outcome": "ok"}, 5),
        )


@pytest.fixture
def _configured() -> Iterator[None]:
    """Logging is the process's own: put it back for the other tests."""
    root, ours = logging.getLogger(), logging.getLogger(OUR_LOGGER)
    before = (root.handlers[:], root.level, ours.level)
    configure_logging("info")
    yield
    root.handlers[:], level, own_level = before
    root.setLevel(level)
    ours.setLevel(own_level)
    structlog.reset_defaults()


@pytest.mark.usefixtures("_configured")
class TestRecords:
    def test_of_the_program_are_counted_from_warnings_on_and_written_as_before(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        configure_logging("info")  # onto what is captured now
        registry, log = CollectorRegistry(), structlog.get_logger("cc_bot.somewhere")
        with count_records(registry):
            log.info("turn_done")
            log.warning("edit_failed", error="NotFoundError")
            log.warning("edit_failed")
            log.error("turn_broke", exc_info=ValueError("秘密の日記"))
            logging.getLogger("hikari").error("秘密の日記")
            logging.getLogger("cc_bot.somewhere").error("秘密の日記")
        log.error("turn_broke")
        counted = {
            (sample.labels["level"], sample.labels["event"]): sample.value
            for family in registry.collect()
            for sample in family.samples
            if sample.name == "cc_bot_log_records_total"
        }
        assert counted == {("warning", "edit_failed"): 2, ("error", "turn_broke"): 1}
        assert "秘密".encode() not in generate_latest(registry)
        assert capsys.readouterr().err.count("edit_failed") == 2
