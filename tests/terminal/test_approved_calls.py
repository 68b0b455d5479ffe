"""Tools of servers in the terminal: they wait as proposals, and the answer goes on with what came of them."""

import json
from pathlib import Path
from typing import Any

import pytest

import cc_bot.tools
from cc_bot.assistant import Assistant
from cc_bot.domain import Locale, Message
from cc_bot.domain.claimed_call import CallMessage
from cc_bot.domain.message import ToolCall
from cc_bot.domain.proposal import CallTool
from cc_bot.llm.model import ToolRequest, ToolResultPart
from cc_bot.stores import Stores
from cc_bot.tools.registry import discover
from cc_bot.tools.servers import ServerTools
from tests.loopback.tool_servers import CountingServers, calls_in
from tests.scripted_model import ScriptedModel, only
from tests.terminal.talk import KEY, Talk

WRITE = ToolRequest("c1", "notes__write", '{"text": "牛乳"}')
READ = ToolRequest("c1", "notes__read", '{"text": "棚"}')


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def chat(stores: Stores, model: ScriptedModel, tmp_path: Path) -> Talk:
    return talk(stores, model, tmp_path)


def talk(stores: Stores, model: ScriptedModel, folder: Path, locale: Locale = Locale.JA) -> Talk:
    tools = discover(cc_bot.tools).beside(ServerTools(CountingServers(folder)))
    return Talk(stores, locale, answering=Assistant(stores, only(model), tools))


def told(model: ScriptedModel) -> str:
    return str(model.requests[-1].prompt)


def result(model: ScriptedModel) -> str:
    part = model.requests[-1].prompt[-1]
    assert isinstance(part, ToolResultPart)
    return str(json.loads(part.text)["result"])


class TestACall:
    async def test_waits_until_its_server_answers(
        self, chat: Talk, model: ScriptedModel, tmp_path: Path
    ) -> None:
        model.script = [[WRITE], ["下で決められます。"], ["書きました。"]]
        said = await chat.lines("牛乳と書いて")
        at = said.index("◆ 提案 #1: 🔧 ツールを実行する")
        assert "10分間有効" in said[at - 1]
        assert said[at + 1 :] == [
            *("◆   ツール: notes · write", "◆   渡す内容", "  │ text: 牛乳"),
            "◆   実行するなら /accept 1、しないなら /decline 1",
        ]
        assert calls_in(tmp_path) == []
        (away := tmp_path / "answers.json").write_text('{"write": {"raises": "away"}}', "utf-8")
        assert "まだ実行していません" in (await chat.lines("/accept"))[-1]
        tried = len(calls_in(tmp_path))
        away.unlink()
        said = await chat.lines("/accept 1")
        assert "◆ 🔧 実行しました: notes · write" in said
        assert said[-1] == "書きました。"
        assert calls_in(tmp_path)[tried:] == [{"tool": "notes__write", "arguments": {"text": "牛乳"}}]
        assert "write は済みました。" in told(model)
        for line in ("/accept 1", "/decline 1"):
            assert "期限（10分）が過ぎています" in await chat.say(line)
        assert len(calls_in(tmp_path)) == tried + 1

    async def test_under_which_a_chat_was_ended_is_told_by_the_next_and_not_made_again(
        self, stores: Stores, model: ScriptedModel, tmp_path: Path
    ) -> None:
        waits: dict[str, Any] = {"waits": True}
        call = CallTool("notes", "write", '{"text": "牛乳"}', called="notes__write")
        asked = ToolCall("c1", "notes__write", call.arguments, json.dumps(waits))
        session = await stores.sessions.open(KEY)
        turn = (Message("user", "書いて"), Message("assistant", "はい", tool_calls=(asked,)))
        [proposal] = (await stores.sessions.archive_turn(session, turn, proposals=[call])).proposals
        before = talk(stores, model, tmp_path)
        await before.chat.assistant.calls.claim(proposal, "ended", CallMessage())
        after = talk(stores, model, tmp_path)
        said = await after.lines("続きは？")
        assert said[0].startswith("◆ ❓ 実行された可能性があります: notes · write")
        assert calls_in(tmp_path) == []
        assert not any("可能性" in line for line in await after.lines("もう一度"))


class Typed:
    """Somebody who types these lines, whatever they are asked."""

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.labels = list[str]()

    async def __call__(self, label: str, default: str) -> str | None:
        self.labels.append(label)
        return self.lines.pop(0)


async def test_a_form_is_asked_line_by_line_and_declined_by_an_empty_line_and_by_a_pipe(
    stores: Stores, model: ScriptedModel, tmp_path: Path
) -> None:
    (tmp_path / "asks.json").write_text("60", "utf-8")
    chat = talk(stores, model, tmp_path)
    chat.chat.ask_line = typed = Typed("C", "Ｂ", "4")
    model.script = [[READ], ["🙂"]]
    said = await chat.lines("?")
    assert typed.labels == ["🗄️ (A / B): ", "🗄️ (A / B): ", "🔢: "]
    assert [line for line in said if "A / B" in line and "◆" in line], said
    assert json.loads(result(model)) == {"shelf": "b", "count": 4}
    for declining in (Typed(""), None):
        chat = talk(stores, model, tmp_path)
        chat.chat.ask_line = declining
        model.script = [[READ], ["🙂"]]
        await chat.lines("?")
        assert result(model) == "declined"
