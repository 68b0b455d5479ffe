"""Finds how kanji may be read, so that ししゅう finds 刺繍, and 薄荷 finds はっか.

Readings of single kanji are joined, with sound changes: がっこう (sokuon), ほんだな (rendaku). A beam search
finds the likeliest combinations. A dictionary of words would take a hundred megabytes.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from heapq import nsmallest
from importlib.resources import files
from typing import Final, Literal, NamedTuple

from cc_bot.domain.text import hiragana

# Each line of the table is a kanji or an irregular word (今日 きょう) and its readings, commonest first: on
# (Sino-Japanese) readings in katakana, kun (native) ones in hiragana. A final hyphen means that okurigana,
# the kana ending of a word, must follow. The jōyō readings are official (常用漢字表).
Kind = Literal["on", "kun", "word", "kana"]  # kana: a kana of the text, read as itself


class Reading(NamedTuple):
    kana: str  # hiragana
    kind: Kind
    needs_okurigana: bool = False


@lru_cache(maxsize=1)
def load_kanji_table() -> Mapping[str, str]:
    entries = (line.partition(" ") for line in read_table_lines() if line and not line.startswith("#"))
    return {entry: spellings for entry, _, spellings in entries}


def read_table_lines() -> list[str]:
    file = files("cc_bot.features.memory.search").joinpath("kanji_readings.txt")
    return file.read_text(encoding="utf-8").splitlines()


@lru_cache(maxsize=1024)
def _list_readings(entry: str) -> tuple[Reading, ...]:
    spellings = load_kanji_table().get(entry, "").split()
    return tuple(_parse_reading(each, is_word=len(entry) > 1) for each in spellings)


def _parse_reading(spelling: str, *, is_word: bool) -> Reading:
    if is_word:
        return Reading(spelling, "word")
    kana = hiragana(spelling)
    if kana != spelling:
        return Reading(kana, "on")
    return Reading(kana.removesuffix("-"), "kun", needs_okurigana=kana.endswith("-"))


_MAX_RUN_LENGTH: Final = 16
_MAX_WORD_LENGTH: Final = 4  # in the table
_MAX_READINGS: Final = 16
_BEAM_WIDTH: Final = 16  # prefixes to continue at each character

_VOICED: Final = dict(
    zip("かきくけこさしすせそたちつてとはひふへほ", "がぎぐげござじずぜぞだぢづでどばびぶべぼ", strict=True)
)
_HALF_VOICED: Final = dict(zip("はひふへほ", "ぱぴぷぺぽ", strict=True))
_VOICED_OBSTRUENTS: Final = frozenset(_VOICED.values())
_K_ROW: Final = frozenset("かきくけこ")
_S_ROW: Final = frozenset("さしすせそ")
_AFTER_SOKUON: Final = frozenset("かきくけこさしすせそたちつてとぱぴぷぺぽ")

# The likeliest reading has the lowest cost. Each further reading of a kanji costs 1.0 more than the previous.
# Two on readings are likelier than two kun readings, and two kun readings likelier than a mixture.
_MIXTURE_COST: Final = {("kun", "kun"): 1.0, ("on", "kun"): 2.2, ("kun", "on"): 2.5}
_WHOLE_WORD_COST: Final = -20.0  # so that a word of the table overrides the readings of its kanji
_WORD_COST: Final = -1.0
_ON_SINGLE_COST: Final = 0.5
_ON_BEFORE_KANA_COST: Final = 1.5
_REPEATED_COST: Final = {"kun": -1.5, "on": 0.0}  # 々: 時々 is ときどき, not じじ
_REPEATED_DIFFERENTLY_COST: Final = 4.0

_Prefix = tuple[str, Reading | None]  # the kana so far, and the last reading
_Step = tuple[int, Reading, float]  # characters read, their reading, its cost


def find_readings(text: str, limit: int = 8) -> tuple[str, ...]:
    """Return readings in hiragana, likeliest first; none for more than _MAX_RUN_LENGTH characters, or with an
    unknown kanji."""
    return _rank_readings(text)[: max(limit, 0)]


@lru_cache(maxsize=512)
def _rank_readings(run: str) -> tuple[str, ...]:
    costs: dict[str, float] = {}
    for (kana, _), cost in _search_readings(run).items():
        costs[kana] = min(cost, costs.get(kana, cost))
    return tuple(sorted(costs, key=lambda kana: costs[kana])[:_MAX_READINGS])


def _search_readings(run: str) -> dict[_Prefix, float]:
    if not 0 < len(run) <= _MAX_RUN_LENGTH:
        return {}
    prefixes_at: list[dict[_Prefix, float]] = [{} for _ in range(len(run) + 1)]
    prefixes_at[0]["", None] = 0.0
    for at in range(len(run)):
        prefixes: Iterable[tuple[_Prefix, float]] = prefixes_at[at].items()
        if len(prefixes_at[at]) > _BEAM_WIDTH:
            prefixes = nsmallest(_BEAM_WIDTH, prefixes, key=lambda item: item[1])
        for length, reading, step_cost in _list_steps(run, at) if prefixes_at[at] else ():
            costs = prefixes_at[at + length]
            for (kana, last), cost in prefixes:
                for joined, join_cost in _join(kana, last, reading, is_repeated=run[at] == "々"):
                    total = cost + join_cost + step_cost
                    if total < costs.get((joined, reading), total + 1):
                        costs[joined, reading] = total
    # A reading ends in っ only if the text does (乗っ): 合 is がっ only before kanji.
    return {
        (kana, last): cost
        for (kana, last), cost in prefixes_at[-1].items()
        if not kana.endswith("っ") or (last and last.kind == "kana")
    }


def _list_steps(run: str, at: int) -> Iterator[_Step]:
    """Yield the readings of words, kanji or kana at a position."""
    for length in range(2, min(len(run) - at, _MAX_WORD_LENGTH) + 1):
        cost = _WHOLE_WORD_COST if length == len(run) else _WORD_COST
        for rank, reading in enumerate(_list_readings(run[at : at + length])):
            yield length, reading, cost + rank
    character = run[: at + 1].rstrip("々")[-1:] if run[at] == "々" else run[at]
    yield from _list_kanji_steps(character, is_single=len(run) == 1, next_character=run[at + 1 : at + 2])


def _list_kanji_steps(character: str, *, is_single: bool, next_character: str) -> Iterator[_Step]:
    has_okurigana = _is_kana(next_character)
    costs = {("on", False): 0.0, ("kun", False): 0.0, ("kun", True): 0.0}
    if is_single or has_okurigana:
        costs["on", False] = _ON_SINGLE_COST if is_single else _ON_BEFORE_KANA_COST
    for reading in _list_readings(character):
        if reading.needs_okurigana and next_character and not has_okurigana:
            continue
        cost = costs[reading.kind, reading.needs_okurigana]
        costs[reading.kind, reading.needs_okurigana] += 1.0
        yield 1, reading, cost
    if _is_kana(character):
        yield 1, Reading(hiragana(character), "kana"), 0.0


def _join(
    kana_so_far: str, last: Reading | None, reading: Reading, *, is_repeated: bool
) -> Iterator[tuple[str, float]]:
    """Yield the kana with the reading added, once per possible sound change, and its cost."""
    kana = reading.kana
    if last is None:
        yield kana_so_far + kana, 0.0
        return
    if "kana" in (last.kind, reading.kind):
        yield from _join_kana(kana_so_far, last, reading)
        return
    cost = _MIXTURE_COST.get((last.kind, reading.kind), 0.0)
    if is_repeated:
        cost += _REPEATED_COST.get(reading.kind, 0.0) if reading == last else _REPEATED_DIFFERENTLY_COST
    may_shorten = last.kind == "on" and len(last.kana) > 1
    changes = (
        _join_on(kana_so_far, kana, may_shorten) if reading.kind == "on" else _join_kun(kana_so_far, kana)
    )
    for changed, change_cost in changes:
        yield changed, cost + change_cost


def _join_kana(prefix: str, last: Reading, reading: Reading) -> Iterator[tuple[str, float]]:
    if last.kind == "kana" or not prefix.endswith("っ"):
        yield prefix + reading.kana, 0.0
    if last.kind == "on" and prefix.endswith("つ") and reading.kana[0] in _S_ROW:  # 達する
        yield prefix[:-1] + "っ" + reading.kana, 0.0
    if reading.kind in ("kun", "word") and _may_be_voiced(reading.kana):
        yield prefix + _VOICED[reading.kana[0]] + reading.kana[1:], 0.5


def _join_kun(prefix: str, kana: str) -> Iterator[tuple[str, float]]:
    """Apply rendaku (てがみ), unless a voiced sound follows (Lyman's law: なつかぜ)."""
    if not prefix.endswith("っ") or kana[0] in _AFTER_SOKUON:
        yield prefix + kana, 0.3
    if not prefix.endswith("っ") and _may_be_voiced(kana):
        yield prefix + _VOICED[kana[0]] + kana[1:], 0.1


def _join_on(prefix: str, kana: str, may_shorten: bool) -> Iterator[tuple[str, float]]:
    """Join on readings: がく and こう become がっこう, はつ and ひょう はっぴょう."""
    first, rest, end = kana[0], kana[1:], prefix[-1]
    hard = _HALF_VOICED.get(first, first) + rest  # with p for h
    if end == "っ":  # the reading がっ of 合: 合併 is がっぺい
        if hard[0] in _AFTER_SOKUON:
            yield prefix + hard, 0.0
        return
    if may_shorten and ((end in "つち" and hard[0] in _AFTER_SOKUON) or (end in "くき" and first in _K_ROW)):
        yield prefix[:-1] + "っ" + hard, 0.5 if end == "き" else 0.0
    if end == "ん" and first in _HALF_VOICED:
        yield prefix + hard, 0.0
    yield prefix + kana, 0.0


def _may_be_voiced(kana: str) -> bool:
    return kana[0] in _VOICED and _VOICED_OBSTRUENTS.isdisjoint(kana)


def _is_kana(character: str) -> bool:
    return "ぁ" <= character <= "ゔ" or "ァ" <= character <= "ヴ" or character == "ー"
