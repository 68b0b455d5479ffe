"""Text that is safe to print: what models, files and users wrote never moves the cursor, nor does it turn
around what stands after it in the line."""

import re
from typing import Final

# C0 without tab and line feed, DEL, C1 (a terminal takes U+009B for ESC [), and halves of surrogate pairs.
_CONTROLS: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
_TURNS: Final = "\u202a-\u202e\u2066-\u2069"
"""Directions of writing that hold beyond what they are meant for: UAX #9, section 2."""
_UNSAFE: Final = re.compile(f"[{_CONTROLS}{_TURNS}]")


def printable(text: str) -> str:
    """The text with every control character gone but tab and line feed, and without what turns it around."""
    return _UNSAFE.sub("", text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 200) -> str:
    """The text on one line of at most `limit` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
