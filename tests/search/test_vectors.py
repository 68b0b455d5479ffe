"""Vectors: what is stored is nearly what was given, and cosines are the same with numpy and without."""

import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.features.memory.search.vectors import compute_cosines, quantize

NUMBERS = st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=8).filter(
    lambda numbers: math.hypot(*numbers) > 0.01
)

NEAR_AND_FAR = """
from cc_bot.features.memory.search.vectors import compute_cosines, quantize
one, other = quantize([1.0, -2.0, 3.0]), quantize([-3.0, 2.0, 1.0])
found = compute_cosines(one, [one, other] * 3000)
print(min(found[::2]), max(found[::2]), min(found[1::2]), max(found[1::2]))
"""


def exact(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / math.hypot(*one) / math.hypot(*other)


class TestVectors:
    @given(NUMBERS, st.lists(NUMBERS, max_size=5))
    def test_keep_the_cosine_to_two_decimals(self, one: list[float], others: list[list[float]]) -> None:
        query, packed = quantize(one), [quantize(other) for other in others]
        found = compute_cosines(query, packed)
        assert found == pytest.approx([exact(one, other) for other in others], abs=0.012)
        assert found == pytest.approx([compute_cosines(query, [other])[0] for other in packed], abs=1e-5)
        assert compute_cosines(query, [query]) == pytest.approx([1], rel=1e-5)

    def test_take_a_byte_a_dimension_and_are_told_from_what_is_none(self) -> None:
        assert len(quantize([0.5] * 512)) == 516
        for numbers in ([], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0]):
            with pytest.raises(ValueError, match="direction"):
                quantize(numbers)
        assert compute_cosines(quantize([1.0, 2.0]), [quantize([1.0, 2.0, 3.0]), b"", b"abcd"]) == [0.0] * 3

    def test_of_thousands_are_compared_some_at_a_time_and_without_numpy_all_the_same(self) -> None:
        for setup in ("import numpy", ""):
            command = [sys.executable, "-c", setup + NEAR_AND_FAR]
            ran = subprocess.run(command, capture_output=True, text=True, check=True)
            found = [float(number) for number in ran.stdout.split()]
            assert found == pytest.approx([1, 1, -2 / 7, -2 / 7], abs=1e-2)
