"""The one gate through which every way in passes, and who may use the bot."""

import asyncio
import math
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from time import monotonic
from typing import Final, Literal

import hikari
import structlog

from cc_bot.discord.agents import Arrival
from cc_bot.discord.floods import QUIET_S, FloodGuard
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
from cc_bot.domain.limits import MINUTE, Rules, UsageSubject, quotas_of_user
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.domain.schedule import Schedule
from cc_bot.domain.web import WebPlace
from cc_bot.in_order import InOrder
from cc_bot.policy import Policies, Policy
from cc_bot.stores import AccessState, AccessStore, Visit

_log = structlog.get_logger(__name__)

# ---- gate ----------------------------------------------------------------------------------------------
# The one place that says whether somebody may use the bot: every way in asks here.
#
# The ways in are commands and their lists of choices, buttons and forms, messages (messages/),
# and what is due for somebody (reminders.py). What the rules are is read each time, so that they hold at
# once.

# ---- owners ----------------------------------------------------------------------------------------------
# Whose bot it is: who may give its own commands, and is answered whatever the rules say.


OWNERS_S: Final = 10.0
"""For so long it counts whose application it was."""
ASKING_OWNERS_S: Final = 1.5
"""Discord waits 3 s for an acknowledgement."""


@dataclass(slots=True)
class Owners:
    """The owners: those whom the operator named in a setting or in the policy file. Where nobody is named:
    the owner of the application as Discord has it, or the members of the team that owns it. An application
    may be handed on while the bot runs, so whoever is to decide something is asked about anew."""

    named: frozenset[int]
    policies: Policies
    rest: hikari.api.RESTClient
    _of_application: frozenset[int] = field(default=frozenset())
    _asked_at_s: float = -math.inf
    _asking: "asyncio.Task[None] | None" = None

    async def learn(self) -> None:
        """Ask Discord whose application it is. Raises hikari's errors."""
        application = await self.rest.fetch_application()
        self._asked_at_s = monotonic()
        if application.team is None:
            self._of_application = frozenset({int(application.owner.id)})
            return
        self._of_application = frozenset(
            int(user_id)
            for user_id, member in application.team.members.items()
            if member.membership_state == hikari.TeamMembershipState.ACCEPTED
        )

    async def ids(self, *, anew: bool = False) -> frozenset[int]:
        """Return the owners as they were within OWNERS_S; `anew`: as they are now. While Discord does not
        tell, those who were it last are."""
        policy = await self.policies.now()
        named = self.named | policy.access.owners
        if not named and (anew or monotonic() - self._asked_at_s > OWNERS_S):
            await self._ask()
        return self.under(policy)

    async def _ask(self) -> None:
        """Ask Discord once for all who need to know now; not again soon where it does not answer."""
        if self._asking is None:
            self._asked_at_s = monotonic()  # whoever comes meanwhile does not wait as well
            self._asking = asyncio.create_task(self._learn_or_keep())
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._asking), ASKING_OWNERS_S)

    async def _learn_or_keep(self) -> None:
        try:
            await self.learn()
        except hikari.HikariError as error:
            _log.warning("owners_not_learned", error=type(error).__name__)
        finally:
            self._asking = None

    async def has(self, user_id: int) -> bool:
        """Return whether this is one of them, as far as that is known: Discord is not asked."""
        return user_id in self.under(await self.policies.now())

    def under(self, policy: Policy) -> frozenset[int]:
        """Return the owners under a policy."""
        return self.named | policy.access.owners or self._of_application

    async def require(self, interaction: hikari.PartialInteraction) -> None:
        """Raise OwnersOnly for anybody else. To be asked at every call, press and form: a hidden command is
        not forbidden."""
        if int(interaction.user.id) not in await self.ids(anew=True):
            raise OwnersOnly


# ---- rates -----------------------------------------------------------------------------------------------
# How often each user has had the bot do something within the last minute.
#
# It is kept in memory: a start comes too seldom to give anybody more, and a command must not have to wait for
# the database to write. Lists of choices come with every key that is pressed; they are counted apart, and
# more of them are let through.

