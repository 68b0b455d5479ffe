"""The memories of whoever is signed in: found, read, written, and handed out and in.

What `/memory` does on Discord is done here by the same services. A memory is named in an address by its
number, which is its user's own.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast, get_args

from aiohttp import web
from aiohttp.web_request import FileField

from cc_bot.domain.errors import (
    EmptyMemory,
    ImportNotUnderstood,
    InputError,
    MemoryEditOutdated,
    NothingHere,
    RequestTooLarge,
)
from cc_bot.domain.memory import (
    DEFAULT_CATEGORY,
    Audience,
    ErasureCounts,
    FoundMemory,
    Memory,
    MemoryFilter,
    SourceKind,
    parse_end,
    parse_tags,
)
from cc_bot.memories import MemoryForm, fill_form, mark_of
from cc_bot.texts import Texts
from cc_bot.web.form import PageNumber, id_in, number_of, text_of
from cc_bot.web.page import render, see_other
from cc_bot.web.privacy import send_file
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SignedIn, visitor_of

ON_A_PAGE: Final = 20
MOST_FOUND: Final = 50
"""Of a search, the best ones."""
LONGEST_QUERY: Final = 500
MOST_PLANNED_BYTES: Final = 900_000
"""Of an import: a page sends it back when its user has said yes, in a request of 1 MB."""
MARK_SURE: Final = 0.5
"""A search that is less sure of a memory says `maybe`."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The memories that somebody looks for."""

    query: str
    only: MemoryFilter

    @property
    def fields(self) -> dict[str, str]:
        """The fields of an address that asks for it."""
        return {
            "q": self.query,
            "category": self.only.category or "",
            "tag": self.only.tags[0] if self.only.tags else "",
            "audience": self.only.audience or "",
            "origin": "none" if self.only.origin == "" else self.only.origin or "",
        }

    @property
    def narrowed(self) -> bool:
        return any(self.fields.values())


