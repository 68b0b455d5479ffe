"""Who may use the bot: owners, rates, floods, and the gate that asks them all."""

import asyncio
import math
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Final, Literal

import hikari
import structlog

from cc_bot.discord.agents import Preloaded
from cc_bot.discord.places import Places, Recent, key_of_interaction
from cc_bot.domain.access import AccessRules, Refusal, Visitor, is_shut, refusal
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import (
    AccessError,
    NotAllowed,
    OwnersOnly,
    StorageError,
    TooManyCommands,
    UnderMaintenance,
)
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.domain.schedule import Schedule
from cc_bot.domain.usage import MINUTE, Rules, UsageSubject, quotas_of_user
from cc_bot.domain.web import WebPlace
from cc_bot.in_order import KeyedLock
from cc_bot.policy import Policies, Policy
from cc_bot.stores import AccessState, AccessStore, Visit

_log = structlog.get_logger(__name__)

OWNERS_TTL_S: Final = 10.0
ASK_TIMEOUT_S: Final = 1.5
"""Discord waits 3 s for an acknowledgement."""


@dataclass(slots=True)
class Owners:
    """The users that the operator named in a setting or in the policy file. If none is named: the owner of
    the application, or the accepted members of its team, as Discord says now."""

    named: frozenset[int]
    policies: Policies
    rest: hikari.api.RESTClient
    _of_application: frozenset[int] = field(default=frozenset())
    _fetched_at_s: float = -math.inf
    _fetching: "asyncio.Task[None] | None" = None

    async def learn(self) -> None:
        """Fetch the owners of the application. Raises hikari's errors."""
        application = await self.rest.fetch_application()
        self._fetched_at_s = monotonic()
        if application.team is None:
            self._of_application = frozenset({int(application.owner.id)})
            return
        self._of_application = frozenset(
            int(user_id)
            for user_id, member in application.team.members.items()
            if member.membership_state == hikari.TeamMembershipState.ACCEPTED
        )

    async def ids(self, *, fresh: bool = False) -> frozenset[int]:
        """Return the owners, cached for OWNERS_TTL_S unless `fresh`; the last known ones if Discord fails."""
        policy = await self.policies.now()
        named = self.named | policy.access.owners
        if not named and (fresh or monotonic() - self._fetched_at_s > OWNERS_TTL_S):
            await self._ask()
        return self.under(policy)

    async def _ask(self) -> None:
        """Fetch once for all concurrent callers, and not again soon if Discord does not answer."""
        if self._fetching is None:
            self._fetched_at_s = monotonic()
            self._fetching = asyncio.create_task(self._learn_or_keep())
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._fetching), ASK_TIMEOUT_S)

    async def _learn_or_keep(self) -> None:
        try:
            await self.learn()
        except hikari.HikariError as error:
            _log.warning("owners_not_learned", error=type(error).__name__)
        finally:
            self._fetching = None

    async def has(self, user_id: int) -> bool:
        """Return whether a user is an owner, without asking Discord."""
        return user_id in self.under(await self.policies.now())

    def under(self, policy: Policy) -> frozenset[int]:
        return self.named | policy.access.owners or self._of_application

    async def require(self, interaction: hikari.PartialInteraction) -> None:
        """Raise OwnersOnly unless the user is an owner. Call it at every command, press and form: hiding a
        command does not forbid it."""
        if int(interaction.user.id) not in await self.ids(fresh=True):
            raise OwnersOnly


What = Literal["command", "choices"]

CHOICES_PER_COMMAND: Final = 10
MAX_CACHED_USERS: Final = 5000


