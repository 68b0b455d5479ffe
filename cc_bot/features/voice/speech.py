"""Transcribes the recordings of questions, and reads short answers aloud.

Recordings are not stored. A transcript is appended to the question and stored before the model is asked, so
that a crash costs no second transcription.
"""

import asyncio
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

import structlog

from cc_bot.chat.context.recordings import BYTES_PER_AUDIO_SECOND, MAX_LENGTH_S, probe_audio
from cc_bot.chat.spending import Spending, UsageRecorder
from cc_bot.chat.stores.channels import ChannelStore
from cc_bot.chat.stores.ledger import TurnLedger
from cc_bot.chat.turn import AnswerSpeaker, Emit, Transcriber, TurnRequest
from cc_bot.domain import errors
from cc_bot.domain.message import Attachment, Message, append_transcript, is_blank
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import FilesLeftOut, Notice
from cc_bot.domain.usage import TOKENS_PER_AUDIO_SECOND, Payer
from cc_bot.features.voice.errors import HearingFailed, HearingNotSetUp, NothingTranscribed, RecordingRefused
from cc_bot.features.voice.openai import OpenAISpeaker, OpenAITranscriber
from cc_bot.log import log_failure

NOT_TRANSCRIBED = "[not shown, it could not be heard: {name}]"  # for the model, in place of a recording

_log = structlog.get_logger(__name__)

Outcome = str | errors.InputError | errors.TurnError  # a transcript, or why there is none


