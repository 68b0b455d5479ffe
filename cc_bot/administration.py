"""What owners decide while the bot runs: which models answer where."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from cc_bot.domain.errors import CcBotError, ModelNotFound

# ---- served models -----------------------------------------------------------------------------------------
# Which models the operator's server has, for who is about to name one.
#
# It is found out by asking for one token, as `cc-bot doctor` does: not every server has a list, and not
# every list has all of them.

PATIENCE_S: Final = 10.0
"""A server may have to load a model first. One that does not answer by then is not called unknown."""

Ask = Callable[[str], Awaitable[None]]
"""Raises a CcBotError where no answer comes."""


async def not_asked(_: str) -> None:
    """Do nothing, where there is no server, as with the model that comes along."""


@dataclass(eq=False, slots=True)
class ServedModels:
    ask: Ask = not_asked

    async def find_missing(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return those that the server says it does not have."""
        found = await asyncio.gather(*map(self._is_missing, names))
        return tuple(name for name, missing in zip(names, found, strict=True) if missing)

    async def _is_missing(self, name: str) -> bool:
        with suppress(CcBotError, TimeoutError):
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self.ask(name)
            except ModelNotFound:
                return True
        return False
