"""Where people talk: channels of a server, their threads, DMs and group DMs."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from tests.loopback.discord.snowflakes import created_at
from tests.loopback.discord.users import READABLE, Guild, User


class ChannelKind(IntEnum):
    GUILD_TEXT = 0
    DM = 1
    GROUP_DM = 3
    PUBLIC_THREAD = 11


class Context(IntEnum):
    """Where an interaction came from: InteractionContextType of the documentation."""

    GUILD = 0
    BOT_DM = 1
    PRIVATE_CHANNEL = 2


@dataclass(eq=False, slots=True)
class Channel:
    """`bot_present` says whether the bot's own token can read and write here; interactions work without."""

    id: int
    kind: ChannelKind
    name: str | None = None
    guild: Guild | None = None
    parent: "Channel | None" = None
    recipients: tuple[User, ...] = ()
    bot_present: bool = True
    last_message_id: int | None = None

    @property
    def context(self) -> Context:
        if self.guild is not None:
            return Context.GUILD
        return Context.BOT_DM if self.bot_present else Context.PRIVATE_CHANNEL

    @property
    def is_thread(self) -> bool:
        return self.kind is ChannelKind.PUBLIC_THREAD

    def payload(self) -> dict[str, Any]:
        last = str(self.last_message_id) if self.last_message_id else None
        answer: dict[str, Any] = {"id": str(self.id), "type": int(self.kind), "last_message_id": last}
        if self.guild is None:
            return answer | self._private_fields()
        answer |= {"name": self.name, "guild_id": str(self.guild.id), "flags": 0, "rate_limit_per_user": 0}
        return answer | (self._thread_fields() if self.is_thread else _TEXT_FIELDS)

    def interaction_payload(self) -> dict[str, Any]:
        """The partial channel of an interaction, with the permissions of its user in guilds."""
        answer = self.payload()
        if self.guild is not None:
            answer["permissions"] = str(READABLE)
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
            "owner_id": str(self.guild.owner.id),
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


_TEXT_FIELDS: dict[str, Any] = {
    "parent_id": None,
    "topic": None,
    "position": 0,
    "nsfw": False,
    "permission_overwrites": [],
}
