"""Sends a file while it is being made."""

from collections.abc import AsyncIterator
from urllib.parse import quote

import structlog
from aiohttp import web

from cc_bot.domain.errors import CcBotError

_log = structlog.get_logger(__name__)


def disposition_of(name: str) -> str:
    """Return the header with a file's name in any script (RFC 6266)."""
    plain = "".join(letter if letter.isascii() and letter not in '"\\' else "_" for letter in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


async def send_file(
    request: web.Request, pieces: AsyncIterator[bytes], name: str, content_type: str
) -> web.StreamResponse:
    """Send a file while it is being made. An error on the way cuts the connection, so that no browser takes a
    part for the whole. Raises errors before the first piece."""
    response = web.StreamResponse(headers={"Content-Disposition": disposition_of(name)})
    response.content_type = content_type
    first = await anext(pieces, b"")
    await response.prepare(request)
    try:
        await response.write(first)
        async for piece in pieces:
            await response.write(piece)
    except CcBotError as error:
        _log.warning("download_cut_short", error=type(error).__name__)
        if request.transport is not None:
            request.transport.abort()
        return response
    await response.write_eof()
    return response
