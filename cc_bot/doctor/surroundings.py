"""The ground that the program stands on: version, time zone, font, the operator's files, backups."""

import asyncio
import io
import os
import platform
import wave
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.charts import draw
from cc_bot.doctor.checkup import Finding, FindingWriter
from cc_bot.domain.canvas import Chart, Series
from cc_bot.domain.errors import (
    CcBotError,
    DocumentsNotConfined,
    InputError,
    PageError,
    PagesNotConfined,
    SearchFailed,
    SearchFormatOff,
    StartupError,
)
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Attachment
from cc_bot.domain.text import format_size
from cc_bot.internet.addresses import parse_address
from cc_bot.internet.turn import PageSource, SearchService, can_read_pages
from cc_bot.llm.speech import Speaker, Transcriber
from cc_bot.reading.reader import READ_BY_EXTRA, DocumentReader
from cc_bot.search.vectors import Embedder
from cc_bot.storage.backup import backups_in
from cc_bot.storage.erasures import find_unreadable_logs, logs_in
from cc_bot.storage.examination import Condition, Examination, examine
from cc_bot.storage.files import sidecar
from cc_bot.storage.rewriting import free_bytes
from cc_bot.texts import Texts, explain

OLD: Final = timedelta(days=7)
"""Of a backup: more than a week of conversations would be lost."""


def check_program(version: str, sqlite: str, words: Texts) -> Finding:
    """Return the versions, which are asked first when something is reported."""
    said = words.doctor
    told = said.program.format(version=version, python=platform.python_version(), sqlite=sqlite)
    return FindingWriter("program").ok(told)


def check_timezone(zone: ZoneInfo, now: datetime, words: Texts) -> Finding:
    said = words.doctor
    told = said.timezone_ok.format(zone=zone.key, time=f"{now.astimezone(zone):%Y-%m-%d %H:%M}")
    return FindingWriter("timezone").ok(told)


def check_clock_set_ahead(offset: timedelta, words: Texts) -> Finding:
    said = words.doctor
    told = said.clock_set.format(seconds=round(offset.total_seconds()))
    return FindingWriter("clock").warning(told, said.clock_set_mend)


PAGE: Final = "https://example.com/"
"""Kept up by IANA for such uses."""
SEARCHED: Final = "cc-bot"
_VARIABLES: Final = {"searxng": "CC_BOT_SEARCH_URL", "brave": "CC_BOT_BRAVE_KEY"}


async def check_font(locale: Locale, words: Texts) -> Sequence[Finding]:
    """Draw a chart with Japanese in it: whatever would fail in a conversation fails here."""
    said = words.doctor
    notes = FindingWriter("font")
    if not find_spec("resvg_py"):
        return [notes.ok(said.font_none)]
    chart = Chart("font", "", "bar", ("晴れ", "雨"), (Series("", (2.0, 1.0)),))
    try:
        drawn = await asyncio.to_thread(draw, chart, locale)
    except (ImportError, OSError, RuntimeError):
        drawn = None
    return [notes.ok(said.font_ok) if drawn else notes.failed(said.font_failed, said.font_failed_mend)]


SMALL_PDF: Final = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 99]/Contents 4 0 R/Resources<</Font<</F<</Type/Font"
    b"/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n4 0 obj<</Length 66>>stream\n"
    b"BT /F 12 Tf 9 50 Td (A page that the checkup has read.) Tj ET      \nendstream endobj\n"
    b"trailer<</Root 1 0 R>>\n%%EOF"
)


SMALL_RTF: Final = rb"{\rtf1 A page.}"


async def check_documents(reader: DocumentReader, words: Texts) -> Sequence[Finding]:
    """Read a PDF: whatever would fail with a user's file fails here."""
    said = words.doctor
    notes = FindingWriter("documents")
    if not all(map(find_spec, READ_BY_EXTRA)):
        return [notes.ok(said.documents_none)]
    try:
        await reader.read(SMALL_PDF)
    except DocumentsNotConfined:  # which `check_sandbox` tells
        return []
    except InputError:
        return [notes.failed(said.documents_failed, said.documents_failed_mend)]
    return [notes.ok(said.documents_ok)]


async def check_sandbox(reader: DocumentReader, words: Texts, *, permitted: bool) -> Sequence[Finding]:
    """Check whether the system confines the process that reads, by reading a document in it. `permitted` says
    whether documents are read even if not."""
    said = words.doctor
    notes = FindingWriter("sandbox")
    try:
        await reader.read(SMALL_RTF)
    except DocumentsNotConfined:
        told = said.sandbox_off if permitted else said.sandbox_none
        return [notes.warning(told, said.sandbox_off_mend if permitted else said.sandbox_none_mend)]
    except InputError:
        return [notes.failed(said.documents_failed, said.documents_failed_mend)]
    return [notes.ok(said.sandbox_ok)]


