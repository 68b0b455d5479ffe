"""The commands that keep the database: backup, restore, migrate, wipe."""

import argparse
import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cc_bot.cli.saying import agreed, say, whole_number
from cc_bot.config import Config
from cc_bot.texts import Texts, texts
from cc_bot.texts.backup import BackupTexts

if TYPE_CHECKING:  # `--help` answers without them
    from cc_bot.storage.manifest import Rows
    from cc_bot.storage.progress import Progress, Stage
    from cc_bot.storage.restoring import Staged


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", all_texts: Texts) -> None:
    """Have the parser know them."""
    words = all_texts.backup
    count = whole_number(1, 2**31, words.no_count)
    backup = commands.add_parser("backup", help=words.backup, description=words.backup)
    backup.add_argument("--to", type=Path, metavar="DIR", help=words.backup_to)
    backup.add_argument("--keep", type=count, metavar="N", help=words.keep)
    backup.add_argument("--keep-days", type=count, metavar="D", help=words.keep_days)
    restore = commands.add_parser("restore", help=words.restore, description=words.restore)
    restore.add_argument("file", type=_path, metavar="FILE", help=words.restore_file)
    restore.add_argument("--yes", action="store_true", help=words.yes)
    restore.add_argument("--without-erasures", action="store_true", help=words.without_erasures)
    restore.add_argument("--rows-only", action="store_true", help=words.rows_only)
    restore.add_argument("--any-file", action="store_true", help=words.any_file)
    migrate = all_texts.cli.migrate
    commands.add_parser("migrate", help=migrate, description=migrate)
    wipe = commands.add_parser("wipe", help=words.wipe, description=words.wipe)
    wipe.add_argument("--yes", action="store_true", help=words.yes)
    wipe.add_argument("--any-file", action="store_true", help=words.any_file)


def run(config: Config, options: argparse.Namespace) -> None:
    """Run the command that was called. Raises a StartupError."""
    match options.command:
        case "backup":
            _backup(config, options)
        case "restore":
            _restore(config, options)
        case "migrate":
            _migrate(config)
        case "wipe":
            _wipe(config, options)
        case unknown:
            raise AssertionError(unknown)  # argparse lets nothing else through


def _path(text: str) -> Path:
    """Of an empty text Path would make the folder that the program runs in."""
    if not text:
        raise argparse.ArgumentTypeError("''")
    return Path(text)


def _backup(config: Config, options: argparse.Namespace) -> None:
    from cc_bot.app.database import run_backup  # noqa: PLC0415 - see above
    from cc_bot.storage.rotation import Rotation  # noqa: PLC0415 - see above

    words = texts(config.operator_locale).backup
    folder = options.to or config.backup_folder
    rotation = Rotation(options.keep, options.keep_days)
    with _shown(words) as progress:
        made = asyncio.run(run_backup(config, folder, rotation, progress))
    held = made.manifest
    size = f"{held.size_bytes / 1024:,.0f} KiB"
    say(words.backed_up.format(path=made.path, size=size, version=held.schema_version, **_counts(held.rows)))
    if made.deleted:
        say(words.deleted.format(count=len(made.deleted)))


def _restore(config: Config, options: argparse.Namespace) -> None:
    from cc_bot.app.restoring import Wishes, run_restore  # noqa: PLC0415 - see above

    words = texts(config.operator_locale).backup
    database = config.database_url.removeprefix("sqlite:///")

    def confirmed(copy: "Staged") -> bool:
        if options.yes:
            return True
        made_at = copy.manifest.made_at.astimezone(config.timezone) if copy.manifest else None
        offer = words.offer.format(
            path=options.file,
            made_at=f"{made_at:%Y-%m-%d %H:%M}" if made_at else words.unknown_time,
            database=database,
            **_counts(copy.rows),
        )
        return agreed(f"{offer}\n{words.origin}\n{words.go_on}")

    wishes = Wishes(options.file, confirmed, options.without_erasures, options.rows_only, options.any_file)
    with _shown(words) as progress:
        done = asyncio.run(run_restore(config, wishes, progress))
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
            lambda step: say(words.migration.format(version=step.version, description=step.description)),
        )
    )
    done = words.migrated if applied else words.up_to_date
    say(done.format(path=config.database_url))


def _wipe(config: Config, options: argparse.Namespace) -> None:
    from cc_bot.app.restoring import run_wipe  # noqa: PLC0415 - see above

    words = texts(config.operator_locale).backup

    def confirmed(doomed: list[Path]) -> bool:
        say("\n".join((words.doomed, *(f"  {path}" for path in doomed))))
        return options.yes or agreed(words.go_on)

    wiped = asyncio.run(run_wipe(config, confirmed, any_file=options.any_file))
    if not wiped:
        say(words.nothing_to_wipe.format(path=config.database_url))
        return
    say(words.wiped.format(count=len(wiped)))
    say(words.stays)


def _counts(rows: "Rows") -> dict[str, int]:
    """What an operator knows a database by."""
    return {"messages": rows.get("messages", 0), "memories": rows.get("memories", 0)}


@contextmanager
def _shown(words: BackupTexts) -> "Iterator[Progress]":
    """How far the work is: bars on a terminal, and else a line a stage."""
    names = _stages(words)
    if sys.stderr.isatty():
        from cc_bot.terminal.bars import bars  # noqa: PLC0415 - it draws on terminals alone

        with bars(names) as progress:
            yield progress
        return
    last: Stage | None = None

    def progress_by_lines(stage: "Stage", _done: int, _total: int) -> None:
        nonlocal last
        if stage != last and stage in names:
            say(names[stage])
        last = stage

    yield progress_by_lines


def _stages(words: BackupTexts) -> "dict[Stage, str]":
    return {
        "copying": words.copying,
        "checking": words.checking,
        "hashing": words.hashing,
        "upgrading": words.upgrading,
        "erasing": words.erasing,
    }
