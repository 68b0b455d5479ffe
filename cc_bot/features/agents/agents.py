"""Makes the agents of the operator's file for the core."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from cc_bot.features.agents.file import AgentsFile
from cc_bot.features.agents.store import read_choices
from cc_bot.operator_file import operator_path

if TYPE_CHECKING:
    from cc_bot.config import Config

__all__ = ["make_agents", "read_choices"]


def make_agents(config: "Config", tools: Collection[str]) -> AgentsFile:
    path, required = operator_path(config, "agents.toml"), config.agents_file is not None
    return AgentsFile(path, tools=tools, locale=config.operator_locale, required=required)
