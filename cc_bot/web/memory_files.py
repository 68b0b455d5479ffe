"""Export and import of memories, and pausing memory.

An import is previewed first: the confirming form carries the compressed file, which is checked again.
"""

import asyncio
import base64
import binascii
import zlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, get_args

from aiohttp import web

from cc_bot.commands import memories
from cc_bot.commands.memories import MAX_PLANNED_BYTES, plan_import, read_json, read_markdown, take_import
from cc_bot.domain.errors import AttachmentTooLarge, ImportNotUnderstood, InputError
from cc_bot.domain.memory import Audience
from cc_bot.domain.memory_transfer import MAX_IMPORTED
from cc_bot.domain.text import one_line, shorten
from cc_bot.web.form import form_of, text_of
from cc_bot.web.page import go_on, go_on_with, render, send_file
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SignedIn, visitor_of

SHOWN: Final = 50
"""In the preview."""
SHOWN_CHARACTERS: Final = 120
MAX_PACKED_CHARACTERS: Final = 990_000
"""Larger forms would be refused."""
SURE_TO_ARRIVE: Final = "500 KB"
"""A file of this size always fits."""


class MemoryFilePages:
    def __init__(self, services: WebServices) -> None:
        self._services = services

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/memories/export", self.export),
            web.get("/memories/import", self.show_import),
            web.post("/memories/import", self.preview),
            web.post("/memories/import/take", self.take),
            web.post("/memories/pause", self.pause),
            web.post("/memories/resume", self.pause),
        )

    async def export(self, request: web.Request) -> web.StreamResponse:
        """Send all memories as one file. Raises FilesInLine."""
        visitor, service = visitor_of(request), self._services.memories
        if not await self._services.stores.memories.count(visitor.user_id):
            return go_on(request, visitor, "/memories", "memories_none")
        day = self._services.clock().astimezone(visitor.timezone).date().isoformat()
        name = visitor.words.web_memory.export_name.format(day=day)
        if request.query.get("format") == "markdown":
            pieces = read_markdown(visitor, service=service)
            return await send_file(request, pieces, f"{name}.md", "text/markdown")
        pieces = read_json(visitor, service=service)
        return await send_file(request, pieces, f"{name}.json", "application/json")

    async def show_import(self, request: web.Request) -> web.Response:
        return self._import_page(request, visitor_of(request))

    async def preview(self, request: web.Request) -> web.StreamResponse:
        """Show what a file would add. Raises InputError for a foreign form."""
        visitor, asked = visitor_of(request), text_of(request, "audience")
        audience: Audience | None = next((each for each in get_args(Audience) if each == asked), None)
        if audience is None:
            raise InputError
        sent = form_of(request).get("file")
        if not isinstance(sent, bytes):
            return self._import_page(request, visitor, ImportNotUnderstood())
        try:
            plan, planned = await plan_import(
                visitor, _at_hand(sent), audience=audience, service=self._services.memories
            )
            packed = await asyncio.to_thread(_pack, planned)
        except InputError as error:
            return self._import_page(request, visitor, error)
        shown = [shorten(one_line(each.content), SHOWN_CHARACTERS) for each in plan.new[:SHOWN]]
        return render(request, "memories_import_preview.html", visitor, plan=plan, packed=packed, shown=shown)

    async def take(self, request: web.Request) -> web.StreamResponse:
        """Import what was shown."""
        visitor = visitor_of(request)
        try:
            planned = await asyncio.to_thread(_unpack, text_of(request, "planned"))
            count = await take_import(visitor, _at_hand(planned), service=self._services.memories)
        except InputError as error:
            return self._import_page(request, visitor, error)
        return go_on(request, visitor, "/memories", "memories_imported", count=f"{count:,}")

    async def pause(self, request: web.Request) -> web.StreamResponse:
        """Pause or resume, as the path says."""
        visitor = visitor_of(request)
        run = memories.pause if request.path.endswith("/pause") else memories.resume
        return go_on_with(request, visitor, "/memories", await run(visitor, service=self._services.memories))

    def _import_page(
        self, request: web.Request, visitor: SignedIn, problem: InputError | None = None
    ) -> web.Response:
        return render(request, "memories_import.html", visitor, problem=problem, limit=MAX_IMPORTED)


def _at_hand(data: bytes) -> Callable[[], Awaitable[bytes]]:
    async def fetch() -> bytes:
        return data

    return fetch


def _pack(planned: str) -> str:
    """Return a file as a form field. Raises AttachmentTooLarge."""
    packed = base64.b64encode(zlib.compress(planned.encode("utf-8", "replace"))).decode()
    if len(packed) > MAX_PACKED_CHARACTERS:
        raise AttachmentTooLarge(limit=SURE_TO_ARRIVE)
    return packed


def _unpack(packed: str) -> bytes:
    try:
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(base64.b64decode(packed, validate=True), MAX_PLANNED_BYTES)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise InputError from error
    if not unpacking.eof:
        raise InputError
    return data
