"""The rules of what may not be kept in a memory: what looks like a secret anywhere, and what the operator
names.

The operator's patterns are searched with a limit of time: one that runs away must not hold up everybody. What
is longer than a memory and all beside it is not searched at all.
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
"""For one pattern in one text; a text of 4000 characters takes an ordinary one well under a millisecond."""


MAX_CHARACTERS: Final = MAX_CONTENT_CHARACTERS + MAX_BESIDE_CHARACTERS
"""That are looked through at once. More counts as a secret: it is not kept."""


class SecretRules:
    def __init__(self, patterns: Sequence[str] = ()) -> None:
        """Make the rules. `patterns` are regular expressions; they match anywhere in a text, whatever its
        case. Raises ValueError for one that is none."""
        try:
            self._patterns = [regex.compile(pattern, regex.IGNORECASE) for pattern in patterns]
        except regex.error as error:
            raise ValueError(str(error)) from error

    def check(self, *texts: str | None) -> None:
        """Raise SecretNotStored if one of the texts holds a secret."""
        if self.refuse(*texts):
            raise SecretNotStored

    def refuse(self, *texts: str | None) -> bool:
        """Return whether one of the texts holds a secret, or they are too long to tell."""
        if sum(len(text) for text in texts if text) > MAX_CHARACTERS:
            return True
        return any(
            (text != DEFAULT_CATEGORY and looks_secret(text))  # most have it: no word of a user
            or (self._patterns and any(map(self._matches, _forms(text))))
            for text in texts
            if text
        )

    def _matches(self, text: str) -> bool:
        """Return whether an operator's pattern is in the text. One that takes too long counts as found: what
        may be a secret is not kept."""
        for number, pattern in enumerate(self._patterns, 1):
            try:
                if pattern.search(text, timeout=TIMEOUT_S):
                    return True
            except TimeoutError:
                _log.warning("secret_pattern_too_slow", pattern=number)
                return True
        return False


def _forms(text: str) -> set[str]:
    """Return the text as it was written, and without full width: a pattern names one form of what has
    several."""
    return {text, unicodedata.normalize("NFKC", text)}
