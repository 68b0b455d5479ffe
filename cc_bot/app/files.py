"""The operator's files: beside the database, unless a setting names another path."""

from collections.abc import Collection

from cc_bot.config import Config
from cc_bot.features.agents.service import Agents
from cc_bot.operator_file import path_of


def make_agents(config: Config, tools: Collection[str]) -> Agents:
    """`tools`: names of the existing tools."""
    path, required = path_of(config, "agents.toml"), config.agents_file is not None
    return Agents(path, tools=tools, locale=config.operator_locale, required=required)
