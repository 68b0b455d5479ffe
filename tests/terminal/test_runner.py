import asyncio
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.terminal.talk import KEY, Talk


class TestQuestions:
    async def test_the_first_answer_comes_with_the_hint_and_later_ones_without(self, chat: Talk) -> None:
        assert await chat.say("こんにちは") == (
            "答え: **こんにちは**\n◆ 💡 /help で、できることの一覧を見られます。\n"
        )
        assert await chat.say("/ask こんにちは") == "答え: **こんにちは**\n"

    async def test_a_turn_is_stored_with_both_sides(self, chat: Talk) -> None:
        await chat.say("こんにちは")
        assert [(m.role, m.content) for m in await chat.history()] == [
            ("user", "こんにちは"),
            ("assistant", "答え: **こんにちは**"),
        ]

    async def test_a_temporary_question_leaves_nothing(self, chat: Talk) -> None:
        assert "答え" in await chat.say("/ask --temporary ひみつ")
        assert not await chat.history()

    async def test_an_empty_question_gets_a_sentence(self, chat: Talk) -> None:
        assert "質問が空です" in await chat.say("/ask")

    async def test_a_model_that_is_down_is_one_sentence_and_the_chat_goes_on(self, chat: Talk) -> None:
        assert (await chat.say("down")).count("\n") == 1
        assert "答え" in await chat.say("まだいますか")
        assert len(await chat.history()) == 2

    async def test_a_blank_line_does_nothing(self, chat: Talk) -> None:
        assert await chat.say("   ") == ""

    async def test_exit_asks_to_leave(self, chat: Talk) -> None:
        assert await chat.runner.run("/exit") is False


class TestStop:
    async def test_keeps_what_came_and_says_so(self, chat: Talk) -> None:
        running = asyncio.create_task(chat.say("slow"))
        while "ここまでは" not in chat.out.getvalue():  # noqa: ASYNC110 - nothing else tells of it
            await asyncio.sleep(0.001)
        chat.chat.stop()
        assert "ここで止めました" in await running
        newest = (await chat.history())[-1]
        assert (newest.content, newest.status) == ("ここまでは", "stopped")

    async def test_between_answers_it_does_nothing(self, chat: Talk) -> None:
        chat.chat.stop()
        assert "答え" in await chat.say("こんにちは")


class TestNewestAnswer:
    async def test_is_given_again_in_place_of_the_old_one(self, chat: Talk) -> None:
        await chat.say("こんにちは")
        assert await chat.say("/regenerate") == "答え: **こんにちは**\n"
        assert len(await chat.history()) == 2

    async def test_is_continued_by_a_turn_of_its_own(self, chat: Talk) -> None:
        assert "/continue" in await chat.say("cut")
        assert "続けてください。" in await chat.say("/continue")
        assert len(await chat.history()) == 4

    @pytest.mark.parametrize("line", ["/regenerate", "/continue"])
    async def test_needs_to_be_there(self, chat: Talk, line: str) -> None:
        assert await chat.say(line) == "まだ回答がありません。先に何か聞いてください。\n"

    async def test_is_gone_after_clear(self, chat: Talk) -> None:
        await chat.say("こんにちは")
        assert "まっさら" in await chat.say("/clear")
        assert "まだ回答がありません" in await chat.say("/regenerate")


class TestMemories:
    async def test_are_added_found_listed_and_deleted(self, chat: Talk) -> None:
        assert "（#1）: 誕生日は3月15日" in await chat.say("/memory add 誕生日は3月15日 --tags 家族")
        assert "#1" in await chat.say("/memory search 誕生日")
        assert "#家族" in await chat.say("/memory list")
        assert "忘れました（#1）" in await chat.say("/memory delete 1")
        assert "まだありません" in await chat.say("/memory list")

    async def test_the_default_category_answers_to_its_shown_name(self, chat: Talk) -> None:
        await chat.say("/memory add 牛乳を買う")
        await chat.say("/memory add 会議は月曜 --category 仕事")
        shown = await chat.say("/memory list 一般")
        assert "牛乳" in shown
        assert "会議" not in shown

    async def test_a_long_list_says_how_to_go_on(self, chat: Talk) -> None:
        for number in range(1, 46):
            await chat.stores.memories.add(0, f"メモ{number}", category="買う もの")
        seen: list[str] = []
        line: str | None = "/memory list 買う もの"
        while line:
            shown = await chat.say(line)
            seen += re.findall(r"^#\d+", shown, re.MULTILINE)
            older = re.search("/memory list .* --before \\d+", shown)
            line = older and older[0]
        assert len(seen) == len(set(seen)) == 45

    async def test_what_the_model_remembers_is_listed(self, chat: Talk) -> None:
        assert "◆ メモリを扱いました" in await chat.say("remember")
        assert "誕生日は3月15日" in await chat.say("/memory list")

    @pytest.mark.parametrize(
        ("line", "sentence"),
        [
            ("/memory add", "覚える内容が空です"),
            ("/memory search", "探したい言葉を"),
            ("/memory search ない", "「ない」に合うメモリは見つかりません"),
            ("/memory delete x", "番号を指定"),
            ("/memory delete 99", "#99 のメモリは見つかりません"),
            ("/memory list 旅行", "カテゴリ「旅行」のメモリはありません"),
            ("/memory", "list、search、add、show"),
        ],
    )
    async def test_each_mistake_has_one_sentence(self, chat: Talk, line: str, sentence: str) -> None:
        said = await chat.say(line)
        assert sentence in said
        assert said.count("\n") == 1


