"""`cc-bot`: the command line. Exit code 2 means that the operator has to mend something."""

import argparse
import asyncio
import contextlib
import errno
import os
import shutil
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cc_bot.config import Config, operator_locale, read_config
from cc_bot.domain.errors import (
    CcBotError,
    CopyStopped,
    InvalidSetting,
    OutputLost,
    StorageError,
)
from cc_bot.domain.locale import Locale
from cc_bot.texts import Texts, explain, texts
from cc_bot.texts.cli import BackupTexts, storage_problem
from cc_bot.version import __version__

# ---- saying ----------------------------------------------------------------------------------------------


def say(sentence: str) -> None:
    """Print a line, at once. Who stopped reading misses it, as they wish. Raises OutputLost where it can't be
    written, once: all that follows goes nowhere."""
    try:
        print(sentence, flush=True)  # noqa: T201 - a command's own words
    except OSError as error:
        # Python would try to write what is left at the end, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno != errno.EPIPE:
            raise OutputLost(reason=os.strerror(error.errno or 0)) from None


def say_in_passing(sentence: str) -> None:
    """Print a line that is no reason to stop what goes on, where it can't be written."""
    with contextlib.suppress(OutputLost):
        say(sentence)


def whole_number(least: int, end: int, otherwise: str) -> Callable[[str], int]:
    """Return how argparse reads a number from `least` to before `end`; `otherwise` is said of all else."""

    def read(text: str) -> int:
        number = int(text) if text.isdecimal() and text.isascii() else -1
        if not least <= number < end:
            raise ArgumentTypeError(otherwise)
        return number

    return read


def ask_consent(question: str) -> bool:
    """Ask for a yes of the person at the terminal; return no without one, since nobody was asked."""
    if not sys.stdin.isatty():
        return False
    try:
        return input(question).strip().lower() in ("y", "yes", "はい")
    except EOFError:
        return False


# ---- database --------------------------------------------------------------------------------------------

if TYPE_CHECKING:  # `--help` answers without them
    from cc_bot.app.restoring import ErasedAgain
    from cc_bot.storage.manifest import Announce, Rows, Stage
    from cc_bot.storage.restoring import StagedBackup


def add_database_commands(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", all_texts: Texts
) -> None:
    """Have the parser know them."""
    words = all_texts.backup
    count = whole_number(1, 2**31, words.no_count)
    backup = commands.add_parser("backup", help=words.backup, description=words.backup)
    path = partial(_path, otherwise=words.no_path)
    backup.add_argument("--to", type=path, metavar="DIR", help=words.backup_to)
    backup.add_argument("--keep", type=count, metavar="N", help=words.keep)
    backup.add_argument("--keep-days", type=count, metavar="D", help=words.keep_days)
    restore = commands.add_parser("restore", help=words.restore, description=words.restore)
    restore.add_argument("file", type=path, metavar="FILE", help=words.restore_file)
    restore.add_argument("--yes", action="store_true", help=words.yes)
    restore.add_argument("--without-erasures", action="store_true", help=words.without_erasures)
    migrate = all_texts.cli.migrate
    commands.add_parser("migrate", help=migrate, description=migrate)
    copy = commands.add_parser("copy", help=words.copy, description=words.copy)
    copy.add_argument("--from", dest="source", metavar="URL", help=words.copy_from)
    copy.add_argument("--to", dest="target", required=True, metavar="URL", help=words.copy_to)
    erasures = commands.add_parser("erasures", help=words.erasures, description=words.erasures)
    what = erasures.add_subparsers(dest="erasures", required=True, metavar="COMMAND")
    again = what.add_parser("apply", help=words.erasures_apply, description=words.erasures_apply)
    again.add_argument("files", nargs="*", type=path, metavar="FILE", help=words.erasures_files)
    moment = partial(_moment, otherwise=words.no_moment)
    again.add_argument("--since", type=moment, metavar="MOMENT", help=words.erasures_since)
    wipe = commands.add_parser("wipe", help=words.wipe, description=words.wipe)
    wipe.add_argument("--yes", action="store_true", help=words.yes)


def run_database_command(config: Config, options: argparse.Namespace) -> None:
    """Run the command that was called. Raises a StartupError."""
    match options.command:
        case "backup":
            _backup(config, options)
        case "restore":
            _restore(config, options)
        case "migrate":
            _migrate(config)
        case "copy":
            _copy(config, options)
        case "erasures":
            _apply_erasures(config, options)
        case "wipe":
            _wipe(config, options)
        case unknown:
            raise AssertionError(unknown)  # argparse lets nothing else through


def _path(text: str, otherwise: str) -> Path:
    """Return the path; of an empty text Path would make the folder that the program runs in."""
    if not text:
        raise ArgumentTypeError(otherwise)
    return Path(text)


