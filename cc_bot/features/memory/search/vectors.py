"""Embedding vectors, and how near notes are to a query.

A vector is stored as int8 values and a factor that scales it to length 1. Cosines are exact to two decimals.
"""

import math
import re
import struct
import sys
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import mul
from statistics import fmean
from typing import Any, Final, NewType, Protocol

Vector = NewType("Vector", bytes)  # a little-endian float32 factor, then int8 values

_FACTOR: Final = struct.Struct("<f")
_MAX_VALUE: Final = 127
_BATCH: Final = 1024
_MIN_RELATED_COSINE: Final = 0.25  # texts below this cosine are unrelated
_MAX_UNRELATED_SCORE: Final = 1.0
_MIN_NOTES: Final = 20  # fewer cosines are padded with the cosines of unrelated texts
_HIRAGANA_OR_SIGNS: Final = re.compile(r"[\u3041-\u309fー\W]+")
_HIRAGANA_OR_SIGNS_FACTOR: Final = 0.5


def quantize(numbers: Sequence[float]) -> Vector:
    """Convert a vector. Raises ValueError if it is zero or not finite."""
    largest = max(map(abs, numbers), default=0.0)
    if not (math.isfinite(sum(numbers)) and largest > 0):
        raise ValueError("no direction")
    step = largest / _MAX_VALUE
    values = array("b", [round(number / step) for number in numbers])
    return Vector(_FACTOR.pack(1 / math.sqrt(sum(map(mul, values, values)))) + values.tobytes())


def compute_cosines(query: bytes, others: Sequence[bytes]) -> list[float]:
    """Return each vector's cosine to the query; 0 for a vector of another length. Uses numpy if loaded."""
    comparable = [other for other in others if len(other) == len(query)]
    numpy = sys.modules.get("numpy")  # the local encoder loads it
    compute = _compute_in_python if numpy is None else partial(_compute_in_numpy, numpy)
    found = iter(compute(query, comparable))
    return [next(found) if len(other) == len(query) else 0.0 for other in others]


def _unpack(vector: bytes) -> "tuple[float, array[int]]":
    return _FACTOR.unpack_from(vector)[0], array("b", vector[_FACTOR.size :])


def _compute_in_python(query: bytes, others: Sequence[bytes]) -> Iterator[float]:
    factor, values = _unpack(query)
    for other in others:
        other_factor, other_values = _unpack(other)
        yield factor * other_factor * sum(map(mul, values, other_values))


def _compute_in_numpy(numpy: Any, query: bytes, others: Sequence[bytes]) -> Iterator[float]:
    # Batches limit the memory used. einsum uses one thread; a matrix product would use all cores.
    row = numpy.dtype([("factor", "<f4"), ("values", "i1", (len(query) - _FACTOR.size,))])
    packed = numpy.frombuffer(query, row)[0]
    direction = packed["values"].astype("f4") * packed["factor"]
    for start in range(0, len(others), _BATCH):
        rows = numpy.frombuffer(b"".join(others[start : start + _BATCH]), row)
        yield from (rows["factor"] * numpy.einsum("ij,j->i", rows["values"].astype("f4"), direction)).tolist()


@dataclass(frozen=True, slots=True)
class UnrelatedCosines:
    mean: float
    spread: float  # standard deviation


def score_nearness(
    cosines: Mapping[int, float], *, query: str = "", unrelated: UnrelatedCosines | None = None
) -> dict[int, float]:
    """Return each note's nearness: by how many standard deviations its cosine exceeds the mean.

    `cosines` has all notes of the user. For a user with few notes, `unrelated` is averaged in; without
    `unrelated`, scores are small, and words decide. Scores are halved for queries in hiragana, which encoders
    saw rarely, and for queries without letters: any emoji resembles any food.
    """
    if not cosines:
        return {}
    mean, spread = _mean_and_spread(list(cosines.values()), unrelated)
    has_only_those = _HIRAGANA_OR_SIGNS.fullmatch(unicodedata.normalize("NFKC", query))
    factor = _HIRAGANA_OR_SIGNS_FACTOR if has_only_those else 1.0
    scores = {note: factor * (value - mean) / spread for note, value in cosines.items()}
    return {
        note: score if cosines[note] >= _MIN_RELATED_COSINE else min(score, _MAX_UNRELATED_SCORE)
        for note, score in scores.items()
    }


def _mean_and_spread(values: Sequence[float], unrelated: UnrelatedCosines | None) -> tuple[float, float]:
    mean = fmean(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    notes = len(values)
    if unrelated and notes < _MIN_NOTES:
        missing = _MIN_NOTES - notes
        mean = (mean * notes + unrelated.mean * missing) / _MIN_NOTES
        squares += missing * unrelated.spread**2
        notes = _MIN_NOTES
    return mean, math.sqrt(squares / notes) or 1.0


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """Vectors can only be compared if their encoders have the same name."""

    @property
    def unrelated(self) -> UnrelatedCosines | None:
        """Return the cosines of unrelated texts, for users with few notes."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return a vector for each text, in order; never blocks the event loop. Raises ModelError."""

    async def close(self) -> None:
        pass
