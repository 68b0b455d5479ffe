"""Pages to list, search, add, change, erase, pause, export and import a user's memories.

Addresses contain numbers that count the user's own memories, so no address reaches another user's memory. The
form that confirms an import contains the compressed file, which is checked again.
"""

import asyncio
import base64
import binascii
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final, Literal, get_args
from urllib.parse import parse_qsl, urlencode

from aiohttp import web
from multidict import MultiDict

from cc_bot.chat.reply import Reply
from cc_bot.db import Row
from cc_bot.domain.clock import UNDO_TIME
from cc_bot.domain.errors import AttachmentTooLarge, InputError, NothingHere
from cc_bot.domain.text import Count, one_line, remove_leading_emoji, shorten
from cc_bot.features.memory import service as memories
from cc_bot.features.memory.errors import (
    CategoryNeeded,
    ImportNotUnderstood,
    MemoryEditOutdated,
    MemoryHidden,
    TooManyChosen,
)
from cc_bot.features.memory.files import MAX_IMPORT_COUNT, PortableMemory
from cc_bot.features.memory.model import (
    MAX_CATEGORY_CHARACTERS,
    Audience,
    ErasureCounts,
    Memory,
    MemoryFilter,
    Source,
    SourceKind,
    parse_category,
)
from cc_bot.features.memory.service import (
    MAX_END_CHARACTERS,
    MAX_HITS,
    MAX_PLAN_FILE_BYTES,
    MAX_QUERY_CHARACTERS,
    MAX_TAGS_CHARACTERS,
    MIN_SURE_CONFIDENCE,
    MemoryForm,
    MemoryService,
    describe_expiry,
    export_file,
    fill_form,
    form_hash,
    plan_import,
    run_import,
)
from cc_bot.features.memory.texts import MemoryBulkTexts, MemoryCardTexts, WebMemoryTexts
from cc_bot.features.privacy.texts import ErasureTexts, PrivacyTexts
from cc_bot.texts import Texts
from cc_bot.texts.web import WebTexts
from cc_bot.web.form import PageNumber, form_text, get_form, parse_digits, path_id
from cc_bot.web.page import MAX_FOUND, Found, Handler, Hit, Pages, explain_error, redirect, render, send_file
from cc_bot.web.services import WebServices
from cc_bot.web.undo import offer_undo
from cc_bot.web.visitor import WebVisitor, visitor_of

PAGE_SIZE: Final = 30
MAX_SELECTED: Final = 200  # memories in a bulk action
MAX_PREVIEW_CHARACTERS: Final = 200
MAX_LEFT_OUT_CHARACTERS: Final = (40, 8)  # of a possible secret only enough to recognize it
MAX_CHOICES: Final = 100  # of categories and tags
PART_HEADER: Final = "X-Part"  # memories.js requests only the list

_SOURCE_KINDS: Final[Mapping[str, SourceKind]] = {kind or "none": kind for kind in get_args(SourceKind)}
_AUDIENCES: Final[Mapping[str, Audience]] = {each: each for each in get_args(Audience)}
_CHOICES: Final = {"audience": _AUDIENCES, "origin": _SOURCE_KINDS, "order": ("oldest", "updated")}
_PARAMETERS: Final = ("q", "category", "tag", *_CHOICES, "page")
_LIMITS: Final = {
    "max_category": MAX_CATEGORY_CHARACTERS,
    "max_tags": MAX_TAGS_CHARACTERS,
    "max_end": MAX_END_CHARACTERS,
    "max_query": MAX_QUERY_CHARACTERS,
}

MAX_PREVIEWS: Final = 50
MAX_PACKED_CHARACTERS: Final = 990_000  # the server refuses a larger form
GUARANTEED_IMPORT_SIZE: Final = "500 KB"  # a file of this size always fits in the form


def list_params(query: Mapping[str, str]) -> Mapping[str, str]:
    params = {name: " ".join(query.get(name, "").split()) for name in _PARAMETERS if name != "page"}
    params = {name: text[:MAX_QUERY_CHARACTERS] for name, text in params.items()}
    return {name: text for name, text in params.items() if text and text in _CHOICES.get(name, (text,))}


BulkAction = Literal["delete", "undelete", "category"]


