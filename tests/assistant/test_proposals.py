"""Deciding on what a model proposed: done as it was shown, once, and by its user alone."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest
from freezegun import freeze_time

from cc_bot.assistant.proposals import Proposals
from cc_bot.domain import Message
from cc_bot.domain.canvas import AddCard, Canvas, Card, Drawn, RemoveElement, SetMode, UpdateCard
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import CcBotError, MemoryPaused, ProposalGone, ProposalOutdated, WhenPassed
from cc_bot.domain.memory import Memory, MemoryChange
from cc_bot.domain.message import Visibility
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
from cc_bot.domain.schedule import ScheduleChange
from tests.assistant.conftest import KEY, Table

ME = KEY.user_id


@pytest.fixture
def proposals(table: Table) -> Proposals:
    return Proposals(table.stores, utc_now)


async def propose(table: Table, *changes: ProposedChange, private: bool = False) -> Sequence[Proposal]:
    visibility: Visibility = "private" if private else "public"
    session = await table.stores.sessions.open(KEY)
    turn = (Message("user", "これは？"), Message("assistant", "はい", visibility=visibility, tainted=True))
    return (await table.stores.sessions.archive_turn(session, turn, proposals=changes)).proposals


def keep(content: str, replaces: Memory | None = None) -> KeepMemory:
    if replaces is None:
        return KeepMemory(content, "general", (), "anywhere")
    return KeepMemory(content, "general", (), "anywhere", None, replaces.id, replaces.content)


def remind(due: datetime, *more: Any) -> AddReminder:
    return AddReminder("薬", due, *(more or ("", "Asia/Tokyo", "channel")))


async def draw(table: Table, *names: str) -> Canvas:
    """Cards that a turn put up."""
    session = await table.stores.sessions.open(KEY)
    turn = Message("user", "出して"), Message("assistant", "はい")
    drawn = [Drawn(AddCard(name, name, name), "public") for name in names]
    await table.stores.sessions.archive_turn(session, turn, drawn=drawn)
    return (await table.session()).canvas


def edit_of(memory: Memory, **changes: Any) -> ChangeMemory:
    return ChangeMemory(
        memory.id,
        memory.content,
        category_before=memory.category,
        tags_before=memory.tags,
        expires_before=memory.expires_at,
        **changes,
    )


async def contents(table: Table) -> list[str]:
    return [memory.content for memory in await table.stores.memories.list(ME)]


class TestMemory:
    async def test_is_kept_as_it_was_proposed(self, table: Table, proposals: Proposals) -> None:
        [wanted] = await propose(table, KeepMemory("猫が好き", "pets", ("猫",), "private"))
        await table.stores.settings.pause_memory(ME, True)
        with pytest.raises(MemoryPaused):
            await proposals.accept(ME, wanted.id)
        assert await contents(table) == []
        await table.stores.settings.pause_memory(ME, False)
        done = await proposals.accept(ME, wanted.id)
        assert isinstance(done, MemoryChange)
        kept = done.memory
        assert (kept.content, kept.category, kept.tags) == ("猫が好き", "pets", ("猫",))
        assert (kept.audience, kept.source.kind, kept.tainted) == ("private", "proposal", True)

    async def test_that_is_known_stays_as_it_is(self, table: Table, proposals: Proposals) -> None:
        """What it would have changed of that one was not shown."""
        known = await table.stores.memories.add(ME, "猫が好き", category="pets", tags=("猫",))
        [wanted] = await propose(table, KeepMemory("猫が、好き！", "general", ("嘘",), "anywhere"))
        done = await proposals.accept(ME, wanted.id)
        assert done == MemoryChange("updated", known, known)
        assert await table.stores.memories.list(ME) == [known]
        assert await table.stores.proposals.get(ME, wanted.id) is None

    @pytest.mark.parametrize("kept_before", [False, True])
    async def test_takes_the_place_of_the_one_that_was_shown(
        self, table: Table, proposals: Proposals, *, kept_before: bool
    ) -> None:
        old = await table.stores.memories.add(ME, "会議は金曜")
        if kept_before:
            await table.stores.memories.add(ME, "会議は木曜")
        [wanted] = await propose(table, keep("会議は木曜", old))
        await proposals.accept(ME, wanted.id)
        assert await contents(table) == ["会議は木曜"]

    async def test_is_changed_in_what_was_proposed_alone(self, table: Table, proposals: Proposals) -> None:
        ends = utc_now() + timedelta(days=1)
        old = await table.stores.memories.add(ME, "会議は金曜", tags=("会議",), expires_at=ends)
        [wanted] = await propose(table, edit_of(old, content="会議は木曜"))
        done = await proposals.accept(ME, wanted.id)
        assert isinstance(done, MemoryChange)
        now = done.memory
        assert (now.id, now.content, now.tags, now.expires_at) == (old.id, "会議は木曜", ("会議",), ends)
        assert (done.former, now.tainted) == (old, True)
        [wanted] = await propose(table, edit_of(now, expires_at="never"))
        await proposals.accept(ME, wanted.id)
        [now] = await table.stores.memories.list(ME)
        assert (now.content, now.expires_at) == ("会議は木曜", None)

    async def test_is_forgotten_and_can_be_had_back(self, table: Table, proposals: Proposals) -> None:
        old = await table.stores.memories.add(ME, "会議は金曜")
        [wanted] = await propose(table, ForgetMemory(old.id, old.content))
        done = await proposals.accept(ME, wanted.id)
        assert isinstance(done, MemoryChange)
        assert (done.kind, await contents(table)) == ("deleted", [])
        assert await table.stores.memory_removal.undelete(ME, old.id) is not None

    @pytest.mark.parametrize(
        ("change", "since"),
        [*product((ForgetMemory, ChangeMemory, KeepMemory), ("content", "gone")), (ChangeMemory, "tags")],
    )
    async def test_that_is_another_by_now_is_left_alone(
        self, table: Table, proposals: Proposals, change: type, since: str
    ) -> None:
        old = await table.stores.memories.add(ME, "会議は金曜", tags=("a",))
        proposed: dict[type, ProposedChange] = {
            ForgetMemory: ForgetMemory(old.id, old.content),
            ChangeMemory: edit_of(old, content="会議は木曜", tags=("嘘",)),
            KeepMemory: keep("会議は木曜", old),
        }
        [wanted] = await propose(table, proposed[change])
        if since == "gone":
            await table.stores.memories.delete(ME, old.id)
        else:
            changes: Any = {"content": "会議は水曜"} if since == "content" else {"tags": ["大事"]}
            await table.stores.memories.update(ME, old.id, **changes)
        before = await table.stores.memories.list(ME)
        with pytest.raises(ProposalOutdated):
            await proposals.accept(ME, wanted.id)
        assert await table.stores.memories.list(ME) == before
        assert await table.stores.proposals.get(ME, wanted.id) is None


class TestReminder:
    async def test_is_set_as_it_was_proposed(self, table: Table, proposals: Proposals) -> None:
        due = (utc_now() + timedelta(days=1)).replace(microsecond=0)
        [wanted] = await propose(table, remind(due, "0 9 * * *", "Asia/Tokyo", "channel", 5, "ja"))
        done = await proposals.accept(ME, wanted.id)
        assert isinstance(done, ScheduleChange)
        [kept] = await table.stores.schedules.list(ME)
        assert done.schedule == kept
        assert (kept.key, kept.text, kept.due_at) == (KEY, "薬", due)
        assert (kept.repeat, kept.guild_id, kept.tainted) == ("0 9 * * *", 5, True)

    async def test_of_a_private_turn_is_for_its_user_alone(self, table: Table, proposals: Proposals) -> None:
        due = utc_now() + timedelta(days=1)
        [wanted] = await propose(table, remind(due, "", "Asia/Tokyo", "dm"), private=True)
        await proposals.accept(ME, wanted.id)
        [kept] = await table.stores.schedules.list(ME)
        assert (kept.visibility, kept.place) == ("private", "dm")

    async def test_whose_time_is_over_is_not_set(self, table: Table, proposals: Proposals) -> None:
        [wanted] = await propose(table, remind(utc_now() + timedelta(hours=1)))
        with freeze_time(utc_now() + timedelta(hours=2), real_asyncio=True), pytest.raises(WhenPassed):
            await proposals.accept(ME, wanted.id)
        assert await table.stores.schedules.list(ME) == []
        assert await table.stores.proposals.get(ME, wanted.id) is None

    async def test_is_cancelled(self, table: Table, proposals: Proposals) -> None:
        known = await table.stores.schedules.add(KEY, "薬", utc_now() + timedelta(days=1))
        [wanted, again] = await propose(
            table, CancelReminder(known.id, "薬"), CancelReminder(known.id, "くすり")
        )
        done = await proposals.accept(ME, wanted.id)
        assert isinstance(done, ScheduleChange)
        assert (done.kind, await table.stores.schedules.list(ME)) == ("cancelled", [])
        with pytest.raises(ProposalOutdated):
            await proposals.accept(ME, again.id)


class TestDrawing:
    async def test_is_put_up_as_a_whole_also_after_the_conversation_is_over(
        self, table: Table, proposals: Proposals
    ) -> None:
        commands = (AddCard("買い物", "牛乳", "shop"), AddCard("天気", "晴れ", "sky"), RemoveElement("shop"))
        [wanted] = await propose(table, Draw(commands))
        with freeze_time(utc_now() + timedelta(days=2), real_asyncio=True):
            done = await proposals.accept(ME, wanted.id)
            assert isinstance(done, Canvas)
            up = (await table.session()).canvas
        assert ([each.id for each in up.elements], up.tainted) == (["sky"], True)

    async def test_over_what_has_changed_since_is_left_undone(
        self, table: Table, proposals: Proposals
    ) -> None:
        up = await draw(table, "shop", "sky")
        [over, takes_all, gone, beside] = await propose(
            table,
            Draw((UpdateCard("shop", content="嘘"),), up),
            Draw((SetMode("clear"),), up),
            Draw((AddCard("a", "b"), UpdateCard("gone", content="嘘")), up),
            Draw((UpdateCard("sky", content="雨"),), up),
        )
        await table.stores.canvases.draw(KEY, [Drawn(UpdateCard("shop", content="卵"), "public")])
        for outdated in (over, takes_all, gone):
            with pytest.raises(ProposalOutdated):
                await proposals.accept(ME, outdated.id)
        await proposals.accept(ME, beside.id)
        elements = (await table.session()).canvas.elements
        assert [each.content for each in elements if isinstance(each, Card)] == ["卵", "雨"]

    async def test_that_clears_takes_nothing_that_was_not_shown(
        self, table: Table, proposals: Proposals
    ) -> None:
        [clears] = await propose(table, Draw((SetMode("clear"),), await draw(table, "shop")))
        await table.stores.canvases.draw(KEY, [Drawn(AddCard("later", "卵", "later"), "public")])
        with pytest.raises(ProposalOutdated):
            await proposals.accept(ME, clears.id)
        assert len((await table.session()).canvas.elements) == 2


class TestDecision:
    async def test_is_made_once_however_often_the_button_is_pressed(
        self, table: Table, proposals: Proposals
    ) -> None:
        [wanted] = await propose(table, remind(utc_now() + timedelta(days=1)))
        presses = [proposals.accept(ME, wanted.id) for _ in range(8)]
        presses_no = [proposals.decline(ME, wanted.id) for _ in range(8)]
        results = await asyncio.gather(*presses, *presses_no, return_exceptions=True)
        assert sum(not isinstance(each, CcBotError) for each in results) == 1
        assert all(isinstance(each, ProposalGone) for each in results if isinstance(each, BaseException))
        assert len(await table.stores.schedules.list(ME)) <= 1

    async def test_is_its_users_alone_and_one_against_it_changes_nothing(
        self, table: Table, proposals: Proposals
    ) -> None:
        [wanted] = await propose(table, keep("猫が好き"))
        for decide in (proposals.accept, proposals.decline):
            with pytest.raises(ProposalGone):
                await decide(ME + 1, wanted.id)
        assert await table.stores.memories.count(ME + 1) == 0
        assert await proposals.decline(ME, wanted.id) == wanted
        with pytest.raises(ProposalGone):
            await proposals.accept(ME, wanted.id)
        assert await contents(table) == []

    async def test_comes_too_late_after_a_week(self, table: Table, proposals: Proposals) -> None:
        [wanted] = await propose(table, keep("猫が好き"))
        with freeze_time(utc_now() + timedelta(days=7, seconds=1), real_asyncio=True):
            with pytest.raises(ProposalGone):
                await proposals.accept(ME, wanted.id)
            await table.stores.proposals.prune()
        assert await table.stores.proposals.get(ME, wanted.id) is None

    async def test_that_fails_leaves_it_open(self, table: Table, proposals: Proposals) -> None:
        [wanted] = await propose(table, remind(utc_now() + timedelta(days=1)))
        for _ in range(100):
            await table.stores.schedules.add(KEY, "薬", utc_now() + timedelta(days=1))
        with pytest.raises(CcBotError):
            await proposals.accept(ME, wanted.id)
        assert await table.stores.proposals.get(ME, wanted.id) == wanted


async def test_an_open_proposal_goes_with_the_memory_that_it_speaks_of(table: Table) -> None:
    old = await table.stores.memories.add(ME, "しまうまは7時")
    zoo = Canvas((Card("zoo", "動物園", "また「しまうまは7時」\nだよ"),))
    proposed = await propose(
        table,
        ForgetMemory(old.id, old.content),
        keep("また、しまうまは7時"),
        Draw((SetMode("clear"),), zoo),
        keep("猫が好き"),
    )
    await table.stores.sessions.clear(replace(KEY, channel_id=99))
    assert await table.stores.proposals.list_for_place(ME, KEY.channel_id) == tuple(proposed)
    await table.stores.memory_removal.erase(ME, old.id)
    assert await table.stores.proposals.list_for_place(ME, KEY.channel_id) == (proposed[-1],)
