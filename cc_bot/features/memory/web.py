"""Pages to list, search, add, change, erase, pause, export and import one's memories.

Addresses contain per-user numbers, so no page reaches another user's memories. The form that confirms an
import contains the compressed file, which is checked again.
"""

import asyncio
import base64
import binascii
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args
from urllib.parse import parse_qsl, urlencode

from aiohttp import web

from cc_bot.chat.reply import Reply
from cc_bot.db import Row
from cc_bot.domain.errors import (
    AttachmentTooLarge,
    CategoryNeeded,
    ImportNotUnderstood,
    InputError,
    MemoryEditOutdated,
    MemoryHidden,
    NothingHere,
    TooManyChosen,
)
from cc_bot.domain.text import one_line, shorten
from cc_bot.features.memory import service as memories
from cc_bot.features.memory.files import MAX_IMPORTED, PortableMemory
from cc_bot.features.memory.model import (
    MAX_CATEGORY_CHARACTERS,
    UNDO_TIME,
    Audience,
    ErasureCounts,
    FoundMemory,
    Memory,
    MemoryFilter,
    Source,
    SourceKind,
    format_end,
    read_category,
)
from cc_bot.features.memory.service import (
    MAX_END_CHARACTERS,
    MAX_FOUND,
    MAX_PLANNED_BYTES,
    MAX_QUERY_CHARACTERS,
    MAX_TAGS_CHARACTERS,
    UNSURE_BELOW,
    Memories,
    MemoryForm,
    export_file,
    fill_form,
    form_hash,
    plan_import,
    run_import,
)
from cc_bot.features.memory.texts import MemoryCardTexts, MemoryTexts, WebMemoryTexts
from cc_bot.features.privacy.texts import ErasureTexts
from cc_bot.texts import Texts
from cc_bot.texts.web import WebTexts
from cc_bot.web.form import PageNumber, form_of, id_in, number_of, text_of
from cc_bot.web.page import Handler, Pages, explain_error, pop_notice, redirect, render, see_other, send_file
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import visitor_of

PAGE_SIZE: Final = 30
MAX_CHOSEN: Final = 200
MAX_PREVIEW_CHARACTERS: Final = 200
MAX_CHOICES: Final = 100
PART_HEADER: Final = "X-Part"  # part of a page that a script loads

_ORIGINS: Final[Mapping[str, SourceKind]] = {kind or "none": kind for kind in get_args(SourceKind)}
_AUDIENCES: Final[Mapping[str, Audience]] = {each: each for each in get_args(Audience)}
_CHOICES: Final = {"audience": _AUDIENCES, "origin": _ORIGINS, "order": ("oldest", "updated")}
_PARAMETERS: Final = ("q", "category", "tag", *_CHOICES, "page")
_LIMITS: Final = {
    "most_category": MAX_CATEGORY_CHARACTERS,
    "most_tags": MAX_TAGS_CHARACTERS,
    "most_end": MAX_END_CHARACTERS,
    "most_query": MAX_QUERY_CHARACTERS,
}

MAX_PREVIEWED: Final = 50
MAX_PACKED_CHARACTERS: Final = 990_000  # a larger form would be refused
GUARANTEED_IMPORT_SIZE: Final = "500 KB"  # always fits in the form


def list_params(given: Mapping[str, str]) -> Mapping[str, str]:
    """Return the valid parameters of a list's address: query, filter and order."""
    cut = {name: " ".join(given.get(name, "").split())[:MAX_QUERY_CHARACTERS] for name in _PARAMETERS[:-1]}
    return {name: text for name, text in cut.items() if text and text in _CHOICES.get(name, (text,))}


State = Literal["there", "hidden", "gone"]
Action = Literal["delete", "undelete", "category"]  # of a bulk action


@dataclass(frozen=True, slots=True)
class MemoryOutcome:
    number: int
    memory: Memory | None = None
    until: datetime | None = None  # end of the undo period, if hidden
    why_not: str = ""  # why the action failed

    @property
    def state(self) -> State:
        return "gone" if self.memory is None else "hidden" if self.until else "there"


