"""The web as one turn has it: what reads, what searches, and which addresses may be read in it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Final, Protocol

from cc_bot.domain.errors import CcBotError, PageError, forget_frames
from cc_bot.internet.addresses import AddressBook, TurnTexts, WebAddress

READ_BY_EXTRA: Final = ("trafilatura", "lxml_html_clean")
"""The libraries of the extra `pages`."""
MOST_PAGES: Final = 8
"""That one turn reads; each of them may have 5,000 characters of Japanese."""
MOST_SEARCHES: Final = 5
MAX_CHOICES: Final = 1000
"""About ten bits."""
AT_ONCE: Final = 2
"""Pages of one turn whose text is being made, so that those of others get in between."""


def can_read_pages() -> bool:
    """Return whether the extra that makes text of HTML is there."""
    return all(map(find_spec, READ_BY_EXTRA))


@dataclass(frozen=True, slots=True)
class ReadPage:
    """The text of a page."""

    url: str
    """Where it was in the end."""
    title: str
    """On one line; empty where it has none."""
    text: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A page that a search found, as the search describes it."""

    address: WebAddress
    title: str
    snippet: str


class PageSource(Protocol):
    async def read(self, address: WebAddress, places: asyncio.Semaphore) -> ReadPage:
        """Read a page. `places` are those of its turn, so that none takes all there are. Raises a
        PageError (PagesWait where others take too long), DocumentLocked or DocumentOldFormat."""
        ...


class SearchSource(Protocol):
    async def search(self, query: str) -> Sequence[SearchResult]:
        """Return what is found, the best first. Raises SearchFailed."""
        ...


class SearchService(Protocol):
    @property
    def name(self) -> str: ...

    async def find(self, query: str) -> Sequence[SearchResult]:
        """Return what it finds, the best first. Raises SearchFailed."""
        ...


@dataclass(frozen=True, slots=True)
class Internet:
    """The part of it that the operator wants; None where something is not wanted, or not set up."""

    pages: PageSource | None = None
    searches: SearchSource | None = None

    def for_turn(self, texts: TurnTexts) -> "TurnInternet":
        """Return it for a turn with these texts."""
        return TurnInternet(self, AddressBook(texts))


NO_INTERNET: Final = Internet()


@dataclass(eq=False, slots=True)
class TurnInternet:
    """The same through all rounds of a turn: what one of its searches finds, it may read."""

    internet: Internet = NO_INTERNET
    addresses: AddressBook = field(default_factory=AddressBook)
    pages_left: int = MOST_PAGES
    searches_left: int = MOST_SEARCHES
    choices_left: int = MAX_CHOICES
    """Ways to choose among what the user typed, where others' words may choose what is asked of the web."""
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    _read: dict[WebAddress, asyncio.Future[ReadPage]] = field(default_factory=dict)

    def take_choice(self, choices: int) -> bool:
        """Take one of so many ways, if as many are left. Returns False, and takes none, if they are not."""
        if not 0 < choices <= self.choices_left:
            return False
        self.choices_left //= choices
        return True

    async def read(self, pages: PageSource, address: WebAddress) -> ReadPage:
        """Read a page, once in the turn however often it is asked for; one that failed is tried again. Raises
        as PageSource."""
        known = self._read.get(address)
        if known is not None:
            return await asyncio.shield(known)
        reading = self._read[address] = asyncio.get_running_loop().create_future()
        try:
            page = await pages.read(address, self.places)
        except BaseException as error:
            del self._read[address]
            reading.set_exception(forget_frames(error) if isinstance(error, CcBotError) else PageError())
            reading.exception()  # nobody else may be waiting for it
            raise
        reading.set_result(page)
        return page
