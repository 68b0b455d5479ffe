"""Routes that work with the bot's token: about the bot itself, about people, channels and their messages."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.loopback.discord import refusals
from tests.loopback.discord.channels import NOTHING, Channel, ChannelKind, Guild, Permission, created_at
from tests.loopback.discord.drafts import compose
from tests.loopback.discord.messages import Message
from tests.loopback.discord.wire import Answer, Call, Route
from tests.loopback.discord.world import DEFAULT_MESSAGE, REPLY_MESSAGE, THREAD_CREATED, World, loop_time


@dataclass(slots=True)
class ApplicationRoutes:
    """`synced_at_s`: the bot last read or wrote commands; `booted_at_s`: it last asked for the gateway."""

    world: World
    synced_at_s: float = float("-inf")
    booted_at_s: float = float("-inf")
    wrote_last: bool = False

    def table(self) -> list[Route]:
        everywhere = "/applications/{application}/commands"
        return [
            Route("GET", "/gateway/bot", self.gateway),
            Route("GET", "/oauth2/applications/@me", self.application),
            Route("GET", "/applications/@me", self.application),
            Route("GET", "/users/@me", self.me),
            Route("GET", "/users/{user}", self.user),
            Route("POST", "/users/@me/channels", self.open_dm),
            Route("GET", "/users/@me/guilds", self.own_guilds),
            Route("GET", "/guilds/{guild}", self.guild),
            Route("GET", "/guilds/{guild}/roles", self.roles),
            Route("GET", "/guilds/{guild}/channels", self.channels),
            Route("GET", "/guilds/{guild}/members/{user}", self.member),
            Route("GET", everywhere, self.list_commands),
            Route("PUT", everywhere, self.put_commands),
        ]

    async def gateway(self, _: Call) -> Answer:
        self.booted_at_s = loop_time()
        shards = self.world.shards
        limit = {"total": 1000, "remaining": 999, "reset_after": 86_400_000, "max_concurrency": shards}
        url = f"{self.world.base_url.replace('http', 'ws', 1)}/gateway"
        return Answer(200, {"url": url, "shards": shards, "session_start_limit": limit})

    async def application(self, _: Call) -> Answer:
        return Answer(200, self.world.application_payload())

    async def me(self, _: Call) -> Answer:
        own = {"mfa_enabled": False, "verified": True, "email": None, "flags": 0, "locale": "en-US"}
        return Answer(200, self.world.bot.payload() | own)

    async def user(self, call: Call) -> Answer:
        user = refusals.found(self.world.users.get(call.id("user")), refusals.unknown_user)
        return Answer(200, user.payload())

    async def guild(self, call: Call) -> Answer:
        """A server that the bot is in."""
        return Answer(200, self._guild(call).rest_payload())

    async def own_guilds(self, call: Call) -> Answer:
        there = [
            each
            for each in self.world.guilds.values()
            if each.bot_present and each.id > int(call.query.get("after") or 0)
        ]
        told = {
            "owner": False,
            "permissions": "0",
            "approximate_member_count": 1,
            "approximate_presence_count": 1,
        }
        return Answer(200, [each.rest_payload() | told for each in there])

    async def roles(self, call: Call) -> Answer:
        return Answer(200, self._guild(call).rest_payload()["roles"])

    async def channels(self, call: Call) -> Answer:
        guild = self._guild(call)
        inside = [each for each in self.world.channels.values() if each.guild is guild and not each.is_thread]
        return Answer(200, [each.payload() for each in inside])

    def _guild(self, call: Call) -> Guild:
        guild = refusals.found(self.world.guilds.get(call.id("guild")), refusals.unknown_guild)
        refusals.refuse_if(not guild.bot_present, refusals.missing_access)
        return guild

    async def member(self, call: Call) -> Answer:
        guild = self._guild(call)
        user = refusals.found(self.world.users.get(call.id("user")), refusals.unknown_user)
        refusals.refuse_if(user.is_webhook or user.id in guild.left, refusals.unknown_member)
        return Answer(200, guild.member_payload(user))

    async def open_dm(self, call: Call) -> Answer:
        """Opening always works; a closed door shows when something is sent (50007)."""
        user = refusals.found(
            self.world.users.get(int((call.body or {}).get("recipient_id") or 0)), refusals.unknown_user
        )
        return Answer(200, self.world.dm(user).payload())

    async def list_commands(self, call: Call) -> Answer:
        self._check_application(call)
        with_localizations = call.query.get("with_localizations", "").lower() == "true"
        listing = self.world.commands.listing(with_localizations=with_localizations)
        self._synced(wrote=False)
        return Answer(200, listing)

    async def put_commands(self, call: Call) -> Answer:
        self._check_application(call)
        stored = self.world.commands.replace(call.body or [])
        self._synced(wrote=True)
        return Answer(200, [command.raw for command in stored])

    def _check_application(self, call: Call) -> None:
        """Raises Refusal for another application's commands."""
        if call.id("application") != self.world.application_id:
            raise refusals.Refusal(403, 20012, "You are not authorized to do that on this application")

    def _synced(self, *, wrote: bool) -> None:
        self.synced_at_s, self.wrote_last = loop_time(), wrote
        for session in self.world.gateway.live():
            session.synced = True
        self.world.pulse.beat()