class MemoryPages:
    def __init__(self, services: WebServices) -> None:
        self._services = services
        self._stores = services.stores
        self._memories = services.memories

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/memories", self.list),
            web.post("/memories", self.add),
            web.post("/memories/several", self.change_several),
            web.post("/memories/pause", self.pause),
            web.get("/memories/import", self.show_import),
            web.post("/memories/import", self.preview_import),
            web.post("/memories/import/take", self.take_import),
            web.get("/memories/export.json", self.export),
            web.get("/memories/export.md", self.export_readable),
            web.get("/memories/{number}", self.show),
            web.post("/memories/{number}", self.edit),
            web.post("/memories/{number}/delete", self.delete),
            web.post("/memories/{number}/undelete", self.undelete),
            web.get("/memories/{number}/erase", self.ask_to_erase),
            web.post("/memories/{number}/erase", self.erase),
            web.post("/memories/{number}/restore", self.restore),
            web.post("/memories/{number}/pin", self.pin),
        )

    # ---- looking -------------------------------------------------------------------------------------------

    async def list(self, request: web.Request) -> web.Response:
        """Show what is searched for, or a page of all, newest first."""
        visitor = visitor_of(request)
        wanted, user_id = _wanted(request, visitor.words), visitor.user_id
        if wanted.query:
            found = await self._stores.memories.find(
                user_id, wanted.query, limit=MOST_FOUND, audience="private", only=wanted.only
            )
            count, page = len(found), PageNumber(1, 1)
        else:
            count = await self._stores.memories.count(user_id, only=wanted.only)
            page = PageNumber.of(request, count, ON_A_PAGE)
            kept = await self._stores.memories.list(
                user_id, limit=ON_A_PAGE, offset=page.offset(ON_A_PAGE), only=wanted.only
            )
            found = [FoundMemory(each, 1.0) for each in kept]
        statistics = await self._stores.memories.get_statistics(user_id)
        return render(
            request,
            "memories.html",
            visitor,
            wanted=wanted,
            found=found,
            count=count,
            page=page,
            statistics=statistics,
            tags=await self._stores.memories.list_tags(user_id),
            now=self._services.clock(),
            sure=MARK_SURE,
            **await self._describe_press(request, visitor),
        )

    async def show(self, request: web.Request) -> web.Response:
        """Show all that is known of one, with what it said before, and a form to change it."""
        visitor = visitor_of(request)
        kept = await self._get(request, visitor)
        return await self._show(request, visitor, kept, fill_form(kept, visitor.timezone))

    async def _show(
        self,
        request: web.Request,
        visitor: SignedIn,
        kept: Memory,
        form: MemoryForm,
        *,
        entered: bool = False,
    ) -> web.Response:
        """`entered`: the form holds what somebody wrote over a text that is another by now."""
        versions = await self._stores.memory_history.list_versions(visitor.user_id, kept.id)
        return render(
            request,
            "memory.html",
            visitor,
            status=409 if entered else 200,
            kept=kept,
            form=form,
            mark=mark_of(kept),
            conflict=entered,
            versions=versions,
            now=self._services.clock(),
        )

    async def _describe_press(self, request: web.Request, visitor: SignedIn) -> dict[str, Any]:
        """Return what a press before has to be told of: a memory that can be had back, and how many."""
        gone = request.query.get("gone", "")
        hidden = None
        if gone.isascii() and gone.isdecimal() and len(gone) < 19:
            memory_id = await self._stores.memories.get_id(visitor.user_id, int(gone))
            if memory_id is not None:
                hidden = await self._stores.memory_removal.get_hidden(visitor.user_id, memory_id)
        counts = {name: _count(request.query.get(name, "")) for name in ("done_of", "left")}
        return {"gone": hidden, **counts}

    async def _get(self, request: web.Request, visitor: SignedIn) -> Memory:
        """Return the one that the address names. Raises NothingHere."""
        kept = await self._stores.memories.get_by_number(visitor.user_id, id_in(request, "number"))
        if kept is None:
            raise NothingHere
        return kept

    # ---- writing -------------------------------------------------------------------------------------------

    async def add(self, request: web.Request) -> web.Response:
        """Keep a new one. Raises InputErrors as `/memory add` does."""
        visitor, form = visitor_of(request), await _form(request)
        if not form.content.strip():
            raise EmptyMemory
        await self._stores.memories.add(
            visitor.user_id,
            form.content,
            category=visitor.words.memory.stored_category(form.category) or DEFAULT_CATEGORY,
            tags=parse_tags(form.tags),
            audience=form.audience or "anywhere",
            expires_at=parse_end(form.end, self._services.clock(), visitor.timezone),
        )
        return see_other("/memories", "memory_added")

    async def edit(self, request: web.Request) -> web.Response:
        """Change one, unless it is another by now: then both are shown, and neither is kept by itself."""
        visitor, form = visitor_of(request), await _form(request)
        kept = await self._get(request, visitor)
        if await text_of(request, "mark") != mark_of(kept):
            return await self._show(request, visitor, kept, form, entered=True)
        try:
            changed = await self._memories.edit(kept, form, visitor.words.memory, visitor.timezone)
        except MemoryEditOutdated:
            kept = await self._get(request, visitor)
            return await self._show(request, visitor, kept, form, entered=True)
        if changed is None:
            raise NothingHere
        await self._services.discord.receipts_changed(visitor.user_id)
        return see_other(f"/memories/{kept.number}", "memory_edited")

    async def restore(self, request: web.Request) -> web.Response:
        """Have one say again what it said before."""
        visitor = visitor_of(request)
        kept, version_id = await self._get(request, visitor), number_of(await text_of(request, "version"))
        versions = await self._stores.memory_history.list_versions(visitor.user_id, kept.id)
        if version_id not in {each.id for each in versions}:
            raise NothingHere
        await self._stores.memory_history.restore(visitor.user_id, version_id)
        await self._services.discord.receipts_changed(visitor.user_id)
        return see_other(f"/memories/{kept.number}", "memory_restored")

    async def pin(self, request: web.Request) -> web.Response:
        """Pin one, or take its pin off. Raises TooManyPinned."""
        visitor = visitor_of(request)
        kept, pins = await self._get(request, visitor), self._stores.memory_pins
        wanted = await text_of(request, "pinned") == "yes"
        await (pins.pin if wanted else pins.unpin)(visitor.user_id, kept.id)
        return see_other(f"/memories/{kept.number}", "memory_pinned" if wanted else "memory_unpinned")

    async def pause(self, request: web.Request) -> web.Response:
        """Have nothing stored or recalled from now on, or go back to it."""
        visitor, paused = visitor_of(request), await text_of(request, "paused") == "yes"
        await self._stores.settings.pause_memory(visitor.user_id, paused)
        return see_other("/memories", "memories_paused" if paused else "memories_resumed")

    # ---- taking leave --------------------------------------------------------------------------------------

    async def delete(self, request: web.Request) -> web.Response:
        """Hide one; for some minutes it can be had back."""
        visitor = visitor_of(request)
        kept = await self._get(request, visitor)
        await self._memories.forget(visitor.user_id, kept.id)
        await self._services.discord.receipts_changed(visitor.user_id)
        return see_other("/memories", "memory_deleted", gone=kept.number)

    async def undelete(self, request: web.Request) -> web.Response:
        """Have one back that was deleted. Raises NothingHere when it is too late, TooManyMemories or
        MemoryFull."""
        visitor, number = visitor_of(request), id_in(request, "number")
        memory_id = await self._stores.memories.get_id(visitor.user_id, number)
        if memory_id is None or await self._memories.have_back(visitor.user_id, memory_id) is None:
            raise NothingHere
        await self._services.discord.receipts_changed(visitor.user_id)
        return see_other(f"/memories/{number}", "memory_back")

    async def ask_to_erase(self, request: web.Request) -> web.Response:
        """Show what an erasing covers, of one that is there or can still be had back."""
        visitor = visitor_of(request)
        memory_id = await self._known_id(request, visitor)
        told_in = await self._stores.memory_removal.count_messages(visitor.user_id, memory_id)
        hidden = await self._stores.memory_removal.get_hidden(visitor.user_id, memory_id)
        kept = hidden.memory if hidden else await self._get(request, visitor)
        return render(request, "memory_erase.html", visitor, kept=kept, told_in=told_in)

    async def erase(self, request: web.Request) -> web.Response:
        """Erase one for good, from stored conversations as well where that is asked for."""
        visitor = visitor_of(request)
        memory_id = await self._known_id(request, visitor)
        mark = visitor.words.erasure.mark if await text_of(request, "said") == "yes" else None
        erased = await self._stores.memory_removal.erase(visitor.user_id, memory_id, mark=mark)
        await self._after_erasing(visitor)
        return self._erased(request, visitor, erased or ErasureCounts())

    async def change_several(self, request: web.Request) -> web.Response:
        """Delete, erase or file those that are ticked; tell how many that was, and how many are gone."""
        visitor, form = visitor_of(request), await request.post()
        numbers = [number_of(each) for each in form.getall("number", []) if isinstance(each, str)][
            : ON_A_PAGE * 5
        ]
        memories, user_id = self._stores.memories, visitor.user_id
        found = await asyncio.gather(
            *(memories.get_by_number(user_id, each) for each in dict.fromkeys(numbers))
        )
        kept = [each for each in found if each is not None]
        if not kept:
            return see_other("/memories", "memories_none")
        left = len(found) - len(kept)
        match await text_of(request, "action"):
            case "delete":
                done = [await memories.delete(user_id, each.id) for each in kept]
                told = "several_deleted"
            case "category":
                category = visitor.words.memory.stored_category(await text_of(request, "category"))
                done = [
                    bool(await memories.update(user_id, each.id, category=category or DEFAULT_CATEGORY))
                    for each in kept
                ]
                told = "several_filed"
            case "erase" if await text_of(request, "sure") != "yes":
                told_in = await self._stores.memory_removal.count_messages(
                    user_id, *(each.id for each in kept)
                )
                return render(request, "memories_erase.html", visitor, kept=kept, told_in=told_in)
            case "erase":
                mark = visitor.words.erasure.mark if await text_of(request, "said") == "yes" else None
                ids = [each.id for each in kept]
                erased = await self._stores.memory_removal.erase(user_id, *ids, mark=mark)
                await self._after_erasing(visitor)
                return self._erased(request, visitor, erased or ErasureCounts())
            case _:
                raise InputError
        await self._services.discord.receipts_changed(user_id)
        return see_other("/memories", told, done_of=sum(done), left=left + done.count(False))

    async def _known_id(self, request: web.Request, visitor: SignedIn) -> int:
        memory_id = await self._stores.memories.get_id(visitor.user_id, id_in(request, "number"))
        if memory_id is None:
            raise NothingHere
        return memory_id

    async def _after_erasing(self, visitor: SignedIn) -> None:
        """Have Discord follow: what is erased may stand on canvases and in receipts too."""
        await self._services.discord.receipts_changed(visitor.user_id)
        for key in await self._stores.canvases.list_keys(visitor.user_id):
            await self._services.discord.canvas_changed(key)

    def _erased(self, request: web.Request, visitor: SignedIn, erased: ErasureCounts) -> web.Response:
        told = visitor.words.erasure.told(erased).splitlines()
        return render(
            request, "memory_erased.html", visitor, told=[line.removeprefix("-# ") for line in told]
        )

    # ---- files ---------------------------------------------------------------------------------------------

    async def export(self, request: web.Request) -> web.StreamResponse:
        """Send all of them as one file that can be imported again."""
        visitor = visitor_of(request)
        pieces = self._memories.read_json(visitor.user_id)
        return await send_file(request, pieces, self._file_name(visitor, "json"), "application/json")

    async def export_readable(self, request: web.Request) -> web.StreamResponse:
        """Send the same as a text to read."""
        visitor = visitor_of(request)
        pieces = self._memories.read_markdown(visitor.user_id, visitor.words, visitor.timezone)
        return await send_file(request, pieces, self._file_name(visitor, "md"), "text/markdown")

    async def show_import(self, request: web.Request) -> web.Response:
        """Ask for a file."""
        return render(request, "memory_import.html", visitor_of(request), plan=None)

    async def preview_import(self, request: web.Request) -> web.Response:
        """Show what a file would bring. Raises as `/memory import` does, and RequestTooLarge for what a page
        could not send back."""
        visitor, file = visitor_of(request), (await request.post()).get("file")
        if not isinstance(file, FileField):
            raise ImportNotUnderstood
        data = await asyncio.to_thread(file.file.read)
        plan, planned = await self._memories.plan_import(
            visitor.user_id,
            partial(_hand_over, data),
            audience=_audience(await text_of(request, "audience")) or "anywhere",
            paused=visitor.memory_paused,
        )
        if len(planned.encode()) > MOST_PLANNED_BYTES:
            raise RequestTooLarge
        return render(request, "memory_import.html", visitor, plan=plan, planned=planned)

    async def take_import(self, request: web.Request) -> web.Response:
        """Keep what the preview said is new; it comes back with the press. Raises as `preview_import`."""
        visitor = visitor_of(request)
        data = (await text_of(request, "planned")).encode("utf-8", "replace")
        count = await self._memories.take_import(
            visitor.user_id, partial(_hand_over, data), paused=visitor.memory_paused
        )
        return see_other("/memories", "memories_imported", done_of=count)

    def _file_name(self, visitor: SignedIn, kind: str) -> str:
        day = self._services.clock().astimezone(visitor.timezone).date().isoformat()
        return f"memories-{day}.{kind}"


async def _hand_over(data: bytes) -> bytes:
    return data


async def _form(request: web.Request) -> MemoryForm:
    content, category, tags, end = [
        await text_of(request, name) for name in ("content", "category", "tags", "end")
    ]
    return MemoryForm(content, category, tags, end, _audience(await text_of(request, "audience")))


def _audience(text: str) -> Audience | None:
    return cast("Audience", text) if text in get_args(Audience) else None


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 0


def _wanted(request: web.Request, words: Texts) -> _Wanted:
    """Read what an address asks for; what it can't mean is left out."""
    query = request.query
    origin = query.get("origin", "")
    origins = {"none" if each == "" else each: each for each in get_args(SourceKind)}
    only = MemoryFilter(
        words.memory.stored_category(query.get("category", "")) or None,
        tuple(filter(None, [query.get("tag", "").strip()])),
        _audience(query.get("audience", "")),
        cast("SourceKind | None", origins.get(origin)) if origin else None,
    )
    return _Wanted(query.get("q", "").strip()[:LONGEST_QUERY], only)
