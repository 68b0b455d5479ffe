"""Which notes of a user have something: sets of places, as bits of an integer and as bytes in the database.

A note that is in the index has a place, a number that counts up from 0 for each user; CHUNK places make a
chunk. A set of places is an integer whose bit n stands for place n: Python joins, cuts and counts a hundred
thousand of them in some microseconds, where a loop over them would take milliseconds.

Stored is, per term and chunk, either a list (two bytes a place, as long as there are few) or the bits.
"""

import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

CHUNK: Final = 4096
CHUNK_BYTES: Final = CHUNK // 8

_MOST_LISTED: Final = 32
"""Places in a list. It could be eight times as long before the bits take less room, but a list is read place
by place, and that is what a search of a user with many notes waits for."""

_NOT_EMPTY: Final = re.compile(rb"[^\0]")


def with_places(stored: bytes, places: Sequence[int]) -> bytes:
    """What is stored, and these places of the chunk (0 to CHUNK - 1), which are not in it yet."""
    if len(stored) != CHUNK_BYTES:
        if len(stored) // 2 + len(places) <= _MOST_LISTED:
            return stored + struct.pack(f"<{len(places)}H", *places)
        places = [*_listed(stored), *places]
        stored = bytes(CHUNK_BYTES)
    bits = bytearray(stored)
    _set(bits, 0, places)
    return bytes(bits)


def without_places(stored: bytes, places: Iterable[int]) -> bytes:
    """What is stored, without these places; empty when none is left."""
    gone = frozenset(places)
    if len(stored) != CHUNK_BYTES:
        left = [place for place in _listed(stored) if place not in gone]
        return struct.pack(f"<{len(left)}H", *left)
    bits = bytearray(stored)
    for place in gone:
        bits[place >> 3] &= ~(1 << (place & 7))
    return bytes(bits) if any(bits) else b""


def gathered(stored: Mapping[int, bytes], chunks: Sequence[int]) -> int:
    """The places of all chunks as one set: those of the first chunk stand from bit 0 on, and so forth."""
    if not stored:
        return 0
    bits = bytearray(len(chunks) * CHUNK_BYTES)
    for index, chunk in enumerate(chunks):
        if part := stored.get(chunk):
            if len(part) == CHUNK_BYTES:
                bits[index * CHUNK_BYTES : (index + 1) * CHUNK_BYTES] = part
            else:
                _set(bits, index * CHUNK_BYTES, _listed(part))
    return int.from_bytes(bits, "little")


def set_of(places: Iterable[int]) -> int:
    """These few places as a set."""
    bits = 0
    for place in places:
        bits |= 1 << place
    return bits


def places_of(bits: int) -> list[int]:
    """The places of a set, the least first."""
    in_bytes = bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    return [
        match.start() * 8 + bit
        for match in _NOT_EMPTY.finditer(in_bytes)
        for bit in range(8)
        if match[0][0] >> bit & 1
    ]


def latest(bits: int, number: int) -> int:
    """The `number` greatest places of a set, or all when it has no more."""
    low, high = 0, bits.bit_length()
    while low < high:
        middle = (low + high) // 2
        if (bits >> middle).bit_count() > number:
            low = middle + 1
        else:
            high = middle
    return bits >> low << low


def _listed(stored: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(stored) // 2}H", stored)


def _set(bits: bytearray, offset: int, places: Iterable[int]) -> None:
    for place in places:
        bits[offset + (place >> 3)] |= 1 << (place & 7)
