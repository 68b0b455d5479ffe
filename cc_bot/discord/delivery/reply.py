"""Makes the messages of one answer look like its pages.

A refused message is sent without some of its parts, at last by DM to the author.
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

from cc_bot.discord.interactions import RETRY_PAUSES_S, retry
from cc_bot.discord.locations import LruCache
from cc_bot.discord.pages.page import (
    NO_PINGS,
    MediaFile,
    Page,
    Part,
    TextFile,
    edit_arguments,
    plain_pages,
    uploads_of,
)

DISCORD_REFUSALS: Final = (hikari.BadRequestError, hikari.ForbiddenError, hikari.NotFoundError)
UNKNOWN_MESSAGE: Final = 10008
UNKNOWN_WEBHOOK: Final = 10015  # the token's interaction was never acknowledged
INVALID_WEBHOOK_TOKEN: Final = 50027
ARCHIVED_THREAD: Final = 50083

_MISSING_PERMISSIONS: Final = 50013
_INVALID_FORM: Final = 50035
_ALL_PARTS: Final[tuple[Part, ...]] = ("reference", "files", "embeds", "components")
_PARTS_BY_CODE: Final[Mapping[int, tuple[Part, ...]]] = {
    UNKNOWN_MESSAGE: ("reference",),
    40005: ("files",),  # request entity too large
    _MISSING_PERMISSIONS: ("files", "embeds", "reference"),  # Discord names no part
    50045: ("files",),  # file uploaded exceeds the maximum size
    50046: ("files",),  # invalid file uploaded
    160002: ("reference",),  # cannot reply without permission to read message history
    160009: ("reference",),
    160010: ("reference",),
}
_CODES_NO_SIMPLER_FORM_HELPS: Final = frozenset(
    {
        *(40094, 50001, 50007, ARCHIVED_THREAD, 50278, 160005),  # follow-ups used up, no access, locked
        *(200000, 240000),  # blocked by AutoMod, or for harmful links
    }
)
_MAXIMUM_REACHED_CODES: Final = range(30000, 31000)
_PART_BY_FIELD: Final[Mapping[str, Part]] = {
    "message_reference": "reference",
    "attachments": "files",
    "files": "files",
    "embeds": "embeds",
    "components": "components",
}


def parts_to_leave_out(
    parts: Collection[Part], left_out: frozenset[Part], error: hikari.ClientHTTPResponseError
) -> frozenset[Part] | None:
    """Return the parts to leave out next, or None if that can't help."""
    part = next((part for part in _refused_parts(error) if part in parts and part not in left_out), None)
    if part is None:
        return None
    if part == "embeds" and error.code == _MISSING_PERMISSIONS and "files" in parts:
        left_out -= {"files"}  # perhaps the bot lacks only the permission for embeds
    return left_out | {part}


def is_gone(error: hikari.HTTPError) -> bool:
    return isinstance(error, hikari.NotFoundError) and error.code == UNKNOWN_MESSAGE


def _refused_parts(error: hikari.ClientHTTPResponseError) -> tuple[Part, ...]:
    code = int(error.code)
    if code in _PARTS_BY_CODE:
        return _PARTS_BY_CODE[code]
    if isinstance(error, hikari.UnauthorizedError | hikari.NotFoundError):
        return ()
    if code in _CODES_NO_SIMPLER_FORM_HELPS or code in _MAXIMUM_REACHED_CODES:
        return ()
    fields = (error.errors or {}) if isinstance(error, hikari.BadRequestError) else {}
    if code == _INVALID_FORM and fields:
        return tuple(part for field, part in _PART_BY_FIELD.items() if field in fields)
    return _ALL_PARTS


_log = structlog.get_logger(__name__)

Result = TypeVar("Result")

_REFERENCE: Final[frozenset[Part]] = frozenset({"reference"})
FIRST_MESSAGE_TIMEOUT_S: Final = 5.0


class PostUncertain(Exception):
    """It is unknown whether a message was posted."""


FetchPostedIds = Callable[[], Awaitable[Sequence[int]]]


class Outlet(ABC):
    """Sends the messages of an answer. Message id None means an interaction's first response."""

    note: str = ""  # shown below the answer
    location_id: int | None  # where the bot can edit without a token; None if ephemeral

    @abstractmethod
    async def post(
        self, page: Page, number: int, fetch_posted_ids: FetchPostedIds, *, may_exist: bool, as_reply: bool
    ) -> hikari.Snowflake:
        """Post message `number`, from 0. `may_exist`: perhaps posted before. Raises PostUncertain."""

    @abstractmethod
    async def post_extra(self, page: Page) -> hikari.Snowflake:
        """Post a message that is not part of the answer, at most once."""

    @abstractmethod
    async def edit(self, message_id: hikari.Snowflake | None, changes: dict[str, Any]) -> None:
        """`changes`: keyword arguments of hikari's edits."""

    @abstractmethod
    async def delete(self, message_id: hikari.Snowflake | None) -> None: ...

    @abstractmethod
    def pause_s(self, changes: int) -> float:
        """Return the pause before the next edit, after `changes` edits that showed text."""

    async def note_posted(  # noqa: B027 - most outlets record messages only at the end
        self, message_id: hikari.Snowflake, first_id: hikari.Snowflake | None
    ) -> None:
        """Record a message after the first. May be called twice."""

    async def first_id(self) -> hikari.Snowflake:
        raise ValueError("only interactions have a first response")

    async def send_ephemeral(self, sentence: str) -> bool:  # noqa: ARG002 - only interactions can
        """Returns False if that is impossible."""
        return False

    async def dm_outlet(self) -> "Outlet | None":
        """Return an outlet for the author's DM, if any. Raises hikari's errors."""
        return None


