"""Names of authors in prompts, and quotations of referenced messages. Others' text is indented or quoted line
by line, so that it can't pass for the author's."""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from cc_bot.domain.message import Pointing, Reference
from cc_bot.domain.text import shorten

NAME_CHARACTERS: Final = 40
"""Discord's display names have 32."""
NAMELESS: Final = "?"
YOU: Final = "you"
"""The model itself; users' names always have a mark."""
REFERENCE_CHARACTERS: Final = 4000
_NOT_IN_NAMES: Final = frozenset(":：#＃﹟♯⌗")
"""Characters that end a name, begin a mark, or look like it."""
_BEGINNING: Final = 50


def spoken(name: str, author_id: int, text: str) -> str:
    """Return a text after its author's name; further lines are indented."""
    first, *others = text.splitlines() or [""]
    said = f"{speaker(name, author_id)}: {first}"
    return "\n".join((said, *(f"  {line}".rstrip() for line in others))) if others else said


@lru_cache(maxsize=4096)
def speaker(name: str, author_id: int) -> str:
    """Return a name on one line without colons, and the mark of its user, which no name can imitate."""
    letters = (
        " " if unicodedata.category(letter)[0] in "CZ" or letter in _NOT_IN_NAMES else letter
        for letter in name
    )
    shown = " ".join("".join(letters).split())[:NAME_CHARACTERS].strip() or NAMELESS
    return f"{shown}{mark_of(author_id)}"


def mark_of(author_id: int) -> str:
    """Return `#` and six digits, two tokens in most models; empty for an unknown id."""
    if not author_id:
        return ""
    digest = blake2b(author_id.to_bytes(8, "big"), digest_size=8).digest()
    return f"#{int.from_bytes(digest) % 10**6:06}"


def beginning(text: str) -> str:
    """Return the beginning of a text, on one line."""
    return shorten(" ".join(text.split()), _BEGINNING)


_HEADINGS: Final[dict[Pointing, str]] = {
    "reply": "In reply to {whose}:",
    "above": "Which replies to {whose}:",
    "link": "The link leads to {whose}:",
    "picture": "Just above it stands {whose}:",
    "menu": "About {whose}:",
    "since": "The conversation from {whose} on:",
}
_NOT_SHOWN: Final[dict[Pointing, str]] = {
    "reply": "In reply to a message that is not shown to you.",
    "above": "Which replies to a message that is not shown to you.",
    "link": "The link leads to a message that is not shown to you.",
    "picture": "Just above it stands a picture that is not shown to you.",
    "menu": "About a message that is not shown to you.",
    "since": "The conversation from a message on that is not shown to you.",
}


def quote(references: Sequence[Reference]) -> str:
    return "\n\n".join(map(_quoted, references))


def _quoted(reference: Reference) -> str:
    if not reference.shown:
        return f"[{_NOT_SHOWN[reference.pointing]}]"
    named = bool(reference.author_name)
    whose = (
        f"a message of {speaker(reference.author_name, reference.author_id)}" if named else "your own answer"
    )
    heading = _HEADINGS[reference.pointing].format(whose=whose)
    said = reference.content
    if reference.pointing != "since":
        said = shorten(said, REFERENCE_CHARACTERS)
    return "\n".join((f"[{heading}]", *(f"> {line}" for line in said.splitlines())))
