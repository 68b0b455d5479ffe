"""What the operator decided, as values."""

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from cc_bot.domain.channel import Reading
from cc_bot.domain.locale import Locale
from cc_bot.domain.privacy import Retention

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["auto", "json", "console"]
"""auto: lines for a person where a terminal is, else JSON."""
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
    policy_file: Path | None
    """None: `policy.toml` beside the database, if there is one."""
    backup_folder: Path
    owners: frozenset[int]
    """Users of Discord; empty: those of the policy file, or else of the application."""
    synchronous: Synchronous
    history_limit: int
    token_budget: int
    block_tokens: int
    cache_control: bool
    summary_every: int
    """Turns; 0: never."""
    summary_models: tuple[str, ...]
    """A chain like `models`."""
    profile_notes: int
    """Memories of who asks that stand in each prompt; 0: none, the model looks them up."""
    embedding_model: str
    """LOCAL, OFF, or the name of a model at `openai_base_url`."""
    session_ttl: timedelta
    max_turns: int
    retention: Retention
    secret_patterns: tuple[str, ...]
    """Regular expressions of what is not kept in memories."""
    channels: Reading
    locale: Locale
    """For users whose own language is not known."""
    operator_locale: Locale
    """For whoever sits at the terminal: their system's language, unless CC_BOT_LOCALE is set."""
    timezone: ZoneInfo
    log_level: LogLevel
    log_format: LogFormat
    metrics_port: int | None
    """Where /healthz and /metrics are served; None: nowhere."""
    metrics_host: str
    service_manager: str
    """The socket on which systemd wants to be told how the service is; empty where nobody does."""
    test_clock_offset: timedelta
    """For tests of the whole program: how far its clock is ahead."""