NONCE_LIVES_S = 180.0
"""Discord says "the past few minutes" and no number."""


@dataclass(slots=True)
class ChannelRoutes:
    """`nonces` are the bot's recent ones, with the message that each brought about and when (loop time)."""

    world: World
    nonces: dict[str, tuple[Message, float]] = field(default_factory=dict)

    def table(self) -> list[Route]:
        messages = "/channels/{channel}/messages"
        one = messages + "/{message}"
        return [
            Route("GET", "/channels/{channel}", self.channel),
            Route("PATCH", "/channels/{channel}", self.unarchive),
            Route("GET", "/channels/{channel}/thread-members/{user}", self.thread_member),
            Route("POST", "/channels/{channel}/typing", self.type, limit="channel", major="channel"),
            Route("GET", messages, self.history),
            Route("POST", messages, self.post, limit="channel", major="channel"),
            Route("GET", one, self.get),
            Route("PATCH", one, self.edit, limit="channel", major="channel"),
            Route("DELETE", one, self.delete, limit="channel", major="channel"),
            Route("PUT", one + "/reactions/{emoji}/@me", self.react, limit="channel", major="channel"),
        ]

    def _channel(self, call: Call) -> Channel:
        channel = refusals.found(self.world.channels.get(call.id("channel")), refusals.unknown_channel)
        refusals.refuse_if(not self.world.sees(channel), refusals.missing_access)
        return channel

    def _message(self, call: Call) -> Message:
        """Ephemeral messages do not exist for these routes."""
        channel = self._channel(call)
        message = self.world.messages.get(call.id("message"))
        if message is None or message.channel is not channel or message.deleted or message.ephemeral:
            raise refusals.unknown_message()
        return message

    def _payload(self, message: Message) -> dict[str, Any]:
        return message.payload(readable=partial(self.world.may_read, granted=self.world.reads_content))

    async def channel(self, call: Call) -> Answer:
        return Answer(200, self._channel(call).payload())

    async def unarchive(self, call: Call) -> Answer:
        channel = self._channel(call)
        assert (channel.is_thread, call.body) == (True, {"archived": False}), "nothing else is modelled"
        self._check_sending(channel)
        channel.archived = False
        return Answer(200, channel.payload())

    async def thread_member(self, call: Call) -> Answer:
        channel, user_id = self._channel(call), call.id("user")
        refusals.refuse_if(not (channel.is_thread and channel.has_member(user_id)), refusals.unknown_member)
        told = {"id": str(channel.id), "user_id": str(user_id), "flags": 0}
        return Answer(200, told | {"join_timestamp": created_at(channel.id).isoformat()})

    async def type(self, call: Call) -> Answer:
        self._check_sending(self._channel(call))
        return Answer()

    async def history(self, call: Call) -> Answer:
        """Newest first, at most `limit` (1 to 100, 50 when not given); none without READ_MESSAGE_HISTORY."""
        channel = self._channel(call)
        if not self.world.may(Permission.READ_MESSAGE_HISTORY, channel):
            return Answer(200, [])
        stored = (m for m in self.world.messages.values() if m.channel is channel)
        visible = [message for message in stored if not (message.deleted or message.ephemeral)]
        visible.sort(key=lambda message: message.id)
        page = _page(call.query, visible)
        return Answer(200, [self._payload(message) for message in reversed(page)])

    async def get(self, call: Call) -> Answer:
        message = self._message(call)
        reads = self.world.may(Permission.READ_MESSAGE_HISTORY, message.channel)
        refusals.refuse_if(not reads, refusals.missing_access)
        return Answer(200, self._payload(message))

    async def post(self, call: Call) -> Answer:
        channel = self._channel(call)
        body: dict[str, Any] = call.body or {}
        self._check_sending(channel, _permissions_for(call))
        refusals.require_length(str(body.get("nonce") or ""), ["nonce"], 25)
        nonce = None if body.get("nonce") is None else str(body["nonce"])
        if body.get("enforce_nonce") and nonce is not None and (twin := self._twin(nonce)):
            return self._posted(twin)
        replied = self._replied(channel, body)
        draft = compose(call.upload, self.world.keep(channel))
        kind, bot = REPLY_MESSAGE if replied else DEFAULT_MESSAGE, self.world.bot
        message = self.world.compose_message(channel, bot, nonce=nonce, kind=kind, reply_to=replied)
        draft.apply(message)
        channel.archived = False
        if nonce is not None:
            self.nonces[nonce] = (message, loop_time())
        await self.world.post(message, call.allowed_mentions)
        return self._posted(message)

    def _posted(self, message: Message) -> Answer:
        nonce = {} if message.nonce is None else {"nonce": message.nonce}
        return Answer(200, self._payload(message) | nonce)

    def _check_sending(self, channel: Channel, also: Permission = NOTHING) -> None:
        """Raises Refusal for a closed DM, and for a channel where the bot may not write."""
        closed = channel.kind is ChannelKind.DM and not channel.recipients[0].accepts_dms
        refusals.refuse_if(closed, refusals.cannot_send_to_user)
        refusals.refuse_if(channel.locked, refusals.thread_locked)
        needed = Permission.SEND_MESSAGES_IN_THREADS if channel.is_thread else Permission.SEND_MESSAGES
        refusals.refuse_if(not self.world.may(needed | also, channel), refusals.missing_permissions)

    def _twin(self, nonce: str) -> Message | None:
        message, used_at_s = self.nonces.get(nonce, (None, 0.0))
        return message if loop_time() - used_at_s < NONCE_LIVES_S else None

    def _replied(self, channel: Channel, body: dict[str, Any]) -> Message | None:
        reference: dict[str, Any] | None = body.get("message_reference")
        if reference is None:
            return None
        message = self.world.messages.get(int(reference["message_id"]))
        reads = self.world.may(Permission.READ_MESSAGE_HISTORY, channel)
        refusals.refuse_if(not reads, refusals.cannot_reply_unseen)
        if message is not None and message.channel is channel and not (message.deleted or message.ephemeral):
            if message.kind == THREAD_CREATED:
                text = "Cannot reply to a system message"
                raise refusals.invalid_form(
                    ["message_reference"], "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", text
                )
            return message
        if reference.get("fail_if_not_exists", True):
            raise refusals.invalid_form(
                ["message_reference"], "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message"
            )
        return None

    async def edit(self, call: Call) -> Answer:
        message = self._message(call)
        refusals.refuse_if(message.author is not self.world.bot, refusals.not_the_author)
        refusals.refuse_if(message.channel.archived, refusals.archived_thread)
        if not self.world.may(_permissions_for(call), message.channel):
            raise refusals.missing_permissions()  # the documentation does not say so: the harder case
        draft = compose(call.upload, self.world.keep(message.channel), message)
        await self.world.edit(message, draft, call.allowed_mentions)
        return Answer(200, self._payload(message))

    async def delete(self, call: Call) -> Answer:
        message = self._message(call)
        refusals.refuse_if(message.author is not self.world.bot, refusals.missing_permissions)
        await self.world.delete(message)
        return Answer()

    async def react(self, call: Call) -> Answer:
        message = self._message(call)
        may = partial(self.world.may, channel=message.channel)
        refusals.refuse_if(not may(Permission.READ_MESSAGE_HISTORY), refusals.missing_access)
        refusals.refuse_if(not may(Permission.ADD_REACTIONS), refusals.missing_permissions)
        message.reactions.append(call.params["emoji"])
        return Answer()


def _page(query: dict[str, str], messages: list[Message]) -> list[Message]:
    """Right before or after an id, or the newest; `messages` and answer: oldest first. Raises Refusal
    for what is no number, a limit out of range, and more than one anchor."""
    for key in ("limit", "before", "after"):
        if not query.get(key, "0").isdecimal():
            raise refusals.invalid_form(
                [key], "NUMBER_TYPE_COERCE", f'Value "{query[key]}" is not snowflake.'
            )
    limit = int(query.get("limit", 50))
    if not 1 <= limit <= 100:
        raise refusals.invalid_form(
            ["limit"], "NUMBER_TYPE_MAX", "int value should be less than or equal to 100."
        )
    if {"before", "after"} <= query.keys():
        raise refusals.invalid_form(["after"], "BASE_TYPE_CHOICES", "before and after exclude each other.")
    if "after" in query:
        return [message for message in messages if message.id > int(query["after"])][:limit]
    before = int(query.get("before", 2**63))
    return [message for message in messages if message.id < before][-limit:]


def _permissions_for(call: Call) -> Permission:
    embeds = Permission.EMBED_LINKS if (call.body or {}).get("embeds") else NOTHING
    files = Permission.ATTACH_FILES if call.files else NOTHING
    return embeds | files
