"""Fetching a file that came with a question. Discord's URLs expire, so the bytes are taken at once."""

import asyncio

import aiohttp
import hikari

from cc_bot.context.attachments import read_attachment, size_limit, too_large
from cc_bot.domain.errors import AttachmentNotFetched
from cc_bot.domain.message import Attachment

TIMEOUT_S = 20.0


async def fetch_attachment(attachment: hikari.Attachment) -> Attachment:
    """The file, read and checked.

    Raises AttachmentTooLarge (before anything is fetched), AttachmentNotSupported or AttachmentNotFetched.
    """
    limit = size_limit(attachment.media_type, attachment.filename)
    if attachment.size > limit:
        raise too_large(limit)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            data = await attachment.read()
    except (TimeoutError, hikari.HTTPError, aiohttp.ClientError, OSError) as error:
        raise AttachmentNotFetched from error
    return read_attachment(attachment.filename, data)
