"""Recordings and spoken answers, if the feature `voice` is there."""

from typing import Protocol

from cc_bot.chat.rounds import Emit
from cc_bot.chat.spending import UsageRecorder
from cc_bot.chat.turn import TurnRequest
from cc_bot.domain.message import Message
from cc_bot.domain.usage import UsageSubject


class Hearing(Protocol):
    def is_needed(self, request: TurnRequest) -> bool:
        """Return whether a request has recordings, including those already transcribed."""
        ...

    async def hear(self, request: TurnRequest, recorder: UsageRecorder, emit: Emit) -> TurnRequest:
        """Return the request with transcripts in place of its recordings. If other questions or recordings
        are left, failed ones are skipped and reported. Raises an InputError or HearingFailed if nothing of
        the only question could be transcribed."""
        ...


class Speaking(Protocol):
    async def read_aloud(self, answer: Message, payer: UsageSubject) -> bytes | None:
        """Return the answer as an MP3 file; None if there is nothing to read aloud or it failed. Errors are
        only logged: the user has the answer."""
        ...
