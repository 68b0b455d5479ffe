"""Stores proposals: tool calls that wait for the user's approval. The press of a button approves an open
proposal and claims it in one UPDATE, so that only one of several presses makes the calls. The row is deleted
once the user knows the outcome."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter

from cc_bot.db import MAINTENANCE_LOCK, Row, Statement, Transaction, user_lock
from cc_bot.db.columns import (
    MS,
    Codec,
    Columns,
    Parameters,
    Store,
    next_number,
    record_last_number,
    to_ms,
    tool_calls_from_json,
    tool_calls_to_json,
)
from cc_bot.db.process import left_by_dead_process
from cc_bot.domain.message import ToolCall, Visibility
from cc_bot.domain.proposal import (
    PROPOSAL_LIFETIME,
    CallMessage,
    CallState,
    Proposal,
    ProposedCalls,
    is_expired,
)
from cc_bot.domain.session import SessionKey

# ruff: noqa: S608 - SQL is built from constants

_CALLS: Final = TypeAdapter(ProposedCalls)
PROPOSAL: Final = Columns(
    Proposal,
    datetimes=MS,
    answer_id=Codec(column="message_id"),
    location_id=Codec(column="place_id"),
    content=Codec(lambda content: _CALLS.dump_json(content).decode(), _CALLS.validate_json),
)
_CALL_MESSAGE: Final = Columns(CallMessage, datetimes=MS, location_id=Codec(column="place_id"))
_CLAIM_PARAMETERS: Final = Parameters(_CALL_MESSAGE.names, 5)

# $1 user, $2 channel, $3 agent, $4 visibility, $5 for the WHERE clause, $6 memory, $7 content, $8 now
_INSERT: Final = f"""
    INSERT INTO proposals (
        user_id, channel_id, agent, message_id, visibility, memory_id, content, made_at, number
    )
    SELECT $1, $2, $3, id, $4, $6, $7, $8, {next_number("proposal")} FROM messages
"""

# Run after the INSERT of the answer, which is then the session's newest. $5 session
_INSERT_FOR_SESSION: Final = f"""
    {_INSERT}
    WHERE session_id = $5 AND user_id = $1 AND role = 'assistant'
    ORDER BY id DESC LIMIT 1
    RETURNING {PROPOSAL.select}
"""

# $5 the answer's Discord id
_INSERT_FOR_CHANNEL: Final = f"""
    {_INSERT}
    WHERE discord_id = $5 AND user_id IS NULL AND role = 'assistant'
    RETURNING {PROPOSAL.select} /* scope: any row */
"""

_RECORD_LAST_NUMBER: Final = record_last_number("proposal")

DELETE_PROPOSALS_OF_ANSWER: Final = "DELETE FROM proposals WHERE user_id = $1 AND message_id = $2"

DELETE_PROPOSALS_OF_CHANNEL_ANSWER: Final = """
    DELETE FROM proposals WHERE message_id = (
        SELECT id FROM messages WHERE discord_id = $1 AND user_id IS NULL AND role = 'assistant'
    ) /* scope: any row */
"""

_SELECT: Final = f"""
    SELECT {PROPOSAL.select} FROM proposals
    WHERE user_id = $1 AND id = $2 AND state = 'open' AND made_at >= $3
"""

_REOPEN: Final = """
    UPDATE proposals SET state = 'open', token = NULL
    WHERE user_id = $1 AND id = $2 AND state = 'claimed' RETURNING id
"""

_DELETE: Final = "DELETE FROM proposals WHERE user_id = $1 AND id = $2"

ADOPT_APPROVED: Final = f"""
    UPDATE proposals SET process = $1
    WHERE state <> 'open' AND {left_by_dead_process("proposals")} /* scope: all users */
"""
SELECT_APPROVED: Final = f"""
    SELECT {PROPOSAL.select} FROM proposals
    WHERE state <> 'open' AND process = $1 ORDER BY id /* scope: all users */
