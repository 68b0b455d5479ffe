"""What the program stands on: its version, the time zone, the font, the operator's files, the backups."""

import asyncio
import platform
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.charts.drawing import draw
from cc_bot.doctor.findings import Finding, Notes
from cc_bot.domain.canvas import Chart, Series
from cc_bot.domain.errors import StartupError
from cc_bot.domain.locale import Locale
from cc_bot.texts import Texts, explain

OLD: Final = timedelta(days=7)
"""Of a backup: more than a week of conversations would be lost."""


def of_program(version: str, sqlite: str, words: Texts) -> Finding:
    """What is asked first when something is reported."""
    said = words.doctor
    told = said.program.format(version=version, python=platform.python_version(), sqlite=sqlite)
    return Notes("program", said.label_program).ok(told)


def of_timezone(zone: ZoneInfo, now: datetime, words: Texts) -> Finding:
    said = words.doctor
    told = said.timezone_ok.format(zone=zone.key, time=f"{now.astimezone(zone):%Y-%m-%d %H:%M}")
    return Notes("timezone", said.label_timezone).ok(told)


def of_clock_set_ahead(offset: timedelta, words: Texts) -> Finding:
    said = words.doctor
    told = said.clock_set.format(seconds=round(offset.total_seconds()))
    return Notes("clock", said.label_clock).warning(told, said.clock_set_mend)


async def examine_font(locale: Locale, words: Texts) -> Sequence[Finding]:
    """A chart with Japanese in it is drawn: whatever would fail in a conversation fails here."""
    said = words.doctor
    notes = Notes("font", said.label_font)
    if not find_spec("matplotlib"):
        return [notes.ok(said.font_none)]
    chart = Chart("font", "", "bar", ("晴れ", "雨"), (Series("", (2.0, 1.0)),))
    try:
        drawn = await asyncio.to_thread(draw, chart, locale)
    except (ImportError, OSError, RuntimeError):
        drawn = None
    return [notes.ok(said.font_ok) if drawn else notes.failed(said.font_failed, said.font_failed_mend)]


async def examine_operator_file(
    notes: Notes, load: Callable[[], Awaitable[str]], words: Texts
) -> Sequence[Finding]:
    """A file that the operator may write: `load` reads it, and says what is good about it. What is wrong with
    it, its own reader tells."""
    try:
        return [notes.ok(await load())]
    except StartupError as error:
        return [notes.failed(explain(error, words), words.doctor_files.file_mend)]


async def examine_backups(
    folder: Path, newest: Callable[[Path], Path | None], now: datetime, words: Texts
) -> Sequence[Finding]:
    """`newest` names the newest backup in a folder; raises OSError. Its age is that of the file."""
    said = words.doctor_files
    notes = Notes("backups", words.doctor.label_backups)
    try:
        found = await asyncio.to_thread(newest, folder)
        made_s = None if found is None else found.stat().st_mtime
    except FileNotFoundError:
        found = made_s = None
    except OSError:
        told = said.backups_unreadable.format(folder=folder)
        return [notes.warning(told, said.backups_unreadable_mend)]
    if found is None or made_s is None:
        return [notes.warning(said.backups_none.format(folder=folder), said.backups_mend)]
    age = now - datetime.fromtimestamp(made_s, now.tzinfo)
    days = max(age.days, 0)
    if age > OLD:
        return [notes.warning(said.backups_old.format(name=found.name, days=days), said.backups_mend)]
    return [notes.ok(said.backups_ok.format(name=found.name, days=days))]


async def examine_erasures(
    log: Path, unusable: Callable[[], Sequence[Path]], words: Texts
) -> Sequence[Finding]:
    """`unusable` names the records of erasures with which nobody could be erased, or nothing restored."""
    said = words.doctor_files
    notes = Notes("erasures", words.doctor.label_erasures)
    if found := await asyncio.to_thread(unusable):
        names = " ".join(map(str, found))
        return [notes.failed(said.erasures_unusable.format(names=names), said.erasures_mend)]
    there = await asyncio.to_thread(log.exists)
    return [notes.ok(said.erasures_ok if there else said.erasures_none)]