@dataclass(slots=True)
class CommandRates:
    _moments: Recent[tuple[int, What], deque[datetime]] = field(
        default_factory=lambda: Recent(MAX_CACHED_USERS)
    )
    _refused_until: Recent[tuple[int, What], datetime] = field(
        default_factory=lambda: Recent(MAX_CACHED_USERS)
    )

    def count(self, user_id: int, what: What, most: int, now: datetime) -> datetime | None:
        """Count one use, unless `most` are reached within a minute; then return when the next is allowed."""
        allowed = most * CHOICES_PER_COMMAND if what == "choices" else most
        moments = self._moments.get((user_id, what)) or deque[datetime]()
        while moments and not now - MINUTE < moments[0] <= now:  # or the clock was set back
            moments.popleft()
        if len(moments) >= allowed:
            self._refused_until[user_id, what] = moments[-allowed] + MINUTE
            return moments[-allowed] + MINUTE
        moments.append(now)
        self._moments[user_id, what] = moments
        return None

    def refused_until(self, user_id: int, what: What, now: datetime) -> datetime | None:
        """Return until when uses are refused, since `count` refused one; None: they are not."""
        until = self._refused_until.get((user_id, what))
        return until if until and now < until <= now + MINUTE else None


Kind = Literal["interaction", "message"]

MAX_AT_ONCE: Final[Mapping[Kind, int]] = {"interaction": 60, "message": 300}
"""Events of one user. After a resume Discord sends all missed messages at once."""
REFILL_PER_S: Final = 20
"""As many autocomplete requests as the gate allows per second."""
QUIET_S: Final = 5.0
"""A flood is over after so many seconds without events."""
MAX_USERS: Final = 5000

_EVENTS: Final[Mapping[str, Kind]] = {
    "interaction_create": "interaction",
    "message_create": "message",
    "message_update": "message",
}


@dataclass(slots=True)
class _Sender:
    allowance: float
    seen_at_s: float
    is_flooding: bool = False
    refused: int | None = None
    """The one interaction of the flood that is answered, with a refusal."""


@dataclass(slots=True)
class FloodGuard:
    _senders: Recent[tuple[int, Kind], _Sender] = field(default_factory=lambda: Recent(MAX_USERS))

    def drops(self, user_id: int, kind: Kind, now_s: float, *, answerable: int | None = None) -> bool:
        """Count an event. Returns whether it is to be dropped. The first `answerable` interaction of a flood
        is not: the gate refuses it, which tells the user."""
        most = MAX_AT_ONCE[kind]
        sender = self._senders.get((user_id, kind)) or _Sender(most, now_s)
        self._senders[user_id, kind] = sender
        away_s, sender.seen_at_s = now_s - sender.seen_at_s, now_s
        if sender.is_flooding and away_s < QUIET_S:
            if sender.refused is None and answerable is not None:
                sender.refused = answerable
                return False
            return True
        sender.is_flooding, sender.refused = False, None
        sender.allowance = min(most, sender.allowance + away_s * REFILL_PER_S)
        if sender.allowance >= 1:
            sender.allowance -= 1
            return False
        _log.warning("flood_dropped", subject=user_id, kind=kind)
        sender.is_flooding, sender.refused = True, answerable
        return answerable is None

    def refuses(self, user_id: int, interaction_id: int) -> bool:
        """Return whether this is the one interaction of a flood that is refused visibly."""
        sender = self._senders.get((user_id, "interaction"))
        return sender is not None and sender.refused == interaction_id


def drop_floods(bot: hikari.GatewayBot, guard: FloodGuard) -> None:
    """Drop events of floods at the gateway. The bot's own messages always pass."""

    def is_dropped(kind: Kind, payload: Mapping[str, Any]) -> bool:
        user_id, now_s = _sender_of(payload), monotonic()
        if kind == "interaction":
            answerable = payload["type"] != hikari.InteractionType.AUTOCOMPLETE
            return guard.drops(user_id, kind, now_s, answerable=int(payload["id"]) if answerable else None)
        me = bot.get_me()
        return user_id != 0 and (me is None or user_id != me.id) and guard.drops(user_id, kind, now_s)

    def guarded(kind: Kind, consume: Any) -> Any:
        def pass_on(shard: hikari.api.GatewayShard, payload: Mapping[str, Any]) -> None:
            if not is_dropped(kind, payload):
                consume(shard, payload)

        return pass_on

    consumers = bot.event_manager._consumers  # type: ignore[attr-defined]  # there is no other way in
    for name, kind in _EVENTS.items():
        consumers[name].callback = guarded(kind, consumers[name].callback)


