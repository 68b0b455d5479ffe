"""What members may do, in the bits that a chat bot has to care about.

Source: "Permissions" of the documentation. A channel's overwrites stand above what the server grants, and a
thread has those of its parent.
"""

from dataclasses import dataclass
from enum import IntFlag


class Permission(IntFlag):
    ADMINISTRATOR = 1 << 3
    MANAGE_GUILD = 1 << 5
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MANAGE_THREADS = 1 << 34
    SEND_MESSAGES_IN_THREADS = 1 << 38


NOTHING = Permission(0)
EVERYTHING = Permission((1 << 50) - 1)
OF_THE_BOT = EVERYTHING & ~Permission.ADMINISTRATOR
"""An administrator's permissions could not be taken away channel by channel."""

READABLE = (
    Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.READ_MESSAGE_HISTORY
    | Permission.SEND_MESSAGES_IN_THREADS
)
"""What every member may do."""


@dataclass(frozen=True, slots=True)
class Overwrite:
    """What a channel changes for one member."""

    allow: Permission = NOTHING
    deny: Permission = NOTHING

    def allowing(self, more: Permission) -> "Overwrite":
        return Overwrite(self.allow | more, self.deny & ~more)

    def denying(self, more: Permission) -> "Overwrite":
        return Overwrite(self.allow & ~more, self.deny | more)

    def over(self, granted: Permission) -> Permission:
        return (granted & ~self.deny) | self.allow
