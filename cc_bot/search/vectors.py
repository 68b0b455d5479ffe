"""Embedding vectors and cosine similarity.

Stored as int8 with one scale factor that makes the length 1: a quarter of the encoder's size, with cosines
off in the third decimal. Uses numpy if it is loaded or worth loading; a few hundred vectors take milliseconds
without it.
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
"""A little-endian float32 factor, then an int8 for each dimension."""

_FACTOR: Final = struct.Struct("<f")
FACTOR_BYTES: Final = _FACTOR.size
_MAX_VALUE: Final = 127
_WORTH_LOADING: Final = 4096
"""Vectors from which loading numpy (a tenth of a second) pays off."""
_AT_A_TIME: Final = 1024


def pack(numbers: Sequence[float]) -> Vector:
    """Quantize and normalize. Raises ValueError for a vector without a direction."""
    largest = max(map(abs, numbers), default=0.0)
    if not (math.isfinite(sum(numbers)) and largest > 0):
        raise ValueError("no direction")
    step = largest / _MAX_VALUE
    values = array("b", [round(number / step) for number in numbers])
    return Vector(_FACTOR.pack(1 / math.sqrt(sum(map(mul, values, values)))) + values.tobytes())


def cosines(query: bytes, others: Sequence[bytes]) -> list[float]:
    """Return the cosine of each of the others to the query, from -1 to 1.

    Raises ValueError for bytes that are not vectors of one encoder.
    """
    numpy = _load_numpy(len(others))
    return list(_plain(query, others)) if numpy is None else _with_numpy(numpy, query, others)


def _load_numpy(vectors: int) -> Any:
    """Return numpy if it is loaded, or installed and worth loading for so many vectors; else None."""
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
    """Like `cosines`, in single precision and in batches, which bounds memory.

    einsum runs on this thread only. A matrix product would use all cores, and take several times as long on a
    busy machine.
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
# The interface to a sentence encoder.


class Embedder(Protocol):
    """Vectors of different encoders can't be compared, so each is stored with its `name`."""

    @property
    def name(self) -> str:
        """Model and version; it changes whenever vectors of the same text would."""

    @property
    def usual(self) -> Usual | None:
        """Cosines of unrelated notes, if measured: they improve results for users with few notes."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return a vector for each text, in order. Raises ModelError; no text is logged.

        The first call may take seconds. Never blocks the event loop.
        """

    async def close(self) -> None:
        """Release its resources; not used afterwards."""