@dataclass(eq=False, slots=True)
class TranscribedHearing(Transcriber):
    transcriber: OpenAITranscriber | None
    ledger: TurnLedger
    channels: ChannelStore
    _has_warned: bool = False

    def is_needed(self, request: TurnRequest) -> bool:
        referenced = (file for reference in request.references for file in reference.attachments)
        return any(file.is_recording for file in referenced) or any(map(_recordings, request.questions))

    async def transcribe(self, request: TurnRequest, recorder: UsageRecorder, emit: Emit) -> TurnRequest:
        if any(_recordings(question) and not question.heard for question in request.questions):
            emit(Notice("hearing"))
        async with asyncio.TaskGroup() as group:  # concurrently, to meet the time limit of one question
            hearing = [
                group.create_task(self._transcribe_question(request, question, recorder))
                for question in request.questions
            ]
        heard = [task.result() for task in hearing]
        if len(heard) == 1 and heard[0].failure:
            raise heard[0].failure
        questions = tuple(one.question for one in heard)
        if request.references:  # of a question asked again, whose own text is stored
            referring = Message("user", "", references=request.references)
            heard.append(await self._transcribe_question(request, referring, recorder))
        if left_out := tuple(name for one in heard for name in one.failed_names):
            emit(FilesLeftOut(left_out))
        references = heard[-1].question.references if request.references else ()
        return replace(request, questions=questions, references=references)

    async def _transcribe_question(
        self, request: TurnRequest, question: Message, recorder: UsageRecorder
    ) -> "_HeardQuestion":
        if question.heard:
            question = replace(
                question,
                attachments=tuple(f for f in question.attachments if not f.is_recording or f.source_id),
            )
        language, left_s = request.options.locale, float(MAX_LENGTH_S)
        async with asyncio.TaskGroup() as group:
            hearing = []
            for recording in _recordings(question):
                left_s -= _estimate_s(recording)
                hearing.append(
                    group.create_task(self._transcribe(recording, language, recorder, fits=left_s >= 0))
                )
        transcribed = _with_transcripts(question, [task.result() for task in hearing])
        if transcribed.question.heard and not question.heard:
            await self._record_transcript(request, question, transcribed.question.heard)
        return transcribed

    async def _transcribe(
        self, recording: Attachment, language: Locale, recorder: UsageRecorder, *, fits: bool
    ) -> Outcome:
        if self.transcriber is None:
            if not self._has_warned:
                _log.warning("nobody_listens", setting="CC_BOT_TRANSCRIBE_MODEL")
            self._has_warned = True
            return errors.TranscriptionUnavailable()
        if not fits:
            return errors.RecordingTooLong(minutes=MAX_LENGTH_S // 60)
        try:
            estimated_s = _estimate_s(recording)
            with recorder.record_sound(self.transcriber.name, estimated_s) as sound:
                heard = await self.transcriber.transcribe(recording, language)
                sound.seconds = max(recording.seconds, heard.seconds) or estimated_s
        except errors.ModelError as error:
            return _user_error(errors.drop_tracebacks(error))
        return NothingTranscribed() if is_silence_artifact(heard.text, sound.seconds) else heard.text

    async def _record_transcript(self, request: TurnRequest, question: Message, heard: str) -> None:
        """Store a transcript. An error does not end the turn."""
        with log_failure("heard_not_noted", errors.StorageError):
            if not isinstance(request.key, SessionKey):
                await self.channels.store_transcript(request.key, question, heard)
            elif request.options.entry_id:
                await self.ledger.store_transcript(request.options.entry_id, request.key.user_id, heard)


def _estimate_s(recording: Attachment) -> float:
    return recording.seconds or len(recording.data) / BYTES_PER_AUDIO_SECOND


def _recordings(question: Message) -> Sequence[Attachment]:
    referenced = (file for reference in question.references for file in reference.attachments)
    return [file for file in (*question.attachments, *referenced) if file.is_recording]


@dataclass(frozen=True, slots=True)
class _HeardQuestion:
    question: Message
    failed_names: tuple[str, ...] = ()
    failure: errors.InputError | errors.TurnError | None = None


FileOutcome = tuple[Attachment, Outcome | None]  # a file, and the outcome if it is a recording


def _with_transcripts(question: Message, outcomes: Sequence[Outcome]) -> _HeardQuestion:
    """`outcomes`: one for each recording of the question, then of its references."""
    remaining = iter(outcomes)

    def pair_up(files: Sequence[Attachment]) -> list[FileOutcome]:
        return [(file, next(remaining) if file.is_recording else None) for file in files]

    own_files = pair_up(question.attachments)
    referenced = [pair_up(each.attachments) for each in question.references]
    own_recordings = [
        (file, outcome) for file, outcome in own_files if outcome is not None and not file.source_id
    ]
    heard = question.heard or "\n".join(outcome for _, outcome in own_recordings if isinstance(outcome, str))
    all_files = [*own_files, *(one for each in referenced for one in each)]
    failed_names = tuple(file.name for file, outcome in all_files if isinstance(outcome, Exception))
    notes = (NOT_TRANSCRIBED.format(name=" ".join(name.split())) for name in failed_names)
    content = "\n".join(filter(None, (question.content, *notes)))
    references = zip(question.references, referenced, strict=True)
    transcribed = replace(
        question,
        content=content if question.heard else append_transcript(content, heard),
        heard=heard,
        attachments=tuple(_as_text_files(each for each in own_files if each not in own_recordings)),
        references=tuple(
            replace(each, attachments=tuple(_as_text_files(files))) for each, files in references
        ),
        tainted=question.tainted or not all(file.is_voice_message for file, _ in own_recordings),
    )
    failures = [outcome for _, outcome in own_recordings if not isinstance(outcome, str)]
    return _HeardQuestion(transcribed, failed_names, failures[0] if failures and not heard else None)


def _as_text_files(files: Iterable[FileOutcome]) -> Iterator[Attachment]:
    """Yield the files that did not fail, with transcripts in place of recordings."""
    for file, outcome in files:
        if outcome is None:
            yield file
        elif isinstance(outcome, str):
            name = f"{file.name} (what was heard in it)"
            yield Attachment(name, "text/plain", outcome.encode(), source_id=file.source_id)


def _user_error(error: errors.ModelError) -> errors.InputError | errors.TurnError:
    match error:
        case errors.ModelRefusedKey() | errors.ModelNotFound():
            return HearingNotSetUp()
        case errors.ModelRefusedRequest():
            return RecordingRefused()
        case _:
            return HearingFailed()


MAX_SPOKEN_CHARACTERS: Final = 1000  # a longer answer is faster to read than to hear
MAX_SPEECH_BYTES: Final = 10 * 2**20
_CHARACTERS_PER_SECOND: Final = 5
_URL: Final = re.compile(r"<?https?://[^\s<>()]+>?")
_MARKUP: Final = re.compile(r"[*_~`#>|\[\]]|\(\)|^[ \t]*-[ \t]", re.MULTILINE)
_CODE: Final = "```"


def spoken_text(text: str) -> str:
    """Return an answer without markup and addresses; empty if it is too long or has code."""
    if len(text) > MAX_SPOKEN_CHARACTERS or _CODE in text:
        return ""
    words = _MARKUP.sub("", _URL.sub("", text)).strip()
    return "" if is_blank(words) else words


@dataclass(eq=False, slots=True)
class SynthesizedSpeech(AnswerSpeaker):
    speaker: OpenAISpeaker
    spending: Spending

    async def read_aloud(self, answer: Message, payer: Payer) -> bytes | None:
        text = spoken_text(answer.content) if answer.status == "complete" else ""
        try:
            return await self._speak(text, payer) if text else None
        except (errors.LimitReached, errors.ModelError, errors.StorageError) as error:
            _log.info("answer_not_spoken", error=type(error).__name__)
            return None

    async def _speak(self, text: str, payer: Payer) -> bytes | None:
        speaker, estimated_s = self.speaker, ceil(len(text) / _CHARACTERS_PER_SECOND)
        tokens = TOKENS_PER_AUDIO_SECOND * estimated_s
        async with self.spending.charge(payer, "speech", model=speaker.name, tokens=tokens) as recorder:
            with recorder.record_sound(speaker.name, estimated_s) as sound:
                data = await speaker.speak(text)
                known = probe_audio(data)
                sound.seconds = (known.seconds if known else None) or estimated_s
        if known is None or known.content_type != "audio/mpeg" or len(data) > MAX_SPEECH_BYTES:
            _log.info("answer_not_spoken", error="no sound" if known is None else known.content_type)
            return None
        return data


_SHORT_S: Final = 30.0  # up to this length such a phrase may be the whole transcript
_MIN_CHARACTERS_PER_SECOND: Final = 1.0  # fewer mean silence
_SOUND_NOTE: Final = re.compile(r"[\[(（【<][^\[\](){}（）【】<>]{0,40}[\])）】>]")  # [BLANK_AUDIO], (音楽)
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
_SILENCE_PHRASES: Final = sorted(_PHRASES.split(), key=len, reverse=True)


def is_silence_artifact(text: str, seconds: float) -> bool:
    """Return whether a transcript has only phrases that speech models write for silence."""
    rest = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", _SOUND_NOTE.sub("", text)).casefold()))
    if not rest:
        return True
    if seconds > _SHORT_S and len(rest) >= seconds * _MIN_CHARACTERS_PER_SECOND:
        return False
    while rest:
        phrase = next((phrase for phrase in _SILENCE_PHRASES if rest.startswith(phrase)), None)
        if phrase is None:
            return False
        rest = rest.removeprefix(phrase)
    return True
