"""A server on 127.0.0.1 that speaks OpenAI's `POST /audio/transcriptions` and `POST /audio/speech`.

It refuses with 400 what OpenAI's own refuses: a form without a file or a model, an empty file, a file whose
name ends in no kind of sound that it knows, a language that is no ISO 639-1 code, an unknown format, no voice
or more than 4096 characters to be spoken. What is scripted is answered first: a status, a body of any shape,
or nothing at all; without a script every recording says HEARD, and every text is a sound.

    async with LoopbackSpeechServer(Heard("明日の天気は？"), Heard(status=429)) as server:
        ...
        assert server.heard[0].language == "ja"
"""

import asyncio
import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

from aiohttp import web

from tests.loopback.local_server import LocalServer

HEARD: Final = "明日の予定を教えて"
KINDS: Final = frozenset({"flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm"})
FORMATS: Final = frozenset({"json", "text", "srt", "verbose_json", "vtt"})
SPOKEN: Final = frozenset({"mp3", "opus", "aac", "flac", "wav", "pcm"})
SOUND: Final = (b"\xff\xfb\x90\x00" + bytes(413)) * 4
"""A tenth of a second of silence, as MPEG 1 layer 3 has it: four frames of 128 kbit/s at 44.1 kHz."""
LONGEST_SPOKEN: Final = 4096
MAX_VALUE: Final = 25 * 2**20
"""Both as OpenAI's API reference has them."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A scripted answer to a recording, or to a text. With a `body` it says that and no more."""

    text: str = HEARD
    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    after: asyncio.Event | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    data: bytes
    name: str
    content_type: str
    model: str
    language: str | None
    response_format: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Script:
    text: str
    model: str
    voice: str
    response_format: str


class _Refused(Exception):
    pass


class LoopbackSpeechServer(LocalServer):
    """See the module's docstring. `heard` and `spoken` list every request that was not refused, in order."""

    def __init__(self, *answers: Heard) -> None:
        self.heard: list[Recording] = []
        self.spoken: list[Script] = []
        self.refused: list[str] = []
        """Why, of each request that no such server takes."""
        self._script = deque(answers)
        self._speech_script = deque[Heard]()
        self._arrived = asyncio.Condition()

    def script(self, *answers: Heard) -> None:
        """Add answers to recordings to the end of the script."""
        self._script.extend(answers)

    def script_speech(self, *answers: Heard) -> None:
        """Add answers to texts to the end of their script."""
        self._speech_script.extend(answers)

    def reset(self) -> None:
        """Forget the scripts and every request, for the next test that shares this server."""
        for kept in (self.heard, self.spoken, self.refused, self._script, self._speech_script):
            kept.clear()

    async def arrived(self, count: int) -> Recording:
        """Wait until there were `count` recordings in all; the last of them."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.heard) >= count)
        return self.heard[count - 1]

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/audio/transcriptions", self._transcribe),
            web.post("/v1/audio/speech", self._speak),
        ]

    async def _transcribe(self, request: web.Request) -> web.Response:
        try:
            recording = await _recording(request)
        except _Refused as error:
            return self._refuse(error)
        async with self._arrived:
            self.heard.append(recording)
            self._arrived.notify_all()
        answer = self._script.popleft() if self._script else Heard()
        if answer.status != 200 or answer.body is not None or answer.hangs:
            return await _scripted(answer)
        if answer.after is not None:
            await answer.after.wait()
        if recording.response_format == "text":
            return web.Response(text=answer.text)
        return web.json_response({"text": answer.text})

    async def _speak(self, request: web.Request) -> web.Response:
        try:
            script = _script_of(await request.json())
        except (ValueError, _Refused) as error:
            return self._refuse(error)
        self.spoken.append(script)
        answer = self._speech_script.popleft() if self._speech_script else Heard()
        if answer.status != 200 or answer.body is not None or answer.hangs:
            return await _scripted(answer)
        return web.Response(body=SOUND, content_type=f"audio/{script.response_format}")

    def _refuse(self, error: Exception) -> web.Response:
        self.refused.append(str(error))
        body = {"error": {"message": str(error), "type": "invalid_request_error"}}
        return web.json_response(body, status=400)


async def _recording(request: web.Request) -> Recording:
    if request.content_type != "multipart/form-data":
        raise _Refused("Could not parse multipart form")
    form = await request.post()
    file = form.get("file")
    if not isinstance(file, web.FileField):
        raise _Refused("Missing required parameter: 'file'.")
    values = {name: value for name, value in form.items() if isinstance(value, str)}
    with file.file as sent:
        data = sent.read()
    language, response_format = values.get("language"), values.get("response_format", "json")
    if not values.get("model"):
        raise _Refused("you must provide a model parameter")
    if not data:
        raise _Refused("Audio file is too short. Minimum audio length is 0.1 seconds.")
    if len(data) > MAX_VALUE:
        raise _Refused("Maximum content size limit exceeded")
    if PurePath(file.filename).suffix.removeprefix(".").lower() not in KINDS:
        raise _Refused(f"Unrecognized file format. Supported formats: {sorted(KINDS)}")
    if language is not None and not (len(language) == 2 and language.isalpha() and language.islower()):
        raise _Refused(f"Invalid language '{language}'. Language parameter must be specified in ISO-639-1.")
    if response_format not in FORMATS:
        raise _Refused(f"response_format '{response_format}' is not one of {sorted(FORMATS)}")
    kind = file.content_type or ""
    headers = dict(request.headers)
    return Recording(data, file.filename, kind, values["model"], language, response_format, headers)


def _script_of(body: Any) -> Script:
    text, model, voice = (body.get(name) for name in ("input", "model", "voice"))
    response_format = body.get("response_format", "mp3")
    if not (isinstance(model, str) and model):
        raise _Refused("you must provide a model parameter")
    if not (isinstance(text, str) and text.strip()):
        raise _Refused("Missing required parameter: 'input'.")
    if len(text) > LONGEST_SPOKEN:
        raise _Refused(f"String should have at most {LONGEST_SPOKEN} characters")
    if not (isinstance(voice, str) and voice):
        raise _Refused("Missing required parameter: 'voice'.")
    if response_format not in SPOKEN:
        raise _Refused(f"response_format '{response_format}' is not one of {sorted(SPOKEN)}")
    return Script(text, model, voice, response_format)


async def _scripted(answer: Heard) -> web.Response:
    if answer.hangs:
        await asyncio.Event().wait()
    text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
    return web.Response(
        status=answer.status, text=text, headers=answer.headers, content_type="application/json"
    )
