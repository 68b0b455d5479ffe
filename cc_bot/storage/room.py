"""Room on the disk, looked for before a file is written: a full disk stops the bot as well."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from cc_bot.domain.errors import NotEnoughRoom
from cc_bot.storage.rewriting import free_bytes

_MARGIN_BYTES: Final = 2**24
"""What stays free for the bot, which goes on writing meanwhile."""


def need_room(folder: Path, size: int, *, free: Callable[[Path], int] = free_bytes) -> None:
    """See that so many bytes can be written and some are left. Raises NotEnoughRoom or OSError."""
    found, needed = free(folder), size + _MARGIN_BYTES
    if found < needed:
        raise NotEnoughRoom(path=str(folder), needed=_megabytes(needed), free=_megabytes(found))


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"
