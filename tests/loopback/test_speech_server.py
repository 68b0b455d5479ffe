"""LoopbackSpeechServer is as strict as the servers that it stands for, and fails as it is told to."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from tests.loopback.speech_server import HEARD, SOUND, Heard, LoopbackSpeechServer

OGG = b"OggS" + bytes(40)


@pytest.fixture
async def server() -> AsyncIterator[LoopbackSpeechServer]:
    async with LoopbackSpeechServer() as server:
        yield server


def form(data: bytes | None = OGG, name: str = "voice-message.ogg", **values: str) -> aiohttp.FormData:
    sent = aiohttp.FormData()
    if data is not None:
        sent.add_field("file", data, filename=name, content_type="audio/ogg")
    for key, value in values.items():
        sent.add_field(key, value)
    return sent


async def post(server: LoopbackSpeechServer, path: str, **sent: Any) -> tuple[int, bytes]:
    async with aiohttp.ClientSession() as session, session.post(server.base_url + path, **sent) as answer:
        return answer.status, await answer.read()


async def transcribe(server: LoopbackSpeechServer, sent: aiohttp.FormData) -> int:
    return (await post(server, "/audio/transcriptions", data=sent))[0]


class TestTranscription:
    async def test_is_what_the_script_says(self, server: LoopbackSpeechServer) -> None:
        server.script(Heard("犬が好き"))
        first = await post(server, "/audio/transcriptions", data=form(model="tiny", language="ja"))
        second = await post(server, "/audio/transcriptions", data=form(model="tiny", response_format="text"))
        assert (first[0], "犬が好き" in first[1].decode("unicode_escape")) == (200, True)
        assert second == (200, HEARD.encode())
        assert [(each.data, each.language) for each in server.heard] == [(OGG, "ja"), (OGG, None)]

    @pytest.mark.parametrize(
        "sent",
        [
            form(None, model="tiny"),
            form(),
            form(b"", model="tiny"),
            form(name="voice", model="tiny"),
            form(name="voice.exe", model="tiny"),
            form(model="tiny", language="ja-JP"),
            form(model="tiny", language="Japanese"),
            form(model="tiny", response_format="xml"),
        ],
    )
    async def test_is_refused_for_what_no_server_takes(
        self, server: LoopbackSpeechServer, sent: aiohttp.FormData
    ) -> None:
        assert await transcribe(server, sent) == 400
        assert (server.heard, len(server.refused)) == ([], 1)

    async def test_is_refused_for_what_is_no_form(self, server: LoopbackSpeechServer) -> None:
        assert (await post(server, "/audio/transcriptions", json={"model": "tiny"}))[0] == 400

    async def test_fails_as_it_is_told_to(self, server: LoopbackSpeechServer) -> None:
        server.script(Heard(status=429), Heard(body="<html>"), Heard(hangs=True))
        assert await transcribe(server, form(model="tiny")) == 429
        assert await transcribe(server, form(model="tiny")) == 200
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await transcribe(server, form(model="tiny"))


class TestSpeech:
    async def test_is_a_sound_of_the_kind_that_was_asked_for(self, server: LoopbackSpeechServer) -> None:
        asked = {"model": "tiny", "input": "こんにちは", "voice": "alloy", "response_format": "mp3"}
        status, sound = await post(server, "/audio/speech", json=asked)
        assert (status, sound) == (200, SOUND)
        assert [each.text for each in server.spoken] == ["こんにちは"]

    @pytest.mark.parametrize(
        "wrong",
        [{"input": " "}, {"input": "あ" * 4097}, {"model": ""}, {"voice": ""}, {"response_format": "exe"}],
    )
    async def test_is_refused_for_what_no_server_takes(
        self, server: LoopbackSpeechServer, wrong: dict[str, str]
    ) -> None:
        asked = {"model": "tiny", "input": "こんにちは", "voice": "alloy", **wrong}
        assert (await post(server, "/audio/speech", json=asked))[0] == 400
        assert server.spoken == []

    async def test_fails_as_it_is_told_to(self, server: LoopbackSpeechServer) -> None:
        server.script_speech(Heard(status=500))
        asked = {"model": "tiny", "input": "こんにちは", "voice": "alloy"}
        assert (await post(server, "/audio/speech", json=asked))[0] == 500