def _moment(text: str, otherwise: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(otherwise) from None


def _backup(config: Config, options: argparse.Namespace) -> None:
    from cc_bot.app.database import run_backup  # noqa: PLC0415 - see above
    from cc_bot.storage.backup import Rotation  # noqa: PLC0415 - see above

    words = texts(config.operator_locale).backup
    folder = options.to or config.backup_folder
    rotation = Rotation(options.keep, options.keep_days)
    made = asyncio.run(run_backup(config, folder, rotation, _announcer(words)))
    held = made.manifest
    size = f"{held.size_bytes / 1024:,.0f} KiB"
    say(words.backed_up.format(path=made.path, size=size, version=held.schema_version, **_counts(held.rows)))
    if made.deleted:
        say(words.deleted.format(count=len(made.deleted)))


def _restore(config: Config, options: argparse.Namespace) -> None:
    from cc_bot.app.restoring import RestoreRequest, run_restore  # noqa: PLC0415 - see above

    words = texts(config.operator_locale).backup
    database = config.database_url.removeprefix("sqlite:///")

    def confirm(copy: "StagedBackup") -> bool:
        if options.yes:
            return True
        made_at = copy.manifest.made_at.astimezone(config.timezone) if copy.manifest else None
        offer = words.offer.format(
            path=options.file,
            made_at=f"{made_at:%Y-%m-%d %H:%M}" if made_at else words.unknown_time,
            database=database,
            **_counts(copy.rows),
        )
        return ask_consent(f"{offer}\n{words.origin}\n{words.go_on}")

    request = RestoreRequest(options.file, confirm, options.without_erasures)
    done = asyncio.run(run_restore(config, request, _announcer(words)))
    say(words.restored.format(path=options.file, database=database))
    if options.yes:  # who was asked has read it
        say(words.origin)
    if done.replaced:
        days = config.retention.copy_days
        say((words.replaced_days if days else words.replaced).format(path=done.replaced, days=days))
    if done.forgotten:
        say(words.forgotten.format(**asdict(done.forgotten)))
    if not done.erasures_known:
        say(words.erasures_unknown)


def _migrate(config: Config) -> None:
    from cc_bot.app.database import run_migrate  # noqa: PLC0415 - see above

    words = texts(config.operator_locale).cli
    applied = asyncio.run(
        run_migrate(
            config,
            lambda step: say_in_passing(
                words.migration.format(version=step.version, description=step.description)
            ),
        )
    )
    done = words.migrated if applied else words.up_to_date
    from cc_bot.storage.engines import shown  # noqa: PLC0415 - see above

    say(done.format(path=shown(config.database_url)))


def _copy(config: Config, options: argparse.Namespace) -> None:
    from cc_bot.app.database import SOURCE_OPTION, CopyRequest, run_copy  # noqa: PLC0415 - see above
    from cc_bot.storage.engines import dialect_of, origin_of, shown  # noqa: PLC0415 - see above
    from cc_bot.storage.files import URL_SETTING  # noqa: PLC0415 - see above

    words = texts(config.operator_locale).backup
    request = CopyRequest(
        options.source or config.database_url,
        options.target,
        SOURCE_OPTION if options.source else URL_SETTING,
    )
    done = asyncio.run(run_copy(config, request, _announcer(words)))
    filled = [table for table in done.plan.tables if table.rows]
    for table in filled:
        say(words.copied_table.format(name=f"{table.name:<18}", rows=f"{f'{table.rows:,}':>12}"))
    say(words.copied_empty.format(count=len(done.plan.tables) - len(filled)))
    source, target = shown(request.source), shown(request.target)
    say(words.copied.format(source=source, target=target, rows=f"{sum(table.rows for table in filled):,}"))
    if done.plan.left_out:
        say(words.copied_left_out.format(names=", ".join(done.plan.left_out)))
    if done.erased:
        _say_erased(done.erased, config)
    if done.files:
        say(words.copied_files.format(folder=done.folder, files=", ".join(map(str, done.files))))
    if origin_of(config.database_url) != origin_of(request.target):
        on_server = dialect_of(request.target) != "sqlite"
        sentence = words.copied_next_server if on_server else words.copied_next
        say(sentence.format(url=target, former=shown(config.database_url)))


def _apply_erasures(config: Config, options: argparse.Namespace) -> None:
    from cc_bot.app.restoring import ErasuresRequest, run_apply_erasures  # noqa: PLC0415 - see above

    words = texts(config.operator_locale).backup
    request = ErasuresRequest(tuple(options.files), options.since)
    _say_erased(asyncio.run(run_apply_erasures(config, request, _announcer(words))), config)


def _say_erased(done: "ErasedAgain", config: Config) -> None:
    words, at = texts(config.operator_locale).backup, done.since
    since = f"{at.astimezone(config.timezone):%Y-%m-%d %H:%M:%S}" if at else words.unknown_moment
    sentence = words.reapplied if done else words.nothing_reapplied
    say(sentence.format(**{**asdict(done), "since": since}))


def _wipe(config: Config, options: argparse.Namespace) -> None:
    from cc_bot.app.restoring import run_wipe  # noqa: PLC0415 - see above

    words = texts(config.operator_locale).backup

    def confirm(doomed: list[Path]) -> bool:
        tell = say_in_passing if options.yes else say
        tell("\n".join((words.doomed, *(f"  {path}" for path in doomed))))
        return options.yes or ask_consent(words.go_on)

    wiped = asyncio.run(run_wipe(config, confirm))
    if not wiped:
        say(words.nothing_to_wipe.format(path=config.database_url))
        return
    say(words.wiped.format(count=len(wiped)))
    say(words.stays)


def _counts(rows: "Rows") -> dict[str, int]:
    """Return what an operator knows a database by."""
    return {"messages": rows.get("messages", 0), "memories": rows.get("memories", 0)}


def _announcer(words: BackupTexts) -> "Announce":
    """Return a function that says on stderr which stage of the work begins."""

    def announce(stage: "Stage") -> None:
        say_in_passing(words.stages[stage])

    return announce


# ---- doctor ----------------------------------------------------------------------------------------------


def add_doctor_commands(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", all_texts: Texts
) -> None:
    """Have the parser know it."""
    words = all_texts.doctor
    doctor = commands.add_parser("doctor", help=words.doctor, description=words.doctor)
    doctor.add_argument("--json", action="store_true", help=words.as_json)
    doctor.add_argument("--offline", action="store_true", help=words.offline_option)


def run_doctor_command(config: Config, options: argparse.Namespace) -> int:
    """Run it; return 1 where something failed."""
    from cc_bot.app.doctor.checks import run_doctor  # noqa: PLC0415 - `--help` answers without it
    from cc_bot.app.doctor.report import as_json, as_lines  # noqa: PLC0415
    from cc_bot.terminal.markdown import break_offsets  # noqa: PLC0415

    report = asyncio.run(run_doctor(config, offline=options.offline))
    if options.json:
        say(as_json(report, version=__version__, offline=options.offline))
        return report.exit_code
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    words = texts(config.operator_locale)
    for line in as_lines(report, words, offline=options.offline, width=width, breaks=break_offsets):
        say(line)
    return report.exit_code


def wants_json(options: argparse.Namespace) -> bool:
    return options.command == "doctor" and bool(options.json)


def report_trouble(sentence: str, options: argparse.Namespace, *, of_settings: bool) -> None:
    """Report to a program that no check could run."""
    from cc_bot.app.doctor.report import Report, as_json, failed  # noqa: PLC0415 - see `run_doctor_command`

    report = Report([failed("settings" if of_settings else "program", sentence)])
    say(as_json(report, version=__version__, offline=options.offline))


# ---- cli -------------------------------------------------------------------------------------------------

EXIT_OK = 0
EXIT_BROKEN = 1
EXIT_OPERATOR = 2
EXIT_INTERRUPTED = 130
_STANDARD_STREAMS: Final = 3


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    _open_standard_streams()
    locale = operator_locale()
    options = _parser(texts(locale)).parse_args(argv)
    config = None
    try:
        config = read_config({**os.environ, **_given_settings(options)})
        return _run(config, options)
    except CcBotError as error:
        told = _as_typed(error, options)
        _say_trouble(error, _reason(told, config, locale), options)
        return EXIT_OPERATOR
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - nobody is shown a traceback; the log has where it happened
        import structlog  # noqa: PLC0415 - see _run

        from cc_bot.log import configure_logging  # noqa: PLC0415 - likewise

        if not structlog.is_configured():  # by itself it would print what every function holds
            configure_logging("error")
        structlog.get_logger(__name__).critical("program_broke", exc_info=error)
        words = texts(locale)
        broke = words.doctor.broke if wants_json(options) else words.cli.broke
        _say_trouble(error, broke.format(error=type(error).__name__), options)
        return EXIT_BROKEN


SHARD_OPTIONS: Final = {"--shards": ("CC_BOT_SHARDS", "0-3"), "--shard-count": ("CC_BOT_SHARD_COUNT", "16")}
"""Options of `run`, the settings that they go before, and an example."""


def _given_settings(options: argparse.Namespace) -> dict[str, str]:
    values = {
        setting: getattr(options, option[2:].replace("-", "_"), None)
        for option, (setting, _) in SHARD_OPTIONS.items()
    }
    for option, (setting, example) in SHARD_OPTIONS.items():
        if values[setting] == "":  # such as a variable that is not set
            raise InvalidSetting(name=option, expected=example)
    return {setting: value for setting, value in values.items() if value is not None}


def _as_typed(error: CcBotError, options: argparse.Namespace) -> CcBotError:
    """Return the error in the name of the option, where that was typed and not the setting."""
    for option, (setting, _) in SHARD_OPTIONS.items():
        typed = getattr(options, option[2:].replace("-", "_"), None)
        if isinstance(error, InvalidSetting) and typed is not None and error.params["name"] == setting:
            return InvalidSetting(name=option, expected=error.params["expected"])
    return error


def _say_trouble(error: Exception, sentence: str, options: argparse.Namespace) -> None:
    """Say the operator's one sentence: on stderr, but for a program that reads what is not lost."""
    with contextlib.suppress(OutputLost):
        if wants_json(options) and not isinstance(error, OutputLost):
            report_trouble(sentence, options, of_settings=isinstance(error, CcBotError))
            return
    with contextlib.suppress(OSError):
        print(sentence, file=sys.stderr)  # noqa: T201 - it is no record


def _reason(error: CcBotError, config: Config | None, locale: Locale) -> str:
    """Return the sentence on an error. Of a copy that stopped it says what is wrong with that database."""
    words, stopped = texts(locale), isinstance(error, CopyStopped)
    if not stopped and (config is None or not isinstance(error, StorageError)):
        return explain(error, words)
    from cc_bot.storage.engines import dialect_of, named_beside, shown  # noqa: PLC0415 - rarely needed

    url = str(error.params["path"]) if config is None or stopped else config.database_url
    cause = error.__cause__ if stopped else error
    trouble = cause if isinstance(cause, StorageError) else StorageError()
    on_server = dialect_of(url) != "sqlite"
    where = url if stopped else shown(url) if on_server else named_beside(url)
    problem = storage_problem(trouble, where, words.storage, on_server=on_server)
    return f"{problem} {explain(error, words)}" if stopped else problem


def _parser(all_texts: Texts) -> argparse.ArgumentParser:
    words = all_texts.cli
    parser = argparse.ArgumentParser(prog="cc-bot", description=words.description)
    parser.add_argument("--version", action="version", version=f"cc-bot {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help=words.run, description=words.run)
    for option, (_, example) in SHARD_OPTIONS.items():
        run.add_argument(option, metavar=example, help=words.run_shards)
    chat = commands.add_parser("chat", help=words.chat, description=words.chat)
    snowflake = whole_number(0, 2**63, words.no_id)
    chat.add_argument("--user", type=snowflake, default=0, metavar="ID", help=words.chat_user)
    chat.add_argument("--channel", type=snowflake, default=0, metavar="ID", help=words.chat_channel)
    chat.add_argument("--agent", metavar="NAME", help=words.chat_agent)
    pages = commands.add_parser("web", help=words.web, description=words.web)
    pages.add_argument("--user", type=snowflake, default=0, metavar="ID", help=words.chat_user)
    add_database_commands(commands, all_texts)
    add_doctor_commands(commands, all_texts)
    return parser


def _run(config: Config, options: argparse.Namespace) -> int:
    # `--version` and `--help` answer without any of this, and a command without what others need.
    from cc_bot.log import configure_logging  # noqa: PLC0415

    match options.command:
        case "run":
            from cc_bot.app.discord import run_discord  # noqa: PLC0415

            configure_logging(config.log_level, config.log_format)
            asyncio.run(run_discord(config, say_in_passing))
        case "chat":
            from cc_bot.app.terminal import run_terminal  # noqa: PLC0415

            configure_logging("error", config.log_format)
            done = asyncio.run(run_terminal(config, options.user, options.channel, options.agent))
            return EXIT_OK if done else EXIT_BROKEN
        case "web":
            from cc_bot.app.web import run_web  # noqa: PLC0415

            configure_logging("warning", config.log_format)
            return EXIT_OK if asyncio.run(run_web(config, options.user, say)) else EXIT_OPERATOR
        case "doctor":
            configure_logging("error", config.log_format)
            return run_doctor_command(config, options)
        case _:
            configure_logging("warning", config.log_format)
            run_database_command(config, options)
    return EXIT_OK


def _open_standard_streams() -> None:
    """Open those that whoever started the program had closed, so that no file of ours gets their numbers, and
    have Japanese come out right whatever the machine's locale says."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < _STANDARD_STREAMS:
        pass
    os.close(descriptor)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - kept
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
