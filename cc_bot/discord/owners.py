"""The owners of the bot, who may give its administration commands and are always answered."""

import asyncio
import math
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

import hikari
import structlog

from cc_bot.domain.errors import OwnersOnly
from cc_bot.policy import Policies, Policy

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
