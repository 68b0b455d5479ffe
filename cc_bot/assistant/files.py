"""A file that a user hands over, read: by the process for documents, or here, off the loop."""

import asyncio
import io
from contextlib import nullcontext

from cc_bot.context.attachments import document_files, is_document, read_attachment
from cc_bot.domain.message import Attachment
from cc_bot.reading.reader import DocumentReader


async def read_files(
    name: str, file: io.BytesIO, documents: DocumentReader, *, has_turn: bool = False
) -> tuple[Attachment, ...]:
    """Read what was handed over: one file, and of a scan its pages as well. Of a document nothing is left in
    `file`; with `has_turn` the caller waited for the turn to read it. Raises an InputError."""
    data = file.getvalue()
    if not is_document(name, data):
        # Measuring a recording or decoding a text takes up to 0.5 s: no work for the event loop.
        return (await asyncio.to_thread(read_attachment, name, data),)
    del data
    async with nullcontext() if has_turn else documents.turn():
        found = await documents.read_now(file)
    return document_files(name, found.document, found.pictures)
