"""Copies of the database that stand beside it, and how long they do.

A start keeps one before an upgrade (`sessions.before-v16.db`), a restore the database that it replaced
(`sessions.replaced-20261122-041500.db`). They help whoever finds out soon that something went wrong. After
that they are only what was said once, of people too who have been forgotten since; so they have an end.
"""

import glob
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.storage.durable import sync_folder

_LEFT_OVER_AFTER: Final = timedelta(days=1)
"""What has been on its way for so long was cut off."""
_BACKUP: Final = re.compile(r"sessions_(\d{8}-\d{6})(?:-\d+)?\.db")


def copies_of(database: Path) -> list[Path]:
    """All of them, with what SQLite keeps beside each, and what is left of one that was cut off."""
    return [path for path, _ in _copies(database)]


def leftovers_of(database: Path) -> list[Path]:
    """The folders of restores that were cut off."""
    return sorted(database.parent.glob(f".{glob.escape(database.name)}.restoring-*"))


def delete_old_copies(database: Path, now: datetime, days: int, zone: ZoneInfo) -> tuple[Path, ...]:
    """Delete those that were made more than `days` days ago (0: none of them), and what a kill left of one a
    day ago; what was deleted. `zone` is the one that their names are in. Raises OSError."""
    horizon = None if days == 0 else now - timedelta(days=days)
    cut_off = now - _LEFT_OVER_AFTER
    doomed = list[Path]()
    for path, named in _copies(database):
        last = cut_off if path.name.startswith(".") else horizon
        if last is not None and _made_at(path, named, zone) < last:
            doomed.append(path)
    doomed += [path for path in leftovers_of(database) if _changed_at(path, zone) < cut_off]
    for path in doomed:
        with suppress(FileNotFoundError):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if doomed:
        sync_folder(database.parent)
    return tuple(doomed)


@dataclass(frozen=True, slots=True)
class Copies:
    """Where copies of a database are known to be."""

    database: Path
    backups: Path
    """A folder, which need not be there."""
    zone: ZoneInfo
    """That their names tell moments in."""

    def oldest(self) -> datetime | None:
        """When the oldest was made, of those beside the database and of whatever is a database in the folder
        of the backups. None where there is none. Raises OSError."""
        made = [_made_at(path, named, self.zone) for path, named in _copies(self.database)]
        with suppress(FileNotFoundError):
            for path in self.backups.glob("*.db"):
                if path.resolve() != self.database.resolve():
                    match = _BACKUP.fullmatch(path.name)
                    made.append(_made_at(path, match[1] if match else None, self.zone))
        return min(made, default=None)


def _copies(database: Path) -> Iterator[tuple[Path, str | None]]:
    """Each with the moment that its name tells, if it tells one."""
    pattern = re.compile(
        rf"\.?{re.escape(database.stem)}\.(?:before-v\d+|replaced-(\d{{8}}-\d{{6}}))(?:-\d+)?"
        r"\.db(?:\.partial)?(?:-wal|-shm|-journal)?"
    )
    with suppress(FileNotFoundError):  # no folder, no copies
        for path in sorted(database.parent.iterdir()):
            if (match := pattern.fullmatch(path.name)) and path.is_file():
                yield path, match[1]


def _made_at(path: Path, named: str | None, zone: ZoneInfo) -> datetime:
    """A replaced database was last changed when somebody wrote to it, maybe long before it was replaced."""
    if named:
        with suppress(ValueError):  # the thirteenth month
            return datetime.strptime(named, "%Y%m%d-%H%M%S").replace(tzinfo=zone)
    return _changed_at(path, zone)


def _changed_at(path: Path, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, zone)
