"""The roles of those who write: only a message tells of them, and it may be answered after others."""

from cc_bot.discord.recent import Recent

REMEMBERED = 5000
"""Members whose roles are known at a time."""


class SeenRoles:
    def __init__(self, *, remembered: int = REMEMBERED) -> None:
        self._roles = Recent[tuple[int, int], tuple[int, ...]](remembered)

    def note(self, guild_id: int, user_id: int, role_ids: tuple[int, ...]) -> None:
        """As of the newest message."""
        self._roles[guild_id, user_id] = role_ids

    def of(self, guild_id: int | None, user_id: int) -> tuple[int, ...] | None:
        """None where no message has told, as after a start."""
        return None if guild_id is None else self._roles.get((guild_id, user_id))
