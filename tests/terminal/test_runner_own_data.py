"""`/privacy` in the terminal: what is stored about whoever sits there, shown, written to a file, erased."""

import io
import json
from pathlib import Path

import pytest

from cc_bot.domain import Locale
from cc_bot.stores import Stores
from cc_bot.terminal.chat import open_history
from cc_bot.terminal.commands import ErasePrivacy, ExportPrivacy, Misused, ShowPrivacy
from cc_bot.terminal.parsing import parse
from cc_bot.terminal.plain import PlainView
from cc_bot.terminal.runner import Runner
from tests.terminal.program import assistant, profile


class Chat:
    def __init__(self, stores: Stores, locale: Locale = Locale.JA, typed: Path | None = None) -> None:
        self.out = io.StringIO()
        view = PlainView(self.out, self.out)
        self.runner = Runner(
            assistant(stores),
            stores,
            profile(locale),
            view,
            forget_typed=lambda: open_history(typed).forget(),
        )

    async def say(self, line: str) -> str:
        self.out.seek(0)
        self.out.truncate()
        assert await self.runner.run(line)
        return self.out.getvalue()


def files_with(word: str, folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if word.encode() in path.read_bytes()]


@pytest.fixture
def chat(stores: Stores) -> Chat:
    return Chat(stores)


class TestCommand:
    @pytest.mark.parametrize("line", ["/privacy", "/privacy show", "／ｐｒｉｖａｃｙ"])
    def test_shows_by_itself(self, line: str) -> None:
        assert parse(line) == ShowPrivacy()

    def test_exports_and_erases(self) -> None:
        assert parse("/privacy export") == ExportPrivacy()
        assert parse("/privacy export my data.json") == ExportPrivacy("my data.json")
        assert parse("/privacy erase") == ErasePrivacy()
        assert parse("/privacy erase --now") == ErasePrivacy(now=True)

    def test_with_a_word_too_many_is_a_mistake(self) -> None:
        assert parse("/privacy erase everything") == Misused("privacy erase", "argument", "everything")
        assert parse("/privacy off") == Misused("privacy show", "argument", "off")


class TestShow:
    async def test_tells_how_much_there_is(self, chat: Chat) -> None:
        await chat.say("/memory add しまうまが好き")
        told = await chat.say("/privacy")
        assert "メモリ（以前の内容をふくむ）: 1件" in told
        assert "-#" not in told

    async def test_of_nothing_says_so(self, stores: Stores) -> None:
        assert "Nothing is stored about you." in await Chat(stores, Locale.EN).say("/privacy")


class TestExport:
    async def test_is_a_file_for_its_user_alone_and_never_overwrites_one(
        self, chat: Chat, tmp_path: Path
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

    async def test_of_nothing_writes_no_file(self, chat: Chat, tmp_path: Path) -> None:
        assert "何もありません" in await chat.say(f"/privacy export {tmp_path}/mine.json")
        assert not (tmp_path / "mine.json").exists()


class TestErase:
    async def test_tells_first_what_goes(self, chat: Chat, stores: Stores) -> None:
        await chat.say("/memory add しまうまが好き")
        assert "/privacy erase --now" in await chat.say("/privacy erase")
        assert await stores.memories.count(0) == 1

    async def test_leaves_nothing_of_what_was_said_kept_and_typed(
        self, stores: Stores, tmp_path: Path
    ) -> None:
        typed = tmp_path / "chat_history"
        open_history(typed).append_string("しまうまの名前は？")
        chat = Chat(stores, typed=typed)
        await chat.say("しまうまの名前は？")
        assert len(files_with("しまうま", tmp_path)) >= 2
        await chat.say("/memory add しまうまが好き")
        assert "すべて消しました" in await chat.say("/privacy erase --now")
        assert files_with("しまうま", tmp_path) == []
        assert "何もありません" in await chat.say("/privacy erase")