What = Literal["command", "choices"]

CHOICES_PER_COMMAND: Final = 10
RATES_REMEMBERED: Final = 5000
"""Users at a time."""


@dataclass(slots=True)
class CommandRates:
    _moments: Recent[tuple[int, What], deque[datetime]] = field(
        default_factory=lambda: Recent(RATES_REMEMBERED)
    )
    _refused_until: Recent[tuple[int, What], datetime] = field(
        default_factory=lambda: Recent(RATES_REMEMBERED)
    )

    def count(self, user_id: int, what: What, most: int, now: datetime) -> datetime | None:
        """Count one, unless there were `most` in the last minute; then the moment of the next."""
        allowed = most * CHOICES_PER_COMMAND if what == "choices" else most
        moments = self._moments.get((user_id, what)) or deque[datetime]()
        while moments and not now - MINUTE < moments[0] <= now:  # or the clock was put back
            moments.popleft()
        if len(moments) >= allowed:
            self._refused_until[user_id, what] = moments[-allowed] + MINUTE
            return moments[-allowed] + MINUTE
        moments.append(now)
        self._moments[user_id, what] = moments
        return None

    def refused_until(self, user_id: int, what: What, now: datetime) -> datetime | None:
        """Return the moment until which all of it is refused since `count` refused one; None: it is not."""
        until = self._refused_until.get((user_id, what))
        return until if until and now < until <= now + MINUTE else None


# ---- seen roles ------------------------------------------------------------------------------------------
# The roles of those who write: only a message tells of them, and it may be answered after others.

ROLES_REMEMBERED = 5000
"""Members whose roles are known at a time."""


class SeenRoles:
    def __init__(self, *, remembered: int = ROLES_REMEMBERED) -> None:
        self._roles = Recent[tuple[int, int], tuple[int, ...]](remembered)

    def note(self, guild_id: int, user_id: int, role_ids: tuple[int, ...]) -> None:
        """Note the roles as of the newest message."""
        self._roles[guild_id, user_id] = role_ids

    def of(self, guild_id: int | None, user_id: int) -> tuple[int, ...] | None:
        """Return the roles; None where no message has told, as after a start."""
        return None if guild_id is None else self._roles.get((guild_id, user_id))


# ---- gate ------------------------------------------------------------------------------------------------


_NOT_TOLD = 0
"""The id of a server that has to be asked for."""
PATIENCE_S = 0.5
"""With the database, which may be held up by another program or by somebody's long list of wishes: Discord
waits 3 s for an acknowledgement."""


