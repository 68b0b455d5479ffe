"""OfflineModel: a ChatModel that needs no network, no key and no training.

It reads by patterns what anybody may have written, so each step has a limit of time, and is made beside the
event loop: one at a time, since a thread at work takes turns with the loop, and eight would leave it one in
nine. What takes longer is not understood, like any other question that it has no rule for.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator
from typing import Final

from cc_bot.domain.events import Usage
from cc_bot.domain.phrase import TookTooLong, time_for_phrases
from cc_bot.llm.model import ChatRequest, Delta, Finish, ModelEvent
from cc_bot.llm.offline.heartbeat import looked_around
from cc_bot.llm.offline.replies import Call, Say, decide, not_understood
from cc_bot.llm.offline.summary import summarized, with_summary

STEP_S: Final = 2.0
"""Processor time for one step; the longest of ordinary conversations take a twentieth of it."""
_PIECE = re.compile(r".{1,20}?[。．、.,!?！？\s]+|.{1,20}", re.DOTALL)


class OfflineModel:
    """Answers by rules, and says so. The same prompt always gets the same answer."""

    def __init__(self, step_s: float = STEP_S) -> None:
        """`step_s` is the processor time that one step may take."""
        self._step_s = step_s
        self._one_at_a_time = asyncio.Lock()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        async with self._one_at_a_time:
            step = await asyncio.to_thread(_step, request, self._step_s)
        if isinstance(step, Call):
            yield Finish("tools", step.requests, Usage())
            return
        for piece in _pieces(step.text):
            yield Delta(piece)
            await asyncio.sleep(0)  # let a Stop through, as a network would
        yield Finish("stop", (), Usage())

    async def close(self) -> None:
        """There is nothing to close."""


def _step(request: ChatRequest, limit_s: float) -> Say | Call:
    with time_for_phrases(limit_s):
        try:
            return summarized(request) or looked_around(request) or decide(with_summary(request))
        except TookTooLong:
            return not_understood(request)


def _pieces(text: str) -> Iterator[str]:
    return (found.group() for found in _PIECE.finditer(text))
