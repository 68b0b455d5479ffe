"""The command line, `cc-bot`. Exit code 2 means that the operator has to fix something.

Commands import what they need when they run, so that `--help` and `--version` are fast.
"""
# ruff: noqa: PLC0415 - see above

import argparse
import asyncio
import contextlib
import errno
import os
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from cc_bot import __version__
from cc_bot.config import Config, operator_locale, read_config
from cc_bot.domain.errors import CcBotError, CopyStopped, MissingToken, OutputLost, StorageError
from cc_bot.domain.text import Locale
from cc_bot.features import find_module, modules
from cc_bot.texts import Texts, explain, texts
from cc_bot.texts.cli import ARGPARSE_JA, BackupTexts, CliTexts, StorageTexts, storage_problem

T = TypeVar("T")


def say(sentence: str, end: str = "\n") -> None:
    """Print and flush a line; a closed pipe is ignored. Raises OutputLost, once."""
    try:
        print(sentence, end=end, flush=True)  # noqa: T201 - a command's output
    except OSError as error:
        # Python flushes stdout at exit, which would fail, too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno != errno.EPIPE:
            raise OutputLost(reason=os.strerror(error.errno or 0)) from None


def say_if_possible(sentence: str, end: str = "\n") -> None:
    with contextlib.suppress(OutputLost):
        say(sentence, end)


def ask_consent(question: str) -> bool:
    """Return False without a terminal."""
    if not sys.stdin.isatty():
        return False
    try:
        return input(question).strip().lower() in ("y", "yes", "はい")
    except EOFError:
        return False


EXIT_OK = 0
EXIT_ERROR = 1
EXIT_OPERATOR = 2
_FIRST_FREE_DESCRIPTOR: Final = 3  # after the standard streams


def main(argv: Sequence[str] | None = None) -> int:
    _open_standard_streams()
    locale = operator_locale()
    options = _make_parser(texts(locale)).parse_args(argv)
    config = None
    try:
        config = read_config()
        return _run(config, options) if options.command else main([_choose_command(config)])
    except CcBotError as error:
        say_error(_sentence_for(error, config, locale))
        return EXIT_OPERATOR
    except Exception as error:  # noqa: BLE001 - the log has where it happened
        import structlog

        from cc_bot.log import configure_logging

        if not structlog.is_configured():  # its default prints local variables
            configure_logging("error")
        structlog.get_logger(__name__).critical("program_broke", exc_info=error)
        say_error(texts(locale)[CliTexts].crashed.format(error=type(error).__name__))
        return EXIT_ERROR


def _choose_command(config: Config) -> str:
    """Return the command for `cc-bot` alone, after asking for missing settings. Raises MissingToken."""
    if config.discord_token:
        return "run"
    if not sys.stdin.isatty() or not (setup := find_module("setup")):
        raise MissingToken
    from cc_bot.log import configure_logging

    configure_logging("critical")
    command: str = setup.run_setup(config, say, ask_consent)
    return command


def say_error(sentence: str) -> None:
    with contextlib.suppress(OSError):
        print(sentence, file=sys.stderr)  # noqa: T201 - not a log record


def _sentence_for(error: CcBotError, config: Config | None, locale: Locale) -> str:
    """Return the sentence for an error, after the database's problem if a copy stopped."""
    words = texts(locale)
    from cc_bot.db.engines import dialect_of, operator_anchor_path, without_password

    if isinstance(error, CopyStopped):
        cause, url = error.__cause__, str(error.params["path"])
        problem = cause if isinstance(cause, StorageError) else StorageError()
        sentence = storage_problem(problem, url, words[StorageTexts], on_server=dialect_of(url) != "sqlite")
        return f"{sentence} {explain(error, words)}"
    if config is None or not isinstance(error, StorageError):
        return explain(error, words)
    on_server = dialect_of(config.database_url) != "sqlite"
    database = (
        without_password(config.database_url) if on_server else operator_anchor_path(config.database_url)
    )
    return storage_problem(error, database, words[StorageTexts], on_server=on_server)


