import random
from collections.abc import Iterator
from typing import Final

from tests.domain.phrases import phrases, table

_JAPANESE: Final = table("spoken_japanese").split()
_ENGLISH: Final = phrases(table("spoken_english"))
_SIGNS: Final = (
    *("0", "1", "3", "9", "12", "24", "29", "30", "31", "59", "60", "99", "1999", "2026", "9999"),
    *("10000", "1.5", "*", "* * *", "*/5", "0 9 * * 1-5", "0 0 31 2 *", "L", "#", "-", "/", ":"),
    *("：", ".", ",", "T", "Z", "+09:00", "2026-01-01", "2026-02-30T25:61", "12/3", "2/29"),
    *("18:00", "9:60", " ", "  ", "　", "\n", "\t", "'", "(", "\x00", "９", "㍿", "㋀", "①", "½"),
    *("²", "Ⅻ", "٣", "ﬀ", "\u0301", "\u200d", "😀", "\ud800", "İ", "x"),
)


def spoken_texts(seed: int, count: int) -> Iterator[str]:
    """So many of them; the same ones for the same seed."""
    rng = random.Random(seed)
    for _ in range(count):
        words = rng.choice((_JAPANESE, _ENGLISH, (*_JAPANESE, *_ENGLISH)))
        between = rng.choice(("", "", " ", "の"))
        pieces = rng.choices((*words, *rng.choices(_SIGNS, k=12)), k=rng.randint(1, 9))
        yield between.join(pieces) * rng.choice((1, 1, 1, 1, 1, 2, 5, 30))
