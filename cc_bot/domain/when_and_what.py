"""A time and what it is for, in one line: `明日9時に薬を飲む`, `tomorrow at 9 take the pills`."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import InputError, NoSuchTime, RepeatNotUnderstood, WhenNotUnderstood
from cc_bot.domain.repeats import parse_schedule
from cc_bot.domain.rhythms import sounds_repeated
from cc_bot.domain.when_words import normalize

LONGEST: Final = 60
"""Characters in which a time is looked for, from either end."""
_ANY_DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)
_JAPANESE: Final = re.compile(r"[ぁ-んァ-ヶ一-龠]")
_LINK: Final = re.compile(
    r"^(?:に?なったら|に|の|は|から|、|,|:|：|\s|(?:to|about|of|that)\s)+|(?<![\s、,])[\s、,]++$",
    re.IGNORECASE,
)
_BETWEEN: Final = re.compile(r"(?:(?<!\s)\s++(?:about|the|of|by|on|please)){1,6}$", re.IGNORECASE)
"""What a time may end with, and does not."""
_GOES_ON: Final = re.compile(
    r"間|中|以|前|過ぎ|すぎ|半|分|末|毎|ごと|おき(?!る)|まで|\d|も"
    r"|[かやと](?=[今明来翌次月火水木金土日朝昼夕夜晩\d])|(?<!\s)\s*+(?:(?:or|and)\b|at \d)|'"
)
"""How what follows a time shows that the time was cut short: `3日`ごと, `1時`間以内, `明日`か明後日."""
_OPEN: Final = re.compile(r"\b(?:or|and|at)$|ご$")
_PART_OF_A_WORD: Final = re.compile(r"(?<![今明毎翌])[朝昼夕夜晩]$|^[月火水木金土日]{2,7}$")
"""As in 昼寝, 夕飯 and 水木さん; 毎朝 is a word of its own."""
_CLOCK: Final = re.compile(r"[時:]")
_CLOCK_FOLLOWS: Final = re.compile(r"\s?\d{1,2}[時:]")
"""`明日 `10時に薬: the hour is part of the time."""
_LINKS: Final = ("に", "の", "は", "、", ",", " ", "　")
_CLINGS: Final = re.compile(r"[\d第隔先毎数約週再:：/.〜~-]$")
"""What a time may not follow: `第3`金曜, `隔週`月曜."""


def split_when(written: str) -> tuple[str, str]:
    """The words that tell when, as many as do, and the others: from the beginning, or else from the end. A
    time is cut out of a word only in Japanese, which has no spaces. Raises WhenNotUnderstood where there is
    no time, and RepeatNotUnderstood where it seems to repeat in a way that no rule reads."""
    text = written.strip()
    for when, what in _parts(text):
        if not _OPEN.search(when) and _says_when(when):
            left = _BETWEEN.sub("", when.rstrip())
            return left.strip(), _LINK.sub("", when[len(left) :] + what)
    if sounds_repeated(normalize(text[:LONGEST])):
        raise RepeatNotUnderstood
    raise WhenNotUnderstood


def _parts(text: str) -> Iterator[tuple[str, str]]:
    ends = [match.start() for match in re.finditer(r"\s|$", text)]
    firsts = [end for end in reversed(ends) if end <= LONGEST]
    if _JAPANESE.search(text):
        firsts += range(min(len(text), LONGEST), 0, -1)
    yield from ((text[:end], text[end:]) for end in firsts if _may_end(text[:end], text[end:]))
    starts = [match.end() for match in re.finditer(r"\s", text)]
    yield from ((text[start:], text[:start]) for start in starts if len(text) - start <= LONGEST)
    if _JAPANESE.search(text):
        yield from (
            (text[at:], text[:at])
            for at in range(max(1, len(text) - LONGEST), len(text))
            if not _CLINGS.search(text[:at])
        )


def _may_end(when: str, what: str) -> bool:
    """Return whether what follows leaves the time as it is."""
    if _PART_OF_A_WORD.search(when) and what and not what.startswith(_LINKS):
        return False
    if _CLOCK_FOLLOWS.match(what) and not _CLOCK.search(when):
        return False
    return _GOES_ON.match(what) is None


def _says_when(words: str) -> bool:
    """Return whether they are a time, or a repeat; also one that is over, too often, several, or in no
    calendar: its user is told so."""
    try:
        parse_schedule(words, "", _ANY_DAY, ZoneInfo("UTC"))
    except NoSuchTime:
        return True
    except (WhenNotUnderstood, RepeatNotUnderstood):
        return False
    except InputError:
        return True
    return True
