"""Vectors from any server that speaks OpenAI's `POST /embeddings`: Ollama, llama.cpp, vLLM, TEI and others.

A text that is too long for the server's model is embedded by its beginning: without a vector, a note would be
found by its words alone.
"""

from collections.abc import Sequence
from typing import Any, Final, Unpack

from pydantic_core import from_json

from cc_bot.domain.errors import ContextTooLong
from cc_bot.llm.openai.client import Connection, Endpoint
from cc_bot.search.vectors import Vector, pack

_BATCH: Final = 64  # servers take from 32 texts (TEI's default) to 2048
_MIN_CHARACTERS: Final = 100


class OpenAIEmbedder(Endpoint):
    """An Embedder (see there) over HTTP."""

    usual = None  # any model may be behind the address

    def __init__(self, model: str, *, batch: int = _BATCH, **connection: Unpack[Connection]) -> None:
        super().__init__(model, **connection)
        self._batch = batch

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Raises ModelUnavailable, ModelRefusedKey, ModelRefusedRequest or ContextTooLong."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), self._batch):
            vectors += await self._embed_fitting(texts[start : start + self._batch])
        return vectors

    async def _embed_fitting(self, texts: Sequence[str]) -> Sequence[Vector]:
        """If they are too long, embed them one by one, and one text by its first half."""
        try:
            async with self._request("embedding_failed"):
                body = {"model": self._model, "input": list(texts)}
                return _read_vectors(from_json(await self._post("/embeddings", json=body)), len(texts))
        except ContextTooLong:
            if len(texts) > 1:
                return [vector for text in texts for vector in await self._embed_fitting([text])]
            [text] = texts
            if len(text) <= _MIN_CHARACTERS:
                raise
        return await self._embed_fitting([text[: len(text) // 2]])


def _read_vectors(answer: Any, count: int) -> list[Vector]:
    """The vectors in the order of the texts; a server may leave out the index. Raises ValueError, TypeError,
    LookupError or AttributeError for an answer of another shape."""
    data = answer["data"]
    vectors = {item.get("index", position): pack(item["embedding"]) for position, item in enumerate(data)}
    if len(data) != count or len({*map(len, vectors.values())}) > 1:
        raise ValueError("not a vector for each text")
    return [vectors[index] for index in range(count)]
