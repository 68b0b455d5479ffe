"""What one line after another does in a chat: questions, the newest answer, settings, attachments, limits."""

import asyncio
import json
import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from cc_bot.assistant import Assistant
from cc_bot.domain import Locale, Usage
from cc_bot.domain.errors import ToolListNotShown, ToolServerUnknown
from cc_bot.domain.member import LimitKey, LimitName, Policy
from cc_bot.domain.tool_server import ToolDetails, ToolServerReport, ToolWording
from cc_bot.llm.model import Finish
from cc_bot.spending import Spending
from cc_bot.stores import Stores
from cc_bot.texts import texts
from tests.scripted_model import ScriptedModel, Step, only
from tests.terminal.program import TOOLS
from tests.terminal.talk import KEY, Talk

NO_ANSWER = "まだ回答がありません。先に何か聞いてください。\n"


class TestQuestions:
    async def test_are_answered_stored_and_the_first_with_a_hint(self, chat: Talk) -> None:
        hint = texts(Locale.JA, names=Locale.EN).answer.help_hint
        assert await chat.lines("こんにちは") == ["答え: **こんにちは**", f"◆ {hint}"]
        assert await chat.say("/ask こんにちは") == "答え: **こんにちは**\n"
        stored = [(each.role, each.content) for each in await chat.history()]
        assert stored == [("user", "こんにちは"), ("assistant", "答え: **こんにちは**")] * 2
        assert "答え" in await chat.say("/ask --temporary ひみつ")
        assert "質問が空です" in await chat.say("/ask")
        assert await chat.say("   ") == ""
        assert len(await chat.history()) == 4
        assert await chat.runner.run("/exit") is False

    async def test_without_a_key_are_told_once_how_to_set_one(self, chat: Talk) -> None:
        chat.chat.profile = replace(chat.chat.profile, offline=True)
        told = [(await chat.lines("こんにちは"))[-1], (await chat.lines("こんにちは"))[-1]]
        assert told == [f"◆ {texts(Locale.JA).terminal.no_key}", "答え: **こんにちは**"]

    async def test_of_a_model_that_is_down_are_one_sentence(self, chat: Talk, tmp_path: Path) -> None:
        note = tmp_path / "メモ 1.txt"
        note.write_text("買い物: 牛乳", encoding="utf-8")
        await chat.say(f"/attach {note}")
        assert (await chat.say("down")).count("\n") == 1
        assert chat.attached == ["メモ 1.txt"], "it goes with the next question"
        assert "答え" in await chat.say("まだいますか")
        assert chat.attached == []
        question, _ = await chat.history()
        assert question.attachments[0].data.decode() == "買い物: 牛乳"
        await chat.say(f"/attach {note}")
        assert "取り消しました" in await chat.say("/detach")
        assert "添付はありません" in await chat.say("/detach")
        missing = {
            "ない.txt": "が見つかりません",
            "": "指定してください",
            ".": "読めません",
            "a\0b": "見つかりません",
        }
        for path, sentence in missing.items():
            said = await chat.say(f"/attach {path}")
            assert (sentence in said, said.count("\n")) == (True, 1), path

    async def test_of_a_broken_database_are_one_sentence_a_line(self, chat: Talk, tmp_path: Path) -> None:
        await chat.say("こんにちは")
        with closing(sqlite3.connect(tmp_path / "chat.db")) as connection:
            for table in ("messages", "memories", "user_settings", "proposals"):
                connection.execute(f"ALTER TABLE {table} RENAME TO gone_{table}")
        for line in ("こんにちは", "/memory list", "/settings language en", "/accept", "/decline 1"):
            assert (await chat.say(line)).count("保存できませんでした") == 1, line

    async def test_that_are_stopped_keep_what_came_and_say_so(self, chat: Talk) -> None:
        chat.chat.stop()
        running = asyncio.create_task(chat.say("slow"))
        while "ここまでは" not in chat.out.getvalue():  # noqa: ASYNC110 - nothing else tells of it
            await asyncio.sleep(0.001)
        chat.chat.stop()
        assert "ここで止めました" in await running
        newest = (await chat.history())[-1]
        assert (newest.content, newest.status) == ("ここまでは", "stopped")


