"""Which agents there are at this moment: those of a file that is followed while the program runs.

A turn holds the value that it began with.
"""

from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path

from cc_bot.agents.parsing import parse_agents
from cc_bot.domain.agent import DEFAULT_AGENT, Agent
from cc_bot.domain.errors import InvalidAgents
from cc_bot.domain.locale import Locale
from cc_bot.operator_file import FileKind, OperatorFile
from cc_bot.texts import texts


class Agents:
    """The agents of a file."""

    def __init__(self, path: Path, *, tools: Collection[str], locale: Locale, required: bool = False) -> None:
        """`tools` are the names of those that exist; what is wrong with the file is told in `locale`.
        `required`: the operator named the file, so its absence is a mistake."""
        words = texts(locale)
        parse = partial(parse_agents, tools=frozenset(tools), words=words)
        kind = FileKind("agents", "CC_BOT_AGENTS_FILE", parse, InvalidAgents)
        self._file = OperatorFile[Mapping[str, Agent]](path, kind, words.operator_file, required=required)

    async def load(self) -> Mapping[str, Agent]:
        """Read the file for the first time. Raises InvalidAgents."""
        return await self._file.load()

    async def all(self) -> Mapping[str, Agent]:
        """The agents by name, the default one first, then as the file has them."""
        return await self._file.now()

    async def get(self, name: str) -> Agent | None:
        return (await self.all()).get(name)

    async def default(self) -> Agent:
        """Who answers where nobody else was chosen."""
        return (await self.all())[DEFAULT_AGENT]
