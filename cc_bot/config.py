"""Every setting, read in one place: the environment, then `.env`, then the default.

Only `cli` and `app` see this module; everything else is handed what it needs.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Literal, TypeVar, get_args
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import regex  # type: ignore[import-untyped]  # its stubs (types-regex) are not among the dependencies
from dotenv import dotenv_values
from dotenv.parser import parse_stream

from cc_bot.domain.channel import Reading
from cc_bot.domain.errors import InvalidSetting
from cc_bot.domain.locale import Locale

Value = TypeVar("Value")

LogLevel = Literal["debug", "info", "warning", "error"]
Synchronous = Literal["NORMAL", "FULL"]

DEFAULT_MODEL = "gpt-5.4-mini"
LOCAL = "local"
"""The sentence encoder that the extra `semantic` installs; none where it is not installed."""
OFF = "off"


@dataclass(frozen=True, slots=True)
class Config:
    """What the operator decided. The names of the variables stand in `.env.example`."""

    discord_token: str | None = field(repr=False)
    discord_api_url: str | None
    openai_api_key: str | None = field(repr=False)
    openai_base_url: str | None
    models: tuple[str, ...]
    """The first is asked; the others are its fallbacks, in order."""
    model_timeout_s: float
    single_system: bool
    database_url: str
    agents_file: Path | None
    """None: `agents.toml` beside the database, if there is one."""
    synchronous: Synchronous
    history_limit: int
    token_budget: int
    block_tokens: int
    cache_control: bool
    summary_every: int
    """Turns; 0: never."""
    summary_models: tuple[str, ...]
    """A chain like `models`."""
    embedding_model: str
    """LOCAL, OFF, or the name of a model at `openai_base_url`."""
    session_ttl: timedelta
    max_turns: int
    secret_patterns: tuple[str, ...]
    """Regular expressions of what is not kept in memories."""
    channels: Reading
    locale: Locale
    """For users whose own language is not known."""
    operator_locale: Locale
    """For whoever sits at the terminal: their system's language, unless CC_BOT_LOCALE is set."""
    timezone: ZoneInfo
    log_level: LogLevel
    test_clock_offset: timedelta
    """For tests of the whole program: how far its clock is ahead."""


def read_config(environ: Mapping[str, str] = os.environ, dotenv: Path = Path(".env")) -> Config:
    """The settings. Raises InvalidSetting for the first one that is not usable."""
    read = _Reader({**_read_dotenv(dotenv), **environ})
    models = read.parsed("CC_BOT_MODEL", DEFAULT_MODEL, _names, example=DEFAULT_MODEL)
    return Config(
        discord_token=read.optional("DISCORD_TOKEN"),
        discord_api_url=read.parsed("DISCORD_API_URL", "", _url_or_none, example="http://localhost/api/v10"),
        openai_api_key=read.parsed("OPENAI_API_KEY", "", _ascii_or_none, example="sk-…"),
        openai_base_url=read.parsed("OPENAI_BASE_URL", "", _url_or_none, example="http://localhost:11434/v1"),
        models=models,
        model_timeout_s=read.parsed("CC_BOT_MODEL_TIMEOUT", "45", _positive_seconds, example="45"),
        single_system=read.parsed("CC_BOT_SINGLE_SYSTEM", "off", _switch, example="on / off"),
        database_url=read.text("CC_BOT_DATABASE_URL", "sqlite:///data/sessions.db"),
        agents_file=read.path("CC_BOT_AGENTS_FILE"),
        synchronous=read.parsed("CC_BOT_SYNCHRONOUS", "NORMAL", _synchronous, example="NORMAL / FULL"),
        history_limit=read.parsed("CC_BOT_HISTORY_LIMIT", "20", _count_or_zero, example="20"),
        token_budget=read.parsed("CC_BOT_TOKEN_BUDGET", "80000", _count, example="80000"),
        block_tokens=read.parsed("CC_BOT_BLOCK_TOKENS", "1500", _count, example="1500"),
        cache_control=read.parsed("CC_BOT_CACHE_CONTROL", "off", _switch, example="on / off"),
        summary_every=read.parsed("CC_BOT_SUMMARY_EVERY", "20", _count_or_zero, example="20"),
        summary_models=read.parsed("CC_BOT_SUMMARY_MODEL", ",".join(models), _names, example=models[0]),
        embedding_model=read.parsed("CC_BOT_EMBEDDING_MODEL", LOCAL, read.embedding_model, example="off"),
        session_ttl=read.parsed("CC_BOT_SESSION_TTL", "86400", _duration, example="86400"),
        max_turns=read.parsed("CC_BOT_MAX_TURNS", "8", _count, example="8"),
        secret_patterns=read.parsed(
            "CC_BOT_SECRET_PATTERNS", "", _secret_patterns, example="data/secret_patterns.txt"
        ),
        channels=read.parsed("CC_BOT_CHANNELS", "mentions", _channels, example="off / mentions / all"),
        locale=read.parsed("CC_BOT_LOCALE", "ja", Locale, example="ja / en"),
        operator_locale=operator_locale(environ, dotenv),
        timezone=read.parsed("CC_BOT_TIMEZONE", "Asia/Tokyo", ZoneInfo, example="Asia/Tokyo"),
        log_level=read.parsed("CC_BOT_LOG_LEVEL", "info", _log_level, example=" / ".join(get_args(LogLevel))),
        test_clock_offset=read.parsed("CC_BOT_TEST_CLOCK_OFFSET", "0", _duration, example="86400"),
    )


