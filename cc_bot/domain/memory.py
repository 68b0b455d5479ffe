"""Memories: the long-term notes that a user asked to have kept."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from cc_bot.domain.errors import EmptyMemory, MemoryTooLong

MAX_CONTENT_CHARACTERS = 4000
MAX_CATEGORY_CHARACTERS = 50
MAX_TAGS = 20
DEFAULT_CATEGORY = "general"

Audience = Literal["anywhere", "private"]
"""Where a memory may be recalled: in every answer, or only in those that its user alone sees."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One note of one user, in every channel, until that user deletes it."""

    id: int
    user_id: int
    content: str
    category: str
    tags: tuple[str, ...]
    metadata: Mapping[str, str] = field(hash=False)
    created_at: datetime
    updated_at: datetime
    audience: Audience = "anywhere"


def clean_content(content: str) -> str:
    """The content as it is stored: stripped.

    Raises EmptyMemory or MemoryTooLong (more than MAX_CONTENT_CHARACTERS characters).
    """
    cleaned = content.strip()
    if not cleaned:
        raise EmptyMemory
    if len(cleaned) > MAX_CONTENT_CHARACTERS:
        raise MemoryTooLong(limit=MAX_CONTENT_CHARACTERS, length=len(cleaned))
    return cleaned


def clean_category(category: str | None) -> str:
    """The category as it is stored: one short line, DEFAULT_CATEGORY when there is none."""
    return " ".join((category or "").split())[:MAX_CATEGORY_CHARACTERS].strip() or DEFAULT_CATEGORY


def parse_tags(text: str | None) -> tuple[str, ...]:
    """Tags from what a user typed: separated by commas (、 and ，too) or white space, `#` optional."""
    words = (word.strip().lstrip("#＃") for word in re.split(r"[\s,、，]+", text or ""))
    return tuple(dict.fromkeys(word for word in words if word))[:MAX_TAGS]
