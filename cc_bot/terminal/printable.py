"""Text that is safe to print: what models, files and users wrote never moves the cursor."""

import re
from typing import Final

# C0 without tab and line feed, DEL, C1 (a terminal takes U+009B for ESC [), and halves of surrogate pairs.
_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


# What a screen shows nothing of, or shows elsewhere than it stands: control characters, those that Unicode
# lets a reader ignore (DerivedCoreProperties.txt, Default_Ignorable_Code_Point) or turn, and letters that are
# blank. Variation selectors and joiners belong to kanji and emoji, where they follow one.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
    "|(?<![^\x00-\xff\u2000-\u200f\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0e\U000e0100-\U000e01ef]"
    "|(?<![^\x00-\xff\u2000-\u200f])\u200d"
)


def printable(text: str) -> str:
    """The text with every control character gone but tab and line feed."""
    return _UNSAFE.sub("", text.replace("\r\n", "\n"))


def written_out(text: str) -> str:
    """The text with all that a screen would not show written as its number (⟨U+202E⟩), for whoever must know
    exactly what it says."""
    return _UNSEEN.sub(lambda unseen: f"⟨U+{ord(unseen[0]):04X}⟩", text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 200) -> str:
    """The text on one line of at most `limit` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
