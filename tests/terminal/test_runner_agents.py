"""Agents in the terminal: each has a conversation of its own there, too."""

import asyncio
import io
from pathlib import Path

import pytest

from cc_bot.agents import Agents
from cc_bot.domain import Locale, SessionKey
from cc_bot.stores import Stores
from cc_bot.terminal.plain import PlainView
from cc_bot.terminal.runner import Runner
from tests.end_to_end.program import Program
from tests.terminal.program import TOOLS, assistant, profile

FILE = """
[agents.tutor]
display_name = { ja = "英語の先生", en = "English teacher" }
description = { ja = "英会話の練習に" }
prompt = "You teach."
guilds = [1]
"""


class Chat:
    def __init__(self, stores: Stores, file: Path, locale: Locale = Locale.JA) -> None:
        self.stores, self.out = stores, io.StringIO()
        agents = Agents(file, tools=TOOLS.names, locale=locale)
        view = PlainView(self.out, self.out)
        self.runner = Runner(assistant(stores), stores, profile(locale), view, agents=agents)

    async def say(self, line: str) -> str:
        self.out.seek(0)
        self.out.truncate()
        assert await self.runner.run(line)
        return self.out.getvalue()

    async def said(self, agent: str) -> list[str]:
        session = await self.stores.sessions.open(SessionKey(0, 0, agent), visibility="private")
        return [message.content for message in session.history if message.role == "user"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "agents.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.fixture
def chat(stores: Stores, file: Path) -> Chat:
    return Chat(stores, file)


class TestAgents:
    async def test_are_listed_with_the_one_that_answers(self, chat: Chat) -> None:
        for line in ("/agent", "/agent list"):
            assert (await chat.say(line)).splitlines() == [
                "ここで使えるエージェント",
                "  default  標準 — 使用中",
                "  tutor  英語の先生: 英会話の練習に",
            ]

    async def test_have_conversations_of_their_own(self, chat: Chat) -> None:
        await chat.say("いち")
        assert "「英語の先生」" in await chat.say("/agent use tutor")
        assert "まだ回答がありません" in await chat.say("/regenerate")
        await chat.say("に")
        assert "「標準」" in await chat.say("/agent use default")
        await chat.say("さん")
        assert (await chat.said("default"), await chat.said("tutor")) == (["いち", "さん"], ["に"])

    async def test_are_cleared_one_by_one(self, chat: Chat) -> None:
        await chat.say("いち")
        await chat.say("/agent use tutor")
        await chat.say("に")
        await chat.say("/clear")
        assert (await chat.said("default"), await chat.said("tutor")) == (["いち"], [])

    @pytest.mark.parametrize("name", ["tutor", "TUTOR", "ｔｕｔｏｒ", "英語の先生", "English Teacher"])
    async def test_are_known_by_what_they_are_called(self, chat: Chat, name: str) -> None:
        assert "「英語の先生」" in await chat.say(f"/agent use {name}")
        assert "もう「英語の先生」" in await chat.say(f"/agent use {name}")

    async def test_are_chosen_for_later_chats_too(self, chat: Chat, stores: Stores, file: Path) -> None:
        await chat.say("/agent use tutor")
        later = Chat(stores, file)
        await later.say("まだ先生？")
        assert await later.said("tutor") == ["まだ先生？"]

    async def test_that_are_gone_make_room_for_the_default_one(self, chat: Chat, file: Path) -> None:
        await chat.say("/agent use tutor")
        await asyncio.to_thread(file.unlink)
        await chat.say("だれですか")
        assert await chat.said("default") == ["だれですか"]
        assert "「標準」だけ" in await chat.say("/agent list")

    @pytest.mark.parametrize("line", ["/agent use nobody", "/agent use 先"])
    async def test_that_are_not_there_are_one_sentence(self, chat: Chat, line: str) -> None:
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
        self, chat: Chat, line: str, usage: str
    ) -> None:
        assert usage in await chat.say(line)

    async def test_are_english_in_english(self, stores: Stores, file: Path) -> None:
        chat = Chat(stores, file, Locale.EN)
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