def _sender_of(payload: Mapping[str, Any]) -> int:
    """Return the user of an event; 0 for an edit without its author."""
    user = payload.get("author") or payload.get("user") or payload.get("member", {}).get("user", {})
    return int(user.get("id", 0))


MAX_CACHED_MEMBERS: Final = 5000


class SeenRoles:
    """The roles of members, from their last message or interaction."""

    def __init__(self, *, remembered: int = MAX_CACHED_MEMBERS) -> None:
        self._roles = Recent[tuple[int, int], tuple[int, ...]](remembered)

    def note(self, guild_id: int, user_id: int, role_ids: tuple[int, ...]) -> None:
        self._roles[guild_id, user_id] = role_ids

    def of(self, guild_id: int | None, user_id: int) -> tuple[int, ...] | None:
        """Return the roles; None if unknown, as after a start."""
        return None if guild_id is None else self._roles.get((guild_id, user_id))


_UNKNOWN_GUILD: Final = 0
DATABASE_TIMEOUT_S: Final = 0.5
"""Discord waits 3 s for an acknowledgement."""


@dataclass(slots=True)
class Gate:
    """Decides whether a visitor may use the bot; everything that starts with a user asks here: commands,
    autocomplete, presses, forms, messages, pages and schedules. Rules are read each time."""

    owners: Owners
    policies: Policies
    store: AccessStore
    places: Places
    rest: hikari.api.RESTClient
    timeout_s: float = DATABASE_TIMEOUT_S
    roles: SeenRoles = field(default_factory=SeenRoles)
    rates: CommandRates = field(default_factory=CommandRates)
    floods: FloodGuard = field(default_factory=FloodGuard)
    clock: Clock = utc_now
    _order: KeyedLock = field(default_factory=KeyedLock)
    """Keeps one user's interactions in order: the second database connection may answer first."""
    _last: AccessState | None = None
    _last_set: Rules = field(default_factory=dict)
    """Limits set by owners; they override the file."""

    async def learn(self) -> None:
        """Read owners and rules. Raises hikari's errors."""
        await self.owners.learn()
        with suppress(StorageError):
            await self._in_force()

    async def admit(
        self, interaction: hikari.PartialInteraction, what: What = "command", *, always: bool = False
    ) -> Preloaded:
        """Count a use. Raises TooManyCommands above the user's rate, NotAllowed or UnderMaintenance if they
        may not use the bot there (unless `always`), and StorageError. Owners pass, unless they flood."""
        visitor = self._visitor_of(interaction)
        if self.floods.refuses(visitor.user_id, int(interaction.id)):
            raise TooManyCommands(resets=self.clock() + timedelta(seconds=QUIET_S))
        return await self._admit(visitor, what, always=always)

    async def admit_page(self, place: WebPlace, what: What, *, always: bool = False) -> None:
        """Count a use of a page, as `admit` does for a command where they asked for their pages. Also raises
        hikari's errors."""
        await self._admit(self._visitor_of_page(place), what, always=always)

    async def refusals_of_pages(self, places: Sequence[WebPlace]) -> dict[WebPlace, Refusal]:
        """Return those whose users may not see their pages now. Raises as `admit_page`."""
        policy, in_force = await self.policies.now(), await self._in_force()
        owners = self.owners.under(policy)
        found = {}
        for place in places:
            if place.user_id in owners:
                continue
            if refused := await self._refuse(self._visitor_of_page(place), policy, in_force):
                found[place] = refused
        return found

    async def _admit(self, visitor: Visitor, what: What, *, always: bool) -> Preloaded:
        self._refuse_again(visitor, what)
        policy, visit = await self.policies.now(), await self._visit(visitor)
        owner = visitor.user_id in self.owners.under(policy)
        if not owner:
            self._count(visitor, what, {**policy.limits, **self._last_set})
        if not (owner or always) and (refused := await self._refuse(visitor, policy, self._known())):
            raise error_of(refused)
        return Preloaded(visit.settings, visit.agents) if visit else Preloaded()

    def _count(self, visitor: Visitor, what: What, limits: Rules) -> None:
        payer = UsageSubject(visitor.user_id, visitor.guild_id or 0, tuple(visitor.role_ids or ()))
        most = quotas_of_user(limits, payer).commands_per_minute
        if most is None:
            return
        self._refuse_again(visitor, what)  # another of the same burst may have been refused meanwhile
        if next_at := self.rates.count(visitor.user_id, what, most, self.clock()):
            raise TooManyCommands(resets=next_at)

    def _refuse_again(self, visitor: Visitor, what: What) -> None:
        """Raise TooManyCommands, to be ignored silently, while the user's last refusal lasts."""
        if until := self.rates.refused_until(visitor.user_id, what, self.clock()):
            raise TooManyCommands(resets=until, told=True)

    async def _visit(self, visitor: Visitor) -> Visit | None:
        """Read rules and the visitor's settings; None if the database does not answer in time: then the last
        known rules apply."""
        with suppress(StorageError, TimeoutError):
            async with asyncio.timeout(self.timeout_s), self._order.after(visitor.user_id):
                visit = await self.store.get_visit(visitor.user_id, visitor.channel_ids)
                self._last, self._last_set = visit.in_force, visit.limits
                return visit
        return None

    def _known(self) -> AccessState:
        if self._last is None:
            raise StorageError
        return self._last

    async def refusal_of_author(self, message: hikari.Message) -> Refusal | None:
        """Return why the author of a message may not use the bot there. Raises StorageError and hikari's
        errors."""
        guild_id = None if message.guild_id is None else int(message.guild_id)
        member = message.member or None
        roles = self._known_roles(int(message.author.id), guild_id, member)
        visitor = Visitor(int(message.author.id), (int(message.channel_id),), guild_id, roles)
        return await self.refusal_of(visitor)

    async def serves_owner(self, schedule: Schedule, *, answering: bool = False) -> bool:
        """Return whether a schedule still runs: its owner may use the bot in its channel. Maintenance counts
        only for `answering`. True if it can't be determined."""
        user_id, guild_id = schedule.key.user_id, schedule.guild_id
        roles = self._known_roles(user_id, guild_id, None)
        visitor = Visitor(user_id, (schedule.key.channel_id,), guild_id, roles)
        try:
            return await self.refusal_of(visitor, answering=answering) is None
        except (StorageError, hikari.HikariError):
            return True

    async def refusals_in(self, key: ChannelKey, questions: Sequence[Message]) -> dict[int, Refusal]:
        """Return the authors of questions who may not use the bot in a channel or thread. Raises as
        `refusal_of_author`."""
        found = {}
        for user_id in dict.fromkeys(question.author_id for question in questions):
            visitor = Visitor(user_id, (key.place_id, key.channel_id), _UNKNOWN_GUILD, None)
            if refused := await self.refusal_of(visitor):
                found[user_id] = refused
        return found

    async def refusal_of(self, visitor: Visitor, *, answering: bool = True) -> Refusal | None:
        """Return why a visitor may not use the bot. Raises as `refusal_of_author`."""
        policy = await self.policies.now()
        if visitor.user_id in self.owners.under(policy):
            return None
        return await self._refuse(visitor, policy, await self._in_force(), answering=answering)

    async def _refuse(
        self, visitor: Visitor, policy: Policy, in_force: AccessState, *, answering: bool = True
    ) -> Refusal | None:
        rules = _rules(policy, in_force)
        maintenance = in_force.maintenance if answering else None
        known = await self._complete(visitor, rules)
        found = refusal(known, rules, owners=self.owners.under(policy), maintenance=maintenance)
        if found:
            _log.info("access_denied", why=found.why, subject=found.subject, place=visitor.channel_ids[0])
        return found

    async def reads(self, key: ChannelKey, guild_id: int | None = None) -> bool:
        """Return whether the bot may read what people write in a channel or thread. Raises as
        `refusal_of_author`."""
        rules = _rules(await self.policies.now(), await self._in_force())
        if rules.of_guilds and guild_id is None:
            guild_id = (await self.places.of(key.place_id)).guild_id
        return not is_shut(key, guild_id, rules)

    async def _in_force(self) -> AccessState:
        """Read the rules; the last known ones if the database does not answer in time. Raises StorageError if
        there are none."""
        try:
            async with asyncio.timeout(self.timeout_s):
                self._last = await self.store.get_in_force()
        except (StorageError, TimeoutError) as error:
            if self._last is None:
                raise StorageError from error
        return self._last

    def _visitor_of(self, interaction: hikari.PartialInteraction) -> Visitor:
        guild_id = None if interaction.guild_id is None else int(interaction.guild_id)
        key = key_of_interaction(interaction.channel)
        user_id = int(interaction.user.id)
        roles = self._known_roles(user_id, guild_id, interaction.member)
        return Visitor(user_id, tuple(dict.fromkeys((key.place_id, key.channel_id))), guild_id, roles)

    def _visitor_of_page(self, place: WebPlace) -> Visitor:
        roles = self._known_roles(place.user_id, place.guild_id, None)
        channels = (place.channel_id,) if place.channel_id else ()
        return Visitor(place.user_id, channels, place.guild_id, roles)

    def _known_roles(
        self, user_id: int, guild_id: int | None, member: hikari.Member | None
    ) -> frozenset[int] | None:
        if guild_id is None:
            return frozenset()
        if member is not None:
            self.roles.note(guild_id, user_id, tuple(map(int, member.role_ids)))
        known = self.roles.of(guild_id, user_id)
        return None if known is None else frozenset(known)

    async def _complete(self, visitor: Visitor, rules: AccessRules) -> Visitor:
        """Fetch what the rules need and the event does not tell: channel, server, roles."""
        if visitor.guild_id is None:
            return visitor
        unknown = visitor.guild_id == _UNKNOWN_GUILD and (rules.of_guilds or rules.of_roles)
        if unknown or (rules.of_channels and len(visitor.channel_ids) == 1):
            with suppress(hikari.ForbiddenError, hikari.NotFoundError):
                place = await self.places.of(visitor.channel_ids[0])
                ids = (place.key.place_id, place.key.channel_id)
                visitor = replace(visitor, channel_ids=ids, guild_id=place.guild_id)
        if rules.of_roles and visitor.role_ids is None and visitor.guild_id:
            visitor = replace(visitor, role_ids=await self._roles_of(visitor.guild_id, visitor.user_id))
        return visitor

    async def _roles_of(self, guild_id: int, user_id: int) -> frozenset[int] | None:
        if (known := self._known_roles(user_id, guild_id, None)) is not None:
            return known
        try:
            member = await self.rest.fetch_member(guild_id, user_id)
        except hikari.HikariError as error:
            _log.info("roles_unknown", error=type(error).__name__)
            return None
        return self._known_roles(user_id, guild_id, member)


def _rules(policy: Policy, in_force: AccessState) -> AccessRules:
    lists = policy.access
    return in_force.rules | AccessRules(lists.allow, lists.deny)


def error_of(refused: Refusal) -> AccessError:
    if refused.why == "maintenance":
        return UnderMaintenance(note=f"\n> {refused.note}" if refused.note else "")
    return NotAllowed()
