"""Makes the messages of one answer look like its pages.

Edits and deletions are idempotent. A post that failed with a server error may have succeeded: the outlet
finds out. A refused message is sent in a simpler form, at last by DM to the author.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

import hikari
import structlog

from cc_bot.discord.interactions import is_fault
from cc_bot.discord.pages.page import (
    NO_PINGS,
    MediaFile,
    Page,
    Part,
    TextFile,
    changes_to,
    files_of,
    plain_pages,
)
from cc_bot.discord.places import Recent

REFUSALS: Final = (hikari.BadRequestError, hikari.ForbiddenError, hikari.NotFoundError)
UNKNOWN_MESSAGE: Final = 10008
UNKNOWN_WEBHOOK: Final = 10015
"""The token's interaction was never acknowledged."""
INVALID_WEBHOOK_TOKEN: Final = 50027
ARCHIVED_THREAD: Final = 50083

_MISSING_PERMISSIONS: Final = 50013
_INVALID_FORM: Final = 50035
_ALL: Final[tuple[Part, ...]] = ("reference", "files", "embeds", "components")
_BY_CODE: Final[Mapping[int, tuple[Part, ...]]] = {
    UNKNOWN_MESSAGE: ("reference",),
    40005: ("files",),  # request entity too large
    _MISSING_PERMISSIONS: ("files", "embeds", "reference"),  # Discord does not say which
    50045: ("files",),  # file uploaded exceeds the maximum size
    50046: ("files",),  # invalid file uploaded
    160002: ("reference",),  # cannot reply without permission to read message history
    160009: ("reference",),
    160010: ("reference",),
}
_NOWHERE_HERE: Final = frozenset(
    {
        *(
            40094,
            50001,
            50007,
            ARCHIVED_THREAD,
            50278,
            160005,
        ),  # follow-ups used up, no access, closed DM, locked
        *(200000, 240000),  # blocked by AutoMod, or as harmful links
    }
)
_LIMITS: Final = range(30000, 31000)
_BY_FIELD: Final[Mapping[str, Part]] = {
    "message_reference": "reference",
    "attachments": "files",
    "files": "files",
    "embeds": "embeds",
    "components": "components",
}


def next_form(
    parts: Collection[Part], without: frozenset[Part], error: hikari.ClientHTTPResponseError
) -> frozenset[Part] | None:
    """Return the parts to leave out next, after a message `without` these was refused."""
    part = next((part for part in _suspects(error) if part in parts and part not in without), None)
    if part is None:
        return None
    if part == "embeds" and error.code == _MISSING_PERMISSIONS and "files" in parts:
        without -= {"files"}  # perhaps only the permission for embeds is missing
    return without | {part}


def is_gone(error: hikari.HTTPError) -> bool:
    return isinstance(error, hikari.NotFoundError) and error.code == UNKNOWN_MESSAGE


def _suspects(error: hikari.ClientHTTPResponseError) -> tuple[Part, ...]:
    code = int(error.code)
    if code in _BY_CODE:
        return _BY_CODE[code]
    if isinstance(error, hikari.UnauthorizedError | hikari.NotFoundError):
        return ()
    if code in _NOWHERE_HERE or code in _LIMITS:
        return ()
    fields = (error.errors or {}) if isinstance(error, hikari.BadRequestError) else {}
    if code == _INVALID_FORM and fields:
        return tuple(part for field, part in _BY_FIELD.items() if field in fields)
    return _ALL


_log = structlog.get_logger(__name__)

Result = TypeVar("Result")

_REFERENCE: Final[frozenset[Part]] = frozenset({"reference"})
FIRST_WITHIN_S: Final = 5.0
RETRY_PAUSES_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0)


class PostUncertain(Exception):
    """It is unknown whether a message was posted. A long answer is then shown as a file in the existing
    message."""


KnownIds = Callable[[], Awaitable[Sequence[int]]]


