"""The notes that a prompt tells of its user from the start, in one line each.

Texts are JSON strings: however a note reads, it stays on its line and within its quotes. Long ones are cut,
since every token of them is paid for again with each question; `recall` tells the whole.
"""

import json
from collections.abc import Sequence
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.context.instructions import Instructions
from cc_bot.domain.memory import Memory

SHOWN: Final = 500
"""Characters of a note."""


def profile(notes: Sequence[Memory], who: str, words: Instructions, timezone: ZoneInfo) -> str:
    """The notes, marked off as what they are; empty where there are none. `who` names their user."""
    if not notes:
        return ""
    return "\n".join((words.profile.format(who=who), *(_line(note, timezone) for note in notes)))


def _line(note: Memory, timezone: ZoneInfo) -> str:
    text = note.content if len(note.content) <= SHOWN else f"{note.content[: SHOWN - 1]}…"
    day = note.updated_at.astimezone(timezone).date().isoformat()
    return f"- {day}: {json.dumps(text, ensure_ascii=False)}"
