"""The commands for the database file: copied, brought up to date."""

from collections.abc import Callable
from pathlib import Path

from cc_bot.app.clocks import clock_of
from cc_bot.config import Config
from cc_bot.storage.backup import BackupResult, Rotation, back_up
from cc_bot.storage.engines import file_of, open_database
from cc_bot.storage.manifest import Progress, ignore_progress
from cc_bot.storage.migrate import Migration, apply_pending, list_pending


async def run_backup(
    config: Config, folder: Path, rotation: Rotation = Rotation(), progress: Progress = ignore_progress
) -> BackupResult:
    """Copy the database into the folder, and delete what has had its time there."""
    now = clock_of(config)().astimezone(config.timezone)
    database = file_of(config.database_url, "backup")
    return await back_up(database, folder, now, rotation=rotation, progress=progress)


async def run_migrate(config: Config, announce: Callable[[Migration], None]) -> tuple[Migration, ...]:
    """Announce what is pending, then apply it."""
    async with open_database(config.database_url, synchronous=config.synchronous) as database:
        for migration in await list_pending(database):
            announce(migration)
        return await apply_pending(database, clock=clock_of(config))
