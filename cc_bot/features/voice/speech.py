"""Speech: transcribes the recordings of questions, and reads short answers aloud. Recordings are transcribed
before their turn begins, and are not stored. The transcript is appended to the question and stored before
the model is asked, so that a crash costs no second transcription."""

import asyncio
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

import structlog

from cc_bot.chat.context.recordings import BYTES_PER_AUDIO_SECOND, MAX_SECONDS, probe_audio
from cc_bot.chat.spending import Spending, UsageRecorder
from cc_bot.chat.stores.channels import ChannelStore
from cc_bot.chat.stores.ledger import TurnLedger
from cc_bot.chat.turn import Emit, Hearing, Speaking, TurnRequest
from cc_bot.domain import errors
from cc_bot.domain.message import Attachment, Message, is_blank, with_heard
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import FilesLeftOut, Notice
from cc_bot.domain.usage import TOKENS_PER_AUDIO_SECOND, UsageSubject
from cc_bot.features.voice.models import OpenAISpeaker, OpenAITranscriber

NOT_HEARD = "[not shown, it could not be heard: {name}]"
"""Shown to the model in place of a recording, if there is something else to answer."""

_log = structlog.get_logger(__name__)

Outcome = str | errors.InputError | errors.TurnError


@dataclass(eq=False, slots=True)
class TranscribedHearing(Hearing):
    transcriber: OpenAITranscriber | None
    ledger: TurnLedger
    channels: ChannelStore
    _told: bool = False

    def is_needed(self, request: TurnRequest) -> bool:
        pointed_at = (file for reference in request.references for file in reference.attachments)
        return any(file.is_recording for file in pointed_at) or any(map(_recordings, request.questions))

    async def hear(self, request: TurnRequest, recorder: UsageRecorder, emit: Emit) -> TurnRequest:
        if any(_recordings(question) and not question.heard for question in request.questions):
            emit(Notice("hearing"))
        async with asyncio.TaskGroup() as group:  # concurrent: the time limit is that of one
            hearing = [
                group.create_task(self._hear_one(request, question, recorder))
                for question in request.questions
            ]
        heard = [task.result() for task in hearing]
        if len(heard) == 1 and heard[0].failure:
            raise heard[0].failure
        questions = tuple(one.question for one in heard)
        if request.references:  # of a question asked again; its own text is stored
            pointing = Message("user", "", references=request.references)
            heard.append(await self._hear_one(request, pointing, recorder))
        if left_out := tuple(name for one in heard for name in one.missed):
            emit(FilesLeftOut(left_out))
        references = heard[-1].question.references if request.references else ()
        return replace(request, questions=questions, references=references)

    async def _hear_one(
        self, request: TurnRequest, question: Message, recorder: UsageRecorder
    ) -> "_HeardQuestion":
        if question.heard:
            question = replace(
                question,
                attachments=tuple(f for f in question.attachments if not f.is_recording or f.source_id),
            )
        language, left_s = request.options.locale, float(MAX_SECONDS)
        async with asyncio.TaskGroup() as group:
            hearing = []
            for recording in _recordings(question):
                left_s -= _about_s(recording)
                hearing.append(
                    group.create_task(self._outcome(recording, language, recorder, fits=left_s >= 0))
                )
        read = _with_outcomes(question, [task.result() for task in hearing])
        if read.question.heard and not question.heard:
            await self._note(request, question, read.question.heard)
        return read

    async def _outcome(
        self, recording: Attachment, language: Locale, recorder: UsageRecorder, *, fits: bool
    ) -> Outcome:
        if self.transcriber is None:
            if not self._told:
                _log.warning("nobody_listens", setting="CC_BOT_TRANSCRIBE_MODEL")
            self._told = True
            return errors.NobodyListens()
        if not fits:
            return errors.RecordingTooLong(minutes=MAX_SECONDS // 60)
        try:
            about_s = _about_s(recording)
            with recorder.sound(self.transcriber.name, about_s) as sound:
                heard = await self.transcriber.transcribe(recording, language)
                sound.seconds = max(recording.seconds, heard.seconds) or about_s
        except errors.ModelError as error:
            return _meaning(errors.forget_frames(error))
        return errors.NothingHeard() if is_silence_artifact(heard.text, sound.seconds) else heard.text

    async def _note(self, request: TurnRequest, question: Message, heard: str) -> None:
        """An error must not end the turn: it only means another transcription after a crash."""
        try:
            if not isinstance(request.key, SessionKey):
                await self.channels.note_heard(request.key, question, heard)
            elif request.options.entry:
                await self.ledger.note_heard(request.options.entry, request.key.user_id, heard)
        except errors.StorageError as error:
            _log.warning("heard_not_noted", error=type(error).__name__)


def _about_s(recording: Attachment) -> float:
    return recording.seconds or len(recording.data) / BYTES_PER_AUDIO_SECOND


def _recordings(question: Message) -> Sequence[Attachment]:
    pointed_at = (file for reference in question.references for file in reference.attachments)
    return [file for file in (*question.attachments, *pointed_at) if file.is_recording]


@dataclass(frozen=True, slots=True)
class _HeardQuestion:
    question: Message
    missed: tuple[str, ...] = ()
    failure: errors.InputError | errors.TurnError | None = None


FileOutcome = tuple[Attachment, Outcome | None]


def _with_outcomes(question: Message, outcomes: Sequence[Outcome]) -> _HeardQuestion:
    coming = iter(outcomes)

    def pair_up(files: Sequence[Attachment]) -> list[FileOutcome]:
        return [(file, next(coming) if file.is_recording else None) for file in files]

    mine, pointed_at = (
        pair_up(question.attachments),
        [pair_up(each.attachments) for each in question.references],
    )
    own = [(file, outcome) for file, outcome in mine if outcome is not None and not file.source_id]
    heard = question.heard or "\n".join(outcome for _, outcome in own if isinstance(outcome, str))
    everything = [*mine, *(one for each in pointed_at for one in each)]
    missed = tuple(file.name for file, outcome in everything if isinstance(outcome, Exception))
    notes = (NOT_HEARD.format(name=" ".join(name.split())) for name in missed)
    content = "\n".join(filter(None, (question.content, *notes)))
    references = zip(question.references, pointed_at, strict=True)
    read = replace(
        question,
        content=content if question.heard else with_heard(content, heard),
        heard=heard,
        attachments=tuple(_written_down(each for each in mine if each not in own)),
        references=tuple(
            replace(each, attachments=tuple(_written_down(files))) for each, files in references
        ),
        tainted=question.tainted or not all(file.own_words for file, _ in own),
    )
    failures = [outcome for _, outcome in own if not isinstance(outcome, str)]
    return _HeardQuestion(read, missed, failures[0] if failures and not heard else None)


def _written_down(files: Iterable[FileOutcome]) -> Iterator[Attachment]:
    for file, outcome in files:
        if outcome is None:
            yield file
        elif isinstance(outcome, str):
            name = f"{file.name} (what was heard in it)"
            yield Attachment(name, "text/plain", outcome.encode(), source_id=file.source_id)


def _meaning(error: errors.ModelError) -> errors.InputError | errors.TurnError:
    match error:
        case errors.ModelRefusedKey() | errors.ModelNotFound():
            return errors.HearingNotSetUp()
        case errors.ModelRefusedRequest():
            return errors.RecordingRefused()
        case _:
            return errors.HearingFailed()


MAX_LENGTH: Final = 1000
"""Characters; a longer answer is faster to read than to hear."""
MAX_BYTES: Final = 10 * 2**20
_CHARACTERS_A_SECOND: Final = 5
_ADDRESS: Final = re.compile(r"<?https?://[^\s<>()]+>?")
_MARKS: Final = re.compile(r"[*_~`#>|\[\]]|\(\)|^[ \t]*-[ \t]", re.MULTILINE)
_CODE: Final = "```"


def aloud(text: str) -> str:
    """Return the spoken text of an answer, without markup and addresses; empty if it is too
    long or has code."""
    if len(text) > MAX_LENGTH or _CODE in text:
        return ""
    words = _MARKS.sub("", _ADDRESS.sub("", text)).strip()
    return "" if is_blank(words) else words


@dataclass(eq=False, slots=True)
class SynthesizedSpeech(Speaking):
    speaker: OpenAISpeaker
    spending: Spending

    async def read_aloud(self, answer: Message, payer: UsageSubject) -> bytes | None:
        text = aloud(answer.content) if answer.status == "complete" else ""
        try:
            return await self._speak(text, payer) if text else None
        except (errors.LimitReached, errors.ModelError, errors.StorageError) as error:
            _log.info("answer_not_spoken", error=type(error).__name__)
            return None

    async def _speak(self, text: str, payer: UsageSubject) -> bytes | None:
        speaker, about_s = self.speaker, ceil(len(text) / _CHARACTERS_A_SECOND)
        tokens = TOKENS_PER_AUDIO_SECOND * about_s
        async with self.spending.admit(payer, "speech", model=speaker.name, tokens=tokens) as recorder:
            with recorder.sound(speaker.name, about_s) as sound:
                data = await speaker.speak(text)
                known = probe_audio(data)
                sound.seconds = (known.seconds if known else None) or about_s
        if known is None or known.content_type != "audio/mpeg" or len(data) > MAX_BYTES:
            _log.info("answer_not_spoken", error="no sound" if known is None else known.content_type)
            return None
        return data


# Texts that speech models write for silence.

_SHORT_S: Final = 30.0
"""Up to this length such a phrase may be the whole transcript."""
_SLOWEST: Final = 1.0
"""Characters a second; fewer mean silence."""
_NOTE: Final = re.compile(r"[\[(（【<][^\[\](){}（）【】<>]{0,40}[\])）】>]")
"""Such as [BLANK_AUDIO] and (音楽)."""
# Ends of videos that speech models were trained on.
_PHRASES: Final = """
    ご視聴ありがとうございました ご視聴ありがとうございます ご清聴ありがとうございました
    ご覧いただきありがとうございました 最後までご視聴いただきありがとうございました
    最後までご視聴いただきありがとうございます 最後まで視聴してくださって本当にありがとうございました
    字幕視聴ありがとうございました チャンネル登録お願いします チャンネル登録をお願いします
    チャンネル登録をお願いいたします チャンネル登録よろしくお願いします 高評価とチャンネル登録をお願いします
    次の動画でお会いしましょう また次の動画でお会いしましょう thankyouforwatching thanksforwatching
    thankyousomuchforwatching thankyouforwatchingthisvideo pleasesubscribe pleasesubscribetomychannel
    pleaselikeandsubscribe dontforgettolikeandsubscribe seeyouinthenextvideo illseeyouinthenextvideo
    subtitlesbytheamaraorgcommunity transcriptionbycastingwords you
"""
_OF_SILENCE: Final = sorted(_PHRASES.split(), key=len, reverse=True)


def is_silence_artifact(text: str, seconds: float) -> bool:
    """Return whether a transcript has no words but those that models make of silence."""
    rest = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", _NOTE.sub("", text)).casefold()))
    if not rest:
        return True
    if seconds > _SHORT_S and len(rest) >= seconds * _SLOWEST:
        return False
    while rest:
        phrase = next((phrase for phrase in _OF_SILENCE if rest.startswith(phrase)), None)
        if phrase is None:
            return False
        rest = rest.removeprefix(phrase)
    return True
