"""What the buttons under an answer reply about memories. Only their owner reads it."""

from collections.abc import Sequence
from typing import Final

from cc_bot.discord.pages.memory_card import why
from cc_bot.discord.pages.memory_view import escaped, one_line, shortened, timestamp
from cc_bot.domain.memory import Memory
from cc_bot.texts import Texts

LIMIT: Final = 1900
"""Of Discord's 2000 characters."""
SHOWN_CHARACTERS: Final = 120
SHORT_CHARACTERS: Final = 40
"""Where there are too many to show that much of each."""


def used_list(memories: Sequence[Memory], words: Texts) -> str:
    """Each with its number, what it says, and where it came from; as many as a message holds, and how many
    more there are."""
    if not memories:
        return words.receipt.none_left
    full, short = (
        [_entry(memory, characters, words) for memory in memories]
        for characters in (SHOWN_CHARACTERS, SHORT_CHARACTERS)
    )
    hint = f"-# {words.receipt.what_next}"
    text = "\n".join((words.receipt.used_title, *full, hint))
    for left in range(len(short) + 1):
        if len(text) <= LIMIT:
            break
        more = [f"-# {words.receipt.more.format(count=left)}"] if left else []
        text = "\n".join((words.receipt.used_title, *short[: len(short) - left], *more, hint))
    return text


def within(template: str, memory: Memory) -> str:
    """A sentence about a memory."""
    return template.format(
        id=memory.number, content=escaped(shortened(one_line(memory.content), SHOWN_CHARACTERS))
    )


def _entry(memory: Memory, characters: int, words: Texts) -> str:
    text = escaped(shortened(one_line(memory.content), characters))
    origin = (why(memory.source, words), timestamp(memory.created_at), memory.source.link)
    return f"**#{memory.number}** {text}\n-# {' ・ '.join(filter(None, origin))}"
