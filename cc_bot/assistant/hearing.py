"""Hearing: the recordings of a question are written down before its turn begins, and are not kept.

What was heard is the question's text from then on, below what was typed. It is put on record before the model
is asked: where the program is killed in between, nobody pays for it twice.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from cc_bot.assistant.rounds import Emit
from cc_bot.assistant.turn import TurnRequest
from cc_bot.context.recordings import BYTES_A_SECOND, says_nothing
from cc_bot.domain.errors import (
    HearingFailed,
    HearingNotSetUp,
    InputError,
    ModelError,
    ModelNotFound,
    ModelRefusedKey,
    ModelRefusedRequest,
    NobodyListens,
    NothingHeard,
    RecordingRefused,
    StorageError,
)
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Attachment, Message, with_heard
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import FilesLeftOut, Notice
from cc_bot.llm.speech import Transcriber
from cc_bot.spending import UsageRecorder
from cc_bot.stores import ChannelStore, TurnLedger

NOT_HEARD = "[not shown, it could not be heard: {name}]"
"""What the model reads of a recording that was not heard, where there is something else to be answered."""

_log = structlog.get_logger(__name__)

Outcome = str | InputError | HearingFailed
"""What was heard in a recording, or why nothing was."""


@dataclass(eq=False, slots=True)
class Hearing:
    transcriber: Transcriber | None
    """None: nobody listens here."""
    ledger: TurnLedger
    channels: ChannelStore
    _told: bool = False
    """Whether the operator was told that somebody wanted to be heard."""

    async def hear(self, request: TurnRequest, recorder: UsageRecorder, emit: Emit) -> TurnRequest:
        """The request with what its recordings say. One of several questions, or of several recordings, goes
        without what was not heard, and its readers are told so.

        Raises an InputError or HearingFailed when nothing of the only question was heard.
        """
        if any(_recordings(question) and not question.heard for question in request.questions):
            emit(Notice("hearing"))
        async with asyncio.TaskGroup() as group:  # together they take no longer than one may
            hearing = [
                group.create_task(self._hear_one(request, question, recorder))
                for question in request.questions
            ]
        heard = [task.result() for task in hearing]
        if len(heard) == 1 and heard[0].failure:
            raise heard[0].failure
        if left_out := tuple(name for one in heard for name in one.missed):
            emit(FilesLeftOut(left_out))
        return replace(request, questions=tuple(one.question for one in heard))

    async def _hear_one(
        self, request: TurnRequest, question: Message, recorder: UsageRecorder
    ) -> "_HeardQuestion":
        """Hear the recordings of one question, and put on record what they say."""
        if question.heard:
            return _HeardQuestion(replace(question, attachments=_others(question)))
        language = request.options.locale
        async with asyncio.TaskGroup() as group:
            hearing = [
                group.create_task(self._outcome(recording, language, recorder))
                for recording in _recordings(question)
            ]
        read = _with_outcomes(question, [task.result() for task in hearing])
        if read.question.heard:
            await self._note(request, question, read.question.heard)
        return read

    async def _outcome(self, recording: Attachment, language: Locale, recorder: UsageRecorder) -> Outcome:
        if self.transcriber is None:
            self._tell_operator()
            return NobodyListens()
        try:
            about_s = recording.seconds or len(recording.data) / BYTES_A_SECOND
            with recorder.sound(self.transcriber.name, about_s) as sound:
                heard = await self.transcriber.transcribe(recording, language)
                sound.seconds = max(recording.seconds, heard.seconds) or about_s
        except ModelError as error:
            return _meaning(error)
        return NothingHeard() if says_nothing(heard.text, sound.seconds) else heard.text

    async def _note(self, request: TurnRequest, question: Message, heard: str) -> None:
        """Put it on record. Trouble here ends no turn: it would be heard once more after a kill."""
        try:
            if not isinstance(request.key, SessionKey):
                await self.channels.note_heard(question, heard)
            elif request.options.entry:
                await self.ledger.note_heard(request.options.entry, request.key.user_id, heard)
        except StorageError as error:
            _log.warning("heard_not_noted", error=type(error).__name__)

    def _tell_operator(self) -> None:
        if not self._told:
            _log.warning("nobody_listens", setting="CC_BOT_TRANSCRIBE_MODEL")
        self._told = True


def _recordings(question: Message) -> Sequence[Attachment]:
    return [file for file in question.attachments if file.is_recording]


def _others(question: Message) -> tuple[Attachment, ...]:
    return tuple(file for file in question.attachments if not file.is_recording)


@dataclass(frozen=True, slots=True)
class _HeardQuestion:
    question: Message
    """With what was heard in place of its recordings."""
    missed: tuple[str, ...] = ()
    """The names of those that were not heard."""
    failure: InputError | HearingFailed | None = None
    """Why, where that is all of them."""


def _with_outcomes(question: Message, outcomes: Sequence[Outcome]) -> _HeardQuestion:
    recordings = _recordings(question)
    pairs = [*zip(recordings, outcomes, strict=True)]
    heard = "\n".join(outcome for _, outcome in pairs if isinstance(outcome, str))
    missed = tuple(recording.name for recording, outcome in pairs if not isinstance(outcome, str))
    notes = (NOT_HEARD.format(name=" ".join(name.split())) for name in missed)
    read = replace(
        question,
        content=with_heard("\n".join(filter(None, (question.content, *notes))), heard),
        heard=heard,
        attachments=_others(question),
        tainted=question.tainted or not all(recording.own_words for recording in recordings),
    )
    failures = [outcome for outcome in outcomes if not isinstance(outcome, str)]
    return _HeardQuestion(read, missed, failures[0] if failures and not heard else None)


def _meaning(error: ModelError) -> InputError | HearingFailed:
    match error:
        case ModelRefusedKey() | ModelNotFound():
            return HearingNotSetUp()
        case ModelRefusedRequest():
            return RecordingRefused()
        case _:
            return HearingFailed()
