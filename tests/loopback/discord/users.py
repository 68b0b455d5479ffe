"""People, the bot among them, and the servers they are in."""

import json
from dataclasses import dataclass, field
from typing import Any, Final

from tests.loopback.discord.permissions import EVERYTHING, NOTHING, READABLE, Permission
from tests.loopback.discord.snowflakes import created_at


@dataclass(eq=False, slots=True)
class User:
    """`locale` is the language of the user's own client, which every interaction carries.

    A webhook is an author too: no member of any server, and its id is the `webhook_id` of what it writes.
    """

    id: int
    name: str
    locale: str = "en-US"
    is_bot: bool = False
    accepts_dms: bool = True
    is_webhook: bool = False

    @property
    def mention(self) -> str:
        return f"<@{self.id}>"

    def payload(self) -> dict[str, Any]:
        if self.is_webhook:
            shown = {"id": str(self.id), "username": self.name, "global_name": None, "avatar": None}
            return shown | {"discriminator": "0000", "public_flags": 0, "bot": True}
        answer: dict[str, Any] = {
            "id": str(self.id),
            "username": self.name.lower(),
            "global_name": None if self.is_bot else self.name,
            "discriminator": "0",
            "avatar": None,
            "public_flags": 0,
        }
        return answer | {"bot": True} if self.is_bot else answer


@dataclass(eq=False, slots=True)
class Guild:
    """A server. `bot_present` is false where the bot is known only as someone's user-installed app.

    `nicks`, `granted` and `roles` are by user id: what members are called here, what they may do beyond
    READABLE, and the ids of their roles, which grant nothing. Who may do more has a role of their own for it.
    Everybody is a member but those in `left`.
    """

    id: int
    name: str
    owner: User
    locale: str = "ja"
    bot_present: bool = True
    members: list[User] = field(default_factory=list)
    nicks: dict[int, str] = field(default_factory=dict)
    granted: dict[int, Permission] = field(default_factory=dict)
    left: set[int] = field(default_factory=set)
    roles: dict[int, list[int]] = field(default_factory=dict)

    def permissions_of(self, user_id: int) -> Permission:
        if user_id in self.left:
            return NOTHING
        granted = self.granted.get(user_id, NOTHING)
        is_lord = user_id == self.owner.id or Permission.ADMINISTRATOR in granted
        return EVERYTHING if is_lord else READABLE | granted

    def member_payload(self, user: User, *, with_user: bool = True) -> dict[str, Any]:
        """`with_user=False` is the form inside messages and resolved data."""
        member: dict[str, Any] = {
            "roles": [str(role_id) for role_id in (*self.roles.get(user.id, ()), *self._own_role(user.id))],
            "joined_at": created_at(user.id).isoformat(),
            "premium_since": None,
            "communication_disabled_until": None,
            "avatar": None,
            "nick": self.nicks.get(user.id),
            "deaf": False,
            "mute": False,
            "pending": False,
            "flags": 0,
        }
        return member | {"user": user.payload()} if with_user else member

    def partial(self) -> dict[str, Any]:
        return {"id": str(self.id), "locale": self.locale, "features": []}

    def payload(
        self, bot: User, channels: list[dict[str, Any]], threads: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """GUILD_CREATE, with the fields that a gateway client reads."""
        return self.rest_payload() | {
            "unavailable": False,
            "large": False,
            "joined_at": created_at(self.id).isoformat(),
            "member_count": len(self.members) + 1,
            "members": [self.member_payload(bot)],
            "channels": channels,
            "threads": threads,
        }

    def rest_payload(self) -> dict[str, Any]:
        """What REST tells of it: its roles, the first of which is everybody's and has the server's id."""
        everyone = _role(self.id, "@everyone", READABLE)
        own = [
            _role(_own_role_id(user_id), f"of {user_id}", granted)
            for user_id, granted in self.granted.items()
        ]
        return {
            "id": str(self.id),
            "name": self.name,
            "owner_id": str(self.owner.id),
            "preferred_locale": self.locale,
            "roles": [everyone, *own],
            **_NOTHING_SPECIAL,
        }

    def _own_role(self, user_id: int) -> tuple[int, ...]:
        return (_own_role_id(user_id),) if user_id in self.granted else ()


def _own_role_id(user_id: int) -> int:
    """No snowflake of these centuries has that bit."""
    return user_id | 1 << 62


def _role(role_id: int, name: str, permissions: Permission) -> dict[str, Any]:
    return {
        "id": str(role_id),
        "name": name,
        "color": 0,
        "hoist": False,
        "icon": None,
        "unicode_emoji": None,
        "position": 0,
        "permissions": str(int(permissions)),
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }


_NOTHING_SPECIAL: Final[dict[str, Any]] = json.loads("""{
    "icon": null, "splash": null, "discovery_splash": null, "features": [], "emojis": [], "stickers": [],
    "presences": [], "voice_states": [], "stage_instances": [], "guild_scheduled_events": [],
    "afk_channel_id": null, "afk_timeout": 300, "verification_level": 0, "default_message_notifications": 0,
    "explicit_content_filter": 0, "mfa_level": 0, "application_id": null, "system_channel_id": null,
    "system_channel_flags": 0, "rules_channel_id": null, "vanity_url_code": null, "description": null,
    "banner": null, "premium_tier": 0, "max_members": 500000, "max_presences": null,
    "premium_subscription_count": 0, "premium_progress_bar_enabled": false, "public_updates_channel_id": null,
    "safety_alerts_channel_id": null, "nsfw_level": 0, "nsfw": false, "incidents_data": null
}""")
