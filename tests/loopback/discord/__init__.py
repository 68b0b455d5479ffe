"""A Discord on 127.0.0.1: REST v10 and gateway v10 over real sockets, strict where Discord is strict.

Nothing of hikari is used: the double speaks the protocol, not the library. How to use it: ../README.md.
"""

from tests.loopback.discord.actions import Choice
from tests.loopback.discord.channel_reply import ChannelReply
from tests.loopback.discord.channels import Channel, ChannelKind, Context
from tests.loopback.discord.commands import Command
from tests.loopback.discord.driver import LoopbackDiscord
from tests.loopback.discord.gateway import Intent
from tests.loopback.discord.messages import Attachment, Button, File, Message, Poll, Shown
from tests.loopback.discord.permissions import Permission
from tests.loopback.discord.rate import Allowance
from tests.loopback.discord.reply import Reply
from tests.loopback.discord.transcript import Entry, Violation
from tests.loopback.discord.users import Guild, User
from tests.loopback.discord.world import Ping

__all__ = [
    "Allowance",
    "Attachment",
    "Button",
    "Channel",
    "ChannelKind",
    "ChannelReply",
    "Choice",
    "Command",
    "Context",
    "Entry",
    "File",
    "Guild",
    "Intent",
    "LoopbackDiscord",
    "Message",
    "Permission",
    "Ping",
    "Poll",
    "Reply",
    "Shown",
    "User",
    "Violation",
]
