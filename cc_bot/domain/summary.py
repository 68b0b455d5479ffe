"""Summaries: what was written down of a conversation before it slid out of the history."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cc_bot.domain.message import Message, Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import shorten

MAX_SUMMARY_CHARACTERS: Final = 1500
"""Of each text; a request that may see both has two of them."""

_STATEMENT_CHARACTERS: Final = 300
_SENTENCE_END = re.compile(r"[。．！？!?]|\.(?=\s|$)|\n")


@dataclass(frozen=True, slots=True)
class Summary:
    """The present summary of one key, of what was said in public or of what was said in private."""

    visibility: Visibility
    content: str
    first_message_id: int
    last_message_id: int
    """The rows of the archive between which what it tells of was said, both included."""
    created_at: datetime
    tainted: bool = False
    """Whether anything that it tells of was; see `Message.tainted`."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """The messages of one session that are in no summary yet."""

    key: SessionKey
    session_id: str
    closed: bool
    """Whether the session is over, so that nothing will be added."""
    covered_to: int
    """The last message that is in a summary; 0 when there is none."""
    messages: tuple[Message, ...]
    """Oldest first, all with their ids; without attachments."""


def clean_summary(text: str) -> str:
    """A summary as it is kept: at most MAX_SUMMARY_CHARACTERS, whole sentences if possible, no blank lines.

    Empty when there is nothing in it. Without blank lines it can't pass for the end of the message that it
    will stand in.
    """
    lines = (line.strip() for line in text.splitlines())
    whole = "\n".join(line for line in lines if line)
    if len(whole) <= MAX_SUMMARY_CHARACTERS:
        return whole
    kept = whole[:MAX_SUMMARY_CHARACTERS]
    ends = [found.end() for found in _SENTENCE_END.finditer(kept)]
    if ends and ends[-1] > MAX_SUMMARY_CHARACTERS // 3:
        return kept[: ends[-1]].rstrip()
    return f"{kept[:-1]}…"


def listed(statements: Iterable[str]) -> str:
    """Statements word for word, one a line: what can be said of a conversation without a model.

    Oldest first, none twice; when they are too many, the newest.
    """
    plain = (" ".join(statement.split()) for statement in statements)
    lines = [f"- {shorten(statement, _STATEMENT_CHARACTERS)}" for statement in plain if statement]
    newest_first = list(dict.fromkeys(reversed(lines)))
    room, kept = MAX_SUMMARY_CHARACTERS, list[str]()
    for line in newest_first:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(reversed(kept))
