"""The command that looks at everything and changes nothing: doctor."""

import argparse
import asyncio
import os
import shutil
import sys
import time
from typing import Final

from cc_bot import __version__
from cc_bot.cli.saying import say
from cc_bot.config import Config
from cc_bot.texts import Texts, texts

JSON_WITHIN_S: Final = 3.2
"""From here on: with the start of Python and the end, a report for programs takes less than 4 s."""


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", all_texts: Texts) -> None:
    """Have the parser know it."""
    words = all_texts.doctor
    doctor = commands.add_parser("doctor", help=words.doctor, description=words.doctor)
    doctor.add_argument("--json", action="store_true", help=words.as_json)
    doctor.add_argument("--offline", action="store_true", help=words.offline_option)


def run(config: Config, options: argparse.Namespace) -> int:
    """Run it; the exit code is 1 where something failed."""
    return asyncio.run(_for_programs(config, options) if options.json else _for_people(config, options))


def wants_json(options: argparse.Namespace) -> bool:
    return options.command == "doctor" and bool(options.json)


def say_trouble(sentence: str, options: argparse.Namespace, words: Texts, *, of_settings: bool) -> None:
    """Report that nothing could be looked at, to a program."""
    from cc_bot.doctor import Notes, Report, as_json  # noqa: PLC0415 - see `_for_people`

    notes = Notes("settings" if of_settings else "program", words.doctor.label_program)
    report = Report([notes.failed(sentence, "" if of_settings else words.doctor.broke_mend)])
    say(as_json(report, version=__version__, offline=options.offline))


async def _for_people(config: Config, options: argparse.Namespace) -> int:
    # `--help` answers without them.
    from cc_bot.app.doctor import run_doctor  # noqa: PLC0415
    from cc_bot.doctor import as_lines  # noqa: PLC0415
    from cc_bot.terminal.line_breaks import break_offsets  # noqa: PLC0415

    report = await run_doctor(config, offline=options.offline)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    words = texts(config.operator_locale)
    for line in as_lines(report, words, offline=options.offline, width=width, breaks=break_offsets):
        say(line)
    return report.exit_code


async def _for_programs(config: Config, options: argparse.Namespace) -> int:
    """Who asks by program waits for seconds, and not for minutes."""
    until_s = time.monotonic() + JSON_WITHIN_S
    from cc_bot.app.doctor import run_doctor  # noqa: PLC0415 - see `_for_people`
    from cc_bot.doctor import as_json  # noqa: PLC0415

    report = await run_doctor(config, offline=options.offline, until_s=until_s)
    say(as_json(report, version=__version__, offline=options.offline))
    if not report.finished:
        os._exit(report.exit_code)  # Python would wait for threads that wait for a disk, or a server
    return report.exit_code
