"""Readings of a run of kanji: ししゅう finds 刺繍, and 薄荷 finds はっか.

Joins readings of single kanji with sound changes: がっこう (sokuon), ほんだな (rendaku). A beam search
ranks them, since a dictionary of words would take a hundred megabytes.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from heapq import nsmallest
from importlib.resources import files
from typing import Final, Literal, NamedTuple

from cc_bot.domain.text import hiragana

# Each line of the table is a kanji or irregular word (今日 きょう) and its readings, commonest first: on in
# katakana, kun in hiragana; a final hyphen needs okurigana. The jōyō readings are official (常用漢字表).
Kind = Literal["on", "kun", "word", "kana"]


class Reading(NamedTuple):
    """A reading in hiragana; a `stem` needs okurigana."""

    kana: str
    kind: Kind
    stem: bool = False


@lru_cache(maxsize=1)
def kanji_table() -> Mapping[str, str]:
    """Return the spellings of each entry of the table, read on first use."""
    entries = (line.partition(" ") for line in table_lines() if line and not line.startswith("#"))
    return {written: spellings for written, _, spellings in entries}


def table_lines() -> list[str]:
    file = files("cc_bot.features.memory.search").joinpath("kanji_readings.txt")
    return file.read_text(encoding="utf-8").splitlines()


@lru_cache(maxsize=1024)
def _readings_of(written: str) -> tuple[Reading, ...]:
    """Return an entry's readings, commonest first."""
    return tuple(_reading(each, of_word=len(written) > 1) for each in kanji_table().get(written, "").split())


def _reading(spelling: str, *, of_word: bool) -> Reading:
    if of_word:
        return Reading(spelling, "word")
    kana = hiragana(spelling)
    if kana != spelling:
        return Reading(kana, "on")
    return Reading(kana.removesuffix("-"), "kun", stem=kana.endswith("-"))


_MAX_RUN_LENGTH: Final = 16  # longer ones are never typed in kana
_MAX_WORD_LENGTH: Final = 4  # in the table
_MAX_READINGS: Final = 16
_BEAM_WIDTH: Final = 16  # prefixes kept per character

_VOICED: Final = dict(
    zip("かきくけこさしすせそたちつてとはひふへほ", "がぎぐげござじずぜぞだぢづでどばびぶべぼ", strict=True)
)
_HALF_VOICED: Final = dict(zip("はひふへほ", "ぱぴぷぺぽ", strict=True))
_OBSTRUENTS: Final = frozenset(_VOICED.values())
_K_ROW: Final = frozenset("かきくけこ")
_S_ROW: Final = frozenset("さしすせそ")
_AFTER_SOKUON: Final = frozenset("かきくけこさしすせそたちつてとぱぴぷぺぽ")

# Each further reading of a kanji costs 1.0 more. Two on readings are likelier than two kun, and these
# likelier than a mixture.
_MIXTURE_COST: Final = {("kun", "kun"): 1.0, ("on", "kun"): 2.2, ("kun", "on"): 2.5}
_WHOLE_WORD_COST: Final = -20.0  # words of the table override their kanji
_WORD_COST: Final = -1.0
_ON_SINGLE_COST: Final = 0.5
_ON_BEFORE_KANA_COST: Final = 1.5
_REPEATED_COST: Final = {"kun": -1.5, "on": 0.0}  # 々: 時々 is ときどき, not じじ
_REPEATED_DIFFERENTLY_COST: Final = 4.0

_Prefix = tuple[str, Reading | None]  # the kana so far, and the last reading
_Step = tuple[int, Reading, float]  # characters read, reading, cost


def readings(run: str, limit: int = 8) -> tuple[str, ...]:
    """Return at most `limit` plausible readings of a run in hiragana, best first.

    Kana are read as themselves. There are no readings for an empty run, one of more than 16 characters, or
    unknown characters.
    """
    return _most_plausible(run)[: max(limit, 0)]


@lru_cache(maxsize=512)
def _most_plausible(run: str) -> tuple[str, ...]:
    cost_of: dict[str, float] = {}
    for (text, _), cost in _search_readings(run).items():
        cost_of[text] = min(cost, cost_of.get(text, cost))
    return tuple(sorted(cost_of, key=lambda text: cost_of[text])[:_MAX_READINGS])


def _search_readings(run: str) -> dict[_Prefix, float]:
    if not 0 < len(run) <= _MAX_RUN_LENGTH:
        return {}
    reached: list[dict[_Prefix, float]] = [{} for _ in range(len(run) + 1)]
    reached[0]["", None] = 0.0
    for at in range(len(run)):
        prefixes: Iterable[tuple[_Prefix, float]] = reached[at].items()
        if len(reached[at]) > _BEAM_WIDTH:
            prefixes = nsmallest(_BEAM_WIDTH, prefixes, key=lambda item: item[1])
        for length, reading, step_cost in _steps(run, at) if reached[at] else ():
            costs = reached[at + length]
            for (text, last), cost in prefixes:
                for joined, joint_cost in _join(text, last, reading, repeated=run[at] == "々"):
                    total = cost + joint_cost + step_cost
                    if total < costs.get((joined, reading), total + 1):
                        costs[joined, reading] = total
    return {
        (text, last): cost
        for (text, last), cost in reached[-1].items()
        if not text.endswith("っ") or (last and last.kind == "kana")
    }  # 合 is がっ only before kanji, but 乗っ begins 乗った


