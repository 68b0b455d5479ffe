"""OpenAITranscriber and OpenAISpeaker over real HTTP: requests, responses and failures."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import ModelNotFound, ModelRefusedKey, ModelRefusedRequest, ModelUnavailable
from cc_bot.domain.message import Attachment
from cc_bot.domain.text import Locale
from cc_bot.features.voice.openai import (
    MAX_TRANSCRIPT_CHARACTERS,
    OpenAISpeaker,
    OpenAITranscriber,
    Transcript,
)
from tests.loopback.speech_server import HEARD, SOUND, Heard, LoopbackSpeechServer

VOICE = Attachment("美咲の声.ogg", "audio/ogg", b"OggS" + bytes(100))
AT_ONCE = {"Retry-After-Ms": "1"}
NONSENSE = ["not JSON at all", "", {}, [], [1], 7, {"text": None}, {"text": 7}, {"words": ["a"]}]


@asynccontextmanager
async def transcriber_at(
    server: LoopbackSpeechServer, *, timeout_s: float = 5
) -> AsyncIterator[OpenAITranscriber]:
    transcriber = OpenAITranscriber("tiny", base_url=server.base_url, timeout_s=timeout_s)
    try:
        yield transcriber
    finally:
        await transcriber.close()


@asynccontextmanager
async def speaker_at(server: LoopbackSpeechServer, *, timeout_s: float = 5) -> AsyncIterator[OpenAISpeaker]:
    speaker = OpenAISpeaker("tiny", "nova", base_url=server.base_url, timeout_s=timeout_s)
    try:
        yield speaker
    finally:
        await speaker.close()


@asynccontextmanager
async def heard_by(
    *answers: Heard, timeout_s: float = 5
) -> AsyncIterator[tuple[OpenAITranscriber, LoopbackSpeechServer]]:
    """Yield a transcriber and its server, which answers as scripted."""
    async with (
        LoopbackSpeechServer(*answers) as server,
        transcriber_at(server, timeout_s=timeout_s) as transcriber,
    ):
        yield transcriber, server


class TestARecording:
    async def test_is_sent_with_its_users_language_as_a_hint_and_under_no_name_of_theirs(self) -> None:
        for locale in Locale:
            async with heard_by() as (transcriber, server):
                assert (await transcriber.transcribe(VOICE, locale)).text == HEARD
            [sent] = server.heard
            assert (sent.data, sent.content_type, sent.name) == (VOICE.data, "audio/ogg", "recording.ogg")
            assert (sent.model, sent.language, sent.response_format) == ("tiny", locale.value, "json")
        for kind in ("mpeg", "mp4", "ogg", "wav", "webm"):
            async with heard_by() as (transcriber, _):
                recording = Attachment("a", f"audio/{kind}", b"sound")
                assert (await transcriber.transcribe(recording, Locale.JA)).text == HEARD

    async def test_is_as_long_as_its_server_counts_it_and_may_say_nothing(self) -> None:
        usages: tuple[tuple[object, float], ...] = (
            ({"type": "duration", "seconds": 7}, 7),
            ({"type": "tokens", "input_tokens": 14}, 0),
            *(({"type": "duration", "seconds": seconds}, 0) for seconds in (-1, 1e300)),
            *(("nonsense", 0), (None, 0)),
        )
        for usage, seconds in usages:
            async with heard_by(Heard(body={"text": HEARD, "usage": usage})) as (transcriber, _):
                assert await transcriber.transcribe(VOICE, Locale.JA) == Transcript(HEARD, seconds)
        async with heard_by(Heard(" \n")) as (transcriber, _):
            assert (await transcriber.transcribe(VOICE, Locale.JA)).text == ""


class TestTrouble:
    async def test_raises_the_error_of_its_status_and_retries_what_may_pass(self) -> None:
        for status, error in (
            *((401, ModelRefusedKey), (404, ModelNotFound)),
            *((400, ModelRefusedRequest), (415, ModelRefusedRequest)),
        ):
            async with heard_by(Heard(status=status)) as (transcriber, _):
                with pytest.raises(error):
                    await transcriber.transcribe(VOICE, Locale.JA)
        passing = [Heard(status=status, headers=AT_ONCE) for status in (429, 500)]
        async with heard_by(*passing) as (transcriber, _):
            assert (await transcriber.transcribe(VOICE, Locale.JA)).text == HEARD

    async def test_of_any_kind_ends_in_time(self) -> None:
        for answer in (
            *(Heard(hangs=True), Heard(status=429, headers={"Retry-After": "600"})),
            Heard("あ" * (MAX_TRANSCRIPT_CHARACTERS + 1)),
            *(Heard(body=body) for body in NONSENSE),
        ):
            async with heard_by(answer, timeout_s=0.5) as (transcriber, _), asyncio.timeout(60):
                with pytest.raises(ModelUnavailable):
                    await transcriber.transcribe(VOICE, Locale.JA)

    async def test_is_logged_without_what_was_said(self) -> None:
        quoting = Heard(status=400, body={"error": {"message": f"what is {HEARD}?"}})
        async with heard_by(quoting) as (transcriber, _):
            with capture_logs() as logs, pytest.raises(ModelRefusedRequest) as refused:
                await transcriber.transcribe(VOICE, Locale.JA)
        assert [record["event"] for record in logs] == ["transcription_failed"]
        assert HEARD not in f"{logs} {refused.value!r} {refused.value.__cause__!r}"


class TestASpokenText:
    async def test_is_a_sound_in_the_voice_that_the_operator_chose(self) -> None:
        async with LoopbackSpeechServer() as server, speaker_at(server) as speaker:
            assert await speaker.speak("こんにちは") == SOUND
        [sent] = server.spoken
        assert (sent.text, sent.model, sent.voice) == ("こんにちは", "tiny", "nova")
        assert sent.response_format == "mp3"

    async def test_that_does_not_come_is_given_up_in_time(self) -> None:
        for answer in (Heard(hangs=True), Heard(status=500, headers=AT_ONCE)):
            async with LoopbackSpeechServer() as server, speaker_at(server, timeout_s=0.5) as speaker:
                server.script_speech(answer, answer, answer)
                with capture_logs() as logs, pytest.raises(ModelUnavailable):
                    await speaker.speak("こんにちは")
            assert [record["event"] for record in logs] == ["speech_failed"]

    async def test_is_not_in_the_log(self) -> None:
        async with LoopbackSpeechServer() as server, speaker_at(server) as speaker:
            with capture_logs() as logs, pytest.raises(ModelRefusedRequest):
                await speaker.speak("秘" * 5000)
        assert "秘" not in str(logs)
