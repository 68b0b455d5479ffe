"""Directions of meaning, and how alike two of them are.

A vector is kept as a byte a dimension and one factor that makes its length 1: a quarter of what an encoder
gives, for cosines that differ in the third decimal. numpy does the arithmetic where it is loaded, or worth
loading; without it a few hundred vectors are a matter of milliseconds all the same.
"""

import math
import struct
import sys
from array import array
from collections.abc import Iterator, Sequence
from operator import mul
from typing import Any, Final, NewType, Protocol

from cc_bot.search.ranking import Usual

Vector = NewType("Vector", bytes)
"""A direction as it is stored: a little-endian float32 factor, then an int8 for each dimension."""

_FACTOR: Final = struct.Struct("<f")
FACTOR_BYTES: Final = _FACTOR.size
_LARGEST: Final = 127
_WORTH_LOADING: Final = 4096
"""So many vectors at a time make up for the tenth of a second that loading numpy takes."""
_AT_A_TIME: Final = 1024


def pack(numbers: Sequence[float]) -> Vector:
    """The direction of these numbers. Raises ValueError where they have none."""
    largest = max(map(abs, numbers), default=0.0)
    if not (math.isfinite(sum(numbers)) and largest > 0):
        raise ValueError("no direction")
    step = largest / _LARGEST
    values = array("b", [round(number / step) for number in numbers])
    return Vector(_FACTOR.pack(1 / math.sqrt(sum(map(mul, values, values)))) + values.tobytes())


def cosines(query: bytes, others: Sequence[bytes]) -> list[float]:
    """The cosine of each of the others to the query: from -1, opposite, to 1, the same.

    Raises ValueError for bytes that are no vectors of one encoder.
    """
    numpy = _load_numpy(len(others))
    return list(_plain(query, others)) if numpy is None else _with_numpy(numpy, query, others)


def _load_numpy(vectors: int) -> Any:
    """numpy, if it is loaded, or installed and worth loading for so many vectors; else None."""
    if "numpy" not in sys.modules and vectors < _WORTH_LOADING:
        return None
    try:
        import numpy  # noqa: PLC0415 - see above
    except ImportError:
        return None
    return numpy


def _parts(vector: bytes) -> "tuple[float, array[int]]":
    if len(vector) <= FACTOR_BYTES:
        raise ValueError("no vector")
    return _FACTOR.unpack_from(vector)[0], array("b", vector[FACTOR_BYTES:])


def _plain(query: bytes, others: Sequence[bytes]) -> Iterator[float]:
    factor, values = _parts(query)
    for other in others:
        its_factor, its_values = _parts(other)
        if len(its_values) != len(values):
            raise ValueError("vectors of two encoders")
        yield factor * its_factor * sum(map(mul, values, its_values))


def _with_numpy(numpy: Any, query: bytes, others: Sequence[bytes]) -> list[float]:
    """The same in single precision, some at a time: what is held beside the vectors has a bound.

    By einsum, which keeps to this thread. A product of matrices would be spread over all cores, and on a
    machine that does something else too, waiting for the slowest takes several times as long.
    """
    if len(query) <= FACTOR_BYTES:
        raise ValueError("no vector")
    if any(len(other) != len(query) for other in others):
        raise ValueError("vectors of two encoders")
    kind = numpy.dtype([("factor", "<f4"), ("values", "i1", (len(query) - FACTOR_BYTES,))])
    asked = numpy.frombuffer(query, kind)[0]
    direction = asked["values"].astype("f4") * asked["factor"]
    found: list[float] = []
    for start in range(0, len(others), _AT_A_TIME):
        rows = numpy.frombuffer(b"".join(others[start : start + _AT_A_TIME]), kind)
        found += (rows["factor"] * numpy.einsum("ij,j->i", rows["values"].astype("f4"), direction)).tolist()
    return found


# ---- embedder --------------------------------------------------------------------------------------------
# The seam to a sentence encoder: what turns a text into the direction of its meaning.


class Embedder(Protocol):
    """An encoder. Vectors of different encoders can't be compared, so each is stored with its `name`."""

    @property
    def name(self) -> str:
        """The name of the model and its version: another name means other vectors of the same text."""

    @property
    def usual(self) -> Usual | None:
        """The cosines of notes that do not answer, if they were measured: with them, the notes of who has but
        a few are told apart too."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Make a vector for each text, in their order. Raises a ModelError; no text reaches the log.

        May take seconds the first time. Never blocks the event loop.
        """

    async def close(self) -> None:
        """Let go of what the encoder holds. It is not used afterwards."""
