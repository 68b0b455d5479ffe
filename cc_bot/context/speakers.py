"""Speakers, as a prompt names them before their words, and the messages that a question points at.

What others wrote is set in or quoted line by line, so that none of it can pass for what the asker says.
"""

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
"""The model itself: no person's name stands without a mark."""
REFERENCE_CHARACTERS: Final = 4000
"""Of a message that a question points at; a whole conversation is cut where it is read."""
_NOT_IN_NAMES: Final = frozenset(":：#＃﹟♯⌗")
"""What ends a name, and what begins a mark or looks so."""
_BEGINNING: Final = 50


def spoken(name: str, author_id: int, text: str) -> str:
    """Write what someone said, with their name before it. All lines but the first are set in, so that none of
    them can pass for what somebody else said."""
    first, *others = text.splitlines() or [""]
    said = f"{speaker(name, author_id)}: {first}"
    return "\n".join((said, *(f"  {line}".rstrip() for line in others))) if others else said


@lru_cache(maxsize=4096)
def speaker(name: str, author_id: int) -> str:
    """A name on one line and without a colon, so that it ends where it seems to, and the mark of whose it is.

    Anybody may take another's name, or the bot's. The mark is made of the id alone, so it is the same in
    every request, after a restart and beside whatever names come later: frozen messages keep their bytes.
    """
    letters = (
        " " if unicodedata.category(letter)[0] in "CZ" or letter in _NOT_IN_NAMES else letter
        for letter in name
    )
    shown = " ".join("".join(letters).split())[:NAME_CHARACTERS].strip() or NAMELESS
    return f"{shown}{mark_of(author_id)}"


def mark_of(author_id: int) -> str:
    """Tells people of one name apart: `#` and six digits, two tokens of most models; empty for an unknown
    id. Two people in a million share one, and nobody can choose theirs."""
    if not author_id:
        return ""
    digest = blake2b(author_id.to_bytes(8, "big"), digest_size=8).digest()
    return f"#{int.from_bytes(digest) % 10**6:06}"


def beginning(text: str) -> str:
    """The beginning of a text, on one line."""
    return shorten(" ".join(text.split()), _BEGINNING)


# ---- references ------------------------------------------------------------------------------------------

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
    """Write the messages that a question points at, as they stand above it."""
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
