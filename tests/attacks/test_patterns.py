"""Twenty thousand strings against the patterns of the package, each grown until it would hurt."""

import pytest

from cc_bot.domain.phrase import Phrase
from tests.architecture.patterns import attacks, weakness
from tests.architecture.test_patterns import patterns

INPUTS = 20_000
LENGTHS = (400, 600, 800, 1600, 3200, 6400)
SHARES = 8


@pytest.mark.parametrize("share", range(SHARES))
def test_patterns_grow_with_the_text_alone(share: int) -> None:
    mine = patterns()[share::SHARES]
    of_each = INPUTS // SHARES // len(mine) + 1
    made = [
        (found, attack)
        for found in mine
        for attack in attacks(
            found.pattern, seed=1, count=of_each // 4 if isinstance(found.pattern, Phrase) else 2 * of_each
        )
    ]
    assert len(made) > INPUTS // SHARES // 2
    assert [line for found, attack in made if (line := weakness(found, attack, LENGTHS))] == []
