"""Sending the message of a canvas: through its channel, or through an interaction where the bot can't.

A new message in a channel carries a nonce, for which Discord makes one message only, also when a server error
hid the first one from us. Follow-ups have none: they are posted once.
"""

import contextlib
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from hashlib import blake2b
from typing import Any, Final

import hikari

from cc_bot.discord.delivery.reply import NO_PINGS, RETRY_PAUSES_S, repeated
from cc_bot.discord.delivery.taken_down import TakenDown
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.pages.canvas_page import CanvasPage, Panel
from cc_bot.discord.pages.memory_view import COLOUR
from cc_bot.discord.recent import Recent
from cc_bot.domain.clock import utc_now
from cc_bot.domain.session import SessionKey

TWIN_AGE: Final = timedelta(seconds=20)
"""What Discord brings back for a nonce and is older was posted by an earlier run of the program."""
REMEMBERED: Final = 1000
"""Messages whose files are known."""
FILES_REFUSED: Final = 50013
"""Discord's error code for a missing permission, to attach files maybe."""


@dataclass(frozen=True, slots=True)
class CanvasSheet:
    """The message as it is to be sent."""

    page: CanvasPage
    pictures: Mapping[str, bytes]
    """PNGs by the names that the page uses."""
    plain: CanvasPage
    """The same without pictures, for where no files may be attached."""

    @property
    def files(self) -> dict[str, bytes]:
        files = {name: self.pictures[name] for name in sorted(self.page.pictures)}
        if self.page.file:
            files[self.page.file.name] = self.page.file.text.encode()
        return files

    def without_files(self) -> "CanvasSheet":
        return CanvasSheet(self.plain, {}, self.plain)


