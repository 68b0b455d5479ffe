"""Which backups are kept, and which have had their time.

Only files that are named as cc-bot names them are looked at, and what is deleted of a backup is the copy and
its manifest. The newest is never deleted, however old it is: it is all that there is.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cc_bot.storage.durable import sync_folder
from cc_bot.storage.manifest import manifest_path

_NAME: Final = re.compile(r"sessions_(\d{8}-\d{6})(?:-(\d+))?\.db")
_LEFT_OVER: Final = re.compile(r"\.sessions_\d{8}-\d{6}(?:-\d+)?\.db\.partial(?:-journal)?")
_LEFT_OVER_AFTER: Final = timedelta(days=1)
"""A copy that has been on its way for so long was cut off."""


@dataclass(frozen=True, slots=True, order=True)
class Backup:
    """A backup by its name; later ones are greater."""

    moment: datetime
    """In the time zone of whoever made it, without saying which."""
    number: int
    """Of those of one second."""
    path: Path


@dataclass(frozen=True, slots=True)
class Rotation:
    """How many are kept and for how long: what either of the two lets go is deleted. None: no bound."""

    keep: int | None = None
    days: int | None = None

    def outdated(self, backups: Sequence[Backup], now: datetime) -> list[Backup]:
        """Which of these have had their time; never the newest."""
        newest_first = sorted(backups, reverse=True)
        kept = len(newest_first) if self.keep is None else max(self.keep, 1)
        horizon = None if self.days is None else now.replace(tzinfo=None) - timedelta(days=self.days)
        return [
            backup
            for place, backup in enumerate(newest_first)
            if place > 0 and (place >= kept or (horizon is not None and backup.moment < horizon))
        ]


def backups_in(folder: Path) -> list[Backup]:
    """All in the folder, newest first. Raises OSError."""
    found = list[Backup]()
    for path in folder.iterdir():
        if match := _NAME.fullmatch(path.name):
            with suppress(ValueError):  # the thirteenth month: somebody else's file
                moment = datetime.strptime(match[1], "%Y%m%d-%H%M%S")  # noqa: DTZ007 - the name says no zone
                found.append(Backup(moment, int(match[2] or 1), path))
    return sorted(found, reverse=True)


def rotate(
    folder: Path, rotation: Rotation, now: datetime, *, made: Path, database: Path | None = None
) -> tuple[Path, ...]:
    """Delete what has had its time, oldest first, and return it; never the one that was just made, nor the
    database, which is named like a backup where somebody looks into one.

    What is left of copies that were cut off goes as well. Raises OSError.
    """
    live = database.resolve() if database else None
    backups = [each for each in backups_in(folder) if each.path.resolve() != live]
    outdated = [backup.path for backup in rotation.outdated(backups, now) if backup.path != made]
    for path in reversed(outdated):
        path.unlink(missing_ok=True)
        manifest_path(path).unlink(missing_ok=True)
    for path in _left_over(folder, now):
        path.unlink(missing_ok=True)
    sync_folder(folder)
    return tuple(reversed(outdated))


def _left_over(folder: Path, now: datetime) -> list[Path]:
    horizon = (now - _LEFT_OVER_AFTER).timestamp()
    found = list[Path]()
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # that of a backup which has its name by now
            if _LEFT_OVER.fullmatch(path.name) and path.stat().st_mtime < horizon:
                found.append(path)
    return found
