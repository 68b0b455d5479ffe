"""One's own memories: looked through, searched, kept, changed, and erased, one by one or several at once.

A memory is called by the number that its user calls it by, so nobody else's can be named at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args
from urllib.parse import parse_qsl, urlencode

from aiohttp import web

from cc_bot.domain.errors import CcBotError, InputError, MemoryEditOutdated, MemoryPaused, NothingHere
from cc_bot.domain.memory import (
    ALL_MEMORIES,
    DEFAULT_CATEGORY,
    MAX_CATEGORY_CHARACTERS,
    MAX_CONTENT_CHARACTERS,
    UNDO_TIME,
    Audience,
    ErasureCounts,
    FoundMemory,
    Memory,
    MemoryFilter,
    Order,
    Source,
    SourceKind,
    parse_end,
    parse_tags,
    write_end,
)
from cc_bot.domain.text import one_line, shorten
from cc_bot.memories import MAX_TAGS_CHARACTERS, ForgottenMemory, MemoryForm, fill_form, mark_of
from cc_bot.texts import Texts, explain
from cc_bot.web.form import PageNumber, id_in, number_of, text_of
from cc_bot.web.page import moment_in, render, see_other
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SignedIn, visitor_of

PAGE_SIZE: Final = 30
MOST_FOUND: Final = 2 * PAGE_SIZE
"""Nobody looks further through the hits of a search."""
MOST_QUERY_CHARACTERS: Final = 200
MOST_END_CHARACTERS: Final = 40
SHOWN_CHARACTERS: Final = 200
"""Of a memory in a list."""
MOST_CHOICES: Final = 100
"""Categories and tags that are offered."""
UNSURE_BELOW: Final = 0.4
"""Confidence of a hit that may not be what was meant."""
PART_HEADER: Final = "X-Part"
"""Names the part of a page that a script shows; the rest is not asked of the database."""

_NO_ORIGIN: Final = "none"
"""Stands in an address for the empty kind of source."""
_ADDRESS: Final = ("q", "category", "tag", "audience", "origin", "order", "page")


@dataclass(frozen=True, slots=True)
class MemoryWish:
    """The memories that somebody wants to see, as the address of the page tells."""

    query: str = ""
    only: MemoryFilter = ALL_MEMORIES
    order: Order = "newest"

    @classmethod
    def of(cls, request: web.Request) -> "MemoryWish":
        asked = request.query
        tag = asked.get("tag", "").strip()
        only = MemoryFilter(
            category=asked.get("category", "").strip() or None,
            tags=(tag,) if tag else (),
            audience=next((each for each in get_args(Audience) if each == asked.get("audience")), None),
            origin=_origin(asked.get("origin", "")),
        )
        order: Order = next((each for each in get_args(Order) if each == asked.get("order")), "newest")
        return cls(" ".join(asked.get("q", "").split())[:MOST_QUERY_CHARACTERS], only, order)

    @property
    def address(self) -> Mapping[str, str]:
        """The fields that the address of another page of the same carries."""
        only = self.only
        told = {
            "q": self.query,
            "category": only.category or "",
            "tag": only.tags[0] if only.tags else "",
            "audience": only.audience or "",
            "origin": "" if only.origin is None else only.origin or _NO_ORIGIN,
            "order": "" if self.order == "newest" else self.order,
        }
        return {name: value for name, value in told.items() if value}


@dataclass(frozen=True, slots=True)
class Choices:
    """The categories and tags that can be chosen, each with how many memories it has."""

    categories: Sequence[tuple[str, int]] = ()
    tags: Sequence[tuple[str, int]] = ()


State = Literal["there", "hidden", "gone", "not_done"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A memory that was chosen with others, and what has become of it."""

    number: int
    state: State
    memory: Memory | None = None
    until: str = ""


