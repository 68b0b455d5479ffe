"""The settings: from the environment, then `.env`, then defaults. Only `cli` and `app` import this module."""

import os
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from difflib import get_close_matches
from functools import partial
from io import StringIO
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, Final, Literal, get_args
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import regex  # type: ignore[import-untyped]  # its stubs (types-regex) are not among the dependencies
from dotenv import dotenv_values
from dotenv.parser import parse_stream

from cc_bot.domain import errors
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.message import REASONING_EFFORTS, ChannelReading, ReasoningEffort
from cc_bot.domain.text import Locale, shorten
from cc_bot.features.memory.model import MAX_PINNED
from cc_bot.features.privacy.model import Retention
from cc_bot.files import decode_text, read_regular

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["auto", "json", "console"]  # `auto`: readable lines on a terminal, else JSON
Synchronous = Literal["NORMAL", "FULL"]

DEFAULT_MODEL = "gpt-5.4-mini"
LOCAL = "local"  # the sentence encoder of the extra `semantic`, if installed
OFF = "off"
SERVER_SETTINGS: Final = "(OPENAI_API_KEY / OPENAI_BASE_URL / CC_BOT_TRANSCRIBE_URL)"
"""The example in the error if a speech model is set without a server."""

DOTENV: Final = Path(".env")
MAX_DOTENV_BYTES: Final = 1 << 18
MAX_NUMBER: Final = 10**9
MAX_DAYS: Final = 36_500
MAX_SHARDS: Final = 16_000
MAX_QUOTED_CHARACTERS: Final = 60


def find_dotenv(path: Path) -> Path | None:
    """Return `.env`, or else `.env.txt`, as Notepad saves it."""
    return next(filter(os.path.lexists, (path, path.with_name(f"{path.name}.txt"))), None)


def read_dotenv(path: Path) -> dict[str, str]:
    """Read the settings in `.env` or `.env.txt`. Raises InvalidSetting and SettingsUnreadable."""
    invalid_file = errors.InvalidSetting(name=".env", expected="CC_BOT_LOCALE=ja")
    try:
        file = find_dotenv(path)
        if file is None:
            return {}
        content = read_regular(file)
    except PermissionError as error:
        raise errors.SettingsUnreadable(path=str(path)) from error
    except OSError as error:
        raise invalid_file from error
    text = decode_text(content) if len(content) <= MAX_DOTENV_BYTES else None
    if text is None:
        raise invalid_file
    for line in parse_stream(StringIO(text)):
        if line.error:
            raise errors.InvalidSetting(name=f".env:{line.original.line}", expected="CC_BOT_LOCALE=ja")
    values = dotenv_values(stream=StringIO(text))
    return {name: value for name, value in values.items() if value is not None}


# Parsers, named after what they return, raise ValueError, KeyError, OSError, OverflowError or InvalidSetting.

Parser = Callable[[str], Any]


def optional(parse: Parser = str) -> Parser:
    return lambda text: parse(text) if text else None


def names(text: str) -> tuple[str, ...]:
    listed = tuple(name.strip() for name in text.split(",") if name.strip())
    if not listed:
        raise ValueError
    return listed


def user_ids(text: str) -> frozenset[int]:
    ids = frozenset(int(name) for name in text.split(",") if name.strip())
    if any(not 0 < user_id < 2**63 for user_id in ids):
        raise ValueError
    return ids


def url(text: str) -> str:
    parts = urlsplit(text)
    _ = parts.port  # raises ValueError if it is invalid
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError
    return text


def web_url(text: str, *, host: str, port: int | None) -> str:
    """Return the web pages' base URL; "" without a port. Raises PagesNotEncrypted if no URL is set although
    other machines can open the pages."""
    if port is None and not text:
        return ""
    if not text:
        if not is_loopback(host):
            raise errors.PagesNotEncrypted(host=host)
        text = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    parts = urlsplit(text)
    _ = parts.port  # raises ValueError if it is invalid
    is_local_http = parts.scheme == "http" and is_loopback(host) and is_loopback(parts.hostname or "")
    has_more = parts.path not in ("", "/") or parts.query or parts.fragment or "@" in parts.netloc
    address = _address(parts.hostname or "")
    if not parts.hostname or has_more or not (parts.scheme == "https" or is_local_http):
        raise ValueError
    if address and address.is_unspecified:  # such as 0.0.0.0
        raise ValueError
    # The hosts of requests are compared with this URL, so it is written as browsers do (UTS #46).
    netloc = parts.netloc.lower().encode("idna").decode()
    if not regex.fullmatch(r"[a-z0-9._-]+(:\d+)?|\[[0-9a-f:.]+\](:\d+)?", netloc):
        raise ValueError
    return f"{parts.scheme}://{netloc}"


