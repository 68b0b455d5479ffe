"""The database file, its schema, the room that it has, and who else can read it."""

import asyncio
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from cc_bot.doctor.findings import Finding, Notes
from cc_bot.storage.examination import PATIENCE_S, Condition, Examined, examine
from cc_bot.storage.rewriting import free_bytes
from cc_bot.texts import Texts

LEAST_BYTES: Final = 64 * 2**20
"""With less the next days fail."""
WANTED_BYTES: Final = 512 * 2**20
"""Beside twice the database: it is copied before upgrades, and written anew after erasures."""
OTHERS: Final = 0o077
_SHOWN_NAMES: Final = 5


@dataclass(frozen=True, slots=True)
class FilesSide:
    """What there is to look at on the disk."""

    database: Path
    private: Sequence[Path]
    """Further files that nobody else should read, such as `.env`; those that are there are looked at."""
    free: Callable[[Path], int] = free_bytes
    until_s: float = math.inf
    """When to leave off looking through the file, by `time.monotonic`."""
    patience_s: float = PATIENCE_S
    """With who writes to it."""


async def examine_database(side: FilesSide, words: Texts) -> Sequence[Finding]:
    """The file, its schema, its disk and its mode."""
    look = partial(examine, side.database, patience_s=side.patience_s, until_s=side.until_s)
    examined = await asyncio.to_thread(look)
    found = [_of_file(side.database, examined, words)]
    if examined.version is not None:
        found += [_of_version(examined, words), *_of_schema(examined, words)]
    if examined.condition != "no_folder":
        found.append(await asyncio.to_thread(_of_disk, side, examined.size_bytes, words))
    if os.name == "posix":
        found.append(await asyncio.to_thread(_of_modes, side, words))
    return found


def _of_file(path: Path, examined: Examined, words: Texts) -> Finding:
    said = words.doctor_files
    notes = Notes("database", words.doctor.label_database)
    if examined.condition == "fine" and not examined.thorough:
        told = said.database_unfinished.format(path=path, size=size_of(examined.size_bytes))
        return notes.unfinished("warning", told, words.doctor.unfinished_mend)
    if examined.condition == "fine":
        return notes.ok(said.database_ok.format(path=path, size=size_of(examined.size_bytes)))
    if examined.condition == "missing":
        return notes.ok(said.database_new.format(path=path))
    if examined.condition == "locked":
        return notes.warning(said.database_locked, said.database_locked_mend)
    wrong: dict[Condition, tuple[str, str]] = {
        "no_folder": (said.database_folder.format(path=path.parent), said.database_folder_mend),
        "foreign": (said.database_foreign.format(path=path), said.database_foreign_mend),
        "damaged": (said.database_damaged.format(path=path), said.database_damaged_mend),
        "unsound": (
            said.database_unsound.format(path=path, table=examined.table),
            said.database_unsound_mend,
        ),
        "read_only": (said.database_read_only.format(path=path), said.database_read_only_mend),
    }
    return notes.failed(*wrong[examined.condition])


def _of_version(examined: Examined, words: Texts) -> Finding:
    said = words.doctor_files
    notes = Notes("migrations", words.doctor.label_migrations)
    version, newest = examined.version or 0, examined.newest
    if version > newest:
        told = said.migrations_newer.format(version=version, newest=newest)
        return notes.failed(told, said.migrations_newer_mend)
    if version < newest:
        told = said.migrations_pending.format(version=version, newest=newest)
        return notes.warning(told, said.migrations_pending_mend)
    return notes.ok(said.migrations_ok.format(version=version))


def _of_schema(examined: Examined, words: Texts) -> Sequence[Finding]:
    """Nothing where it is as the migrations make it. What runs goes before what is only there."""
    said = words.doctor_files
    notes = Notes("schema", words.doctor.label_schema)
    running = [each.label for each in examined.deviations if each.runs]
    beside = [each.label for each in examined.deviations if not each.runs]
    found = list[Finding]()
    if running:
        found.append(notes.failed(said.schema_changed.format(names=_few(running)), said.schema_changed_mend))
    if beside:
        found.append(notes.warning(said.schema_more.format(names=_few(beside)), said.schema_more_mend))
    return found


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN_NAMES]) + (" …" if len(names) > _SHOWN_NAMES else "")


def _of_disk(side: FilesSide, size_bytes: int, words: Texts) -> Finding:
    said = words.doctor_files
    notes = Notes("disk", words.doctor.label_disk)
    try:
        free = side.free(next(filter(Path.is_dir, side.database.absolute().parents)))
    except OSError:
        return notes.failed(said.disk_unknown, said.disk_unknown_mend)
    wanted = WANTED_BYTES + 2 * size_bytes
    if free >= wanted:
        return notes.ok(said.disk_ok.format(free=size_of(free)))
    note = notes.failed if free < LEAST_BYTES else notes.warning
    return note(said.disk_low.format(free=size_of(free), wanted=size_of(wanted)), said.disk_low_mend)


def _of_modes(side: FilesSide, words: Texts) -> Finding:
    said = words.doctor_files
    notes = Notes("files", words.doctor.label_files)
    own = [side.database.with_name(side.database.name + end) for end in ("", "-wal", "-shm")]
    open_ = [path for path in (*own, *side.private) if _mode(path) & OTHERS]
    if not open_:
        return notes.ok(said.files_ok)
    names = " ".join(map(str, open_))
    return notes.warning(said.files_open.format(names=names), said.files_open_mend.format(names=names))


def _mode(path: Path) -> int:
    """0 where there is no such file, or where it may not even be looked at."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        return 0


def size_of(count: int) -> str:
    """Bytes, as people say them."""
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count / 1000:.0f} kB"
