import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote

from tests.loopback.discord import events
from tests.loopback.discord.channels import (
    Channel,
    ChannelKind,
    Guild,
    Permission,
    Snowflakes,
    User,
    created_at,
)
from tests.loopback.discord.commands import CommandRegistry
from tests.loopback.discord.drafts import Draft, Pings, pings
from tests.loopback.discord.gateway import Gateway, Intent, Session
from tests.loopback.discord.interactions import Interaction
from tests.loopback.discord.messages import Attachment, File, Message


class Pulse:
    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def beat(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()

    async def until(
        self, look: Callable[[], object], *, timeout_s: float, what: str, seen: Callable[[], str]
    ) -> None:
        """Until `look` answers with something true. Raises AssertionError with what was `seen`."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        while not look():
            waiter: asyncio.Future[None] = loop.create_future()
            self._waiting.add(waiter)
            done, _ = await asyncio.wait({waiter}, timeout=max(0.0, deadline - loop.time()))
            if not done:
                self._waiting.discard(waiter)
                waiter.cancel()
                assert look(), f"waited {timeout_s:g} s for {what}; seen:\n{seen()}"
                return


DEFAULT_MESSAGE, REPLY_MESSAGE, COMMAND_MESSAGE, MENU_MESSAGE = 0, 19, 20, 23
THREAD_CREATED = 18
CONTENT_FLAG, CONTENT_FLAG_OF_SMALL_APPS = 1 << 18, 1 << 19


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
    """`reads_content`: whether the operator switched the message-content intent on for this application.

    `verified`: the application is in so many servers that Discord itself had to grant that.
    """

    reads_content: bool
    verified: bool = False
    shards: int = 1
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
    team: list[tuple[User, bool]] = field(default_factory=list)
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
        for channel in self.channels.values():
            if channel.kind is ChannelKind.DM and channel.bot_present and channel.recipients == (user,):
                return channel
        return self.add_channel(ChannelKind.DM, recipients=(user,))

    def keep(self, channel: Channel, *, ephemeral: bool = False) -> Callable[[File], Attachment]:
        def store(file: File) -> Attachment:
            number = self.ids.next()
            url = f"{self.base_url}/attachments/{channel.id}/{number}/{quote(file.name)}?ex=1&is=1&hm=1"
            self.attachments[number] = attachment = Attachment(number, file, url, ephemeral)
            return attachment

        return store

    def compose_message(self, channel: Channel, author: User, **fields: Any) -> Message:
        number = self.ids.next()
        return Message(number, channel, author, created_at(number), **fields)

    def may(self, needed: Permission, channel: Channel) -> bool:
        return channel.bot_present and needed in channel.permissions_of(self.bot.id)

    def sees(self, channel: Channel) -> bool:
        return (channel.guild is None and channel.bot_present) or self.may(Permission.VIEW_CHANNEL, channel)

    async def post(self, message: Message, allowed: dict[str, Any] | None = None) -> None:
        self._notify(message, allowed, edited=False)
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
        await self.amend(message)

    async def amend(self, message: Message) -> None:
        message.record(loop_time())
        await self._tell("MESSAGE_UPDATE", message)

    async def delete(self, message: Message) -> None:
        message.deleted = True
        message.record(loop_time())
        await self._tell("MESSAGE_DELETE", message)

    async def delete_in_bulk(self, channel: Channel, messages: Sequence[Message]) -> None:
        self._vanish(messages)
        data = {"ids": [str(message.id) for message in messages], **events.location_of(channel)}
        await self._send("MESSAGE_DELETE_BULK", channel, events.needed_intent(channel), data)

    async def start_thread(self, thread: Channel) -> None:
        await self._send("THREAD_CREATE", thread, Intent.GUILDS, thread.payload() | {"newly_created": True})

    async def rename_thread(self, thread: Channel, name: str) -> None:
        thread.name = name
        await self._send("THREAD_UPDATE", thread, Intent.GUILDS, thread.payload())

    async def remove_channel(self, channel: Channel) -> None:
        """Its threads go with it, without a word of their own."""
        inside = [c for c in self.channels.values() if channel in (c, c.parent)]
        for gone in inside:
            del self.channels[gone.id]
            self._vanish([m for m in self.messages.values() if m.channel is gone and not m.deleted])
        kept = ("id", "guild_id", "parent_id", "type")  # where it was, and no more
        told, event = channel.payload(), "THREAD_DELETE" if channel.is_thread else "CHANNEL_DELETE"
        told = {key: told[key] for key in kept} if channel.is_thread else told
        await self._send(event, channel, Intent.GUILDS, told)

    def _vanish(self, messages: Sequence[Message]) -> None:
        for message in messages:
            message.deleted = True
            message.record(loop_time())

    def _notify(self, message: Message, allowed: dict[str, Any] | None, *, edited: bool) -> None:
        """Mentioned are those named in the text and the author replied to, as far as `allowed` has them."""
        replied = message.reply_to.author if message.reply_to and message.kind == REPLY_MESSAGE else None
        message.pings_replied = allowed is None or bool(allowed.get("replied_user"))
        pinged = replied if replied is not message.author and message.pings_replied else None
        whom = pings(message.content, allowed, replied_id=pinged.id if pinged else None)
        message.mentions = [user for user in self.users.values() if user.id in whom.user_ids]
        message.everyone = whom.everyone
        if message.author is self.bot and whom:
            self.pings.append(Ping(message, whom, edited))

    def may_read(self, message: Message, *, granted: bool) -> bool:
        """The message-content intent guards guild messages of others that do not mention the bot."""
        private = message.channel.guild is None
        return granted or private or message.author is self.bot or self.bot in message.mentions

    async def _tell(self, event: str, message: Message) -> None:
        self.pulse.beat()
        if message.ephemeral:
            return

        def payload_for(intents: Intent) -> dict[str, Any]:
            if event == "MESSAGE_DELETE":
                return {"id": str(message.id), **events.location_of(message.channel)}
            readable = partial(self.may_read, granted=bool(intents & Intent.MESSAGE_CONTENT))
            told = events.created if event == "MESSAGE_CREATE" else events.about_message
            return told(message, readable)

        await self._send(event, message.channel, events.needed_intent(message.channel), payload_for)

    async def _send(
        self, event: str, channel: Channel, needed: Intent, data: dict[str, Any] | Callable[[Intent], Any]
    ) -> None:
        """To the sessions that asked for such events, from places that the bot sees."""
        self.pulse.beat()

        def data_for(intents: Intent) -> dict[str, Any] | None:
            if not (intents & needed and self.sees(channel)):
                return None
            return data(intents) if callable(data) else data

        await self.gateway.dispatch(event, data_for, channel.guild.id if channel.guild else None)

    async def send_interaction(self, interaction: Interaction) -> None:
        self.interactions[interaction.token] = interaction
        guild_id = interaction.channel.guild.id if interaction.channel.guild else None
        payload = interaction.payload()
        await self.gateway.dispatch("INTERACTION_CREATE", lambda _: payload, guild_id)
        self.pulse.beat()

    def application_payload(self) -> dict[str, Any]:
        owner, team = next(iter(self.guilds.values())).owner, self._team() if self.team else None
        fixed: dict[str, Any] = {
            "icon": None,
            "description": "",
            "bot_public": True,
            "bot_require_code_grant": False,
        }
        fixed |= {"verify_key": "00" * 32, "integration_types_config": {"0": {}, "1": {}}}
        counts = {"approximate_guild_count": len(self.guilds), "approximate_user_install_count": 1}
        own = {"id": str(self.application_id), "name": self.bot.name, "bot": self.bot.payload()}
        people = {"owner": owner.payload(), "team": team}
        return fixed | counts | own | people | {"flags": self._application_flags()}

    def _team(self) -> dict[str, Any]:
        """As Discord has it ("Teams", "Team Member Object"): 1 is invited, 2 accepted."""
        fixed = {"permissions": ["*"], "role": "developer", "team_id": "70"}
        members = [
            {**fixed, "membership_state": 2 if accepted else 1, "user": user.payload()}
            for user, accepted in self.team
        ]
        owner = str(self.team[0][0].id)
        return {"id": "70", "name": "team", "icon": None, "owner_user_id": owner, "members": members}

    def _application_flags(self) -> int:
        if not self.reads_content:
            return 0
        return CONTENT_FLAG if self.verified else CONTENT_FLAG_OF_SMALL_APPS

    def greet(self, session: Session) -> list[tuple[str, dict[str, Any]]]:
        """READY, and then each guild of the shard in full, for those who asked for guilds."""
        guilds = [g for g in self.guilds.values() if g.bot_present and session.serves(g.id)]
        own = {"mfa_enabled": False, "verified": True, "email": None, "flags": 0}
        application = {"id": str(self.application_id), "flags": self._application_flags()}
        url = f"{self.base_url.replace('http', 'ws', 1)}/gateway"
        told = {"session_id": session.id, "resume_gateway_url": url, "shard": list(session.shard)}
        unavailable = [{"id": str(guild.id), "unavailable": True} for guild in guilds]
        ready = {"v": 10, "user": self.bot.payload() | own, "guilds": unavailable, "application": application}
        created = [("GUILD_CREATE", self._guild_payload(guild)) for guild in guilds]
        return [("READY", ready | told), *(created if session.intents & Intent.GUILDS else [])]

    def _guild_payload(self, guild: Guild) -> dict[str, Any]:
        inside = [channel for channel in self.channels.values() if channel.guild is guild]
        threads = [channel.payload() for channel in inside if channel.is_thread and self.sees(channel)]
        return guild.payload(self.bot, [c.payload() for c in inside if not c.is_thread], threads)