@dataclass(slots=True)
class Gate:
    owners: Owners
    policies: Policies
    store: AccessStore
    places: Places
    rest: hikari.api.RESTClient
    patience_s: float = PATIENCE_S
    roles: SeenRoles = field(default_factory=SeenRoles)
    rates: CommandRates = field(default_factory=CommandRates)
    floods: FloodGuard = field(default_factory=FloodGuard)
    clock: Clock = utc_now
    _order: InOrder = field(default_factory=InOrder)
    """What somebody asks for at once goes on in the order in which it came: of several connections to a
    database the second may answer first."""
    _last: AccessState | None = None
    _last_set: Rules = field(default_factory=dict)
    """The limits that owners set; they go before the file."""

    async def learn(self) -> None:
        """Learn what it takes to let anybody in. Raises hikari's errors."""
        await self.owners.learn()
        with suppress(StorageError):
            await self._in_force()

    async def admit(
        self, interaction: hikari.PartialInteraction, what: What = "command", *, always: bool = False
    ) -> Arrival:
        """Count what somebody has the bot do. Raises TooManyCommands when that is as much as may be within a
        minute, NotAllowed or UnderMaintenance when they may not use the bot there (`always`: they may), and
        StorageError. Owners may do what they like, short of a flood."""
        comer = self._comer_of(interaction)
        if self.floods.refuses(comer.user_id, int(interaction.id)):
            raise TooManyCommands(resets=self.clock() + timedelta(seconds=QUIET_S))
        return await self._admit(comer, what, always=always)

    async def admit_page(self, place: WebPlace, what: What, *, always: bool = False) -> None:
        """Count what somebody has a page do, and raise as `admit` would for a command in the place where they
        asked for their pages; hikari's errors too, when Discord won't tell what that is."""
        await self._admit(self._comer_of_page(place), what, always=always)

    async def refusals_of_pages(self, places: Sequence[WebPlace]) -> dict[WebPlace, Refusal]:
        """List those of them whose users may not see their pages now. Raises as `admit_page`."""
        policy, in_force = await self.policies.now(), await self._in_force()
        owners = self.owners.under(policy)
        found = {}
        for place in places:
            if place.user_id in owners:
                continue
            if refused := await self._refuse(self._comer_of_page(place), policy, in_force):
                found[place] = refused
        return found

    async def _admit(self, comer: Visitor, what: What, *, always: bool) -> Arrival:
        self._refuse_again(comer, what)
        policy, visit = await self.policies.now(), await self._visit(comer)
        owner = comer.user_id in self.owners.under(policy)
        if not owner:
            self._count(comer, what, {**policy.limits, **self._last_set})
        if not (owner or always) and (refused := await self._refuse(comer, policy, self._known())):
            raise error_of(refused)
        return Arrival(visit.settings, visit.agents) if visit else Arrival()

    def _count(self, comer: Visitor, what: What, limits: Rules) -> None:
        payer = UsageSubject(comer.user_id, comer.guild_id or 0, tuple(comer.role_ids or ()))
        most = quotas_of_user(limits, payer).commands_per_minute
        if most is None:
            return
        self._refuse_again(comer, what)  # others of the same burst came this far as well
        if next_at := self.rates.count(comer.user_id, what, most, self.clock()):
            raise TooManyCommands(resets=next_at)

    def _refuse_again(self, comer: Visitor, what: What) -> None:
        """Raise TooManyCommands while what was refused last still is: nothing is looked up, and nobody is
        told once more."""
        if until := self.rates.refused_until(comer.user_id, what, self.clock()):
            raise TooManyCommands(resets=until, told=True)

    async def _visit(self, comer: Visitor) -> Visit | None:
        """Read what there is to know of whoever comes; None while the database does not answer: then what
        held when it last did holds. It is waited for once more before the acknowledgement, so not for long
        here."""
        with suppress(StorageError, TimeoutError):
            async with asyncio.timeout(self.patience_s), self._order.after(comer.user_id):
                visit = await self.store.get_visit(comer.user_id, comer.channel_ids)
                self._last, self._last_set = visit.in_force, visit.limits
                return visit
        return None

    def _known(self) -> AccessState:
        if self._last is None:
            raise StorageError
        return self._last

    async def refusal_of_author(self, message: hikari.Message) -> Refusal | None:
        """Return why the author of a message may not use the bot there. Raises StorageError, and hikari's
        errors when Discord won't tell what channel that is."""
        guild_id = None if message.guild_id is None else int(message.guild_id)
        member = message.member or None
        roles = self._known_roles(int(message.author.id), guild_id, member)
        comer = Visitor(int(message.author.id), (int(message.channel_id),), guild_id, roles)
        return await self.refusal_of(comer)

    async def serves_owner(self, schedule: Schedule, *, answering: bool = False) -> bool:
        """Return whether what somebody scheduled is said to them: if they may use the bot where they asked
        for it. Maintenance counts when they are to be answered, and while nobody can tell, they are
        served."""
        user_id, guild_id = schedule.key.user_id, schedule.guild_id
        roles = self._known_roles(user_id, guild_id, None)
        comer = Visitor(user_id, (schedule.key.channel_id,), guild_id, roles)
        try:
            return await self.refusal_of(comer, answering=answering) is None
        except (StorageError, hikari.HikariError):
            return True

    async def refusals_in(self, key: ChannelKey, questions: Sequence[Message]) -> dict[int, Refusal]:
        """List those of the authors of questions in a channel or thread who may not use the bot there. Raises
        as `refused_author`."""
        found = {}
        for user_id in dict.fromkeys(question.author_id for question in questions):
            comer = Visitor(user_id, (key.place_id, key.channel_id), _NOT_TOLD, None)
            if refused := await self.refusal_of(comer):
                found[user_id] = refused
        return found

    async def refusal_of(self, comer: Visitor, *, answering: bool = True) -> Refusal | None:
        """Return why somebody may not use the bot; that is on record once. Raises as `refused_author`."""
        policy = await self.policies.now()
        if comer.user_id in self.owners.under(policy):
            return None
        return await self._refuse(comer, policy, await self._in_force(), answering=answering)

    async def _refuse(
        self, comer: Visitor, policy: Policy, in_force: AccessState, *, answering: bool = True
    ) -> Refusal | None:
        rules = _rules(policy, in_force)
        maintenance = in_force.maintenance if answering else None
        known = await self._complete(comer, rules)
        found = refusal(known, rules, owners=self.owners.under(policy), maintenance=maintenance)
        if found:
            _log.info("access_denied", why=found.why, subject=found.subject, place=comer.channel_ids[0])
        return found

    async def reads(self, key: ChannelKey, guild_id: int | None = None) -> bool:
        """Return whether what people say to each other in a channel or thread is for the bot to read. A
        server that is not told is looked up. Raises as `refused_author`."""
        rules = _rules(await self.policies.now(), await self._in_force())
        if rules.of_guilds and guild_id is None:
            guild_id = (await self.places.of(key.place_id)).guild_id
        return not is_shut(key, guild_id, rules)

    async def _in_force(self) -> AccessState:
        """Read what holds; while the database does not answer, what held when it last did: nobody who may use
        the bot is to be left without an acknowledgement. Raises StorageError when it never did."""
        try:
            async with asyncio.timeout(self.patience_s):
                self._last = await self.store.get_in_force()
        except (StorageError, TimeoutError) as error:
            if self._last is None:
                raise StorageError from error
        return self._last

    def _comer_of(self, interaction: hikari.PartialInteraction) -> Visitor:
        """Interactions tell everything themselves."""
        guild_id = None if interaction.guild_id is None else int(interaction.guild_id)
        key = key_of_interaction(interaction.channel)
        user_id = int(interaction.user.id)
        roles = self._known_roles(user_id, guild_id, interaction.member)
        return Visitor(user_id, tuple(dict.fromkeys((key.place_id, key.channel_id))), guild_id, roles)

    def _comer_of_page(self, place: WebPlace) -> Visitor:
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

    async def _complete(self, comer: Visitor, rules: AccessRules) -> Visitor:
        """Add what the rules are about and only Discord knows. Where it does not let the bot know, the bot
        can't answer anybody."""
        if comer.guild_id is None:
            return comer
        not_told = comer.guild_id == _NOT_TOLD and (rules.of_guilds or rules.of_roles)
        if not_told or (rules.of_channels and len(comer.channel_ids) == 1):
            with suppress(hikari.ForbiddenError, hikari.NotFoundError):
                place = await self.places.of(comer.channel_ids[0])
                ids = (place.key.place_id, place.key.channel_id)
                comer = replace(comer, channel_ids=ids, guild_id=place.guild_id)
        if rules.of_roles and comer.role_ids is None and comer.guild_id:
            comer = replace(comer, role_ids=await self._roles_of(comer.guild_id, comer.user_id))
        return comer

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
    """Return what to tell whoever is refused."""
    if refused.why == "maintenance":
        return UnderMaintenance(note=f"\n> {refused.note}" if refused.note else "")
    return NotAllowed()
