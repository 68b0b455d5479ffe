"""The interface to speech models."""

from dataclasses import dataclass
from typing import Final, Protocol

from cc_bot.domain.message import Attachment
from cc_bot.domain.text import Locale

MAX_HEARD_CHARACTERS: Final = 30_000  # twice what a fast speaker says in twenty minutes


@dataclass(frozen=True, slots=True)
class Transcript:
    text: str
    """Stripped; empty if nothing was heard."""
    seconds: float = 0.0
    """As counted by the server; 0 if unknown."""


class _SpeechModel(Protocol):
    @property
    def name(self) -> str:
        """The operator's name for it, which has a price."""
        ...

    async def close(self) -> None: ...


class Transcriber(_SpeechModel, Protocol):
    async def transcribe(self, recording: Attachment, language: Locale) -> Transcript:
        """`language` is a hint. Raises ModelError."""
        ...


class Speaker(_SpeechModel, Protocol):
    async def speak(self, text: str) -> bytes:
        """Return an MP3 file. Raises ModelError."""
        ...