def local_address(host: str) -> str:
    """Return the address at which this machine reaches a server bound to `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - nothing is bound here


def is_loopback(host: str) -> bool:
    address = _address(host)
    return host.lower() == "localhost" or bool(address and address.is_loopback)


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(each.strip()) for each in text.split(",") if each.strip())


def header_value(text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise ValueError
    return text


def secret_patterns(text: str) -> tuple[str, ...]:
    """Read regular expressions from the file at this path: one a line, without blank lines and comments."""
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
                raise errors.InvalidSetting(name=where, expected=r"EMP-\d{6}") from error
            patterns.append(line)
    return tuple(patterns)


def whole_number(minimum: int, maximum: int = MAX_NUMBER) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text)
        if not minimum <= number <= maximum:
            raise ValueError
        return number

    return parse


count_or_zero: Final = whole_number(0)
count: Final = whole_number(1)
days: Final = whole_number(0, MAX_DAYS)
port: Final = optional(whole_number(1, 65535))


def positive_seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise ValueError
    return seconds


def duration(text: str) -> timedelta:
    return timedelta(seconds=count_or_zero(text))


def on_off(text: str) -> bool:
    return {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}[text.lower()]


def shards(text: str) -> tuple[int, ...]:
    """Parse numbers and ranges such as `0-3,8`."""
    number, found = whole_number(0, MAX_SHARDS), set[int]()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        begin, end = number(first), number(last if dash else first)
        if end < begin:
            raise ValueError
        found.update(range(begin, end + 1))
    return tuple(sorted(found))


def choice(literal: Any) -> Parser:
    words = {word.lower(): word for word in get_args(literal)}
    return lambda text: words[text.lower()]


def embedding_model(text: str) -> str:
    return text.lower() if text.lower() in (LOCAL, OFF) else text


@dataclass(frozen=True, slots=True)
class Setting:
    variable: str
    default: str  # for an unset or empty variable
    parse: Parser
    example: str  # shown for a bad value
    is_secret: bool

    def read(self, values: Mapping[str, str]) -> Any:
        """Raises InvalidSetting, which quotes the value unless it may be secret."""
        value = values.get(self.variable, "").strip()
        try:
            return self.parse(value or self.default)
        except (ValueError, KeyError, OSError, OverflowError) as error:
            if self.is_secret or "@" in value or not value.isprintable():
                raise self.error from error
            quoted = shorten(value, MAX_QUOTED_CHARACTERS)
            raise errors.InvalidValue(name=self.variable, value=quoted, expected=self.example) from error

    @property
    def error(self) -> errors.StartupError:
        return errors.InvalidSetting(name=self.variable, expected=self.example)


def _setting(
    variable: str, default: str = "", parse: Parser = str, example: str = "", *, secret: bool = False
) -> Any:
    return field(repr=not secret, metadata={"setting": Setting(variable, default, parse, example, secret)})


@dataclass(frozen=True, slots=True)
class Config:
    variables: Mapping[str, str] = field(repr=False)  # the environment and `.env`, for `${NAME}` in mcp.json
    operator_locale: Locale  # the system's language unless CC_BOT_LOCALE is set
    discord_token: str | None = _setting("DISCORD_TOKEN", parse=optional(), secret=True)
    discord_api_url: str | None = _setting("DISCORD_API_URL", "", optional(url), "http://localhost/api/v10")
    openai_api_key: str | None = _setting("OPENAI_API_KEY", "", optional(header_value), "sk-…", secret=True)
    openai_base_url: str | None = _setting("OPENAI_BASE_URL", "", optional(url), "http://localhost:11434/v1")
    models: tuple[str, ...] = _setting("CC_BOT_MODEL", DEFAULT_MODEL, names, DEFAULT_MODEL)
    model_timeout_s: float = _setting("CC_BOT_MODEL_TIMEOUT", "45", positive_seconds, "45")
    reasoning: str = _setting("CC_BOT_REASONING", "", choice(ReasoningEffort), " / ".join(REASONING_EFFORTS))
    database_url: str = _setting("CC_BOT_DATABASE_URL", "sqlite:///data/sessions.db")
    agents_file: Path | None = _setting("CC_BOT_AGENTS_FILE", parse=optional(Path))
    """None: the file beside the database, if it exists."""
    policy_file: Path | None = _setting("CC_BOT_POLICY_FILE", parse=optional(Path))
    mcp_file: Path | None = _setting("CC_BOT_MCP_FILE", parse=optional(Path))
    tool_tokens: int = _setting("CC_BOT_TOOL_TOKENS", "4000", count, "4000")
    """Limit for descriptions of MCP servers' tools in a request."""
    backup_folder: Path = _setting("CC_BOT_BACKUP_FOLDER", "backup", Path)
    owners: frozenset[int] = _setting("CC_BOT_OWNERS", "", user_ids, "123456789012345678")
    """Empty: the owners in the policy file, else the application's owner."""
    synchronous: Synchronous = _setting("CC_BOT_SYNCHRONOUS", "NORMAL", choice(Synchronous), "NORMAL / FULL")
    history_limit: int = _setting("CC_BOT_HISTORY_LIMIT", "20", count_or_zero, "20")
    token_budget: int = _setting("CC_BOT_TOKEN_BUDGET", "80000", count, "80000")
    block_tokens: int = _setting("CC_BOT_BLOCK_TOKENS", "1500", count, "1500")
    summary_every: int = _setting("CC_BOT_SUMMARY_EVERY", "20", count_or_zero, "20")  # in turns; 0: never
    summary_models: tuple[str, ...] = _setting("CC_BOT_SUMMARY_MODEL", "", optional(names), DEFAULT_MODEL)
    max_prompt_memories: int = _setting("CC_BOT_PROFILE_NOTES", "0", whole_number(0, MAX_PINNED), "0–10")
    """Number of memories in each request. 0: the model looks memories up."""
    embedding_model: str = _setting("CC_BOT_EMBEDDING_MODEL", LOCAL, embedding_model, OFF)
    """LOCAL, OFF, or a model at `openai_base_url`."""
    transcribe_model: str | None = _setting("CC_BOT_TRANSCRIBE_MODEL", "", optional(), SERVER_SETTINGS)
    transcribe_url: str | None = _setting(
        "CC_BOT_TRANSCRIBE_URL", "", optional(url), "http://localhost:8000/v1"
    )
    """None: `openai_base_url`."""
    speech_model: str | None = _setting("CC_BOT_SPEECH_MODEL", "", optional(), SERVER_SETTINGS)
    speech_voice: str = _setting("CC_BOT_SPEECH_VOICE", "alloy")
    read_pages: bool = _setting("CC_BOT_READ_PAGES", "on", on_off, "on / off")
    """Read pages whose addresses users wrote."""
    read_unconfined: bool = _setting("CC_BOT_READ_UNCONFINED", OFF, on_off, "on / off")
    """Read documents and pages even if the system has no sandbox."""
    search_url: str | None = _setting("CC_BOT_SEARCH_URL", "", optional(url), "http://localhost:8080")
    brave_key: str | None = _setting("CC_BOT_BRAVE_KEY", "", optional(header_value), "BSA…", secret=True)
    session_ttl: timedelta = _setting("CC_BOT_SESSION_TTL", "86400", duration, "86400")
    max_turns: int = _setting("CC_BOT_MAX_TURNS", "64", count, "64")
    secret_patterns: tuple[str, ...] = _setting(
        "CC_BOT_SECRET_PATTERNS", "", secret_patterns, "data/secret_patterns.txt"
    )
    """Patterns of text that must not be saved as memories."""
    channels: ChannelReading = _setting(
        "CC_BOT_CHANNELS", "mentions", choice(ChannelReading), "off / mentions / all"
    )
    locale: Locale = _setting("CC_BOT_LOCALE", "ja", Locale, "ja / en")  # for users whose language is unknown
    timezone: ZoneInfo = _setting("CC_BOT_TIMEZONE", "Asia/Tokyo", ZoneInfo, "Asia/Tokyo")
    log_level: LogLevel = _setting(
        "CC_BOT_LOG_LEVEL", "info", choice(LogLevel), "debug / info / warning / error"
    )
    log_format: LogFormat = _setting("CC_BOT_LOG_FORMAT", "auto", choice(LogFormat), "auto / json / console")
    metrics_port: int | None = _setting("CC_BOT_METRICS_PORT", "", port, "9464")
    metrics_host: str = _setting("CC_BOT_METRICS_HOST", "127.0.0.1")
    archive_days: int = _setting("CC_BOT_ARCHIVE_DAYS", "0", days, "365")
    session_days: int = _setting("CC_BOT_SESSION_DAYS", "0", days, "90")
    usage_days: int = _setting("CC_BOT_USAGE_DAYS", "400", days, "400")
    copy_days: int = _setting("CC_BOT_COPY_DAYS", "30", days, "30")
    data_folder: Path = _setting("CC_BOT_DATA_FOLDER", "data", Path, "/var/lib/cc-bot")
    """If the database is on a server: for the files that would be beside a SQLite file."""
    web_port: int | None = _setting("CC_BOT_WEB_PORT", "", port, "8080")
    web_host: str = _setting("CC_BOT_WEB_HOST", "127.0.0.1")
    web_url: str = _setting("CC_BOT_WEB_URL", "", str, "https://bot.example")
    web_proxies: tuple[IPv4Network | IPv6Network, ...] = _setting(
        "CC_BOT_WEB_PROXIES", "", networks, "127.0.0.1,10.0.0.0/8"
    )
    """Proxies whose X-Forwarded-For is trusted."""
    shards: tuple[int, ...] | None = _setting("CC_BOT_SHARDS", "", optional(shards), "0-3")
    """None: all shards."""
    shard_count: int = _setting("CC_BOT_SHARD_COUNT", "0", whole_number(0, MAX_SHARDS), "16")
    """0: the number that Discord recommends."""
    api_keeps_limits: bool = _setting("DISCORD_API_KEEPS_LIMITS", OFF, on_off, "on / off")
    """True if the proxy at DISCORD_API_URL limits the rate over all processes."""
    notify_socket: str = _setting("NOTIFY_SOCKET")  # systemd's
    test_clock_offset: timedelta = _setting("CC_BOT_TEST_CLOCK_OFFSET", "0", duration, "86400")

    @property
    def retention(self) -> Retention:
        return Retention(self.archive_days, self.session_days, self.usage_days, self.copy_days)

    @property
    def clock(self) -> Clock:
        offset = self.test_clock_offset
        return (lambda: utc_now() + offset) if offset else utc_now