@dataclass(frozen=True, slots=True)
class CanvasMessages:
    rest: hikari.api.RESTClient
    taken_down: TakenDown
    _files: Recent[int, bytes] = field(default_factory=partial(Recent[int, bytes], REMEMBERED))
    """A digest of what is attached to the messages that this process has sent."""
    _nonces: Recent[str, None] = field(default_factory=partial(Recent[str, None], REMEMBERED))

    async def post(self, key: SessionKey, revision: int, sheet: CanvasSheet) -> int:
        """A new message in the channel; its id. Raises hikari's errors."""
        nonce = self._nonce(key, revision)
        try:
            return await self._post(key.channel_id, nonce, sheet)
        except hikari.ForbiddenError as error:
            if error.code != FILES_REFUSED or not sheet.files:
                raise
            return await self._post(key.channel_id, nonce, sheet.without_files())

    async def edit(self, channel_id: int, message_id: int, sheet: CanvasSheet) -> None:
        """Raises hikari's errors."""
        try:
            await self._edit(channel_id, message_id, sheet)
        except hikari.ForbiddenError as error:
            if error.code != FILES_REFUSED or not sheet.files:
                raise
            await self._edit(channel_id, message_id, sheet.without_files())

    async def delete(self, channel_id: int, message_id: int) -> None:
        """Raises hikari's errors; a message that is gone already is none."""
        self.taken_down.expect(message_id)
        with contextlib.suppress(hikari.NotFoundError):
            await repeated(lambda: self.rest.delete_message(channel_id, message_id), RETRY_PAUSES_S)

    async def is_gone(self, channel_id: int, message_id: int) -> bool:
        """Whether somebody deleted it; False where the bot may not look. Raises hikari's other errors."""
        try:
            await self.rest.fetch_message(channel_id, message_id)
        except hikari.NotFoundError:
            return True
        except hikari.ForbiddenError:
            return False
        return False

    async def follow(self, interaction: Answerable, sheet: CanvasSheet, *, ephemeral: bool) -> int:
        """A new message below an interaction; its id. Raises hikari's errors."""
        flags = hikari.MessageFlag.EPHEMERAL if ephemeral else hikari.UNDEFINED
        message = await interaction.execute(**new_canvas(sheet), flags=flags)
        self._files[int(message.id)] = _digest(sheet)
        return int(message.id)

    async def edit_followed(self, interaction: Answerable, message_id: int, sheet: CanvasSheet) -> None:
        """Raises hikari's errors."""
        await self._change(message_id, sheet, partial(interaction.edit_message, message_id))

    async def _post(self, channel_id: int, nonce: str, sheet: CanvasSheet) -> int:
        message = await self._create(channel_id, nonce, sheet)
        if message.created_at < utc_now() - TWIN_AGE:  # it may show something else, or be gone since
            try:
                await self._edit(channel_id, int(message.id), sheet)
            except hikari.NotFoundError:
                message = await self._create(channel_id, secrets.token_hex(10), sheet)
        self._files[int(message.id)] = _digest(sheet)
        return int(message.id)

    async def _create(self, channel_id: int, nonce: str, sheet: CanvasSheet) -> hikari.Message:
        body = new_canvas(sheet)
        message = await repeated(
            lambda: self.rest.create_message(channel_id, **body, nonce=nonce), RETRY_PAUSES_S
        )
        self._nonces[nonce] = None
        return message

    async def _edit(self, channel_id: int, message_id: int, sheet: CanvasSheet) -> None:
        await self._change(message_id, sheet, partial(self.rest.edit_message, channel_id, message_id))

    async def _change(
        self, message_id: int, sheet: CanvasSheet, edit: Callable[..., Awaitable[hikari.Message]]
    ) -> None:
        """Leave the files alone if they are the same: an edit would upload them again. Of files that embeds
        show Discord tells no ids, so they can only be kept, or replaced, all of them."""
        changes = new_canvas(sheet)
        if not sheet.files:
            changes["attachments"] = None  # to hikari, an empty list means nothing
        if self._files.get(message_id) == _digest(sheet):
            kept = {name: value for name, value in changes.items() if name != "attachments"}
            if shows(await repeated(lambda: edit(**kept), RETRY_PAUSES_S), sheet.page):
                return
        await repeated(lambda: edit(**changes), RETRY_PAUSES_S)
        self._files[message_id] = _digest(sheet)

    def _nonce(self, key: SessionKey, revision: int) -> str:
        """The same for the same canvas, so that a program that was killed before it noted its message finds
        that again; but another one where this process has posted it before, and it is wanted anew."""
        said = f"{key.user_id}-{key.channel_id}-{key.agent}-{revision}"
        nonce = blake2b(said.encode(), digest_size=10).hexdigest()
        return secrets.token_hex(10) if nonce in self._nonces else nonce


def new_canvas(sheet: CanvasSheet) -> dict[str, Any]:
    """What a new message says, as keywords of hikari's."""
    return {
        "content": sheet.page.content,
        "embeds": [_embed(panel) for panel in sheet.page.panels],
        "attachments": _uploads(sheet),
        **NO_PINGS,
    }


def shows(message: hikari.Message, page: CanvasPage) -> bool:
    """Whether the pictures of a page stand where they belong, and nowhere else. That an edit may name files
    which the message has is not in Discord's documentation."""
    there = [bool(embed.image and not embed.image.url.startswith("attachment:")) for embed in message.embeds]
    beside = {file.filename for file in message.attachments}
    return there == [bool(panel.picture) for panel in page.panels] and not beside & page.pictures


def _uploads(sheet: CanvasSheet) -> list[hikari.Bytes]:
    return [hikari.Bytes(data, name) for name, data in sheet.files.items()]


def _digest(sheet: CanvasSheet) -> bytes:
    return blake2b(repr(sorted(sheet.files.items())).encode(), digest_size=16).digest()


def _embed(panel: Panel) -> hikari.Embed:
    embed = hikari.Embed(title=panel.title or None, description=panel.text or None, colour=COLOUR)
    for part in panel.fields:
        embed.add_field(part.name, part.value, inline=part.inline)
    if panel.picture:
        embed.set_image(hikari.URL(f"attachment://{panel.picture}"))
    return embed.set_footer(panel.footer) if panel.footer else embed