class MemoryPages(Pages):
    path = "/memories"
    rank = 1

    def __init__(self, services: WebServices) -> None:
        super().__init__(services)
        self._memories = services.stores.memories
        self._removal = services.stores.memory_removal

    def title(self, words: Texts) -> str:
        return words[WebTexts].memories

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        pages: Sequence[tuple[str, Handler, Handler]] = (
            ("/memories", self.list, self.add),
            ("/memories/several", self.show_several, self.change_several),
            ("/memories/erase", self.ask_to_erase, self.erase),
            ("/memories/erase-all", self.ask_to_erase_all, self.erase_all),
            ("/memories/import", self.show_import, self.preview),
            ("/memories/{number}", self.show, self.edit),
        )
        return (
            web.get("/memories/export", self.export),
            web.post("/memories/import/take", self.confirm_import),
            web.post("/memories/pause", self.set_paused),
            web.post("/memories/resume", self.set_paused),
            *(web.get(path, show) for path, show, _ in pages),
            *(web.post(path, press) for path, _, press in pages),
            web.post("/memories/{number}/{action:undo-edit|restore|delete|undelete|pin|unpin}", self.change),
        )

    async def list(self, request: web.Request) -> web.Response:
        return await self._list(request, request.query)

    async def add(self, request: web.Request) -> web.StreamResponse:
        """Add a memory; invalid input is shown again. Raises InputError for a foreign form."""
        visitor = visitor_of(request)
        entered = _form(request)
        try:
            added, reply = await memories.add(
                visitor,
                content=entered.content,
                category=entered.category,
                tags=entered.tags,
                audience=entered.audience or "private",
                expires=entered.end,
                source=Source("command"),
                service=self._services[Memories],
            )
        except InputError as error:
            return await self._list(request, {}, entered=entered, problem=error)
        return await self._redirect_with_reply(request, _path(added.number), reply)

    async def _list(
        self,
        request: web.Request,
        given: Mapping[str, str],
        *,
        entered: MemoryForm | None = None,
        chosen: Sequence[int] = (),
        category: str = "",
        problem: InputError | None = None,
    ) -> web.Response:
        """Show a page of the list; after an error, also the input or selection. Raises NothingHere."""
        visitor, params = visitor_of(request), list_params(given)
        page_number = number_of(given.get("page", "1"))
        user_id = visitor.user_id
        only = MemoryFilter(
            category=params.get("category"),
            tags=(params["tag"],) if "tag" in params else (),
            audience=_AUDIENCES.get(params.get("audience", "")),
            origin=_ORIGINS.get(params.get("origin", "")),
        )
        found = await memories.find_page(
            visitor,
            query=params.get("q", ""),
            only=only,
            order=params.get("order", "newest"),
            page=page_number,
            page_size=PAGE_SIZE,
            service=self._services[Memories],
        )
        if found.page != max(1, page_number):
            raise NothingHere
        listed = {each.memory.number for each in found.found}
        elsewhere = [
            FoundMemory(memory, 1.0)
            for number in chosen
            if number not in listed and (memory := await self._memories.get_by_number(user_id, number))
        ]
        now = self._services.clock()
        categories: Sequence[Row] = ()
        tags: Sequence[Row] = ()
        if PART_HEADER not in request.headers:
            categories = await self._memories.list_categories(user_id, limit=MAX_CHOICES)
            tags = await self._memories.list_tags(user_id, limit=MAX_CHOICES)
        return render(
            request,
            "memory/memories.html",
            problem=problem,
            params=params,
            found=found.found,
            count=_count_sentence(found.count, "q" in params, visitor.words[WebMemoryTexts]),
            page=PageNumber(found.page, found.pages),
            categories=categories,
            tags=tags,
            narrowed=bool(params.keys() - {"q"}),
            entered=entered or MemoryForm(audience="private"),
            adding=entered is not None,
            chosen=chosen,
            elsewhere=elsewhere,
            to_category=category,
            shown=_preview,
            ended=lambda memory: memory.is_expired(now),
            last_day=lambda memory: format_end(memory.expires_at, visitor.timezone),
            unsure_below=UNSURE_BELOW,
            here_again=urlencode({**params, **({"page": found.page} if found.page > 1 else {})}),
            **_LIMITS,
        )

    async def show(self, request: web.Request) -> web.Response:
        """Show a memory with its history, or that it was deleted. Raises NothingHere."""
        visitor = visitor_of(request)
        memory, until = await self._find(request)
        if until:
            return render(request, "memory/memory_deleted.html", memory=memory, until=until)
        return await self._card(request, memory, fill_form(memory, visitor.timezone))

    async def edit(self, request: web.Request) -> web.StreamResponse:
        """Change a memory; show both if it changed meanwhile. Raises NothingHere and MemoryHidden."""
        visitor = visitor_of(request)
        before, until = await self._find(request)
        if until:
            raise MemoryHidden
        entered, mark = _form(request), form_hash(before)
        if text_of(request, "mark") != mark:
            return await self._card(request, before, entered, conflict=True)
        try:
            after = await memories.edit(visitor, before, entered, service=self._services[Memories])
        except MemoryEditOutdated:
            return await self._card(request, (await self._find(request))[0], entered, conflict=True)
        except InputError as error:
            return await self._card(request, before, entered, problem=error)
        if after is None:
            raise NothingHere
        card = visitor.words[MemoryCardTexts]
        sentence = card.unchanged if form_hash(after) == mark else card.edited
        reply = Reply((sentence.format(id=after.number),), receipts_changed=True)
        return await self._redirect_with_reply(request, _path(after.number), reply)

    async def change(self, request: web.Request) -> web.StreamResponse:
        """Run the button in the path. Raises NothingHere, and what `memories.change` raises."""
        visitor, action = visitor_of(request), request.match_info["action"]
        memory_id = await self._find_id(request)
        version = _parse_number(text_of(request, "version") or "0")
        reply = await memories.change(
            visitor, action, memory_id, version=version, service=self._services[Memories]
        )
        if action == "delete":  # its page says so
            reply = Reply(receipts_changed=True)
        return await self._redirect_with_reply(request, _path(id_in(request, "number")), reply)

    async def _card(
        self,
        request: web.Request,
        memory: Memory,
        entered: MemoryForm,
        *,
        problem: InputError | None = None,
        conflict: bool = False,
    ) -> web.Response:
        visitor = visitor_of(request)
        former = await self._memories.list_versions(visitor.user_id, memory.id)
        pin_use = visitor.words[MemoryCardTexts].pin_use
        return render(
            request,
            "memory/memory.html",
            status=409 if conflict else 200,
            problem=problem,
            memory=memory,
            entered=entered,
            mark=form_hash(memory),
            conflict=conflict,
            former=former,
            undoes=bool(former) and former[0].id > memory.id,
            why=_source_sentence(memory, visitor.words),
            ended=memory.is_expired(self._services.clock()),
            last_day=format_end(memory.expires_at, visitor.timezone),
            pin_hint=pin_use(memory, self._memories.profile_notes) if memory.pinned else "",
            **_LIMITS,
        )

    async def _find(self, request: web.Request) -> tuple[Memory, datetime | None]:
        """Return the memory and, if hidden, the end of its undo period. Raises NothingHere."""
        found = await self._load_outcome(id_in(request, "number"), visitor_of(request).user_id)
        if found.memory is None:
            raise NothingHere
        return found.memory, found.until

    async def _find_id(self, request: web.Request) -> int:
        """Return the memory's id, even if hidden. Raises NothingHere."""
        found = await self._memories.get_id(visitor_of(request).user_id, id_in(request, "number"))
        if found is None:
            raise NothingHere
        return found

    async def show_several(self, request: web.Request) -> web.Response:
        """Show the result of a bulk action, with each memory as it is now."""
        visitor = visitor_of(request)
        why_not = pop_notice(request).params.get("why_not", {})
        outcomes = [
            await self._load_outcome(number, visitor.user_id, why_not.get(number, ""))
            for number in _chosen(request.query.getall("n", ()))
        ]
        if not outcomes:
            raise NothingHere
        counts = {state: sum(each.state == state for each in outcomes) for state in get_args(State)}
        return render(
            request,
            "memory/memories_several.html",
            outcomes=outcomes,
            counts=counts,
            not_done=sum(bool(each.why_not) for each in outcomes),
            shown=_preview,
            back=_list_query(request.query.get("back", "")),
        )

    async def change_several(self, request: web.Request) -> web.StreamResponse:
        """Delete or restore the chosen memories, or set their category. Raises InputError."""
        visitor, form = visitor_of(request), form_of(request)
        numbers = _chosen(form.getall("n", ()))
        named, back = text_of(request, "action"), _list_query(text_of(request, "back"))
        action: Action | None = next((each for each in get_args(Action) if each == named), None)
        if action is None:
            raise InputError
        if not numbers:
            return redirect(request, f"/memories?{urlencode(back)}", "memories_none_chosen")
        category = text_of(request, "category")
        try:
            wanted = read_category(category)
            if action == "category" and not wanted:
                raise CategoryNeeded
        except InputError as error:
            return await self._list(request, back, chosen=numbers, category=category, problem=error)
        why_not = dict[int, str]()
        for number in numbers:
            memory_id = await self._memories.get_id(visitor.user_id, number)
            try:
                if memory_id is not None and action == "category":
                    stored = visitor.words[MemoryTexts].stored_category(wanted)
                    await self._memories.update(visitor.user_id, memory_id, category=stored)
                elif memory_id is not None:
                    await memories.change(visitor, action, memory_id, service=self._services[Memories])
            except InputError as error:
                why_not[number] = explain_error(error, request)
        await self._services.discord.receipts_changed(visitor.user_id)
        query = [*(("n", each) for each in numbers), *([("back", urlencode(back))] if back else [])]
        path = f"/memories/several?{urlencode(query)}"
        return redirect(request, path, why_not=why_not) if why_not else see_other(path)

    async def _load_outcome(self, number: int, user_id: int, why_not: str = "") -> MemoryOutcome:
        if memory := await self._memories.get_by_number(user_id, number):
            return MemoryOutcome(number, memory, why_not=why_not)
        memory_id = await self._memories.get_id(user_id, number)
        hidden = await self._removal.get_hidden(user_id, memory_id or 0)
        if hidden is None:
            return MemoryOutcome(number)
        return MemoryOutcome(number, hidden.memory, hidden.hidden_at + UNDO_TIME, why_not)

    async def ask_to_erase(self, request: web.Request) -> web.StreamResponse:
        """Ask whether to erase the chosen memories from conversations, too. Raises NothingHere."""
        visitor = visitor_of(request)
        numbers, back = _chosen(request.query.getall("n", ())), _list_query(request.query.get("back", ""))
        if not numbers:
            return redirect(request, f"/memories?{urlencode(back)}", "memories_none_chosen")
        outcomes = [await self._load_outcome(each, visitor.user_id) for each in numbers]
        there = [each for each in outcomes if each.memory]
        if not there:
            raise NothingHere
        return render(
            request,
            "memory/memories_erase.html",
            outcomes=there,
            missing=[each.number for each in outcomes if not each.memory],
            shown=_preview,
            back=back,
        )

    async def erase(self, request: web.Request) -> web.StreamResponse:
        """Raises NothingHere."""
        visitor, form = visitor_of(request), form_of(request)
        ids, missing = list[int](), list[int]()
        for number in _chosen(form.getall("n", ())):
            found = await self._memories.get_id(visitor.user_id, number)
            if found is None:
                missing.append(number)
            else:
                ids.append(found)
        stub = visitor.words[ErasureTexts].mark if _scope(request) == "said" else None
        erased = await self._removal.erase(visitor.user_id, *ids, stub=stub)
        if erased is None:
            raise NothingHere
        return await self._erased(request, erased, missing)

    async def ask_to_erase_all(self, request: web.Request) -> web.StreamResponse:
        visitor = visitor_of(request)
        count = await self._memories.count(visitor.user_id)
        return render(request, "memory/memories_erase_all.html", count=count)

    async def erase_all(self, request: web.Request) -> web.StreamResponse:
        """Erase all memories, unless there are more than were confirmed. Raises InputError."""
        visitor, asked = visitor_of(request), _parse_number(text_of(request, "count"))
        conversations = _scope(request) == "said"
        erased = await memories.erase_all(
            visitor, max_count=asked, conversations=conversations, service=self._services[Memories]
        )
        if erased is None:
            return redirect(request, "/memories/erase-all", "memories_more")
        return await self._erased(request, erased)

    async def _erased(
        self, request: web.Request, erased: ErasureCounts, missing: Sequence[int] = ()
    ) -> web.Response:
        visitor = visitor_of(request)
        await self._services.discord.receipts_changed(visitor.user_id)
        for key in await self._services.stores.canvases.list_keys(visitor.user_id):
            await self._services.discord.canvas_changed(key)
        sentences = (
            visitor.words[ErasureTexts].reword(done=visitor.words[WebMemoryTexts].erased).say_erased(erased)
        )
        # written for Discord
        lines = [line.removeprefix("-# ").replace("**", "") for line in sentences.split("\n")]
        return render(request, "memory/memories_erased.html", lines=lines, missing=missing)

    async def export(self, request: web.Request) -> web.StreamResponse:
        """Send all memories as one file. Raises EarlierFilesInProgress."""
        visitor, service = visitor_of(request), self._services[Memories]
        if not await self._memories.count(visitor.user_id):
            return redirect(request, "/memories", "memories_none")
        day = self._services.clock().astimezone(visitor.timezone).date().isoformat()
        name = visitor.words[WebMemoryTexts].export_name.format(day=day)
        readable = request.query.get("format") == "markdown"
        kind, media_type = ("md", "text/markdown") if readable else ("json", "application/json")
        pieces = export_file(visitor, readable=readable, service=service)
        return await send_file(request, pieces, f"{name}.{kind}", media_type)

    async def show_import(self, request: web.Request) -> web.Response:
        return _import_page(request)

    async def preview(self, request: web.Request) -> web.StreamResponse:
        """Show what a file would add. Raises InputError for a foreign form."""
        visitor, audience = visitor_of(request), _AUDIENCES.get(text_of(request, "audience"))
        if audience is None:
            raise InputError
        sent = form_of(request).get("file")
        if not isinstance(sent, bytes):
            return _import_page(request, ImportNotUnderstood())
        try:
            plan, planned = await plan_import(
                visitor, _fetch_given(sent), audience=audience, service=self._services[Memories]
            )
            packed = await asyncio.to_thread(_pack, planned)
        except InputError as error:
            return _import_page(request, error)
        shown = [*map(_preview, plan.new[:MAX_PREVIEWED])]
        return render(request, "memory/memories_import_preview.html", plan=plan, packed=packed, shown=shown)

    async def confirm_import(self, request: web.Request) -> web.StreamResponse:
        visitor = visitor_of(request)
        try:
            planned = await asyncio.to_thread(_unpack, text_of(request, "planned"))
            count = await run_import(visitor, _fetch_given(planned), service=self._services[Memories])
        except InputError as error:
            return _import_page(request, error)
        return redirect(request, "/memories", "memories_imported", count=f"{count:,}")

    async def set_paused(self, request: web.Request) -> web.StreamResponse:
        visitor = visitor_of(request)
        run = memories.pause if request.path.endswith("/pause") else memories.resume
        reply = await run(visitor, service=self._services[Memories])
        return await self._redirect_with_reply(request, "/memories", reply)


