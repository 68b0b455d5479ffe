"""Speech recognition and synthesis with any server that has OpenAI's API."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import aiohttp
from pydantic_core import from_json

from cc_bot.domain.message import Attachment
from cc_bot.domain.text import Locale
from cc_bot.llm.openai.client import Endpoint
from cc_bot.llm.openai.reply import as_mapping

if TYPE_CHECKING:
    from cc_bot.config import Config

MAX_TRANSCRIPT_CHARACTERS: Final = 30_000  # twice what a fast speaker says in twenty minutes
_FILE_NAMES: Final = {  # servers recognize the format by the name; the user's file name is not sent
    "audio/mpeg": "recording.mp3",
    "audio/mp4": "recording.m4a",
    "audio/ogg": "recording.ogg",
    "audio/wav": "recording.wav",
    "audio/webm": "recording.webm",
}
_MAX_SECONDS: Final = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Transcript:
    text: str  # stripped; empty if nothing was heard
    seconds: float = 0.0  # as counted by the server; 0 if unknown


class OpenAITranscriber(Endpoint):
    async def transcribe(self, recording: Attachment, language: Locale) -> Transcript:
        """`language` is a hint. Raises ModelError."""
        kind = recording.content_type
        form = aiohttp.FormData({"model": self.model, "language": language.value, "response_format": "json"})
        form.add_field("file", recording.data, filename=_FILE_NAMES[kind], content_type=kind)
        async with self._guard_request("transcription_failed"):
            return _read_transcript(from_json(await self._post("/audio/transcriptions", data=form)))


@dataclass(eq=False, repr=False)
class OpenAISpeaker(Endpoint):
    voice: str

    async def speak(self, text: str) -> bytes:
        """Return an MP3 file. Raises ModelError."""
        async with self._guard_request("speech_failed"):
            body = {"input": text, "model": self.model, "voice": self.voice, "response_format": "mp3"}
            return await self._post("/audio/speech", json=body)


def _read_transcript(answer: object) -> Transcript:
    text, usage = as_mapping(answer).get("text"), as_mapping(as_mapping(answer).get("usage"))
    if not isinstance(text, str) or len(text) > MAX_TRANSCRIPT_CHARACTERS:
        raise ValueError("no transcript")
    seconds = usage.get("seconds")
    counted = isinstance(seconds, int | float) and 0 < seconds <= _MAX_SECONDS
    return Transcript(text.strip(), float(seconds) if counted and seconds else 0.0)


def build_transcriber(config: "Config") -> OpenAITranscriber | None:
    model = config.transcribe_model
    return OpenAITranscriber(model, **_endpoint_options(config)) if model else None


def build_speaker(config: "Config") -> OpenAISpeaker | None:
    model, voice = config.speech_model, config.speech_voice
    return OpenAISpeaker(model, voice, **_endpoint_options(config)) if model else None


def _endpoint_options(config: "Config") -> dict[str, Any]:
    url = config.transcribe_url or config.openai_base_url
    return {"api_key": config.openai_api_key, "base_url": url, "timeout_s": config.model_timeout_s}