class MemoryPages:
    def __init__(self, services: WebServices) -> None:
        self._services = services
        self._memories = services.stores.memories
        self._removal = services.stores.memory_removal
        self._history = services.stores.memory_history

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/memories", self.list),
            web.post("/memories", self.add),
            web.get("/memories/several", self.show_several),
            web.post("/memories/several", self.change_several),
            web.get("/memories/erase", self.ask_to_erase),
            web.post("/memories/erase", self.erase),
            web.get("/memories/erase-all", self.ask_to_erase_all),
            web.post("/memories/erase-all", self.erase_all),
            web.get("/memories/{number}", self.show),
            web.post("/memories/{number}", self.edit),
            web.post("/memories/{number}/undo", self.undo),
            web.post("/memories/{number}/restore", self.restore),
            web.post("/memories/{number}/delete", self.delete),
            web.post("/memories/{number}/undelete", self.undelete),
            web.post("/memories/{number}/pin", self.pin),
            web.post("/memories/{number}/unpin", self.unpin),
        )

    # ---- looking through them and adding -------------------------------------------------------------------

    async def list(self, request: web.Request) -> web.Response:
        """Show a page of them, narrowed down and sought as its address says. Raises NothingHere."""
        return await self._list(request, visitor_of(request))

    async def add(self, request: web.Request) -> web.StreamResponse:
        """Keep one. What can't be kept is shown back. Raises StorageError."""
        visitor = visitor_of(request)
        entered = await _form(request)
        words = visitor.words.memory
        try:
            if visitor.memory_paused:
                raise MemoryPaused
            added = await self._memories.add(
                visitor.user_id,
                entered.content,
                category=words.stored_category(entered.category) or DEFAULT_CATEGORY,
                tags=parse_tags(entered.tags),
                source=Source("command"),
                audience=entered.audience or "private",
                expires_at=parse_end(entered.end, self._services.clock(), visitor.timezone),
            )
        except InputError as error:
            return await self._list(request, visitor, entered, _told(error, visitor))
        return see_other(f"/memories/{added.number}", "memory_added")

    async def _list(
        self, request: web.Request, visitor: SignedIn, entered: MemoryForm | None = None, problem: str = ""
    ) -> web.Response:
        wish, user_id = MemoryWish.of(request), visitor.user_id
        if wish.query:
            hits = await self._memories.find(
                user_id, wish.query, limit=MOST_FOUND, audience="private", only=wish.only
            )
            page = PageNumber.of(request, len(hits), PAGE_SIZE)
            first = page.offset(PAGE_SIZE)
            count, found = len(hits), hits[first : first + PAGE_SIZE]
        else:
            count = await self._memories.count(user_id, only=wish.only)
            page = PageNumber.of(request, count, PAGE_SIZE)
            listed = await self._memories.list(
                user_id,
                only=wish.only,
                order=wish.order,
                limit=PAGE_SIZE,
                offset=page.offset(PAGE_SIZE),
            )
            found = [FoundMemory(each, 1.0) for each in listed]
        now = self._services.clock()
        choices = Choices() if PART_HEADER in request.headers else await self._choices(user_id)
        return render(
            request,
            "memories.html",
            visitor,
            status=400 if problem else 200,
            wish=wish,
            found=found,
            count=count,
            full=bool(wish.query) and count == MOST_FOUND,
            page=page,
            choices=choices,
            narrowed=bool(wish.address.keys() - {"q"}),
            problem=problem,
            entered=entered or MemoryForm(audience="private"),
            shown=lambda memory: shorten(one_line(memory.content), SHOWN_CHARACTERS),
            ended=lambda memory: memory.is_expired(now),
            last_day=lambda memory: write_end(memory.expires_at, visitor.timezone),
            unsure_below=UNSURE_BELOW,
            here_again=urlencode({**wish.address, **({"page": page.number} if page.number > 1 else {})}),
            **_imported(request, visitor),
            **_limits(),
        )

    async def _choices(self, user_id: int) -> Choices:
        return Choices(
            await self._memories.list_categories(user_id, limit=MOST_CHOICES),
            await self._memories.list_tags(user_id, limit=MOST_CHOICES),
        )

    # ---- one of them ---------------------------------------------------------------------------------------

    async def show(self, request: web.Request) -> web.Response:
        """Show one with what it said before, or that it is deleted. Raises NothingHere."""
        visitor = visitor_of(request)
        kept = await self._memories.get_by_number(visitor.user_id, id_in(request, "number"))
        if kept is not None:
            return await self._card(request, visitor, kept, fill_form(kept, visitor.timezone))
        forgotten = await self._services.memories.get_forgotten(
            visitor.user_id, await self._row(request, visitor)
        )
        if forgotten is None:
            raise NothingHere
        return _forgotten_page(request, visitor, forgotten)

    async def edit(self, request: web.Request) -> web.StreamResponse:
        """Change one, if it still is what the form was made from; else show both. What can't be kept is shown
        back. Raises NothingHere and StorageError."""
        visitor = visitor_of(request)
        before = await self._find(request, visitor)
        entered, mark = await _form(request), mark_of(before)
        if await text_of(request, "mark") != mark:
            return await self._card(request, visitor, before, entered, conflict=True)
        try:
            after = await self._services.memories.edit(
                before, entered, visitor.words.memory, visitor.timezone
            )
        except MemoryEditOutdated:
            return await self._card(
                request, visitor, await self._find(request, visitor), entered, conflict=True
            )
        except InputError as error:
            return await self._card(request, visitor, before, entered, problem=_told(error, visitor))
        if after is None:
            raise NothingHere
        return await self._go_on(
            visitor, after, "memory_unchanged" if mark_of(after) == mark else "memory_edited"
        )

    async def undo(self, request: web.Request) -> web.StreamResponse:
        """Take back the last change, if it is the one that was looked at. Raises NothingHere."""
        visitor = visitor_of(request)
        kept = await self._find(request, visitor)
        former_id = _number(await text_of(request, "former"))
        undone = await self._history.undo_update(visitor.user_id, kept.id, former_id)
        return await self._go_on(visitor, kept, "memory_undone" if undone else "memory_not_undone")

    async def restore(self, request: web.Request) -> web.StreamResponse:
        """Have it say again what it said before. Raises NothingHere, and MemoryFull."""
        visitor = visitor_of(request)
        kept = await self._find(request, visitor)
        version_id = _number(await text_of(request, "version"))
        its_own = {each.id for each in await self._history.list_versions(visitor.user_id, kept.id)}
        restored = await self._history.restore(visitor.user_id, version_id) if version_id in its_own else None
        return await self._go_on(visitor, kept, "memory_restored" if restored else "memory_not_restored")

    async def delete(self, request: web.Request) -> web.StreamResponse:
        """Hide it, so that it can be had back for a while. Raises NothingHere."""
        visitor = visitor_of(request)
        memory_id = await self._row(request, visitor)
        if await self._services.memories.forget(visitor.user_id, memory_id) is None:
            raise NothingHere
        await self._services.discord.receipts_changed(visitor.user_id)
        return see_other(_path(id_in(request, "number")))

    async def undelete(self, request: web.Request) -> web.StreamResponse:
        """Have it back. Raises NothingHere when it is too late, TooManyMemories and MemoryFull."""
        visitor = visitor_of(request)
        memory_id = await self._row(request, visitor)
        back = await self._services.memories.have_back(visitor.user_id, memory_id)
        if back is None:
            raise NothingHere
        return await self._go_on(visitor, back, "memory_back")

    async def pin(self, request: web.Request) -> web.StreamResponse:
        """Pin it. Raises NothingHere and TooManyPinned."""
        visitor = visitor_of(request)
        kept = await self._find(request, visitor)
        await self._services.stores.memory_pins.pin(visitor.user_id, kept.id)
        return see_other(_path(kept.number), "memory_pinned")

    async def unpin(self, request: web.Request) -> web.StreamResponse:
        """Take the pin off. Raises NothingHere."""
        visitor = visitor_of(request)
        kept = await self._find(request, visitor)
        await self._services.stores.memory_pins.unpin(visitor.user_id, kept.id)
        return see_other(_path(kept.number), "memory_unpinned")

    async def _card(
        self,
        request: web.Request,
        visitor: SignedIn,
        kept: Memory,
        entered: MemoryForm,
        *,
        problem: str = "",
        conflict: bool = False,
    ) -> web.Response:
        former = await self._history.list_versions(visitor.user_id, kept.id)
        return render(
            request,
            "memory.html",
            visitor,
            status=409 if conflict else 400 if problem else 200,
            memory=kept,
            entered=entered,
            mark=mark_of(kept),
            problem=problem,
            conflict=conflict,
            former=former,
            undoes=bool(former) and former[0].id > kept.id,
            why=_why(kept, visitor.words),
            ended=kept.is_expired(self._services.clock()),
            last_day=write_end(kept.expires_at, visitor.timezone),
            pin_hint=self._pin_hint(kept, visitor.words) if kept.pinned else "",
            **_limits(),
        )

    def _pin_hint(self, kept: Memory, words: Texts) -> str:
        """Say what comes of a pin."""
        told = words.memory_card.pin_told(kept, self._services.stores.memory_pins.told)
        return _lines(told)[-1]

    async def _find(self, request: web.Request, visitor: SignedIn) -> Memory:
        """Return the memory whose number stands in the path. Raises NothingHere."""
        found = await self._memories.get_by_number(visitor.user_id, id_in(request, "number"))
        if found is None:
            raise NothingHere
        return found

    async def _row(self, request: web.Request, visitor: SignedIn) -> int:
        """Return the id of the memory whose number stands in the path, hidden or not. Raises NothingHere."""
        found = await self._memories.get_id(visitor.user_id, id_in(request, "number"))
        if found is None:
            raise NothingHere
        return found

    async def _go_on(self, visitor: SignedIn, memory: Memory, done: str) -> web.StreamResponse:
        """Have the messages on Discord follow, and go on to the memory's page."""
        await self._services.discord.receipts_changed(visitor.user_id)
        return see_other(_path(memory.number), done)

    # ---- several at once -----------------------------------------------------------------------------------

    async def show_several(self, request: web.Request) -> web.Response:
        """Show what has become of those that were chosen, each as it is now."""
        visitor = visitor_of(request)
        not_done = {number_of(each) for each in request.query.getall("not", ())}
        outcomes = [
            await self._outcome(number, visitor, refused=number in not_done)
            for number in _chosen(request.query.getall("n", ()))
        ]
        if not outcomes:
            raise NothingHere
        counts = {state: sum(each.state == state for each in outcomes) for state in get_args(State)}
        return render(
            request,
            "memories_several.html",
            visitor,
            outcomes=outcomes,
            counts=counts,
            shown=lambda memory: shorten(one_line(memory.content), SHOWN_CHARACTERS),
            back=_back(request.query.get("back", "")),
        )

    async def change_several(self, request: web.Request) -> web.StreamResponse:
        """Delete those that were chosen, have them back, or give them another category. Raises InputError for
        a form that is none of ours, and StorageError."""
        visitor, form = visitor_of(request), await request.post()
        numbers = _chosen(form.getall("n", ()))
        action, back = await text_of(request, "action"), _back(await text_of(request, "back"))
        if not numbers:
            return see_other("/memories", "memories_none_chosen", **back)
        category = await text_of(request, "category")
        not_done = [
            number for number in numbers if not await self._change_one(visitor, number, action, category)
        ]
        await self._services.discord.receipts_changed(visitor.user_id)
        told = [*(("n", each) for each in numbers), *(("not", each) for each in not_done)]
        told_back = [("back", urlencode(back))] if back else []
        return web.Response(
            status=303, headers={"Location": f"/memories/several?{urlencode([*told, *told_back])}"}
        )

    async def _change_one(self, visitor: SignedIn, number: int, action: str, category: str) -> bool:
        """Return whether it could be done; what is not there is told by its state. Raises InputError for an
        action that there is not."""
        memory_id = await self._memories.get_id(visitor.user_id, number)
        if memory_id is None:
            return True
        stored = visitor.words.memory.stored_category(category) or DEFAULT_CATEGORY
        try:
            match action:
                case "delete":
                    await self._memories.delete(visitor.user_id, memory_id)
                case "undelete":
                    await self._services.memories.have_back(visitor.user_id, memory_id)
                case "category":
                    await self._memories.update(visitor.user_id, memory_id, category=stored)
                case _:
                    raise _NoSuchAction
        except _NoSuchAction as error:
            raise InputError from error
        except InputError:
            return False
        return True

    async def _outcome(self, number: int, visitor: SignedIn, *, refused: bool) -> Outcome:
        kept = await self._memories.get_by_number(visitor.user_id, number)
        if kept is not None:
            return Outcome(number, "not_done" if refused else "there", kept)
        memory_id = await self._memories.get_id(visitor.user_id, number)
        hidden = memory_id and await self._removal.get_hidden(visitor.user_id, memory_id)
        if not hidden:
            return Outcome(number, "gone")
        until = moment_in(visitor.locale, visitor.timezone)(hidden.since + UNDO_TIME)
        return Outcome(number, "not_done" if refused else "hidden", hidden.memory, until)

    # ---- erasing -------------------------------------------------------------------------------------------

    async def ask_to_erase(self, request: web.Request) -> web.StreamResponse:
        """Show what erasing those that were chosen covers, with the buttons that do it. Raises
        NothingHere."""
        visitor = visitor_of(request)
        numbers, back = _chosen(request.query.getall("n", ())), _back(request.query.get("back", ""))
        if not numbers:
            return see_other("/memories", "memories_none_chosen", **back)
        outcomes = [await self._outcome(each, visitor, refused=False) for each in numbers]
        there = [each for each in outcomes if each.memory]
        if not there:
            raise NothingHere
        ids = [each.memory.id for each in there if each.memory]
        return render(
            request,
            "memories_erase.html",
            visitor,
            outcomes=there,
            missing=[each.number for each in outcomes if not each.memory],
            told_in=await self._removal.count_messages(visitor.user_id, *ids),
            shown=lambda memory: shorten(one_line(memory.content), SHOWN_CHARACTERS),
            back=back,
        )

    async def erase(self, request: web.Request) -> web.StreamResponse:
        """Erase those that were chosen, and tell what was removed: nothing else knows it afterwards. Raises
        NothingHere and StorageError."""
        visitor, form = visitor_of(request), await request.post()
        ids, missing = list[int](), list[int]()
        for number in _chosen(form.getall("n", ())):
            found = await self._memories.get_id(visitor.user_id, number)
            if found is None:
                missing.append(number)
            else:
                ids.append(found)
        erased = await self._removal.erase(visitor.user_id, *ids, mark=await _mark(request, visitor.words))
        if erased is None:
            raise NothingHere
        await self._after_erasing(visitor)
        return _erased_page(request, visitor, erased, missing)

    async def ask_to_erase_all(self, request: web.Request) -> web.StreamResponse:
        """Show how many there are, with the buttons that erase them."""
        visitor = visitor_of(request)
        count = await self._memories.count(visitor.user_id)
        return render(request, "memories_erase_all.html", visitor, count=count)

    async def erase_all(self, request: web.Request) -> web.StreamResponse:
        """Erase all, unless there are more than the question said. Raises InputError and StorageError."""
        visitor = visitor_of(request)
        asked = _number(await text_of(request, "count"))
        count = await self._memories.count(visitor.user_id)
        if count > asked:
            return see_other("/memories/erase-all", "memories_more")
        mark = await _mark(request, visitor.words)
        erased = await self._removal.erase_all(visitor.user_id, mark=mark)
        await self._after_erasing(visitor)
        return _erased_page(request, visitor, erased, ())

    async def _after_erasing(self, visitor: SignedIn) -> None:
        """Have the messages on Discord follow: what is erased may stand on canvases too."""
        await self._services.discord.receipts_changed(visitor.user_id)
        for key in await self._services.stores.canvases.list_keys(visitor.user_id):
            await self._services.discord.canvas_changed(key)


