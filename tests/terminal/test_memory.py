"""`/memory` in the terminal: what is done to memories there, in front of the plain view."""

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cc_bot.domain import Source
from cc_bot.domain.memory import MAX_PINNED
from cc_bot.stores import Stores
from tests.terminal.talk import Talk


class TestShow:
    async def test_tells_everything(self, chat: Talk, stores: Stores) -> None:
        await stores.memories.add(
            0,
            "一行目\n二行目",
            category="家族",
            tags=["記念日"],
            audience="private",
            source=Source("message", link="https://discord.com/channels/1/2/3", author="Ben"),
        )
        shown = await chat.say("/memory show 1")
        for part in (
            "一行目\n二行目",
            "家族",
            "#記念日",
            "🔒",
            "Ben さんのメッセージから",
            "/channels/1/2/3",
        ):
            assert part in shown

    async def test_of_what_is_not_there_says_so(self, english: Talk) -> None:
        assert "There is no memory #9" in await english.say("/memory show 9")

    async def test_marks_in_a_list_what_is_private_or_over(self, chat: Talk, stores: Stores) -> None:
        over = datetime(2020, 1, 1, tzinfo=UTC)
        await stores.memories.add(0, "昔の予定", audience="private", expires_at=over)
        assert "#1  🔒⌛" in await chat.say("/memory list")


class TestUntil:
    async def test_is_said_as_for_a_reminder(self, chat: Talk, stores: Stores) -> None:
        await chat.say("/memory add 出張中 --until 3日後")
        [memory] = await stores.memories.list(0)
        assert memory.expires_at is not None
        assert timedelta(days=3) < memory.expires_at - datetime.now(UTC) <= timedelta(days=4)

    async def test_that_is_over_is_refused(self, chat: Talk, stores: Stores) -> None:
        assert "もう過ぎています" in await chat.say("/memory add 昔の予定 --until 2020-01-01")
        assert await stores.memories.list(0) == []


class TestEdit:
    async def test_changes_what_is_given_and_nothing_else(self, chat: Talk, stores: Stores) -> None:
        await chat.say("/memory add 猫はタマ --category 猫 --tags ペット --until 2030-01-01")
        assert "#1 を変更しました" in await chat.say("/memory edit 1 猫はミケ --until -")
        memory = await stores.memories.get(0, 1)
        assert memory is not None
        assert (memory.content, memory.category, memory.tags) == ("猫はミケ", "猫", ("ペット",))
        assert memory.expires_at is None

    async def test_is_undone(self, chat: Talk) -> None:
        await chat.say("/memory add 猫はタマ")
        await chat.say("/memory edit 1 猫はミケ")
        assert "取り消しました" in await chat.say("/memory undo 1")
        assert "猫はタマ" in await chat.say("/memory show 1")
        assert "取り消せる変更はありません" in await chat.say("/memory undo 1")

    async def test_goes_back_to_any_former_text(self, chat: Talk) -> None:
        await chat.say("/memory add 猫はタマ")
        await chat.say("/memory edit 1 猫はミケ")
        await chat.say("/memory edit 1 猫はモチ")
        shown = await chat.say("/memory show 1")
        assert shown.index("1. ") < shown.index("猫はミケ") < shown.index("2. ") < shown.index("猫はタマ")
        assert "/memory restore 1 1" in shown
        assert "メモリ #1\n猫はタマ" in await chat.say("/memory restore 1 2")
        assert "メモリ #1\n猫はモチ" in await chat.say("/memory restore 1")

    @pytest.mark.parametrize(
        ("line", "sentence"),
        [
            ("/memory edit 1 --until soon", "期限が読み取れません"),
            ("/memory edit 1 パスワードは Tr0ub4dor&3", "保存しませんでした"),
            ("/memory edit 9 x", "#9 のメモリは見つかりません"),
            ("/memory restore 9", "#9 のメモリは見つかりません"),
            ("/memory restore 1 3", "もう残っていません"),
            ("/memory restore 1 x", "番号"),
            ("/memory undo 9", "#9 のメモリは見つかりません"),
        ],
    )
    async def test_that_does_not_go_has_one_sentence(self, chat: Talk, line: str, sentence: str) -> None:
        await chat.say("/memory add 猫はタマ")
        said = await chat.say(line)
        assert sentence in said
        assert said.count("\n") == 1
        assert "猫はタマ" in await chat.say("/memory show 1")


class TestDelete:
    async def test_says_how_to_undo_it(self, chat: Talk) -> None:
        await chat.say("/memory add もう要らない")
        assert "/memory undo 1" in await chat.say("/memory delete 1")
        assert "元に戻しました（#1）" in await chat.say("/memory undo 1")
        assert "もう要らない" in await chat.say("/memory list")

    async def test_now_is_for_good(self, chat: Talk) -> None:
        await chat.say("/memory add もう要らない")
        assert "完全に消しました" in await chat.say("/memory delete 1 --now")
        assert "見つかりません" in await chat.say("/memory undo 1")

    async def test_of_all_asks_first(self, english: Talk) -> None:
        assert "no memories yet" in await english.say("/memory delete-all")
        await english.say("/memory add One")
        await english.say("/memory add Two")
        assert "/memory delete-all 2" in await english.say("/memory delete-all")
        assert "/memory delete-all 2" in await english.say("/memory delete-all 1")
        assert "Two" in await english.say("/memory list")
        assert "Erased for good" in await english.say("/memory delete-all 2")
        assert "no memories yet" in await english.say("/memory list")


