"""Canvas messages that only an interaction's token reaches: ephemeral ones, and those in places of others.

They are known to this process alone, and for as long as their tokens work: a quarter of an hour.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import hikari
import structlog

from cc_bot.discord.delivery.canvas_messages import CanvasMessages, CanvasSheet
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.recent import Recent
from cc_bot.domain.clock import utc_now
from cc_bot.domain.session import SessionKey

_log = structlog.get_logger(__name__)

TOKEN_LIFE: Final = timedelta(minutes=14)
REMEMBERED: Final = 500


@dataclass(frozen=True, slots=True)
class _Followed:
    interaction: Answerable
    message_id: int
    since: datetime

    @property
    def reachable(self) -> bool:
        return utc_now() - self.since < TOKEN_LIFE


@dataclass(frozen=True, slots=True)
class FollowedMessages:
    """At most one for each canvas."""

    messages: CanvasMessages
    ephemeral: bool
    _followed: Recent[SessionKey, _Followed] = field(
        default_factory=partial(Recent[SessionKey, _Followed], REMEMBERED)
    )

    async def post(self, key: SessionKey, interaction: Answerable, sheet: CanvasSheet) -> None:
        """A new one below an interaction, which was acknowledged just now. Raises hikari's errors."""
        message_id = await self.messages.follow(interaction, sheet, ephemeral=self.ephemeral)
        self._followed[key] = _Followed(interaction, message_id, utc_now())

    async def edit(self, key: SessionKey, sheet: CanvasSheet) -> bool:
        """False where there is none any more that can be changed. Raises hikari's errors of other kinds."""
        followed = self._take(key)
        if followed is None:
            return False
        try:
            await self.messages.edit_followed(followed.interaction, followed.message_id, sheet)
        except hikari.ClientHTTPResponseError:  # it is gone, or its token is
            return False
        self._followed[key] = followed
        return True

    async def drop(self, key: SessionKey) -> None:
        """Take it down, as far as that is possible. Never raises."""
        followed = self._take(key)
        if followed is None:
            return
        try:
            await followed.interaction.delete_message(followed.message_id)
        except hikari.HikariError as error:  # dismissed by its reader, or its token is dead after all
            _log.debug("canvas_not_dropped", error=type(error).__name__)

    def _take(self, key: SessionKey) -> _Followed | None:
        followed = self._followed.get(key)
        self._followed.discard(key)
        return followed if followed and followed.reachable else None
