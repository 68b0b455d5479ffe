"""What each kanji, and each word with a reading of its own, may be read as.

The table is a text file beside this module. A line is a kanji and its readings, the commonest first:
on readings in katakana, kun readings in hiragana, a kun reading that only stands before okurigana (食 in
食べる) with a hyphen at its end. A line that begins with several characters is a word whose reading is not
made of theirs (今日 きょう). The file is written by hand: the jōyō readings are an official list
(常用漢字表), and the rest is everyday knowledge.

Every reading is one shared value, which keeps the whole table at some 1.2 MB.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final, Literal, NamedTuple

Kind = Literal["on", "kun", "word", "kana"]

_TO_HIRAGANA: Final = {katakana: katakana - 0x60 for katakana in range(ord("ァ"), ord("ヶ") - 1)}


class Reading(NamedTuple):
    """One way to read a kanji or a word, in hiragana; a stem is whole only with the kana that follow it."""

    kana: str
    kind: Kind
    stem: bool = False


@dataclass(frozen=True, slots=True)
class KanjiTable:
    """Readings of single kanji, and of words by their first character; commonest first."""

    kanji: Mapping[str, tuple[Reading, ...]]
    words: Mapping[str, tuple[tuple[str, tuple[Reading, ...]], ...]]


def hiragana(text: str) -> str:
    """The text with its katakana as hiragana; everything else, and the long vowel sign, as it is."""
    return text.translate(_TO_HIRAGANA)


@lru_cache(maxsize=1)
def kanji_table() -> KanjiTable:
    """The table of this package, read when it is first asked for (some 20 ms), and kept."""
    return parse_table(table_lines())


def table_lines() -> list[str]:
    """The lines of the table's file."""
    file = files("cc_bot.search").joinpath("kanji_readings.txt")
    return file.read_text(encoding="utf-8").splitlines()


def parse_table(lines: Iterable[str]) -> KanjiTable:
    """The table that the lines write down; empty lines and those that begin with # say nothing."""
    shared: dict[Reading, Reading] = {}
    kanji: dict[str, tuple[Reading, ...]] = {}
    words: dict[str, tuple[tuple[str, tuple[Reading, ...]], ...]] = {}
    for line in lines:
        written, *spellings = line.split() or ["#"]
        if written.startswith("#"):
            continue
        found = [_reading(spelling, of_word=len(written) > 1) for spelling in spellings]
        readings = tuple(shared.setdefault(reading, reading) for reading in found)
        if len(written) > 1:
            words[written[0]] = (*words.get(written[0], ()), (written, readings))
        else:
            kanji[written] = readings
    return KanjiTable(kanji, words)


def _reading(spelling: str, *, of_word: bool) -> Reading:
    if of_word:
        return Reading(spelling, "word")
    kana = hiragana(spelling)
    if kana != spelling:
        return Reading(kana, "on")
    return Reading(kana.removesuffix("-"), "kun", stem=kana.endswith("-"))
