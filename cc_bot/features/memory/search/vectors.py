"""Embedding vectors, and how near notes are to a query.

Vectors are stored as int8, scaled to length 1, so cosines err in the third decimal. Uses numpy if loaded.
"""

import math
import re
import struct
import sys
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from statistics import fmean
from typing import Any, Final, NewType, Protocol

Vector = NewType("Vector", bytes)  # little-endian float32 scale factor, then int8 values

_FACTOR: Final = struct.Struct("<f")
_MAX_VALUE: Final = 127
_BATCH: Final = 1024
_MIN_RELATED_COSINE: Final = 0.25  # texts below this cosine are unrelated
_MAX_CHANCE_SCORE: Final = 1.0  # greatest nearness below that cosine
_MIN_NOTES: Final = 20  # fewer are padded with cosines of unrelated texts
_ONLY_KANA: Final = re.compile(r"[\u3041-\u309fー\W]+")
_KANA_FACTOR: Final = 0.5


def pack(numbers: Sequence[float]) -> Vector:
    """Quantize and normalize a vector. Raises ValueError if it has no direction."""
    largest = max(map(abs, numbers), default=0.0)
    if not (math.isfinite(sum(numbers)) and largest > 0):
        raise ValueError("no direction")
    step = largest / _MAX_VALUE
    values = array("b", [round(number / step) for number in numbers])
    return Vector(_FACTOR.pack(1 / math.sqrt(sum(map(mul, values, values)))) + values.tobytes())


def cosines(query: bytes, others: Sequence[bytes]) -> list[float]:
    """Return each vector's cosine to the query; 0 if its length differs, as for a text without vector."""
    alike = [other for other in others if len(other) == len(query)]
    numpy = sys.modules.get("numpy")  # the local encoder loads it
    found = iter(_with_python(query, alike) if numpy is None else _with_numpy(numpy, query, alike))
    return [next(found) if len(other) == len(query) else 0.0 for other in others]


def _unpack(vector: bytes) -> "tuple[float, array[int]]":
    return _FACTOR.unpack_from(vector)[0], array("b", vector[_FACTOR.size :])


def _with_python(query: bytes, others: Sequence[bytes]) -> Iterator[float]:
    factor, values = _unpack(query)
    for other in others:
        its_factor, its_values = _unpack(other)
        yield factor * its_factor * sum(map(mul, values, its_values))


def _with_numpy(numpy: Any, query: bytes, others: Sequence[bytes]) -> Iterator[float]:
    """Work in batches, to bound memory. einsum uses one thread, a matrix product all cores."""
    kind = numpy.dtype([("factor", "<f4"), ("values", "i1", (len(query) - _FACTOR.size,))])
    packed = numpy.frombuffer(query, kind)[0]
    direction = packed["values"].astype("f4") * packed["factor"]
    for start in range(0, len(others), _BATCH):
        rows = numpy.frombuffer(b"".join(others[start : start + _BATCH]), kind)
        yield from (rows["factor"] * numpy.einsum("ij,j->i", rows["values"].astype("f4"), direction)).tolist()


@dataclass(frozen=True, slots=True)
class UnrelatedCosines:
    """An encoder's cosines of unrelated texts; `spread` is the standard deviation."""

    mean: float
    spread: float


def nearness(
    cosines: Mapping[int, float], *, query: str = "", unrelated: UnrelatedCosines | None = None
) -> dict[int, float]:
    """Return how much nearer to the query each note is than the user's average note, in standard scores.

    `cosines` are those of all the user's notes. If they are few, `unrelated` is averaged in; without it,
    scores are small, so that words decide. Scores are halved for queries in hiragana, since encoders rarely
    saw 刺繍 as ししゅう, and without letters: any emoji resembles any food.
    """
    if not cosines:
        return {}
    mean, spread = _average(list(cosines.values()), unrelated)
    factor = _KANA_FACTOR if _ONLY_KANA.fullmatch(unicodedata.normalize("NFKC", query)) else 1.0
    scores = {note: factor * (value - mean) / spread for note, value in cosines.items()}
    return {
        note: score if cosines[note] >= _MIN_RELATED_COSINE else min(score, _MAX_CHANCE_SCORE)
        for note, score in scores.items()
    }


def _average(values: Sequence[float], unrelated: UnrelatedCosines | None) -> tuple[float, float]:
    mean = fmean(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    notes = len(values)
    if unrelated and notes < _MIN_NOTES:
        added = _MIN_NOTES - notes
        mean = (mean * notes + unrelated.mean * added) / _MIN_NOTES
        squares += added * unrelated.spread**2
        notes = _MIN_NOTES
    return mean, math.sqrt(squares / notes) or 1.0


class Embedder(Protocol):
    """Makes vectors of texts. Vectors of encoders with different names can't be compared."""

    @property
    def name(self) -> str:
        """A new name means new vectors for the same text."""

    @property
    def unrelated(self) -> UnrelatedCosines | None:
        """Improves results for users with few notes."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return a vector for each text, in order; never blocks the event loop. Raises ModelError."""

    async def close(self) -> None:
        pass
