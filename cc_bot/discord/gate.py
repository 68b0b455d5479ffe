"""Decides who may use the bot, and how often. Commands, presses, messages and web pages all pass here."""

import asyncio
import math
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import Any, Final, Literal, Protocol

import hikari
import structlog

from cc_bot.chat.policy import Policies, Policy
from cc_bot.chat.stores.settings import AccessState, AccessStore, UserRecord
from cc_bot.concurrency import KeyedLock
from cc_bot.discord.interactions import Preloaded, roles_of
from cc_bot.discord.locations import Locations, LruCache, key_of_interaction
from cc_bot.domain.access import (
    AccessRules,
    Refusal,
    SignInOrigin,
    Visitor,
    find_refusal,
    has_rule_for,
    is_closed_to_users,
)
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import (
    AccessError,
    NotAllowed,
    OwnersOnly,
    StorageError,
    TooManyCommands,
    UnderMaintenance,
)
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.session import SessionKey
from cc_bot.domain.usage import MINUTE, LimitRules, Payer, limits_of_user
from cc_bot.log import log_failure
from cc_bot.texts import Texts

_log = structlog.get_logger(__name__)

OWNERS_TTL_S: Final = 10.0
FETCH_TIMEOUT_S: Final = 1.5

RequestKind = Literal["command", "read"]
"""read: an autocomplete request, which Discord sends with every key press, or a web page."""

READS_PER_COMMAND: Final = 10  # the limit of reads, as a multiple of that of commands

EventKind = Literal["interaction", "message"]

MAX_BURST: Final[Mapping[EventKind, int]] = {"interaction": 60, "message": 300}
"""Events that a user may send at once. After a resume Discord sends all missed messages at once."""
REFILL_PER_S: Final = 20  # further events
FLOOD_PAUSE_S: Final = 5.0  # the silence that ends a flood
_KIND_BY_EVENT: Final[Mapping[str, EventKind]] = {
    "interaction_create": "interaction",
    "message_create": "message",
    "message_update": "message",
}
_UNKNOWN_GUILD: Final = 0  # fetched if a rule needs it

SeenRoles = LruCache[tuple[int | None, int], tuple[int, ...]]
"""Role ids by server and user, as of their last message or interaction."""


class OwnerNews(Protocol):
    async def next(self, words: Texts) -> str:
        """Wait for the next news, and return a sentence about it."""


@dataclass(slots=True)
class Owners:
    """The users in the setting or policy file, else the application's owner or accepted team members."""

    configured: frozenset[int]
    policies: Policies
    rest: hikari.api.RESTClient
    _application_owners: frozenset[int] = frozenset()
    _fetched_at_s: float = -math.inf

    async def fetch(self) -> None:
        self._fetched_at_s = monotonic()
        application = await self.rest.fetch_application()
        members = application.team.members if application.team else {}
        accepted = hikari.TeamMembershipState.ACCEPTED
        team = (user_id for user_id, member in members.items() if member.membership_state == accepted)
        self._application_owners = frozenset(map(int, team if application.team else [application.owner.id]))

    async def ids(self, *, fresh: bool = False) -> frozenset[int]:
        """Return the owners, cached for OWNERS_TTL_S unless `fresh`; the last known if Discord fails."""
        policy = await self.policies.current()
        configured = self.configured | policy.owners
        if not configured and (fresh or monotonic() - self._fetched_at_s > OWNERS_TTL_S):
            with log_failure("owners_not_learned", hikari.HikariError, TimeoutError):
                async with asyncio.timeout(FETCH_TIMEOUT_S):
                    await self.fetch()
        return self.ids_for(policy)

    async def has(self, user_id: int) -> bool:
        return user_id in self.ids_for(await self.policies.current())

    def ids_for(self, policy: Policy) -> frozenset[int]:
        return (self.configured | policy.owners) or self._application_owners

    async def require(self, interaction: hikari.PartialInteraction) -> None:
        """Raises OwnersOnly. Every owners' command calls this: hiding a command does not stop other users."""
        if int(interaction.user.id) not in await self.ids(fresh=True):
            raise OwnersOnly


