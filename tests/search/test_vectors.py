"""Vectors: what is stored is nearly what was given, and cosines are the same with numpy and without."""

import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.search.vectors import cosines, pack

NUMBERS = st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=8).filter(
    lambda numbers: math.hypot(*numbers) > 0.01
)

WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None
from cc_bot.search.vectors import cosines, pack
one, other = pack([1.0, 2.0, 3.0]), pack([3.0, 2.0, 1.0])
print(*cosines(one, [one, other] * 3000)[:2])
"""


def exact(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / math.hypot(*one) / math.hypot(*other)


class TestVectors:
    @given(NUMBERS, NUMBERS)
    def test_keep_the_cosine_to_two_decimals(self, one: list[float], other: list[float]) -> None:
        assert cosines(pack(one), [pack(other)]) == pytest.approx([exact(one, other)], abs=0.012)

    @given(NUMBERS)
    def test_have_length_1_whatever_was_given(self, numbers: list[float]) -> None:
        vector = pack(numbers)
        assert cosines(vector, [vector]) == pytest.approx([1], rel=1e-5)

    def test_take_a_byte_a_dimension(self) -> None:
        assert len(pack([0.5] * 512)) == 516

    @pytest.mark.parametrize("numbers", [[], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0]])
    def test_without_a_direction_are_none(self, numbers: list[float]) -> None:
        with pytest.raises(ValueError, match="direction"):
            pack(numbers)

    @pytest.mark.parametrize("stored", [b"", b"abcd"])
    def test_that_are_damaged_are_told_apart(self, stored: bytes) -> None:
        with pytest.raises(ValueError, match="vector"):
            cosines(stored, [stored])

    def test_of_two_encoders_are_not_compared(self) -> None:
        with pytest.raises(ValueError, match="two encoders"):
            cosines(pack([1.0, 2.0]), [pack([1.0, 2.0, 3.0])])


class TestCosines:
    @given(NUMBERS, st.lists(NUMBERS, max_size=5))
    def test_are_those_of_each(self, one: list[float], others: list[list[float]]) -> None:
        query, packed = pack(one), [pack(other) for other in others]
        alone = [cosine for other in packed for cosine in cosines(query, [other])]
        assert cosines(query, packed) == pytest.approx(alone, abs=1e-5)

    def test_of_thousands_are_computed_some_at_a_time_and_all_the_same(self) -> None:
        one, other = pack([1.0, 2.0, 3.0]), pack([3.0, 2.0, 1.0])
        found = cosines(one, [one, other] * 3000)
        assert found[:2] * 3000 == pytest.approx(found)
        assert found[:2] == pytest.approx([1, 10 / 14], abs=1e-2)

    def test_need_no_numpy(self) -> None:
        ran = subprocess.run(
            [sys.executable, "-c", WITHOUT_NUMPY], capture_output=True, text=True, check=True
        )
        assert [float(number) for number in ran.stdout.split()] == pytest.approx([1, 10 / 14], abs=1e-2)
