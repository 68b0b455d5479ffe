"""The day until which a memory holds, as a person writes it."""

import re
import unicodedata
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from cc_bot.domain.errors import EndNotUnderstood

_DAY = re.compile(r"(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})\s*日?")


def parse_end(text: str | None, zone: tzinfo) -> datetime | None:
    """The moment in which that day ends where the user is; None when nothing is written.

    Raises EndNotUnderstood.
    """
    written = unicodedata.normalize("NFKC", text or "").strip()
    if not written:
        return None
    found = _DAY.fullmatch(written)
    if found is None:
        raise EndNotUnderstood
    try:
        day = date(int(found[1]), int(found[2]), int(found[3]))
        return datetime.combine(day + timedelta(days=1), time(), zone).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise EndNotUnderstood from error


def write_end(expires_at: datetime | None, zone: tzinfo) -> str:
    """The last day on which something holds, as `parse_end` reads it; empty when it has no end."""
    if expires_at is None:
        return ""
    return (expires_at.astimezone(zone) - timedelta(microseconds=1)).date().isoformat()
