"""Two hundred thousand texts of times, repeats and what stands around them."""

from itertools import count

import pytest

from tests.domain.spoken import spoken_texts
from tests.domain.test_fuzz import read_all_else, read_times, split_times

TEXTS = 200_000
SHARES = 20


@pytest.mark.parametrize("share", range(SHARES))
def test_raise_nothing_but_what_is_promised(share: int) -> None:
    for number, text in zip(count(), spoken_texts(seed=1 + share, count=TEXTS // SHARES), strict=False):
        read_times(text, number)
        if number % 10 == 0:
            split_times(text, number)
            read_all_else(text, number)
