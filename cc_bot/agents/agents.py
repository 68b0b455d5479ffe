"""Which agents there are at this moment.

The file is looked at whenever an agent is asked for, and read when it is another one than before; so a change
needs no restart, and nothing runs in the background. A turn holds the value that it began with. A file that
has become wrong changes nothing: what it said before holds until it is right again.
"""

import asyncio
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

import structlog

from cc_bot.agents.parsing import parse_agents
from cc_bot.agents.table import Refused
from cc_bot.domain.agent import DEFAULT_AGENT, Agent
from cc_bot.domain.errors import InvalidAgents
from cc_bot.domain.locale import Locale
from cc_bot.texts import texts

_log = structlog.get_logger(__name__)

MAX_BYTES: Final = 1_000_000
SETTLED_S: Final = 0.05
"""Between two looks at a file that has changed: while they differ, somebody is still writing it."""
LOOKS: Final = 20

_Look = tuple[int, ...] | None
"""What tells one state of the file from another; None while there is none."""
_UNREACHABLE: Final = (-1,)


class Agents:
    """The agents of a file."""

    def __init__(self, path: Path, *, tools: Collection[str], locale: Locale, required: bool = False) -> None:
        """`tools` are the names of those that exist; what is wrong with the file is told in `locale`.
        `required`: the operator named the file, so its absence is a mistake."""
        self._path = path
        self._tools = frozenset(tools)
        self._words = texts(locale).agents_file
        self._required = required
        self._look: _Look = None
        self._agents: Mapping[str, Agent] = parse_agents("", tools=(), words=self._words)
        self._reading = asyncio.Lock()

    async def load(self) -> Mapping[str, Agent]:
        """Read the file for the first time. Raises InvalidAgents."""
        look = await asyncio.to_thread(_look_at, self._path)
        self._agents = await asyncio.to_thread(self._read, look)
        self._look = look
        return self._agents

    async def all(self) -> Mapping[str, Agent]:
        """The agents by name, the default one first, then as the file has them."""
        async with self._reading:
            look = await asyncio.to_thread(_look_at, self._path)
            if look != self._look:
                await self._reload(look)
            return self._agents

    async def get(self, name: str) -> Agent | None:
        return (await self.all()).get(name)

    async def default(self) -> Agent:
        """Who answers where nobody else was chosen."""
        return (await self.all())[DEFAULT_AGENT]

    async def _reload(self, look: _Look) -> None:
        """Take the file as it is now, once nobody writes to it any more. While it is wrong all stays as it
        was, and that is on record once."""
        self._look = look = await self._settled(look)
        try:
            self._agents = await asyncio.to_thread(self._read, look)
        except InvalidAgents as error:
            _log.warning("agents_not_reloaded", path=str(self._path), problem=error.params["detail"])
        else:
            _log.info("agents_reloaded", count=len(self._agents))

    async def _settled(self, look: _Look) -> _Look:
        for _ in range(LOOKS):
            await asyncio.sleep(SETTLED_S)
            before, look = look, await asyncio.to_thread(_look_at, self._path)
            if look == before:
                break
        return look

    def _read(self, look: _Look) -> Mapping[str, Agent]:
        """Raises InvalidAgents."""
        try:
            return parse_agents(self._text(look), tools=self._tools, words=self._words)
        except Refused as refused:
            raise InvalidAgents(path=str(self._path), detail=str(refused)) from None

    def _text(self, look: _Look) -> str:
        if look is None:
            if self._required:
                raise Refused(self._words.missing)
            return ""
        try:
            with self._path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
        except OSError:
            raise Refused(self._words.unreadable) from None
        if len(content) > MAX_BYTES:
            raise Refused(self._words.too_large.format(limit=MAX_BYTES // 1000))
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Refused(self._words.not_utf8) from None


def _look_at(path: Path) -> _Look:
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    except OSError:
        return _UNREACHABLE
    return (state.st_mtime_ns, state.st_size, state.st_ino)
