"""The messages of one answer, kept in line with how they should look.

Edits and deletions may be repeated safely. A new message may not: a post that failed with a server error may
have taken effect. How that is found out depends on how the message is sent, which is its outlet's business.
"""

import asyncio
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import hikari
from hikari.impl import MessageActionRowBuilder

from cc_bot.discord.interactions import is_fault
from cc_bot.discord.pages.memory import shorten
from cc_bot.discord.pages.page import FACT_ID, Button, Facts, Menu, Page

Result = TypeVar("Result")

RETRY_PAUSES_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0)
"""An answer that is stored should be shown too."""
NO_PINGS: Final[dict[str, Any]] = {
    "mentions_everyone": False,
    "user_mentions": False,
    "role_mentions": False,
}
"""Model output never pings anyone."""
LONGEST_MESSAGE = 2000
"""Characters, as Discord has it."""
EMBEDS_REFUSED: Final = 50013
"""Discord's error code where a permission is missing: maybe the one for embeds."""
LABEL_CHARACTERS: Final = 80
"""Of a button, as Discord has it."""
BUTTONS_IN_A_ROW: Final = 5
MOST_FACT_ROWS: Final = 3
"""Of the five rows of a message; two are for what can be done."""


class PostUncertain(Exception):
    """A new message may or may not have been posted, and there is no way to look."""


class Outlet(Protocol):
    """The way in which the messages of an answer are sent. A message without an id is an interaction's first
    response."""

    async def post(self, page: Page, number: int, known: "KnownIds", *, again: bool) -> hikari.Snowflake:
        """A new message; `number` is its place in the answer, from 0. `again`: one stood there before, and
        was taken down. Raises PostUncertain."""

    async def posted(self, message_id: hikari.Snowflake, first_id: hikari.Snowflake | None) -> None:
        """A further message stands below the first; it may have been said before."""

    async def edit(self, message_id: hikari.Snowflake | None, changes: dict[str, Any]) -> None:
        """Change a message; `changes` are keywords of hikari's edits."""

    async def delete(self, message_id: hikari.Snowflake | None) -> None:
        """Take a message down."""

    async def first_id(self) -> hikari.Snowflake:
        """The id of an interaction's first response."""

    async def whisper(self, sentence: str) -> bool:
        """Tell the user alone. False where others would read it too."""

    @property
    def place_id(self) -> int | None:
        """The channel in which the bot can find its messages again by itself; None for those that one user
        alone sees."""


KnownIds = Callable[[], Awaitable[Sequence[int]]]
"""Tells the ids of the messages that were sent so far."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A message as it was last sent; `page` is None when nobody knows how it looks."""

    id: hikari.Snowflake | None
    page: Page | None = None


