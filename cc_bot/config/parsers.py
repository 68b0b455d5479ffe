"""From the text of a setting to its value.

Each raises ValueError, KeyError, OSError or OverflowError for a text that says no such value, and
InvalidSetting where it can say more.
"""

from datetime import timedelta
from pathlib import Path
from typing import get_args
from urllib.parse import urlsplit

import regex  # type: ignore[import-untyped]  # its stubs (types-regex) are not among the dependencies

from cc_bot.config.values import LogFormat, LogLevel, Synchronous
from cc_bot.domain.channel import Reading
from cc_bot.domain.errors import InvalidSetting
from cc_bot.domain.memory import MAX_PINNED
from cc_bot.regular_file import read_regular

_LARGEST = 10**9
"""Of any count or number of seconds: beyond what makes sense, and within what a database and a clock take."""

_MOST_DAYS = 36_500
"""A century: so far back goes any calendar."""


def names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise ValueError
    return names


def user_ids(text: str) -> frozenset[int]:
    """Ids as Discord has them: whole numbers of 64 bits."""
    ids = frozenset(int(name) for name in text.split(",") if name.strip())
    if any(not 0 < user_id < 2**63 for user_id in ids):
        raise ValueError
    return ids


def url_or_none(text: str) -> str | None:
    if text:
        parts = urlsplit(text)
        _ = parts.port  # reading it checks it
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError
    return text or None


def ascii_or_none(text: str) -> str | None:
    """A key goes into an HTTP header."""
    if not text.isascii() or not text.isprintable():
        raise ValueError
    return text or None


def secret_patterns(text: str) -> tuple[str, ...]:
    """The patterns in a file, one a line; blank lines and those that begin with # say nothing."""
    if not text:
        return ()
    lines = read_regular(Path(text)).decode("utf-8-sig").splitlines()
    patterns = []
    for number, line in enumerate(map(str.strip, lines), 1):
        if line and not line.startswith("#"):
            try:
                regex.compile(line)
            except regex.error as error:
                where = f"CC_BOT_SECRET_PATTERNS ({text}:{number})"
                raise InvalidSetting(name=where, expected=r"EMP-\d{6}") from error
            patterns.append(line)
    return tuple(patterns)


def count_or_zero(text: str) -> int:
    number = int(text)
    if not 0 <= number <= _LARGEST:
        raise ValueError
    return number


def count(text: str) -> int:
    number = count_or_zero(text)
    if not number:
        raise ValueError
    return number


def profile_notes(text: str) -> int:
    number = count_or_zero(text)
    if number > MAX_PINNED:
        raise ValueError
    return number


def days(text: str) -> int:
    number = count_or_zero(text)
    if number > _MOST_DAYS:
        raise ValueError
    return number


def positive_seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise ValueError
    return seconds


def duration(text: str) -> timedelta:
    return timedelta(seconds=count_or_zero(text))


def switch(text: str) -> bool:
    return {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}[text.lower()]


def synchronous(text: str) -> Synchronous:
    values: dict[str, Synchronous] = {"normal": "NORMAL", "full": "FULL"}
    return values[text.lower()]


def port_or_none(text: str) -> int | None:
    if text and not 0 < int(text) < 65536:
        raise ValueError
    return int(text) if text else None


def log_format(text: str) -> LogFormat:
    formats: dict[str, LogFormat] = {format_: format_ for format_ in get_args(LogFormat)}
    return formats[text.lower()]


def log_level(text: str) -> LogLevel:
    levels: dict[str, LogLevel] = {level: level for level in get_args(LogLevel)}
    return levels[text.lower()]


def channels(text: str) -> Reading:
    modes: dict[str, Reading] = {mode: mode for mode in get_args(Reading)}
    return modes[text.lower()]