"""

PRUNE_PROPOSALS: Final = "DELETE FROM proposals WHERE made_at < $1 AND state = 'open' /* scope: all users */"

ReviseCall = Callable[[ToolCall], ToolCall]
"""Takes a call of the answer. Returns the call, with its result if the proposal contains the call."""


class ProposalStore(Store):
    async def get(self, user_id: int, proposal_id: int) -> Proposal | None:
        """Return an open proposal; None if it is older than PROPOSAL_LIFETIME or not the user's."""
        rows = await self._database.query(_SELECT, user_id, proposal_id, self._oldest_made_at)
        return PROPOSAL.read_first(rows)

    async def list_for_answer(self, user_id: int, answer_id: int) -> tuple[Proposal, ...]:
        """List the open and claimed proposals of an answer's row."""
        sql = f"""
            SELECT {PROPOSAL.select} FROM proposals
            WHERE user_id = $1 AND message_id = $2 AND made_at >= $3 AND state IN ('open', 'claimed')
            ORDER BY id
        """
        rows = await self._database.query(sql, user_id, answer_id, self._oldest_made_at)
        now = self._clock()
        return tuple(each for each in map(PROPOSAL.read, rows) if not is_expired(each, now))

    async def list_approved(self, user_id: int) -> tuple[Proposal, ...]:
        sql = f"""
            SELECT {PROPOSAL.select} FROM proposals WHERE user_id = $1 AND state <> 'open' ORDER BY id
        """
        return tuple(map(PROPOSAL.read, await self._database.query(sql, user_id)))

    async def adopt_approved(self) -> tuple[Proposal, ...]:
        """Take over the approved proposals of dead processes. Returns this process's, of all users."""
        process = (self._process,)
        batch = [Statement(ADOPT_APPROVED, process), Statement(SELECT_APPROVED, process)]
        _, rows = await self._database.transaction(batch, [MAINTENANCE_LOCK])
        return tuple(map(PROPOSAL.read, rows))

    async def claim(self, proposal: Proposal, press_id: str, message: CallMessage) -> Proposal | None:
        """Claim a proposal for a button press; None if it is no longer open."""
        parameters = (press_id, self._process, *_CLAIM_PARAMETERS.pick(_CALL_MESSAGE.write(message)))
        sql = f"""
            UPDATE proposals
            SET state = 'claimed', claimed_by = $3, process = $4, {_CLAIM_PARAMETERS.assignments}
            WHERE user_id = $1 AND id = $2 AND state = 'open'
            RETURNING {PROPOSAL.select}
        """
        return PROPOSAL.read_first(await self._change_proposal(sql, proposal, *parameters))

    async def reopen(self, proposal: Proposal) -> bool:
        """Reopen a proposal whose calls were not made. Returns False if it is not claimed."""
        return bool(await self._change_proposal(_REOPEN, proposal))

    async def finish(
        self, proposal: Proposal, state: CallState, revise: ReviseCall, *, tainted: bool = False
    ) -> bool:
        """Store the outcome, also in the answer's calls. Returns False if the proposal is not claimed."""
        sql = """
            UPDATE proposals SET state = $3 WHERE user_id = $1 AND id = $2 AND state = 'claimed'
            RETURNING message_id
        """
        statement = Statement(sql, (*_user_and_id(proposal), state))
        return await self._change_with_calls(statement, proposal, revise, tainted)

    async def decline(self, proposal: Proposal, revise: ReviseCall) -> bool:
        """Delete an open proposal, and revise the answer's calls. Returns whether it was open."""
        sql = """
            DELETE FROM proposals WHERE user_id = $1 AND id = $2 AND state = 'open' RETURNING message_id
        """
        return await self._change_with_calls(
            Statement(sql, _user_and_id(proposal)), proposal, revise, tainted=False
        )

    async def delete(self, proposal: Proposal) -> None:
        await self._change_proposal(_DELETE, proposal)

    async def prune(self) -> None:
        await self._change([MAINTENANCE_LOCK], PRUNE_PROPOSALS, self._oldest_made_at)

    async def _change_proposal(self, sql: str, proposal: Proposal, *parameters: object) -> Sequence[Row]:
        return await self._change(
            [user_lock(proposal.key.user_id)], sql, *_user_and_id(proposal), *parameters
        )

    async def _change_with_calls(
        self, statement: Statement, proposal: Proposal, revise: ReviseCall, tainted: bool
    ) -> bool:
        answer = (proposal.key.user_id, proposal.answer_id)

        def steps() -> Transaction[bool]:
            if not (yield statement):
                return False
            # `user_id IS NULL`: an answer in a channel.
            sql = """
                SELECT tool_calls FROM messages
                WHERE (user_id = $1 OR user_id IS NULL) AND id = $2 AND role = 'assistant'
                /* scope: any row */
            """
            update_calls = """
                UPDATE messages SET tool_calls = $3, tainted = CASE WHEN $4 = 1 THEN 1 ELSE tainted END
                WHERE (user_id = $1 OR user_id IS NULL) AND id = $2 AND role = 'assistant'
                /* scope: any row */
            """
            for (calls,) in (yield Statement(sql, answer)):
                revised = tool_calls_to_json(tuple(map(revise, tool_calls_from_json(calls))))
                yield Statement(update_calls, (*answer, revised, int(tainted)))
            return True

        return await self._database.write(steps, [user_lock(proposal.key.user_id)])

    @property
    def _oldest_made_at(self) -> int:
        return to_ms(self._clock() - PROPOSAL_LIFETIME)


def _user_and_id(proposal: Proposal) -> tuple[int, int]:
    return proposal.key.user_id, proposal.id


def insert_proposals(
    key: SessionKey,
    answer: str | int,
    proposals: Sequence[ProposedCalls],
    now: datetime,
    *,
    visibility: Visibility = "public",
) -> list[Statement]:
    """`answer`: the session whose newest message is the answer, or the Discord id of a channel's answer."""
    sql = _INSERT_FOR_SESSION if isinstance(answer, str) else _INSERT_FOR_CHANNEL
    columns = (key.user_id, key.channel_id, key.agent, visibility, answer)
    rows = ((*columns, each.memory_id, _CALLS.dump_json(each).decode(), to_ms(now)) for each in proposals)
    record = Statement(_RECORD_LAST_NUMBER, (key.user_id,))
    return [statement for row in rows for statement in (Statement(sql, row), record)]
