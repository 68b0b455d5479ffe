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
        alone, left_out, questions = len(request.questions) == 1, list[str](), list[Message]()
        for question in request.questions:
            outcomes = await self._outcomes(question, request.options.locale, recorder)
            errors = [outcome for outcome in outcomes if not isinstance(outcome, str)]
            if alone and errors and len(errors) == len(outcomes):
                raise errors[0]
            read, missed = _with_outcomes(question, outcomes)
            left_out += missed
            questions.append(read)
            if read.heard != question.heard:
                await self._note(request, question, read.heard)
        if left_out:
            emit(FilesLeftOut(tuple(left_out)))
        return replace(request, questions=tuple(questions))

    async def _outcomes(
        self, question: Message, language: Locale, recorder: UsageRecorder
    ) -> Sequence[Outcome]:
        """Hear all of a question's recordings side by side: together they take no longer than one may."""
        if question.heard:
            return ()
        async with asyncio.TaskGroup() as group:
            hearing = [
                group.create_task(self._outcome(recording, language, recorder))
                for recording in _recordings(question)
            ]
        return [task.result() for task in hearing]

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


def _with_outcomes(question: Message, outcomes: Sequence[Outcome]) -> tuple[Message, tuple[str, ...]]:
    """The question with what was heard in place of its recordings, and the names of those that were not."""
    recordings = _recordings(question)
    rest = tuple(file for file in question.attachments if not file.is_recording)
    if question.heard:
        return replace(question, attachments=rest), ()
    pairs = [*zip(recordings, outcomes, strict=True)]
    heard = "\n".join(outcome for _, outcome in pairs if isinstance(outcome, str))
    missed = tuple(recording.name for recording, outcome in pairs if not isinstance(outcome, str))
    notes = (NOT_HEARD.format(name=" ".join(name.split())) for name in missed)
    read = replace(
        question,
        content=with_heard("\n".join(filter(None, (question.content, *notes))), heard),
        heard=heard,
        attachments=rest,
        tainted=question.tainted or not all(recording.own_words for recording in recordings),
    )
    return read, missed


def _meaning(error: ModelError) -> InputError | HearingFailed:
    match error:
        case ModelRefusedKey() | ModelNotFound():
            return HearingNotSetUp()
        case ModelRefusedRequest():
            return RecordingRefused()
        case _:
            return HearingFailed()
