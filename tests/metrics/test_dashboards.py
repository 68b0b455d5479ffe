import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from prometheus_client import CollectorRegistry

from cc_bot.app.metrics import GAUGES, PrometheusMeter, count_records, gauge_registry
from cc_bot.domain.turn import Usage
from cc_bot.log import OUR_LOGGER

ROOT: Final = Path(__file__).parents[2]
NAME: Final = re.compile(r"\b(?:cc_bot|process)_[a-z_]+")
RECORD: Final = {"msg": {"event": "turn_broke"}, "levelno": logging.ERROR, "levelname": "ERROR"}
LABEL: Final = re.compile(r"\b(cc_bot_[a-z_]+)\{([^}]*)\}")


def told() -> dict[str, dict[str, set[str]]]:
    """Every sample's name, with the values that its labels have been seen with."""
    meter = PrometheusMeter("1.2.3")
    meter.record_failure("ModelRefusedKey")
    meter.record_shown(1.0, ok=False)
    meter.record_tokens("turn", "small", Usage(1, 1, 1, 1))
    meter.record_tool_call("recall", ok=True)
    meter.record_server_call("time", "now", 0.1, ok=True)
    with count_records(meter.registry):
        logging.getLogger(OUR_LOGGER).handlers[-1].handle(logging.makeLogRecord(RECORD))
    return samples_of(meter.registry) | samples_of(gauge_registry(dict.fromkeys(GAUGES, 0.0)))


def samples_of(registry: CollectorRegistry) -> dict[str, dict[str, set[str]]]:
    found: dict[str, dict[str, set[str]]] = {}
    for family in registry.collect():
        for sample in family.samples:
            labels = found.setdefault(sample.name, {})
            for name, value in sample.labels.items():
                labels.setdefault(name, set()).add(value)
    return found


def alerts() -> list[dict[str, Any]]:
    rules = yaml.safe_load((ROOT / "deploy" / "alerts.yml").read_text("utf-8"))
    return [rule for group in rules["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    dashboard = json.loads((ROOT / "deploy" / "grafana-dashboard.json").read_text("utf-8"))
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in alerts())
    yield from (target["expr"] for panel in panels() for target in panel["targets"])


class TestExpressions:
    def test_name_only_what_the_program_tells_with_labels_that_there_are(self) -> None:
        known = told()
        for expression in expressions():
            named = set(NAME.findall(expression))
            assert named <= known.keys(), expression
            assert named or expression.startswith("up{")
            for name, matchers in LABEL.findall(expression):
                for label, values in re.findall(r'(\w+)=~?"([^"]*)"', matchers):
                    assert set(values.split("|")) <= known[name][label], expression
            for labels in re.findall(r"sum by \(([^)]*)\)", expression):
                [name] = named
                assert {label.strip() for label in labels.split(",")} <= known[name].keys(), expression
            assert all(expression.count(a) == expression.count(b) for a, b in ("()", "[]", "{}")), expression


OF_THE_DATABASE: Final = ("cc_bot_sessions", "cc_bot_database_bytes", "cc_bot_last_backup_timestamp_seconds")


class TestTheDashboard:
    def test_adds_up_processes_and_not_what_they_share(self) -> None:
        shown = [target["expr"] for panel in panels() for target in panel["targets"]]
        for name in OF_THE_DATABASE:
            assert [each for each in shown if name in each and f"max({name})" not in each] == []
        for name in ("cc_bot_turns_running", "cc_bot_turns_waiting"):
            assert f"sum({name})" in shown


@pytest.mark.parametrize("document", ["monitoring.md", "monitoring.ja.md"])
class TestTheDocument:
    def test_names_all_that_the_program_tells_and_nothing_else(self, document: str) -> None:
        text = (ROOT / "docs" / document).read_text("utf-8")
        named = set(re.findall(r"`(cc_bot_[a-z_]+)", text))
        parts = re.compile(r"_(?:bucket|sum|count|created)$")
        ours = {parts.sub("", name) for name in told() if name.startswith("cc_bot_")}
        ours -= {re.sub(r"_total$", "", name) for name in ours if name.endswith("_total")}
        assert named == ours
