"""Proposals in the terminal: `/accept` and `/decline`, beside an answer and in a later chat."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from freezegun import freeze_time

from cc_bot.domain import Message, SessionKey
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
from tests.terminal.talk import KEY, Talk

NOON = datetime(2026, 11, 22, 3, tzinfo=UTC)  # in Tokyo, on a Sunday
CAT = KeepMemory("猫が好き", "general", (), "anywhere")
DOG = KeepMemory("犬が好き", "general", (), "anywhere")
NOTHING_WAITS = ["確認待ちの提案はありません。"]


async def propose(stores: Stores, *changes: ProposedChange, key: SessionKey = KEY) -> Sequence[Proposal]:
    session = await stores.sessions.open(key)
    turn = (Message("user", "これは？"), Message("assistant", "はい", tainted=True))
    return (await stores.sessions.archive_turn(session, turn, proposals=changes)).proposals


async def offered(chat: Talk) -> list[str]:
    return [each.text for each in await proposals_like(chat.chat, "")]


class TestQuestionWithAFile:
    async def test_changes_nothing_until_it_is_decided(
        self, chat: Talk, english: Talk, tmp_path: Path
    ) -> None:
        note = tmp_path / "note.txt"
        note.write_text("誕生日は3月15日", encoding="utf-8")
        await english.lines(f"/attach {note}")
        said = await english.lines("remember")
        assert said[said.index("◆ Proposal #1: 💾 Remember this") + 1 :] == [
            *("  │ 誕生日は3月15日", "◆   Category: general", "◆   Tags: #誕生日", "◆   Used: anywhere"),
            "◆   To have it done, enter /accept 1; if not, /decline 1",
        ]
        assert await english.lines("/decline") == ["◆ ↩️ Left as it was: 誕生日は3月15日"]
        await chat.lines(f"/attach {note}")
        said = await chat.lines("remember")
        assert "◆ 提案 #2: 💾 メモリに覚える" in said
        assert said[-1] == "◆   実行するなら /accept 2、しないなら /decline 2"
        assert await chat.kept() == []
        assert "◆ 提案 #3: 💾 メモリに覚える" in await chat.lines("/regenerate")
        assert "もう決まっている" in await chat.say("/accept 2")
        assert "覚えました（#1）: 誕生日は3月15日" in await chat.say("/accept 3")
        assert await chat.kept() == ["誕生日は3月15日"]
        for line in ("/accept 3", "/decline 3"):
            assert "もう決まっている" in await chat.say(line)
        assert await chat.lines("/accept") == NOTHING_WAITS


class TestLaterChat:
    async def test_shows_what_waits_before_it_is_decided(self, chat: Talk, stores: Stores) -> None:
        for line in ("/accept", "/decline"):
            assert await chat.lines(line) == NOTHING_WAITS
        await propose(stores, CAT)
        for line in ("/accept", "/decline"):
            later = Talk(stores)
            assert "  │ 猫が好き" in await later.lines(line)
            assert len(await stores.proposals.list_for_place(0, 0)) == 1
            assert await later.kept() == []
        assert "覚えました（#1）: 猫が好き" in await later.say("/accept")
        assert await chat.kept() == ["猫が好き"]

    async def test_decides_by_number_where_several_wait(self, chat: Talk, stores: Stores) -> None:
        cat, dog = await propose(stores, CAT, DOG)
        for line in ("/accept", "/decline"):
            shown = await chat.lines(line)
            assert [each for each in shown if "提案 #" in each] == [
                f"◆ 提案 #{each.number}: 💾 メモリに覚える" for each in (cat, dog)
            ]
            assert shown[-1] == "どれにするか、番号を付けて入力してください。"
        assert len(await stores.proposals.list_for_place(0, 0)) == 2
        assert "犬が好き" in await chat.say(f"/accept ＃{dog.number}")
        assert "見送りました: 猫が好き" in await chat.say("/decline"), "the one that is left was shown"
        assert await chat.kept() == ["犬が好き"]

    async def test_of_another_user_can_neither_see_nor_decide_it(self, chat: Talk, stores: Stores) -> None:
        [theirs] = await propose(stores, CAT, key=SessionKey(7, 0))
        for line in ("/accept 1", "/decline 1"):
            assert "もう決まっている" in await chat.say(line)
        assert await offered(chat) == []
        assert await stores.proposals.get(7, theirs.id) == theirs
        assert await stores.memories.count(7) == await stores.memories.count(0) == 0
        await propose(stores, CAT, key=SessionKey(0, 5))
        assert await chat.lines("/accept") == NOTHING_WAITS, "another place's is decided by number alone"


async def test_what_is_done_is_told_with_how_to_take_it_back(chat: Talk, stores: Stores) -> None:
    old = await stores.memories.add(0, "会議は金曜")
    edit = ChangeMemory(old.id, old.content, "会議は木曜", category_before="general")
    await propose(stores, edit)
    told = "◆ ✏️ 書き換えました（#1）: 会議は木曜  /memory undo 1 で取り消せます。"
    assert await chat.lines("/accept 1") == [told]
    await propose(stores, ForgetMemory(old.id, old.content))
    assert "元の内容が変わったので、何もしていません。" in await chat.say("/accept 2")
    await chat.lines("/memory undo 1")
    assert await chat.kept() == ["会議は金曜"]
    with freeze_time(NOON, real_asyncio=True):
        tomorrow = datetime(2026, 11, 23, 0, tzinfo=UTC)
        await propose(stores, AddReminder("薬", tomorrow, "0 9 * * *", "Asia/Tokyo", "terminal"))
        [said] = await chat.lines("/accept 3")
        assert said.startswith("◆ 🔁 毎日 9:00にお知らせします（次は 11月23日(月) 9:00）: 薬")
        [known] = await stores.schedules.list(0)
        await propose(stores, CancelReminder(known.id, "薬", known.due_at, known.repeat))
        assert await chat.lines("/accept 4") == ["◆ 🔕 お知らせを取り消しました: 薬"]
        assert await stores.schedules.list(0) == []
        await propose(stores, Draw((AddCard("買い物", "牛乳\n卵"),)))
        said, *shown = await chat.lines("/accept 5")
        assert (said[:4], shown) == ("◆ 🖼️", ["■ 買い物", "牛乳", "卵", ""])


async def test_no_line_of_a_text_of_theirs_looks_like_the_programs_where_it_is_shown_or_said(
    chat: Talk, stores: Stores
) -> None:
    text = "猫が好き\n◆ 💾 覚えました（#9）: 犬"
    due = utc_now() + timedelta(seconds=30)
    reminder = AddReminder(text, due, "", "Asia/Tokyo", "terminal")
    await propose(stores, replace(CAT, content=text), reminder)
    await chat.lines("/accept 1")
    await chat.lines("/accept 2")
    assert (await chat.lines("/memory show 1"))[1:3] == ["猫が好き", "  ◆ 💾 覚えました（#9）: 犬"]
    with freeze_time(due + timedelta(seconds=1), real_asyncio=True):
        assert (await chat.reminded()).splitlines() == ["⏰ 猫が好き", "  ◆ 💾 覚えました（#9）: 犬"]
