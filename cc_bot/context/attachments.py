"""Files that came with a question, and what each becomes: an image, or text in UTF-8, or a clear refusal.

The bytes decide what a file is. Its name and the type that the sender claims are often wrong: they are
only asked how large the file may be, before it is fetched.
"""

import mimetypes
import re

from cc_bot.domain.encodings import decode_text
from cc_bot.domain.errors import AttachmentNotSupported, AttachmentTooLarge
from cc_bot.domain.memory_transfer import PortableMemory, read_memories
from cc_bot.domain.message import Attachment

MAX_IMAGE_BYTES = 8 * 2**20
MAX_TEXT_BYTES = 256 * 2**10
"""Of the file, and of its text in UTF-8: some 90,000 Japanese characters."""

_TEXT_TYPES = frozenset({"application/json", "application/xml", "application/javascript", "image/svg+xml"})
_NO_TEXT = (b"%PDF-", b"PK\x03\x04", b"PK\x05\x06", b"{\\rtf")
"""What could pass for text, if the file is short, but shows nothing that a person wrote."""

_HEAD_BYTES = 4096
_LONGEST_NAME = 100


def size_limit(content_type: str | None, name: str) -> int:
    """The most bytes that a file may have, as far as can be told before it is fetched."""
    claimed = (content_type or mimetypes.guess_type(name)[0] or "").partition(";")[0].strip().lower()
    is_text = claimed.startswith("text/") or claimed in _TEXT_TYPES
    return MAX_TEXT_BYTES if is_text else MAX_IMAGE_BYTES  # what says neither may turn out to be an image


def too_large(limit_bytes: int) -> AttachmentTooLarge:
    """The refusal of a file that has more bytes than this."""
    mebibytes, kibibytes = limit_bytes >> 20, limit_bytes >> 10
    return AttachmentTooLarge(limit=f"{mebibytes} MB" if mebibytes else f"{kibibytes} KB")


def read_attachment(name: str, data: bytes) -> Attachment:
    """The file as it goes to the model: an image as it is, or text in UTF-8 as `text/plain`.

    Text may come in UTF-8, UTF-16, Shift_JIS, EUC-JP or ISO-2022-JP. Raises AttachmentTooLarge (an image over
    MAX_IMAGE_BYTES, text over MAX_TEXT_BYTES, as it came or in UTF-8) and AttachmentNotSupported (empty, or
    neither of the two).
    """
    image_type = _image_type(data)
    if image_type is not None:
        if len(data) > MAX_IMAGE_BYTES:
            raise too_large(MAX_IMAGE_BYTES)
        return Attachment(name, image_type, data)
    if data.startswith(_NO_TEXT) or (len(data) > MAX_TEXT_BYTES and b"\0" in data[:_HEAD_BYTES]):
        raise AttachmentNotSupported
    if len(data) > MAX_TEXT_BYTES:
        raise too_large(MAX_TEXT_BYTES)
    text = decode_text(data)
    if text is None or not text.strip():
        raise AttachmentNotSupported
    encoded = text.encode()
    if len(encoded) > MAX_TEXT_BYTES:
        raise too_large(MAX_TEXT_BYTES)
    return Attachment(name, "text/plain", encoded)


def as_prompt_text(attachment: Attachment) -> str:
    """Write a text file as it stands in a question: named, and fenced so that nothing in it ends the
    fence."""
    text = attachment.data.decode()
    longest_run = max(map(len, re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest_run + 1)
    end = "" if text.endswith("\n") else "\n"
    return f'The user attached the file "{_shown_name(attachment.name)}":\n{fence}\n{text}{end}{fence}'


def _shown_name(name: str) -> str:
    """A name that is one short line and can't be taken for anything but a name."""
    printable = "".join(character for character in name if character.isprintable() and character not in '"`')
    return printable.strip()[:_LONGEST_NAME] or "file"


def _image_type(data: bytes) -> str | None:
    """The media type of an image that models read, by its first bytes; None for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


# ---- memory file -----------------------------------------------------------------------------------------
# Memories from the bytes of a file, in whatever encoding Japanese is written in.


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
