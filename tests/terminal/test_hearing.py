"""Recordings that are attached in the terminal are heard with the next question."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cc_bot.assistant import Assistant
from cc_bot.llm.openai import OpenAITranscriber
from cc_bot.stores import Stores
from tests.loopback.speech_server import HEARD, Heard, LoopbackSpeechServer
from tests.recordings import mp3, ogg
from tests.scripted_model import only
from tests.terminal.program import TOOLS, ScriptedModel
from tests.terminal.talk import Talk


@pytest.fixture
async def server() -> AsyncIterator[LoopbackSpeechServer]:
    async with LoopbackSpeechServer() as server:
        yield server


@pytest.fixture
async def chat(stores: Stores, server: LoopbackSpeechServer) -> AsyncIterator[Talk]:
    chains = only(ScriptedModel(), transcriber=OpenAITranscriber("ears", base_url=server.base_url))
    yield Talk(stores, answering=Assistant(stores, chains, TOOLS))
    await chains.close()


async def attach(chat: Talk, folder: Path, name: str, data: bytes) -> str:
    (folder / name).write_bytes(data)
    return await chat.say(f"/attach {folder}/{name}")


async def test_a_recording_is_told_of_before_the_answer_and_silence_is_one_sentence(
    chat: Talk, server: LoopbackSpeechServer, tmp_path: Path
) -> None:
    assert "20分" in await attach(chat, tmp_path, "a.ogg", ogg(3600))
    assert chat.attached == []
    assert "会議.mp3" in await attach(chat, tmp_path, "会議.mp3", mp3(3))
    told = await chat.lines("何時？")
    assert told.index(f"◆ 🎤 {HEARD}") < next(n for n, line in enumerate(told) if "答え" in line)
    question, _ = await chat.history()
    assert (question.content, question.heard) == (f"何時？\n{HEARD}", HEARD)
    server.script(Heard(""), Heard("一つ目"), Heard(""))
    await attach(chat, tmp_path, "a.ogg", ogg(3))
    assert "何も聞き取れませんでした" in await chat.say("何時？")
    assert (len(await chat.history()), chat.attached) == (2, [])
    for name in ("一.ogg", "二.ogg"):
        await attach(chat, tmp_path, name, ogg(3))
    assert "は聞き取れませんでした" in await chat.say("まとめて")