class TestNewestAnswer:
    async def test_is_given_again_continued_summed_up_and_gone_after_clear(self, chat: Talk) -> None:
        for line in ("/regenerate", "/continue"):
            assert await chat.say(line) == NO_ANSWER
        await chat.say("こんにちは")
        assert await chat.say("/regenerate") == "答え: **こんにちは**\n"
        assert len(await chat.history()) == 2
        assert "/continue" in await chat.say("cut")
        assert "続けてください。" in await chat.say("/continue")
        assert len(await chat.history()) == 6
        assert "要約はまだありません" in await chat.say("/summary")
        backlog = await chat.stores.summaries.get_backlog(KEY)
        assert backlog is not None
        await chat.stores.summaries.put(backlog, {"public": "- 犬が好き"})
        assert await chat.lines("/summary") == ["このチャンネルでの会話の要約", "- 犬が好き"]
        assert "消しました" in await chat.say("/summary delete")
        assert len(await chat.history()) == 6
        assert "まっさら" in await chat.say("/clear")
        assert await chat.say("/regenerate") == NO_ANSWER


class TestSettings:
    async def test_hold_from_the_same_line_on_until_they_go_back_to_the_default(self, chat: Talk) -> None:
        assert "見つかりません" in await chat.say("/settings timezone Tokyo/Asia")
        assert "Asia/Tokyo（既定）" in await chat.say("/settings")
        await chat.say("/settings timezone Europe/London")
        shown = await chat.say("/settings")
        assert "言語: 日本語（既定）" in shown
        assert "タイムゾーン: Europe/London\n" in shown
        said = await chat.say("/settings language en")
        assert said == "⚙️ Saved. Language: English, time zone: Europe/London\n"
        assert "There is no answer yet" in await chat.say("/regenerate")
        said = await chat.say("/settings language default timezone default")
        assert "日本語、タイムゾーン: Asia/Tokyo" in said


class PaidTalk(Talk):
    """A chat that is paid for."""

    def __init__(self, stores: Stores, locale: Locale) -> None:
        self.policy = Policy()
        answer: list[Step] = ["はい", Finish("stop", usage=Usage(1000, 200), model="small")]
        spending = Spending(stores.usage, self.now)
        answering = Assistant(stores, only(ScriptedModel([answer])), TOOLS, spending=spending)
        super().__init__(stores, locale, answering=answering)

    async def now(self) -> Policy:
        return self.policy

    def limit(self, name: LimitName, value: int) -> None:
        self.policy = Policy(limits={LimitKey("user", 0, name): value})


@pytest.mark.parametrize("locale", list(Locale))
async def test_usage_shows_tokens_models_and_what_is_left_and_a_limit_is_told_with_a_plain_time(
    stores: Stores, locale: Locale
) -> None:
    chat = PaidTalk(stores, locale)
    assert (await chat.say("/usage")).count("\n") == 1
    chat.limit("tokens_per_month", 5000)
    await chat.say("いち")
    shown = await chat.say("/usage")
    for part in ("1,200", "small: 1,200", "3,800"):
        assert part in shown
    assert re.search(r"^1,200 █+ \d+/\d+$", shown, re.MULTILINE)
    chat.limit("tokens_per_day", 1000)
    told = await chat.say("に")
    assert re.search(r"(次に使えるのは|again at )(\d{4}-\d\d-\d\d )?\d\d:\d\d", told)
    assert "<t:" not in told


NEW = ToolWording("天気を調べます。", json.dumps({"type": "object"}), read_only=True, waits=False)


@dataclass
class Weather:
    """One server, a tool of which is new."""

    accepted: list[str] = field(default_factory=list)

    def reports(self) -> tuple[ToolServerReport, ...]:
        withheld, code = ((), "") if self.accepted else (("weather__look",), "0a1b")
        return (ToolServerReport("weather", "ready", 0, 0, withheld=withheld, code=code),)

    def details(self, server: str) -> tuple[ToolDetails, ...]:
        if server != "weather":
            raise ToolServerUnknown
        return (ToolDetails("weather__look", "new", NEW, None),)

    async def accept(self, server: str, code: str) -> tuple[str, ...] | None:
        self.details(server)
        if self.accepted:
            return None
        if code != "0a1b":
            raise ToolListNotShown
        self.accepted.append(server)
        return ("weather__look",)


async def test_tool_servers_are_listed_read_and_accepted_as_they_were_read(stores: Stores) -> None:
    servers = Weather()
    chat = Talk(stores, servers=servers)
    for line in ("/admin tools", "／管理　ツール"):
        said = await chat.say(line)
        assert "weather — 使えます" in said
        assert "weather__look" in said
    said = await chat.say("/admin tools show weather")
    assert "  | 天気を調べます。" in said
    assert "0a1b" in said
    assert "何も承認していません" in await chat.say("/admin tools accept weather ffff")
    assert servers.accepted == []
    assert "weather__look" in await chat.say("/admin tools accept weather ０Ａ１Ｂ")
    assert servers.accepted == ["weather"]
