"""`cc-bot doctor`, as its operator calls it: beside a running bot, and where something is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.program import Program
from tests.end_to_end.stage import Stage

KEY = "sk-loopback-0123456789"


async def doctor(folder: Path, environment: dict[str, str], *options: str) -> tuple[int, str]:
    program = Program(folder, environment)
    try:
        return await program.run("doctor", *options)
    finally:
        await program.close()


def read(output: str) -> dict[str, Any]:
    """The report, which is all that is written."""
    assert output.startswith("{"), output
    report: dict[str, Any] = json.loads(output)
    return report


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {check["check"]: check["verdict"] for check in report["checks"]}


@pytest.mark.slow  # each check has a time limit of its own
async def test_it_finds_nothing_wrong_and_tells_no_secret(stage: Stage) -> None:
    environment = stage.program.environment | {
        "OPENAI_API_KEY": KEY,
        "CC_BOT_LOCALE": "ja",
        "CC_BOT_READ_PAGES": "off",
    }
    code, output = await doctor(stage.program.folder, environment, "--json")
    report = read(output)
    found = verdicts(report)
    assert [name for name, verdict in found.items() if verdict not in ("ok", "off")] == ["backups"]
    assert (code, report["verdict"]) == (0, "warning")
    assert {"token", "intents", "commands", "clock", "database", "model"} <= set(found)
    assert stage.discord.token not in output
    assert KEY not in output


async def test_wrong_settings_are_one_sentence(tmp_path: Path) -> None:
    wrong = {"CC_BOT_TIMEZONE": "Mars/Olympus", "CC_BOT_LOCALE": "en"}
    code, output = await doctor(tmp_path, wrong)
    assert code == 2
    assert output.startswith("The setting CC_BOT_TIMEZONE")
