"""Naming users, roles, channels and servers in a command's text, and showing them again.

An option of Discord's own kinds takes only what is in the server that the command is given in. Owners also
decide about other servers, and from their DMs, so they write a mention or an id.
"""

import re
from dataclasses import dataclass
from typing import Final

from cc_bot.domain.access import Subject
from cc_bot.texts import Texts

_MENTION: Final = re.compile(r"<(@!?|@&|#)(\d{1,19})>")
_SIGNS: Final[dict[str, Subject]] = {"@": "user", "@!": "user", "@&": "role", "#": "channel"}
_LARGEST: Final = 2**63


@dataclass(frozen=True, slots=True)
class Named:
    """A user, role, channel or server."""

    subject: Subject
    id: int

    def shown(self, words: Texts) -> str:
        """As Discord shows it by its name, where it has a mention."""
        match self.subject:
            case "user":
                return f"<@{self.id}>"
            case "role":
                return f"<@&{self.id}>"
            case "channel":
                return f"<#{self.id}>"
            case "guild":
                return words.admin.guild.format(id=self.id)

    def spoken_of(self, words: Texts) -> str:
        """The same within a sentence."""
        shown = self.shown(words)
        return words.admin.person.format(mention=shown) if self.subject == "user" else shown


def named(text: str, kind: Subject | None, guild_id: int | None) -> Named | None:
    """What a mention or an id of a `kind` says; a server without an id is the one asked in. None for what
    can't be told, or says two things."""
    text = text.strip()
    if mention := _MENTION.fullmatch(text):
        found = Named(_SIGNS[mention[1]], int(mention[2]))
        return found if kind in (None, found.subject) and 0 < found.id < _LARGEST else None
    if kind is None:
        return None
    if not text and kind == "guild" and guild_id is not None:
        return Named(kind, guild_id)
    if re.fullmatch(r"[0-9]{1,19}", text) and 0 < int(text) < _LARGEST:
        return Named(kind, int(text))
    return None