class TestSettings:
    async def test_a_language_holds_from_the_same_line_on(self, chat: Talk) -> None:
        assert await chat.say("/settings language en") == (
            "⚙️ Saved. Language: English, time zone: Asia/Tokyo\n"
        )
        assert "There is no answer yet" in await chat.say("/regenerate")

    async def test_are_shown_with_what_is_default(self, chat: Talk) -> None:
        await chat.say("/settings timezone Europe/London")
        shown = await chat.say("/settings")
        assert "言語: 日本語（既定）" in shown
        assert "タイムゾーン: Europe/London\n" in shown

    async def test_go_back_to_the_default(self, chat: Talk) -> None:
        await chat.say("/settings language en timezone Europe/London")
        assert "日本語、タイムゾーン: Asia/Tokyo" in await chat.say(
            "/settings language default timezone default"
        )

    async def test_an_unknown_time_zone_changes_nothing(self, chat: Talk) -> None:
        assert "見つかりません" in await chat.say("/settings timezone Tokyo/Asia")
        assert "Asia/Tokyo（既定）" in await chat.say("/settings")


class TestAttachments:
    async def test_go_with_the_next_question_only(self, chat: Talk, tmp_path: Path) -> None:
        note = tmp_path / "メモ 1.txt"
        note.write_text("買い物: 牛乳", encoding="utf-8")
        assert "メモ 1.txt" in await chat.say(f"/attach {note}")
        assert chat.attached == ["メモ 1.txt"]
        await chat.say("何を買う？")
        assert chat.attached == []
        question, _ = await chat.history()
        assert question.attachments[0].data.decode() == "買い物: 牛乳"

    async def test_stay_when_there_was_no_answer(self, chat: Talk, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("x")
        await chat.say(f"/attach {tmp_path}/a.txt")
        await chat.say("down")
        assert chat.attached == ["a.txt"]

    async def test_are_taken_back(self, chat: Talk, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("x")
        await chat.say(f"/attach {tmp_path}/a.txt")
        assert "取り消しました" in await chat.say("/detach")
        assert "添付はありません" in await chat.say("/detach")

    @pytest.mark.parametrize(
        ("path", "sentence"),
        [
            ("ない.txt", "が見つかりません"),
            ("", "指定してください"),
            (".", "読めません"),
            ("a\0b", "見つかりません"),
        ],
    )
    async def test_a_file_that_cannot_be_read_is_one_sentence(
        self, chat: Talk, path: str, sentence: str
    ) -> None:
        said = await chat.say(f"/attach {path}")
        assert sentence in said
        assert said.count("\n") == 1


class TestBrokenDatabase:
    async def test_is_one_sentence_a_line_and_the_chat_goes_on(self, chat: Talk, tmp_path: Path) -> None:
        await chat.say("こんにちは")
        with closing(sqlite3.connect(tmp_path / "chat.db")) as connection:
            for table in ("messages", "memories", "user_settings"):
                connection.execute(f"ALTER TABLE {table} RENAME TO gone_{table}")
        for line in ("こんにちは", "/memory list", "/settings language en"):
            assert (await chat.say(line)).count("保存できませんでした") == 1


class TestSummary:
    async def test_is_shown_and_deleted(self, chat: Talk) -> None:
        assert "要約はまだありません" in await chat.say("/summary")
        await chat.say("犬が好き")
        backlog = await chat.stores.summaries.get_backlog(KEY)
        assert backlog is not None
        await chat.stores.summaries.put(backlog, {"public": "- 犬が好き"})
        assert await chat.say("/summary") == "このチャンネルでの会話の要約\n- 犬が好き\n"
        assert "消しました" in await chat.say("/summary delete")
        assert "要約はまだありません" in await chat.say("/summary delete")
        assert len(await chat.history()) == 2