def read_config(environ: Mapping[str, str] = os.environ, dotenv: Path = DOTENV) -> Config:
    """Raises InvalidSetting for the first invalid setting, and UnknownSetting."""
    values = {**read_dotenv(dotenv), **environ}
    settings = {each.name: each.metadata["setting"] for each in fields(Config) if each.metadata}
    _ensure_known(values.keys(), {each.variable for each in settings.values()})
    parsed = {name: setting.read(values) for name, setting in settings.items()}
    own_shards, total = parsed["shards"], parsed["shard_count"]
    if own_shards and not total:
        raise errors.ShardCountMissing
    if own_shards and own_shards[-1] >= total:
        raise errors.ShardsOutOfRange(last=total - 1)
    has_server = bool(parsed["openai_api_key"] or parsed["openai_base_url"])
    for name in ("transcribe_model", "speech_model"):
        if parsed[name] and not has_server and not parsed["transcribe_url"]:
            raise settings[name].error
    if parsed["embedding_model"] not in (LOCAL, OFF) and not has_server:
        raise settings["embedding_model"].error
    parse_web_url = partial(web_url, host=parsed["web_host"], port=parsed["web_port"])
    parsed["web_url"] = replace(settings["web_url"], parse=parse_web_url).read(values)
    parsed["summary_models"] = parsed["summary_models"] or parsed["models"]
    if not values.get("CC_BOT_TIMEZONE"):
        parsed["timezone"] = _system_zone(environ) or parsed["timezone"]
    return Config(variables=values, operator_locale=operator_locale(environ, dotenv), **parsed)