class Reply:
    """The messages of one answer: those that are there already, and those that it takes beyond them."""

    def __init__(self, outlet: Outlet, sent: Sequence[Sent] = (), *, posts_first: bool = False) -> None:
        """`sent` are the messages that are there already. `posts_first`: an earlier run of the program, which
        sent them, may have posted more than it noted. That is found by nonces, which Discord forgets sooner
        than edits may have to wait."""
        self._outlet = outlet
        self._posts_first = posts_first
        self._sent = list(sent)
        self._longest = len(self._sent)
        """How many messages it had at once, at most."""
        self._takes_embeds = True

    @property
    def begun(self) -> bool:
        """Return whether there is a message to edit."""
        return bool(self._sent)

    async def show(self, pages: Sequence[Page], *, insist: bool = True) -> None:
        """Edit, post and delete until the messages look like the pages.

        With `insist`, edits are repeated through Discord's short faults. Raises hikari's errors, and
        PostUncertain when a further message can't be posted safely.
        """
        pauses_s = RETRY_PAUSES_S if insist else ()
        if self._posts_first:
            for page in pages[len(self._sent) :]:
                await self._post(page)
        for index, page in enumerate(pages):
            if index == len(self._sent):
                await self._post(page)
            elif self._sent[index].page != page:
                await self._edit(index, page, pauses_s)
        self._posts_first = False
        await self._shorten(len(pages), pauses_s)

    async def remove(self) -> None:
        """Take down whatever of it is still there. Raises hikari's errors."""
        await self._shorten(0, RETRY_PAUSES_S)

    def shows(self, message_id: int) -> bool:
        """Return whether this is one of its messages."""
        return any(sent.id == message_id for sent in self._sent)

    async def message_ids(self) -> tuple[int, ...]:
        """The ids of all messages, in order."""
        if self._sent and self._sent[0].id is None:
            self._sent[0] = replace(self._sent[0], id=await self._outlet.first_id())
        return tuple(int(sent.id) for sent in self._sent if sent.id is not None)

    @property
    def last_page(self) -> Page | None:
        """The look of its last message, if there is one and that is known."""
        return self._sent[-1].page if self._sent else None

    async def last_place(self) -> tuple[int, int] | None:
        """The channel and the id of its last message; None where its user alone can see that."""
        place_id = self._outlet.place_id
        return None if place_id is None else (place_id, (await self.message_ids())[-1])

    @property
    def further_ids(self) -> tuple[int, ...]:
        """The ids of all messages but the first, whose own may have to be asked for."""
        return tuple(int(sent.id) for sent in self._sent[1:] if sent.id is not None)

    async def whisper(self, sentence: str) -> None:
        """Tell the user alone, below the answer; where nobody can be told alone, among its facts."""
        page = self._sent[-1].page if self._sent else None
        if await self._outlet.whisper(sentence) or page is None:
            return
        told = replace(page, facts=page.facts.noting(sentence))
        await self._edit(len(self._sent) - 1, told, RETRY_PAUSES_S)

    async def _post(self, page: Page) -> None:
        number = len(self._sent)
        again = number < self._longest
        message_id = await self._allowed(
            page, lambda page: self._outlet.post(page, number, self.message_ids, again=again)
        )
        self._longest = max(self._longest, number + 1)
        self._sent.append(Sent(message_id, page))  # known at once: it may be deleted while it is noted
        if number:
            await self._outlet.posted(message_id, self._sent[0].id)

    async def _shorten(self, length: int, pauses_s: Sequence[float]) -> None:
        """Take down the last messages."""
        while len(self._sent) > length:
            await repeated(partial(self._outlet.delete, self._sent[-1].id), pauses_s)
            self._sent.pop()

    async def _edit(self, index: int, page: Page, pauses_s: Sequence[float]) -> None:
        sent = self._sent[index]

        async def edit(page: Page) -> None:
            changes = changes_to(sent.page, page)
            await repeated(lambda: self._outlet.edit(sent.id, changes), pauses_s)

        await self._allowed(page, edit)
        self._sent[index] = replace(sent, page=page)

    async def _allowed(self, page: Page, send: Callable[[Page], Awaitable[Result]]) -> Result:
        """Send a page, with its facts in buttons if the place takes no embeds."""
        if not page.embeds or not self._takes_embeds:
            return await send(page.without_embeds() if page.embeds else page)
        try:
            return await send(page)
        except hikari.ForbiddenError as error:
            if error.code != EMBEDS_REFUSED:
                raise
            outcome = await send(page.without_embeds())
            self._takes_embeds = False
            return outcome


async def repeated(call: Callable[[], Awaitable[Result]], pauses_s: Sequence[float]) -> Result:
    """Make a call that may safely be made twice, again after each pause."""
    for pause_s in pauses_s:
        try:
            return await call()
        except hikari.HTTPError as error:
            if not is_fault(error):
                raise
            await asyncio.sleep(pause_s)
    return await call()


def new_message(page: Page) -> dict[str, Any]:
    """Return what a new message says, as keywords of hikari's."""
    return {
        "content": page.content,
        "embeds": page.embeds,
        "components": rows_of(page),
        "attachments": _files(page),
        **NO_PINGS,
    }


def changes_to(before: Page | None, page: Page) -> dict[str, Any]:
    """Return what an edit says, as keywords of hikari's."""
    return {
        "content": page.content,
        "embeds": page.embeds,
        "components": rows_of(page),
        "attachments": _changed_files(before, page),
        **NO_PINGS,
    }


