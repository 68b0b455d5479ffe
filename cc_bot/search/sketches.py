"""Vectors in short: of each number only whether it is positive, so a bit a dimension.

How many bits of two sketches differ tells roughly how near their vectors are, and of a hundred thousand it is
told in some milliseconds. What is near by that is then compared in full.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from itertools import accumulate
from typing import Any, Final

from cc_bot.search.vectors import FACTOR_BYTES, loaded_numpy

_DIGITS: Final = bytes(ord("1") if 0 < byte < 128 else ord("0") for byte in range(256))
"""For an int8 as a byte: the binary digit of its sketch."""


def sketch(vector: bytes) -> bytes:
    """The bits of a vector's numbers, in whole bytes. Empty for an empty vector."""
    digits = vector[FACTOR_BYTES:].translate(_DIGITS)
    return int(digits, 2).to_bytes(_width(vector), "big") if digits else b""


def nearest(query: bytes, sketches: Sequence[bytes], count: int) -> list[tuple[int, int]]:
    """Which of the sketches are nearest to the query's: (which row of those joined, which place in it).

    `sketches` are rows, each some sketches joined; `query` is a vector. Rows of another encoder are left out.
    """
    width, bits = _width(query), sketch(query)
    rows = [(at, row) for at, row in enumerate(sketches) if row and len(row) % width == 0]
    numpy = loaded_numpy(sum(len(row) // width for _, row in rows))
    if numpy is not None and hasattr(numpy, "bitwise_count"):
        return _with_numpy(numpy, bits, rows, count)
    return [(at, place) for _, at, place in nsmallest(count, _plain(bits, rows))]


def _width(vector: bytes) -> int:
    return (len(vector) - FACTOR_BYTES + 7) // 8


def _plain(bits: bytes, rows: Sequence[tuple[int, bytes]]) -> Iterator[tuple[int, int, int]]:
    asked, width = int.from_bytes(bits, "big"), len(bits)
    for at, row in rows:
        for place in range(len(row) // width):
            other = int.from_bytes(row[place * width : (place + 1) * width], "big")
            yield (asked ^ other).bit_count(), at, place


def _with_numpy(
    numpy: Any, bits: bytes, rows: Sequence[tuple[int, bytes]], count: int
) -> list[tuple[int, int]]:
    kind = "u8" if len(bits) % 8 == 0 else "u1"
    asked = numpy.frombuffer(bits, kind)
    differing = [
        numpy.bitwise_count(numpy.frombuffer(row, kind).reshape(-1, len(asked)) ^ asked).sum(1, dtype="i2")
        for _, row in rows
    ]
    if not differing:
        return []
    kept = numpy.concatenate(differing).argsort(kind="stable")[:count].tolist()
    ends = list(accumulate(len(row) // len(bits) for _, row in rows))
    found = []
    for place in kept:
        row = bisect_right(ends, place)
        found.append((rows[row][0], place - (ends[row - 1] if row else 0)))
    return found
