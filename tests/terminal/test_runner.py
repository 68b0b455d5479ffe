"""What one line after another does in a chat: questions, the newest answer, settings, attachments, limits."""

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from cc_bot.domain import Locale
from cc_bot.domain.errors import DatabaseFull
from cc_bot.terminal.runner import for_operator
from cc_bot.texts import texts
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

    async def test_of_a_model_that_is_set_up_wrong_say_what_to_set(self, chat: Talk) -> None:
        said = texts(Locale.JA).terminal
        for question, sentence in {
            "wrong-port": said.model_unreachable.format(host="models.example:1"),
            "wrong-key": said.model_refused_key,
            "wrong-model": said.model_not_found.format(model="gpt-9"),
            "wrong-question": said.model_refused_request,
        }.items():
            assert sentence in await chat.say(question)

    def test_that_only_the_operator_can_fix_do_not_send_them_to_the_operator(self) -> None:
        for locale in Locale:
            words = texts(locale)
            told = [text for text in words.errors.of.values() if "管理者に" in text or "tell the" in text]
            assert len(told) > 10
            assert [text for text in told if words.errors.tell_operator not in text] == []
            said = for_operator(DatabaseFull(), words, str)
            assert words.errors.tell_operator not in said
            assert words.terminal.ask_doctor in said

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
