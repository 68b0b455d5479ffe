"""Arguments as models write them: also small models, which send a string for a list."""

import re
from datetime import MAXYEAR, datetime, timedelta
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field

from cc_bot.domain.memory import parse_tags
from cc_bot.tools.registry import InvalidToolCall, ToolContext

MAX_RESULTS: Final = 20

_DAY: Final = re.compile(r"\d{4}-?\d{2}-?\d{2}")
_NOTHING: Final = {"", "none", "null", "n/a", "-"}
_NEVER: Final = {"never", "no", "forever"}


def as_list(tags: object) -> object:
    """Small models write `"a, b"` or null where a list is asked for."""
    if tags is None:
        return []
    return list(parse_tags(tags)) if isinstance(tags, str) else tags


def as_text(value: object) -> object:
    """`2026` is meant as "2026"."""
    return str(value) if isinstance(value, int | float) else value


def as_texts(values: object) -> object:
    return [as_text(value) for value in values] if isinstance(values, list) else values


def _in_range(limit: int) -> int:
    return max(1, min(limit, MAX_RESULTS))


def _number(number: object) -> object:
    """`#12` and "12" are meant as 12."""
    if isinstance(number, str) and (digits := re.fullmatch(r"\A\s*+(?:[#＃]\s*+)?(\d{1,18})\s*+", number)):
        return int(digits[1])
    return number


def as_or_none(text: object) -> object:
    return None if isinstance(text, str) and text.strip().casefold() in _NOTHING else text


Tags = Annotated[list[str], BeforeValidator(as_list)]
Limit = Annotated[int, AfterValidator(_in_range)]
MemoryId = Annotated[int, BeforeValidator(_number)]
Superseded = Annotated[
    int | None,
    BeforeValidator(_number),
    BeforeValidator(as_or_none),
]
Expires = Annotated[
    str | None,
    BeforeValidator(as_or_none),
    Field(description="Its last day or time, if it ends: 2026-03-15 or 2026-03-15T18:00."),
]


def end_of(expires: str | None, context: ToolContext) -> datetime | None:
    """When a fact ends: after the day, or at the time that is named, where the user is; None: never.

    Raises InvalidToolCall for what is neither, and for what is over already.
    """
    if expires is None or expires.strip().casefold() in _NEVER:
        return None
    written = expires.strip().replace("/", "-")
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        raise InvalidToolCall("expires: write a date such as 2026-03-15, or 2026-03-15T18:00.") from None
    if moment.year == MAXYEAR:  # how some models write `never`; there is no day after it
        return None
    if _DAY.fullmatch(written):
        moment += timedelta(days=1)
    end = moment if moment.tzinfo else moment.replace(tzinfo=context.timezone)
    if end <= context.clock():
        raise InvalidToolCall("expires: that is in the past. Leave it out, or do not keep the fact.")
    return end