class Outlet(ABC):
    """Sends the messages of an answer. Message id None: the first response of an interaction."""

    note: str = ""
    place_id: int | None
    """Where the bot can edit its messages without a token; None for ephemeral ones."""

    @abstractmethod
    async def post(
        self, page: Page, number: int, known: KnownIds, *, again: bool, refers: bool
    ) -> hikari.Snowflake:
        """Post message `number`, from 0. `again`: an earlier one of that number was deleted. `refers`: as a
        reply to the question. Raises PostUncertain."""

    @abstractmethod
    async def post_extra(self, page: Page) -> hikari.Snowflake:
        """Post a message apart from the answer, at most once."""

    @abstractmethod
    async def edit(self, message_id: hikari.Snowflake | None, changes: dict[str, Any]) -> None:
        """`changes`: keywords of hikari's edits."""

    @abstractmethod
    async def delete(self, message_id: hikari.Snowflake | None) -> None: ...

    @abstractmethod
    def pause_s(self, changes: int) -> float:
        """Return the pause before the next edit, after `changes` edits that showed text."""

    async def note_posted(  # noqa: B027 - most outlets need none
        self, message_id: hikari.Snowflake, first_id: hikari.Snowflake | None
    ) -> None:
        """Record a message after the first, if not recorded at the end. May be called twice."""

    async def first_id(self) -> hikari.Snowflake:
        raise ValueError("only interactions have a first response")

    async def whisper(self, sentence: str) -> bool:  # noqa: ARG002 - only interactions can
        """Send a sentence that only the user sees. Returns False if that is impossible."""
        return False

    async def elsewhere(self) -> "Outlet | None":
        """Raises hikari's errors."""
        return None


@dataclass(frozen=True, slots=True)
class Sent:
    """As last sent; `page` is None if unknown."""

    id: hikari.Snowflake | None
    page: Page | None = None


def sent_messages(ids: Iterable[int]) -> tuple[Sent, ...]:
    return tuple(Sent(hikari.Snowflake(id_)) for id_ in ids)