@dataclass(slots=True)
class CommandRates:
    """Counts a user's commands of the last minute, in memory, so that no check waits for a write."""

    _used_at: LruCache[tuple[int, RequestKind], deque[datetime]] = field(default_factory=LruCache)
    _refused_until: LruCache[tuple[int, RequestKind], datetime] = field(default_factory=LruCache)

    def count(self, user_id: int, kind: RequestKind, limit: int, now: datetime) -> None:
        """Raises TooManyCommands."""
        self.raise_last_refusal(user_id, kind, now)
        allowed = limit * READS_PER_COMMAND if kind == "read" else limit
        used_at = self._used_at.get((user_id, kind)) or deque[datetime]()
        self._used_at[user_id, kind] = used_at
        while used_at and not now - MINUTE < used_at[0] <= now:  # a later time: the clock was set back
            used_at.popleft()
        if len(used_at) < allowed:
            used_at.append(now)
            return
        self._refused_until[user_id, kind] = until = used_at[-allowed] + MINUTE
        raise TooManyCommands(resets=until)

    def raise_last_refusal(self, user_id: int, kind: RequestKind, now: datetime) -> None:
        """Raise TooManyCommands while the last refusal lasts, which the user has already seen."""
        until = self._refused_until.get((user_id, kind))
        if until and now < until <= now + MINUTE:
            raise TooManyCommands(resets=until, reported=True)


@dataclass(slots=True)
class _Sender:
    allowance: float
    last_event_s: float
    is_flooding: bool = False
    refused_id: int | None = None  # the interaction of the current flood that the gate refuses


@dataclass(slots=True)
class FloodGuard:
    """Drops events of users who send more than a person can, before hikari parses them."""

    _senders: LruCache[tuple[int, EventKind], _Sender] = field(default_factory=LruCache)

    def should_drop(
        self, user_id: int, kind: EventKind, now_s: float, *, answerable_id: int | None = None
    ) -> bool:
        """Count an event, and return whether to drop it. In a flood, the first interaction that can be
        answered passes: the gate refuses it, and tells the user. `answerable_id`: the interaction's id."""
        limit = MAX_BURST[kind]
        sender = self._senders.get((user_id, kind)) or _Sender(limit, now_s)
        self._senders[user_id, kind] = sender
        idle_s, sender.last_event_s = now_s - sender.last_event_s, now_s
        if not sender.is_flooding or idle_s >= FLOOD_PAUSE_S:
            sender.allowance = min(limit, sender.allowance + idle_s * REFILL_PER_S)
            sender.is_flooding, sender.refused_id = sender.allowance < 1, None
            if not sender.is_flooding:
                sender.allowance -= 1
                return False
            _log.warning("flood_dropped", subject=user_id, kind=kind)
        if sender.refused_id is None and answerable_id is not None:
            sender.refused_id = answerable_id
            return False
        return True

    def is_refused(self, user_id: int, interaction_id: int) -> bool:
        sender = self._senders.get((user_id, "interaction"))
        return sender is not None and sender.refused_id == interaction_id


def drop_floods(bot: hikari.GatewayBot, guard: FloodGuard) -> None:
    def is_dropped(kind: EventKind, payload: Mapping[str, Any]) -> bool:
        user = payload.get("author") or payload.get("user") or payload.get("member", {}).get("user", {})
        user_id, now_s = int(user.get("id", 0)), monotonic()  # an edit may lack its author
        if kind == "interaction":
            is_answerable = payload["type"] != hikari.InteractionType.AUTOCOMPLETE
            answerable_id = int(payload["id"]) if is_answerable else None
            return guard.should_drop(user_id, kind, now_s, answerable_id=answerable_id)
        me = bot.get_me()
        return user_id != 0 and (me is None or user_id != me.id) and guard.should_drop(user_id, kind, now_s)

    def forward(
        kind: EventKind, consume: Any, shard: hikari.api.GatewayShard, payload: Mapping[str, Any]
    ) -> None:
        if not is_dropped(kind, payload):
            consume(shard, payload)

    consumers = bot.event_manager._consumers  # type: ignore[attr-defined]  # hikari has no public hook
    for name, kind in _KIND_BY_EVENT.items():
        consumers[name].callback = partial(forward, kind, consumers[name].callback)