def operator_locale(environ: Mapping[str, str] = os.environ, dotenv: Path = Path(".env")) -> Locale:
    """The language to tell the operator in that the settings can't be read. Never fails."""
    try:
        values: Mapping[str, str] = {**_read_dotenv(dotenv), **environ}
    except InvalidSetting:
        values = environ
    try:
        return Locale(values.get("CC_BOT_LOCALE", ""))
    except ValueError:
        return Locale(system_locale(environ))


def system_locale(environ: Mapping[str, str]) -> str:
    """The language of the operator's own terminal, where it says English; else Japanese."""
    language = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
    return "en" if language.lower().startswith("en") else "ja"


_LARGEST = 10**9
"""Of any count or number of seconds: beyond what makes sense, and within what a database and a clock take."""


class _Reader:
    """Takes values out of the environment; a variable that is set but empty counts as not set."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def optional(self, name: str) -> str | None:
        return self._values.get(name, "").strip() or None

    def text(self, name: str, default: str) -> str:
        return self.optional(name) or default

    def path(self, name: str) -> Path | None:
        given = self.optional(name)
        return None if given is None else Path(given)

    def embedding_model(self, text: str) -> str:
        """A model by name needs a server that has it."""
        if text.lower() in (LOCAL, OFF):
            return text.lower()
        if not (self.optional("OPENAI_API_KEY") or self.optional("OPENAI_BASE_URL")):
            raise ValueError
        return text

    def parsed(self, name: str, default: str, parse: Callable[[str], Value], *, example: str) -> Value:
        try:
            return parse(self.text(name, default))
        except (ValueError, KeyError, OSError, OverflowError) as error:
            raise InvalidSetting(name=name, expected=example) from error


def _read_dotenv(path: Path) -> dict[str, str]:
    """What the file sets. A line that can't be read is refused: its setting would seem to be missing."""
    if not path.exists():
        return {}
    refused = InvalidSetting(name=".env", expected="CC_BOT_LOCALE=ja")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise refused from error
    lines = [line for line in parse_stream(StringIO(text)) if line.key or line.error]
    if any(line.error for line in lines):
        raise refused
    values = dotenv_values(stream=StringIO(text))
    return {name: value for name, value in values.items() if value is not None}


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise ValueError
    return names


def _url_or_none(text: str) -> str | None:
    if text:
        parts = urlsplit(text)
        _ = parts.port  # reading it checks it
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError
    return text or None


def _ascii_or_none(text: str) -> str | None:
    """A key goes into an HTTP header."""
    if not text.isascii() or not text.isprintable():
        raise ValueError
    return text or None


def _secret_patterns(text: str) -> tuple[str, ...]:
    """The patterns in a file, one a line; blank lines and those that begin with # say nothing."""
    if not text:
        return ()
    lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
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


def _count_or_zero(text: str) -> int:
    number = int(text)
    if not 0 <= number <= _LARGEST:
        raise ValueError
    return number


def _count(text: str) -> int:
    number = _count_or_zero(text)
    if not number:
        raise ValueError
    return number


def _positive_seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise ValueError
    return seconds


def _duration(text: str) -> timedelta:
    return timedelta(seconds=_count_or_zero(text))


def _switch(text: str) -> bool:
    return {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}[text.lower()]


def _synchronous(text: str) -> Synchronous:
    values: dict[str, Synchronous] = {"normal": "NORMAL", "full": "FULL"}
    return values[text.lower()]


def _log_level(text: str) -> LogLevel:
    levels: dict[str, LogLevel] = {level: level for level in get_args(LogLevel)}
    return levels[text.lower()]


def _channels(text: str) -> Reading:
    modes: dict[str, Reading] = {mode: mode for mode in get_args(Reading)}
    return modes[text.lower()]
