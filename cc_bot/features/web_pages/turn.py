"""Web access of one turn: reading, searching, and the allowed addresses."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Final, Protocol

from cc_bot.domain.errors import CcBotError, PageError, forget_frames
from cc_bot.domain.message import Message, ReferenceKind, typed_part
from cc_bot.features.web_pages.addresses import AddressBook, TurnTexts, WebAddress

READ_BY_EXTRA: Final = ("trafilatura", "lxml_html_clean")
MAX_PAGES: Final = 8
"""Per turn; each may have 5,000 characters of Japanese."""
MAX_SEARCHES: Final = 5
MAX_CHOICES: Final = 1000
AT_ONCE: Final = 2


def can_read_pages() -> bool:
    """Return whether the extra for reading HTML is installed, and the feature `documents` is there."""
    return all(map(find_spec, (*READ_BY_EXTRA, "cc_bot.features.documents")))


_POINTED_AT: Final = frozenset[ReferenceKind]({"reply", "link", "menu"})
"""The author's text in these may provide addresses."""


def link_texts(messages: Iterable[Message]) -> TurnTexts:
    """The texts whose addresses may be read: users' messages, and what these reference or forward."""
    typed, seen = list[str](), list[str]()
    for message in messages:
        if message.role != "user":
            continue
        typed.append(message.typed)
        seen.append(message.content)
        for reference in message.references:
            if reference.shown and reference.author_name:
                typed += [typed_part(reference.content)] if reference.pointing in _POINTED_AT else []
                seen.append(reference.content)
        seen += (file.data.decode("utf-8", "replace") for file in message.attachments if file.is_forward)
    return TurnTexts(tuple(typed), tuple(seen))


@dataclass(frozen=True, slots=True)
class ReadPage:
    url: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A search result, as the service describes it."""

    address: WebAddress
    title: str
    snippet: str


class PageSource(Protocol):
    async def read(self, address: WebAddress, slots: asyncio.Semaphore) -> ReadPage:
        """Read a page. Raises a PageError (PagesWait if other turns take too long),
        DocumentLocked or DocumentOldFormat. `slots` limits how many pages a turn reads at once."""
        ...


class SearchSource(Protocol):
    async def search(self, query: str) -> Sequence[SearchResult]:
        """Return results, the best first. Raises SearchFailed."""
        ...


class SearchService(Protocol):
    @property
    def name(self) -> str: ...

    async def find(self, query: str) -> Sequence[SearchResult]:
        """Return results, the best first. Raises SearchFailed."""
        ...


@dataclass(frozen=True, slots=True)
class WebAccess:
    """Enabled services; None: disabled or not configured."""

    pages: PageSource | None = None
    searches: SearchSource | None = None

    @property
    def subjects(self) -> Mapping[str, bool]:
        """Pages are offered even without addresses, which keeps the prompt's prefix stable."""
        return {"page": self.pages is not None, "search": self.searches is not None}

    def for_turn(self, messages: Sequence[Message]) -> "TurnWebAccess":
        return TurnWebAccess(self, AddressBook(link_texts(messages)))


@dataclass(eq=False, slots=True)
class TurnWebAccess:
    """Web access through all rounds of a turn."""

    internet: WebAccess = WebAccess()
    addresses: AddressBook = field(default_factory=AddressBook)
    pages_left: int = MAX_PAGES
    searches_left: int = MAX_SEARCHES
    choices_left: int = MAX_CHOICES
    """Choices left among typed addresses where others' text may influence them."""
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    _read: dict[WebAddress, asyncio.Future[ReadPage]] = field(default_factory=dict)

    def take_choice(self, choices: int) -> bool:
        """Spend a choice among so many options. Returns False, and spends nothing, if too few are left."""
        if not 0 < choices <= self.choices_left:
            return False
        self.choices_left //= choices
        return True

    async def read(self, pages: PageSource, address: WebAddress) -> ReadPage:
        """Read a page, once per turn; a failed one is retried. Raises as PageSource."""
        known = self._read.get(address)
        if known is not None:
            return await asyncio.shield(known)
        reading = self._read[address] = asyncio.get_running_loop().create_future()
        try:
            page = await pages.read(address, self.slots)
        except BaseException as error:
            del self._read[address]
            reading.set_exception(forget_frames(error) if isinstance(error, CcBotError) else PageError())
            reading.exception()  # no other task may be waiting for it
            raise
        reading.set_result(page)
        return page
