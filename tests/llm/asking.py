"""Helpers that ask a model and collect the events of its answer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from cc_bot.llm.model import ChatModel, ChatRequest, Delta, Fallback, Finish, ModelEvent, UserPart
from cc_bot.llm.openai import OpenAIChatModel
from tests.loopback.model_server import LoopbackModelServer, Reply, Responder

QUESTION = ChatRequest(prompt=(UserPart("日本の首都は？"),))
CONTINUATION = ChatRequest(prompt=QUESTION.prompt, answer_begun=True)


@dataclass(frozen=True, slots=True)
class Heard:
    events: tuple[ModelEvent, ...]

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, Delta))

    @property
    def fallbacks(self) -> list[str]:
        return [event.model for event in self.events if isinstance(event, Fallback)]

    @property
    def finish(self) -> Finish:
        """Return the last event, which must be the only Finish."""
        (finish,) = (event for event in self.events if isinstance(event, Finish))
        assert self.events[-1] is finish
        return finish


async def hear(model: ChatModel, request: ChatRequest = QUESTION) -> Heard:
    return Heard(tuple([event async for event in model.stream(request)]))


@asynccontextmanager
async def model_at(
    server: LoopbackModelServer, *, timeout_s: float = 5, max_retries: int = 2
) -> AsyncIterator[OpenAIChatModel]:
    """Return a model of a running server, without a key, as for a local server."""
    model = OpenAIChatModel(
        "loopback", base_url=server.base_url, timeout_s=timeout_s, max_retries=max_retries
    )
    try:
        yield model
    finally:
        await model.close()


@asynccontextmanager
async def loopback(
    *replies: Reply, responder: Responder | None = None, timeout_s: float = 5, max_retries: int = 2
) -> AsyncIterator[tuple[OpenAIChatModel, LoopbackModelServer]]:
    """Yield a model and its server, which answers as scripted."""
    async with (
        LoopbackModelServer(*replies, responder=responder) as server,
        model_at(server, timeout_s=timeout_s, max_retries=max_retries) as model,
    ):
        yield model, server
