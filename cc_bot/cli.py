"""`cc-bot`: the command line. Exit code 2 means that the operator has to mend something."""

import argparse
import asyncio
import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

import structlog

from cc_bot import __version__
from cc_bot.config import Config, operator_locale, read_config
from cc_bot.domain.errors import CcBotError
from cc_bot.log import configure_logging
from cc_bot.texts import explain, texts
from cc_bot.texts.cli import CliTexts

EXIT_OK = 0
EXIT_BROKEN = 1
EXIT_OPERATOR = 2
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    _speak_utf8()
    locale = operator_locale()
    options = _parser(texts(locale).cli).parse_args(argv)
    try:
        return _run(read_config(), options)
    except CcBotError as error:
        print(explain(error, locale), file=sys.stderr)  # noqa: T201 - the operator's one sentence
        return EXIT_OPERATOR
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - nobody is shown a traceback; the log has where it happened
        structlog.get_logger(__name__).critical("program_broke", exc_info=error)
        print(texts(locale).cli.broke.format(error=type(error).__name__), file=sys.stderr)  # noqa: T201
        return EXIT_BROKEN


def _parser(words: CliTexts) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="cc-bot", description=words.description)
    parser.add_argument("--version", action="version", version=f"cc-bot {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("run", help=words.run, description=words.run)
    chat = commands.add_parser("chat", help=words.chat, description=words.chat)
    chat.add_argument("--user", type=_snowflake, default=0, metavar="ID", help=words.chat_user)
    chat.add_argument("--channel", type=_snowflake, default=0, metavar="ID", help=words.chat_channel)
    chat.add_argument("--agent", metavar="NAME", help=words.chat_agent)
    backup = commands.add_parser("backup", help=words.backup, description=words.backup)
    backup.add_argument("--to", type=Path, default=Path("backup"), metavar="DIR", help=words.backup_to)
    commands.add_parser("migrate", help=words.migrate, description=words.migrate)
    return parser


def _snowflake(text: str) -> int:
    """An id as Discord gives them: 63 bits."""
    number = int(text)
    if not 0 <= number < 2**63:
        raise ValueError
    return number


def _run(config: Config, options: argparse.Namespace) -> int:
    from cc_bot import app  # noqa: PLC0415 - `--version` and `--help` answer without it

    words = texts(config.operator_locale).cli
    match options.command:
        case "run":
            configure_logging(config.log_level)
            asyncio.run(app.run_discord(config, _say))
        case "chat":
            configure_logging("error")
            asyncio.run(app.run_terminal(config, options.user, options.channel, options.agent))
        case "backup":
            configure_logging("warning")
            made = asyncio.run(app.run_backup(config, options.to))
            size = f"{made.size_bytes / 1024:,.0f} KiB"
            _say(words.backed_up.format(path=made.path, size=size, version=made.schema_version))
        case "migrate":
            configure_logging("warning")
            applied = asyncio.run(
                app.run_migrate(
                    config,
                    lambda step: _say(
                        words.migration.format(version=step.version, description=step.description)
                    ),
                )
            )
            done = words.migrated if applied else words.up_to_date
            _say(done.format(path=config.database_url))
        case unknown:
            raise AssertionError(unknown)  # argparse lets nothing else through
    return EXIT_OK


def _say(sentence: str) -> None:
    print(sentence, flush=True)  # noqa: T201 - a command's own words


def _speak_utf8() -> None:
    """Japanese comes out right whatever the machine's locale says."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
