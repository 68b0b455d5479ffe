"""Sessions, one user's conversation with one agent in one channel, and their summaries."""

import re
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import Final

from cc_bot.domain.message import Message, Visibility
from cc_bot.domain.text import shorten

EMPTY_CANVAS: Final = '{"elements":[]}'


@dataclass(frozen=True, slots=True)
class SessionKey:
    user_id: int
    channel_id: int
    agent: str = "default"


@dataclass(frozen=True, slots=True)
class PromptNote:
    visibility: Visibility
    text: str
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    key: SessionKey
    history: tuple[Message, ...]  # oldest first; never starts with an assistant message
    created_at: datetime
    last_active: datetime
    _: KW_ONLY
    more: bool = field(default=False, compare=False)
    """Earlier messages of the history may not be read yet."""
    has_files: bool = field(default=True, compare=False)
    summaries: tuple[PromptNote, ...] = ()
    unsummarized: tuple[PromptNote, ...] = ()
    """User messages of an expired session that are not summarized yet, oldest first."""
    canvas: str = EMPTY_CANVAS  # JSON of the feature that draws on it, private elements included


@dataclass(frozen=True, slots=True)
class ArchivedSession:
    id: str
    key: SessionKey
    created_at: datetime
    last_active: datetime
    closed_at: datetime | None
    messages: int
    opening: str


MAX_SUMMARY_CHARACTERS: Final = 1500  # a private request may contain two summaries

_STATEMENT_CHARACTERS: Final = 300
_SENTENCE_END = re.compile(r"[。．！？!?]|\.(?=\s|$)|\n")


@dataclass(frozen=True, slots=True)
class Summary:
    visibility: Visibility
    content: str
    first_message_id: int
    last_message_id: int
    created_at: datetime
    tainted: bool = False  # as `Message.tainted`


@dataclass(frozen=True, slots=True)
class Backlog:
    key: SessionKey
    session_id: str
    closed: bool
    summarized_to: int  # the last message in a summary; 0 if there is none
    messages: tuple[Message, ...]  # oldest first, without attachments


def clean_summary(text: str) -> str:
    """Return at most MAX_SUMMARY_CHARACTERS, whole sentences if possible, without blank lines."""
    lines = (line.strip() for line in text.splitlines())
    whole = "\n".join(line for line in lines if line)
    if len(whole) <= MAX_SUMMARY_CHARACTERS:
        return whole
    kept = whole[:MAX_SUMMARY_CHARACTERS]
    ends = [found.end() for found in _SENTENCE_END.finditer(kept)]
    if ends and ends[-1] > MAX_SUMMARY_CHARACTERS // 3:
        return kept[: ends[-1]].rstrip()
    return f"{kept[:-1]}…"


def list_statements(statements: Iterable[str]) -> str:
    """Return user messages one a line, oldest first, without duplicates; only the newest if too long."""
    plain = (" ".join(statement.split()) for statement in statements)
    lines = [f"- {shorten(statement, _STATEMENT_CHARACTERS)}" for statement in plain if statement]
    newest_first = list(dict.fromkeys(reversed(lines)))
    left, kept = MAX_SUMMARY_CHARACTERS, list[str]()
    for line in newest_first:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    return "\n".join(reversed(kept))
