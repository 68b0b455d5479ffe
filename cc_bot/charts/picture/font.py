"""The Japanese font (IPAexGothic, by its file): how wide it writes, and what it can write.

Asked directly, not through matplotlib's list of the system's fonts, so that a picture looks the same on every
machine. A character without a sign in the font, such as an emoji, would be an empty box: it is left out.
"""

import unicodedata
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from matplotlib.ft2font import FT2Font

SIZE: Final = 20
"""Pixels of an em in the usual size. A phone shows the picture at half its size or less."""


@cache
def path() -> Path:
    """The font's file, which is found without loading its package: that would change all of matplotlib."""
    spec = find_spec("matplotlib_fontja")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("matplotlib_fontja", name="matplotlib_fontja")
    return Path(spec.origin).parent / "fonts" / "ipaexg.ttf"


@cache
def _font() -> FT2Font:
    font = FT2Font(str(path()))
    font.set_size(SIZE, 72)  # 72 to the inch: a point is a pixel
    return font


def width(text: str) -> float:
    """In pixels, at the usual size."""
    return sum(map(_advance, text))


@lru_cache(maxsize=4096)
def _advance(character: str) -> float:
    font = _font()
    advance = font.load_char(ord(character)).linearHoriAdvance / 65536
    font.clear()  # it would keep each glyph that was ever loaded
    return advance


def writable(text: str) -> str:
    """The text on one line, without what the font cannot write."""
    composed = " ".join(unicodedata.normalize("NFC", text).split())
    return " ".join("".join(each for each in composed if _font().get_char_index(ord(each))).split())