def _make_parser(all_texts: Texts) -> argparse.ArgumentParser:
    words = all_texts[CliTexts]
    translations = ARGPARSE_JA if all_texts.locale is Locale.JA else {}
    vars(argparse)["_"] = lambda text: translations.get(text, text)  # its gettext
    parser = argparse.ArgumentParser(
        prog="cc-bot", description=words.description, epilog=words.without_command
    )
    parser.add_argument("--version", action="version", version=f"cc-bot {__version__}", help=words.version)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("run", help=words.run, description=words.run)
    chat = commands.add_parser("chat", help=words.chat, description=words.chat)
    snowflake = _argument_type(partial(_read_number, minimum=0, end=2**63), words.id_expected)
    chat.add_argument("--user", type=snowflake, default=0, metavar="ID", help=words.chat_user)
    chat.add_argument("--agent", metavar="NAME", help=words.chat_agent)
    pages = commands.add_parser("web", help=words.web, description=words.web)
    pages.add_argument("--user", type=snowflake, default=0, metavar="ID", help=words.chat_user)
    _add_database_commands(commands, all_texts)
    parser.set_defaults(feature=None)
    for feature in modules("cli"):
        feature.add_command(commands, all_texts).set_defaults(feature=feature)
    return parser


def _add_database_commands(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", all_texts: Texts
) -> None:
    words = all_texts[BackupTexts]
    count = _argument_type(partial(_read_number, minimum=1, end=2**31), words.count_expected)
    backup = commands.add_parser("backup", help=words.backup, description=words.backup)
    path = _argument_type(_read_path, words.path_expected)
    backup.add_argument("--to", type=path, metavar="DIR", help=words.backup_to)
    backup.add_argument("--keep", type=count, metavar="N", help=words.keep)
    backup.add_argument("--keep-days", type=count, metavar="D", help=words.keep_days)
    restore = commands.add_parser("restore", help=words.restore, description=words.restore)
    restore.add_argument("file", type=path, metavar="FILE", help=words.restore_file)
    restore.add_argument("--yes", action="store_true", help=words.without_asking)
    restore.add_argument("--without-erasures", action="store_true", help=words.without_erasures)
    migrate = all_texts[CliTexts].migrate
    commands.add_parser("migrate", help=migrate, description=migrate)
    copy = commands.add_parser("copy", help=words.copy, description=words.copy)
    copy.add_argument("--from", dest="source", metavar="URL", help=words.copy_from)
    copy.add_argument("--to", dest="target", required=True, metavar="URL", help=words.copy_to)
    erasures = commands.add_parser("erasures", help=words.erasures, description=words.erasures)
    erasure_commands = erasures.add_subparsers(dest="erasures", required=True, metavar="COMMAND")
    apply = erasure_commands.add_parser("apply", help=words.erasures_apply, description=words.erasures_apply)
    apply.add_argument("files", nargs="*", type=path, metavar="FILE", help=words.erasures_files)
    moment = _argument_type(datetime.fromisoformat, words.time_expected)
    apply.add_argument("--since", type=moment, metavar="MOMENT", help=words.erasures_since)
    wipe = commands.add_parser("wipe", help=words.wipe, description=words.wipe)
    wipe.add_argument("--yes", action="store_true", help=words.without_asking)


def _argument_type(read: Callable[[str], T], error: str) -> Callable[[str], T]:
    """Return a type for argparse that calls `read`. `error`: the sentence if that raises ValueError."""

    def parse(text: str) -> T:
        try:
            return read(text)
        except ValueError:
            raise ArgumentTypeError(error) from None

    return parse


def _read_path(text: str) -> Path:
    if not text:  # Path would read it as the current folder
        raise ValueError
    return Path(text)


def _read_number(text: str, minimum: int, end: int) -> int:
    if not (text.isdecimal() and text.isascii() and minimum <= int(text) < end):
        raise ValueError
    return int(text)


def _run(config: Config, options: argparse.Namespace) -> int:
    from cc_bot.log import configure_logging

    match options.command:
        case "run":
            from cc_bot.app.discord import run_discord

            configure_logging(config.log_level, config.log_format)
            asyncio.run(run_discord(config, say_if_possible))
        case "chat":
            from cc_bot.app.terminal import run_terminal

            configure_logging("error", config.log_format)
            succeeded = asyncio.run(run_terminal(config, options.user, options.agent))
            return EXIT_OK if succeeded else EXIT_ERROR
        case "web":
            from cc_bot.app.web import run_web

            configure_logging("warning", config.log_format)
            return EXIT_OK if asyncio.run(run_web(config, options.user, say)) else EXIT_OPERATOR
        case _ if options.feature:
            configure_logging("error", config.log_format)
            code: int = options.feature.run(config, options, say)
            return code
        case _:
            configure_logging("warning", config.log_format)
            from cc_bot.app.cli_database import COMMANDS

            words = texts(config.operator_locale)[BackupTexts]
            asyncio.run(COMMANDS[options.command](config, options, words))
    return EXIT_OK


def _open_standard_streams() -> None:
    """Print UTF-8 in any locale. Open closed streams: another file would get a closed stream's number."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < _FIRST_FREE_DESCRIPTOR:
        pass
    os.close(descriptor)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - stays open
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
