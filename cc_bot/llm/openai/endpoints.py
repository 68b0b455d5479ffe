"""Embeddings, transcription and speech by any server that speaks OpenAI's API."""

from collections.abc import Sequence
from typing import Any, Final, Unpack

import aiohttp
from pydantic_core import from_json

from cc_bot.domain.errors import ContextTooLong
from cc_bot.domain.message import Attachment
from cc_bot.domain.text import Locale
from cc_bot.llm.openai.client import Connection, Endpoint
from cc_bot.llm.openai.reply import mapping
from cc_bot.llm.model import MAX_HEARD_CHARACTERS, Transcript
from cc_bot.search.vectors import Vector, pack

_BATCH: Final = 64  # servers take from 32 texts (TEI's default) to 2048
_MIN_CHARACTERS: Final = 100


class OpenAIEmbedder(Endpoint):
    usual = None  # any model may be behind the address

    def __init__(self, model: str, *, batch: int = _BATCH, **connection: Unpack[Connection]) -> None:
        super().__init__(model, **connection)
        self._batch = batch

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Raises ModelError."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), self._batch):
            vectors += await self._embed_fitting(texts[start : start + self._batch])
        return vectors

    async def _embed_fitting(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed texts that are too long one by one, and one by its first half."""
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
    """In the order of the texts; a server may leave out the index. Raises FAILURES for another shape."""
    data = answer["data"]
    vectors = {item.get("index", position): pack(item["embedding"]) for position, item in enumerate(data)}
    if len(data) != count or len({*map(len, vectors.values())}) > 1:
        raise ValueError("not a vector for each text")
    return [vectors[index] for index in range(count)]


_NAMES: Final = {  # servers read the kind from the name; the sender's own name stays here
    "audio/mpeg": "recording.mp3",
    "audio/mp4": "recording.m4a",
    "audio/ogg": "recording.ogg",
    "audio/wav": "recording.wav",
    "audio/webm": "recording.webm",
}
_MAX_SECONDS: Final = 24 * 3600.0


class OpenAITranscriber(Endpoint):
    async def transcribe(self, recording: Attachment, language: Locale) -> Transcript:
        kind = recording.content_type
        form = aiohttp.FormData({"model": self._model, "language": language.value, "response_format": "json"})
        form.add_field("file", recording.data, filename=_NAMES[kind], content_type=kind)
        async with self._request("transcription_failed"):
            return _read_transcript(from_json(await self._post("/audio/transcriptions", data=form)))


class OpenAISpeaker(Endpoint):
    def __init__(self, model: str, voice: str, **connection: Unpack[Connection]) -> None:
        super().__init__(model, **connection)
        self._voice = voice

    async def speak(self, text: str) -> bytes:
        async with self._request("speech_failed"):
            body = {"input": text, "model": self._model, "voice": self._voice, "response_format": "mp3"}
            return await self._post("/audio/speech", json=body)


def _read_transcript(answer: object) -> Transcript:
    text, usage = mapping(answer).get("text"), mapping(mapping(answer).get("usage"))
    if not isinstance(text, str) or len(text) > MAX_HEARD_CHARACTERS:
        raise ValueError("no transcript")
    seconds = usage.get("seconds")
    counted = isinstance(seconds, int | float) and 0 < seconds <= _MAX_SECONDS
    return Transcript(text.strip(), float(seconds) if counted and seconds else 0.0)