class _NoSuchAction(Exception):
    """A form that is none of ours."""


def _forgotten_page(request: web.Request, visitor: SignedIn, forgotten: ForgottenMemory) -> web.Response:
    return render(
        request,
        "memory_deleted.html",
        visitor,
        memory=forgotten.hidden.memory,
        until=forgotten.hidden.since + UNDO_TIME,
        told_in=forgotten.told_in,
    )


def _erased_page(
    request: web.Request, visitor: SignedIn, erased: ErasureCounts, missing: Sequence[int]
) -> web.Response:
    told = _lines(visitor.words.erasure.told(erased))
    return render(request, "memories_erased.html", visitor, told=told, missing=missing)


def _imported(request: web.Request, visitor: SignedIn) -> Mapping[str, str]:
    """Return what is told after an import."""
    count = request.query.get("imported", "")
    if not count:
        return {}
    return {"done": visitor.words.web_memory.imported.format(count=f"{number_of(count):,}")}


def _limits() -> Mapping[str, int]:
    """Return how much a form takes."""
    return {
        "most_characters": MAX_CONTENT_CHARACTERS,
        "most_category": MAX_CATEGORY_CHARACTERS,
        "most_tags": MAX_TAGS_CHARACTERS,
        "most_end": MOST_END_CHARACTERS,
        "most_query": MOST_QUERY_CHARACTERS,
    }


