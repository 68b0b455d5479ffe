"""Agents in the terminal: each has a conversation of its own there, too."""

import asyncio
from pathlib import Path

import pytest

from cc_bot.domain import Locale, SessionKey
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
    async def test_are_listed_with_the_one_that_answers(self, chat: Talk) -> None:
        for line in ("/agent", "/agent list"):
            assert (await chat.say(line)).splitlines() == [
                "ここで使えるエージェント",
                "  default  標準 — 使用中",
                "  tutor  英語の先生: 英会話の練習に",
            ]

    async def test_have_conversations_of_their_own(self, chat: Talk) -> None:
        await chat.say("いち")
        assert "「英語の先生」" in await chat.say("/agent use tutor")
        assert "まだ回答がありません" in await chat.say("/regenerate")
        await chat.say("に")
        assert "「標準」" in await chat.say("/agent use default")
        await chat.say("さん")
        assert (await said(chat, "default"), await said(chat, "tutor")) == (["いち", "さん"], ["に"])

    async def test_are_cleared_one_by_one(self, chat: Talk) -> None:
        await chat.say("いち")
        await chat.say("/agent use tutor")
        await chat.say("に")
        await chat.say("/clear")
        assert (await said(chat, "default"), await said(chat, "tutor")) == (["いち"], [])

    @pytest.mark.parametrize("name", ["tutor", "TUTOR", "ｔｕｔｏｒ", "英語の先生", "English Teacher"])
    async def test_are_known_by_what_they_are_called(self, chat: Talk, name: str) -> None:
        assert "「英語の先生」" in await chat.say(f"/agent use {name}")
        assert "もう「英語の先生」" in await chat.say(f"/agent use {name}")

    async def test_are_chosen_for_later_chats_too(self, chat: Talk, stores: Stores, file: Path) -> None:
        await chat.say("/agent use tutor")
        later = Talk(stores, agents_file=file)
        await later.say("まだ先生？")
        assert await said(later, "tutor") == ["まだ先生？"]

    async def test_that_are_gone_make_room_for_the_default_one(self, chat: Talk, file: Path) -> None:
        await chat.say("/agent use tutor")
        await asyncio.to_thread(file.unlink)
        await chat.say("だれですか")
        assert await said(chat, "default") == ["だれですか"]
        assert "「標準」だけ" in await chat.say("/agent list")

    @pytest.mark.parametrize("line", ["/agent use nobody", "/agent use 先"])
    async def test_that_are_not_there_are_one_sentence(self, chat: Talk, line: str) -> None:
        assert await chat.say(line) == (
            "その名前のエージェントは、ここでは使えません。/agent list で使えるものを確かめてください。\n"
        )

    @pytest.mark.parametrize(
        ("line", "usage"),
        [
            ("/agent use", "どのエージェント"),
            ("/agent fly", "/agent use 名前"),
            ("/agent list x", "/agent list"),
        ],
    )
    async def test_commands_that_are_mistaken_tell_how_they_go(
        self, chat: Talk, line: str, usage: str
    ) -> None:
        assert usage in await chat.say(line)

    async def test_are_english_in_english(self, stores: Stores, file: Path) -> None:
        chat = Talk(stores, Locale.EN, agents_file=file)
        assert "tutor  English teacher\n" in await chat.say("/agent list")
        assert "English teacher answers you" in await chat.say("/agent use tutor")


class TestChatCommand:
    async def test_takes_the_agent_for_this_chat_alone(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "agents.toml").write_text(FILE, encoding="utf-8")
        program = Program(tmp_path, {"CC_BOT_LOCALE": "ja"})
        code, output = await program.run("chat", "--agent", "tutor", stdin=b"/agent list\n")
        assert (code, "英語の先生 — 使用中" in output) == (0, True)
        code, output = await program.run("chat", stdin=b"/agent list\n")
        assert (code, "標準 — 使用中" in output) == (0, True)

    async def test_names_the_agents_when_there_is_no_such_one(self, tmp_path: Path) -> None:
        program = Program(tmp_path, {"CC_BOT_LOCALE": "en"})
        code, output = await program.run("chat", "--agent", "tutor")
        assert (code, output) == (
            2,
            "The setting --agent is not valid. Write it like this, for example: default\n",
        )
