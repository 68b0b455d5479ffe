"""Proposals in the terminal: `/accept` and `/decline`, beside an answer and in a later chat."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from freezegun import freeze_time

from cc_bot.domain import Locale, Message, SessionKey
from cc_bot.domain.canvas import AddCard
from cc_bot.domain.clock import utc_now
from cc_bot.domain.proposal import (
    AddReminder,
    CancelReminder,
    ChangeMemory,
    Draw,
    ForgetMemory,
    KeepMemory,
    Proposal,
    ProposedChange,
)
from cc_bot.stores import Stores
from cc_bot.terminal.conversation import proposals_like
from tests import documents
from tests.terminal.talk import KEY, Talk

NOON = datetime(2026, 11, 22, 3, tzinfo=UTC)  # in Tokyo, on a Sunday
CAT = KeepMemory("猫が好き", "general", (), "anywhere")
DOG = KeepMemory("犬が好き", "general", (), "anywhere")


async def propose(stores: Stores, *changes: ProposedChange, key: SessionKey = KEY) -> Sequence[Proposal]:
    session = await stores.sessions.open(key)
    turn = (Message("user", "これは？"), Message("assistant", "はい", tainted=True))
    return (await stores.sessions.archive_turn(session, turn, proposals=changes)).proposals


async def offered(chat: Talk) -> list[str]:
    return [each.text for each in await proposals_like(chat.chat, "")]


def break_proposals(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("ALTER TABLE proposals RENAME TO gone")


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.txt"
    path.write_text("誕生日は3月15日", encoding="utf-8")
    return path


class TestQuestionWithAFile:
    async def test_changes_nothing_and_shows_what_it_would(self, chat: Talk, note: Path) -> None:
        await chat.lines(f"/attach {note}")
        said = await chat.lines("remember")
        assert said[:2] == ["◆ メモリを扱いました", "答え: **remember"]
        assert said[said.index("◆ 💡 /help で、できることの一覧を見られます。") + 1 :] == [
            "◆ 📝 確認待ち: まだ何も変わっていません。あなたが選んだときだけ実行します（7日間有効）。",
            "◆ 提案 #1: 💾 メモリに覚える",
            "  │ 誕生日は3月15日",
            "◆   カテゴリ: 一般",
            "◆   タグ: #誕生日",
            "◆   使う場所: どこでも",
            "◆   実行するなら /accept 1、しないなら /decline 1",
        ]
        assert await chat.kept() == []

    async def test_that_is_a_document_is_read(self, chat: Talk, tmp_path: Path) -> None:
        (tmp_path / "報告.pdf").write_bytes(documents.pdf(["保証期間は二年間です。"]))
        (tmp_path / "紙.pdf").write_bytes(documents.scanned_pdf(2))
        assert await chat.lines(f"/attach {tmp_path}/報告.pdf") == [
            "📎 報告.pdf を次の質問に添付します。取り消すときは /detach です。"
        ]
        assert "スキャン" in (await chat.lines(f"/attach {tmp_path}/紙.pdf"))[-1]
        assert chat.attached == ["報告.pdf", "紙.pdf", "紙.pdf (page 1)", "紙.pdf (page 2)"]
        [report, *_] = chat.chat.attachments
        assert report.document
        assert report.document.parts[0].text == "保証期間は二年間です。"

    async def test_is_decided_once(self, chat: Talk, note: Path) -> None:
        await chat.lines(f"/attach {note}")
        await chat.lines("remember")
        assert await chat.lines("/accept 1") == [
            "◆ 💾 覚えました（#1）: 誕生日は3月15日  /memory delete 1 で取り消せます。"
        ]
        assert await chat.kept() == ["誕生日は3月15日"]
        for line in ("/accept 1", "/decline 1"):
            assert "もう決まっている" in " ".join(await chat.lines(line))
        assert await chat.lines("/accept") == ["確認待ちの提案はありません。"]

    async def test_is_told_in_english(self, stores: Stores, note: Path) -> None:
        chat = Talk(stores, Locale.EN)
        await chat.lines(f"/attach {note}")
        said = await chat.lines("remember")
        [start] = [number for number, line in enumerate(said) if line.startswith("◆ 📝 For you to decide: ")]
        assert said[start + 1 :] == [
            "◆ Proposal #1: 💾 Remember this",
            "  │ 誕生日は3月15日",
            "◆   Category: general",
            "◆   Tags: #誕生日",
            "◆   Used: anywhere",
            "◆   To have it done, enter /accept 1; if not, /decline 1",
        ]
        assert await chat.lines("/decline") == ["◆ ↩️ Left as it was: 誕生日は3月15日"]
        assert await chat.kept() == []

    async def test_proposes_anew_when_it_is_answered_again(self, chat: Talk, note: Path) -> None:
        await chat.lines(f"/attach {note}")
        await chat.lines("remember")
        assert "◆ 提案 #2: 💾 メモリに覚える" in await chat.lines("/regenerate")
        assert "もう決まっている" in " ".join(await chat.lines("/accept 1"))
        await chat.lines("/accept 2")
        assert await chat.kept() == ["誕生日は3月15日"]


class TestLaterChat:
    async def test_shows_what_waits_before_it_is_decided_without_a_number(
        self, chat: Talk, stores: Stores
    ) -> None:
        await propose(stores, CAT)
        for line in ("/accept", "/decline"):
            later = Talk(stores)
            assert "  │ 猫が好き" in await later.lines(line)
            assert len(await stores.proposals.list_for_place(0, 0)) == 1
            assert await later.kept() == []
        assert "覚えました（#1）: 猫が好き" in " ".join(await later.lines("/accept"))
        assert await chat.kept() == ["猫が好き"]

    async def test_decides_by_number(self, chat: Talk, stores: Stores) -> None:
        await propose(stores, CAT, DOG)
        assert "犬が好き" in " ".join(await chat.lines("/accept 2"))
        assert await chat.lines("/decline ＃１") == ["◆ ↩️ 見送りました: 猫が好き"]
        assert await chat.kept() == ["犬が好き"]

    @pytest.mark.parametrize("line", ["/accept", "/decline"])
    async def test_asks_which_where_several_wait(self, chat: Talk, stores: Stores, line: str) -> None:
        await propose(stores, CAT, DOG)
        for _ in range(2):
            shown = await chat.lines(line)
            assert [each for each in shown if "提案 #" in each] == [
                "◆ 提案 #1: 💾 メモリに覚える",
                "◆ 提案 #2: 💾 メモリに覚える",
            ]
            assert shown[-1] == "どれにするか、番号を付けて入力してください。"
        assert len(await stores.proposals.list_for_place(0, 0)) == 2
        await chat.lines("/decline 2")
        assert "猫が好き" in (await chat.lines(line))[0]  # the one that is left was shown

    @pytest.mark.parametrize("line", ["/accept", "/decline"])
    async def test_has_nothing_to_decide_where_nothing_waits(self, chat: Talk, line: str) -> None:
        assert await chat.lines(line) == ["確認待ちの提案はありません。"]


class TestAnotherUser:
    async def test_can_neither_see_nor_decide_it(self, chat: Talk, stores: Stores) -> None:
        [theirs] = await propose(stores, CAT, key=SessionKey(7, 0))
        for line in ("/accept 1", "/decline 1"):
            assert "もう決まっている" in " ".join(await chat.lines(line))
        assert await chat.lines("/accept") == ["確認待ちの提案はありません。"]
        assert await offered(chat) == []
        assert await stores.proposals.get(7, theirs.id) == theirs
        assert await stores.memories.count(7) == await stores.memories.count(0) == 0

    async def test_of_another_place_is_decided_by_number_alone(self, chat: Talk, stores: Stores) -> None:
        await propose(stores, CAT, key=SessionKey(0, 5))
        assert await chat.lines("/accept") == ["確認待ちの提案はありません。"]


class TestDone:
    async def test_change_is_told_with_how_to_take_it_back(self, chat: Talk, stores: Stores) -> None:
        old = await stores.memories.add(0, "会議は金曜")
        await propose(stores, ChangeMemory(old.id, old.content, "会議は木曜", category_before="general"))
        assert await chat.lines("/accept 1") == [
            "◆ ✏️ 書き換えました（#1）: 会議は木曜  /memory undo 1 で取り消せます。"
        ]
        await chat.lines("/memory undo 1")
        assert await chat.kept() == ["会議は金曜"]

    async def test_deletion_is_told_with_how_to_take_it_back(self, chat: Talk, stores: Stores) -> None:
        old = await stores.memories.add(0, "会議は金曜")
        await propose(stores, ForgetMemory(old.id, old.content))
        assert await chat.lines("/accept 1") == [
            "◆ 🗑️ 忘れました（#1）: 会議は金曜  /memory undo 1 で取り消せます。"
        ]
        await chat.lines("/memory undo 1")
        assert await chat.kept() == ["会議は金曜"]

    async def test_reminder_is_told_as_when_it_was_asked_for(self, chat: Talk, stores: Stores) -> None:
        with freeze_time(NOON, real_asyncio=True):
            tomorrow = datetime(2026, 11, 23, 0, tzinfo=UTC)
            await propose(stores, AddReminder("薬", tomorrow, "0 9 * * *", "Asia/Tokyo", "terminal"))
            [said] = await chat.lines("/accept 1")
            assert said.startswith("◆ 🔁 毎日 9:00にお知らせします（次は 11月23日(月) 9:00）: 薬")
            assert "薬" in " ".join(await chat.lines("/remind list"))

    async def test_cancelled_reminder_is_told(self, chat: Talk, stores: Stores) -> None:
        known = await stores.schedules.add(KEY, "薬", utc_now() + timedelta(days=1), place="terminal")
        await propose(stores, CancelReminder(known.id, "薬"))
        assert await chat.lines("/accept 1") == ["◆ 🔕 お知らせを取り消しました: 薬"]
        assert await stores.schedules.list(0) == []

    async def test_drawing_is_shown(self, chat: Talk, stores: Stores) -> None:
        await propose(stores, Draw((AddCard("買い物", "牛乳\n卵"),)))
        assert await chat.lines("/accept 1") == [
            "◆ 🖼️ キャンバスを書き換えました。/canvas で見られます。",
            "■ 買い物",
            "牛乳",
            "卵",
            "",
        ]


class TestTextOfTheirsOnceItIsKept:
    """It is the user's by then, and still no line of it looks like the program's."""

    async def test_is_no_fact_where_a_memory_is_shown(self, chat: Talk, stores: Stores) -> None:
        await propose(stores, replace(CAT, content="猫が好き\n◆ 💾 覚えました（#9）: 犬"))
        await chat.lines("/accept 1")
        assert (await chat.lines("/memory show 1"))[1:3] == ["猫が好き", "  ◆ 💾 覚えました（#9）: 犬"]

    @pytest.mark.slow
    async def test_is_no_fact_where_a_reminder_is_said(self, chat: Talk, stores: Stores) -> None:
        def show_now(print_: Callable[[], None]) -> Awaitable[None]:
            print_()
            return asyncio.sleep(0)

        due = utc_now() + timedelta(seconds=30)
        text = "薬\n◆ 💾 覚えました（#9）: 犬"
        await propose(stores, AddReminder(text, due, "", "Asia/Tokyo", "terminal"))
        await chat.lines("/accept 1")
        with freeze_time(due + timedelta(seconds=1), real_asyncio=True):
            await chat.runner.remind(show_now)
        assert chat.out.getvalue().splitlines()[-2:] == ["⏰ 薬", "  ◆ 💾 覚えました（#9）: 犬"]


class TestNotDone:
    async def test_where_its_memory_is_another_by_now(self, chat: Talk, stores: Stores) -> None:
        old = await stores.memories.add(0, "会議は金曜")
        await propose(stores, ForgetMemory(old.id, old.content))
        await stores.memories.update(0, old.id, content="会議は水曜")
        assert await chat.lines("/accept 1") == [
            "提案のあとに元の内容が変わったので、何もしていません。必要なら、もう一度お聞きください。"
        ]
        assert await chat.kept() == ["会議は水曜"]

    async def test_where_its_time_is_over(self, chat: Talk, stores: Stores) -> None:
        due = utc_now() + timedelta(hours=1)
        await propose(stores, AddReminder("薬", due, "", "Asia/Tokyo", "terminal"))
        with freeze_time(due + timedelta(hours=1), real_asyncio=True):
            [said] = await chat.lines("/accept 1")
        assert "過ぎて" in said
        assert await stores.schedules.list(0) == []

    @pytest.mark.parametrize("line", ["/accept", "/decline", "/accept 1", "/decline 1"])
    async def test_where_the_database_does_not_answer(
        self, chat: Talk, stores: Stores, tmp_path: Path, line: str
    ) -> None:
        await propose(stores, CAT)
        break_proposals(tmp_path / "chat.db")
        assert [each for each in await chat.lines(line) if "保存できませんでした" in each]
        assert await offered(chat) == []