class MemoryPages(Pages):
    path = "/memories"
    menu_position = 1

    def __init__(self, services: WebServices) -> None:
        super().__init__(services)
        self._memories = services.stores.memories
        self._removal = services.stores.memory_removal
        self._progress = dict[int, str]()  # of imports, by user

    def title(self, words: Texts) -> str:
        return words[WebTexts].memories

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        pages: Sequence[tuple[str, Handler, Handler]] = (
            ("/memories", self.list, self.add),
            ("/memories/erase", self.ask_to_erase, self.erase),
            ("/memories/erase-all", partial(self._render_question, back_path="/memories"), self.erase_all),
            ("/memories/import", self.show_import, self.preview),
            ("/memories/{number}", self.show, self.edit),
        )
        return (
            web.get("/memories/export", self.export),
            web.get("/memories/import/progress", self.show_progress),
            web.post("/memories/import/take", self.confirm_import),
            web.post("/memories/several", self.change_several),
            web.post("/memories/pause", self.set_paused),
            web.post("/memories/resume", self.set_paused),
            *(web.get(path, show) for path, show, _ in pages),
            *(web.post(path, press) for path, _, press in pages),
            web.post("/memories/{number}/{action:undo-edit|restore|delete|undelete|pin|unpin}", self.change),
        )

    async def list(self, request: web.Request) -> web.Response:
        return await self._render_list(request, request.query)

    async def search(self, request: web.Request, words: str) -> Found:
        page = await memories.find_page(
            visitor_of(request), query=words, page_size=MAX_FOUND, service=self._services[MemoryService]
        )
        found = [each.memory for each in page.found]
        items = [Hit(_memory_path(each.number), each.content, at=each.updated_at) for each in found]
        return Found(items, min(page.total, MAX_HITS), f"{self.path}?{urlencode({'q': words})}")

    async def add(self, request: web.Request) -> web.StreamResponse:
        """Add a memory, or show invalid input again. Raises InputError if the form lacks a field."""
        visitor = visitor_of(request)
        entered = _parse_form(request)
        try:
            added, reply = await memories.add(
                visitor,
                content=entered.content,
                category=entered.category,
                tags=entered.tags,
                audience=entered.audience or "private",
                expires=entered.end,
                source=Source("command"),
                service=self._services[MemoryService],
            )
        except InputError as error:
            return await self._render_list(request, {}, entered=entered, problem=error)
        return await self._redirect_with_reply(request, _memory_path(added.number), reply)

    async def _render_list(
        self,
        request: web.Request,
        query: Mapping[str, str],
        *,
        entered: MemoryForm | None = None,
        selected: Sequence[int] = (),
        category: str = "",
        problem: InputError | None = None,
    ) -> web.Response:
        """Show a page of the list (past its end, the last) and, after an error, the user's input."""
        visitor, params = visitor_of(request), list_params(query)
        page_number = parse_digits(query.get("page", "1"))
        user_id = visitor.user_id
        filters = MemoryFilter(
            category=params.get("category"),
            tags=(params["tag"],) if "tag" in params else (),
            audience=_AUDIENCES.get(params.get("audience", "")),
            source_kind=_SOURCE_KINDS.get(params.get("origin", "")),
        )
        page = await memories.find_page(
            visitor,
            query=params.get("q", ""),
            filters=filters,
            order=params.get("order", "pinned"),
            page=page_number,
            page_size=PAGE_SIZE,
            service=self._services[MemoryService],
        )
        clock = self._services.clock
        categories: Sequence[Row] = ()
        tags: Sequence[Row] = ()
        if PART_HEADER not in request.headers:
            categories = await self._memories.list_categories(user_id, limit=MAX_CHOICES)
            tags = await self._memories.list_tags(user_id, limit=MAX_CHOICES)
        names = visitor.words[MemoryBulkTexts].source_names
        return render(
            request,
            "memory/memories.html",
            problem=problem,
            params=params,
            found=page.found,
            count=_describe_count(page.total, params, visitor.words[WebMemoryTexts]),
            page=PageNumber(page.number, page.page_count),
            categories=categories,
            tags=tags,
            origins=[(kind or "none", name) for kind, name in names.items()],
            entered=entered or MemoryForm(audience="private"),
            is_adding=entered is not None,
            selected=[each.memory.number for each in page.found] if "select" in query else selected,
            new_category=category,
            shorten_content=_shorten_content,
            expiry=lambda memory: remove_leading_emoji(describe_expiry(memory, visitor, clock)),
            min_sure_confidence=MIN_SURE_CONFIDENCE,
            list_query=urlencode({**params, **({"page": page.number} if page.number > 1 else {})}),
            **_LIMITS,
        )

    async def show(self, request: web.Request) -> web.Response:
        """Show a memory with its former versions, or that the memory was deleted. Raises NothingHere."""
        visitor = visitor_of(request)
        memory, hidden_before = await self._find(request)
        if hidden_before:
            return render(request, "memory/memory_deleted.html", memory=memory, until=hidden_before)
        return await self._render_card(request, memory, fill_form(memory, visitor.timezone))

    async def edit(self, request: web.Request) -> web.StreamResponse:
        """Change a memory; if it changed meanwhile, show both texts. Raises NothingHere and MemoryHidden."""
        visitor = visitor_of(request)
        before, hidden_before = await self._find(request)
        if hidden_before:
            raise MemoryHidden
        entered, hash_before = _parse_form(request), form_hash(before)
        if form_text(request, "mark") != hash_before:
            return await self._render_card(request, before, entered, conflict=True)
        try:
            after = await memories.edit(visitor, before, entered, service=self._services[MemoryService])
        except MemoryEditOutdated:
            return await self._render_card(request, (await self._find(request))[0], entered, conflict=True)
        except InputError as error:
            return await self._render_card(request, before, entered, problem=error)
        if after is None:
            raise NothingHere
        card = visitor.words[MemoryCardTexts]
        sentence = card.unchanged if form_hash(after) == hash_before else card.edited
        reply = Reply((sentence.format(id=after.number),), receipts_changed=True)
        return await self._redirect_with_reply(request, _memory_path(after.number), reply)

    async def change(self, request: web.Request) -> web.StreamResponse:
        """Run the action in the path. Then show the list if the form has `back`, the list's query; else the
        memory. Raises MemoryNotFound, and the errors of `run_action`."""
        visitor, action = visitor_of(request), request.match_info["action"]
        service = self._services[MemoryService]
        memory_id = await memories.find_id(visitor, path_id(request, "number"), service)
        version = _parse_number(form_text(request, "version") or "0")
        reply = await memories.run_action(visitor, action, memory_id, version=version, service=service)
        path, undo = _memory_path(path_id(request, "number")), ""
        back = request.query.get("back", get_form(request).get("back"))
        if isinstance(back, str):
            back = urlencode(_parse_list_query(back))
            if action == "delete":
                undo = f"{path}/undelete?{urlencode({'back': back})}"
                reply = Reply(reply.lines[:1], receipts_changed=reply.receipts_changed)
            path = f"/memories?{back}"
        elif action == "delete":  # the memory's page says that it is deleted
            reply = Reply(receipts_changed=True)
        return await self._redirect_with_reply(request, path, reply, undo)

    async def _render_card(
        self,
        request: web.Request,
        memory: Memory,
        entered: MemoryForm,
        *,
        problem: InputError | None = None,
        conflict: bool = False,
    ) -> web.Response:
        visitor = visitor_of(request)
        versions = await self._memories.list_versions(visitor.user_id, memory.id)
        pin_use = visitor.words[MemoryCardTexts].pin_use
        return render(
            request,
            "memory/memory.html",
            status=409 if conflict else 200,
            problem=problem,
            title=shorten(memory.content.partition("\n")[0], MAX_PREVIEW_CHARACTERS),
            memory=memory,
            entered=entered,
            mark=form_hash(memory),
            conflict=conflict,
            versions=versions,
            can_undo_edit=bool(versions) and versions[0].id > memory.id,
            source=visitor.words[MemoryCardTexts].explain_source(memory.source),
            expiry=remove_leading_emoji(describe_expiry(memory, visitor, self._services.clock)),
            pin_hint=pin_use(memory, self._memories.max_prompt_memories) if memory.pinned else "",
            **_LIMITS,
        )

    async def _find(self, request: web.Request) -> tuple[Memory, datetime | None]:
        """Return the memory and, if hidden, when UNDO_TIME ends. Raises NothingHere."""
        if found := await self._load(path_id(request, "number"), visitor_of(request).user_id):
            return found
        raise NothingHere

    async def change_several(self, request: web.Request) -> web.StreamResponse:
        """Delete or restore the selected memories, or set their category. Raises InputError."""
        visitor, form = visitor_of(request), MultiDict([*request.query.items(), *get_form(request).items()])
        numbers, back = _parse_numbers(form.getall("n", ())), _parse_list_query(str(form.get("back", "")))
        action: BulkAction | None = next(
            (each for each in get_args(BulkAction) if each == form.get("action")), None
        )
        if action is None:
            raise InputError
        if not numbers:
            return redirect(request, f"/memories?{urlencode(back)}", "memories_none_chosen")
        category = form_text(request, "category")
        try:
            new_category = parse_category(category)
            if action == "category" and not new_category:
                raise CategoryNeeded
        except InputError as error:
            return await self._render_list(request, back, selected=numbers, category=category, problem=error)
        words, changed, failure = visitor.words[WebMemoryTexts], list[int](), ""
        for number in numbers:
            try:
                if await self._change_one(visitor, number, action, new_category):
                    changed.append(number)
            except InputError as error:
                failure = explain_error(error, request)
        lines = [words.several_done[action].format(count=Count(len(changed)), category=category.strip())]
        if left := len(numbers) - len(changed):
            lines.append(words.not_done.format(count=left, why=failure or words.state_gone))
        undo = [("action", "undelete"), *(("n", number) for number in changed), ("back", urlencode(back))]
        return await self._redirect_with_reply(
            request,
            f"/memories?{urlencode(back)}",
            Reply(tuple(lines), receipts_changed=bool(changed)),
            f"/memories/several?{urlencode(undo)}" if action == "delete" and changed else "",
        )

    async def _change_one(
        self, visitor: WebVisitor, number: int, action: BulkAction, category: str | None
    ) -> bool:
        """Return whether the memory existed."""
        memory_id = await self._memories.get_id(visitor.user_id, number)
        if memory_id is None:
            return False
        if action == "category":
            return await self._memories.update(visitor.user_id, memory_id, category=category) is not None
        service = self._services[MemoryService]
        return (await memories.run_action(visitor, action, memory_id, service=service)).receipts_changed

    async def _load(self, number: int, user_id: int) -> tuple[Memory, datetime | None] | None:
        """Return a memory and, if hidden, when UNDO_TIME ends."""
        if memory := await self._memories.get_by_number(user_id, number):
            return memory, None
        hidden = await self._removal.get_hidden(user_id, await self._memories.get_id(user_id, number) or 0)
        return (hidden.memory, hidden.hidden_at + UNDO_TIME) if hidden else None

    async def ask_to_erase(self, request: web.Request) -> web.StreamResponse:
        """Ask whether to erase the selected memories, and from conversations, too. Raises NothingHere."""
        visitor = visitor_of(request)
        back = _parse_list_query(request.query.get("back", ""))
        numbers = _parse_numbers(request.query.getall("n", ()))
        if not numbers:
            return redirect(request, f"/memories?{urlencode(back)}", "memories_none_chosen")
        found = [await self._load(number, visitor.user_id) for number in numbers]
        selected = [each for each in found if each]
        if not selected:
            raise NothingHere
        path = f"/memories?{urlencode(back)}" if back or len(numbers) > 1 else _memory_path(numbers[0])
        return await self._render_question(request, path, selected)

    async def _render_question(
        self, request: web.Request, back_path: str, selected: Sequence[tuple[Memory, datetime | None]] = ()
    ) -> web.Response:
        """Ask whether to erase the selected memories, or all if none is selected."""
        visitor, names = visitor_of(request), visitor_of(request).words[ErasureTexts]
        count = len(selected) or await self._memories.count(visitor.user_id)
        erased = await self._removal.preview(visitor.user_id, *(memory.id for memory, _ in selected))
        if not erased.memories:
            return redirect(request, "/memories", "memories_none")
        counts = (
            (names.memories, 0 if selected else count),
            (visitor.words[WebMemoryTexts].just_deleted, erased.memories - count),
            (names.versions, erased.versions),
        )
        holdings = await self._services.privacy.get_overview(visitor.user_id)
        on_discord, *_, copies = visitor.words[PrivacyTexts].list_remaining(holdings)
        return render(
            request,
            "memory/memories_erase.html",
            count=count,
            selected=selected,
            shorten_content=_shorten_content,
            goes=[sentence.format(count=Count(number)) for sentence, number in counts if number > 0],
            stays=[on_discord, copies],
            back_path=back_path,
        )

    async def erase(self, request: web.Request) -> web.StreamResponse:
        visitor, form = visitor_of(request), get_form(request)
        ids, missing_numbers = list[int](), list[int]()
        for number in _parse_numbers(form.getall("n", ())):
            memory_id = await self._memories.get_id(visitor.user_id, number)
            if memory_id is None:
                missing_numbers.append(number)
            else:
                ids.append(memory_id)
        stub = visitor.words[ErasureTexts].mark if _parse_scope(request) == "said" else None
        erased = await self._removal.erase(visitor.user_id, *ids, stub=stub)
        if erased is None:
            raise NothingHere
        return await self._render_erased(request, erased, missing_numbers)

    async def erase_all(self, request: web.Request) -> web.StreamResponse:
        """Erase all memories, unless there are more than the user confirmed. Raises InputError."""
        visitor, confirmed_count = visitor_of(request), _parse_number(form_text(request, "count"))
        conversations = _parse_scope(request) == "said"
        erased = await memories.erase_all(
            visitor,
            max_count=confirmed_count,
            conversations=conversations,
            service=self._services[MemoryService],
        )
        if erased is None:
            return redirect(request, "/memories/erase-all", "memories_more")
        return await self._render_erased(request, erased)

    async def _render_erased(
        self, request: web.Request, erased: ErasureCounts, missing_numbers: Sequence[int] = ()
    ) -> web.Response:
        visitor = visitor_of(request)
        await self._services.discord.receipts_changed(visitor.user_id)
        for key in await self._services.stores.canvases.list_keys(visitor.user_id):
            await self._services.discord.refresh_canvas(key)
        texts = visitor.words[ErasureTexts].reword(done=visitor.words[WebMemoryTexts].erased)
        discord_lines = texts.say_erased(erased).split("\n")
        lines = [line.removeprefix("-# ").replace("**", "") for line in discord_lines]
        return render(request, "memory/memories_erased.html", lines=lines, missing_numbers=missing_numbers)

    async def export(self, request: web.Request) -> web.StreamResponse:
        visitor, service = visitor_of(request), self._services[MemoryService]
        if not await self._memories.count(visitor.user_id):
            return redirect(request, "/memories", "memories_none")
        day = self._services.clock().astimezone(visitor.timezone).date().isoformat()
        name = visitor.words[WebMemoryTexts].export_name.format(day=day)
        readable = request.query.get("format") == "markdown"
        extension, media_type = ("md", "text/markdown") if readable else ("json", "application/json")
        chunks = export_file(visitor, readable=readable, service=service)
        return await send_file(request, chunks, f"{name}.{extension}", media_type)

    async def show_import(self, request: web.Request) -> web.Response:
        return _render_import(request)

    async def preview(self, request: web.Request) -> web.StreamResponse:
        """Show what a file would add. Raises InputError if the form lacks the audience."""
        visitor, audience = visitor_of(request), _AUDIENCES.get(form_text(request, "audience"))
        if audience is None:
            raise InputError
        data = get_form(request).get("file")
        if not isinstance(data, bytes):
            return _render_import(request, ImportNotUnderstood())
        try:
            plan, planned = await plan_import(
                visitor, _make_fetch(data), audience=audience, service=self._services[MemoryService]
            )
            packed = await asyncio.to_thread(_pack, planned)
        except InputError as error:
            return _render_import(request, error)
        return render(
            request,
            "memory/memories_import_preview.html",
            plan=plan,
            packed=packed,
            lines=[*map(_shorten_content, plan.memories[:MAX_PREVIEWS])],
            left_out=[
                (shorten(one_line(text), MAX_LEFT_OUT_CHARACTERS[reason == "secret"]), reason)
                for text, reason in plan.left_out[:MAX_PREVIEWS]
            ],
        )

    async def show_progress(self, request: web.Request) -> web.Response:
        return web.Response(text=self._progress.get(visitor_of(request).user_id, ""))

    async def confirm_import(self, request: web.Request) -> web.StreamResponse:
        visitor, service = visitor_of(request), self._services[MemoryService]

        async def report(done: int, total: int) -> None:
            sentence = visitor.words[MemoryBulkTexts].importing
            self._progress[visitor.user_id] = sentence.format(done=f"{done:,}", total=f"{total:,}")

        try:
            planned = await asyncio.to_thread(_unpack, form_text(request, "planned"))
            ids = await run_import(visitor, _make_fetch(planned), service=service, report=report)
        except InputError as error:
            return _render_import(request, error)
        finally:
            self._progress.pop(visitor.user_id, None)

        async def undo() -> bool:
            hidden = [await self._removal.hide(visitor.user_id, id_) for id_ in ids]
            await self._services.discord.receipts_changed(visitor.user_id)
            return any(hidden)

        path = "/memories?origin=import"
        reply = Reply((visitor.words[WebMemoryTexts].imported.format(count=Count(len(ids))),))
        offer = offer_undo(request, self._services, path, undo) if ids else ""
        return await self._redirect_with_reply(request, path, reply, offer)

    async def set_paused(self, request: web.Request) -> web.StreamResponse:
        visitor = visitor_of(request)
        run = memories.pause if request.path.endswith("/pause") else memories.resume
        reply = await run(visitor, service=self._services[MemoryService])
        return await self._redirect_with_reply(request, "/memories", Reply(reply.lines))