@dataclass(slots=True)
class Gate:
    owners: Owners
    policies: Policies
    store: AccessStore
    locations: Locations
    rest: hikari.api.RESTClient
    timeout_s: float = 0.5
    roles: SeenRoles = field(default_factory=LruCache)
    command_rates: CommandRates = field(default_factory=CommandRates)
    flood_guard: FloodGuard = field(default_factory=FloodGuard)
    clock: Clock = utc_now
    _user_locks: KeyedLock = field(default_factory=KeyedLock)
    """Keeps each user's reads in order, as there are several database connections."""
    _last_access: AccessState | None = None
    _last_limits: LimitRules = field(default_factory=dict)
    """Limits set by owners at run time; they override the policy file."""

    async def prepare(self) -> None:
        await self.owners.fetch()
        with suppress(StorageError):
            await self._read_access()

    async def admit(
        self, interaction: hikari.PartialInteraction, kind: RequestKind = "command", *, always: bool = False
    ) -> Preloaded:
        """Count a command. Raises TooManyCommands, StorageError, and unless `always` NotAllowed or
        UnderMaintenance. Owners are only refused if they flood."""
        ids, user_id = key_of_interaction(interaction.channel).ids, int(interaction.user.id)
        visitor = self._visitor(user_id, ids, interaction.guild_id, interaction.member)
        if self.flood_guard.is_refused(user_id, int(interaction.id)):
            raise TooManyCommands(resets=self.clock() + timedelta(seconds=FLOOD_PAUSE_S))
        return await self._admit(visitor, kind, always=always)

    async def admit_page(self, origin: SignInOrigin, kind: RequestKind, *, always: bool = False) -> None:
        """As `admit`, for a web page. `origin`: where the user requested the sign-in link."""
        await self._admit(self._visitor_of_page(origin), kind, always=always)

    async def find_refusals(self, origins: Sequence[SignInOrigin]) -> dict[SignInOrigin, Refusal]:
        access, refusals = await self._read_access(), dict[SignInOrigin, Refusal]()
        for origin in origins:
            if refused := await self.find_refusal(self._visitor_of_page(origin), access):
                refusals[origin] = refused
        return refusals

    async def _admit(self, visitor: Visitor, kind: RequestKind, *, always: bool) -> Preloaded:
        self.command_rates.raise_last_refusal(visitor.user_id, kind, self.clock())
        policy, state = await self.policies.current(), await self._visitor_state(visitor)
        if visitor.user_id not in self.owners.ids_for(policy):
            payer = Payer(visitor.user_id, visitor.guild_id or 0, tuple(visitor.role_ids or ()))
            limit = limits_of_user({**policy.limits, **self._last_limits}, payer).get("commands_per_minute")
            if limit is not None:
                self.command_rates.count(visitor.user_id, kind, limit, self.clock())
            if not always:
                if self._last_access is None:
                    raise StorageError
                if refused := await self.find_refusal(visitor, self._last_access):
                    raise error_of_refusal(refused)
        return Preloaded(state.settings, state.agents) if state else Preloaded()

    async def _visitor_state(self, visitor: Visitor) -> UserRecord | None:
        """Return None if the database does not answer in time."""
        with suppress(StorageError, TimeoutError):
            async with asyncio.timeout(self.timeout_s), self._user_locks.hold(visitor.user_id):
                state = await self.store.get_user_record(visitor.user_id, visitor.channel_ids)
                self._last_access, self._last_limits = state.access, state.limits
                return state
        return None

    async def find_refusal_of_author(self, message: hikari.Message) -> Refusal | None:
        user_id, ids = int(message.author.id), (int(message.channel_id),)
        return await self.find_refusal(self._visitor(user_id, ids, message.guild_id, message.member or None))

    async def find_refusal_in(
        self, key: ChannelKey, user_id: int, access: AccessState | None = None
    ) -> Refusal | None:
        return await self.find_refusal(
            Visitor(user_id, (key.location_id, key.channel_id), _UNKNOWN_GUILD, None), access
        )

    async def may_use(
        self, key: SessionKey, guild_id: int | None, *, include_maintenance: bool = False
    ) -> bool:
        """Return whether a user may use the bot in a session's channel; True if unknown."""
        visitor = self._visitor(key.user_id, (key.channel_id,), guild_id)
        try:
            return await self.find_refusal(visitor, include_maintenance=include_maintenance) is None
        except (StorageError, hikari.HikariError):
            return True

    async def find_refusal(
        self, visitor: Visitor, access: AccessState | None = None, *, include_maintenance: bool = True
    ) -> Refusal | None:
        """Return why a visitor may not use the bot. Raises StorageError and hikari's errors."""
        policy = await self.policies.current()
        owners = self.owners.ids_for(policy)
        if visitor.user_id in owners:
            return None
        access = access or await self._read_access()
        rules, maintenance = access.rules | policy.access, access.maintenance if include_maintenance else None
        visitor = await self._with_fetched_fields(visitor, rules)
        refused = find_refusal(visitor, rules, owners=owners, maintenance=maintenance)
        if refused:
            channel_id = visitor.channel_ids[0]
            _log.info("access_denied", why=refused.why, subject=refused.subject, location=channel_id)
        return refused

    async def may_read(self, key: ChannelKey, guild_id: int | None = None) -> bool:
        """Return whether the bot may read a channel, which it may if any user may use it there."""
        rules = (await self._read_access()).rules | (await self.policies.current()).access
        if has_rule_for(rules, "guild") and guild_id is None:
            guild_id = (await self.locations.get(key.location_id)).guild_id
        return not is_closed_to_users(key, guild_id, rules)

    async def _read_access(self) -> AccessState:
        """Return the last known rules if the database does not answer in time."""
        try:
            async with asyncio.timeout(self.timeout_s):
                self._last_access = await self.store.get_state()
        except (StorageError, TimeoutError) as error:
            if self._last_access is None:
                raise StorageError from error
        return self._last_access

    def _visitor_of_page(self, origin: SignInOrigin) -> Visitor:
        channels = (origin.channel_id,) if origin.channel_id else ()
        return self._visitor(origin.user_id, channels, origin.guild_id)

    def _visitor(
        self,
        user_id: int,
        channel_ids: tuple[int, ...],
        guild_id: int | None,
        member: hikari.Member | None = None,
    ) -> Visitor:
        if guild_id is None:
            return Visitor(user_id, channel_ids, None, frozenset())
        if member is not None:
            self.roles[guild_id, user_id] = roles_of(member)
        roles = self.roles.get((guild_id, user_id))
        return Visitor(user_id, channel_ids, int(guild_id), None if roles is None else frozenset(roles))

    async def _with_fetched_fields(self, visitor: Visitor, rules: AccessRules) -> Visitor:
        """Fetch the visitor's guild, parent channel and roles, as far as the rules need them."""
        if visitor.guild_id is None:
            return visitor
        has_role_rules = has_rule_for(rules, "role")
        needs_guild = visitor.guild_id == _UNKNOWN_GUILD and (has_role_rules or has_rule_for(rules, "guild"))
        if needs_guild or (has_rule_for(rules, "channel") and len(visitor.channel_ids) == 1):
            with suppress(hikari.ForbiddenError, hikari.NotFoundError):
                location = await self.locations.get(visitor.channel_ids[0])
                ids = (location.key.location_id, location.key.channel_id)
                visitor = replace(visitor, channel_ids=ids, guild_id=location.guild_id)
        if has_role_rules and visitor.role_ids is None and visitor.guild_id:
            visitor = replace(visitor, role_ids=await self._find_roles(visitor.guild_id, visitor.user_id))
        return visitor

    async def _find_roles(self, guild_id: int, user_id: int) -> frozenset[int] | None:
        if (guild_id, user_id) not in self.roles:
            with log_failure("roles_unknown", hikari.HikariError, level="info"):
                self.roles[guild_id, user_id] = roles_of(await self.rest.fetch_member(guild_id, user_id))
        roles = self.roles.get((guild_id, user_id))
        return None if roles is None else frozenset(roles)


def error_of_refusal(refused: Refusal) -> AccessError:
    if refused.why == "maintenance":
        return UnderMaintenance(note=f"\n> {refused.note}" if refused.note else "")
    return NotAllowed()
