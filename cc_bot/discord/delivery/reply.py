"""Keeps the messages of one answer equal to its pages.

If Discord refuses a message, it is sent without some of its parts, or else by DM to the user who asked.
"""

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
    change_last_text,
    edit_arguments,
    move_facts_to_card,
    plain_card,
    plain_pages,
    uploads_of,
)
from cc_bot.log import log_failure

DISCORD_REFUSALS: Final = (hikari.BadRequestError, hikari.ForbiddenError, hikari.NotFoundError)
# Error codes of Discord.
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
_FINAL_REFUSAL_CODES: Final = frozenset(
    {
        *(40094, 50001),  # follow-ups used up, no access
        *(50007, 50278, ARCHIVED_THREAD, 160005),  # DMs to the user impossible; thread archived, locked
        *(200000, 240000),  # blocked by AutoMod, or for harmful links
        *range(30000, 31000),  # a maximum is reached
    }
)
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
    candidates = [part for part in _refused_parts(error) if part in parts and part not in left_out]
    if not candidates:
        return None
    if candidates[0] == "embeds" and error.code == _MISSING_PERMISSIONS and "files" in parts:
        left_out -= {"files"}  # perhaps the bot lacks only the permission for embeds
    return left_out | {candidates[0]}


def is_unknown_message(error: hikari.HTTPError) -> bool:
    return isinstance(error, hikari.NotFoundError) and error.code == UNKNOWN_MESSAGE


def _refused_parts(error: hikari.ClientHTTPResponseError) -> tuple[Part, ...]:
    code = int(error.code)
    if code in _PARTS_BY_CODE:
        return _PARTS_BY_CODE[code]
    if isinstance(error, hikari.UnauthorizedError | hikari.NotFoundError):
        return ()
    if code in _FINAL_REFUSAL_CODES:
        return ()
    fields = (error.errors or {}) if isinstance(error, hikari.BadRequestError) else {}
    if code == _INVALID_FORM and fields:
        return tuple(part for field, part in _PART_BY_FIELD.items() if field in fields)
    return _ALL_PARTS


_log = structlog.get_logger(__name__)

Result = TypeVar("Result")

_REFERENCE: Final[frozenset[Part]] = frozenset({"reference"})


class NotPosted(Exception):
    """It is unknown whether a message was posted."""


FetchPostedIds = Callable[[], Awaitable[Sequence[int]]]  # the answer's messages so far


class Outlet(ABC):
    """Sends single messages. Message id None means an interaction's first response."""

    note: str = ""  # shown below the answer
    location_id: int | None  # the channel; None if ephemeral

    @abstractmethod
    async def post(
        self, page: Page, number: int, fetch_posted_ids: FetchPostedIds, *, as_reply: bool
    ) -> hikari.Snowflake:
        """Post message `number`, from 0. Raises NotPosted."""

    @abstractmethod
    async def edit(self, message_id: hikari.Snowflake | None, changes: dict[str, Any]) -> None:
        """`changes`: keyword arguments of hikari's edits."""

    @abstractmethod
    async def delete(self, message_id: hikari.Snowflake | None) -> None: ...

    @abstractmethod
    def pause_s(self, text_edits: int) -> float:
        """Return the pause before the next edit, after `text_edits` that showed text."""

    async def record_message(  # noqa: B027 - most outlets record messages only at the end
        self, message_id: hikari.Snowflake, first_id: hikari.Snowflake | None
    ) -> None:
        """Record a message that follows the answer's first. May be called twice for the same."""

    async def first_id(self) -> hikari.Snowflake:
        raise ValueError("only interactions have a first response")

    async def send_ephemeral(self, sentence: str) -> bool:  # noqa: ARG002 - only interactions can
        """Returns False if that is impossible."""
        return False

    async def dm_outlet(self) -> "Outlet | None":
        """Return an outlet for the author's DM, if any. Raises hikari's errors."""
        return None


@dataclass(frozen=True, slots=True)
class SentMessage:
    id: hikari.Snowflake | None  # None for an interaction's first response
    page: Page | None = None  # None if unknown


def sent_messages(ids: Iterable[int]) -> tuple[SentMessage, ...]:
    return tuple(SentMessage(hikari.Snowflake(id_)) for id_ in ids)