def _system_zone(environ: Mapping[str, str]) -> ZoneInfo | None:
    """Return the machine's time zone; None if it has no name, or is UTC, which servers have anywhere."""
    file = os.path.realpath("/etc/localtime")
    name = environ.get("TZ", "").removeprefix(":") or file.partition("/zoneinfo/")[2]
    try:
        return None if name.removeprefix("Etc/") in ("UTC", "UCT", "Zulu") else ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return None


_MIN_SIMILARITY: Final = 0.9


def _ensure_known(names: Set[str], known: Set[str]) -> None:
    """Raises UnknownSetting for a misspelt name."""
    for name in names - known:
        is_own = name.startswith("CC_BOT_")
        candidates = known if is_own else known - names  # others may be variables of another program
        if is_own or name.startswith(("DISCORD_", "OPENAI_")):
            for nearest in get_close_matches(name, candidates, n=1, cutoff=_MIN_SIMILARITY):
                raise errors.UnknownSetting(name=name, nearest=nearest)


def operator_locale(environ: Mapping[str, str] = os.environ, dotenv: Path = DOTENV) -> Locale:
    """Return the language for errors in settings. Never fails."""
    try:
        values: Mapping[str, str] = {**read_dotenv(dotenv), **environ}
    except (errors.InvalidSetting, errors.SettingsUnreadable):
        values = environ
    try:
        return Locale(values.get("CC_BOT_LOCALE", ""))
    except ValueError:
        language = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
        return Locale.EN if language.lower().startswith("en") else Locale.JA
