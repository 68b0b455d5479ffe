"""Text that is safe to print: what models, files and users wrote never moves the cursor."""

import re
from typing import Final

# C0 without tab and line feed, DEL, C1 (a terminal takes U+009B for ESC [), and halves of surrogate pairs.
_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    """The text with every control character gone but tab and line feed."""
    return _UNSAFE.sub("", text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 200) -> str:
    """The text on one line of at most `limit` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
