"""The scores of all notes of a user, added up side by side.

A score is a whole number, and the tally holds its binary digits: the first integer has the last digit of
every note's score, the next one the digit before, and so on. To add a weight to thousands of notes is then a
handful of operations on whole integers, however many notes have the term; and the best are found digit by
digit, without looking at any note.
"""

from collections.abc import Mapping
from typing import Final

from cc_bot.stores.memory_places import latest

_GREATEST: Final = 63
"""The weight of the weightiest term as a whole number; fine enough to choose some dozens of candidates by."""


class Tally:
    """What each place has scored. Sets of places are integers, see memory_places."""

    def __init__(self) -> None:
        self._digits: list[int] = []
        self.scored = 0
        """The places that have scored at all."""

    def add(self, places: int, weight: int) -> None:
        self.scored |= places
        for digit in range(weight.bit_length()):
            if weight >> digit & 1:
                self._carry(places, digit)

    def best(self, number: int, among: int) -> int:
        """The places with the greatest scores among these; of equal ones the greatest place, the latest."""
        chosen, count = 0, 0
        for digit in reversed(self._digits):
            greater = among & digit
            if not greater:
                continue
            more = greater.bit_count()
            if count + more >= number:
                among = greater
            else:
                chosen |= greater
                count += more
                among ^= greater
        return chosen | latest(among, number - count)

    def _carry(self, carried: int, digit: int) -> None:
        while carried:
            if digit >= len(self._digits):
                self._digits += [0] * (digit + 1 - len(self._digits))
            before = self._digits[digit]
            self._digits[digit] = before ^ carried
            carried &= before
            digit += 1


def tally(found: Mapping[str, int], weights: Mapping[str, float]) -> Tally:
    """The sum of the weights of the terms that each place has; `found` says of each term which have it."""
    scores = Tally()
    greatest = max(weights.values(), default=0.0)
    for term, weight in weights.items():
        if weight > 0 and (places := found.get(term, 0)):
            scores.add(places, max(round(weight / greatest * _GREATEST), 1))
    return scores
