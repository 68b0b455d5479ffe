"""Facts: what the bot itself states about an answer, in an embed of the answer's last message.

A message's content is the model's words or the bot's, never both. What a model writes goes into contents
alone, and no link in one is shown with a preview (links.py): so an embed of this look is made by code, from
committed rows and from how the turn ended, and no text can pass for one, whatever characters it is made of.
A canvas is made of embeds too, in a message of its own and in another colour, which no model chooses.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import hikari

from cc_bot.discord.pages.split import utf16_length

FACTS_COLOUR: Final = 0x2D7D46
FACTS_CHARACTERS: Final = 4096
""""Embed Limits" of Discord's documentation of messages: a description's. Of all embeds it takes 6000."""

FACT_ID: Final = "fact:"
"""What the custom ids of such buttons begin with."""

_SMALL_PRINT: Final = "-# "
_TIME: Final = re.compile(r"<t:(\d{1,11})(?::\w)?>")
_ESCAPED: Final = re.compile(r"\\([^0-9A-Za-z\s])")


@dataclass(frozen=True, slots=True)
class Facts:
    """Each a line without line breaks, but for notices, as it is to be shown: Markdown, in their reader's
    language."""

    receipts: tuple[str, ...] = ()
    """What was done, by committed rows."""
    notices: tuple[str, ...] = ()
    """How the answer ended, if not as meant, and what else its reader should know of it. In small print."""
    activity: str = ""
    """While the answer is on its way: what is going on. In small print, the last."""
    in_buttons: bool = False
    """Whether they stand in buttons that can't be pressed, where the bot may not post embeds."""

    def __bool__(self) -> bool:
        return bool(self.receipts or self.notices or self.activity)

    def noting(self, sentence: str) -> "Facts":
        """The same with one notice more."""
        return replace(self, notices=(*self.notices, sentence))

    @property
    def description(self) -> str:
        """What the embed says; a line for which there is no room is left out."""
        text = ""
        for line in self._lines():
            longer = f"{text}\n{line}" if text else line
            if utf16_length(longer) > FACTS_CHARACTERS:
                break
            text = longer
        return text

    def embeds(self) -> list[hikari.Embed]:
        """One embed, or none where there is nothing to state."""
        if not self or self.in_buttons:
            return []
        return [hikari.Embed(description=self.description, colour=FACTS_COLOUR)]

    def labels(self) -> tuple[str, ...]:
        """What the buttons say that stand for an embed; none where that is shown. They take no Markdown."""
        return tuple(map(_plain, self._lines())) if self.in_buttons else ()

    @classmethod
    def read(cls, embeds: Sequence[hikari.Embed]) -> "Facts":
        """What a message of the bot's own states. A preview that Discord made of a link has that link."""
        own = (each for each in embeds if each.colour == FACTS_COLOUR and not each.url)
        lines = [line for embed in own for line in (embed.description or "").split("\n") if line]
        return cls(
            tuple(line for line in lines if not line.startswith(_SMALL_PRINT)),
            tuple(line.removeprefix(_SMALL_PRINT) for line in lines if line.startswith(_SMALL_PRINT)),
        )

    def _lines(self) -> Iterator[str]:
        yield from self.receipts
        for notice in (*self.notices, self.activity):
            yield from (_SMALL_PRINT + line for line in notice.splitlines())


def _plain(line: str) -> str:
    text = _TIME.sub(lambda time: f"{datetime.fromtimestamp(int(time[1]), UTC):%Y-%m-%d %H:%M UTC}", line)
    return _ESCAPED.sub(r"\1", text.removeprefix(_SMALL_PRINT))


NO_FACTS: Final = Facts()
