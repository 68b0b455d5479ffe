"""Speech by any server that speaks OpenAI's `POST /audio/transcriptions` and `POST /audio/speech`."""

from typing import Final, Unpack

import aiohttp
from pydantic_core import from_json

from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Attachment
from cc_bot.llm.openai.client import Connection, Endpoint
from cc_bot.llm.openai.events import mapping
from cc_bot.llm.speech import MAX_HEARD_CHARACTERS, Transcript

_NAMES: Final = {  # servers read the kind from the name; the sender's own name stays here
    "audio/mpeg": "recording.mp3",
    "audio/mp4": "recording.m4a",
    "audio/ogg": "recording.ogg",
    "audio/wav": "recording.wav",
    "audio/webm": "recording.webm",
}
_MAX_SECONDS: Final = 24 * 3600.0


class OpenAITranscriber(Endpoint):
    """A Transcriber (see there) over HTTP."""

    async def transcribe(self, recording: Attachment, language: Locale) -> Transcript:
        kind = recording.content_type
        form = aiohttp.FormData({"model": self._model, "language": language.value, "response_format": "json"})
        form.add_field("file", recording.data, filename=_NAMES[kind], content_type=kind)
        async with self._request("transcription_failed"):
            return _read_transcript(from_json(await self._post("/audio/transcriptions", data=form)))


class OpenAISpeaker(Endpoint):
    """A Speaker (see there) over HTTP."""

    def __init__(self, model: str, voice: str, **connection: Unpack[Connection]) -> None:
        super().__init__(model, **connection)
        self._voice = voice

    async def speak(self, text: str) -> bytes:
        async with self._request("speech_failed"):
            body = {"input": text, "model": self._model, "voice": self._voice, "response_format": "mp3"}
            return await self._post("/audio/speech", json=body)


def _read_transcript(answer: object) -> Transcript:
    """Raises ValueError for an answer of another shape."""
    text, usage = mapping(answer).get("text"), mapping(mapping(answer).get("usage"))
    if not isinstance(text, str) or len(text) > MAX_HEARD_CHARACTERS:
        raise ValueError("no transcript")
    seconds = usage.get("seconds")
    counted = isinstance(seconds, int | float) and 0 < seconds <= _MAX_SECONDS
    return Transcript(text.strip(), float(seconds) if counted and seconds else 0.0)
