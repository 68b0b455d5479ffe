from collections.abc import Callable, Sequence
from typing import Any

from tests.loopback.discord.channels import (
    NOTHING,
    OF_THE_BOT,
    Channel,
    ChannelKind,
    Guild,
    Overwrite,
    Permission,
    User,
)
from tests.loopback.discord.commands import as_read
from tests.loopback.discord.drafts import Draft
from tests.loopback.discord.messages import HAS_SNAPSHOT, IS_VOICE_MESSAGE, File, Message, Poll, Shown
from tests.loopback.discord.watched import ChannelReply
from tests.loopback.discord.wire import Transcript
from tests.loopback.discord.world import DEFAULT_MESSAGE, REPLY_MESSAGE, THREAD_CREATED, World


class Posting:
    def __init__(self, world: World, transcript: Transcript, patience_s: float) -> None:
        self.world = world
        self.patience_s = patience_s
        self._told = transcript
        self.channel_replies: dict[int, ChannelReply] = {}
        self._installed: set[int] = set()
        self.owner = self.user("owner")
        self.guild = self.add_guild("loopback")

    async def wait(self, look: Callable[[], object], what: str, *, timeout_s: float | None = None) -> None:
        """Asks `look()` at every change until it is true. Raises AssertionError with what was seen."""
        wait_s = timeout_s or self.patience_s
        await self.world.pulse.until(look, timeout_s=wait_s, what=what, seen=self._told.tail)

    # People

    @property
    def bot(self) -> User:
        """The bot itself, as an author and for `permit` and `forbid`."""
        return self.world.bot

    def user(self, name: str, *, locale: str = "en-US", accepts_dms: bool = True) -> User:
        return self.world.add_user(User(self.world.ids.next(), name, locale, accepts_dms=accepts_dms))

    def other_bot(self, name: str) -> User:
        return self.world.add_user(User(self.world.ids.next(), name, is_bot=True))

    def webhook(self, name: str) -> User:
        """Its messages have a `webhook_id` and no member."""
        return self.world.add_user(User(self.world.ids.next(), name, is_bot=True, is_webhook=True))

    def nickname(self, user: User, nick: str) -> None:
        self.guild.nicks[user.id] = nick

    def give_role(self, user: User, role_id: int) -> None:
        self.guild.roles.setdefault(user.id, []).append(role_id)

    def leave(self, user: User, guild: Guild | None = None) -> None:
        (guild or self.guild).left.add(user.id)

    def join(self, user: User, guild: Guild | None = None) -> None:
        """`user` is back in a server that they left."""
        (guild or self.guild).left.discard(user.id)

    def _check_member(self, user: User, channel: Channel) -> None:
        """Raises AssertionError for a user who is not in the channel's server any more."""
        assert not channel.guild or user.id not in channel.guild.left, f"{user.name} left that server"

    def permit(self, user: User, more: Permission, where: Guild | Channel | None = None) -> None:
        """In a whole server, or (over that) in one channel and its threads."""
        where = where or self.guild
        if isinstance(where, Guild):
            where.granted[user.id] = where.granted.get(user.id, NOTHING) | more
        else:
            where.overwrites[user.id] = where.overwrites.get(user.id, Overwrite()).allowing(more)

    def forbid(self, user: User, less: Permission, channel: Channel) -> None:
        """Also the bot: without VIEW_CHANNEL it gets 50001 and no events, without SEND_MESSAGES 50013."""
        channel.overwrites[user.id] = channel.overwrites.get(user.id, Overwrite()).denying(less)

    def hide(self, channel: Channel, *, but_from: Sequence[User] = ()) -> None:
        """Let only these see a channel, and the bot."""
        assert channel.guild is not None
        channel.overwrites[channel.guild.id] = Overwrite().denying(Permission.VIEW_CHANNEL)
        for user in (*but_from, self.world.bot):
            self.permit(user, Permission.VIEW_CHANNEL, channel)

    # Places

    def add_guild(self, name: str, *, locale: str = "ja", bot_present: bool = True) -> Guild:
        guild = Guild(self.world.ids.next(), name, self.owner, locale, bot_present)
        guild.granted[self.world.bot.id] = OF_THE_BOT
        self.world.guilds[guild.id] = guild
        return guild

    def guild_channel(
        self, name: str = "general", *, guild: Guild | None = None, bot_present: bool = True
    ) -> Channel:
        """`bot_present=False`: a channel of the bot's server that the bot may not see."""
        told: dict[str, Any] = {"name": name, "guild": guild or self.guild, "bot_present": bot_present}
        return self.world.add_channel(ChannelKind.GUILD_TEXT, **told)

    def thread(
        self, parent: Channel, name: str = "thread", *, owner: User | None = None, private: bool = False
    ) -> Channel:
        """One that is there already; `start_thread` tells the bot. A private one has the bot as a member."""
        kind = ChannelKind.PRIVATE_THREAD if private else ChannelKind.PUBLIC_THREAD
        return self.world.add_channel(
            kind, name=name, guild=parent.guild, parent=parent, owner=owner, bot_present=parent.bot_present
        )

    def add_to_thread(self, user: User, thread: Channel) -> None:
        thread.members.add(user.id)

    def dm(self, user: User) -> Channel:
        """The DM between this user and the bot."""
        return self.world.dm(user)

    def group_dm(self, *users: User, name: str = "friends") -> Channel:
        """A private channel without the bot; commands come from the first user's installed app."""
        self._installed.update(user.id for user in users)
        return self.world.add_channel(ChannelKind.GROUP_DM, name=name, recipients=users, bot_present=False)

    def user_installed_channel(self, user: User, name: str = "elsewhere") -> Channel:
        """A channel of a server without the bot, which `user` brings along: no channel routes there."""
        self._installed.add(user.id)
        guild = self.add_guild(f"{name}-guild", bot_present=False)
        return self.world.add_channel(ChannelKind.GUILD_TEXT, name=name, guild=guild, bot_present=False)

    def messages(self, channel: Channel) -> list[Shown]:
        found = [m.shown for m in self.world.messages.values() if m.channel is channel and not m.deleted]
        if channel.kind is not ChannelKind.DM:
            return found
        [reader] = channel.recipients
        return [as_read(shown, self.world.commands, reader.locale) for shown in found]

    def _public(self, message: Shown | Message) -> Message:
        stored = self._stored(message)
        assert not stored.deleted, "that message was deleted"
        assert not stored.ephemeral, "that message is private"
        return stored

    def _stored(self, message: Shown | Message) -> Message:
        return message if isinstance(message, Message) else self.world.messages[message.id]

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
        self._check_location(user, channel)
        named = self.bot if mention is True else mention
        text = f"{named.mention} {content}".strip() if isinstance(named, User) else content
        target = self._public(reply_to) if reply_to is not None else None
        assert target is None or target.channel is channel, "that message stands elsewhere"
        kind = REPLY_MESSAGE if target else DEFAULT_MESSAGE
        said: dict[str, Any] = {"content": text, "kind": kind, "poll": poll, "stickers": stickers}
        message = self.world.compose_message(channel, user, reply_to=target, **said)
        message.embeds = [{"type": "rich", **embed} for embed in embeds]
        keep = self.world.keep(channel)
        message.attachments = [keep(file) for file in attachments]
        message.flags |= flags
        await self.world.post(message, {"parse": ["users", "roles", "everyone"], "replied_user": ping})
        return message

    async def forward(self, user: User, channel: Channel, message: Shown | Message) -> Message:
        """A forward: it shows that message as it is now, and says nothing itself."""
        self._check_location(user, channel)
        source = self._public(message)
        assert source.poll is None, "nobody can forward a poll"
        shown: dict[str, Any] = {"forwarded": source, "snapshot": source.take_snapshot()}
        forward = self.world.compose_message(channel, user, flags=HAS_SNAPSHOT, **shown)
        await self.world.post(forward, {"parse": []})
        return forward

    async def speak(
        self, user: User, channel: Channel, recording: File, *, reply_to: Shown | Message | None = None
    ) -> Message:
        """A voice message: one recording with its length and waveform, and neither text nor mention. A reply
        mentions the author replied to, as in `post`."""
        assert recording.content_type.startswith("audio/"), "a voice message is a recording"
        assert recording.duration_s is not None, "Discord's clients tell how long it lasts"
        said: dict[str, Any] = {"attachments": (recording,), "flags": IS_VOICE_MESSAGE}
        return await self.post(user, channel, "", reply_to=reply_to, **said)

    async def edit(self, user: User, message: Shown | Message, content: str) -> Message:
        """Only one's own; mentions are those of the new text, and a reply pings as much as it did."""
        stored = self._public(message)
        assert stored.author is user, f"{user.name} cannot edit a message of {stored.author.name}"
        allowed = {"parse": ["users", "roles", "everyone"], "replied_user": stored.pings_replied}
        draft = Draft(content, stored.embeds, stored.components, stored.attachments)
        await self.world.edit(stored, draft, allowed)
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
        wanted = ("MESSAGE_CREATE", str(self._stored(message).id))
        sent = await self.world.gateway.repeat(lambda event, data: (event, data.get("id")) == wanted)
        assert sent, "that message never went to a session that still lives"

    # What came of it

    def answer(self, message: Shown | Message) -> ChannelReply:
        """The bot's messages in answer to that one, maybe none yet; one object for each post."""
        post = self._stored(message)
        none_yet = ChannelReply(self.world, self._told, self.patience_s, post.author.locale, post)
        return self.channel_replies.setdefault(post.id, none_yet)

    async def reply_to(self, message: Shown | Message, *, timeout_s: float | None = None) -> ChannelReply:
        """Waits until the bot has begun to answer that message."""
        what, reply = "an answer in the channel", self.answer(message)
        return await reply.until(lambda reply: reply.messages, what, timeout_s=timeout_s)

    def _answered(self) -> list[ChannelReply]:
        """The answers to everybody's posts, those that no test asked for too."""
        posts = [m for m in list(self.world.messages.values()) if not m.author.is_bot]
        return [answer for answer in map(self.answer, posts) if answer.stored]

    # Threads and channels

    async def start_thread(
        self, user: User, channel: Channel, name: str = "thread", *, private: bool = False
    ) -> Channel:
        self._check_location(user, channel)
        thread = self.thread(channel, name, owner=user, private=private)
        await self.world.start_thread(thread)
        if not private:
            told = self.world.compose_message(channel, user, kind=THREAD_CREATED, content=name, thread=thread)
            await self.world.post(told, {"parse": []})
        return thread

    async def rename_thread(self, thread: Channel, name: str) -> None:
        await self.world.rename_thread(thread, name)

    async def delete_channel(self, channel: Channel) -> None:
        """A channel with its threads, or a thread."""
        assert channel.guild is not None, "only channels of a server can be deleted"
        await self.world.remove_channel(channel)

    def _moderates(self, user: User, channel: Channel) -> bool:
        return channel.guild is not None and Permission.MANAGE_MESSAGES in channel.permissions_of(user.id)

    def _check_location(self, user: User, channel: Channel) -> None:
        self._check_member(user, channel)
        there = channel.kind not in (ChannelKind.DM, ChannelKind.GROUP_DM) or user in channel.recipients
        assert there, f"{user.name} is not in that private channel"
        assert self.world.channels.get(channel.id) is channel, "that channel was deleted"
