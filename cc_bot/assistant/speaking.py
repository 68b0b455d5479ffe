"""Speaking: reads short answers aloud for users who chose that.

The user already has the answer, so errors are only logged.
"""

import re
from dataclasses import dataclass
from math import ceil
from typing import Final

import structlog

from cc_bot.context.recordings import probe_audio
from cc_bot.domain.errors import LimitReached, ModelError, StorageError
from cc_bot.domain.message import Message, is_blank
from cc_bot.domain.usage import TOKENS_A_SECOND, UsageSubject
from cc_bot.llm.speech import Speaker
from cc_bot.spending import Spending

MAX_LENGTH: Final = 1000
"""Characters; a longer answer is faster to read than to hear."""
MAX_BYTES: Final = 10 * 2**20
"""Discord's upload limit for bots."""
_CHARACTERS_A_SECOND: Final = 5
"""Japanese read aloud, approximately."""

_ADDRESS: Final = re.compile(r"<?https?://[^\s<>()]+>?")
_MARKS: Final = re.compile(r"[*_~`#>|\[\]]|\(\)|^[ \t]*-[ \t]", re.MULTILINE)
_CODE: Final = "```"

_log = structlog.get_logger(__name__)


def aloud(text: str) -> str:
    """The spoken text of an answer, without markup and addresses; empty if it is too long or contains
    code."""
    if len(text) > MAX_LENGTH or _CODE in text:
        return ""
    words = _MARKS.sub("", _ADDRESS.sub("", text)).strip()
    return "" if is_blank(words) else words


@dataclass(eq=False, slots=True)
class Speaking:
    speaker: Speaker | None
    """None: speech is not configured."""
    spending: Spending

    async def read_aloud(self, answer: Message, payer: UsageSubject) -> bytes | None:
        """Return the answer as an MP3 file; None if there is nothing to read aloud or it failed."""
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
                known = probe_audio(data)
                sound.seconds = (known.seconds if known else None) or about_s
        if known is None or known.content_type != "audio/mpeg" or len(data) > MAX_BYTES:
            _log.info("answer_not_spoken", error="no sound" if known is None else known.content_type)
            return None
        return data
