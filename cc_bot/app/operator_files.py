"""The files that the operator may write, and where they are looked for: beside the database, unless named."""

from collections.abc import Collection
from pathlib import Path

from cc_bot.agents import Agents
from cc_bot.config import Config
from cc_bot.policy import Policies
from cc_bot.storage.location import sqlite_path


def agents_path(config: Config) -> Path:
    return config.agents_file or sqlite_path(config.database_url).with_name("agents.toml")


def agents_of(config: Config, tools: Collection[str]) -> Agents:
    """Who can answer; `tools` are the names of those that there are."""
    required = config.agents_file is not None
    return Agents(agents_path(config), tools=tools, locale=config.operator_locale, required=required)


def policy_path(config: Config) -> Path:
    return config.policy_file or sqlite_path(config.database_url).with_name("policy.toml")


def policies_of(config: Config) -> Policies:
    """Limits, prices and access."""
    required = config.policy_file is not None
    return Policies(policy_path(config), locale=config.operator_locale, required=required)
