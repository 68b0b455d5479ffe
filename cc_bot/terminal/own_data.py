"""What is stored about whoever sits at the terminal: `/privacy`."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from cc_bot.domain.clock import utc_now
from cc_bot.privacy import Privacy
from cc_bot.terminal.commands import ErasePrivacy, ExportPrivacy, ShowPrivacy
from cc_bot.terminal.person import Person
from cc_bot.terminal.printable import one_line
from cc_bot.terminal.view import View


class OwnData:
    def __init__(self, privacy: Privacy, user_id: int, view: View, forget_typed: Callable[[], None]) -> None:
        """`forget_typed` takes back what the input line keeps of what was typed."""
        self._privacy = privacy
        self._user_id = user_id
        self._view = view
        self._forget_typed = forget_typed

    async def run(self, command: ShowPrivacy | ExportPrivacy | ErasePrivacy, person: Person) -> None:
        """Raises StorageError."""
        match command:
            case ShowPrivacy():
                held = await self._privacy.overview(self._user_id)
                words = person.texts.privacy
                self._say(words.overview(held, self._privacy.retention, person.timezone))
            case ExportPrivacy(path):
                await self._export(path, person)
            case ErasePrivacy(now):
                await self._erase(person, now=now)

    async def _erase(self, person: Person, *, now: bool) -> None:
        words = person.texts.privacy
        if now:
            told = words.told(await self._privacy.erase(self._user_id))
            self._forget_typed()
            self._say(told)
            return
        held = await self._privacy.overview(self._user_id)
        if held.nothing_to_erase:
            self._say(words.nothing_to_erase(held))
        else:
            self._say(f"{words.asked(held)}\n{words.erase_now.format(command='/privacy erase --now')}")

    async def _export(self, given: str | None, person: Person) -> None:
        """Into one file, or several that are numbered, for their owner's eyes alone. None is overwritten."""
        words, day = person.texts, utc_now().astimezone(person.timezone).date().isoformat()
        path = given or f"cc-bot-{day}.json"
        try:
            written = await _write_new(path, self._privacy.export(self._user_id))
        except FileExistsError:
            self._view.complain(words.terminal.file_exists.format(path=one_line(path)))
        except (OSError, ValueError):
            self._view.complain(words.terminal.file_not_written.format(path=one_line(path)))
        else:
            told = words.privacy.written.format(path=one_line(", ".join(map(str, written))))
            self._say(told if written else words.privacy.nothing)

    def _say(self, text: str) -> None:
        """Without the marks of small print and weight that Discord shows them by."""
        self._view.say("\n".join(line.removeprefix("-# ").replace("**", "") for line in text.split("\n")))


async def _write_new(path: str, parts: AsyncIterator[bytes]) -> list[Path]:
    """The files that were written. Raises FileExistsError, other OSErrors, and ValueError for a name that no
    file can have."""
    written = list[Path]()
    async for part in parts:
        written.append(await asyncio.to_thread(_write, path, len(written) + 1, part))
    return written


def _write(path: str, number: int, data: bytes) -> Path:
    file = Path(path).expanduser()
    if number > 1:
        file = file.with_stem(f"{file.stem}-{number}")
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(data)
    return file
