"""A server on 127.0.0.1 that speaks OpenAI's `POST /embeddings` over real HTTP.

Texts that share characters point in similar directions, so that a test can tell near from far. What is
scripted is answered first: a status, a body of any shape, or nothing at all.

    async with LoopbackEmbeddingsServer(Answer(status=429)) as server:
        ...
        assert server.inputs == [["猫が好き"]]
"""

import asyncio
import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.loopback.local_server import LocalServer

DIMENSIONS = 64


@dataclass(frozen=True, slots=True)
class Answer:
    """A scripted answer. Without a body it says no more than the status."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False


def direction(text: str) -> list[float]:
    """One dimension for each of some groups of characters; never without a direction."""
    numbers = [0.01] * DIMENSIONS
    for character in text:
        numbers[ord(character) % DIMENSIONS] += 1.0
    return numbers


def items(texts: Sequence[str]) -> list[dict[str, Any]]:
    return [{"index": index, "embedding": direction(text)} for index, text in enumerate(texts)]


class LoopbackEmbeddingsServer(LocalServer):
    """See the module's docstring. `inputs` has the texts of each request, in order of arrival."""

    def __init__(self, *answers: Answer, longest: int = 10_000) -> None:
        self.inputs: list[list[str]] = []
        self.models: list[str] = []
        self.longest = longest
        """Characters in a text; longer ones are refused as too long for the model."""
        self._script = deque(answers)

    def script(self, *answers: Answer) -> None:
        """Add answers to the end of the script."""
        self._script.extend(answers)

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/embeddings", self._embed)]

    async def _embed(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.inputs.append(body["input"])
        self.models.append(body["model"])
        if self._script:
            return await _scripted(self._script.popleft())
        if max(map(len, body["input"])) > self.longest:
            message = "input is too large to process. increase the physical batch size"
            return web.json_response({"error": {"message": message}}, status=400)
        return web.json_response({"object": "list", "data": items(body["input"]), "model": body["model"]})


async def _scripted(answer: Answer) -> web.Response:
    if answer.hangs:
        await asyncio.Event().wait()
    text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
    return web.Response(
        status=answer.status, text=text, headers=answer.headers, content_type="application/json"
    )
