"""Reads a file that the user wants to attach."""

from pathlib import Path

from cc_bot.context.attachments import read_attachment
from cc_bot.domain.message import Attachment

MAX_BYTES = 64 * 2**20
"""No more is read of any file; what is that long is refused by `read_attachment`, with a sentence."""


def read_file(path: str) -> Attachment:
    """The file as an attachment; `~` is the home folder. Blocks while it reads.

    Raises OSError when it can't be read, and what `read_attachment` raises when it can't be used.
    """
    file = Path(path).expanduser()
    if not file.is_file():  # reading from a pipe or a device might never end
        raise FileNotFoundError(path) if not file.exists() else IsADirectoryError(path)
    with file.open("rb") as opened:
        data = opened.read(MAX_BYTES)
    return read_attachment(file.name, data)
