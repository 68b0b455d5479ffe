"""OfflineModel: a ChatModel that needs no network, no key and no training."""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator

from cc_bot.domain.events import Usage
from cc_bot.llm.model import ChatRequest, Delta, Finish, ModelEvent
from cc_bot.llm.offline.heartbeat import looked_around
from cc_bot.llm.offline.replies import Call, decide
from cc_bot.llm.offline.summary import summarized, with_summary

_PIECE = re.compile(r".{1,20}?[。．、.,!?！？\s]+|.{1,20}", re.DOTALL)


class OfflineModel:
    """Answers by rules, and says so. The same prompt always gets the same answer."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        step = summarized(request) or looked_around(request) or decide(with_summary(request))
        if isinstance(step, Call):
            yield Finish("tools", step.requests, Usage())
            return
        for piece in _pieces(step.text):
            yield Delta(piece)
            await asyncio.sleep(0)  # let a Stop through, as a network would
        yield Finish("stop", (), Usage())

    async def close(self) -> None:
        """There is nothing to close."""


def _pieces(text: str) -> Iterator[str]:
    return (found.group() for found in _PIECE.finditer(text))
