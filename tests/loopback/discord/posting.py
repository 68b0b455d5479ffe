"""What people do in channels: write, answer, edit, delete, start threads; and what Discord does by itself.

All of it works while the program is down, too: it finds the outcome over REST, and no event tells of it.
"""

from dataclasses import replace
from typing import Any

from tests.loopback.discord.channel_reply import ChannelReply
from tests.loopback.discord.channels import Channel, ChannelKind
from tests.loopback.discord.drafts import Draft
from tests.loopback.discord.messages import (
    HAS_SNAPSHOT,
    HAS_THREAD,
    IS_VOICE_MESSAGE,
    File,
    Message,
    Poll,
    Shown,
)
from tests.loopback.discord.permissions import Permission
from tests.loopback.discord.places import Places
from tests.loopback.discord.transcript import Transcript
from tests.loopback.discord.users import User
from tests.loopback.discord.world import DEFAULT_MESSAGE, REPLY_MESSAGE, THREAD_CREATED, THREAD_STARTER, World

_MENTIONS_ALL = ["users", "roles", "everyone"]


class Posting(Places):
    def __init__(self, world: World, transcript: Transcript, patience_s: float) -> None:
        super().__init__(world, transcript, patience_s)
        self.channel_replies: dict[int, ChannelReply] = {}

    async def post(
        self,
        user: User,
        channel: Channel,
        content: str,
        *,
        mention: bool | User = False,
        attachments: tuple[File, ...] = (),
        reply_to: Shown | Message | None = None,
        ping: bool = True,
        poll: Poll | None = None,
        stickers: tuple[str, ...] = (),
        embeds: tuple[dict[str, Any], ...] = (),
        flags: int = 0,
    ) -> Message:
        """An ordinary message. `mention` puts `<@id>` of the bot (or of that user) before the text.

        A reply mentions the author replied to, as clients do unless that is switched off (`ping=False`).
        Only bots and webhooks bring embeds along: what people write gets its previews later (`unfurl`).
        """
        assert user.is_bot or not embeds, "people send no embeds"
        self._check_place(user, channel)
        named = self.bot if mention is True else mention
        text = f"{named.mention} {content}".strip() if isinstance(named, User) else content
        target = self._stored(reply_to) if reply_to is not None else None
        if target is not None:
            assert target.channel is channel, "that message stands elsewhere"
            assert not target.deleted, "that message was deleted"
            assert not target.ephemeral, "nobody can reply to a private message"
        kind = REPLY_MESSAGE if target else DEFAULT_MESSAGE
        message = self.world.compose_message(
            channel, user, content=text, kind=kind, reply_to=target, poll=poll, stickers=stickers
        )
        message.embeds = [{"type": "rich", **embed} for embed in embeds]
        keep = self.world.keep(channel)
        message.attachments = [keep(file) for file in attachments]
        message.flags |= flags
        await self.world.post(message, {"parse": _MENTIONS_ALL, "replied_user": ping})
        return message

    async def forward(self, user: User, channel: Channel, message: Shown | Message) -> Message:
        """A forward: it shows that message as it is now, and says nothing itself."""
        self._check_place(user, channel)
        source = self._stored(message)
        assert not source.deleted, "that message was deleted"
        assert not source.ephemeral, "nobody can forward a private message"
        assert source.poll is None, "nobody can forward a poll"
        forward = self.world.compose_message(
            channel, user, forwarded=source, snapshot=source.take_snapshot(), flags=HAS_SNAPSHOT
        )
        await self.world.post(forward, {"parse": []})
        return forward

    async def vote(self, message: Shown | Message, *votes: int, closed: bool = False) -> None:
        """The votes of a poll are these now; a bot that did not ask for them is not told."""
        stored = self._stored(message)
        assert stored.poll is not None, "that message is no poll"
        stored.poll = replace(stored.poll, votes=votes, closed=closed)

    async def speak(
        self, user: User, channel: Channel, recording: File, *, reply_to: Shown | Message | None = None
    ) -> Message:
        """A voice message: one recording with its length and waveform, and neither text nor mention. A reply
        mentions the author replied to, as in `post`."""
        assert recording.content_type.startswith("audio/"), "a voice message is a recording"
        assert recording.duration_s is not None, "Discord's clients tell how long it lasts"
        return await self.post(
            user, channel, "", attachments=(recording,), reply_to=reply_to, flags=IS_VOICE_MESSAGE
        )

    async def edit(self, user: User, message: Shown | Message, content: str) -> Message:
        """Only one's own; mentions are those of the new text, and a reply pings as much as it did."""
        stored = self._stored(message)
        assert stored.author is user, f"{user.name} cannot edit a message of {stored.author.name}"
        assert not stored.deleted, "that message was deleted"
        allowed = {"parse": _MENTIONS_ALL, "replied_user": stored.pings_replied}
        await self.world.edit(stored, replace(_as_it_is(stored), content=content), allowed)
        return stored

    async def delete(self, user: User, message: Shown | Message) -> None:
        """One's own, or with MANAGE_MESSAGES anybody's: the bot's too."""
        stored = self._stored(message)
        assert not stored.deleted, "that message was deleted already"
        may = stored.author is user or self._moderates(user, stored.channel)
        assert may, f"{user.name} may not delete a message of {stored.author.name}"
        await self.world.delete(stored)

    async def delete_in_bulk(self, user: User, *messages: Shown | Message) -> None:
        """2 to 100 messages of one channel go in one event."""
        stored = [self._stored(message) for message in messages]
        assert 2 <= len(stored) <= 100, "between 2 and 100 messages"
        [channel] = {message.channel for message in stored}
        assert self._moderates(user, channel), f"{user.name} may not delete them"
        await self.world.delete_in_bulk(channel, stored)

    async def unfurl(self, message: Shown | Message, embed: dict[str, Any]) -> None:
        """The preview of a link arrives: an update of the message that is no edit."""
        stored = self._stored(message)
        stored.embeds = [*stored.embeds, {"type": "link", **embed}]
        await self.world.amend(stored)

    async def redeliver(self, message: Shown | Message) -> None:
        """The MESSAGE_CREATE of that message comes once more, as it was, as after a RESUME."""
        number = str(self._stored(message).id)
        sent = await self.world.gateway.repeat(
            lambda event, data: event == "MESSAGE_CREATE" and data["id"] == number
        )
        assert sent, "that message never went to a session that still lives"

    # What came of it

    def answer(self, message: Shown | Message) -> ChannelReply:
        """The bot's messages in answer to that one, maybe none yet; one object for each post."""
        post = self._stored(message)
        return self.channel_replies.setdefault(
            post.id, ChannelReply(self.world, self._told, self.patience_s, post.author.locale, post)
        )

    async def reply_to(self, message: Shown | Message, *, timeout_s: float | None = None) -> ChannelReply:
        """Waits until the bot has begun to answer that message."""
        return await self.answer(message).until(
            lambda reply: reply.messages, "an answer in the channel", timeout_s=timeout_s
        )

    def _answered(self) -> list[ChannelReply]:
        """The answers to everybody's posts, those that no test asked for too."""
        posts = [m for m in list(self.world.messages.values()) if not m.author.is_bot]
        return [answer for answer in map(self.answer, posts) if answer.stored]

    # Threads and channels

    async def start_thread(
        self,
        user: User,
        channel: Channel,
        name: str = "thread",
        *,
        from_message: Shown | Message | None = None,
        private: bool = False,
    ) -> Channel:
        """A thread from a message has that message's id, and a system message that refers to it as its first.

        The channel gets a system message (type 18) that tells of the thread, unless the thread is private or
        stands right under its message because that is the newest.
        """
        self._check_place(user, channel)
        origin = self._stored(from_message) if from_message is not None else None
        assert origin is None or (origin.channel is channel and not private), "no such thread there"
        is_newest = origin is not None and channel.last_message_id == origin.id
        thread = self.thread(channel, name, owner=user, private=private)
        if origin is not None:
            self._grow_from(origin, thread)
        await self.world.start_thread(thread)
        if origin is not None:
            await self.world.amend(origin)
            await self._say(thread, user, kind=THREAD_STARTER, reply_to=origin)
        if not private and not is_newest:
            await self._say(channel, user, kind=THREAD_CREATED, content=name, thread=thread)
        return thread

    def _grow_from(self, origin: Message, thread: Channel) -> None:
        assert origin.thread is None, "that message has a thread already"
        del self.world.channels[thread.id]
        thread.id = origin.id
        self.world.channels[thread.id] = thread
        origin.thread = thread
        origin.flags |= HAS_THREAD

    async def delete_channel(self, channel: Channel) -> None:
        """A channel with its threads, or a thread."""
        assert channel.guild is not None, "only channels of a server can be deleted"
        await self.world.remove_channel(channel)

    async def _say(self, channel: Channel, user: User, **fields: Any) -> None:
        """A system message, in the name of whoever caused it."""
        await self.world.post(self.world.compose_message(channel, user, **fields), {"parse": []})

    def _moderates(self, user: User, channel: Channel) -> bool:
        return channel.guild is not None and Permission.MANAGE_MESSAGES in channel.permissions_of(user.id)

    def _check_place(self, user: User, channel: Channel) -> None:
        self._check_member(user, channel)
        there = channel.kind not in (ChannelKind.DM, ChannelKind.GROUP_DM) or user in channel.recipients
        assert there, f"{user.name} is not in that private channel"
        assert self.world.channels.get(channel.id) is channel, "that channel was deleted"


def _as_it_is(message: Message) -> Draft:
    return Draft(message.content, message.embeds, message.components, message.attachments)
