"""Vectors from any server that speaks OpenAI's `POST /embeddings`: Ollama, llama.cpp, vLLM, TEI and others.

Answers are taken as plain JSON. A text that is too long for the server's model is embedded by its beginning:
that says what a note is about, and a note without a vector would be found by its words alone.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

import structlog

from cc_bot.domain.errors import ContextTooLong
from cc_bot.llm.openai.client import FAILURES, MAX_RETRIES, ModelFailure, classify, open_client
from cc_bot.search.vectors import Vector, pack

_BATCH: Final = 64
"""Texts in one request: servers take from 32 (TEI's default) up to 2048, in tokens some 8000 and more."""
_SHORTEST: Final = 100
"""Characters; who can't take so few can take none."""

_log = structlog.get_logger(__name__)


class OpenAIEmbedder:
    """An Embedder (see there) over HTTP."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_s: float = 30,
        max_retries: int = MAX_RETRIES,
        batch: int = _BATCH,
    ) -> None:
        """Ask the server at `base_url`, or OpenAI's own without it. `timeout_s` seconds may pass until the
        answer to a request of `batch` texts, retries included. Building the client takes over 100 ms."""
        self._model = model
        self._timeout_s = timeout_s
        self._batch = batch
        self._client = open_client(
            api_key=api_key, base_url=base_url, timeout_s=timeout_s, max_retries=max_retries
        )

    @property
    def name(self) -> str:
        return self._model

    @property
    def usual(self) -> None:
        """Unknown: behind the same address may stand any model."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """See Embedder. Raises ModelUnavailable, ModelRefusedKey, ModelRefusedRequest or ContextTooLong."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), self._batch):
            vectors += await self._embed_fitting(texts[start : start + self._batch])
        return vectors

    async def close(self) -> None:
        await self._client.close()

    async def _embed_fitting(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed what is too much for the server all at once text by text; a text that is too long, by its
        half."""
        try:
            return await self._embed_once(texts)
        except ContextTooLong:
            if len(texts) > 1:
                return [vector for text in texts for vector in await self._embed_fitting([text])]
            [text] = texts
            if len(text) <= _SHORTEST:
                raise
        return await self._embed_fitting([text[: len(text) // 2]])

    async def _embed_once(self, texts: Sequence[str]) -> Sequence[Vector]:
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await self._client.post(
                    "/embeddings", cast_to=object, body={"model": self._model, "input": list(texts)}
                )
            return _read(answer, len(texts))
        except FAILURES as error:
            failure = classify(error, self._model)
        self._record(failure, len(texts))
        raise failure.error

    def _record(self, failure: ModelFailure, texts: int) -> None:
        _log.warning(
            "embedding_failed",
            model=self._model,
            outcome=type(failure.error).__name__,
            problem=failure.problem,
            status=failure.status,
            retries=failure.retries,
            texts=texts,
        )


def _read(answer: object, count: int) -> list[Vector]:
    """The vectors in the order of the texts. Raises ValueError for an answer of another shape."""
    data = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(data, list):
        raise ValueError("no vectors")
    found = dict(_item(item, position) for position, item in enumerate(data))
    if len(data) != count or set(found) != set(range(count)) or len({*map(len, found.values())}) > 1:
        raise ValueError("not a vector for each text")
    return [found[index] for index in range(count)]


def _item(item: object, position: int) -> tuple[int, Vector]:
    """The index of a text, which a server may leave out, and its vector."""
    match item:
        case {"embedding": [*numbers], **more} if all(isinstance(number, int | float) for number in numbers):
            index = more.get("index", position)
            if isinstance(index, int):
                return index, pack(numbers)
    raise ValueError("no vector")
