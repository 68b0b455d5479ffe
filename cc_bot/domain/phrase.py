"""Words of natural language, looked for with a limit of time.

How people ask for something has too many forms for a pattern whose work is known to grow with the text alone:
what may stand before, between and after the words that count overlaps. So such a pattern is given up when it
takes out of all proportion long, and the text counts as not understood. Everything else in the package is
matched by patterns that are linear by the way they are written; a test attacks both kinds
(tests/architecture/test_patterns.py).
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any, Final, TypeVar, cast

import regex  # type: ignore[import-untyped]  # its stubs (types-regex) are not among the dependencies

_Result = TypeVar("_Result")

LIMIT_S: Final = 0.25
"""For one search, in the program's processor time; an ordinary one takes microseconds."""
_LONG: Final = 500
"""Characters; while so long a text is searched, other threads go on."""
_DEADLINE: Final[ContextVar[float | None]] = ContextVar("deadline", default=None)
"""Of this thread's processor time."""


class TookTooLong(Exception):
    """A text was not matched within the limit."""


@contextmanager
def time_for_phrases(seconds: float) -> Iterator[None]:
    """Limit the processor time of the thread that all phrases inside may take together: where there are many,
    each of them could stay just below its own limit."""
    outer = _DEADLINE.get()
    mine = time.thread_time() + seconds
    token = _DEADLINE.set(mine if outer is None else min(mine, outer))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


class Phrase:
    """A regular expression of `re`'s syntax with a limit of time. Compiled when it is first looked for: most
    programs never ask the offline model.

    Each method does what its namesake in `re` does, and raises TookTooLong.
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        """Make a pattern. `flags` are those of `re`."""
        self.pattern: Final = pattern
        self.flags: Final = int(flags)

    def __repr__(self) -> str:
        return f"Phrase({self.pattern!r}, {self.flags})"

    def search(self, text: str) -> re.Match[str] | None:
        return self._look("search", text, _match)

    def match(self, text: str) -> re.Match[str] | None:
        return self._look("match", text, _match)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self._look("fullmatch", text, _match)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield all matches, each when it is asked for; the limit is for all of them together."""
        found = self._look("finditer", text, _matches)
        while True:
            try:
                yield next(found)
            except StopIteration:
                return
            except TimeoutError as error:
                raise TookTooLong from error

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self._look("sub", text, _text, replacement)

    def split(self, text: str) -> list[str]:
        return self._look("split", text, _texts)

    def _look(self, how: str, text: str, as_result: Callable[[Any], _Result], *first: object) -> _Result:
        limit_s = _limit_s()
        if limit_s <= 0:
            raise TookTooLong
        try:
            look = getattr(self._compiled, how)
            return as_result(look(*first, text, timeout=limit_s, concurrent=len(text) > _LONG))
        except TimeoutError as error:
            raise TookTooLong from error

    @cached_property
    def _compiled(self) -> Any:
        """The pattern, compiled when it is first needed, which takes a while; that is no fault of the text
        that is read."""
        began = time.thread_time()
        compiled = regex.compile(self.pattern, self.flags)
        if (deadline := _DEADLINE.get()) is not None:
            _DEADLINE.set(deadline + time.thread_time() - began)
        return compiled


def _limit_s() -> float:
    deadline = _DEADLINE.get()
    return LIMIT_S if deadline is None else min(LIMIT_S, deadline - time.thread_time())


def _match(found: Any) -> re.Match[str] | None:
    return cast("re.Match[str] | None", found)


def _matches(found: Any) -> Iterator[re.Match[str]]:
    return cast("Iterator[re.Match[str]]", found)


def _text(found: Any) -> str:
    return str(found)


def _texts(found: Any) -> list[str]:
    return list(found)
