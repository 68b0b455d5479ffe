"""The database commands: backup, restore, migrate, copy, erasures, wipe."""

import argparse
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from cc_bot.app.cli import ask_consent, say, say_if_possible
from cc_bot.app.database import SOURCE_OPTION, run_apply_erasures, run_copy, run_restore, run_wipe
from cc_bot.config import Config
from cc_bot.db import apply_pending, back_up, list_pending, open_database
from cc_bot.db.backup import Announce, RowCounts
from cc_bot.db.engines import dialect_of, require_file, source_url, without_password
from cc_bot.db.files import URL_SETTING
from cc_bot.db.restore import StagedBackup
from cc_bot.features.privacy.restored import ReappliedErasures
from cc_bot.texts import texts
from cc_bot.texts.cli import BackupTexts, CliTexts


async def _backup(config: Config, options: argparse.Namespace, words: BackupTexts) -> None:
    backup = await back_up(
        require_file(config.database_url, "backup"),
        options.to or config.backup_folder,
        config.clock().astimezone(config.timezone),
        keep=options.keep,
        days=options.keep_days,
        announce=_announcer(words),
    )
    manifest = backup.manifest
    size, counts = f"{manifest.size_bytes / 1024:,.0f} KiB", _counts(manifest.rows)
    say(words.backed_up.format(path=backup.path, size=size, version=manifest.schema_version, **counts))
    if backup.deleted:
        say(words.deleted.format(count=len(backup.deleted)))


async def _restore(config: Config, options: argparse.Namespace, words: BackupTexts) -> None:
    database = config.database_url.removeprefix("sqlite:///")

    def confirm(copy: StagedBackup) -> bool:
        if options.yes:
            return True
        made_at = copy.manifest.made_at.astimezone(config.timezone) if copy.manifest else None
        offer = words.will_be_restored.format(
            path=options.file,
            made_at=f"{made_at:%Y-%m-%d %H:%M}" if made_at else words.unknown_time,
            database=database,
            **_counts(copy.rows),
        )
        return ask_consent(f"{offer}\n{words.origin_unknown}\n{words.confirm}")

    result = await run_restore(
        config, options.file, confirm, _announcer(words), without_erasures=options.without_erasures
    )
    say(words.restored.format(path=options.file, database=database))
    if options.yes:  # otherwise the prompt showed it
        say(words.origin_unknown)
    if result.old_database:
        days = config.retention.copy_days
        say((words.replaced_for_days if days else words.replaced).format(path=result.old_database, days=days))
    if result.reapplied:
        say(words.erased_again.format(**asdict(result.reapplied)))
    if not result.erasures_known:
        say(words.erasures_unknown)


async def _migrate(config: Config, _: argparse.Namespace, _words: BackupTexts) -> None:
    words = texts(config.operator_locale)[CliTexts]
    async with open_database(config.database_url, synchronous=config.synchronous) as database:
        for step in await list_pending(database):
            say_if_possible(words.migration.format(version=step.version, description=step.description))
        applied = await apply_pending(database, clock=config.clock)
    result = words.migrated if applied else words.up_to_date
    say(result.format(path=without_password(config.database_url)))


async def _copy(config: Config, options: argparse.Namespace, words: BackupTexts) -> None:
    url = options.source or config.database_url
    setting = SOURCE_OPTION if options.source else URL_SETTING
    result = await run_copy(
        config, url, options.target, _announcer(words), source_setting=setting, report=_report_rows
    )
    tables = [table for table in result.plan.tables if table.count]
    for table in tables:
        say(words.copied_table.format(name=f"{table.name:<18}", rows=f"{f'{table.count:,}':>12}"))
    say(words.copied_empty.format(count=len(result.plan.tables) - len(tables)))
    source, target = without_password(url), without_password(options.target)
    say(words.copied.format(source=source, target=target, rows=f"{result.plan.row_count:,}"))
    if result.plan.left_out:
        say(words.copied_left_out.format(names=", ".join(result.plan.left_out)))
    if result.reapplied:
        _say_reapplied(result.reapplied, config, words)
    if result.uncopied_files:
        files = ", ".join(map(str, result.uncopied_files))
        say(words.copied_files.format(folder=result.folder, files=files))
    if source_url(config.database_url) != source_url(options.target):
        on_server = dialect_of(options.target) != "sqlite"
        sentence = words.copied_next_server if on_server else words.copied_next
        say(sentence.format(url=target, former=without_password(config.database_url)))


async def _apply_erasures(config: Config, options: argparse.Namespace, words: BackupTexts) -> None:
    result = await run_apply_erasures(config, _announcer(words), tuple(options.files), options.since)
    _say_reapplied(result, config, words)


def _say_reapplied(result: ReappliedErasures, config: Config, words: BackupTexts) -> None:
    since = result.since
    moment = f"{since.astimezone(config.timezone):%Y-%m-%d %H:%M:%S}" if since else words.unknown_moment
    sentence = words.reapplied if result else words.nothing_reapplied
    say(sentence.format(**{**asdict(result), "since": moment}))


async def _wipe(config: Config, options: argparse.Namespace, words: BackupTexts) -> None:
    def confirm(paths: list[Path]) -> bool:
        say_paths = say_if_possible if options.yes else say
        say_paths("\n".join((words.will_be_deleted, *(f"  {path}" for path in paths))))
        return options.yes or ask_consent(words.confirm)

    wiped = await run_wipe(config, confirm)
    if not wiped:
        say(words.nothing_to_wipe.format(path=config.database_url))
        return
    say(words.wiped.format(count=len(wiped)))
    say(words.not_deleted)


def _counts(rows: RowCounts) -> dict[str, int]:
    return {"messages": rows.get("messages", 0), "memories": rows.get("memories", 0)}


async def _report_rows(done: int, total: int) -> None:
    """Print the progress on a line that the next call overwrites."""
    if sys.stdout.isatty():
        say_if_possible(f"\x1b[K  {done:,} / {total:,}\r", end="")


def _announcer(words: BackupTexts) -> Announce:
    return lambda stage: say_if_possible(words.stages[stage])


Command = Callable[[Config, argparse.Namespace, BackupTexts], Coroutine[Any, Any, None]]
COMMANDS: Final[Mapping[str, Command]] = {
    "backup": _backup,
    "restore": _restore,
    "migrate": _migrate,
    "copy": _copy,
    "erasures": _apply_erasures,
    "wipe": _wipe,
}
