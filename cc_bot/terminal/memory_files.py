"""Memories in files: `/memory export` and `/memory import`."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from cc_bot.context.attachments import too_large
from cc_bot.context.memory_file import read_memory_file
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import MemoryPaused
from cc_bot.domain.memory import MAX_CONTENT_CHARACTERS
from cc_bot.domain.memory_transfer import MAX_IMPORT_BYTES, ImportPlan, importable_parts
from cc_bot.stores import Stores
from cc_bot.terminal.memory_commands import ExportMemories, ImportMemories
from cc_bot.terminal.person import Person
from cc_bot.terminal.printable import one_line
from cc_bot.terminal.view import View
from cc_bot.texts import Texts
from cc_bot.texts.memory_markdown import to_markdown

EXAMPLES = 5


class MemoryFiles:
    """One user's memories, out into a file and in from one."""

    def __init__(self, stores: Stores, user_id: int, view: View, clock: Clock) -> None:
        self._transfer = stores.memory_transfer
        self._user_id = user_id
        self._view = view
        self._clock = clock

    async def write(self, command: ExportMemories, person: Person) -> None:
        """All memories, as Markdown if the file is called so, else as JSON. No file is ever overwritten."""
        words, now = person.texts, self._clock()
        kept = await self._transfer.everything(self._user_id)
        if not kept:
            self._view.say(words.memory.none)
            return
        day = now.astimezone(person.timezone).date().isoformat()
        path = command.path or f"memories-{day}.json"
        readable = path.lower().endswith((".md", ".markdown"))

        def write() -> None:
            whole = (
                [to_markdown(kept, words, now, person.timezone)] if readable else importable_parts(kept, now)
            )
            _write_new(path, list(whole))

        try:
            await asyncio.to_thread(write)
        except FileExistsError:
            self._view.complain(words.terminal.file_exists.format(path=one_line(path)))
        except (OSError, ValueError):
            self._view.complain(words.terminal.file_not_written.format(path=one_line(path)))
        else:
            told = words.terminal.exported.format(count=len(kept), path=one_line(path))
            self._view.say(told)

    async def read(self, command: ImportMemories, person: Person) -> None:
        """Raises MemoryPaused, AttachmentTooLarge, ImportNotUnderstood, TooManyToImport, TooManyImports,
        TooManyMemories or MemoryFull."""
        if person.settings.memory_paused:
            raise MemoryPaused
        words = person.texts
        try:
            data = await asyncio.to_thread(_read, command.path)
        except FileNotFoundError:
            self._view.complain(words.terminal.file_not_found.format(path=one_line(command.path)))
            return
        except (OSError, ValueError):
            self._view.complain(words.terminal.file_not_read.format(path=one_line(command.path)))
            return
        await self._transfer.admit(self._user_id)
        found = await asyncio.to_thread(read_memory_file, data)
        if command.now:
            plan = await self._transfer.plan(self._user_id, found)
            count = await self._transfer.take(self._user_id, plan.new)
            self._view.say(words.memory_box.imported.format(count=count))
        else:
            self._view.say(plan_text(await self._transfer.plan(self._user_id, found), command.path, words))


def plan_text(plan: ImportPlan, path: str, words: Texts) -> str:
    """What an import would do, with some of what is new, and how to have it done."""
    told, new = words.memory_box, len(plan.new)
    reasons = (
        (plan.secret, told.refused_secret.format(count=plan.secret)),
        (plan.too_long, told.refused_long.format(count=plan.too_long, limit=MAX_CONTENT_CHARACTERS)),
        (plan.empty, told.refused_empty.format(count=plan.empty)),
    )
    refused = " ・ ".join(reason for count, reason in reasons if count)
    lines = [told.import_title, told.import_new.format(count=new).replace("*", "")]
    if plan.known:
        lines.append(told.import_known.format(count=plan.known))
    if refused:
        lines.append(told.import_refused.format(count=plan.refused, reasons=refused))
    if not new:
        return "\n".join((*lines, told.nothing_to_import))
    lines.append(told.examples)
    lines += [f"  {one_line(memory.content, 70)}" for memory in plan.new[:EXAMPLES]]
    lines.append(words.terminal.import_now.format(command=f"/memory import --now {path}"))
    return "\n".join(lines)


def _write_new(path: str, parts: Sequence[str]) -> None:
    """Into a file for its owner's eyes alone, or into several that are numbered.

    Raises FileExistsError, other OSErrors, and ValueError for a name that no file can have.
    """
    file = Path(path).expanduser()
    names = (
        [file] if len(parts) == 1 else [file.with_stem(f"{file.stem}-{n}") for n, _ in enumerate(parts, 1)]
    )
    for name, text in zip(names, parts, strict=True):
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as opened:
            opened.write(text)


def _read(path: str) -> bytes:
    """Raises OSError, ValueError for a name that no file can have, and AttachmentTooLarge."""
    file = Path(path).expanduser()
    if not file.is_file():  # reading from a pipe or a device might never end
        raise FileNotFoundError(path) if not file.exists() else IsADirectoryError(path)
    with file.open("rb") as opened:
        data = opened.read(MAX_IMPORT_BYTES + 1)
    if len(data) > MAX_IMPORT_BYTES:
        raise too_large(MAX_IMPORT_BYTES)
    return data
