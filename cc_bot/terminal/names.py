"""Commands by their Japanese names: those of Discord, and in the same manner what the terminal alone has.

Whoever types Japanese may stay in it; everything after this knows English names alone.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final, get_args

from cc_bot.domain.locale import Locale
from cc_bot.terminal.commands import CommandName
from cc_bot.texts.commands import plainly
from cc_bot.texts.commands.terminal import JAPANESE_NAMES

_WITH_A_WORD: Final = (
    "canvas show",
    "canvas clear",
    "summary delete",
    "settings language",
    "settings timezone",
)
"""Words that commands of one name take."""
_WIDE_SPACE: Final = "\u3000"
_NAME: Final = re.compile(r"[/／](?P<root>\S+)(?P<gap>\s*)(?P<word>\S*)(?P<end>\s*)")


def folded(text: str) -> str:
    """As commands are compared: in half width, and in small letters."""
    return unicodedata.normalize("NFKC", text).casefold()


def english_word(root: str, word: str) -> str:
    """The English for a word after the command of this English name; a word that has none there stays."""
    return _WORDS.get(root, {}).get(folded(word), word)


def in_english(line: str) -> str:
    """The line with a command's English name where it begins with the Japanese one, and spaces in half width
    there; else as it is."""
    found = _NAME.match(line)
    if found is None:
        return line
    typed = folded(found["root"])
    root = _ROOTS.get(typed, typed)
    word = english_word(root, found["word"])
    if (root, word) == (typed, found["word"]):
        return line
    gap, end = (found[each].replace(_WIDE_SPACE, " ") for each in ("gap", "end"))
    return f"/{root}{gap}{word}{end}{line[found.end() :]}"


def _japanese() -> dict[str, str]:
    named = plainly(Locale.JA)
    names: tuple[str, ...] = get_args(CommandName)
    return {name: JAPANESE_NAMES.get(name) or named(name)[1:] for name in (*names, *_WITH_A_WORD)}


def _words(names: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Of each command that has a second word: the English one, by the Japanese."""
    words = dict[str, dict[str, str]]()
    for english, japanese in names.items():
        root, _, word = english.partition(" ")
        if word:
            words.setdefault(root, {})[japanese.partition(" ")[2]] = word
    return words


JAPANESE: Final[Mapping[str, str]] = _japanese()
"""Every command's Japanese name, by its English one; no slash before either."""
_ROOTS: Final[Mapping[str, str]] = {
    japanese.split()[0]: english.split()[0] for english, japanese in JAPANESE.items()
}
_WORDS: Final[Mapping[str, Mapping[str, str]]] = _words(JAPANESE)
