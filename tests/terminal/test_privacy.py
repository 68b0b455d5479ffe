"""`/privacy` in the terminal: what is stored about whoever sits there, shown, written to a file, erased."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from cc_bot.domain import Locale
from cc_bot.stores import Stores
from cc_bot.terminal.chat import open_history
from tests.terminal.talk import Talk


def files_with(word: str, folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if word.encode() in path.read_bytes()]


class TestShow:
    async def test_tells_how_much_there_is(self, chat: Talk) -> None:
        await chat.say("/memory add しまうまが好き")
        told = await chat.say("/privacy")
        assert "メモリ（以前の内容をふくむ）: 1件" in told
        assert "-#" not in told

    async def test_of_nothing_says_so(self, stores: Stores) -> None:
        assert "Nothing is stored about you." in await Talk(stores, Locale.EN).say("/privacy")


class TestExport:
    async def test_is_a_file_for_its_user_alone_and_never_overwrites_one(
        self, chat: Talk, tmp_path: Path
    ) -> None:
        await chat.say("/memory add しまうまが好き")
        file = tmp_path / "mine.json"
        assert "mine.json" in await chat.say(f"/privacy export {file}")
        assert file.stat().st_mode & 0o777 == 0o600
        [memory] = json.loads(file.read_text(encoding="utf-8"))["data"]["memories"]
        assert memory["content"] == "しまうまが好き"
        written = file.read_bytes()
        await chat.say("/memory add きりんも好き")
        assert "mine.json" in await chat.say(f"/privacy export {file}")
        assert file.read_bytes() == written

    async def test_of_nothing_writes_no_file(self, chat: Talk, tmp_path: Path) -> None:
        assert "何もありません" in await chat.say(f"/privacy export {tmp_path}/mine.json")
        assert not (tmp_path / "mine.json").exists()


class TestErase:
    async def test_tells_first_what_goes(self, chat: Talk, stores: Stores) -> None:
        await chat.say("/memory add しまうまが好き")
        assert "/privacy erase --now" in await chat.say("/privacy erase")
        assert await stores.memories.count(0) == 1

    async def test_leaves_nothing_of_what_was_said_kept_and_typed(
        self, stores: Stores, tmp_path: Path
    ) -> None:
        typed = tmp_path / "chat_history"
        open_history(typed).append_string("しまうまの名前は？")
        chat = Talk(stores, forget_typed=lambda: open_history(typed).forget())
        await chat.say("しまうまの名前は？")
        assert len(files_with("しまうま", tmp_path)) >= 2
        await chat.say("/memory add しまうまが好き")
        assert "すべて消しました" in await chat.say("/privacy erase --now")
        assert files_with("しまうま", tmp_path) == []
        assert "何もありません" in await chat.say("/privacy erase")

    async def test_that_fails_on_the_way_leaves_nothing_of_what_was_typed(
        self, stores: Stores, tmp_path: Path
    ) -> None:
        typed = tmp_path / "chat_history"
        open_history(typed).append_string("しまうまの名前は？")
        chat = Talk(stores, forget_typed=lambda: open_history(typed).forget())
        await chat.say("/memory add しまうまが好き")
        with closing(sqlite3.connect(next(tmp_path.glob("*.db")))) as database, database:  # noqa: ASYNC240
            refuse = "BEGIN SELECT RAISE(ABORT, 'not now'); END"
            database.execute(f"CREATE TRIGGER in_the_way BEFORE DELETE ON memories {refuse}")
        assert "残りは自動で消えます" in await chat.say("/privacy erase --now")
        assert not [file for file in files_with("しまうま", tmp_path) if file.name.startswith("chat_history")]