class TestFiles:
    async def test_go_out_and_come_back(self, chat: Talk, tmp_path: Path) -> None:
        file = tmp_path / "メモリ.json"
        await chat.say("/memory add 誕生日は3月15日 --category 家族")
        assert f"1件を {file} に書き出しました" in await chat.say(f"/memory export {file}")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert json.loads(file.read_text())["memories"][0]["category"] == "家族"
        await chat.say("/memory delete-all 1")
        told = await chat.say(f"/memory import {file}")
        assert "新しく覚える: 1件" in told
        assert f"/memory import --now {file}" in told
        assert "まだありません" in await chat.say("/memory list")
        assert "1件を覚えました" in await chat.say(f"/memory import --now {file}")
        assert "家族" in await chat.say("/memory list")

    async def test_in_markdown_are_for_reading(self, chat: Talk, tmp_path: Path) -> None:
        await chat.say("/memory add 誕生日は3月15日 --category 家族")
        await chat.say(f"/memory export {tmp_path}/m.md")
        assert "## 家族" in (tmp_path / "m.md").read_text()

    async def test_are_never_overwritten(self, chat: Talk, tmp_path: Path) -> None:
        await chat.say("/memory add x")
        (tmp_path / "m.json").write_text("mine")
        assert "もうあります" in await chat.say(f"/memory export {tmp_path}/m.json")
        assert (tmp_path / "m.json").read_text() == "mine"

    @pytest.mark.parametrize(
        ("line", "sentence"),
        [
            ("/memory export {folder}/none/m.json", "書き込めません"),
            ("/memory export {folder}/\0", "書き込めません"),
            ("/memory import {folder}/none.json", "見つかりません"),
            ("/memory import {folder}", "読めません"),
            ("/memory import {folder}/large.txt", "大きすぎます"),
            ("/memory import {folder}/strange.json", "メモリの一覧として読めません"),
        ],
    )
    async def test_that_do_not_go_have_one_sentence(
        self, chat: Talk, tmp_path: Path, line: str, sentence: str
    ) -> None:
        await chat.say("/memory add x")
        (tmp_path / "large.txt").write_text("x" * (2**20 + 1))
        (tmp_path / "strange.json").write_text('{"a": 1}')
        said = await chat.say(line.format(folder=tmp_path))
        assert sentence in said
        assert said.count("\n") == 1


class TestPause:
    async def test_keeps_nothing_until_it_is_over(self, chat: Talk, tmp_path: Path) -> None:
        (tmp_path / "m.txt").write_text("お茶が好き")
        assert "一時停止しました" in await chat.say("/memory pause")
        assert "一時停止中" in await chat.say("/memory add x")
        assert "一時停止中" in await chat.say(f"/memory import --now {tmp_path}/m.txt")
        assert "一時停止中" in await chat.say("/memory stats")
        assert "再開しました" in await chat.say("/memory resume")
        assert "覚えました" in await chat.say("/memory add x")


class TestStats:
    async def test_show_how_much_there_is_of_what(self, chat: Talk) -> None:
        await chat.say("/memory add 一 --category 仕事 --private")
        await chat.say("/memory add 二 --category 仕事")
        await chat.say("/memory add 三")
        shown = await chat.say("/memory stats")
        assert "あなたのメモリ 3件" in shown
        assert "▰▰▰▰▰▰▰▰▰▰ 仕事 2件\n▰▰▰▰▰▱▱▱▱▱ 一般 1件" in shown


class TestPin:
    async def test_marks_a_memory_until_it_is_taken_off(self, chat: Talk, stores: Stores) -> None:
        await stores.memories.add(0, "猫の名前はモチ")
        assert (await chat.say("/memory pin 1")).startswith(
            "📌 #1 をピン留めしました。\nこのボットでは、ピンは見分けるための印です。"
        )
        assert "#1  📌  " in await chat.say("/memory list")
        assert "📌 メモリ #1" in await chat.say("/memory show 1")
        assert await chat.say("/memory pin 1 --off") == "#1 のピンを外しました。\n"
        assert "📌" not in await chat.say("/memory list")

    async def test_says_so_when_it_cannot_be_done(self, english: Talk, stores: Stores) -> None:
        for number in range(MAX_PINNED + 1):
            await stores.memories.add(0, f"Note {number}")
        for number in range(1, MAX_PINNED + 1):
            await english.say(f"/memory pin #{number}")
        assert "You can pin up to 10 memories." in await english.say("/memory pin 11")
        assert "There is no memory #99." in await english.say("/memory pin 99")
        assert "Give the number of the memory." in await english.say("/memory pin the cat")

    async def test_is_of_the_users_own_alone(self, chat: Talk, stores: Stores) -> None:
        other = await stores.memories.add(8, "別の人のメモ")
        assert "見つかりません" in await chat.say(f"/memory pin {other.id}")
        assert [each.pinned for each in await stores.memories.list(8)] == [False]

    async def test_goes_into_both_kinds_of_files(
        self, chat: Talk, stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        await stores.memories.add(0, "猫の名前はモチ")
        await chat.say("/memory pin 1")
        await chat.say("/memory export notes.md")
        await chat.say("/memory export notes.json")
        assert "*📌 ・ " in (tmp_path / "notes.md").read_text("utf-8")
        assert '"pinned": true' in (tmp_path / "notes.json").read_text("utf-8")
