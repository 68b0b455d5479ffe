"""The log of erasures beside the backups: whoever loses the machine still knows who is to be forgotten.

A copy is named after its log's salt, so that the log of another database, or of one that was begun anew,
never takes the place of one that older backups need.
"""

from collections.abc import Iterable
from pathlib import Path

from cc_bot.regular_file import read_regular
from cc_bot.storage.durable import write_over
from cc_bot.storage.erasures import Erasures, Extent, is_first_line, is_outdated, need_usable, read_erasures


def copy_log(log: Path, folder: Path) -> Path:
    """Bring the folder's copy of a log up to date. Raises OSError, or ValueError when it is no log."""
    erasures = read_erasures(log)
    if erasures is None:
        raise FileNotFoundError(log)
    target = folder / copy_name(erasures.extent)
    lines = read_regular(log).splitlines(keepends=True)
    if target.exists():
        known, since = set(lines), erasures.whole_since
        lines += [
            line
            for line in read_regular(target).splitlines(keepends=True)
            if line not in known and not is_first_line(line) and not (since and is_outdated(line, since))
        ]
    write_over(target, b"".join(lines))
    return target


def copy_name(extent: Extent) -> str:
    """What the copy of a log is called."""
    return f"erasures_{extent.name}.jsonl"


def logs_in(folder: Path) -> list[Path]:
    """The copies in a folder, those that were written last first. Raises OSError."""
    paths = folder.glob("erasures_*.jsonl")
    return sorted(paths, key=lambda path: path.stat().st_mtime_ns, reverse=True)


def unusable_logs(log: Path, folder: Path) -> list[Path]:
    """Which of a log and its copies in a folder can't be read, or added to: no erasing would be done with
    such a log, and no restore with such a copy."""
    try:
        copies = logs_in(folder)
    except OSError:
        copies = [folder]  # which is to be told, and is no log
    return [path for path in (log, *copies) if not _is_usable(path)]


def _is_usable(path: Path) -> bool:
    try:
        need_usable(path)
    except (OSError, ValueError):
        return False
    return True


def read_logs(paths: Iterable[Path]) -> tuple[dict[Path, Erasures], list[Path]]:
    """What these logs say, as far as there are any, and those that can't be read."""
    logs, unreadable = dict[Path, Erasures](), list[Path]()
    for path in paths:
        try:
            erasures = read_erasures(path)
        except (OSError, ValueError):
            unreadable.append(path)
        else:
            if erasures:
                logs[path] = erasures
    return logs, unreadable
