"""`cc-bot`: the command line. Exit code 2 means that the operator has to mend something."""

import argparse
import asyncio
import contextlib
import sys
from collections.abc import Sequence

from cc_bot import __version__
from cc_bot.cli import database, doctor
from cc_bot.cli.saying import say, whole_number, why_it_ended
from cc_bot.config import Config, operator_locale, read_config
from cc_bot.domain.errors import CcBotError, StorageError
from cc_bot.domain.locale import Locale
from cc_bot.texts import Texts, explain, texts

EXIT_OK = 0
EXIT_BROKEN = 1
EXIT_OPERATOR = 2
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    _speak_utf8()
    locale = operator_locale()
    options = _parser(texts(locale)).parse_args(argv)
    config = None
    try:
        config = read_config()
        return _run(config, options)
    except CcBotError as error:
        why = _why(error, config, locale)
        if doctor.wants_json(options):
            doctor.say_trouble(why, options, texts(locale), of_settings=True)
        else:
            print(why, file=sys.stderr)  # noqa: T201 - the operator's one sentence
        return EXIT_OPERATOR
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - nobody is shown a traceback; the log has where it happened
        import structlog  # noqa: PLC0415 - see _run

        structlog.get_logger(__name__).critical("program_broke", exc_info=error)
        if doctor.wants_json(options):
            broke = texts(locale).doctor.broke.format(error=type(error).__name__)
            doctor.say_trouble(broke, options, texts(locale), of_settings=False)
        else:
            print(texts(locale).cli.broke.format(error=type(error).__name__), file=sys.stderr)  # noqa: T201
        return EXIT_BROKEN


def _why(error: CcBotError, config: Config | None, locale: Locale) -> str:
    if config is None or not isinstance(error, StorageError):
        return explain(error, texts(locale))
    from cc_bot.storage.location import sqlite_path  # noqa: PLC0415 - rarely needed

    return why_it_ended(error, sqlite_path(config.database_url), texts(locale).storage)


def _parser(all_texts: Texts) -> argparse.ArgumentParser:
    words = all_texts.cli
    parser = argparse.ArgumentParser(prog="cc-bot", description=words.description)
    parser.add_argument("--version", action="version", version=f"cc-bot {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("run", help=words.run, description=words.run)
    chat = commands.add_parser("chat", help=words.chat, description=words.chat)
    snowflake = whole_number(0, 2**63, words.no_id)
    chat.add_argument("--user", type=snowflake, default=0, metavar="ID", help=words.chat_user)
    chat.add_argument("--channel", type=snowflake, default=0, metavar="ID", help=words.chat_channel)
    chat.add_argument("--agent", metavar="NAME", help=words.chat_agent)
    database.add_commands(commands, all_texts)
    doctor.add_commands(commands, all_texts)
    return parser


def _run(config: Config, options: argparse.Namespace) -> int:
    # `--version` and `--help` answer without any of this, and a command without what others need.
    from cc_bot.log import configure_logging  # noqa: PLC0415

    match options.command:
        case "run":
            from cc_bot.app.discord import run_discord  # noqa: PLC0415

            configure_logging(config.log_level, config.log_format)
            asyncio.run(run_discord(config, say))
        case "chat":
            from cc_bot.app.terminal import run_terminal  # noqa: PLC0415

            configure_logging("error", config.log_format)
            done = asyncio.run(run_terminal(config, options.user, options.channel, options.agent))
            return EXIT_OK if done else EXIT_BROKEN
        case "doctor":
            configure_logging("error", config.log_format)
            return doctor.run(config, options)
        case _:
            configure_logging("warning", config.log_format)
            database.run(config, options)
    return EXIT_OK


def _speak_utf8() -> None:
    """Japanese comes out right whatever the machine's locale says."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
