"""Memories as a page to read: by category, each with its tags and dates."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo

from cc_bot.domain.memory import write_end
from cc_bot.domain.memory_transfer import MARKDOWN_MARK, PortableMemory
from cc_bot.texts import Texts

MAX_PART_BYTES = 8 * 2**20
"""Discord takes files of 10 MiB."""


def markdown_parts(
    memories: Sequence[PortableMemory], words: Texts, now: datetime, zone: tzinfo
) -> Iterator[str]:
    """Markdown files that hold all memories, each small enough for Discord. At least one."""
    page = to_markdown(memories, words, now, zone)
    if len(page.encode("utf-8", "replace")) <= MAX_PART_BYTES or len(memories) < 2:
        yield page
    else:
        half = len(memories) // 2
        yield from markdown_parts(memories[:half], words, now, zone)
        yield from markdown_parts(memories[half:], words, now, zone)


def to_markdown(memories: Sequence[PortableMemory], words: Texts, now: datetime, zone: tzinfo) -> str:
    """Days are those of the user's time zone."""
    title = words.memory_box.markdown_title.format(count=len(memories), date=_day(now, zone))
    by_category: defaultdict[str, list[PortableMemory]] = defaultdict(list)
    for memory in memories:
        by_category[memory.category].append(memory)
    lines = [f"# {title}", MARKDOWN_MARK]
    for category, kept in by_category.items():
        lines += ["", f"## {words.memory.shown_category(category)}", ""]
        for memory in kept:
            about = _about(memory, words, zone)
            lines += [f"- {_indented(memory.content)}", *([f"  *{about}*"] if about else [])]
    return "\n".join(lines) + "\n"


def _about(memory: PortableMemory, words: Texts, zone: tzinfo) -> str:
    told = words.memory_box
    details = (
        "📌" if memory.pinned else "",
        " ".join(f"#{tag}" for tag in memory.tags),
        _day(memory.created_at, zone) if memory.created_at else "",
        told.markdown_private if memory.audience == "private" else "",
        told.markdown_until.format(date=write_end(memory.expires_at, zone)) if memory.expires_at else "",
    )
    return " ・ ".join(filter(None, details))


def _indented(content: str) -> str:
    """All lines within the bullet; two blanks at their ends keep them lines."""
    return "  \n  ".join(content.splitlines()) + "  "


def _day(moment: datetime, zone: tzinfo) -> str:
    return moment.astimezone(zone).date().isoformat()
