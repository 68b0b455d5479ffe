"""A turn's web access: pages, searches, and addresses that may be read."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Final, Protocol

from cc_bot.domain.errors import CcBotError, drop_tracebacks
from cc_bot.domain.message import Message, ReferenceKind, typed_part
from cc_bot.features.web_pages.addresses import AddressBook, WebAddress
from cc_bot.features.web_pages.errors import PageError

EXTRA_MODULES: Final = ("trafilatura", "lxml_html_clean")
MAX_PAGES: Final = 8  # each up to 5,000 characters of Japanese
MAX_SEARCHES: Final = 5
MAX_CHOICES: Final = 1000
MAX_CONCURRENT_READS: Final = 2


def can_read_pages() -> bool:
    """Return whether the extra for HTML and the feature `documents` exist."""
    return all(map(find_spec, (*EXTRA_MODULES, "cc_bot.features.documents")))


# Kinds of references whose text counts as typed by the user.
_TYPED_REFERENCES: Final = frozenset[ReferenceKind]({"reply", "link", "menu"})


def readable_addresses(messages: Iterable[Message]) -> AddressBook:
    """Return the addresses in users' messages and in those they reference or forward."""
    typed_texts, seen_texts = list[str](), list[str]()
    for message in messages:
        if message.role != "user":
            continue
        typed_texts.append(message.typed_text)
        seen_texts.append(message.content)
        for reference in message.references:
            if reference.is_visible and reference.author_name:
                if reference.kind in _TYPED_REFERENCES:
                    typed_texts.append(typed_part(reference.content))
                seen_texts.append(reference.content)
        forwards = (file for file in message.attachments if file.is_forward)
        seen_texts += (file.data.decode("utf-8", "replace") for file in forwards)
    return AddressBook(typed_texts, seen_texts)


@dataclass(frozen=True, slots=True)
class ReadPage:
    url: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    address: WebAddress
    title: str
    snippet: str


class PageSource(Protocol):
    async def read(self, address: WebAddress, slots: asyncio.Semaphore) -> ReadPage:
        """`slots` limits a turn's concurrent reads. Raises PageError, DocumentLocked or DocumentOldFormat."""
        ...


class SearchSource(Protocol):
    async def search(self, query: str) -> Sequence[SearchResult]:
        """Return the best results first. Raises SearchFailed."""
        ...


@dataclass(frozen=True, slots=True)
class WebAccess:
    """The web services; None if disabled or not configured."""

    pages: PageSource | None = None
    searches: SearchSource | None = None

    @property
    def subjects(self) -> Mapping[str, bool]:
        """Return whether each subject's tools are offered. All turns get the same, so that the prompt's
        prefix can be cached."""
        return {"page": self.pages is not None, "search": self.searches is not None}

    def for_turn(self, messages: Sequence[Message]) -> "TurnWebAccess":
        return TurnWebAccess(self, readable_addresses(messages))


@dataclass(eq=False, slots=True)
class TurnWebAccess:
    services: WebAccess = WebAccess()
    addresses: AddressBook = field(default_factory=AddressBook)
    pages_left: int = MAX_PAGES
    searches_left: int = MAX_SEARCHES
    choices_left: int = MAX_CHOICES
    """Limits how much a model can leak by choosing among typed addresses or words: each choice divides it by
    the number of options."""
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONCURRENT_READS))
    _reads: dict[WebAddress, asyncio.Future[ReadPage]] = field(default_factory=dict)

    def spend_choice(self, options: int) -> bool:
        """Spend a choice among this many options. Returns False if too few are left."""
        if not 0 < options <= self.choices_left:
            return False
        self.choices_left //= options
        return True

    async def read(self, pages: PageSource, address: WebAddress) -> ReadPage:
        """Read a page unless this turn has read it. Raises PageError, DocumentLocked or DocumentOldFormat."""
        pending = self._reads.get(address)
        if pending is not None:
            return await asyncio.shield(pending)
        result = self._reads[address] = asyncio.get_running_loop().create_future()
        try:
            page = await pages.read(address, self.slots)
        except BaseException as error:
            del self._reads[address]
            result.set_exception(drop_tracebacks(error) if isinstance(error, CcBotError) else PageError())
            result.exception()  # prevents a warning if no other task awaits it
            raise
        result.set_result(page)
        return page
