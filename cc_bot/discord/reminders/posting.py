"""Posting what nobody asked for just now: in a channel, or in the DM of whoever it is for.

A post carries a nonce that is made of the schedule and its time, for which Discord makes one message only, so
it may be repeated while Discord has trouble, for as long as it is wanted. What Discord refuses is no trouble:
it is told as an obstacle, and asked for no second time.

Discord does not mind a post for somebody who left the server or was banned from it. Those who look after the
server do, and they have no means to stop it: so the bot asks before whether its owner is still a member.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

import hikari
import structlog

from cc_bot.discord.delivery.reply import new_message, repeated
from cc_bot.discord.in_order import Pace
from cc_bot.discord.pages.custom_ids import base36
from cc_bot.discord.pages.page import Page
from cc_bot.discord.recent import Recent
from cc_bot.domain.schedule import Firing, Obstacle, Schedule

_log = structlog.get_logger(__name__)

Result = TypeVar("Result")

Wanted = Callable[[], Awaitable[bool]]
"""Whether a post is still to be made."""

PAUSES_S: Final = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""A minute of trouble on Discord's side. It remembers a nonce for longer."""
REMEMBERED = 2000
"""DMs whose channel is known."""

_OBSTACLES: Final[dict[int, Obstacle]] = {
    10003: "channel_gone",  # unknown channel
    10013: "dms_closed",  # unknown user: the account is gone
    50001: "bot_removed",  # missing access
    50007: "dms_closed",  # cannot send messages to this user
    50013: "permission_missing",
    50033: "dms_closed",  # invalid recipient
    50278: "dms_closed",  # no server in common with the user
}
"""By the error codes of Discord's documentation ("Opcodes and Status Codes")."""
_NO_MEMBER: Final = frozenset({10007, 10013})
"""Unknown member, and unknown user, of the same list."""


class Refused(Exception):
    """Discord does not let the bot say it there."""

    def __init__(self, obstacle: Obstacle) -> None:
        super().__init__(obstacle)
        self.obstacle = obstacle


class Unwanted(Exception):
    """Its user took it back before it was said."""


async def always() -> bool:
    """Of what nobody can take back."""
    return True


@dataclass(frozen=True, slots=True)
class Posted:
    """A message that stands on Discord."""

    channel_id: int
    message_id: int


@dataclass(frozen=True, slots=True)
class Posting:
    rest: hikari.api.RESTClient
    pauses_s: Sequence[float] = PAUSES_S
    """Between tries while Discord has trouble."""
    pace: Pace = field(default_factory=Pace)
    _dms: Recent[int, int] = field(default_factory=partial(Recent[int, int], REMEMBERED))

    async def say(self, firing: Firing, page: Page, wanted: Wanted = always) -> Posted:
        """Post where the schedule wants it; the owner alone is pinged. Raises Refused, Unwanted as soon as it
        is not wanted any more, and hikari's errors when Discord stays out of reach."""
        schedule, nonce = firing.schedule, nonce_of(firing)
        if schedule.heard == "private":
            return await self.whisper(schedule.key.user_id, page, nonce, wanted)
        await self.admit(schedule)
        return await self.post(schedule.key.channel_id, schedule.key.user_id, page, nonce, wanted)

    async def admit(self, schedule: Schedule) -> None:
        """Raises Refused where it would be heard in a server that its owner is no member of any more. Where
        Discord does not know, nobody's reminder is lost."""
        if schedule.guild_id is None or schedule.heard == "private":
            return
        try:
            await self.pace.wait()
            await self.rest.fetch_member(schedule.guild_id, schedule.key.user_id)
        except hikari.UnauthorizedError:
            raise  # see below
        except hikari.NotFoundError as error:
            if int(error.code) in _NO_MEMBER:
                raise Refused("left_server") from error
        except hikari.HTTPError as error:
            _log.info("membership_unknown", schedule=schedule.id, error=type(error).__name__)

    async def whisper(self, user_id: int, page: Page, nonce: str, wanted: Wanted = always) -> Posted:
        """Post in a user's DM. Raises like `say`."""
        channel_id = self._dms.get(user_id)
        if channel_id is None:
            channel_id = int((await self._tried(lambda: self.rest.create_dm_channel(user_id), wanted)).id)
            self._dms[user_id] = channel_id
        return await self.post(channel_id, user_id, page, nonce, wanted)

    async def post(
        self, channel_id: int, user_id: int, page: Page, nonce: str, wanted: Wanted = always
    ) -> Posted:
        """Post in a channel, pinging that user alone. Raises like `say`."""

        def create(page: Page) -> Awaitable[hikari.Message]:
            content = {**new_message(page), "user_mentions": [user_id]}
            return self._tried(lambda: self.rest.create_message(channel_id, nonce=nonce, **content), wanted)

        try:
            message = await create(page)
        except Refused as refused:  # maybe only embeds are
            if not page.facts or refused.obstacle != "permission_missing":
                raise
            message = await create(page.without_embeds())
        return Posted(channel_id, int(message.id))

    async def _tried(self, call: Callable[[], Awaitable[Result]], wanted: Wanted) -> Result:
        async def attempt() -> Result:
            await self.pace.wait()
            if not await wanted():
                raise Unwanted
            return await call()

        try:
            return await repeated(attempt, self.pauses_s)
        except hikari.UnauthorizedError:
            raise  # the token is refused: the program ends, and this is no fault of the place
        except hikari.ClientHTTPResponseError as error:
            raise Refused(_OBSTACLES.get(int(error.code), "channel_refused")) from error


def nonce_of(firing: Firing) -> str:
    """The same for each try to send one time of one schedule: at most 25 characters, says Discord."""
    return nonce_at("r", firing.schedule.id, firing.due_at)


def nonce_at(kind: str, number: int, moment: datetime) -> str:
    """Of what is said once about that number (a snowflake at most) at that moment, to the millisecond."""
    return f"{kind}{base36(number)}-{base36(int(moment.timestamp() * 1000))}"
