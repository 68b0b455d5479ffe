"""Files that the user names: read for a question or an import, and written without ever replacing one."""

import asyncio
import os
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from cc_bot.regular_file import open_regular
from cc_bot.terminal.context import Chat
from cc_bot.terminal.markdown import one_line

T = TypeVar("T")


async def read_file(chat: Chat, path: str, most_bytes: int) -> bytes | None:
    """Return its first bytes; None when it can't be read, which is said."""
    words = chat.texts.terminal
    try:
        return await asyncio.to_thread(_read, path, most_bytes)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a name that no file can have
        chat.complain(words.file_not_found.format(path=one_line(path)))
    except OSError:
        chat.complain(words.file_not_read.format(path=one_line(path)))
    return None


def _read(path: str, most_bytes: int) -> bytes:
    with open_regular(Path(path).expanduser()) as opened:
        return opened.read(most_bytes)


async def written(chat: Chat, path: str, writing: Awaitable[T]) -> T | None:
    """Return what the writing of files under this path gives; None when it can't be done, which is said."""
    words = chat.texts.terminal
    try:
        return await writing
    except FileExistsError:
        chat.complain(words.file_exists.format(path=one_line(path)))
    except (OSError, ValueError):
        chat.complain(words.file_not_written.format(path=one_line(path)))
    return None


def write_new(path: str, data: bytes, number: int | None = None) -> Path:
    """Write a file for its owner's eyes alone, one of several that are numbered, and return it. Blocks.

    Raises FileExistsError, other OSErrors, and ValueError for a name that no file can have."""
    file = Path(path).expanduser()
    file = file if number is None else file.with_stem(f"{file.stem}-{number}")
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(data)
    return file
