"""OpenAITranscriber and OpenAISpeaker over real HTTP: what they send, take, and make of trouble."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from cc_bot.domain import Locale
from cc_bot.domain.errors import (
    ModelError,
    ModelNotFound,
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelUnavailable,
)
from cc_bot.domain.message import Attachment
from cc_bot.llm.openai import OpenAISpeaker, OpenAITranscriber
from cc_bot.llm.speech import MAX_HEARD_CHARACTERS, Transcript
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


class TestARecording:
    @pytest.mark.parametrize("locale", list(Locale))
    async def test_is_sent_with_its_users_language_as_a_hint(self, locale: Locale) -> None:
        async with LoopbackSpeechServer() as server, transcriber_at(server) as transcriber:
            assert (await transcriber.transcribe(VOICE, locale)).text == HEARD
        [sent] = server.heard
        assert (sent.data, sent.content_type) == (VOICE.data, "audio/ogg")
        assert (sent.model, sent.language, sent.response_format) == ("tiny", locale.value, "json")

    async def test_goes_under_no_name_of_its_senders(self) -> None:
        async with LoopbackSpeechServer() as server, transcriber_at(server) as transcriber:
            await transcriber.transcribe(VOICE, Locale.JA)
        assert server.heard[0].name == "recording.ogg"

    @pytest.mark.parametrize("kind", ["mpeg", "mp4", "ogg", "wav", "webm"])
    async def test_of_each_kind_is_taken(self, kind: str) -> None:
        recording = Attachment("a", f"audio/{kind}", b"sound")
        async with LoopbackSpeechServer() as server, transcriber_at(server) as transcriber:
            assert (await transcriber.transcribe(recording, Locale.JA)).text == HEARD

    async def test_may_say_nothing(self) -> None:
        async with LoopbackSpeechServer(Heard(" \n")) as server, transcriber_at(server) as transcriber:
            assert (await transcriber.transcribe(VOICE, Locale.JA)).text == ""

    @pytest.mark.parametrize(
        ("usage", "seconds"),
        [
            ({"type": "duration", "seconds": 7}, 7),
            ({"type": "tokens", "input_tokens": 14}, 0),
            ({"type": "duration", "seconds": -1}, 0),
            ({"type": "duration", "seconds": 1e300}, 0),
            ("nonsense", 0),
            (None, 0),
        ],
    )
    async def test_is_as_long_as_its_server_counts_it(self, usage: object, seconds: float) -> None:
        heard = Heard(body={"text": HEARD, "usage": usage})
        async with LoopbackSpeechServer(heard) as server, transcriber_at(server) as transcriber:
            assert await transcriber.transcribe(VOICE, Locale.JA) == Transcript(HEARD, seconds)


class TestTrouble:
    @pytest.mark.parametrize(
        ("status", "error"),
        [
            (401, ModelRefusedKey),
            (404, ModelNotFound),
            (400, ModelRefusedRequest),
            (415, ModelRefusedRequest),
        ],
    )
    async def test_says_who_must_mend_it(self, status: int, error: type[ModelError]) -> None:
        async with (
            LoopbackSpeechServer(Heard(status=status)) as server,
            transcriber_at(server) as transcriber,
        ):
            with pytest.raises(error):
                await transcriber.transcribe(VOICE, Locale.JA)

    async def test_that_passes_is_waited_out(self) -> None:
        answers = [Heard(status=429, headers=AT_ONCE), Heard(status=500, headers=AT_ONCE)]
        async with LoopbackSpeechServer(*answers) as server, transcriber_at(server) as transcriber:
            assert (await transcriber.transcribe(VOICE, Locale.JA)).text == HEARD

    @pytest.mark.parametrize(
        "answer",
        [
            Heard(hangs=True),
            Heard(status=429, headers={"Retry-After": "600"}),
            Heard("あ" * (MAX_HEARD_CHARACTERS + 1)),
            *(Heard(body=body) for body in NONSENSE),
        ],
    )
    async def test_of_any_kind_ends_in_time(self, answer: Heard) -> None:
        async with (
            LoopbackSpeechServer(answer) as server,
            transcriber_at(server, timeout_s=0.5) as transcriber,
            asyncio.timeout(60),
        ):
            with pytest.raises(ModelUnavailable):
                await transcriber.transcribe(VOICE, Locale.JA)

    async def test_is_logged_without_what_was_said(self) -> None:
        quoting = Heard(status=400, body={"error": {"message": f"what is {HEARD}?"}})
        async with LoopbackSpeechServer(quoting) as server, transcriber_at(server) as transcriber:
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

    @pytest.mark.parametrize("answer", [Heard(hangs=True), Heard(status=500, headers=AT_ONCE)])
    async def test_that_does_not_come_is_given_up_in_time(self, answer: Heard) -> None:
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
