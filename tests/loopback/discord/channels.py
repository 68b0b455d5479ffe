import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import IntEnum, IntFlag
from typing import Any, Final

EPOCH_MS = 1_420_070_400_000
"""The first second of 2015, as Discord counts."""


class Snowflakes:
    """Gives each thing an id that is larger than every id before, also within one millisecond."""

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> int:
        self._last = max(self._last + 1, (int(time.time() * 1000) - EPOCH_MS) << 22)
        return self._last


def created_at(snowflake: int) -> datetime:
    return datetime.fromtimestamp(((snowflake >> 22) + EPOCH_MS) / 1000, UTC)


class Permission(IntFlag):
    ADMINISTRATOR = 1 << 3
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MANAGE_THREADS = 1 << 34
    SEND_MESSAGES_IN_THREADS = 1 << 38


NOTHING = Permission(0)
EVERYTHING = Permission((1 << 50) - 1)
OF_THE_BOT = EVERYTHING & ~Permission.ADMINISTRATOR
"""An administrator's permissions could not be taken away channel by channel."""
READABLE = (
    (Permission.VIEW_CHANNEL | Permission.READ_MESSAGE_HISTORY)
    | Permission.SEND_MESSAGES
    | Permission.SEND_MESSAGES_IN_THREADS
)


@dataclass(frozen=True, slots=True)
class Overwrite:
    allow: Permission = NOTHING
    deny: Permission = NOTHING

    def allowing(self, more: Permission) -> "Overwrite":
        return Overwrite(self.allow | more, self.deny & ~more)

    def denying(self, more: Permission) -> "Overwrite":
        return Overwrite(self.allow & ~more, self.deny | more)


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
        answer = {"id": str(self.id), "avatar": None, "public_flags": 0, "discriminator": "0"}
        if self.is_webhook:
            shown = {"username": self.name, "global_name": None, "discriminator": "0000", "bot": True}
            return answer | shown
        answer |= {"username": self.name.lower(), "global_name": None if self.is_bot else self.name}
        return answer | {"bot": True} if self.is_bot else answer


