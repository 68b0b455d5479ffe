"""The operator's files: beside the database, unless a setting names another path."""

from collections.abc import Collection, Mapping
from pathlib import Path

from cc_bot.chat.policy import Policies
from cc_bot.config import Config
from cc_bot.db.engines import config_path
from cc_bot.features.agents.service import Agents
from cc_bot.features.mcp.file import ServerEntry, servers_file
from cc_bot.operator_file import OperatorFile

OPERATOR_FILES = ("agents.toml", "policy.toml", "mcp.json")


def path_of(config: Config, name: str) -> Path:
    return _configured(config, name) or config_path(config.database_url, config.data_folder).with_name(name)


def _configured(config: Config, name: str) -> Path | None:
    paths = (config.agents_file, config.policy_file, config.mcp_file)
    return dict(zip(OPERATOR_FILES, paths, strict=True)).get(name)


def make_agents(config: Config, tools: Collection[str]) -> Agents:
    """`tools`: names of the existing tools."""
    path, required = path_of(config, "agents.toml"), config.agents_file is not None
    return Agents(path, tools=tools, locale=config.operator_locale, required=required)


def make_policies(config: Config) -> Policies:
    path, required = path_of(config, "policy.toml"), config.policy_file is not None
    return Policies(path, locale=config.operator_locale, required=required)


def make_servers_file(config: Config) -> OperatorFile[Mapping[str, ServerEntry]]:
    path, required = path_of(config, "mcp.json"), config.mcp_file is not None
    return servers_file(path, variables=config.variables, locale=config.operator_locale, required=required)
