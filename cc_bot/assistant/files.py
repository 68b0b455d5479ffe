"""A file that a user hands over, read: by the process for documents, or here, off the loop."""

import asyncio

from cc_bot.context.attachments import document_files, is_document, read_attachment
from cc_bot.domain.message import Attachment
from cc_bot.reading.reader import DocumentReader


async def read_files(name: str, data: bytes, documents: DocumentReader) -> tuple[Attachment, ...]:
    """Read what was handed over: one file, and of a scan its pages as well. Raises an InputError."""
    if is_document(name, data):
        found = await documents.read(data)
        return document_files(name, data, found.document, found.pictures)
    # Trying the encodings of a text takes up to 0.2 s: no work for the event loop.
    return (await asyncio.to_thread(read_attachment, name, data),)
