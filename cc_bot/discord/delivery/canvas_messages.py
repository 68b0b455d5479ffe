"""Sends canvas messages through the channel, or through an interaction where the bot may not write.

Discord creates one message per nonce, even if a server error hid the first. Follow-ups have none: they are
posted once.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from hashlib import blake2b
from typing import Any, Final, TypeVar

import hikari
import structlog

from cc_bot import charts
from cc_bot.discord.delivery.reply import RETRY_PAUSES_S, ExpectedDeletions, repeat
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.pages.canvas import CanvasPage, Panel, picture_name
from cc_bot.discord.pages.memory import COLOUR
from cc_bot.discord.pages.page import NO_PINGS
from cc_bot.discord.places import Recent
from cc_bot.domain.canvas import Chart
from cc_bot.domain.clock import utc_now
from cc_bot.domain.locale import Locale
from cc_bot.domain.session import SessionKey
from cc_bot.stores.canvases import SeenCanvas

MAX_CACHED: Final = 1000
"""Messages with known files, and used nonces."""
FILES_REFUSED: Final = 50013
"""Discord's error code for a missing permission, possibly to attach files."""


Sent = TypeVar("Sent")


@dataclass(frozen=True, slots=True)
class CanvasSheet:
    page: CanvasPage
    pictures: Mapping[str, bytes]
    """PNGs by the names that the page uses."""
    plain: CanvasPage
    """The page without pictures, if no files may be attached."""

    @property
    def files(self) -> dict[str, bytes]:
        files = {name: self.pictures[name] for name in sorted(self.page.pictures)}
        if self.page.file:
            files[self.page.file.name] = self.page.file.text.encode()
        return files

    def without_files(self) -> "CanvasSheet":
        return CanvasSheet(self.plain, {}, self.plain)


@dataclass(eq=False, slots=True)
class CanvasMessages:
    rest: hikari.api.RESTClient
    expected_deletions: ExpectedDeletions
    _files: Recent[int, bytes] = field(default_factory=partial(Recent[int, bytes], MAX_CACHED))
    """Digests of attached files, by message."""
    _nonces: Recent[str, None] = field(default_factory=partial(Recent[str, None], MAX_CACHED))

    async def post(
        self, key: SessionKey, seen: SeenCanvas, sheet: CanvasSheet, *, deleted: bool = False
    ) -> int:
        """Post a message in the channel and return its id. `deleted`: an earlier message with the same nonce
        may have been deleted. Raises hikari's errors."""
        nonce = self._nonce(key, seen, deleted=deleted)
        return await _without_refused_files(partial(self._post, key.channel_id, nonce), sheet)

    async def edit(self, channel_id: int, message_id: int, sheet: CanvasSheet) -> None:
        """Raises hikari's errors."""
        edit = partial(self.rest.edit_message, channel_id, message_id)
        await _without_refused_files(partial(self._change, message_id, edit), sheet)

    async def delete(self, channel_id: int, message_id: int) -> None:
        """Delete a message if it exists. Raises hikari's errors."""
        self.expected_deletions.expect(message_id)
        with contextlib.suppress(hikari.NotFoundError):
            await repeat(lambda: self.rest.delete_message(channel_id, message_id), RETRY_PAUSES_S)

    async def is_gone(self, channel_id: int, message_id: int) -> bool:
        """Return whether a message is known to be deleted. Raises hikari's errors."""
        with contextlib.suppress(hikari.ForbiddenError):  # the bot may not read the channel
            try:
                await self.rest.fetch_message(channel_id, message_id)
            except hikari.NotFoundError:
                return True
        return False

    async def follow(self, interaction: Answerable, sheet: CanvasSheet, *, ephemeral: bool) -> int:
        """Post a message below an interaction and return its id. Raises hikari's errors."""
        flags = hikari.MessageFlag.EPHEMERAL if ephemeral else hikari.UNDEFINED
        message = await interaction.execute(**new_canvas(sheet), flags=flags)
        self._files[int(message.id)] = _digest(sheet)
        return int(message.id)

    async def edit_followed(self, interaction: Answerable, message_id: int, sheet: CanvasSheet) -> None:
        """Raises hikari's errors."""
        await self._change(message_id, partial(interaction.edit_message, message_id), sheet)

    async def _post(self, channel_id: int, nonce: str, sheet: CanvasSheet) -> int:
        body = new_canvas(sheet)
        create = partial(self.rest.create_message, channel_id, **body, nonce=nonce)
        message_id = int((await repeat(create, RETRY_PAUSES_S)).id)
        self._nonces[nonce] = None
        self._files[message_id] = _digest(sheet)
        return message_id

    async def _change(
        self, message_id: int, edit: Callable[..., Awaitable[hikari.Message]], sheet: CanvasSheet
    ) -> None:
        """Edit a message. Unchanged files are not uploaded again. Discord gives no ids for files in embeds,
        so all are kept or replaced together."""
        changes = new_canvas(sheet)
        if not sheet.files:
            changes["attachments"] = None  # hikari ignores an empty list
        if self._files.get(message_id) == _digest(sheet):
            kept = {name: value for name, value in changes.items() if name != "attachments"}
            if shows(await repeat(lambda: edit(**kept), RETRY_PAUSES_S), sheet.page):
                return
        await repeat(lambda: edit(**changes), RETRY_PAUSES_S)
        self._files[message_id] = _digest(sheet)

    def _nonce(self, key: SessionKey, seen: SeenCanvas, *, deleted: bool) -> str:
        """The same canvas has the same nonce, so that after a crash Discord returns the unrecorded message; a
        nonce that this process has used is replaced by a random one. The revision restarts after an
        erasure."""
        said = f"{key}-{seen}{'-again' if deleted else ''}"
        nonce = blake2b(said.encode(), digest_size=10).hexdigest()
        return secrets.token_hex(10) if nonce in self._nonces else nonce


