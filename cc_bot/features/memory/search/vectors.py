"""Embedding vectors, and how near notes are to a query.

Vectors are stored as int8 with one scale factor that makes the length 1: cosines are off in the third
decimal. numpy is used if it is loaded.
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

Vector = NewType("Vector", bytes)
"""A little-endian float32 factor, then an int8 for each dimension."""

_FACTOR: Final = struct.Struct("<f")
_MAX_VALUE: Final = 127
_AT_A_TIME: Final = 1024
_UNLIKE: Final = 0.25
"""Cosine below which texts are unrelated, for encoders that use the whole scale."""
_NEAR_BY_CHANCE: Final = 1.0
"""Nearness of an unrelated note at most: some note is always the nearest."""
_FEW: Final = 20
"""Smaller sets are padded to this size with the usual cosines."""
_KANA_ALONE: Final = re.compile(r"[\u3041-\u309fー\W]+")
_TRUST_IN_KANA: Final = 0.5


def pack(numbers: Sequence[float]) -> Vector:
    """Quantize and normalize. Raises ValueError for a vector without a direction."""
    largest = max(map(abs, numbers), default=0.0)
    if not (math.isfinite(sum(numbers)) and largest > 0):
        raise ValueError("no direction")
    step = largest / _MAX_VALUE
    values = array("b", [round(number / step) for number in numbers])
    return Vector(_FACTOR.pack(1 / math.sqrt(sum(map(mul, values, values)))) + values.tobytes())


def cosines(query: bytes, others: Sequence[bytes]) -> list[float]:
    """Return the cosine of each of the others to the query; 0 for one of another length, such as that of a
    text that the encoder refused."""
    alike = [other for other in others if len(other) == len(query)]
    numpy = sys.modules.get("numpy")  # the local encoder loads it
    found = iter(_plain(query, alike) if numpy is None else _with_numpy(numpy, query, alike))
    return [next(found) if len(other) == len(query) else 0.0 for other in others]


def _parts(vector: bytes) -> "tuple[float, array[int]]":
    return _FACTOR.unpack_from(vector)[0], array("b", vector[_FACTOR.size :])


def _plain(query: bytes, others: Sequence[bytes]) -> Iterator[float]:
    factor, values = _parts(query)
    for other in others:
        its_factor, its_values = _parts(other)
        yield factor * its_factor * sum(map(mul, values, its_values))


def _with_numpy(numpy: Any, query: bytes, others: Sequence[bytes]) -> Iterator[float]:
    """In batches, to bound memory. einsum runs on this thread alone; a matrix product would use all cores."""
    kind = numpy.dtype([("factor", "<f4"), ("values", "i1", (len(query) - _FACTOR.size,))])
    asked = numpy.frombuffer(query, kind)[0]
    direction = asked["values"].astype("f4") * asked["factor"]
    for start in range(0, len(others), _AT_A_TIME):
        rows = numpy.frombuffer(b"".join(others[start : start + _AT_A_TIME]), kind)
        yield from (rows["factor"] * numpy.einsum("ij,j->i", rows["values"].astype("f4"), direction)).tolist()


@dataclass(frozen=True, slots=True)
class Usual:
    """Cosines of an encoder for unrelated queries and notes; `spread` is the standard deviation."""

    mean: float
    spread: float


def nearness(
    cosines: Mapping[int, float], *, query: str = "", usual: Usual | None = None
) -> dict[int, float]:
    """Return how much nearer to the query each note is than the user's average note, in standard scores.

    `cosines` are those of all the user's notes. If they are few, `usual` is averaged in; without it, they get
    small scores, so that words decide. Queries in hiragana alone count half, since encoders rarely saw 刺繍
    written as ししゅう, and so do queries without letters: to the local encoder any emoji is like any food.
    """
    if not cosines:
        return {}
    mean, spread = _average(list(cosines.values()), usual)
    trust = _TRUST_IN_KANA if _KANA_ALONE.fullmatch(unicodedata.normalize("NFKC", query)) else 1.0
    scores = {note: trust * (value - mean) / spread for note, value in cosines.items()}
    return {
        note: score if cosines[note] >= _UNLIKE else min(score, _NEAR_BY_CHANCE)
        for note, score in scores.items()
    }


def _average(values: Sequence[float], usual: Usual | None) -> tuple[float, float]:
    own = fmean(values)
    squares = math.fsum((value - own) ** 2 for value in values)
    notes = len(values)
    if usual and notes < _FEW:
        added = _FEW - notes
        own = (own * notes + usual.mean * added) / _FEW
        squares += added * usual.spread**2
        notes = _FEW
    return own, math.sqrt(squares / notes) or 1.0


class Embedder(Protocol):
    """Vectors of different encoders can't be compared, so each is stored with its `name`."""

    @property
    def name(self) -> str:
        """Changes whenever vectors of the same text would."""

    @property
    def usual(self) -> Usual | None:
        """Improves results for users with few notes."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return a vector for each text, in order. Raises ModelError. The first call may take seconds; never
        blocks the event loop."""

    async def close(self) -> None:
        pass