def _path(number: int) -> str:
    return f"/memories/{number}"


def _preview(memory: Memory | PortableMemory) -> str:
    return shorten(one_line(memory.content), MAX_PREVIEW_CHARACTERS)


def _source_sentence(memory: Memory, words: Texts) -> str:
    source = memory.source
    author, model = (shorten(one_line(name), 100) for name in (source.author, source.model))
    return words[MemoryCardTexts].explain_source(source.kind, author=author, model=model)


def _count_sentence(count: int, searched: bool, words: WebMemoryTexts) -> str:
    if searched and count > MAX_FOUND:
        return words.found_most.format(count=MAX_FOUND)
    few = (words.found_none, words.found_one)
    return few[count] if count < len(few) else words.found.format(count=f"{count:,}")


def _form(request: web.Request) -> MemoryForm:
    """Raises InputError if a field is missing."""
    audience, form = _AUDIENCES.get(text_of(request, "audience")), form_of(request)
    names = ("content", "category", "tags", "end")
    if audience is None or not all(isinstance(form.get(name), str) for name in names):
        raise InputError
    content, category, tags, end = (text_of(request, name) for name in names)
    return MemoryForm(content, category, tags, end, audience)


def _scope(request: web.Request) -> str:
    """Return the scope: `alone` (memories), or `said` (conversations, too). Raises InputError."""
    scope = text_of(request, "scope")
    if scope not in ("alone", "said"):
        raise InputError
    return scope


