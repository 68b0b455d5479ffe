"""The file of agents, from text to values. Whoever wrote it is told the first thing that is wrong."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from cc_bot.agents.table import read_table
from cc_bot.domain.agent import DEFAULT_AGENT, Agent
from cc_bot.domain.locale import Locale
from cc_bot.operator_file import Refused, toml_of
from cc_bot.texts import Texts, texts

MAX_AGENTS: Final = 100
_NAME: Final = re.compile(r"[a-z0-9_-]{1,32}")


def parse_agents(text: str, *, tools: Collection[str], words: Texts) -> Mapping[str, Agent]:
    """The agents by name, the default one first, which exists in any case; `tools` are the names of those
    that there are. Raises Refused."""
    document = toml_of(text, words.operator_file)
    told = words.agents_file
    tables = document.pop("agents", {})
    if document:
        raise Refused(told.other_table.format(key=ascii(next(iter(document)))[:40]))
    if not isinstance(tables, dict):
        raise Refused(told.other_table.format(key="agents"))
    if len(tables) > MAX_AGENTS:
        raise Refused(told.too_many.format(limit=MAX_AGENTS))
    agents = {DEFAULT_AGENT: _named_default(Agent())}
    for name, table in tables.items():
        if not _NAME.fullmatch(name):
            raise Refused(told.bad_name.format(name=_printable(name)))
        if not isinstance(table, dict):
            raise Refused(told.not_a_table.format(name=name))
        agent = read_table(name, table, tools=tools, words=told)
        agents[name] = _named_default(agent) if name == DEFAULT_AGENT else agent
    return agents


def _named_default(agent: Agent) -> Agent:
    names = {locale: texts(locale).agents.the_default for locale in Locale}
    return replace(agent, display_names=names | agent.display_names)


def _printable(name: str) -> str:
    return name[:40] if name.isprintable() else ascii(name)[1:41]
