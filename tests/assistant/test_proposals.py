"""Deciding on what a model proposed: done as it was shown, once, and by its user alone."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
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


@dataclass
class Desk(Table):
    """A table at which is decided on proposals."""

    @property
    def proposals(self) -> Proposals:
        return Proposals(self.stores, utc_now)

    async def propose(self, *changes: ProposedChange, private: bool = False) -> Sequence[Proposal]:
        visibility: Visibility = "private" if private else "public"
        session = await self.stores.sessions.open(KEY)
        answer = Message("assistant", "はい", visibility=visibility, tainted=True)
        turn = Message("user", "これは？"), answer
        return (await self.stores.sessions.archive_turn(session, turn, proposals=changes)).proposals

    async def accept(self, proposal: Proposal) -> object:
        return await self.proposals.accept(ME, proposal.id)

    async def accepted(self, change: ProposedChange, *, private: bool = False) -> object:
        """What comes of a proposal that its user accepts."""
        [wanted] = await self.propose(change, private=private)
        return await self.accept(wanted)

    async def changed(self, change: ProposedChange) -> MemoryChange:
        done = await self.accepted(change)
        assert isinstance(done, MemoryChange)
        return done

    async def is_open(self, proposal: Proposal) -> bool:
        return await self.stores.proposals.get(ME, proposal.id) is not None

    async def draw(self, *names: str) -> Canvas:
        """Cards that a turn put up."""
        session = await self.stores.sessions.open(KEY)
        turn = Message("user", "出して"), Message("assistant", "はい")
        drawn = [Drawn(AddCard(name, name, name), "public") for name in names]
        await self.stores.sessions.archive_turn(session, turn, drawn=drawn)
        return (await self.session()).canvas

    async def contents(self) -> list[str]:
        return [memory.content for memory in await self.stores.memories.list(ME)]


@pytest.fixture
def desk(table: Table) -> Desk:
    return Desk(table.assistant, table.stores, table.model)


def keep(content: str, replaces: Memory | None = None) -> KeepMemory:
    if replaces is None:
        return KeepMemory(content, "general", (), "anywhere")
    return KeepMemory(content, "general", (), "anywhere", None, replaces.id, replaces.content)


def remind(due: datetime, *more: Any) -> AddReminder:
    return AddReminder("薬", due, *(more or ("", "Asia/Tokyo", "channel")))


def edit_of(memory: Memory, **changes: Any) -> ChangeMemory:
    return ChangeMemory(
        memory.id,
        memory.content,
        category_before=memory.category,
        tags_before=memory.tags,
        expires_before=memory.expires_at,
        **changes,
    )


class TestMemory:
    async def test_is_kept_as_it_was_proposed(self, desk: Desk) -> None:
        [wanted] = await desk.propose(KeepMemory("猫が好き", "pets", ("猫",), "private"))
        await desk.stores.settings.pause_memory(ME, True)
        with pytest.raises(MemoryPaused):
            await desk.accept(wanted)
        assert await desk.contents() == []
        await desk.stores.settings.pause_memory(ME, False)
        done = await desk.accept(wanted)
        assert isinstance(done, MemoryChange)
        kept = done.memory
        assert (kept.content, kept.category, kept.tags) == ("猫が好き", "pets", ("猫",))
        assert (kept.audience, kept.source.kind, kept.tainted) == ("private", "proposal", True)

    async def test_is_changed_in_what_was_proposed_alone(self, desk: Desk) -> None:
        ends = utc_now() + timedelta(days=1)
        old = await desk.stores.memories.add(ME, "会議は金曜", tags=("会議",), expires_at=ends)
        done = await desk.changed(edit_of(old, content="会議は木曜"))
        now = done.memory
        assert (now.id, now.content, now.tags, now.expires_at) == (old.id, "会議は木曜", ("会議",), ends)
        assert (done.former, now.tainted) == (old, True)
        now = (await desk.changed(edit_of(now, expires_at="never"))).memory
        assert (now.content, now.expires_at) == ("会議は木曜", None)

    @pytest.mark.parametrize(
        ("change", "since"),
        [*product((ForgetMemory, ChangeMemory, KeepMemory), ("content", "gone")), (ChangeMemory, "tags")],
    )
    async def test_that_is_another_by_now_is_left_alone(self, desk: Desk, change: type, since: str) -> None:
        old = await desk.stores.memories.add(ME, "会議は金曜", tags=("a",))
        proposed: dict[type, ProposedChange] = {
            ForgetMemory: ForgetMemory(old.id, old.content),
            ChangeMemory: edit_of(old, content="会議は木曜", tags=("嘘",)),
            KeepMemory: keep("会議は木曜", old),
        }
        [wanted] = await desk.propose(proposed[change])
        if since == "gone":
            await desk.stores.memories.delete(ME, old.id)
        else:
            changes: Any = {"content": "会議は水曜"} if since == "content" else {"tags": ["大事"]}
            await desk.stores.memories.update(ME, old.id, **changes)
        before = await desk.stores.memories.list(ME)
        with pytest.raises(ProposalOutdated):
            await desk.accept(wanted)
        assert await desk.stores.memories.list(ME) == before
        assert not await desk.is_open(wanted)


class TestReminder:
    async def test_is_set_as_it_was_proposed_and_privately_for_its_user_alone(self, desk: Desk) -> None:
        due = (utc_now() + timedelta(days=1)).replace(microsecond=0)
        done = await desk.accepted(remind(due, "0 9 * * *", "Asia/Tokyo", "channel", 5, "ja"))
        [kept] = await desk.stores.schedules.list(ME)
        assert isinstance(done, ScheduleChange)
        assert done.schedule == kept
        assert (kept.key, kept.text, kept.due_at) == (KEY, "薬", due)
        assert (kept.repeat, kept.guild_id, kept.tainted) == ("0 9 * * *", 5, True)
        await desk.accepted(remind(due, "", "Asia/Tokyo", "dm"), private=True)
        [private] = [each for each in await desk.stores.schedules.list(ME) if each != kept]
        assert (private.visibility, private.place) == ("private", "dm")

    async def test_whose_time_is_over_is_not_set(self, desk: Desk) -> None:
        [wanted] = await desk.propose(remind(utc_now() + timedelta(hours=1)))
        with freeze_time(utc_now() + timedelta(hours=2), real_asyncio=True), pytest.raises(WhenPassed):
            await desk.accept(wanted)
        assert await desk.stores.schedules.list(ME) == []
        assert not await desk.is_open(wanted)


class TestDrawing:
    async def test_is_put_up_as_a_whole_also_after_the_conversation_is_over(self, desk: Desk) -> None:
        commands = (AddCard("買い物", "牛乳", "shop"), AddCard("天気", "晴れ", "sky"), RemoveElement("shop"))
        [wanted] = await desk.propose(Draw(commands))
        with freeze_time(utc_now() + timedelta(days=2), real_asyncio=True):
            assert isinstance(await desk.accept(wanted), Canvas)
            up = (await desk.session()).canvas
        assert ([each.id for each in up.elements], up.tainted) == (["sky"], True)

    async def test_over_what_has_changed_since_is_left_undone(self, desk: Desk) -> None:
        up = await desk.draw("shop", "sky")
        *outdated, beside = await desk.propose(
            Draw((UpdateCard("shop", content="嘘"),), up),
            Draw((SetMode("clear"),), up),
            Draw((AddCard("a", "b"), UpdateCard("gone", content="嘘")), up),
            Draw((UpdateCard("sky", content="雨"),), up),
        )
        await desk.stores.canvases.draw(KEY, [Drawn(UpdateCard("shop", content="卵"), "public")])
        for each in outdated:
            with pytest.raises(ProposalOutdated):
                await desk.accept(each)
        await desk.accept(beside)
        elements = (await desk.session()).canvas.elements
        assert [each.content for each in elements if isinstance(each, Card)] == ["卵", "雨"]


class TestDecision:
    async def test_is_made_once_however_often_the_button_is_pressed(self, desk: Desk) -> None:
        [wanted] = await desk.propose(remind(utc_now() + timedelta(days=1)))
        presses = [desk.proposals.accept(ME, wanted.id) for _ in range(8)]
        presses_no = [desk.proposals.decline(ME, wanted.id) for _ in range(8)]
        results = await asyncio.gather(*presses, *presses_no, return_exceptions=True)
        assert sum(not isinstance(each, CcBotError) for each in results) == 1
        assert all(isinstance(each, ProposalGone) for each in results if isinstance(each, BaseException))
        assert len(await desk.stores.schedules.list(ME)) <= 1

    async def test_is_its_users_alone_and_one_against_it_changes_nothing(self, desk: Desk) -> None:
        [wanted] = await desk.propose(keep("猫が好き"))
        for decide in (desk.proposals.accept, desk.proposals.decline):
            with pytest.raises(ProposalGone):
                await decide(ME + 1, wanted.id)
        assert await desk.stores.memories.count(ME + 1) == 0
        assert await desk.proposals.decline(ME, wanted.id) == wanted
        with pytest.raises(ProposalGone):
            await desk.accept(wanted)
        assert await desk.contents() == []

    async def test_comes_too_late_after_a_week(self, desk: Desk) -> None:
        [wanted] = await desk.propose(keep("猫が好き"))
        with freeze_time(utc_now() + timedelta(days=7, seconds=1), real_asyncio=True):
            with pytest.raises(ProposalGone):
                await desk.accept(wanted)
            await desk.stores.proposals.prune()
        assert not await desk.is_open(wanted)


async def test_an_open_proposal_goes_with_the_memory_that_it_speaks_of(desk: Desk) -> None:
    old = await desk.stores.memories.add(ME, "しまうまの散歩は毎朝7時")
    proposed = await desk.propose(ForgetMemory(old.id, old.content), keep("猫が好き"))
    await desk.stores.sessions.clear(replace(KEY, channel_id=99))
    assert await desk.stores.proposals.list_for_place(ME, KEY.channel_id) == tuple(proposed)
    await desk.stores.memory_removal.erase(ME, old.id)
    assert await desk.stores.proposals.list_for_place(ME, KEY.channel_id) == (proposed[-1],)
