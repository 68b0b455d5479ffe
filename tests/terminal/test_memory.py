"""`/memory` in the terminal, and what stands under an answer of what it did to memories."""

import json
import re
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cc_bot.stores import Stores
from tests.terminal.talk import Talk


class TestList:
    async def test_is_narrowed_down_and_one_that_is_long_says_how_to_go_on(self, chat: Talk) -> None:
        assert "（#1）: 誕生日は3月15日" in await chat.say("/memory add 誕生日は3月15日 --tags 家族")
        for number in range(1, 46):
            await chat.stores.memories.add(0, f"メモ{number}", category="買う もの")
        assert "#1" in await chat.say("/memory search 誕生日")
        shown = await chat.say("/memory list 一般")
        assert ("誕生日" in shown, "#家族" in shown, "メモ1" in shown) == (True, True, False)
        seen: list[str] = []
        line: str | None = "/memory list 買う もの"
        while line:
            shown = await chat.say(line)
            seen += re.findall(r"^#\d+", shown, re.MULTILINE)
            older = re.search("/memory list .* --before \\d+", shown)
            line = older and older[0]
        assert len(seen) == len(set(seen)) == 45


class TestEdit:
    async def test_changes_what_is_given_and_can_be_taken_back(self, chat: Talk, stores: Stores) -> None:
        await chat.say("/memory add 猫はタマ --category 猫 --tags ペット --until 3日後")
        memory = await stores.memories.get(0, 1)
        assert memory is not None
        assert memory.expires_at is not None
        assert timedelta(days=3) < memory.expires_at - datetime.now(UTC) <= timedelta(days=4)
        assert "#1 を変更しました" in await chat.say("/memory edit 1 猫はミケ --until -")
        memory = await stores.memories.get(0, 1)
        assert memory is not None
        assert (memory.content, memory.category, memory.tags) == ("猫はミケ", "猫", ("ペット",))
        assert memory.expires_at is None
        assert "取り消しました" in await chat.say("/memory undo 1")
        assert "取り消せる変更はありません" in await chat.say("/memory undo 1")
        for text in ("ミケ", "モチ"):
            await chat.say(f"/memory edit 1 猫は{text}")
        shown = await chat.say("/memory show 1")
        for part in ("/memory restore 1 1", "#ペット", "猫はタマ"):
            assert part in shown
        assert "メモリ #1\n猫はミケ" in await chat.say("/memory restore 1 1")


class TestDelete:
    async def test_says_how_to_undo_it_and_asks_first_for_all(self, english: Talk) -> None:
        assert "no memories yet" in await english.say("/memory delete-all")
        for text in ("One", "Two", "Three"):
            await english.say(f"/memory add {text}")
        assert "/memory undo 1" in await english.say("/memory delete 1")
        await english.say("/memory undo 1")
        assert len(await english.kept()) == 3
        assert "Erased for good" in await english.say("/memory delete 1 --now")
        assert "no memory #1" in await english.say("/memory undo 1")
        for line in ("/memory delete-all", "/memory delete-all 1"):
            assert "/memory delete-all 2" in await english.say(line)
        assert len(await english.kept()) == 2
        assert "Erased for good" in await english.say("/memory delete-all 2")
        assert await english.kept() == []


class TestFiles:
    async def test_go_out_and_come_back_and_are_never_overwritten(self, chat: Talk, tmp_path: Path) -> None:
        file = tmp_path / "メモリ.json"
        await chat.say("/memory add 誕生日は3月15日 --category 家族")
        await chat.say("/memory pin 1")
        assert f"1件を {file} に書き出しました" in await chat.say(f"/memory export {file}")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        [exported] = json.loads(file.read_text())["memories"]
        assert (exported["category"], exported["pinned"]) == ("家族", True)
        await chat.say(f"/memory export {tmp_path}/m.md")
        assert "## 家族" in (tmp_path / "m.md").read_text()
        assert "もうあります" in await chat.say(f"/memory export {tmp_path}/m.md")
        await chat.say("/memory delete-all 1")
        told = await chat.say(f"/memory import {file}")
        assert "新しく覚える: 1件" in told
        assert f"/memory import --now {file}" in told
        assert await chat.kept() == []
        assert "1件を覚えました" in await chat.say(f"/memory import --now {file}")
        assert "一時停止しました" in await chat.say("/memory pause")
        for line in ("/memory add x", f"/memory import --now {file}", "/memory stats"):
            assert "一時停止中" in await chat.say(line)
        await chat.say("/memory resume")
        assert "覚えました" in await chat.say("/memory add x")


MISTAKES: Final = {
    "": "list、search、add、show",
    "add": "覚える内容が空です",
    "add 昔の予定 --until 2020-01-01": "もう過ぎています",
    "search ない": "「ない」に合うメモリは見つかりません",
    "list 旅行": "カテゴリ「旅行」のメモリはありません",
    **dict.fromkeys(("show 9", "edit 9 x", "restore 9", "undo 9", "delete 9"), "#9 のメモリは見つかりません"),
    "delete x": "番号を指定",
    "edit 1 --until soon": "期限が読み取れません",
    "edit 1 パスワードは Tr0ub4dor&3": "保存しませんでした",
    "restore 1 3": "もう残っていません",
    **dict.fromkeys(("export {folder}/none/m.json", "export {folder}/\0"), "書き込めません"),
    "import {folder}/none.json": "見つかりません",
    "import {folder}": "読めません",
    "import {folder}/large.txt": "大きすぎます",
    "import {folder}/strange.json": "メモリの一覧として読めません",
}


async def test_each_mistake_has_one_sentence(chat: Talk, tmp_path: Path) -> None:
    await chat.say("/memory add 猫はタマ")
    (tmp_path / "large.txt").write_text("x" * (2**20 + 1))
    (tmp_path / "strange.json").write_text('{"a": 1}')
    for line, sentence in MISTAKES.items():
        said = await chat.say(f"/memory {line.format(folder=tmp_path)}")
        assert (sentence in said, said.count("\n")) == (True, 1), (line, said)
    assert await chat.kept() == ["猫はタマ"]
