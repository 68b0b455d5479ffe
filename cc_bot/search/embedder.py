"""The seam to a sentence encoder: what turns a text into the direction of its meaning."""

from collections.abc import Sequence
from typing import Protocol

from cc_bot.search.fusion import Usual
from cc_bot.search.vectors import Vector


class Embedder(Protocol):
    """An encoder. Vectors of different encoders can't be compared, so each is stored with its `name`."""

    @property
    def name(self) -> str:
        """Which model this is, and which version: another name means other vectors of the same text."""

    @property
    def usual(self) -> Usual | None:
        """What its cosines are like where a note does not answer, if that was measured: with it, the notes of
        who has but a few are told apart too."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each text, in their order. Raises a ModelError; no text reaches the log.

        May take seconds the first time. Never blocks the event loop.
        """

    async def close(self) -> None:
        """Let go of what the encoder holds. It is not used afterwards."""