class Reply:
    def __init__(self, outlet: Outlet, sent: Sequence[Sent] = (), *, posts_first: bool = False) -> None:
        """`sent`: existing messages. `posts_first`: an earlier process may have posted more, which are found
        by nonce before any edit: Discord soon forgets nonces."""
        self._outlet = outlet
        self._posts_first = posts_first
        self._sent = list(sent)
        self._longest = len(self._sent)
        self._without: frozenset[Part] = frozenset()
        self.unwanted = False
        self._visible = asyncio.Event()
        if any(each.id is not None or each.page is not None for each in self._sent):
            self._visible.set()
        self._left: tuple[int, ...] = ()
        """If it continues in a DM, its first message, whose id the answer has."""

    @property
    def begun(self) -> bool:
        return bool(self._sent)

    async def show(self, pages: Sequence[Page], *, insist: bool = True) -> None:
        """Edit, post and delete until the messages look like the pages, or a simpler form of them.

        With `insist`, edits are retried. Raises hikari's errors, and PostUncertain.
        """
        pauses_s = RETRY_PAUSES_S if insist else ()
        try:
            await self._show(pages, pauses_s)
        except hikari.ClientHTTPResponseError as error:
            if not await self._show_elsewhere(pages, pauses_s, error):
                raise

    async def _show(self, pages: Sequence[Page], pauses_s: Sequence[float]) -> None:
        shown = pages
        if "files" in self._without:
            shown = [plain for page in pages for plain in plain_pages(page)]
        if self._outlet.note:
            *full, last = shown
            shown = (*full, replace(last, facts=last.facts.noting(self._outlet.note)))
        try:
            if self._posts_first:
                for page in shown[len(self._sent) :]:
                    await self._post(page)
            for index, page in enumerate(shown):
                if index == len(self._sent):
                    await self._post(page)
                elif self._sent[index].page != page:
                    await self._edit(index, page, pauses_s)
        except _TextFileRefused:
            await self._show(pages, pauses_s)
            return
        self._posts_first = False
        await self._shorten(len(shown), pauses_s)

    async def _show_elsewhere(
        self, pages: Sequence[Page], pauses_s: Sequence[float], error: hikari.ClientHTTPResponseError
    ) -> bool:
        """Continue in the author's DM; returns whether that worked. If an earlier process's message is gone,
        it may have begun the DM. Raises hikari's errors."""
        begun_there = is_gone(error) and self._posts_first
        if self.unwanted or isinstance(error, hikari.UnauthorizedError) or is_gone(error) != begun_there:
            return False
        outlet = await self._outlet.elsewhere()
        if outlet is None:
            return False
        here = (self._outlet, self._sent, self._longest, self._without)
        self._outlet, self._without = outlet, frozenset()
        if not begun_there:
            self._sent, self._longest = [], 0
        try:
            await self._show(pages, pauses_s)
        except hikari.ClientHTTPResponseError:
            self._outlet, self._sent, self._longest, self._without = here
            self.unwanted = True
            return False
        if not begun_there:
            outlet, left = here[:2]
            self._left = tuple(int(sent.id) for sent in left[:1] if sent.id is not None)
            for sent in left:
                with suppress(hikari.HikariError):
                    await outlet.delete(sent.id)
            _log.warning("answer_sent_by_dm", code=int(error.code))
        return True

    async def remove(self) -> None:
        await self._shorten(0, RETRY_PAUSES_S)

    async def try_to_remove(self) -> None:
        """Delete its messages, as far as Discord allows."""
        try:
            await self.remove()
        except hikari.HikariError as error:
            _log.warning("answer_not_removed", error=type(error).__name__)

    def shows(self, message_id: int) -> bool:
        return any(sent.id == message_id for sent in self._sent)

    async def message_ids(self) -> tuple[int, ...]:
        if self._sent and self._sent[0].id is None:
            self._sent[0] = replace(self._sent[0], id=await self._outlet.first_id())
        return (*self._left, *(int(sent.id) for sent in self._sent if sent.id is not None))

    def pause_s(self, changes: int) -> float:
        return self._outlet.pause_s(changes)

    @property
    def last_page(self) -> Page | None:
        return self._sent[-1].page if self._sent else None

    async def last_place(self) -> tuple[int | None, int]:
        """Return channel and id of its last message; channel None if it is ephemeral."""
        return self._outlet.place_id, (await self.message_ids())[-1]

    @property
    def further_ids(self) -> tuple[int, ...]:
        """All but the first, whose id may need a request."""
        return tuple(int(sent.id) for sent in self._sent[1:] if sent.id is not None)

    async def whisper(self, sentence: str) -> None:
        """Send a sentence that only the user sees, else show it below the answer."""
        page = self._sent[-1].page if self._sent else None
        if await self._outlet.whisper(sentence) or page is None:
            return
        noted = replace(page, facts=page.facts.noting(sentence))
        await self._edit(len(self._sent) - 1, noted, RETRY_PAUSES_S)

    async def post_extra(self, page: Page) -> hikari.Snowflake:
        """Post a message apart from the answer, after its first: Discord would take it for the deferred
        response. Raises hikari's errors, and PostUncertain if the first is not shown in time."""
        try:
            async with asyncio.timeout(FIRST_WITHIN_S):
                await self._visible.wait()
        except TimeoutError:
            raise PostUncertain from None
        return await self._outlet.post_extra(page)

    async def edit_beside(self, message_id: hikari.Snowflake, page: Page) -> None:
        changes = changes_to(None, page)
        await repeat(lambda: self._outlet.edit(message_id, changes), RETRY_PAUSES_S)

    async def attach(self, file: MediaFile) -> None:
        """Attach a file to its last message. Raises hikari's errors."""
        sent = self._sent[-1]
        page = sent.page or Page("")
        page = replace(page, files=(*page.files, file))
        changes = {"attachments": files_of(page), **NO_PINGS}
        await repeat(lambda: self._outlet.edit(sent.id, changes), RETRY_PAUSES_S)
        if sent.page:
            self._sent[-1] = replace(sent, page=page)

    async def _post(self, page: Page) -> None:
        number = len(self._sent)
        again = number < self._longest
        message_id = await self._send(
            None,
            page,
            lambda page, refers: self._outlet.post(
                page, number, self.message_ids, again=again, refers=refers
            ),
            refers=True,  # each page refers to its question, as others may post in between
        )
        self._visible.set()
        self._longest = max(self._longest, number + 1)
        self._sent.append(Sent(message_id, page))  # before it is recorded: a user may delete it at once
        if number:
            await self._outlet.note_posted(message_id, self._sent[0].id)

    async def _shorten(self, length: int, pauses_s: Sequence[float]) -> None:
        while len(self._sent) > length:
            await repeat(partial(self._outlet.delete, self._sent[-1].id), pauses_s)
            self._sent.pop()

    async def _edit(self, index: int, page: Page, pauses_s: Sequence[float]) -> None:
        sent = self._sent[index]

        async def edit(page: Page, _: bool) -> None:
            changes = changes_to(sent.page, page)
            await repeat(partial(self._outlet.edit, sent.id, changes), pauses_s)

        await self._send(sent.page, page, edit)
        self._visible.set()
        self._sent[index] = replace(sent, page=page)

    async def _send(
        self,
        before: Page | None,
        page: Page,
        send: Callable[[Page, bool], Awaitable[Result]],
        *,
        refers: bool = False,
    ) -> Result:
        """Send a page without refused parts. Raises _TextFileRefused, and hikari's errors if every form is
        refused."""
        while True:
            try:
                shown = page.without(self._without)
                return await send(shown, refers and "reference" not in self._without)
            except hikari.ClientHTTPResponseError as error:
                parts = page.parts(before) | (_REFERENCE if refers else frozenset())
                without = next_form(parts, self._without, error)
                if without is None:
                    raise
                _log.info("answer_simplified", without=sorted(without), code=int(error.code))
                self._without = without
                if "files" in without and any(isinstance(each, TextFile) for each in page.files):
                    raise _TextFileRefused from error


