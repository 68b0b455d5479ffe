"""Reminders in the terminal: `/remind`, what the model makes, and what is said when its time comes."""

import asyncio
import re
from datetime import UTC, datetime, timedelta

from freezegun import freeze_time

from cc_bot.chat.assistant import Assistant
from cc_bot.chat.stores.opening import Stores
from cc_bot.domain.session import SessionKey
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.llm.offline import OfflineModel
from tests.scripted_model import only
from tests.terminal.program import TOOLS
from tests.terminal.talk import KEY, Talk

NOON = datetime(2026, 11, 22, 3, tzinfo=UTC)  # in Tokyo, on a Sunday


class TestAdding:
    async def test_keeps_it_and_says_when(self, chat: Talk, english: Talk) -> None:
        with freeze_time(NOON, real_asyncio=True):
            said = await chat.say("/remind add 明日9時に薬を飲む")
            assert said.startswith("⏰ 11月23日(月) 9:00 にお知らせします: 薬を飲む\n")
            assert "/remind delete 1" in said
            [kept] = await chat.stores[ScheduleStore].list(0)
            assert (kept.text, kept.target, kept.key) == ("薬を飲む", "terminal", KEY)
            assert kept.due_at == datetime(2026, 11, 23, tzinfo=UTC)
            told = "🔁 2週間ごとの火曜 10:00 にお知らせします（次は11月24日(火)）: 本"
            assert (await chat.say("/remind add 隔週の火曜 10時 本")).startswith(told)
            assert "2週間ごとの火曜 10:00" in await chat.say("/remind list")
            assert (await chat.say("/remind add 明日9時と18時に薬")).count("⏰") == 2
            said = await english.say("/remind add take the pills on jan 4 at 9am")
            assert said.startswith("⏰ I’ll remind you on Mon, Jan 4 2027, 9:00: take the pills\n")

    async def test_is_known_to_the_model_as_well(self, stores: Stores) -> None:
        chat = Talk(stores, answering=Assistant(stores, only(OfflineModel()), TOOLS))
        with freeze_time(NOON, real_asyncio=True):
            await chat.say('/remind add "明日9時" ゴミ出し')
            assert "ゴミ出し" in await chat.say("お知らせ一覧")


class TestDueReminder:
    async def test_is_said_once_and_one_that_is_late_or_was_missed_says_so(self, chat: Talk) -> None:
        with freeze_time(NOON, real_asyncio=True) as clock:
            await chat.say("/remind add 10分後 カップ麺")
            assert await chat.reminded() == ""
            clock.tick(timedelta(minutes=10))
            assert await chat.reminded() == "⏰ カップ麺\n"
            assert await chat.reminded() == ""
            said = await chat.stores.archive.get_last_notification(0, 0)
            assert said is not None
            assert said.content == "カップ麺"
            assert (await chat.stores.sessions.open(KEY)).history == ()
            await chat.say("/remind add 10分後 パン")
            clock.tick(timedelta(minutes=30))
            assert await chat.reminded() == "⏰ パン（予定は 11月22日(日) 12:20 でした）\n"
            await chat.say("/remind add 10分後 お茶")
            clock.tick(timedelta(hours=3))
            assert re.search(r"11月22日\(日\) 12:50.*動いていない間.*お茶", await chat.reminded())
            due = datetime.now(UTC)
            await chat.stores[ScheduleStore].add(SessionKey(5, 0), "別の人", due, target="terminal")
            await chat.stores[ScheduleStore].add(KEY, "DM", due, target="dm")
            assert await chat.reminded() == ""

    async def test_does_not_interrupt_an_answer(self, chat: Talk) -> None:
        await chat.stores[ScheduleStore].add(KEY, "すぐ", datetime.now(UTC), target="terminal")
        answering = asyncio.create_task(chat.conversation.run("slow"))
        async with asyncio.timeout(60):
            while "ここまでは" not in chat.out.getvalue():  # noqa: ASYNC110 - a stream sets no event
                await asyncio.sleep(0.01)
            reminding = asyncio.create_task(chat.reminded())
            await asyncio.sleep(0.05)
            assert "⏰" not in chat.out.getvalue()
            chat.chat.stop()
            await answering
            assert "⏰ すぐ" in await reminding
