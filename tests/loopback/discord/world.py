"""Everything there is: people, channels, messages, commands, interactions; and who is told when it changes.

Routes change the world through these methods only, so that each change is recorded, sent to the gateway
(with what the bot's intents withhold) and noticed by waiting tests.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tests.loopback.discord.channels import Channel, ChannelKind
from tests.loopback.discord.commands import CommandRegistry
from tests.loopback.discord.drafts import Draft, Pings, pings
from tests.loopback.discord.gateway import Gateway, Intent, Session
from tests.loopback.discord.interactions import Interaction
from tests.loopback.discord.messages import EPHEMERAL, Attachment, File, Message
from tests.loopback.discord.pulse import Pulse
from tests.loopback.discord.snowflakes import Snowflakes, created_at
from tests.loopback.discord.users import Guild, User

DEFAULT_MESSAGE, REPLY_MESSAGE, COMMAND_MESSAGE, MENU_MESSAGE = 0, 19, 20, 23


@dataclass(frozen=True, slots=True)
class Ping:
    """A message of the bot that would have notified someone. `edited`: by an edit, which highlights only."""

    message: Message
    whom: Pings
    edited: bool


def loop_time() -> float:
    """Seconds for intervals. Not `time.monotonic`, which a test that freezes time stops."""
    return asyncio.get_running_loop().time()


@dataclass(slots=True)
class World:
    """`reads_content`: whether the operator switched the message-content intent on for this application."""

    reads_content: bool
    ids: Snowflakes = field(default_factory=Snowflakes)
    pulse: Pulse = field(default_factory=Pulse)
    base_url: str = ""
    users: dict[int, User] = field(default_factory=dict)
    guilds: dict[int, Guild] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict)
    attachments: dict[int, Attachment] = field(default_factory=dict)
    interactions: dict[str, Interaction] = field(default_factory=dict)
    pings: list[Ping] = field(default_factory=list)
    bot: User = field(init=False)
    application_id: int = field(init=False)
    commands: CommandRegistry = field(init=False)
    gateway: Gateway = field(init=False)

    def __post_init__(self) -> None:
        self.application_id = self.ids.next()
        self.bot = self.add_user(User(self.application_id, "cc-bot", is_bot=True))
        self.commands = CommandRegistry(self.application_id, self.ids)

    def add_user(self, user: User) -> User:
        self.users[user.id] = user
        return user

    def add_channel(self, kind: ChannelKind, **fields: Any) -> Channel:
        channel = Channel(self.ids.next(), kind, **fields)
        self.channels[channel.id] = channel
        return channel

    def dm(self, user: User) -> Channel:
        """The one channel between that user and the bot."""
        for channel in self.channels.values():
            if channel.kind is ChannelKind.DM and channel.bot_present and channel.recipients == (user,):
                return channel
        return self.add_channel(ChannelKind.DM, recipients=(user,))

    def keep(self, channel: Channel, *, ephemeral: bool = False) -> Callable[[File], Attachment]:
        def store(file: File) -> Attachment:
            number = self.ids.next()
            url = f"{self.base_url}/attachments/{channel.id}/{number}/{quote(file.name)}?ex=1&is=1&hm=1"
            attachment = Attachment(number, file, url, ephemeral)
            self.attachments[number] = attachment
            return attachment

        return store

    def compose_message(self, channel: Channel, author: User, **fields: Any) -> Message:
        """A message that nobody has seen yet: `post` makes it public."""
        number = self.ids.next()
        return Message(number, channel, author, created_at(number), **fields)

    async def post(
        self, message: Message, allowed: dict[str, Any] | None = None, *, mentioned: Sequence[User] = ()
    ) -> None:
        """`mentioned` are those whom a reply mentions without naming them in its text."""
        self._notify(message, allowed, edited=False)
        message.mentions += [user for user in mentioned if user not in message.mentions]
        self.messages[message.id] = message
        message.channel.last_message_id = message.id
        message.record(loop_time())
        await self._tell("MESSAGE_CREATE", message)

    async def edit(
        self, message: Message, draft: Draft, allowed: dict[str, Any] | None, *, flags: int | None = None
    ) -> None:
        """`flags` given: the message was loading, and this is its first state."""
        draft.apply(message)
        if flags is not None:
            message.flags = flags | (message.flags & ~0xFFF)
        else:
            message.edited_at = created_at(self.ids.next())
        self._notify(message, allowed, edited=flags is None)
        message.record(loop_time())
        await self._tell("MESSAGE_UPDATE", message)

    async def delete(self, message: Message) -> None:
        message.deleted = True
        message.record(loop_time())
        await self._tell("MESSAGE_DELETE", message)

    def _notify(self, message: Message, allowed: dict[str, Any] | None, *, edited: bool) -> None:
        whom = pings(message.content, allowed)
        message.mentions = [user for user in self.users.values() if user.mention in message.content]
        message.everyone = whom.everyone
        if message.author is self.bot and whom:
            self.pings.append(Ping(message, whom, edited))

    def may_read(self, message: Message, *, granted: bool) -> bool:
        """The message-content intent guards guild messages of others that do not mention the bot."""
        private = message.channel.guild is None
        return granted or private or message.author is self.bot or self.bot in message.mentions

    async def _tell(self, event: str, message: Message) -> None:
        channel = message.channel
        guild = channel.guild
        self.pulse.beat()

        def payload_for(intents: Intent) -> dict[str, Any] | None:
            needed = Intent.GUILD_MESSAGES if guild else Intent.DIRECT_MESSAGES
            if not intents & needed or not channel.bot_present or message.flags & EPHEMERAL:
                return None
            where = {"guild_id": str(guild.id)} if guild else {}
            if event == "MESSAGE_DELETE":
                return {"id": str(message.id), "channel_id": str(channel.id), **where}
            readable = self.may_read(message, granted=bool(intents & Intent.MESSAGE_CONTENT))
            member = {"member": message.author.member_payload(with_user=False)} if guild else {}
            return message.payload(blank=not readable) | where | member

        await self.gateway.dispatch(event, payload_for, guild.id if guild else None)

    async def send_interaction(self, interaction: Interaction) -> None:
        self.interactions[interaction.token] = interaction
        guild_id = interaction.channel.guild.id if interaction.channel.guild else None
        payload = interaction.payload()
        await self.gateway.dispatch("INTERACTION_CREATE", lambda _: payload, guild_id)
        self.pulse.beat()

    def application_payload(self) -> dict[str, Any]:
        owner = next(iter(self.guilds.values())).owner
        return {
            "id": str(self.application_id),
            "name": self.bot.name,
            "icon": None,
            "description": "",
            "bot_public": True,
            "bot_require_code_grant": False,
            "verify_key": "00" * 32,
            "owner": owner.payload(),
            "team": None,
            "flags": (1 << 19) if self.reads_content else 0,
            "approximate_guild_count": len(self.guilds),
            "approximate_user_install_count": 1,
            "integration_types_config": {"0": {}, "1": {}},
            "bot": self.bot.payload(),
        }

    def greet(self, session: Session) -> list[tuple[str, dict[str, Any]]]:
        """READY, and then each guild of the shard in full, for those who asked for guilds."""
        guilds = [g for g in self.guilds.values() if g.bot_present and session.serves(g.id)]
        ready: dict[str, Any] = {
            "v": 10,
            "user": self.bot.payload() | {"mfa_enabled": False, "verified": True, "email": None, "flags": 0},
            "guilds": [{"id": str(guild.id), "unavailable": True} for guild in guilds],
            "session_id": session.id,
            "resume_gateway_url": f"{self.base_url.replace('http', 'ws', 1)}/gateway",
            "shard": list(session.shard),
            "application": {"id": str(self.application_id), "flags": self.application_payload()["flags"]},
        }
        created = [("GUILD_CREATE", self._guild_payload(guild)) for guild in guilds]
        return [("READY", ready), *(created if session.intents & Intent.GUILDS else [])]

    def _guild_payload(self, guild: Guild) -> dict[str, Any]:
        inside = [channel for channel in self.channels.values() if channel.guild is guild]
        threads = [channel.payload() for channel in inside if channel.is_thread]
        return guild.payload(self.bot, [c.payload() for c in inside if not c.is_thread], threads)
