"""Every setting, read in one place: the environment, then `.env`, then the default.

Only `cli` and `app` see this module; everything else is handed what it needs.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import get_args
from zoneinfo import ZoneInfo

from cc_bot.config.environment import Reader, read_dotenv
from cc_bot.config.parsers import (
    ascii_or_none,
    channels,
    count,
    count_or_zero,
    days,
    duration,
    log_format,
    log_level,
    names,
    port_or_none,
    positive_seconds,
    profile_notes,
    secret_patterns,
    switch,
    synchronous,
    url_or_none,
    user_ids,
)
from cc_bot.config.values import DEFAULT_MODEL, LOCAL, OFF, Config, LogFormat, LogLevel, Synchronous
from cc_bot.domain.errors import InvalidSetting, SettingsUnreadable
from cc_bot.domain.locale import Locale
from cc_bot.domain.privacy import Retention

__all__ = [
    "DEFAULT_MODEL",
    "LOCAL",
    "OFF",
    "Config",
    "LogFormat",
    "LogLevel",
    "Synchronous",
    "operator_locale",
    "read_config",
    "system_locale",
]


def read_config(environ: Mapping[str, str] = os.environ, dotenv: Path = Path(".env")) -> Config:
    """The settings. Raises InvalidSetting for the first one that is not usable."""
    read = Reader({**read_dotenv(dotenv), **environ})
    models = read.parsed("CC_BOT_MODEL", DEFAULT_MODEL, names, example=DEFAULT_MODEL)
    return Config(
        discord_token=read.optional("DISCORD_TOKEN"),
        discord_api_url=read.parsed("DISCORD_API_URL", "", url_or_none, example="http://localhost/api/v10"),
        openai_api_key=read.parsed("OPENAI_API_KEY", "", ascii_or_none, example="sk-…"),
        openai_base_url=read.parsed("OPENAI_BASE_URL", "", url_or_none, example="http://localhost:11434/v1"),
        models=models,
        model_timeout_s=read.parsed("CC_BOT_MODEL_TIMEOUT", "45", positive_seconds, example="45"),
        single_system=read.parsed("CC_BOT_SINGLE_SYSTEM", "off", switch, example="on / off"),
        database_url=read.text("CC_BOT_DATABASE_URL", "sqlite:///data/sessions.db"),
        agents_file=read.path("CC_BOT_AGENTS_FILE"),
        policy_file=read.path("CC_BOT_POLICY_FILE"),
        backup_folder=Path(read.text("CC_BOT_BACKUP_FOLDER", "backup")),
        owners=read.parsed("CC_BOT_OWNERS", "", user_ids, example="123456789012345678"),
        synchronous=read.parsed("CC_BOT_SYNCHRONOUS", "NORMAL", synchronous, example="NORMAL / FULL"),
        history_limit=read.parsed("CC_BOT_HISTORY_LIMIT", "20", count_or_zero, example="20"),
        token_budget=read.parsed("CC_BOT_TOKEN_BUDGET", "80000", count, example="80000"),
        block_tokens=read.parsed("CC_BOT_BLOCK_TOKENS", "1500", count, example="1500"),
        cache_control=read.parsed("CC_BOT_CACHE_CONTROL", "off", switch, example="on / off"),
        summary_every=read.parsed("CC_BOT_SUMMARY_EVERY", "20", count_or_zero, example="20"),
        summary_models=read.parsed("CC_BOT_SUMMARY_MODEL", ",".join(models), names, example=models[0]),
        profile_notes=read.parsed("CC_BOT_PROFILE_NOTES", "0", profile_notes, example="0–10"),
        embedding_model=read.parsed("CC_BOT_EMBEDDING_MODEL", LOCAL, read.embedding_model, example="off"),
        session_ttl=read.parsed("CC_BOT_SESSION_TTL", "86400", duration, example="86400"),
        max_turns=read.parsed("CC_BOT_MAX_TURNS", "64", count, example="64"),
        retention=Retention(
            archive_days=read.parsed("CC_BOT_ARCHIVE_DAYS", "0", days, example="365"),
            session_days=read.parsed("CC_BOT_SESSION_DAYS", "0", days, example="90"),
            usage_days=read.parsed("CC_BOT_USAGE_DAYS", "400", days, example="400"),
            copy_days=read.parsed("CC_BOT_COPY_DAYS", "30", days, example="30"),
            erasure_days=read.parsed("CC_BOT_ERASURE_DAYS", "400", days, example="400"),
        ),
        secret_patterns=read.parsed(
            "CC_BOT_SECRET_PATTERNS", "", secret_patterns, example="data/secret_patterns.txt"
        ),
        channels=read.parsed("CC_BOT_CHANNELS", "mentions", channels, example="off / mentions / all"),
        locale=read.parsed("CC_BOT_LOCALE", "ja", Locale, example="ja / en"),
        operator_locale=operator_locale(environ, dotenv),
        timezone=read.parsed("CC_BOT_TIMEZONE", "Asia/Tokyo", ZoneInfo, example="Asia/Tokyo"),
        log_level=read.parsed("CC_BOT_LOG_LEVEL", "info", log_level, example=" / ".join(get_args(LogLevel))),
        log_format=read.parsed(
            "CC_BOT_LOG_FORMAT", "auto", log_format, example=" / ".join(get_args(LogFormat))
        ),
        metrics_port=read.parsed("CC_BOT_METRICS_PORT", "", port_or_none, example="9464"),
        metrics_host=read.text("CC_BOT_METRICS_HOST", "127.0.0.1"),
        service_manager=read.text("NOTIFY_SOCKET", ""),  # set by systemd, no setting of ours
        test_clock_offset=read.parsed("CC_BOT_TEST_CLOCK_OFFSET", "0", duration, example="86400"),
    )


def operator_locale(environ: Mapping[str, str] = os.environ, dotenv: Path = Path(".env")) -> Locale:
    """The language to tell the operator in that the settings can't be read. Never fails."""
    try:
        values: Mapping[str, str] = {**read_dotenv(dotenv), **environ}
    except (InvalidSetting, SettingsUnreadable):
        values = environ
    try:
        return Locale(values.get("CC_BOT_LOCALE", ""))
    except ValueError:
        return Locale(system_locale(environ))


def system_locale(environ: Mapping[str, str]) -> str:
    """The language of the operator's own terminal, where it says English; else Japanese."""
    language = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
    return "en" if language.lower().startswith("en") else "ja"