def _steps(run: str, at: int) -> Iterator[_Step]:
    """Yield the readings at a position: a word, a kanji, or a kana."""
    for length in range(2, min(len(run) - at, _MAX_WORD_LENGTH) + 1):
        cost = _WHOLE_WORD_COST if length == len(run) else _WORD_COST
        for rank, reading in enumerate(_readings_of(run[at : at + length])):
            yield length, reading, cost + rank
    kanji = run[: at + 1].rstrip("々")[-1:] if run[at] == "々" else run[at]
    yield from _kanji_steps(kanji, single=len(run) == 1, before=run[at + 1 : at + 2])


def _kanji_steps(kanji: str, *, single: bool, before: str) -> Iterator[_Step]:
    okurigana = _is_kana(before)
    costs = {("on", False): 0.0, ("kun", False): 0.0, ("kun", True): 0.0}
    if single or okurigana:
        costs["on", False] = _ON_SINGLE_COST if single else _ON_BEFORE_KANA_COST
    for reading in _readings_of(kanji):
        if reading.stem and before and not okurigana:
            continue
        cost = costs[reading.kind, reading.stem]
        costs[reading.kind, reading.stem] += 1.0
        yield 1, reading, cost
    if _is_kana(kanji):
        yield 1, Reading(hiragana(kanji), "kana"), 0.0


def _join(
    text: str, last: Reading | None, reading: Reading, *, repeated: bool
) -> Iterator[tuple[str, float]]:
    """Yield the joined text in all possible sound changes, with their costs."""
    kana = reading.kana
    if last is None:
        yield text + kana, 0.0
        return
    if "kana" in (last.kind, reading.kind):
        yield from _join_kana(text, last, reading)
        return
    cost = _MIXTURE_COST.get((last.kind, reading.kind), 0.0)
    if repeated:
        cost += _REPEATED_COST.get(reading.kind, 0.0) if reading == last else _REPEATED_DIFFERENTLY_COST
    may_shorten = last.kind == "on" and len(last.kana) > 1
    changes = _join_on(text, kana, may_shorten) if reading.kind == "on" else _join_kun(text, kana)
    for changed, change_cost in changes:
        yield changed, cost + change_cost


def _join_kana(text: str, last: Reading, reading: Reading) -> Iterator[tuple[str, float]]:
    if last.kind == "kana" or not text.endswith("っ"):
        yield text + reading.kana, 0.0
    if last.kind == "on" and text.endswith("つ") and reading.kana[0] in _S_ROW:  # 達する
        yield text[:-1] + "っ" + reading.kana, 0.0
    if reading.kind in ("kun", "word") and _may_be_voiced(reading.kana):
        yield text + _VOICED[reading.kana[0]] + reading.kana[1:], 0.5


def _join_kun(text: str, kana: str) -> Iterator[tuple[str, float]]:
    """Apply rendaku (てがみ), unless a voiced sound follows (Lyman's law: なつかぜ)."""
    if not text.endswith("っ") or kana[0] in _AFTER_SOKUON:
        yield text + kana, 0.3
    if not text.endswith("っ") and _may_be_voiced(kana):
        yield text + _VOICED[kana[0]] + kana[1:], 0.1


def _join_on(text: str, kana: str, may_shorten: bool) -> Iterator[tuple[str, float]]:
    """Join on readings: がく and こう become がっこう, はつ and ひょう はっぴょう."""
    first, rest, end = kana[0], kana[1:], text[-1]
    hard = _HALF_VOICED.get(first, first) + rest
    if end == "っ":  # the reading がっ of 合: 合併 is がっぺい
        if hard[0] in _AFTER_SOKUON:
            yield text + hard, 0.0
        return
    if may_shorten and ((end in "つち" and hard[0] in _AFTER_SOKUON) or (end in "くき" and first in _K_ROW)):
        yield text[:-1] + "っ" + hard, 0.5 if end == "き" else 0.0
    if end == "ん" and first in _HALF_VOICED:
        yield text + hard, 0.0
    yield text + kana, 0.0


def _may_be_voiced(kana: str) -> bool:
    return kana[0] in _VOICED and _OBSTRUENTS.isdisjoint(kana)


def _is_kana(character: str) -> bool:
    return "ぁ" <= character <= "ゔ" or "ァ" <= character <= "ヴ" or character == "ー"
