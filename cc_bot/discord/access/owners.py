"""Whose bot it is: who may give its own commands, and is answered whatever the rules say."""

from dataclasses import dataclass, field

import hikari

from cc_bot.domain.errors import OwnersOnly
from cc_bot.policy import Policies


@dataclass(slots=True)
class Owners:
    """Those whom the operator named in a setting or in the policy file. Where nobody is named: the owner of
    the application as Discord has it, or the members of the team that owns it."""

    named: frozenset[int]
    policies: Policies
    _of_application: frozenset[int] = field(default=frozenset())

    async def learn(self, rest: hikari.api.RESTClient) -> None:
        """Ask Discord whose application it is. Raises hikari's errors."""
        application = await rest.fetch_application()
        if application.team is None:
            self._of_application = frozenset({int(application.owner.id)})
            return
        self._of_application = frozenset(
            int(user_id)
            for user_id, member in application.team.members.items()
            if member.membership_state == hikari.TeamMembershipState.ACCEPTED
        )

    async def ids(self) -> frozenset[int]:
        named = self.named | (await self.policies.now()).access.owners
        return named or self._of_application

    async def require(self, interaction: hikari.PartialInteraction) -> None:
        """Raises OwnersOnly. To be asked at every call, press and form: a hidden command is not forbidden."""
        if int(interaction.user.id) not in await self.ids():
            raise OwnersOnly