def _path(number: int) -> str:
    return f"/memories/{number}"


def _lines(text: str) -> Sequence[str]:
    """A text of Discord's by lines, without the marks of small print and weight."""
    return [line.removeprefix("-# ").replace("**", "") for line in text.split("\n")]


def _told(error: CcBotError, visitor: SignedIn) -> str:
    return explain(error, visitor.words, moment_in(visitor.locale, visitor.timezone))


def _why(kept: Memory, words: Texts) -> str:
    source = kept.source
    author, model = (shorten(one_line(name), 100) for name in (source.author, source.model))
    return words.memory_card.because(source.kind, author=author, model=model)


def _origin(named: str) -> SourceKind | None:
    kinds = {kind or _NO_ORIGIN: kind for kind in get_args(SourceKind)}
    return kinds.get(named)


async def _form(request: web.Request) -> MemoryForm:
    """Return what was filled in. Raises InputError for what no form of ours lets pass."""
    content, category, tags, end, audience = [
        await text_of(request, name) for name in ("content", "category", "tags", "end", "audience")
    ]
    if len(tags) > MAX_TAGS_CHARACTERS:
        raise InputError
    chosen: Audience | None = next((each for each in get_args(Audience) if each == audience), None)
    if audience and chosen is None:
        raise InputError
    return MemoryForm(content, category, tags, end, chosen)


async def _mark(request: web.Request, words: Texts) -> str | None:
    """Return what takes the place of emptied messages; None where the memories alone are to go. Raises
    InputError for a form that does not say."""
    match await text_of(request, "scope"):
        case "alone":
            return None
        case "said":
            return words.erasure.mark
        case _:
            raise InputError


def _number(text: str) -> int:
    """Return a number of a form. Raises InputError for what is none."""
    try:
        return number_of(text)
    except NothingHere as error:
        raise InputError from error


def _chosen(named: Sequence[object]) -> Sequence[int]:
    """Return the numbers that were chosen, each once. Raises InputError for what is none, or more than a page
    has."""
    numbers = dict.fromkeys(_number(each if isinstance(each, str) else "") for each in named)
    if len(numbers) > MOST_FOUND:
        raise InputError
    return tuple(numbers)


def _back(address: str) -> dict[str, str]:
    """Return what the address of the list had that somebody came from."""
    return {name: value for name, value in parse_qsl(address, max_num_fields=20) if name in _ADDRESS}