class _TextFileRefused(Exception):
    """The text is then shown in several messages."""


async def repeat(call: Callable[[], Awaitable[Result]], pauses_s: Sequence[float]) -> Result:
    """Make an idempotent call, again after each pause while Discord has trouble."""
    for pause_s in pauses_s:
        try:
            return await call()
        except hikari.HTTPError as error:
            if not is_fault(error):
                raise
            await asyncio.sleep(pause_s)
    return await call()


async def open_dm(rest: hikari.api.RESTClient, user_id: int) -> int:
    """Raises hikari's errors."""
    return int((await repeat(lambda: rest.create_dm_channel(user_id), RETRY_PAUSES_S)).id)


MAX_EXPECTED: Final = 1000


class ExpectedDeletions:
    """Messages that the bot deletes itself. If a user deletes one, its answer is deleted as well."""

    def __init__(self) -> None:
        self._ids = Recent[int, None](MAX_EXPECTED)

    def expect(self, message_id: int) -> None:
        """Call it before deleting the message."""
        self._ids[message_id] = None

    def was_expected(self, message_id: int) -> bool:
        """True only once."""
        expected = message_id in self._ids
        self._ids.discard(message_id)
        return expected


async def delete_all(
    rest: hikari.api.RESTClient,
    channel_id: int,
    message_ids: Iterable[int],
    expected_deletions: ExpectedDeletions,
) -> None:
    """Delete messages of outdated answers, as far as Discord allows."""
    for message_id in message_ids:
        expected_deletions.expect(message_id)
        with suppress(hikari.ForbiddenError, hikari.NotFoundError):
            await rest.delete_message(channel_id, message_id)
