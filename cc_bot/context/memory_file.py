"""Memories from the bytes of a file, in whatever encoding Japanese is written in."""

from cc_bot.context.encodings import decode_text
from cc_bot.domain.memory_transfer import PortableMemory, read_memories


def read_memory_file(data: bytes) -> list[PortableMemory]:
    """The memories of a file.

    JSON is always UTF-8, and may hold characters that no other text has. Raises ImportNotUnderstood or
    TooManyToImport.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = ""
    if not text.lstrip().startswith("{"):
        text = decode_text(data) or ""
    return read_memories(text)
