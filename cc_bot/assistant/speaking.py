"""Speaking: short answers are read aloud as well, for those who chose that.

It comes on top of an answer that its user has by then: whatever goes wrong here is on record, and said to
nobody.
"""

import re
from dataclasses import dataclass
from math import ceil
from typing import Final

import structlog

from cc_bot.context.recordings import sound_of
from cc_bot.domain.errors import LimitReached, ModelError, StorageError
from cc_bot.domain.limits import UsageSubject
from cc_bot.domain.message import Message, is_blank
from cc_bot.domain.usage import TOKENS_A_SECOND
from cc_bot.llm.speech import Speaker
from cc_bot.spending import Spending

LONGEST: Final = 1000
"""Characters of an answer: what is longer is read faster than it is heard."""
LARGEST_BYTES: Final = 10 * 2**20
"""Discord takes no larger file from a bot."""
_CHARACTERS_A_SECOND: Final = 5
"""Of Japanese that is read aloud, about."""

_ADDRESS: Final = re.compile(r"<?https?://[^\s<>()]+>?")
_MARKS: Final = re.compile(r"[*_~`#>|\[\]]|\(\)|^[ \t]*-[ \t]", re.MULTILINE)
_CODE: Final = "```"

_log = structlog.get_logger(__name__)


def aloud(text: str) -> str:
    """Return what of an answer is read aloud: its words, without marks and addresses; nothing of one that is
    too long, or shows code."""
    if len(text) > LONGEST or _CODE in text:
        return ""
    words = _MARKS.sub("", _ADDRESS.sub("", text)).strip()
    return "" if is_blank(words) else words


@dataclass(eq=False, slots=True)
class Speaking:
    speaker: Speaker | None
    """None: nobody reads aloud here."""
    spending: Spending

    async def read_aloud(self, answer: Message, payer: UsageSubject) -> bytes | None:
        """Return an answer as an MP3 file; None where there is nothing to read aloud, or it did not work."""
        text = aloud(answer.content) if answer.status == "complete" else ""
        if self.speaker is None or not text:
            return None
        try:
            return await self._speak(self.speaker, text, payer)
        except (LimitReached, ModelError, StorageError) as error:
            _log.info("answer_not_spoken", error=type(error).__name__)
            return None

    async def _speak(self, speaker: Speaker, text: str, payer: UsageSubject) -> bytes | None:
        about_s = ceil(len(text) / _CHARACTERS_A_SECOND)
        tokens = TOKENS_A_SECOND * about_s
        async with self.spending.admit(payer, "speech", model=speaker.name, tokens=tokens) as recorder:
            with recorder.sound(speaker.name, about_s) as sound:
                data = await speaker.speak(text)
                known = sound_of(data)
                sound.seconds = (known.seconds if known else None) or about_s
        if known is None or known.content_type != "audio/mpeg" or len(data) > LARGEST_BYTES:
            _log.info("answer_not_spoken", error="no sound" if known is None else known.content_type)
            return None
        return data
