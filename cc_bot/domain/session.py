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
    has_more: bool = field(default=False, compare=False)
    """True if the session may have earlier messages that were not read."""
    has_files: bool = field(default=True, compare=False)
    summaries: tuple[PromptNote, ...] = ()
    unsummarized: tuple[PromptNote, ...] = ()
    """User messages of an expired session that are not summarized yet, oldest first."""
    canvas: str = EMPTY_CANVAS  # JSON, with private elements


@dataclass(frozen=True, slots=True)
class ArchivedSession:
    id: str
    key: SessionKey
    created_at: datetime
    last_active: datetime
    closed_at: datetime | None
    messages: int  # how many
    opening: str  # the beginning of the first question


MAX_SUMMARY_CHARACTERS: Final = 1500  # a private request may contain two summaries

_MAX_STATEMENT_CHARACTERS: Final = 300
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
    """Return at most MAX_SUMMARY_CHARACTERS without blank lines, if possible in whole sentences."""
    lines = (line.strip() for line in text.splitlines())
    summary = "\n".join(line for line in lines if line)
    if len(summary) <= MAX_SUMMARY_CHARACTERS:
        return summary
    summary = summary[:MAX_SUMMARY_CHARACTERS]
    ends = [match.end() for match in _SENTENCE_END.finditer(summary)]
    if ends and ends[-1] > MAX_SUMMARY_CHARACTERS // 3:
        return summary[: ends[-1]].rstrip()
    return f"{summary[:-1]}…"


def list_quoted(statements: Iterable[str]) -> str:
    """Return the newest user messages that fit, one per line, oldest first, without duplicates."""
    plain = (" ".join(statement.split()) for statement in statements)
    lines = [f"- {shorten(statement, _MAX_STATEMENT_CHARACTERS)}" for statement in plain if statement]
    newest_first, room = list[str](), MAX_SUMMARY_CHARACTERS
    for line in dict.fromkeys(reversed(lines)):
        room -= len(line) + 1
        if room < 0:
            break
        newest_first.append(line)
    return "\n".join(reversed(newest_first))