class DiscordReply:
    def __init__(
        self, outlet: Outlet, sent: Sequence[SentMessage] = (), *, may_have_more: bool = False
    ) -> None:
        """`may_have_more`: an earlier process may have posted more than `sent`. They are found by nonce
        before any edit, as Discord soon forgets nonces."""
        self.outlet = outlet
        self._may_have_more = self._may_have_unknown_messages = may_have_more
        self._sent = list(sent)
        self._left_out_parts: frozenset[Part] = frozenset()
        self.no_dm = False  # never move the answer to a DM
        self._id_before_dm: tuple[int, ...] = ()  # the first message's id, if the answer moved to a DM

    @property
    def has_messages(self) -> bool:
        return bool(self._sent)

    async def show(self, pages: Sequence[Page], *, is_progress: bool = False) -> None:
        """`pages`: texts, and a card if any. Progress is shown without retries. Raises hikari's errors and
        NotPosted."""
        pauses_s = () if is_progress else RETRY_PAUSES_S
        try:
            await self._show(pages, pauses_s)
        except hikari.ClientHTTPResponseError as error:
            if not await self._show_by_dm(pages, pauses_s, error):
                raise

    async def _show(self, pages: Sequence[Page], pauses_s: Sequence[float]) -> None:
        final_pages = pages
        if "files" in self._left_out_parts:
            final_pages = [plain for page in pages for plain in plain_pages(page)]
        if note := self.outlet.note:
            final_pages = change_last_text(
                final_pages, lambda page: replace(page, facts=page.facts.with_notes(note))
            )
        if "embeds" in self._left_out_parts and pauses_s:
            final_pages = move_facts_to_card(final_pages)
        try:
            if self._may_have_unknown_messages:
                for page in final_pages[len(self._sent) :]:
                    await self._post(page)
            for index, page in enumerate(final_pages):
                if index == len(self._sent):
                    await self._post(page)
                elif self._sent[index].page != page:
                    await self._edit_or_replace(index, page, pauses_s)
        except _PagesChanged:
            await self._show(pages, pauses_s)
            return
        self._may_have_unknown_messages = False
        await self._delete_messages_after(len(final_pages), pauses_s)

    async def _show_by_dm(
        self, pages: Sequence[Page], pauses_s: Sequence[float], error: hikari.ClientHTTPResponseError
    ) -> bool:
        """Move to the author's DM. Returns False if that is impossible. Raises hikari's errors."""
        if self.no_dm or isinstance(error, hikari.UnauthorizedError):
            return False
        was_moved = False
        if is_unknown_message(error):
            # Deleted by a user, or by an earlier process that moved to the DM.
            if not self._may_have_unknown_messages:
                return False
            was_moved = True
        outlet = await self.outlet.dm_outlet()
        if outlet is None:
            return False
        dm = DiscordReply(outlet, self._sent if was_moved else (), may_have_more=self._may_have_more)
        try:
            await dm._show(pages, pauses_s)
        except hikari.ClientHTTPResponseError:
            self.no_dm = True
            return False
        if not was_moved:
            self._id_before_dm = tuple(int(sent.id) for sent in self._sent[:1] if sent.id is not None)
            for sent in self._sent:
                with suppress(hikari.HikariError):
                    await self.outlet.delete(sent.id)
            _log.warning("answer_sent_by_dm", code=int(error.code))
        self.outlet, self._sent, self._left_out_parts = outlet, dm._sent, dm._left_out_parts
        self._may_have_unknown_messages = False
        return True

    async def delete(self) -> None:
        await self._delete_messages_after(0, RETRY_PAUSES_S)

    async def try_to_delete(self) -> None:
        with log_failure("answer_not_removed", hikari.HikariError):
            await self.delete()

    def includes(self, message_id: int) -> bool:
        return any(sent.id == message_id for sent in self._sent)

    async def message_ids(self) -> tuple[int, ...]:
        if self._sent and self._sent[0].id is None:
            self._sent[0] = replace(self._sent[0], id=await self.outlet.first_id())
        return (*self._id_before_dm, *(int(sent.id) for sent in self._sent if sent.id is not None))

    async def text_ids(self) -> tuple[int, ...]:
        """Return the ids of all messages but the card."""
        return tuple(id_ for id_ in await self.message_ids() if id_ != self.card_id)

    def pause_s(self, text_edits: int) -> float:
        return self.outlet.pause_s(text_edits)

    @property
    def last_page(self) -> Page | None:
        """The last one with text."""
        return self._sent[self._last_text_index].page if self._sent else None

    @property
    def card_id(self) -> int | None:
        last = self._sent[-1] if self._sent else None
        return int(last.id) if last and last.id is not None and last.page and last.page.boxes else None

    @property
    def _last_text_index(self) -> int:
        page = self._sent[-1].page
        return len(self._sent) - (2 if page and page.boxes else 1)

    @property
    def further_ids(self) -> tuple[int, ...]:
        """Return all ids but the first, which may need a request."""
        return tuple(int(sent.id) for sent in self._sent[1:] if sent.id is not None)

    async def send_ephemeral(self, sentence: str) -> None:
        """Send an ephemeral message; if impossible, show the sentence below the answer."""
        page = self.last_page
        if await self.outlet.send_ephemeral(sentence) or page is None:
            return
        page_with_sentence = replace(page, facts=page.facts.with_notes(sentence))
        await self._edit(self._last_text_index, page_with_sentence, RETRY_PAUSES_S)

    async def attach(self, file: MediaFile) -> None:
        """Attach a file to the answer's last text. Raises hikari's errors."""
        index = self._last_text_index
        sent = self._sent[index]
        page = sent.page or Page("")
        page = replace(page, files=(*page.files, file))
        changes = {"attachments": uploads_of(page), **NO_PINGS}
        await retry(lambda: self.outlet.edit(sent.id, changes))
        if sent.page:
            self._sent[index] = replace(sent, page=page)

    async def _post(self, page: Page) -> None:
        number = len(self._sent)
        message_id = await self._send(
            None,
            page,
            lambda page, as_reply: self.outlet.post(page, number, self.message_ids, as_reply=as_reply),
            as_reply=True,  # others may post in between
        )
        self._sent.append(SentMessage(message_id, page))  # before an await: a user may delete it
        if number:
            await self.outlet.record_message(message_id, self._sent[0].id)

    async def _delete_messages_after(self, count: int, pauses_s: Sequence[float]) -> None:
        while len(self._sent) > count:
            sent = self._sent.pop()  # before the deletion, which `includes` would take for a user's
            try:
                await retry(partial(self.outlet.delete, sent.id), pauses_s)
            except hikari.HikariError:
                self._sent.append(sent)
                raise

    async def _edit_or_replace(self, index: int, page: Page, pauses_s: Sequence[float]) -> None:
        """Edit the message; or delete and post, as a card can't become text again. What an earlier process
        sent may be a card, or gone."""
        before = self._sent[index].page
        if before is None or page.boxes or not before.boxes:
            try:
                await self._edit(index, page, pauses_s)
            except (hikari.BadRequestError, hikari.NotFoundError) as error:
                is_card = isinstance(error, hikari.BadRequestError) and "content" in (error.errors or {})
                is_missing_card = page.boxes and is_unknown_message(error)
                if before is not None or not index or not (is_card or is_missing_card):
                    raise
            else:
                return
        await self._delete_messages_after(index, pauses_s)
        await self._post(page)

    async def _edit(self, index: int, page: Page, pauses_s: Sequence[float]) -> None:
        sent = self._sent[index]

        async def edit(page: Page, _: bool) -> None:
            changes = edit_arguments(sent.page, page)
            await retry(partial(self.outlet.edit, sent.id, changes), pauses_s)

        await self._send(sent.page, page, edit)
        self._sent[index] = replace(sent, page=page)

    async def _send(
        self,
        previous_page: Page | None,
        page: Page,
        send: Callable[[Page, bool], Awaitable[Result]],
        *,
        as_reply: bool = False,
    ) -> Result:
        """Send a page without refused parts. Raises _PagesChanged and hikari's errors."""
        while True:
            try:
                accepted_page = page.without(self._left_out_parts)
                return await send(accepted_page, as_reply and "reference" not in self._left_out_parts)
            except hikari.ClientHTTPResponseError as error:
                parts = page.parts(previous_page) | (_REFERENCE if as_reply else frozenset())
                left_out = parts_to_leave_out(parts, self._left_out_parts, error)
                if left_out is None and page.boxes and isinstance(error, hikari.BadRequestError):
                    page = plain_card(page)
                    continue
                if left_out is None:
                    raise
                _log.info("answer_simplified", without=sorted(left_out), code=int(error.code))
                self._left_out_parts = left_out
                has_text_file = any(isinstance(each, TextFile) for each in page.files)
                if ("files" in left_out and has_text_file) or ("embeds" in left_out and page.facts):
                    raise _PagesChanged from error


class _PagesChanged(Exception):
    """The pages must be laid out again: others show the text of a refused file, or the refused facts."""


async def open_dm(rest: hikari.api.RESTClient, user_id: int) -> int:
    """Return the DM's channel id. Raises hikari's errors."""
    return int((await retry(lambda: rest.create_dm_channel(user_id))).id)


MAX_EXPECTED_DELETIONS: Final = 1000


class ExpectedDeletions:
    """Deletions by the bot itself. If a user deletes a message, the bot deletes the rest of the answer."""

    def __init__(self) -> None:
        self._ids = LruCache[int, None](MAX_EXPECTED_DELETIONS)

    def expect(self, message_id: int) -> None:
        """Call it before the deletion."""
        self._ids[message_id] = None

    def pop(self, message_id: int) -> bool:
        """Return whether the bot deletes it, True only once."""
        is_expected = message_id in self._ids
        self._ids.discard(message_id)
        return is_expected
