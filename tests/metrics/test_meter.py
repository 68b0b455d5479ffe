"""What is count_records, under the names that dashboards and alerts rely on."""

import pytest
from prometheus_client import generate_latest

from cc_bot.domain import Usage
from cc_bot.domain.measures import NULL_METER, Meter
from cc_bot.metrics import MOST_SERVER_TOOLS, PrometheusMeter


@pytest.fixture
def meter() -> PrometheusMeter:
    return PrometheusMeter("1.2.3")


def value(meter: PrometheusMeter, name: str, **labels: str) -> float | None:
    return meter.registry.get_sample_value(name, labels)


class TestTheMeter:
    def test_counts_turns_by_how_they_ended(self, meter: PrometheusMeter) -> None:
        meter.record_turn("complete", 2.0, {"queue": 0.1, "model": 1.5})
        meter.record_turn("failed", 3.0, {"queue": 0.3})
        assert value(meter, "cc_bot_turns_total", status="complete") == 1
        assert value(meter, "cc_bot_turns_total", status="failed") == 1
        assert value(meter, "cc_bot_turn_seconds_sum") == 5
        assert value(meter, "cc_bot_phase_seconds_count", phase="queue") == 2
        assert value(meter, "cc_bot_phase_seconds_sum", phase="model") == 1.5

    def test_counts_what_discord_took_and_what_it_never_showed(self, meter: PrometheusMeter) -> None:
        meter.record_shown(0.2, ok=True)
        meter.record_shown(9.0, ok=False)
        assert value(meter, "cc_bot_phase_seconds_sum", phase="discord") == 0.2
        assert value(meter, "cc_bot_answers_not_shown_total") == 1

    def test_counts_each_token_once(self, meter: PrometheusMeter) -> None:
        usage = Usage(prompt_tokens=100, completion_tokens=20, cached_tokens=60)
        meter.record_tokens("turn", "small", usage)
        meter.record_tokens("summary", "small", usage)
        kinds = {
            kind: value(meter, "cc_bot_tokens_total", kind=kind, model="small")
            for kind in ("prompt", "cached", "completion")
        }
        assert kinds == {"prompt": 80, "cached": 120, "completion": 40}
        assert value(meter, "cc_bot_tokens_by_purpose_total", purpose="turn") == 120

    def test_takes_a_server_that_counts_more_cached_tokens_than_there_were(
        self, meter: PrometheusMeter
    ) -> None:
        meter.record_tokens("turn", "small", Usage(prompt_tokens=10, cached_tokens=12))
        assert value(meter, "cc_bot_tokens_total", kind="prompt", model="small") == 0

    def test_counts_tools_errors_and_waits(self, meter: PrometheusMeter) -> None:
        meter.record_tool_call("recall", ok=True)
        meter.record_tool_call("recall", ok=False)
        meter.record_failure("ModelUnavailable")
        meter.record_rate_limit("bucket", 0.5)
        meter.record_rate_limit("refused", None)
        assert value(meter, "cc_bot_tool_calls_total", tool="recall", outcome="failed") == 1
        assert value(meter, "cc_bot_errors_total", kind="ModelUnavailable") == 1
        assert value(meter, "cc_bot_rate_limits_total", held="refused") == 1
        assert value(meter, "cc_bot_rate_limit_wait_seconds_count") == 1

    def test_counts_calls_of_servers_and_puts_those_of_too_many_tools_together(
        self, meter: PrometheusMeter
    ) -> None:
        for number in range(MOST_SERVER_TOOLS + 5):
            meter.record_server_call("notes", f"道具{number}", 0.2, ok=number > 0)
        meter.record_server_call("notes", "道具0", 0.3, ok=False)
        first = {"server": "notes", "tool": "道具0"}
        assert value(meter, "cc_bot_tool_server_calls_total", **first, outcome="failed") == 2
        assert value(meter, "cc_bot_tool_server_call_seconds_sum", **first) == 0.5
        rest = {"server": "notes", "tool": "other", "outcome": "ok"}
        assert value(meter, "cc_bot_tool_server_calls_total", **rest) == 5

    def test_tells_which_program_it_is_and_keeps_its_counts_apart(self, meter: PrometheusMeter) -> None:
        meter.record_failure("Busy")
        assert value(meter, "cc_bot_build_info", version="1.2.3") == 1
        assert b"Busy" not in generate_latest(PrometheusMeter("1.2.3").registry)

    @pytest.mark.parametrize("any_meter", [PrometheusMeter("0"), NULL_METER])
    def test_takes_every_report(self, any_meter: Meter) -> None:
        any_meter.record_turn("cut", 1.0, {})
        any_meter.record_shown(1.0, ok=True)
        any_meter.record_tokens("heartbeat", "small", Usage())
        any_meter.record_tool_call("recall", ok=True)
        any_meter.record_server_call("time", "now", 0.1, ok=True)
        any_meter.record_failure("Busy")
        any_meter.record_rate_limit("global", 2)
