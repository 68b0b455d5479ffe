"""The seam to the models of speech: a recording goes in and its words come out, or the other way round."""

from dataclasses import dataclass
from typing import Final, Protocol

from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Attachment

MAX_HEARD_CHARACTERS: Final = 30_000
"""Of one recording: twice what a fast speaker says in twenty minutes. What is longer was never said."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """The words of a recording."""

    text: str
    """Without white space around it; empty where nothing was heard."""
    seconds: float = 0.0
    """As the server counted them; 0 where it did not say."""


class Transcriber(Protocol):
    """A model that writes down what it hears."""

    @property
    def name(self) -> str:
        """The name that the operator gave it: prices go by it."""
        ...

    async def transcribe(self, recording: Attachment, language: Locale) -> Transcript:
        """Write down what a recording says; `language` is what its speaker usually speaks, and a hint alone.
        Raises ModelError."""
        ...

    async def close(self) -> None: ...


class Speaker(Protocol):
    """A model that reads aloud."""

    @property
    def name(self) -> str: ...

    async def speak(self, text: str) -> bytes:
        """Read a text aloud, as an MP3 file. Raises ModelError."""
        ...

    async def close(self) -> None: ...
