"""Calls that were agreed to: claimed once, and told in the answer that proposed them."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cc_bot.domain import Locale, Message, SessionKey
from cc_bot.domain.claimed_call import CallMessage, ClaimedCall
from cc_bot.domain.message import ChannelKey, ToolCall
from cc_bot.domain.proposal import CALL_OPEN_FOR, CallTool, KeepMemory, Proposal
from cc_bot.storage import Database
from cc_bot.stores import ProposalStore, Stores
from tests.stores.places import answer, said

KEY = SessionKey(7, 2)
WRITE = CallTool("notes", "write", '{"text": "牛乳"}', called="notes__write")
WAITS = ToolCall("c1", "notes__write", '{"text": "牛乳"}', '{"waits": true}')
OTHER = ToolCall("c2", "recall", "{}", "{}")


async def propose(stores: Stores, *changes: CallTool | KeepMemory) -> Sequence[Proposal]:
    session = await stores.sessions.open(KEY)
    turn = (Message("user", "書いて"), Message("assistant", "はい。", tool_calls=(WAITS, OTHER)))
    return (await stores.sessions.archive_turn(session, turn, proposals=changes or (WRITE,))).proposals


async def propose_in_channel(stores: Stores) -> Proposal:
    place, question = ChannelKey(5), said(30, "書いて")
    await stores.channels.add(place, question, waiting=True)
    shown = replace(answer(31, "はい"), tool_calls=(WAITS,))
    await stores.channels.archive_answer(place, shown, [question], [WRITE])
    [proposal] = await stores.proposals.list_for_place(KEY.user_id, place.channel_id)
    return proposal


def claim_of(proposal: Proposal, by: str = "a1") -> ClaimedCall:
    assert isinstance(proposal.change, CallTool)
    now = datetime(2026, 11, 26, 9, tzinfo=UTC)
    told = CallMessage(2, 3, 4, "token", now + timedelta(minutes=14), ephemeral=True, locale=Locale.EN)
    return ClaimedCall(
        proposal.id,
        proposal.key,
        proposal.answer_id,
        proposal.visibility,
        proposal.change,
        claimed_at=now,
        claimed_by=by,
        message=told,
    )


def told(call: ToolCall) -> ToolCall:
    return replace(call, result='{"result": "済み"}') if call.name == "notes__write" else call


async def calls(stores: Stores) -> Sequence[ToolCall]:
    return (await stores.sessions.open(KEY)).history[-1].tool_calls


class TestClaim:
    async def test_is_read_as_it_was_made(self, stores: Stores) -> None:
        [proposal] = await propose(stores)
        assert await stores.claimed_calls.claim(proposal, call := claim_of(proposal))
        assert await stores.claimed_calls.list_claimed() == (call,)
        assert await stores.claimed_calls.list_of_user(KEY.user_id) == (call,)
        assert await stores.claimed_calls.list_of_user(8) == ()

    async def test_is_one_of_many_at_once(self, stores: Stores) -> None:
        [proposal] = await propose(stores)
        claims = (stores.claimed_calls.claim(proposal, claim_of(proposal, f"p{n}")) for n in range(8))
        assert sorted(await asyncio.gather(*claims)) == [False] * 7 + [True]
        assert len(await stores.claimed_calls.list_claimed()) == 1
        assert await stores.proposals.get(KEY.user_id, proposal.id) is None

    async def test_of_what_was_left_is_refused(self, stores: Stores) -> None:
        [proposal] = await propose(stores)
        assert await stores.claimed_calls.leave(proposal, told)
        assert not await stores.claimed_calls.claim(proposal, claim_of(proposal))
        assert await stores.claimed_calls.list_claimed() == ()


class TestGiveBack:
    async def test_has_it_wait_again_as_it_did(self, stores: Stores) -> None:
        first, second = await propose(stores, WRITE, KeepMemory("猫", "note", (), "private"))
        await stores.claimed_calls.claim(first, call := claim_of(first))
        assert await stores.claimed_calls.give_back(first, call)
        assert await stores.claimed_calls.list_claimed() == ()
        assert await stores.proposals.get(KEY.user_id, first.id) == first
        assert await stores.proposals.get(KEY.user_id, second.id) == second
        assert await stores.claimed_calls.claim(first, call)

    async def test_of_an_answer_in_a_channel_has_it_wait_again(self, stores: Stores) -> None:
        proposal = await propose_in_channel(stores)
        await stores.claimed_calls.claim(proposal, call := claim_of(proposal))
        assert await stores.claimed_calls.give_back(proposal, call)
        assert await stores.proposals.get(KEY.user_id, proposal.id) == proposal

    async def test_of_what_was_noted_or_erased_does_nothing(self, stores: Stores) -> None:
        [proposal] = await propose(stores)
        await stores.claimed_calls.claim(proposal, call := claim_of(proposal))
        await stores.claimed_calls.finish(call, "done", told)
        assert not await stores.claimed_calls.give_back(proposal, call)
        assert len(await stores.claimed_calls.list_claimed()) == 1
        await stores.personal_erasure.erase(KEY.user_id)
        assert not await stores.claimed_calls.give_back(proposal, call)
        assert await stores.proposals.get(KEY.user_id, proposal.id) is None


class TestFinish:
    async def test_has_the_answer_tell_it_and_taints_that(self, stores: Stores) -> None:
        [proposal] = await propose(stores)
        await stores.claimed_calls.claim(proposal, call := claim_of(proposal))
        assert not (await stores.sessions.open(KEY)).history[-1].tainted
        assert await stores.claimed_calls.finish(call, "done", told)
        assert await calls(stores) == (told(WAITS), OTHER)
        assert (await stores.sessions.open(KEY)).history[-1].tainted
        assert [each.state for each in await stores.claimed_calls.list_claimed()] == ["done"]
        await stores.claimed_calls.settle(call)
        assert await stores.claimed_calls.list_claimed() == ()

    async def test_holds_whatever_is_said_later(self, stores: Stores) -> None:
        [proposal] = await propose(stores)
        await stores.claimed_calls.claim(proposal, call := claim_of(proposal))
        await stores.claimed_calls.finish(call, "done", told)
        assert not await stores.claimed_calls.finish(call, "unknown", lambda each: replace(each, result=""))
        assert await calls(stores) == (told(WAITS), OTHER)
        assert [each.state for each in await stores.claimed_calls.list_claimed()] == ["done"]

    async def test_of_an_erased_user_brings_nothing_back(self, stores: Stores) -> None:
        [proposal] = await propose(stores)
        await stores.claimed_calls.claim(proposal, call := claim_of(proposal))
        await stores.personal_erasure.erase(KEY.user_id)
        assert not await stores.claimed_calls.finish(call, "done", told)
        assert await stores.claimed_calls.list_claimed() == ()

    async def test_in_a_channel_has_its_answer_tell_it(self, stores: Stores, database: Database) -> None:
        proposal = await propose_in_channel(stores)
        await stores.claimed_calls.claim(proposal, call := claim_of(proposal))
        await stores.claimed_calls.finish(call, "done", told)
        [[stored]] = await database.query("SELECT tool_calls FROM messages WHERE discord_id = 31")
        assert "済み" in stored


class TestTime:
    @pytest.mark.parametrize(("late", "open_ones"), [(False, 2), (True, 1)])
    async def test_to_agree_to_a_call_is_ten_minutes(
        self, stores: Stores, database: Database, *, late: bool, open_ones: int
    ) -> None:
        proposals = await propose(stores, WRITE, KeepMemory("猫", "general", (), "anywhere"))
        ends = proposals[0].made_at + CALL_OPEN_FOR
        moment = ends if late else ends - timedelta(seconds=1)
        later = ProposalStore(database, clock=lambda: moment)
        assert len(await later.list_for_answer(KEY.user_id, proposals[0].answer_id)) == open_ones
        assert len(await later.list_for_place(KEY.user_id, KEY.channel_id)) == open_ones
