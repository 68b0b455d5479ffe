# ruff: noqa: PLC0415 - the checks are imported when they run

import argparse
import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cc_bot import __version__
from cc_bot.features.doctor.texts import DoctorTexts
from cc_bot.texts import Texts, texts

if TYPE_CHECKING:
    from cc_bot.config import Config


def add_command(commands: Any, words: Texts) -> argparse.ArgumentParser:
    texts = words[DoctorTexts]
    parser: argparse.ArgumentParser = commands.add_parser(
        "doctor", help=texts.doctor, description=texts.doctor
    )
    parser.add_argument("--json", action="store_true", help=texts.as_json)
    parser.add_argument("--offline", action="store_true", help=texts.offline_option)
    return parser


def run(config: "Config", options: argparse.Namespace, say: Callable[[str], None]) -> int:
    from cc_bot.features.doctor.checks import as_json, as_lines, run_doctor

    report = asyncio.run(run_doctor(config, offline=options.offline))
    if options.json:
        say(as_json(report, version=__version__, offline=options.offline))
        return report.exit_code
    for line in as_lines(report, texts(config.operator_locale), offline=options.offline):
        say(line)
    return report.exit_code
