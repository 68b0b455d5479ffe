from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from tests.loopback.discord.channels import READABLE, Channel, User
from tests.loopback.discord.limits import UPLOAD_BYTES
from tests.loopback.discord.messages import Message

ACKNOWLEDGE_WITHIN_S = 3.0
TOKEN_LIVES_S = 15 * 60.0
USER_INSTALL_FOLLOWUPS = 5


class Kind(IntEnum):
    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    MODAL = 5


class Callback(IntEnum):
    MESSAGE = 4
    DEFERRED_MESSAGE = 5
    DEFERRED_UPDATE = 6
    UPDATE = 7
    CHOICES = 8
    MODAL = 9


@dataclass(eq=False, slots=True)
class Interaction:
    """`source` is the message whose component was used; aging moves `sent_at_s` (loop time) back."""

    id: int
    token: str
    kind: Kind
    user: User
    channel: Channel
    data: dict[str, Any]
    sent_at_s: float
    application_id: int
    user_installed: bool
    source: Message | None = None
    answered: Callback | None = None
    answered_at_s: float | None = None
    original: Message | None = None
    followups: list[Message] = field(default_factory=list)
    followups_sent: int = 0
    choices: list[dict[str, Any]] | None = None
    modal: dict[str, Any] | None = None
    cause: "Interaction | None" = None

    def is_late(self, now: float) -> bool:
        return self.answered is None and now - self.sent_at_s > ACKNOWLEDGE_WITHIN_S

    def is_expired(self, now: float) -> bool:
        return now - self.sent_at_s > TOKEN_LIVES_S

    @property
    def guild_install(self) -> bool:
        return self.channel.bot_present

    @property
    def owners(self) -> dict[str, str]:
        owners: dict[str, str] = {}
        if self.guild_install:
            owners["0"] = str(self.channel.guild.id) if self.channel.guild else "0"
        if self.user_installed:
            owners["1"] = str(self.user.id)
        return owners

    @property
    def metadata(self) -> dict[str, Any]:
        """`interaction_metadata` of the messages that answer this interaction."""
        answer: dict[str, Any] = {"id": str(self.id), "type": int(self.kind), "user": self.user.payload()}
        answer["authorizing_integration_owners"] = self.owners
        if self.kind is Kind.COMPONENT and self.source is not None:
            answer["interacted_message_id"] = str(self.source.id)
        if self.kind is Kind.MODAL and self.cause is not None:
            answer["triggering_interaction_metadata"] = self.cause.metadata
        return answer | ({"name": self.data["name"]} if self.kind is Kind.COMMAND else {})

    def payload(self) -> dict[str, Any]:
        """INTERACTION_CREATE as the gateway sends it."""
        may = self.channel.permissions_of(self.application_id) if self.guild_install else READABLE
        about = {"id": str(self.id), "application_id": str(self.application_id), "type": int(self.kind)}
        told = {"token": self.token, "version": 1, "data": self.data, "locale": self.user.locale}
        where = {"channel_id": str(self.channel.id), "channel": self.channel.interaction_payload(self.user)}
        owners = {"context": int(self.channel.context), "authorizing_integration_owners": self.owners}
        limits = {"attachment_size_limit": UPLOAD_BYTES, "app_permissions": str(int(may)), "entitlements": []}
        answer: dict[str, Any] = about | told | where | owners | limits
        if self.source is not None:
            answer["message"] = self.source.payload()
        return answer | self._who()

    def _who(self) -> dict[str, Any]:
        """A member in guilds, a user elsewhere; never both."""
        if (guild := self.channel.guild) is None:
            return {"user": self.user.payload()}
        may = {"permissions": str(int(self.channel.permissions_of(self.user.id)))}
        told = {"id": str(guild.id), "locale": guild.locale, "features": []}
        member = guild.member_payload(self.user) | may
        return {"guild_id": str(guild.id), "guild": told, "guild_locale": guild.locale, "member": member}

    def callback_payload(self) -> dict[str, Any]:
        """The answer to a callback with `with_response=true`."""
        assert self.answered is not None
        about: dict[str, Any] = {"id": str(self.id), "type": int(self.kind)}
        resource: dict[str, Any] = {"type": int(self.answered)}
        if (shown := self.original) is not None:
            about |= {"response_message_id": str(shown.id), "response_message_loading": shown.loading}
            about |= {"response_message_ephemeral": shown.ephemeral}
            if self.answered is not Callback.DEFERRED_UPDATE:
                resource["message"] = shown.payload()
        return {"interaction": about, "resource": resource}
