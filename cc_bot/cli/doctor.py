"""The command that looks at everything and changes nothing: doctor."""

import argparse
import asyncio
import shutil
import sys

from cc_bot import __version__
from cc_bot.cli.saying import say
from cc_bot.config import Config
from cc_bot.texts import Texts, texts


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", all_texts: Texts) -> None:
    """Have the parser know it."""
    words = all_texts.doctor
    doctor = commands.add_parser("doctor", help=words.doctor, description=words.doctor)
    doctor.add_argument("--json", action="store_true", help=words.as_json)
    doctor.add_argument("--offline", action="store_true", help=words.offline_option)


def run(config: Config, options: argparse.Namespace) -> int:
    """Run it; the exit code is 1 where something failed."""
    # `--help` answers without them.
    from cc_bot.app.doctor import run_doctor  # noqa: PLC0415
    from cc_bot.doctor import as_json, as_lines  # noqa: PLC0415
    from cc_bot.terminal.line_breaks import break_offsets  # noqa: PLC0415

    report = asyncio.run(run_doctor(config, offline=options.offline))
    if options.json:
        say(as_json(report, version=__version__, offline=options.offline))
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        words = texts(config.operator_locale)
        for line in as_lines(report, words, offline=options.offline, width=width, breaks=break_offsets):
            say(line)
    return report.exit_code
