"""Rules against storing secrets in memories: built-in patterns and the operator's.

The operator's patterns run with a timeout, so that a slow one can't block everyone. A text longer than a
memory with its fields is not searched.
"""

import unicodedata
from collections.abc import Sequence
from typing import Final

import regex  # type: ignore[import-untyped]  # its stubs (types-regex) are not among the dependencies
import structlog

from cc_bot.domain.errors import SecretNotStored
from cc_bot.domain.memory import DEFAULT_CATEGORY, MAX_BESIDE_CHARACTERS, MAX_CONTENT_CHARACTERS
from cc_bot.domain.secrets import looks_secret

_log = structlog.get_logger(__name__)

TIMEOUT_S: Final = 0.05
"""Per pattern and text; an ordinary pattern takes well under 1 ms for 4000 characters."""


MAX_CHARACTERS: Final = MAX_CONTENT_CHARACTERS + MAX_BESIDE_CHARACTERS
"""Per search. A longer text is refused like a secret."""


class SecretRules:
    def __init__(self, patterns: Sequence[str] = ()) -> None:
        """`patterns`: regular expressions, matched anywhere and regardless of case. Raises ValueError for an
        invalid one."""
        try:
            self._patterns = [regex.compile(pattern, regex.IGNORECASE) for pattern in patterns]
        except regex.error as error:
            raise ValueError(str(error)) from error

    def check(self, *texts: str | None) -> None:
        """Raise SecretNotStored if a text contains a secret."""
        if self.refuse(*texts):
            raise SecretNotStored

    def refuse(self, *texts: str | None) -> bool:
        """Return whether a text contains a secret, or they are too long to search."""
        if sum(len(text) for text in texts if text) > MAX_CHARACTERS:
            return True
        return any(
            (text != DEFAULT_CATEGORY and looks_secret(text))  # the default is not user text
            or (self._patterns and any(map(self._matches, _forms(text))))
            for text in texts
            if text
        )

    def _matches(self, text: str) -> bool:
        """A timeout counts as a match, to be safe."""
        for number, pattern in enumerate(self._patterns, 1):
            try:
                if pattern.search(text, timeout=TIMEOUT_S):
                    return True
            except TimeoutError:
                _log.warning("secret_pattern_too_slow", pattern=number)
                return True
        return False


def _forms(text: str) -> set[str]:
    """As written and in half width, because a pattern is written in one form."""
    return {text, unicodedata.normalize("NFKC", text)}
