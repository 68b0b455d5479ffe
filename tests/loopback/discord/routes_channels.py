"""Routes of channels and their messages, which work with the bot's token and only where the bot is."""

from dataclasses import dataclass
from typing import Any

from tests.loopback.discord import limits
from tests.loopback.discord.channels import Channel, ChannelKind
from tests.loopback.discord.drafts import compose
from tests.loopback.discord.messages import Message
from tests.loopback.discord.refusals import (
    cannot_send_to_user,
    invalid_form,
    missing_access,
    missing_permissions,
    not_the_author,
    unknown_channel,
    unknown_message,
)
from tests.loopback.discord.routes import Answer, Call, Route
from tests.loopback.discord.world import DEFAULT_MESSAGE, REPLY_MESSAGE, World


@dataclass(slots=True)
class ChannelRoutes:
    world: World

    def table(self) -> list[Route]:
        messages = "/channels/{channel}/messages"
        one = messages + "/{message}"
        return [
            Route("GET", "/channels/{channel}", self.channel),
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
        if not channel.bot_present:
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
        return message.payload(blank=not self.world.may_read(message, granted=self.world.reads_content))

    async def channel(self, call: Call) -> Answer:
        return Answer(200, self._channel(call).payload())

    async def type(self, call: Call) -> Answer:
        self._channel(call)
        return Answer()

    async def history(self, call: Call) -> Answer:
        """Newest first, at most `limit` (1 to 100, 50 when not given)."""
        channel = self._channel(call)
        limit = int(call.query.get("limit", 50))
        if not 1 <= limit <= 100:
            raise invalid_form(["limit"], "NUMBER_TYPE_MAX", "int value should be less than or equal to 100.")
        before, after = int(call.query.get("before", 1 << 63)), int(call.query.get("after", 0))
        visible = [
            message
            for message in self.world.messages.values()
            if message.channel is channel
            and not (message.deleted or message.ephemeral)
            and after < message.id < before
        ]
        visible.sort(key=lambda message: message.id)
        chosen = visible[:limit] if "after" in call.query else visible[-limit:]
        return Answer(200, [self._payload(message) for message in reversed(chosen)])

    async def get(self, call: Call) -> Answer:
        return Answer(200, self._payload(self._message(call)))

    async def post(self, call: Call) -> Answer:
        channel = self._channel(call)
        if channel.kind is ChannelKind.DM and not channel.recipients[0].accepts_dms:
            raise cannot_send_to_user()
        body: dict[str, Any] = call.body or {}
        limits.check_nonce(body.get("nonce"))
        if twin := self._twin(channel, body):
            return Answer(200, twin.payload())
        replied = self._replied(channel, body)
        draft = compose(call.upload, self.world.keep(channel))
        message = self.world.compose_message(
            channel,
            self.world.bot,
            nonce=None if body.get("nonce") is None else str(body["nonce"]),
            kind=REPLY_MESSAGE if replied else DEFAULT_MESSAGE,
            reply_to=replied,
        )
        draft.apply(message)
        await self.world.post(message, call.allowed_mentions)
        return Answer(200, message.payload())

    def _twin(self, channel: Channel, body: dict[str, Any]) -> Message | None:
        """With `enforce_nonce` a nonce that was used here before brings back that message, and posts none."""
        if not body.get("enforce_nonce") or body.get("nonce") is None:
            return None
        nonce = str(body["nonce"])
        same = (m for m in self.world.messages.values() if m.channel is channel and m.nonce == nonce)
        return next((message for message in same if message.author is self.world.bot), None)

    def _replied(self, channel: Channel, body: dict[str, Any]) -> Message | None:
        reference: dict[str, Any] | None = body.get("message_reference")
        if reference is None:
            return None
        message = self.world.messages.get(int(reference["message_id"]))
        if message is not None and message.channel is channel and not message.deleted:
            return message
        if reference.get("fail_if_not_exists", True):
            raise invalid_form(["message_reference"], "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
        return None

    async def edit(self, call: Call) -> Answer:
        message = self._message(call)
        if message.author is not self.world.bot:
            raise not_the_author()
        draft = compose(call.upload, self.world.keep(message.channel), message)
        await self.world.edit(message, draft, call.allowed_mentions)
        return Answer(200, message.payload())

    async def delete(self, call: Call) -> Answer:
        message = self._message(call)
        if message.author is not self.world.bot:
            raise missing_permissions()
        await self.world.delete(message)
        return Answer()
