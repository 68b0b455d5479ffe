"""Memories as messages: embeds for lists, one line for what was just done."""

from collections.abc import Sequence

import hikari

from cc_bot.domain.memory import DEFAULT_CATEGORY, Memory
from cc_bot.texts import Texts

PAGE_SIZE = 6
SHOWN_CHARACTERS = 200
"""Of each memory in a list: six of them stay under the 4096 characters of an embed's description, even if
every character needs a backslash."""
CHOICE_CHARACTERS = 100
"""The longest name of an autocomplete choice that Discord takes."""

COLOUR = 0x5865F2


def memory_list(title: str, memories: Sequence[Memory], words: Texts) -> hikari.Embed:
    """Memories under a title, each with its number, category, tags and date.

    Dates are written as Discord timestamps, which every client shows in its own time zone and language.
    """
    entries = (_entry(memory, words) for memory in memories)
    return hikari.Embed(title=_shortened(title, 250), description="\n\n".join(entries), colour=COLOUR)


def choice_name(memory: Memory) -> str:
    """A memory as a choice of an autocomplete list."""
    return _shortened(f"#{memory.id} {_one_line(memory.content)}", CHOICE_CHARACTERS)


def quoted(content: str) -> str:
    """A memory's text within a sentence: one line, and not too long for a message."""
    return _shortened(_one_line(content), 1500)


def receipt(template: str, memory: Memory, words: Texts) -> str:
    """What was just remembered, and where it will be used if not everywhere."""
    told = template.format(id=memory.id, content=quoted(memory.content))
    return f"{told}\n-# {words.memory.private_only}" if memory.audience == "private" else told


def _entry(memory: Memory, words: Texts) -> str:
    category = words.memory.general if memory.category == DEFAULT_CATEGORY else memory.category
    details = [_escaped(category), f"<t:{int(memory.updated_at.timestamp())}:d>"]
    if memory.tags:
        details.insert(1, _escaped(_shortened(" ".join(f"#{tag}" for tag in memory.tags), 60)))
    text = _shortened(_one_line(memory.content), SHOWN_CHARACTERS)
    return f"**#{memory.id}** {_escaped(text)}\n-# {' ・ '.join(details)}"


def _escaped(text: str) -> str:
    """The text as it was written, not as Markdown."""
    return "".join(f"\\{character}" if character in r"\*_~`|>[]<" else character for character in text)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
