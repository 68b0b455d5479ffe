"""Where people talk: channels of a server, their threads, DMs and group DMs."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from tests.loopback.discord.permissions import EVERYTHING, NOTHING, READABLE, Overwrite, Permission
from tests.loopback.discord.snowflakes import created_at
from tests.loopback.discord.users import Guild, User


class ChannelKind(IntEnum):
    GUILD_TEXT = 0
    DM = 1
    GROUP_DM = 3
    GUILD_ANNOUNCEMENT = 5
    ANNOUNCEMENT_THREAD = 10
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12


THREADS = frozenset({ChannelKind.ANNOUNCEMENT_THREAD, ChannelKind.PUBLIC_THREAD, ChannelKind.PRIVATE_THREAD})


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

    @property
    def context(self) -> Context:
        if self.guild is not None:
            return Context.GUILD
        return Context.BOT_DM if self.bot_present else Context.PRIVATE_CHANNEL

    @property
    def is_thread(self) -> bool:
        return self.kind in THREADS

    def permissions_of(self, user_id: int) -> Permission:
        """In private channels everybody may write, with pictures and files."""
        if self.guild is None:
            return READABLE | Permission.EMBED_LINKS | Permission.ATTACH_FILES
        granted = self.guild.permissions_of(user_id)
        if not self._lets_in(user_id, granted):
            return NOTHING
        if granted == EVERYTHING:
            return granted
        for whose in (self.guild.id, user_id):
            granted = (self.parent or self).overwrites.get(whose, Overwrite()).over(granted)
        return granted

    def _lets_in(self, user_id: int, granted: Permission) -> bool:
        """A private thread is for its members, and for those who look after threads."""
        if self.kind is not ChannelKind.PRIVATE_THREAD or Permission.MANAGE_THREADS in granted:
            return True
        return user_id in self.members or (self.owner is not None and user_id == self.owner.id)

    def payload(self) -> dict[str, Any]:
        last = str(self.last_message_id) if self.last_message_id else None
        answer: dict[str, Any] = {"id": str(self.id), "type": int(self.kind), "last_message_id": last}
        if self.guild is None:
            return answer | self._private_fields()
        answer |= {"name": self.name, "guild_id": str(self.guild.id), "flags": 0, "rate_limit_per_user": 0}
        return answer | (self._thread_fields() if self.is_thread else self._text_fields())

    def interaction_payload(self, user: User) -> dict[str, Any]:
        """The partial channel of an interaction, with the permissions of its user in guilds."""
        answer = self.payload()
        if self.guild is not None:
            answer["permissions"] = str(int(self.permissions_of(user.id)))
        return answer

    def _private_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"recipients": [user.payload() for user in self.recipients], "flags": 0}
        if self.kind is ChannelKind.GROUP_DM:
            fields |= {"name": self.name, "icon": None, "owner_id": str(self.recipients[0].id)}
        return fields

    def _thread_fields(self) -> dict[str, Any]:
        assert self.parent is not None
        assert self.guild is not None
        started = created_at(self.id).isoformat()
        return {
            "parent_id": str(self.parent.id),
            "owner_id": str((self.owner or self.guild.owner).id),
            "member_count": 2,
            "message_count": 0,
            "thread_metadata": {
                "archived": False,
                "locked": False,
                "auto_archive_duration": 1440,
                "archive_timestamp": started,
                "create_timestamp": started,
            },
        }

    def _text_fields(self) -> dict[str, Any]:
        everyone = self.guild.id if self.guild else 0
        overwrites = [
            {
                "id": str(whose),
                "type": int(whose != everyone),
                "allow": str(int(o.allow)),
                "deny": str(int(o.deny)),
            }
            for whose, o in self.overwrites.items()
        ]
        fields = {"parent_id": None, "topic": None, "position": 0, "nsfw": False}
        return {**fields, "permission_overwrites": overwrites}