def rows_of(page: Page) -> list[MessageActionRowBuilder]:
    """List all that can be pressed on a page, and its facts where they stand in buttons."""
    return components(*fact_rows(page.facts), page.receipts, *page.proposal_rows, page.last_row)


def fact_rows(facts: Facts) -> list[tuple[Button, ...]]:
    """Facts as buttons that can't be pressed, one in a row as long as there are rows; no model writes
    components either. None where an embed has them."""
    buttons = [
        Button(shorten(label, LABEL_CHARACTERS), f"{FACT_ID}{number}", enabled=False)
        for number, label in enumerate(facts.labels()[: MOST_FACT_ROWS * BUTTONS_IN_A_ROW])
    ]
    width = max(1, math.ceil(len(buttons) / MOST_FACT_ROWS))
    return [tuple(buttons[at : at + width]) for at in range(0, len(buttons), width)]


def looks_like(message: hikari.Message, page: Page) -> bool:
    """Return whether a message says and states what a page does."""
    stated = [embed.description or "" for embed in page.embeds]
    there = [embed.description or "" for embed in message.embeds if not embed.url]
    return (message.content or "").strip() == page.content.strip() and there == stated


def components(*rows: Sequence[Button], menu: Menu | None = None) -> list[MessageActionRowBuilder]:
    """A menu, and below it rows of at most five buttons; empty ones are left out."""
    built = [] if menu is None else [_menu(menu)]
    return built + [_row(buttons) for buttons in rows if buttons]


def _menu(menu: Menu) -> MessageActionRowBuilder:
    row = MessageActionRowBuilder()
    choice = row.add_text_menu(menu.custom_id, placeholder=menu.placeholder, min_values=1)
    for option in menu.options:
        choice.add_option(option.label, option.value, description=option.description or hikari.UNDEFINED)
    return row


def _row(buttons: Sequence[Button]) -> MessageActionRowBuilder:
    row = MessageActionRowBuilder()
    for button in buttons:
        row.add_interactive_button(
            _style(button), button.custom_id, label=button.label, is_disabled=not button.enabled
        )
    return row


def _style(button: Button) -> hikari.InteractiveButtonTypesT:
    if button.danger:
        return hikari.ButtonStyle.DANGER
    return hikari.ButtonStyle.PRIMARY if button.primary else hikari.ButtonStyle.SECONDARY


def _files(page: Page) -> list[hikari.Bytes]:
    return [hikari.Bytes(page.file.text.encode(), page.file.name)] if page.file else []


def _changed_files(before: Page | None, page: Page) -> hikari.UndefinedNoneOr[list[hikari.Bytes]]:
    """Leave the files alone unless they change: an edit would upload them again. To hikari, None takes them
    away, and an empty list means nothing."""
    if (before.file if before else None) == page.file:
        return hikari.UNDEFINED
    return _files(page) or None


# ---- taken down ------------------------------------------------------------------------------------------
# Which messages the bot itself takes down, so that Discord's word of it is not mistaken for somebody's wish.
#
# Whoever deletes an answer wants it forgotten. A page that an answer no longer needs is another matter.

REMEMBERED = 1000
"""Deletions whose event never came are forgotten in the end."""


class TakenDown:
    def __init__(self) -> None:
        self._ids: OrderedDict[int, None] = OrderedDict()

    def expect(self, message_id: int) -> None:
        """Expect a deletion. To be called before the message is deleted."""
        self._ids[message_id] = None
        while len(self._ids) > REMEMBERED:
            self._ids.popitem(last=False)

    def expected(self, message_id: int) -> bool:
        """Return whether the bot deleted it. Each deletion is told of once."""
        return self._ids.pop(message_id, self) is None


async def delete_all(
    rest: hikari.api.RESTClient, channel_id: int, message_ids: Iterable[int], taken_down: TakenDown
) -> None:
    """Take down the rest of an answer that was replaced, as far as that is possible."""
    for message_id in message_ids:
        taken_down.expect(message_id)
        with suppress(hikari.ForbiddenError, hikari.NotFoundError):
            await rest.delete_message(channel_id, message_id)