async def check_reading(
    reader: PageSource | None, words: Texts, *, wanted: bool, page: str = PAGE
) -> Sequence[Finding]:
    """Read a page of the web: whatever would fail in a conversation fails here. Without a `reader` nothing is
    fetched."""
    said = words.doctor
    notes = FindingWriter("reading")
    if not wanted or not can_read_pages():
        return [notes.ok(said.reading_none if wanted else said.reading_off)]
    if reader is None:
        return []
    try:
        await reader.read(parse_address(page), asyncio.Semaphore())
    except PagesNotConfined:  # which `check_sandbox` tells
        return []
    except PageError as error:
        return [notes.warning(explain(error, words), said.reading_failed_mend.format(url=page))]
    return [notes.ok(said.reading_ok)]


async def check_search(services: Sequence[SearchService], words: Texts) -> Sequence[Finding]:
    """Search once with each service: whatever would fail in a conversation fails here."""
    said = words.doctor
    notes = FindingWriter("search")
    if not services:
        return [notes.ok(said.search_none)]
    return [await _check_service(service, notes, words) for service in services]


async def _check_service(service: SearchService, notes: FindingWriter, words: Texts) -> Finding:
    said = words.doctor
    try:
        await service.find(SEARCHED)
    except SearchFormatOff:
        return notes.failed(said.search_format_off, said.search_format_off_mend)
    except SearchFailed:
        mend = said.search_failed_mend.format(variable=_VARIABLES[service.name])
        return notes.failed(said.search_failed.format(name=service.name), mend)
    return notes.ok(said.search_ok.format(name=service.name))


async def check_operator_file(
    notes: FindingWriter, load: Callable[[], Awaitable[str]], words: Texts
) -> Sequence[Finding]:
    """Check a file that the operator may write: `load` reads it, and says what is good about it. What is
    wrong with it, its own reader tells."""
    try:
        return [notes.ok(await load())]
    except StartupError as error:
        return [notes.failed(explain(error, words), words.doctor_files.file_mend)]


async def check_backups(folder: Path, now: datetime, words: Texts) -> Sequence[Finding]:
    """Check the age of the newest backup, which is that of its file."""
    said = words.doctor_files
    notes = FindingWriter("backups")
    try:
        found = next((backup.path for backup in await asyncio.to_thread(backups_in, folder)), None)
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


async def check_erasures(log: Path, backups: Path, words: Texts) -> Sequence[Finding]:
    """Check the record of erasures and its copies: with one that is unusable nobody could be erased, or
    nothing restored."""
    said = words.doctor_files
    notes = FindingWriter("erasures")
    if found := await asyncio.to_thread(_find_unusable_logs, log, backups):
        names = " ".join(map(str, found))
        return [notes.failed(said.erasures_unusable.format(names=names), said.erasures_mend)]
    there = await asyncio.to_thread(log.exists)
    return [notes.ok(said.erasures_ok if there else said.erasures_none)]


def _find_unusable_logs(log: Path, backups: Path) -> list[Path]:
    paths = [*logs_in(log.parent), *logs_in(backups), *([log] if log.exists() else [])]
    unreadable = find_unreadable_logs(paths)
    return [path for path in paths if path in unreadable or not os.access(path, os.W_OK)]


# ---- database --------------------------------------------------------------------------------------------

LEAST_BYTES: Final = 64 * 2**20
"""With less the next days fail."""
WANTED_BYTES: Final = 512 * 2**20
"""Beside twice the database: it is copied before upgrades, and written anew after erasures."""
OTHERS: Final = 0o077


@dataclass(frozen=True, slots=True)
class FilesSide:
    """The files to look at."""

    database: Path
    private: Sequence[Path]
    """Further files that nobody else should read, such as `.env`; those that are there are looked at."""
    free: Callable[[Path], int] = free_bytes


async def check_database(side: FilesSide, words: Texts) -> Sequence[Finding]:
    """Check the file, its schema, its disk and its mode."""
    examined = await asyncio.to_thread(examine, side.database)
    found = [_check_file(side.database, examined, words)]
    if examined.version is not None:
        found += [_check_version(examined, words), *_check_schema(examined, words)]
    if examined.condition != "no_folder":
        found.append(await asyncio.to_thread(_check_disk, side, examined.size_bytes, words))
    if os.name == "posix":
        found.append(await asyncio.to_thread(_check_modes, side, words))
    return found


