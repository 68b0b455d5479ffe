"""Facts: what the bot itself states about an answer, in an embed of the answer's last message.

A message's content is the model's words or the bot's, never both. What a model writes goes into contents
alone, and no link in one is shown with a preview (links.py): so an embed of this look is made by code, from
committed rows and from how the turn ended, and no text can pass for one, whatever characters it is made of.
A canvas is made of embeds too, in a message of its own and in another colour, which no model chooses.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

import hikari

from cc_bot.discord.pages.split import utf16_length
from cc_bot.domain.locale import Locale
from cc_bot.texts.commands import plainly
from cc_bot.texts.naming import Show, without_mentions

FACTS_COLOUR: Final = 0x2D7D46
FACTS_CHARACTERS: Final = 4096
""""Embed Limits" of Discord's documentation of messages: a description's. Of all embeds it takes 6000."""

FACT_ID: Final = "fact:"
"""What the custom ids of such buttons begin with."""

SMALL_LINES: Final = 2
"""At most, under an answer: what there is to say beyond them shares a line with something else."""

_SMALL_PRINT: Final = "-# "
_BETWEEN: Final = " ・ "
"""Two notices on a line."""
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
    locale: Locale = field(default=Locale.EN, compare=False)
    """The language of commands' names in such buttons, which show no mentions."""

    def __bool__(self) -> bool:
        return bool(self.receipts or self.notices or self.activity)

    def noting(self, sentence: str) -> "Facts":
        """The same with one notice more."""
        return replace(self, notices=(*self.notices, sentence))

    @property
    def description(self) -> str:
        """What the embed says; a line for which there is no room is left out."""
        text = ""
        for line in (*self.receipts, *(_SMALL_PRINT + line for line in self._small_print())):
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
        if not self.in_buttons:
            return ()
        named = plainly(self.locale)
        return tuple(_plain(line, named) for line in (*self.receipts, *self._told()))

    @classmethod
    def read(cls, embeds: Sequence[hikari.Embed], locale: Locale = Locale.EN) -> "Facts":
        """What a message of the bot's own states. A preview that Discord made of a link has that link."""
        own = (each for each in embeds if each.colour == FACTS_COLOUR and not each.url)
        lines = [line for embed in own for line in (embed.description or "").split("\n") if line]
        small = [line.removeprefix(_SMALL_PRINT) for line in lines if line.startswith(_SMALL_PRINT)]
        if len(small) == SMALL_LINES:  # fewer have not been joined
            small = [notice for line in small for notice in line.split(_BETWEEN)]
        receipts = tuple(line for line in lines if not line.startswith(_SMALL_PRINT))
        return cls(receipts, tuple(small), locale=locale)

    def _told(self) -> list[str]:
        return [line for notice in (*self.notices, self.activity) for line in notice.splitlines()]

    def _small_print(self) -> Sequence[str]:
        """The notices in their order, in lines that are about as long as each other."""
        told = self._told()
        if len(told) <= SMALL_LINES:
            return told
        ways = ((_BETWEEN.join(told[:at]), _BETWEEN.join(told[at:])) for at in range(1, len(told)))
        return min(ways, key=lambda way: max(map(utf16_length, way)))


def _plain(line: str, named: Show) -> str:
    text = without_mentions(line, named)
    text = _TIME.sub(lambda time: f"{datetime.fromtimestamp(int(time[1]), UTC):%Y-%m-%d %H:%M UTC}", text)
    return _ESCAPED.sub(r"\1", text)


NO_FACTS: Final = Facts()
