"""Speech by any server that speaks OpenAI's `POST /audio/transcriptions` and `POST /audio/speech`.

A recording goes there under a name of ours: servers tell its kind from how the name ends, and what its sender
called it is nobody's business.
"""

import asyncio
from typing import Final

import structlog

from cc_bot.domain.errors import ModelError
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Attachment
from cc_bot.llm.openai.client import FAILURES, MAX_RETRIES, classify, open_client
from cc_bot.llm.speech import MAX_HEARD_CHARACTERS, Transcript

_NAMES: Final = {
    "audio/mpeg": "recording.mp3",
    "audio/mp4": "recording.m4a",
    "audio/ogg": "recording.ogg",
    "audio/wav": "recording.wav",
    "audio/webm": "recording.webm",
}
MAX_COUNTED_S: Final = 24 * 3600.0
"""No recording lasts longer, whatever a server makes of it."""
# A server that answers with JSON of another shape has the client stumble over it.
_FAILURES: Final = (*FAILURES, AttributeError, TypeError)

_log = structlog.get_logger(__name__)


class _SpeechClient:
    """A model behind an endpoint for speech."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_s: float = 45,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        """Ask the server at `base_url`, or OpenAI's own without it. `timeout_s` seconds may pass until there
        is an answer, retries included. Building the client takes over 100 ms."""
        self._model = model
        self._timeout_s = timeout_s
        self._client = open_client(
            api_key=api_key, base_url=base_url, timeout_s=timeout_s, max_retries=max_retries
        )

    @property
    def name(self) -> str:
        return self._model

    async def close(self) -> None:
        await self._client.close()


class OpenAITranscriber(_SpeechClient):
    """A Transcriber (see there) over HTTP."""

    async def transcribe(self, recording: Attachment, language: Locale) -> Transcript:
        """See Transcriber. Raises ModelUnavailable, ModelRefusedKey, ModelNotFound or ModelRefusedRequest."""
        file = (_NAMES[recording.content_type], recording.data, recording.content_type)
        try:
            async with asyncio.timeout(self._timeout_s):
                answer: object = await self._client.audio.transcriptions.create(
                    file=file, model=self._model, language=language.value, response_format="json"
                )
            return _read(answer)
        except _FAILURES as error:
            failure = _record("transcription_failed", error, self._model)
        raise failure


class OpenAISpeaker(_SpeechClient):
    """A Speaker (see there) over HTTP, in one of the voices that the server has."""

    def __init__(
        self,
        model: str,
        voice: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_s: float = 45,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        super().__init__(
            model, api_key=api_key, base_url=base_url, timeout_s=timeout_s, max_retries=max_retries
        )
        self._voice = voice

    async def speak(self, text: str) -> bytes:
        """See Speaker. Raises as OpenAITranscriber does."""
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await self._client.audio.speech.create(
                    input=text, model=self._model, voice=self._voice, response_format="mp3"
                )
                return await answer.aread()
        except _FAILURES as error:
            failure = _record("speech_failed", error, self._model)
        raise failure


def _read(answer: object) -> Transcript:
    """The words of an answer. Raises ValueError for one of another shape."""
    text, told = (getattr(answer, name, None) for name in ("text", "usage"))
    if not isinstance(text, str) or len(text) > MAX_HEARD_CHARACTERS:
        raise ValueError("no transcript")
    seconds = getattr(told, "seconds", None)
    counted = isinstance(seconds, int | float) and 0 < seconds <= MAX_COUNTED_S
    return Transcript(text.strip(), float(seconds) if counted and seconds else 0.0)


def _record(event: str, error: Exception, model: str) -> ModelError:
    """Put on record why there is nothing, and return what it means."""
    failure = classify(error, model)
    _log.warning(
        event,
        model=model,
        outcome=type(failure.error).__name__,
        problem=failure.problem,
        status=failure.status,
        retries=failure.retries,
    )
    return failure.error
