"""A Discord on 127.0.0.1: REST v10 and gateway v10 over real sockets, strict where Discord is strict.

Nothing of hikari is used: the double speaks the protocol, not the library. How to use it: ../README.md.
"""

from tests.loopback.discord.channels import Channel, Guild, Permission, User
from tests.loopback.discord.driver import LoopbackDiscord
from tests.loopback.discord.gateway import Intent
from tests.loopback.discord.messages import File, Message, Poll, Shown
from tests.loopback.discord.watched import ChannelReply, Reply
from tests.loopback.discord.wire import Allowance, Entry

__all__ = [
    "Allowance",
    "Channel",
    "ChannelReply",
    "Entry",
    "File",
    "Guild",
    "Intent",
    "LoopbackDiscord",
    "Message",
    "Permission",
    "Poll",
    "Reply",
    "Shown",
    "User",
]