def _parse_number(text: str) -> int:
    try:
        return number_of(text)
    except NothingHere as error:
        raise InputError from error


def _chosen(named: Sequence[object]) -> Sequence[int]:
    """Raises TooManyChosen and InputError."""
    numbers = dict.fromkeys(_parse_number(each if isinstance(each, str) else "") for each in named)
    if len(numbers) > MAX_CHOSEN:
        raise TooManyChosen(limit=MAX_CHOSEN)
    return tuple(numbers)


def _list_query(address: str) -> dict[str, str]:
    return {name: value for name, value in parse_qsl(address, max_num_fields=20) if name in _PARAMETERS}


def _import_page(request: web.Request, problem: InputError | None = None) -> web.Response:
    return render(request, "memory/memories_import.html", problem=problem, limit=MAX_IMPORTED)


def _fetch_given(data: bytes) -> Callable[[], Awaitable[bytes]]:
    async def fetch() -> bytes:
        return data

    return fetch


def _pack(planned: str) -> str:
    """Raises AttachmentTooLarge."""
    packed = base64.b64encode(zlib.compress(planned.encode("utf-8", "replace"))).decode()
    if len(packed) > MAX_PACKED_CHARACTERS:
        raise AttachmentTooLarge(limit=GUARANTEED_IMPORT_SIZE)
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


PAGES: Final = (MemoryPages,)