def _own_role_id(user_id: int) -> int:
    """No snowflake of these centuries has that bit."""
    return user_id | 1 << 62


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
        own = (_own_role_id(user.id),) if user.id in self.granted else ()
        member: dict[str, Any] = {
            **dict.fromkeys(("premium_since", "communication_disabled_until", "avatar")),
            **dict.fromkeys(("deaf", "mute", "pending"), False),
            "roles": [str(role_id) for role_id in (*self.roles.get(user.id, ()), *own)],
            "joined_at": created_at(user.id).isoformat(),
            "nick": self.nicks.get(user.id),
            "flags": 0,
        }
        return member | {"user": user.payload()} if with_user else member

    def payload(
        self, bot: User, channels: list[dict[str, Any]], threads: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """GUILD_CREATE, with the fields that a gateway client reads."""
        there = {"members": [self.member_payload(bot)], "channels": channels, "threads": threads}
        told = {"unavailable": False, "large": False, "member_count": 1}
        return self.rest_payload() | told | there | {"joined_at": created_at(self.id).isoformat()}

    def rest_payload(self) -> dict[str, Any]:
        own = [_role(_own_role_id(whose), f"of {whose}", granted) for whose, granted in self.granted.items()]
        roles = [_role(self.id, "@everyone", READABLE), *own]
        told = {"id": str(self.id), "name": self.name, "owner_id": str(self.owner.id), "roles": roles}
        return _NOTHING_SPECIAL | told | {"preferred_locale": self.locale}


def _role(role_id: int, name: str, permissions: Permission) -> dict[str, Any]:
    plain = {"color": 0, "hoist": False, "icon": None, "unicode_emoji": None, "position": 0, "flags": 0}
    told = {"id": str(role_id), "name": name, "permissions": str(int(permissions))}
    return plain | told | {"managed": False, "mentionable": False}


_NOTHING_SPECIAL: Final[dict[str, Any]] = {
    **dict.fromkeys(
        ("icon", "splash", "discovery_splash", "afk_channel_id", "application_id", "max_presences")
    ),
    **dict.fromkeys(("system_channel_id", "rules_channel_id", "vanity_url_code", "description", "banner")),
    **dict.fromkeys(("public_updates_channel_id", "safety_alerts_channel_id", "incidents_data")),
    **dict.fromkeys(("verification_level", "default_message_notifications", "explicit_content_filter"), 0),
    **dict.fromkeys(("mfa_level", "system_channel_flags", "premium_tier", "premium_subscription_count"), 0),
    **dict.fromkeys(("features", "emojis", "stickers", "presences", "voice_states"), ()),
    **dict.fromkeys(("stage_instances", "guild_scheduled_events"), ()),
    **dict.fromkeys(("nsfw", "premium_progress_bar_enabled"), False),
    **dict.fromkeys(("nsfw_level", "afk_timeout", "max_members"), 0),
}


class ChannelKind(IntEnum):
    GUILD_TEXT = 0
    DM = 1
    GROUP_DM = 3
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12


class Context(IntEnum):
    """Where an interaction came from: InteractionContextType of the documentation."""

    GUILD = 0
    BOT_DM = 1
    PRIVATE_CHANNEL = 2


@dataclass(eq=False, slots=True)
class Channel:
    """`bot_present` says whether the bot's own token can read and write here; interactions work without.

    `owner` started the thread, `members` were added to it. `overwrites` are by user id, or by
    the server's for everybody; threads have their parent's.
    """

    id: int
    kind: ChannelKind
    name: str | None = None
    guild: Guild | None = None
    parent: "Channel | None" = None
    recipients: tuple[User, ...] = ()
    bot_present: bool = True
    last_message_id: int | None = None
    owner: User | None = None
    overwrites: dict[int, Overwrite] = field(default_factory=dict)
    members: set[int] = field(default_factory=set)
    archived: bool = False
    locked: bool = False

    @property
    def context(self) -> Context:
        if self.guild is not None:
            return Context.GUILD
        return Context.BOT_DM if self.bot_present else Context.PRIVATE_CHANNEL

    @property
    def is_thread(self) -> bool:
        return self.kind in (ChannelKind.PUBLIC_THREAD, ChannelKind.PRIVATE_THREAD)

    def has_member(self, user_id: int) -> bool:
        return user_id in self.members or (self.owner is not None and user_id == self.owner.id)

    def permissions_of(self, user_id: int) -> Permission:
        """In private channels everybody may write, with pictures and files. A private thread is for its
        members, and for those who look after threads."""
        if self.guild is None:
            return READABLE | Permission.EMBED_LINKS | Permission.ATTACH_FILES
        granted = self.guild.permissions_of(user_id)
        shut = self.kind is ChannelKind.PRIVATE_THREAD and Permission.MANAGE_THREADS not in granted
        if shut and not self.has_member(user_id):
            return NOTHING
        for whose in () if granted == EVERYTHING else (self.guild.id, user_id):
            over = (self.parent or self).overwrites.get(whose, Overwrite())
            granted = (granted & ~over.deny) | over.allow
        return granted

    def payload(self) -> dict[str, Any]:
        last = str(self.last_message_id) if self.last_message_id else None
        answer = {"id": str(self.id), "type": int(self.kind), "last_message_id": last, "flags": 0}
        if self.guild is None:
            answer |= {"recipients": [user.payload() for user in self.recipients]}
            group = {"name": self.name, "icon": None, "owner_id": str(self.recipients[0].id)}
            return answer | (group if self.kind is ChannelKind.GROUP_DM else {})
        answer |= {"name": self.name, "guild_id": str(self.guild.id), "rate_limit_per_user": 0}
        return answer | (self._thread_fields(self.guild) if self.is_thread else self._text_fields(self.guild))

    def interaction_payload(self, user: User) -> dict[str, Any]:
        """The partial channel of an interaction, with the permissions of its user in guilds."""
        may = {"permissions": str(int(self.permissions_of(user.id)))} if self.guild else {}
        return self.payload() | may

    def _thread_fields(self, guild: Guild) -> dict[str, Any]:
        assert self.parent is not None
        begun = dict.fromkeys(("archive_timestamp", "create_timestamp"), created_at(self.id).isoformat())
        told = {"parent_id": str(self.parent.id), "owner_id": str((self.owner or guild.owner).id)}
        state = {"archived": self.archived, "locked": self.locked, "auto_archive_duration": 1440, **begun}
        return told | {"member_count": 2, "message_count": 0, "thread_metadata": state}

    def _text_fields(self, guild: Guild) -> dict[str, Any]:
        overwrites = [
            {
                "id": str(whose),
                "type": int(whose != guild.id),
                "allow": str(int(o.allow)),
                "deny": str(int(o.deny)),
            }
            for whose, o in self.overwrites.items()
        ]
        fields = {"parent_id": None, "topic": None, "position": 0, "nsfw": False}
        return fields | {"permission_overwrites": overwrites}
