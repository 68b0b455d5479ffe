"""`/privacy` in the terminal: what is stored about whoever sits there, shown, written to a file, erased."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cc_bot.stores import Stores
from cc_bot.terminal.chat import open_history
from tests.terminal.talk import Talk


def files_with(word: str, folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if word.encode() in path.read_bytes()]


@pytest.fixture
def chat(stores: Stores, tmp_path: Path) -> Talk:
    """One in whose history something was typed."""
    typed = tmp_path / "chat_history"
    open_history(typed).append_string("しまうまの名前は？")
    return Talk(stores, forget_typed=lambda: open_history(typed).forget())


class TestExport:
    async def test_is_for_its_user_alone_and_overwrites_nothing(
        self, chat: Talk, english: Talk, tmp_path: Path
    ) -> None:
        file = tmp_path / "mine.json"
        assert "Nothing is stored about you." in await english.say("/privacy")
        assert "何もありません" in await chat.say(f"/privacy export {file}")
        assert not file.exists()
        await chat.say("/memory add しまうまが好き")
        told = await chat.say("/privacy")
        assert ("メモリ（以前の内容をふくむ）: 1件" in told, "-#" in told) == (True, False)
        assert "mine.json" in await chat.say(f"/privacy export {file}")
        assert file.stat().st_mode & 0o777 == 0o600
        written = file.read_text(encoding="utf-8")
        assert [each["content"] for each in json.loads(written)["data"]["memories"]] == ["しまうまが好き"]
        await chat.say("/memory add きりんも好き")
        assert "mine.json" in await chat.say(f"/privacy export {file}")
        assert file.read_text(encoding="utf-8") == written


class TestErase:
    async def test_tells_first_what_goes_and_leaves_nothing_of_it(self, chat: Talk, tmp_path: Path) -> None:
        await chat.say("しまうまの名前は？")
        await chat.say("/memory add しまうまが好き")
        assert "/privacy erase --now" in await chat.say("/privacy erase")
        assert len(files_with("しまうま", tmp_path)) >= 2
        assert "すべて消しました" in await chat.say("/privacy erase --now")
        assert files_with("しまうま", tmp_path) == []
        assert "何もありません" in await chat.say("/privacy erase")

    async def test_that_fails_on_the_way_leaves_nothing_typed(self, chat: Talk, tmp_path: Path) -> None:
        await chat.say("/memory add しまうまが好き")
        with closing(sqlite3.connect(next(tmp_path.glob("*.db")))) as database, database:  # noqa: ASYNC240
            refuse = "BEGIN SELECT RAISE(ABORT, 'not now'); END"
            database.execute(f"CREATE TRIGGER in_the_way BEFORE DELETE ON memories {refuse}")
        assert "残りは自動で消えます" in await chat.say("/privacy erase --now")
        assert "chat_history" not in files_with("しまうま", tmp_path)
