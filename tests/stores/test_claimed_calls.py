"""Calls that were agreed to: claimed once, and told in the answer that proposed them."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from cc_bot.domain import Locale, Message, SessionKey
from cc_bot.domain.claimed_call import CallMessage, ClaimedCall
from cc_bot.domain.message import ChannelKey, ToolCall
from cc_bot.domain.proposal import CALL_OPEN_FOR, CallTool, KeepMemory, Proposal
from cc_bot.storage import Database
from cc_bot.stores import ProposalStore, Stores
from tests.stores.life import call_of
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
    now = datetime(2026, 11, 26, 9, tzinfo=UTC)
    told = CallMessage(2, 3, 4, "token", now + timedelta(minutes=14), ephemeral=True, locale=Locale.EN)
    return call_of(proposal, claimed_at=now, claimed_by=by, message=told)


def told(call: ToolCall) -> ToolCall:
    return replace(call, result='{"result": "済み"}') if call.name == "notes__write" else call


class TestClaim:
    async def test_is_made_once_by_one_of_many_and_read_as_it_was_made(self, stores: Stores) -> None:
        proposal, left = await propose(stores, WRITE, WRITE)
        calls = [claim_of(proposal, f"p{n}") for n in range(8)]
        claims = await asyncio.gather(*(stores.claimed_calls.claim(proposal, call) for call in calls))
        assert sorted(claims) == [False] * 7 + [True]
        claimed = (calls[claims.index(True)],)
        assert await stores.claimed_calls.list_claimed() == claimed
        assert await stores.claimed_calls.list_of_user(KEY.user_id) == claimed
        assert await stores.claimed_calls.list_of_user(8) == ()
        assert await stores.proposals.get(KEY.user_id, proposal.id) is None
        assert await stores.claimed_calls.leave(left, told)
        assert not await stores.claimed_calls.claim(left, claim_of(left))
        assert await stores.claimed_calls.list_claimed() == claimed


class TestGiveBack:
    async def test_has_it_wait_again_as_it_did_wherever_it_was_proposed(self, stores: Stores) -> None:
        first, second = await propose(stores, WRITE, KeepMemory("猫", "note", (), "private"))
        for proposal in (first, await propose_in_channel(stores)):
            await stores.claimed_calls.claim(proposal, call := claim_of(proposal))
            assert await stores.claimed_calls.give_back(proposal, call)
            assert await stores.claimed_calls.list_claimed() == ()
            assert await stores.proposals.get(KEY.user_id, proposal.id) == proposal
            assert await stores.proposals.get(KEY.user_id, second.id) == second
        assert await stores.claimed_calls.claim(first, claim_of(first))


class TestFinish:
    async def test_has_its_answer_tell_it_tainted_whatever_is_said_later(self, stores: Stores) -> None:
        [proposal] = await propose(stores)
        await stores.claimed_calls.claim(proposal, call := claim_of(proposal))
        assert not (await stores.sessions.open(KEY)).history[-1].tainted
        assert await stores.claimed_calls.finish(call, "done", told)
        assert not await stores.claimed_calls.finish(call, "unknown", lambda each: replace(each, result=""))
        assert not await stores.claimed_calls.give_back(proposal, call)
        answered = (await stores.sessions.open(KEY)).history[-1]
        assert (answered.tool_calls, answered.tainted) == ((told(WAITS), OTHER), True)
        assert [each.state for each in await stores.claimed_calls.list_claimed()] == ["done"]
        await stores.claimed_calls.settle(call)
        assert await stores.claimed_calls.list_claimed() == ()

    async def test_of_an_erased_user_brings_nothing_back(self, stores: Stores) -> None:
        [proposal] = await propose(stores)
        await stores.claimed_calls.claim(proposal, call := claim_of(proposal))
        await stores.personal_erasure.erase(KEY.user_id)
        assert not await stores.claimed_calls.finish(call, "done", told)
        assert not await stores.claimed_calls.give_back(proposal, call)
        assert await stores.claimed_calls.list_claimed() == ()
        assert await stores.proposals.get(KEY.user_id, proposal.id) is None

    async def test_in_a_channel_has_its_answer_tell_it(self, stores: Stores, database: Database) -> None:
        proposal = await propose_in_channel(stores)
        await stores.claimed_calls.claim(proposal, call := claim_of(proposal))
        await stores.claimed_calls.finish(call, "done", told)
        [[stored]] = await database.query("SELECT tool_calls FROM messages WHERE discord_id = 31")
        assert "済み" in stored


class TestTime:
    async def test_to_agree_to_a_call_is_ten_minutes(self, stores: Stores, database: Database) -> None:
        proposals = await propose(stores, WRITE, KeepMemory("猫", "general", (), "anywhere"))
        ends = proposals[0].made_at + CALL_OPEN_FOR

        def at(moment: datetime) -> ProposalStore:
            return ProposalStore(database, clock=lambda: moment)

        for now, waiting in ((ends - timedelta(seconds=1), proposals), (ends, proposals[1:])):
            answer_id = proposals[0].answer_id
            assert await at(now).list_for_answer(KEY.user_id, answer_id) == tuple(waiting)
            assert len(await at(now).list_for_place(KEY.user_id, KEY.channel_id)) == len(waiting)
