"""Routes of channels and their messages, which work with the bot's token and only where the bot is."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.loopback.discord import limits
from tests.loopback.discord.channels import Channel, ChannelKind
from tests.loopback.discord.drafts import compose
from tests.loopback.discord.messages import Message
from tests.loopback.discord.permissions import NOTHING, Permission
from tests.loopback.discord.refusals import (
    cannot_reply_unseen,
    cannot_send_to_user,
    invalid_form,
    missing_access,
    missing_permissions,
    not_the_author,
    unknown_channel,
    unknown_member,
    unknown_message,
)
from tests.loopback.discord.routes import Answer, Call, Route
from tests.loopback.discord.snowflakes import created_at
from tests.loopback.discord.world import (
    DEFAULT_MESSAGE,
    REPLY_MESSAGE,
    THREAD_CREATED,
    THREAD_STARTER,
    World,
    loop_time,
)

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
            Route("GET", "/channels/{channel}/thread-members/{user}", self.thread_member),
            Route("POST", "/channels/{channel}/typing", self.type, limit="channel", major="channel"),
            Route("GET", messages, self.history),
            Route("POST", messages, self.post, limit="channel", major="channel"),
            Route("GET", one, self.get),
            Route("PATCH", one, self.edit, limit="channel", major="channel"),
            Route("DELETE", one, self.delete, limit="channel", major="channel"),
        ]

    def _channel(self, call: Call) -> Channel:
        channel = self.world.channels.get(call.id("channel"))
        if channel is None:
            raise unknown_channel()
        if not self.world.sees(channel):
            raise missing_access()
        return channel

    def _message(self, call: Call) -> Message:
        """Ephemeral messages do not exist for these routes."""
        channel = self._channel(call)
        message = self.world.messages.get(call.id("message"))
        if message is None or message.channel is not channel or message.deleted or message.ephemeral:
            raise unknown_message()
        return message

    def _payload(self, message: Message) -> dict[str, Any]:
        return message.payload(readable=partial(self.world.may_read, granted=self.world.reads_content))

    async def channel(self, call: Call) -> Answer:
        return Answer(200, self._channel(call).payload())

    async def thread_member(self, call: Call) -> Answer:
        """Who started the thread, or was added to it; anybody else is an unknown member (10007)."""
        channel, user_id = self._channel(call), call.id("user")
        if not (
            channel.is_thread
            and (user_id in channel.members or (channel.owner and channel.owner.id == user_id))
        ):
            raise unknown_member()
        told = {"id": str(channel.id), "user_id": str(user_id), "flags": 0}
        return Answer(200, told | {"join_timestamp": created_at(channel.id).isoformat()})

    async def type(self, call: Call) -> Answer:
        self._check_sending(self._channel(call))
        return Answer()

    async def history(self, call: Call) -> Answer:
        """Newest first, at most `limit` (1 to 100, 50 when not given); none without READ_MESSAGE_HISTORY."""
        channel = self._channel(call)
        page = _page(call.query)
        if not self.world.may(Permission.READ_MESSAGE_HISTORY, channel):
            return Answer(200, [])
        stored = (m for m in self.world.messages.values() if m.channel is channel)
        visible = [message for message in stored if not (message.deleted or message.ephemeral)]
        visible.sort(key=lambda message: message.id)
        return Answer(200, [self._payload(message) for message in reversed(page.of(visible))])

    async def get(self, call: Call) -> Answer:
        message = self._message(call)
        if not self.world.may(Permission.READ_MESSAGE_HISTORY, message.channel):
            raise missing_access()
        return Answer(200, self._payload(message))

    async def post(self, call: Call) -> Answer:
        channel = self._channel(call)
        body: dict[str, Any] = call.body or {}
        self._check_sending(channel, _permissions_for(call))
        limits.check_nonce(body.get("nonce"))
        nonce = None if body.get("nonce") is None else str(body["nonce"])
        if body.get("enforce_nonce") and nonce is not None and (twin := self._twin(nonce)):
            return self._posted(twin)
        replied = self._replied(channel, body)
        draft = compose(call.upload, self.world.keep(channel))
        message = self.world.compose_message(
            channel,
            self.world.bot,
            nonce=nonce,
            kind=REPLY_MESSAGE if replied else DEFAULT_MESSAGE,
            reply_to=replied,
        )
        draft.apply(message)
        if nonce is not None:
            self.nonces[nonce] = (message, loop_time())
        await self.world.post(message, call.allowed_mentions)
        return self._posted(message)

    def _posted(self, message: Message) -> Answer:
        nonce = {} if message.nonce is None else {"nonce": message.nonce}
        return Answer(200, self._payload(message) | nonce)

    def _check_sending(self, channel: Channel, also: Permission = NOTHING) -> None:
        """Raises Refusal for a closed DM, and for a channel where the bot may not write."""
        if channel.kind is ChannelKind.DM and not channel.recipients[0].accepts_dms:
            raise cannot_send_to_user()
        needed = Permission.SEND_MESSAGES_IN_THREADS if channel.is_thread else Permission.SEND_MESSAGES
        if not self.world.may(needed | also, channel):
            raise missing_permissions()

    def _twin(self, nonce: str) -> Message | None:
        """With `enforce_nonce` a nonce of the past minutes brings back its message, and posts none.

        It does so in every channel, as the documentation names the author and no place; and also when that
        message was deleted meanwhile, of which it says nothing.
        """
        message, used_at_s = self.nonces.get(nonce, (None, 0.0))
        return message if loop_time() - used_at_s < NONCE_LIVES_S else None

    def _replied(self, channel: Channel, body: dict[str, Any]) -> Message | None:
        reference: dict[str, Any] | None = body.get("message_reference")
        if reference is None:
            return None
        message = self.world.messages.get(int(reference["message_id"]))
        if not self.world.may(Permission.READ_MESSAGE_HISTORY, channel):
            raise cannot_reply_unseen()
        if message is not None and message.channel is channel and not (message.deleted or message.ephemeral):
            if message.kind in (THREAD_CREATED, THREAD_STARTER):
                text = "Cannot reply to a system message"
                raise invalid_form(["message_reference"], "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", text)
            return message
        if reference.get("fail_if_not_exists", True):
            raise invalid_form(["message_reference"], "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
        return None

    async def edit(self, call: Call) -> Answer:
        message = self._message(call)
        if message.author is not self.world.bot:
            raise not_the_author()
        if not self.world.may(_permissions_for(call) & Permission.EMBED_LINKS, message.channel):
            raise missing_permissions()  # of edits the documentation does not say it: the harder case
        draft = compose(call.upload, self.world.keep(message.channel), message)
        await self.world.edit(message, draft, call.allowed_mentions)
        return Answer(200, self._payload(message))

    async def delete(self, call: Call) -> Answer:
        message = self._message(call)
        if message.author is not self.world.bot:
            raise missing_permissions()
        await self.world.delete(message)
        return Answer()


@dataclass(frozen=True, slots=True)
class _Page:
    """Which part of a channel: right before, right after or around an id, or (`where` None) the newest."""

    limit: int
    where: str | None
    anchor: int

    def of(self, messages: list[Message]) -> list[Message]:
        """`messages` and answer: oldest first."""
        before = [message for message in messages if message.id < self.anchor]
        after = [message for message in messages if message.id > self.anchor]
        match self.where:
            case "before":
                return before[-self.limit :]
            case "after":
                return after[: self.limit]
            case "around":
                here = [message for message in messages if message.id == self.anchor]
                half = self.limit // 2
                return (before[-half:] if half else []) + here + after[:half]
            case _:
                return messages[-self.limit :]


def _page(query: dict[str, str]) -> _Page:
    """Raises Refusal for what is no number, a limit out of range, and more than one anchor."""
    for key in ("limit", "before", "after", "around"):
        if not query.get(key, "0").isdecimal():
            raise invalid_form([key], "NUMBER_TYPE_COERCE", f'Value "{query[key]}" is not snowflake.')
    limit = int(query.get("limit", 50))
    if not 1 <= limit <= 100:
        raise invalid_form(["limit"], "NUMBER_TYPE_MAX", "int value should be less than or equal to 100.")
    anchors = [key for key in ("before", "after", "around") if key in query]
    if len(anchors) > 1:
        raise invalid_form([anchors[1]], "BASE_TYPE_CHOICES", "before, after and around exclude each other.")
    where = anchors[0] if anchors else None
    return _Page(limit, where, int(query[where]) if where else 0)


def _permissions_for(call: Call) -> Permission:
    """What else than the right to write a message takes."""
    embeds = Permission.EMBED_LINKS if (call.body or {}).get("embeds") else NOTHING
    files = Permission.ATTACH_FILES if call.files else NOTHING
    return embeds | files