async def _without_refused_files(send: Callable[[CanvasSheet], Awaitable[Sent]], sheet: CanvasSheet) -> Sent:
    try:
        return await send(sheet)
    except hikari.ForbiddenError as error:
        if error.code != FILES_REFUSED or not sheet.files:
            raise
        return await send(sheet.without_files())


def new_canvas(sheet: CanvasSheet) -> dict[str, Any]:
    """Return the keyword arguments of hikari's for a new message."""
    return {
        "content": sheet.page.content,
        "embeds": [_embed(panel) for panel in sheet.page.panels],
        "attachments": _uploads(sheet),
        **NO_PINGS,
    }


def shows(message: hikari.Message, page: CanvasPage) -> bool:
    """Return whether the pictures are in their embeds, and none is attached elsewhere. Discord does not
    document that an edit may refer to existing files."""
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


# ---- messages below interactions -------------------------------------------------------------------------
# Canvas messages that only an interaction's token can edit: ephemeral ones, and those where the bot may not
# write. Only this process knows them, for 15 minutes.

_log = structlog.get_logger(__name__)

TOKEN_LIFE: Final = timedelta(minutes=14)
MAX_FOLLOWED: Final = 500


@dataclass(frozen=True, slots=True)
class _Followed:
    interaction: Answerable
    message_id: int
    since: datetime

    @property
    def reachable(self) -> bool:
        return utc_now() - self.since < TOKEN_LIFE


@dataclass(eq=False, slots=True)
class FollowedMessages:
    """Messages below interactions: at most one per canvas."""

    messages: CanvasMessages
    ephemeral: bool
    _followed: Recent[SessionKey, _Followed] = field(
        default_factory=partial(Recent[SessionKey, _Followed], MAX_FOLLOWED)
    )

    async def post(self, key: SessionKey, interaction: Answerable, sheet: CanvasSheet) -> None:
        """Post a message below an acknowledged interaction. Raises hikari's errors."""
        message_id = await self.messages.follow(interaction, sheet, ephemeral=self.ephemeral)
        self._followed[key] = _Followed(interaction, message_id, utc_now())

    async def edit(self, key: SessionKey, sheet: CanvasSheet) -> bool:
        """Edit the message; returns False if there is none. Raises hikari's other errors."""
        followed = self._take(key)
        if followed is None:
            return False
        try:
            await self.messages.edit_followed(followed.interaction, followed.message_id, sheet)
        except hikari.ClientHTTPResponseError:  # the message was deleted, or the token expired
            return False
        self._followed[key] = followed
        return True

    async def drop(self, key: SessionKey) -> None:
        """Delete it if possible. Never raises."""
        followed = self._take(key)
        if followed is None:
            return
        try:
            await followed.interaction.delete_message(followed.message_id)
        except hikari.HikariError as error:  # dismissed by its reader, or the token expired
            _log.debug("canvas_not_dropped", error=type(error).__name__)

    def _take(self, key: SessionKey) -> _Followed | None:
        followed = self._followed.get(key)
        self._followed.discard(key)
        return followed if followed and followed.reachable else None


# ---- canvas pictures -------------------------------------------------------------------------------------

MAX_CACHED_PICTURES: Final = 30
"""Of some 40 KB each; most edits of a canvas leave its charts unchanged."""

Draw = Callable[[Chart, Locale], bytes | None]


class Pictures:
    def __init__(self, draw: Draw = charts.draw) -> None:
        self._draw = draw
        self._drawn = Recent[tuple[str, Locale], bytes](MAX_CACHED_PICTURES)

    async def of(self, shown: Iterable[Chart], locale: Locale) -> dict[str, bytes]:
        """Return PNGs by name, without charts that can't be drawn."""
        found = {picture_name(chart): await self._picture(chart, locale) for chart in shown}
        return {name: png for name, png in found.items() if png is not None}

    async def _picture(self, chart: Chart, locale: Locale) -> bytes | None:
        name = (picture_name(chart), locale)
        png = self._drawn.get(name)
        if png is not None:
            return png
        try:
            png = await asyncio.to_thread(partial(self._draw, chart, locale))
        except Exception:  # noqa: BLE001 - logged; a table shows the data instead
            _log.error("chart_not_drawn", exc_info=True)
            return None
        if png is not None:
            self._drawn[name] = png
        return png