@dataclass(frozen=True, slots=True)
class Sent:
    """A sent message; `page` is None if unknown."""

    id: hikari.Snowflake | None
    page: Page | None = None


def sent_messages(ids: Iterable[int]) -> tuple[Sent, ...]:
    return tuple(Sent(hikari.Snowflake(id_)) for id_ in ids)


class Poster:
    """The messages of one answer."""

    def __init__(self, outlet: Outlet, sent: Sequence[Sent] = (), *, is_continued: bool = False) -> None:
        """`is_continued`: an earlier process may have posted more than `sent`. They are found by nonce before
        any edit: Discord soon forgets nonces."""
        self._outlet = outlet
        self._is_continued = self._may_have_unknown_messages = is_continued
        self._sent = list(sent)
        self._max_message_count = len(self._sent)
        self._left_out_parts: frozenset[Part] = frozenset()
        self.no_dm = False
        self._visible = asyncio.Event()
        if any(each.id is not None or each.page is not None for each in self._sent):
            self._visible.set()
        self._first_id_before_dm: tuple[int, ...] = ()  # the stored answer's id, if a DM continued it

    @property
    def has_messages(self) -> bool:
        return bool(self._sent)

    async def show(self, pages: Sequence[Page], *, retry_edits: bool = True) -> None:
        """Make the messages look like the pages. Raises hikari's errors and PostUncertain."""
        pauses_s = RETRY_PAUSES_S if retry_edits else ()
        try:
            await self._show(pages, pauses_s)
        except hikari.ClientHTTPResponseError as error:
            if not await self._show_by_dm(pages, pauses_s, error):
                raise

    async def _show(self, pages: Sequence[Page], pauses_s: Sequence[float]) -> None:
        shown = pages
        if "files" in self._left_out_parts:
            shown = [plain for page in pages for plain in plain_pages(page)]
        if self._outlet.note:
            *full, last = shown
            shown = (*full, replace(last, facts=last.facts.with_notes(self._outlet.note)))
        try:
            if self._may_have_unknown_messages:
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
        self._may_have_unknown_messages = False
        await self._shorten(len(shown), pauses_s)

    async def _show_by_dm(
        self, pages: Sequence[Page], pauses_s: Sequence[float], error: hikari.ClientHTTPResponseError
    ) -> bool:
        """Continue in the author's DM; returns whether that worked. Raises hikari's errors."""
        # The message of an earlier process is gone: that process may have begun the DM.
        dm_begun = is_gone(error) and self._may_have_unknown_messages
        if self.no_dm or isinstance(error, hikari.UnauthorizedError) or is_gone(error) != dm_begun:
            return False
        outlet = await self._outlet.dm_outlet()
        if outlet is None:
            return False
        dm = Poster(outlet, self._sent if dm_begun else (), is_continued=self._is_continued)
        try:
            await dm._show(pages, pauses_s)
        except hikari.ClientHTTPResponseError:
            self.no_dm = True
            return False
        if not dm_begun:
            self._first_id_before_dm = tuple(int(sent.id) for sent in self._sent[:1] if sent.id is not None)
            for sent in self._sent:
                with suppress(hikari.HikariError):
                    await self._outlet.delete(sent.id)
            _log.warning("answer_sent_by_dm", code=int(error.code))
        self._outlet, self._sent, self._left_out_parts = outlet, dm._sent, dm._left_out_parts
        self._max_message_count, self._may_have_unknown_messages = dm._max_message_count, False
        self._visible.set()
        return True

    async def remove(self) -> None:
        await self._shorten(0, RETRY_PAUSES_S)

    async def try_to_remove(self) -> None:
        """Delete the messages, as far as Discord allows."""
        try:
            await self.remove()
        except hikari.HikariError as error:
            _log.warning("answer_not_removed", error=type(error).__name__)

    def shows(self, message_id: int) -> bool:
        return any(sent.id == message_id for sent in self._sent)

    async def message_ids(self) -> tuple[int, ...]:
        if self._sent and self._sent[0].id is None:
            self._sent[0] = replace(self._sent[0], id=await self._outlet.first_id())
        return (*self._first_id_before_dm, *(int(sent.id) for sent in self._sent if sent.id is not None))

    def pause_s(self, changes: int) -> float:
        return self._outlet.pause_s(changes)

    @property
    def last_page(self) -> Page | None:
        return self._sent[-1].page if self._sent else None

    async def last_position(self) -> tuple[int | None, int]:
        """Return channel and id of the last message; channel None if it is ephemeral."""
        return self._outlet.location_id, (await self.message_ids())[-1]

    @property
    def further_ids(self) -> tuple[int, ...]:
        """Return all ids but the first, which may need a request."""
        return tuple(int(sent.id) for sent in self._sent[1:] if sent.id is not None)

    async def send_ephemeral(self, sentence: str) -> None:
        """Send an ephemeral message; if impossible, show the sentence below the answer."""
        page = self._sent[-1].page if self._sent else None
        if await self._outlet.send_ephemeral(sentence) or page is None:
            return
        noted_page = replace(page, facts=page.facts.with_notes(sentence))
        await self._edit(len(self._sent) - 1, noted_page, RETRY_PAUSES_S)

    async def post_extra(self, page: Page) -> hikari.Snowflake:
        """Post a message that is not part of the answer. Raises hikari's errors, and PostUncertain if the
        answer is late: Discord would take the message for it."""
        try:
            async with asyncio.timeout(FIRST_MESSAGE_TIMEOUT_S):
                await self._visible.wait()
        except TimeoutError:
            raise PostUncertain from None
        return await self._outlet.post_extra(page)

    async def edit_extra(self, message_id: hikari.Snowflake, page: Page) -> None:
        changes = edit_arguments(None, page)
        await retry(lambda: self._outlet.edit(message_id, changes))

    async def attach(self, file: MediaFile) -> None:
        """Attach a file to the answer's last message. Raises hikari's errors."""
        sent = self._sent[-1]
        page = sent.page or Page("")
        page = replace(page, files=(*page.files, file))
        changes = {"attachments": uploads_of(page), **NO_PINGS}
        await retry(lambda: self._outlet.edit(sent.id, changes))
        if sent.page:
            self._sent[-1] = replace(sent, page=page)

    async def _post(self, page: Page) -> None:
        number = len(self._sent)
        may_exist = self._is_continued or number < self._max_message_count
        message_id = await self._send(
            None,
            page,
            lambda page, as_reply: self._outlet.post(
                page, number, self.message_ids, may_exist=may_exist, as_reply=as_reply
            ),
            as_reply=True,  # each message is a reply, as others may post in between
        )
        self._visible.set()
        self._max_message_count = max(self._max_message_count, number + 1)
        self._sent.append(Sent(message_id, page))  # before note_posted: a user may delete it at once
        if number:
            await self._outlet.note_posted(message_id, self._sent[0].id)

    async def _shorten(self, length: int, pauses_s: Sequence[float]) -> None:
        while len(self._sent) > length:
            await retry(partial(self._outlet.delete, self._sent[-1].id), pauses_s)
            self._sent.pop()

    async def _edit(self, index: int, page: Page, pauses_s: Sequence[float]) -> None:
        sent = self._sent[index]

        async def edit(page: Page, _: bool) -> None:
            changes = edit_arguments(sent.page, page)
            await retry(partial(self._outlet.edit, sent.id, changes), pauses_s)

        await self._send(sent.page, page, edit)
        self._visible.set()
        self._sent[index] = replace(sent, page=page)

    async def _send(
        self,
        before: Page | None,
        page: Page,
        send: Callable[[Page, bool], Awaitable[Result]],
        *,
        as_reply: bool = False,
    ) -> Result:
        """Send a page without refused parts. Raises _TextFileRefused and hikari's errors."""
        while True:
            try:
                shown = page.without(self._left_out_parts)
                return await send(shown, as_reply and "reference" not in self._left_out_parts)
            except hikari.ClientHTTPResponseError as error:
                parts = page.parts(before) | (_REFERENCE if as_reply else frozenset())
                without = parts_to_leave_out(parts, self._left_out_parts, error)
                if without is None:
                    raise
                _log.info("answer_simplified", without=sorted(without), code=int(error.code))
                self._left_out_parts = without
                if "files" in without and any(isinstance(each, TextFile) for each in page.files):
                    raise _TextFileRefused from error


class _TextFileRefused(Exception):
    """Discord refuses a text file; its text is shown in messages instead."""


async def open_dm(rest: hikari.api.RESTClient, user_id: int) -> int:
    """Return the DM's channel id. Raises hikari's errors."""
    return int((await retry(lambda: rest.create_dm_channel(user_id))).id)


MAX_EXPECTED_DELETIONS: Final = 1000


class ExpectedDeletions:
    """Messages that the bot is deleting; if a user deletes one, the whole answer is deleted."""

    def __init__(self) -> None:
        self._ids = LruCache[int, None](MAX_EXPECTED_DELETIONS)

    def expect(self, message_id: int) -> None:
        """Call it before deleting the message."""
        self._ids[message_id] = None

    def was_expected(self, message_id: int) -> bool:
        """Returns True only once."""
        expected = message_id in self._ids
        self._ids.discard(message_id)
        return expected
