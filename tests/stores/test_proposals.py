"""Proposals in the database: claimed once, their outcome in the answer that made them."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.proposals import ProposalStore
from cc_bot.db import Database
from cc_bot.domain.message import ChannelKey, Message, ToolCall
from cc_bot.domain.proposal import (
    PENDING_CALL_LIFETIME,
    PROPOSAL_LIFETIME,
    CallMessage,
    Proposal,
    ProposedCalls,
)
from cc_bot.domain.session import SessionKey
from tests.proposals import WRITING, remembering
from tests.stores.locations import answer, said

KEY = SessionKey(7, 2)
WAITS = ToolCall("c1", "notes__write", '{"text": "牛乳"}', '{"proposed": true}')
OTHER = ToolCall("c2", "recall", "{}", "{}")
NOW = datetime(2026, 11, 26, 9, tzinfo=UTC)
MESSAGE = CallMessage(2, 3, "token", NOW + timedelta(minutes=14), ephemeral=True)


async def propose(stores: Stores, *proposals: ProposedCalls) -> Sequence[Proposal]:
    session = await stores.sessions.open(KEY)
    turn = (Message("user", "書いて"), Message("assistant", "はい。", tool_calls=(WAITS, OTHER)))
    return (await stores.sessions.store_turn(session, turn, proposals=proposals or (WRITING,))).proposals


async def claim(stores: Stores, proposal: Proposal, name: str = "a1") -> Proposal:
    claimed = await stores.proposals.claim(proposal, name, MESSAGE)
    assert claimed is not None
    return claimed


async def propose_in_channel(stores: Stores) -> Proposal:
    location, question = ChannelKey(5), said(30, "書いて")
    await stores.channels.add(location, question, is_question=True)
    shown = replace(answer(31, "はい"), tool_calls=(WAITS,))
    [proposal] = (await stores.channels.archive_answer(location, shown, [question], [WRITING])).proposals
    return proposal


def told(call: ToolCall) -> ToolCall:
    return replace(call, result='{"result": "済み"}') if call.name == "notes__write" else call


class TestClaim:
    async def test_is_made_once_by_one_of_many_and_read_as_it_was_made(self, stores: Stores) -> None:
        proposal, left = await propose(stores, WRITING, WRITING)
        claims = await asyncio.gather(*(stores.proposals.claim(proposal, f"p{n}", MESSAGE) for n in range(8)))
        [claimed] = [each for each in claims if each is not None]
        assert claimed == replace(proposal, state="claimed", claimed_by=claimed.claimed_by, message=MESSAGE)
        assert await stores.proposals.adopt_approved() == (claimed,)
        assert await stores.proposals.list_approved(KEY.user_id) == (claimed,)
        assert await stores.proposals.list_approved(8) == ()
        assert await stores.proposals.get(KEY.user_id, proposal.id) is None
        assert await stores.proposals.decline(left, told)
        assert await stores.proposals.claim(left, "a1", MESSAGE) is None

    async def test_that_is_opened_again_waits_as_before(self, stores: Stores) -> None:
        first, second = await propose(stores, WRITING, remembering("猫"))
        for proposal in (first, await propose_in_channel(stores)):
            assert await stores.proposals.reopen(await claim(stores, proposal))
            assert await stores.proposals.adopt_approved() == ()
            found = await stores.proposals.get(KEY.user_id, proposal.id)
            assert found is not None
            assert (found.content, found.message.token) == (proposal.content, None)
            assert await stores.proposals.get(KEY.user_id, second.id) == second
        await claim(stores, first)


class TestFinish:
    async def test_has_its_answer_tell_it_tainted_whatever_is_said_later(self, stores: Stores) -> None:
        [proposal] = await propose(stores)
        claimed = await claim(stores, proposal)
        assert not (await stores.sessions.open(KEY)).history[-1].tainted
        assert await stores.proposals.finish(claimed, "done", told, tainted=True)
        assert not await stores.proposals.finish(claimed, "unknown", lambda each: replace(each, result=""))
        assert not await stores.proposals.reopen(claimed)
        answered = (await stores.sessions.open(KEY)).history[-1]
        assert (answered.tool_calls, answered.tainted) == ((told(WAITS), OTHER), True)
        assert [each.state for each in await stores.proposals.adopt_approved()] == ["done"]
        await stores.proposals.delete(claimed)
        assert await stores.proposals.adopt_approved() == ()

    async def test_of_an_erased_user_brings_nothing_back(self, stores: Stores) -> None:
        [proposal] = await propose(stores)
        claimed = await claim(stores, proposal)
        await stores.personal_data.erase(KEY.user_id)
        assert not await stores.proposals.finish(claimed, "done", told)
        assert not await stores.proposals.reopen(claimed)
        assert await stores.proposals.adopt_approved() == ()
        assert await stores.proposals.get(KEY.user_id, proposal.id) is None

    async def test_in_a_channel_has_its_answer_tell_it(self, stores: Stores, database: Database) -> None:
        claimed = await claim(stores, await propose_in_channel(stores))
        await stores.proposals.finish(claimed, "done", told)
        [[stored]] = await database.query("SELECT tool_calls FROM messages WHERE discord_id = 31")
        assert "済み" in stored


class TestTime:
    async def test_is_ten_minutes_for_a_call_and_a_week_for_others(
        self, stores: Stores, database: Database
    ) -> None:
        proposals = await propose(stores, WRITING, remembering("猫"))
        call_ends, ends = (
            proposals[0].made_at + open_for for open_for in (PENDING_CALL_LIFETIME, PROPOSAL_LIFETIME)
        )
        second = timedelta(seconds=1)

        def at(moment: datetime) -> ProposalStore:
            return ProposalStore(database, clock=lambda: moment)

        for now, waiting in (
            (call_ends - second, proposals),
            (call_ends, proposals[1:]),
            (ends - second, proposals[1:]),
            (ends + second, ()),
        ):
            store = at(now)
            assert await store.list_for_answer(KEY.user_id, proposals[0].answer_id) == tuple(waiting)
            await store.prune()
        assert await database.query("SELECT id FROM proposals") == []