def _memory_path(number: int) -> str:
    return f"/memories/{number}"


def _shorten_content(memory: Memory | PortableMemory) -> str:
    return shorten(one_line(memory.content), MAX_PREVIEW_CHARACTERS)


def _describe_count(count: int, params: Mapping[str, str], words: WebMemoryTexts) -> str:
    if "q" in params and count > MAX_HITS:
        return words.found_most.format(count=MAX_HITS)
    return words.found.format(count=Count(count)) if count or params else ""


def _parse_form(request: web.Request) -> MemoryForm:
    """Raises InputError if the form lacks a field."""
    audience, form = _AUDIENCES.get(form_text(request, "audience")), get_form(request)
    names = ("content", "category", "tags", "end")
    if audience is None or not all(isinstance(form.get(name), str) for name in names):
        raise InputError
    content, category, tags, end = (form_text(request, name) for name in names)
    return MemoryForm(content, category, tags, end, audience)


def _parse_scope(request: web.Request) -> str:
    """Return `alone` (erase memories) or `said` (erase from conversations, too). Raises InputError."""
    scope = form_text(request, "scope")
    if scope not in ("alone", "said"):
        raise InputError
    return scope


def _parse_number(text: str) -> int:
    try:
        return parse_digits(text)
    except NothingHere as error:
        raise InputError from error


def _parse_numbers(values: Sequence[object]) -> Sequence[int]:
    """Raises TooManyChosen or InputError."""
    numbers = dict.fromkeys(_parse_number(value if isinstance(value, str) else "") for value in values)
    if len(numbers) > MAX_SELECTED:
        raise TooManyChosen(limit=MAX_SELECTED)
    return tuple(numbers)


def _parse_list_query(address: str) -> dict[str, str]:
    return {name: value for name, value in parse_qsl(address, max_num_fields=20) if name in _PARAMETERS}


def _render_import(request: web.Request, problem: InputError | None = None) -> web.Response:
    return render(request, "memory/memories_import.html", problem=problem, limit=MAX_IMPORT_COUNT)


def _make_fetch(data: bytes) -> Callable[[], Awaitable[bytes]]:
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
    """Raises InputError."""
    try:
        decompressor = zlib.decompressobj()
        data = decompressor.decompress(base64.b64decode(packed, validate=True), MAX_PLAN_FILE_BYTES)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise InputError from error
    if not decompressor.eof:
        raise InputError
    return data


PAGES: Final = (MemoryPages,)