def _check_file(path: Path, examined: Examination, words: Texts) -> Finding:
    said = words.doctor_files
    notes = FindingWriter("database")
    if examined.condition == "fine":
        return notes.ok(said.database_ok.format(path=path, size=format_size(examined.size_bytes)))
    if examined.condition == "missing":
        return notes.ok(said.database_new.format(path=path))
    if examined.condition == "locked":
        return notes.warning(said.database_locked, said.database_locked_mend)
    wrong: dict[Condition, tuple[str, str]] = {
        "no_folder": (said.database_folder.format(path=path.parent), said.database_folder_mend),
        "foreign": (said.database_foreign.format(path=path), said.database_foreign_mend),
        "damaged": (said.database_damaged.format(path=path), said.database_damaged_mend),
        "read_only": (said.database_read_only.format(path=path), said.database_read_only_mend),
    }
    return notes.failed(*wrong[examined.condition])


def _check_version(examined: Examination, words: Texts) -> Finding:
    said = words.doctor_files
    notes = FindingWriter("migrations")
    version, newest = examined.version or 0, examined.newest
    if version > newest:
        told = said.migrations_newer.format(version=version, newest=newest)
        return notes.failed(told, said.migrations_newer_mend)
    if version < newest:
        told = said.migrations_pending.format(version=version, newest=newest)
        return notes.warning(told, said.migrations_pending_mend)
    return notes.ok(said.migrations_ok.format(version=version))


def _check_schema(examined: Examination, words: Texts) -> Sequence[Finding]:
    """Return nothing where the schema is as the migrations make it."""
    if not examined.mismatch:
        return ()
    said = words.doctor_files
    told = said.schema_changed.format(names=examined.mismatch)
    return (FindingWriter("schema").failed(told, said.schema_changed_mend),)


def _check_disk(side: FilesSide, size_bytes: int, words: Texts) -> Finding:
    said = words.doctor_files
    notes = FindingWriter("disk")
    try:
        free = side.free(next(filter(Path.is_dir, side.database.absolute().parents)))
    except OSError:
        return notes.failed(said.disk_unknown, said.disk_unknown_mend)
    wanted = WANTED_BYTES + 2 * size_bytes
    if free >= wanted:
        return notes.ok(said.disk_ok.format(free=format_size(free)))
    note = notes.failed if free < LEAST_BYTES else notes.warning
    return note(said.disk_low.format(free=format_size(free), wanted=format_size(wanted)), said.disk_low_mend)


def _check_modes(side: FilesSide, words: Texts) -> Finding:
    said = words.doctor_files
    notes = FindingWriter("files")
    own = [sidecar(side.database, end) for end in ("", "-wal", "-shm")]
    open_ = [path for path in (*own, *side.private) if _mode(path) & OTHERS]
    if not open_:
        return notes.ok(said.files_ok)
    names = " ".join(map(str, open_))
    return notes.warning(said.files_open.format(names=names), said.files_open_mend.format(names=names))


def _mode(path: Path) -> int:
    """Return 0 where there is no such file, or where it may not even be looked at."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        return 0


# ---- models ----------------------------------------------------------------------------------------------


async def check_transcriber(transcriber: Transcriber | None, words: Texts) -> Sequence[Finding]:
    """Have a second of silence written down, and close it. Without it the bot works for those who type."""
    said, notes = words.doctor, FindingWriter("hearing")
    if transcriber is None:
        return [notes.ok(said.hearing_none)]
    try:
        await transcriber.transcribe(Attachment("", "audio/wav", _silence()), Locale.EN)
    except CcBotError:
        return [notes.warning(said.hearing_failed.format(name=transcriber.name), said.speech_mend)]
    finally:
        await transcriber.close()
    return [notes.ok(said.hearing_ok.format(name=transcriber.name))]


async def check_speaker(speaker: Speaker | None, words: Texts) -> Sequence[Finding]:
    """Have a word read aloud, and close the speaker."""
    said, notes = words.doctor, FindingWriter("speaking")
    if speaker is None:
        return [notes.ok(said.speaking_none)]
    try:
        await speaker.speak("OK")
    except CcBotError:
        return [notes.warning(said.speaking_failed.format(name=speaker.name), said.speech_mend)]
    finally:
        await speaker.close()
    return [notes.ok(said.speaking_ok.format(name=speaker.name))]


def _silence() -> bytes:
    """A second of it, as a WAV file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16_000)
        sound.writeframes(bytes(32_000))
    return file.getvalue()


async def check_embedder(embedder: Embedder, words: Texts) -> Sequence[Finding]:
    """Check what finds memories by their meaning. Without it search works all the same, by words."""
    said = words.doctor
    notes = FindingWriter("embedder")
    try:
        await embedder.embed(["猫 cat"])
    except CcBotError:
        return [notes.warning(said.embedder_failed.format(name=embedder.name), said.embedder_failed_mend)]
    return [notes.ok(said.embedder_ok.format(name=embedder.name))]
