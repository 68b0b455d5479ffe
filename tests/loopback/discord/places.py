"""People, what they may do, and the places where they meet."""

from collections.abc import Callable, Sequence

from tests.loopback.discord.channels import Channel, ChannelKind
from tests.loopback.discord.command_mentions import as_read
from tests.loopback.discord.messages import Message, Shown
from tests.loopback.discord.permissions import NOTHING, OF_THE_BOT, Overwrite, Permission
from tests.loopback.discord.transcript import Transcript
from tests.loopback.discord.users import Guild, User
from tests.loopback.discord.world import World


class Places:
    def __init__(self, world: World, transcript: Transcript, patience_s: float) -> None:
        self.world = world
        self.patience_s = patience_s
        self._told = transcript
        self._installed: set[int] = set()
        self.owner = self.user("owner")
        self.guild = self.add_guild("loopback")

    async def wait(self, look: Callable[[], object], what: str, *, timeout_s: float | None = None) -> None:
        """Asks `look()` at every change until it is true. Raises AssertionError with what was seen."""
        wait_s = timeout_s or self.patience_s
        await self.world.pulse.until(lambda: bool(look()), timeout_s=wait_s, what=what, seen=self._told.tail)

    # People

    @property
    def bot(self) -> User:
        """The bot itself, as an author and for `permit` and `forbid`."""
        return self.world.bot

    def user(self, name: str, *, locale: str = "en-US", accepts_dms: bool = True) -> User:
        return self.world.add_user(User(self.world.ids.next(), name, locale, accepts_dms=accepts_dms))

    def other_bot(self, name: str) -> User:
        """Somebody else's bot; it posts like a user, and its author says `bot`."""
        return self.world.add_user(User(self.world.ids.next(), name, is_bot=True))

    def webhook(self, name: str) -> User:
        """Its messages have a `webhook_id` and no member."""
        return self.world.add_user(User(self.world.ids.next(), name, is_bot=True, is_webhook=True))

    def nickname(self, user: User, nick: str | None, guild: Guild | None = None) -> None:
        nicks = (guild or self.guild).nicks
        nicks.pop(user.id, None)
        if nick is not None:
            nicks[user.id] = nick

    def give_role(self, user: User, role_id: int, guild: Guild | None = None) -> None:
        """One that grants nothing, and of which no event tells."""
        (guild or self.guild).roles.setdefault(user.id, []).append(role_id)

    def leave(self, user: User, guild: Guild | None = None) -> None:
        """`user` leaves a server, or is banned from it: without an event, for a bot that does not ask for
        members is told none."""
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

    def install(self, user: User) -> None:
        """`user` installs the app for themselves, too."""
        self._installed.add(user.id)

    # Places

    def add_guild(self, name: str, *, locale: str = "ja", bot_present: bool = True) -> Guild:
        """Before the bot starts; it is told about guilds when it connects."""
        guild = Guild(self.world.ids.next(), name, self.owner, locale, bot_present)
        guild.granted[self.world.bot.id] = OF_THE_BOT
        self.world.guilds[guild.id] = guild
        return guild

    def guild_channel(
        self,
        name: str = "general",
        *,
        guild: Guild | None = None,
        bot_present: bool = True,
        kind: ChannelKind = ChannelKind.GUILD_TEXT,
    ) -> Channel:
        """`bot_present=False`: a channel of the bot's server that the bot may not see."""
        return self.world.add_channel(kind, name=name, guild=guild or self.guild, bot_present=bot_present)

    def thread(
        self, parent: Channel, name: str = "thread", *, owner: User | None = None, private: bool = False
    ) -> Channel:
        """One that is there already; `start_thread` tells the bot. A private one has the bot as a member."""
        kind = ChannelKind.PRIVATE_THREAD if private else _thread_kind(parent)
        return self.world.add_channel(
            kind, name=name, guild=parent.guild, parent=parent, owner=owner, bot_present=parent.bot_present
        )

    def add_to_thread(self, user: User, thread: Channel) -> None:
        """`user` becomes a member of a thread, without which nobody sees a private one."""
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
        """What is in that channel now, oldest first, private (ephemeral) messages included. In a DM as its
        user reads it, elsewhere as it was sent."""
        found = [m.shown for m in self.world.messages.values() if m.channel is channel and not m.deleted]
        if channel.kind is not ChannelKind.DM:
            return found
        [reader] = channel.recipients
        return [as_read(shown, self.world.commands, reader.locale) for shown in found]

    def _stored(self, message: Shown | Message) -> Message:
        return message if isinstance(message, Message) else self.world.messages[message.id]


def _thread_kind(parent: Channel) -> ChannelKind:
    announces = parent.kind is ChannelKind.GUILD_ANNOUNCEMENT
    return ChannelKind.ANNOUNCEMENT_THREAD if announces else ChannelKind.PUBLIC_THREAD
