"""Agents in the terminal: each has a conversation of its own there, too."""

import asyncio
from pathlib import Path

import pytest

from cc_bot.domain import SessionKey
from cc_bot.stores import Stores
from tests.end_to_end.program import Program
from tests.terminal.talk import Talk

FILE = """
[agents.tutor]
display_name = { ja = "英語の先生", en = "English teacher" }
description = { ja = "英会話の練習に" }
prompt = "You teach."
guilds = [1]
"""


async def said(chat: Talk, agent: str) -> list[str]:
    """What was asked of an agent."""
    session = await chat.stores.sessions.open(SessionKey(0, 0, agent), visibility="private")
    return [message.content for message in session.history if message.role == "user"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "agents.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.fixture
def chat(stores: Stores, file: Path) -> Talk:
    return Talk(stores, agents_file=file)


class TestAgents:
    async def test_have_conversations_of_their_own(self, chat: Talk, stores: Stores, file: Path) -> None:
        told = ["  default  標準 — 使用中", "  tutor  英語の先生: 英会話の練習に"]
        assert (await chat.lines("/agent"))[1:] == told
        await chat.say("いち")
        assert "「英語の先生」" in await chat.say("/agent use tutor")
        assert "まだ回答がありません" in await chat.say("/regenerate")
        await chat.say("に")
        assert "「標準」" in await chat.say("/agent use default")
        await chat.say("さん")
        assert (await said(chat, "default"), await said(chat, "tutor")) == (["いち", "さん"], ["に"])
        await chat.say("/agent use tutor")
        await chat.say("/clear")
        later = Talk(stores, agents_file=file)
        await later.say("まだ先生？")
        assert (await said(later, "default"), await said(later, "tutor")) == (
            ["いち", "さん"],
            ["まだ先生？"],
        )

    async def test_that_are_gone_make_room_for_the_default_one(self, chat: Talk, file: Path) -> None:
        await chat.say("/agent use tutor")
        await asyncio.to_thread(file.unlink)
        await chat.say("だれですか")
        assert await said(chat, "default") == ["だれですか"]
        assert "「標準」だけ" in await chat.say("/agent list")


@pytest.mark.slow
async def test_the_chat_command_takes_the_agent_for_one_chat_and_names_them_otherwise(tmp_path: Path) -> None:
    program = Program(tmp_path, {"CC_BOT_LOCALE": "ja"})
    code, output = await program.run("chat", "--agent", "tutor")
    assert (code, "default" in output, output.count("\n")) == (2, True, 1)
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "agents.toml").write_text(FILE, encoding="utf-8")
    code, output = await program.run("chat", "--agent", "tutor", stdin=b"/agent list\n")
    assert (code, "英語の先生 — 使用中" in output) == (0, True)
    code, output = await program.run("chat", stdin=b"/agent list\n")
    assert (code, "標準 — 使用中" in output) == (0, True)
