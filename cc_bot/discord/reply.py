"""The messages that an interaction is answered with, kept in line with how they should look.

Edits and deletions may be repeated safely. A new message may not: a post that failed with a server error may
have taken effect, so it is looked for first, and where that is impossible nothing is posted again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import hikari
from hikari.impl import MessageActionRowBuilder

from cc_bot.discord.interactions import Answerable, is_fault
from cc_bot.discord.page import Button, Page

Result = TypeVar("Result")

_RETRY_PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0)
"""For edits: an answer that is stored should be shown too."""
_POST_TRIES = 3
_NO_PINGS: dict[str, Any] = {"mentions_everyone": False, "user_mentions": False, "role_mentions": False}
"""Model output never pings anyone."""


class PostUncertain(Exception):
    """A new message may or may not have been posted, and there is no way to look."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """A message as it was last sent; `id` is None for the interaction's first response."""

    id: hikari.Snowflake | None
    page: Page | None


class Reply:
    """One answer: the first response of an interaction and its follow-ups, or follow-ups alone."""

    def __init__(self, interaction: Answerable, *, ephemeral: bool, sent: Sequence[_Sent]) -> None:
        self._interaction = interaction
        self._ephemeral = ephemeral
        self._sent = list(sent)

    @classmethod
    def deferred(cls, interaction: Answerable, *, ephemeral: bool) -> "Reply":
        """After `defer`: the waiting response becomes the first message."""
        return cls(interaction, ephemeral=ephemeral, sent=(_Sent(None, None),))

    @classmethod
    def in_place(cls, interaction: hikari.ComponentInteraction, page: Page, *, ephemeral: bool) -> "Reply":
        """After `defer_update`: the message of the pressed button, which looks like `page`, is rewritten."""
        return cls(interaction, ephemeral=ephemeral, sent=(_Sent(None, page),))

    @classmethod
    def following(cls, interaction: Answerable, *, ephemeral: bool) -> "Reply":
        """Below an acknowledged interaction: every message is a new one."""
        return cls(interaction, ephemeral=ephemeral, sent=())

    @property
    def begun(self) -> bool:
        """Whether there is a message to edit."""
        return bool(self._sent)

    async def show(self, pages: Sequence[Page], *, insist: bool = True) -> None:
        """Edit, post and delete until the messages look like the pages.

        With `insist`, edits are repeated through Discord's short faults. Raises hikari's errors, and
        PostUncertain when a further message can't be posted safely.
        """
        pauses_s = _RETRY_PAUSES_S if insist else ()
        for index, page in enumerate(pages):
            if index == len(self._sent):
                self._sent.append(_Sent((await self._post(page)).id, page))
            elif self._sent[index].page != page:
                await self._edit(index, page, pauses_s)
        while len(self._sent) > len(pages):
            await self._delete(self._sent[-1], pauses_s)
            self._sent.pop()

    async def message_ids(self) -> tuple[int, ...]:
        """The ids of all messages, in order."""
        if self._sent and self._sent[0].id is None:
            first = await self._interaction.fetch_initial_response()
            self._sent[0] = replace(self._sent[0], id=first.id)
        return tuple(int(sent.id) for sent in self._sent if sent.id is not None)

    async def whisper(self, sentence: str) -> None:
        """Tell the user alone, below the answer."""
        await self._interaction.execute(sentence, flags=hikari.MessageFlag.EPHEMERAL, **_NO_PINGS)

    async def _edit(self, index: int, page: Page, pauses_s: Sequence[float]) -> None:
        sent = self._sent[index]
        changes = {
            "content": page.content,
            "components": components(page.buttons),
            "attachments": _changed_files(sent.page, page),
            **_NO_PINGS,
        }

        async def edit() -> hikari.Message:
            if sent.id is None:
                return await self._interaction.edit_initial_response(**changes)
            return await self._interaction.edit_message(sent.id, **changes)

        await _repeated(edit, pauses_s)
        self._sent[index] = replace(sent, page=page)

    async def _delete(self, sent: _Sent, pauses_s: Sequence[float]) -> None:
        if sent.id is None:
            await _repeated(self._interaction.delete_initial_response, pauses_s)
        else:
            message_id = sent.id
            await _repeated(lambda: self._interaction.delete_message(message_id), pauses_s)

    async def _post(self, page: Page) -> hikari.Message:
        for _ in range(_POST_TRIES):
            try:
                return await self._interaction.execute(
                    page.content,
                    components=components(page.buttons),
                    attachments=_files(page),
                    flags=hikari.MessageFlag.EPHEMERAL if self._ephemeral else hikari.UNDEFINED,
                    **_NO_PINGS,
                )
            except hikari.HTTPError as error:
                if not is_fault(error):
                    raise
                await asyncio.sleep(_RETRY_PAUSES_S[0])
                posted = await self._look_for(page, error)
                if posted is not None:
                    return posted
        raise PostUncertain

    async def _look_for(self, page: Page, error: Exception) -> hikari.Message | None:
        """The message if it was posted, None if it was not. Raises PostUncertain when nobody can tell."""
        if self._ephemeral:
            raise PostUncertain from error
        known = await self.message_ids()
        try:
            newest = await self._interaction.app.rest.fetch_messages(
                self._interaction.channel_id, after=known[-1] if known else self._interaction.id
            ).limit(50)
        except hikari.HTTPError as unseen:
            raise PostUncertain from unseen
        for message in newest:
            if message.application_id == self._interaction.application_id and message.content == page.content:
                return message
        return None


async def _repeated(call: Callable[[], Awaitable[Result]], pauses_s: Sequence[float]) -> Result:
    """Make a call that may safely be made twice, again after each pause."""
    for pause_s in pauses_s:
        try:
            return await call()
        except hikari.HTTPError as error:
            if not is_fault(error):
                raise
            await asyncio.sleep(pause_s)
    return await call()


def components(buttons: Sequence[Button]) -> list[MessageActionRowBuilder]:
    if not buttons:
        return []
    row = MessageActionRowBuilder()
    for button in buttons:
        row.add_interactive_button(
            hikari.ButtonStyle.PRIMARY if button.primary else hikari.ButtonStyle.SECONDARY,
            button.custom_id,
            label=button.label,
            is_disabled=not button.enabled,
        )
    return [row]


def _files(page: Page) -> list[hikari.Bytes]:
    return [hikari.Bytes(page.file.text.encode(), page.file.name)] if page.file else []


def _changed_files(before: Page | None, page: Page) -> hikari.UndefinedNoneOr[list[hikari.Bytes]]:
    """Leave the files alone unless they change: an edit would upload them again. To hikari, None takes them
    away, and an empty list means nothing."""
    if (before.file if before else None) == page.file:
        return hikari.UNDEFINED
    return _files(page) or None
