"""Calls of tools that somebody has agreed to: claimed before they are made, and gone once their user knows.

A claim is the one statement that takes the proposal away, so a call that is agreed to twice is made once.
What came of it goes into the stored answer that proposed it, in place of the result that told to wait.
"""

from collections.abc import Callable, Sequence
from typing import Final

from cc_bot.domain.claimed_call import CallState, ClaimedCall
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import ToolCall
from cc_bot.domain.proposal import Proposal
from cc_bot.storage import EVERYBODY, Database, Row, Statement, Steps, user
from cc_bot.stores.columns import MS, Columns, Kind, Parameters, tool_calls_of, tool_calls_to_json
from cc_bot.stores.processes import left_by_the_dead
from cc_bot.stores.proposals import CHANGE, put_back, take

# ruff: noqa: S608 - put together from constants alone

CLAIMED_CALL: Final = Columns(
    ClaimedCall,
    moments=MS,
    answer_id=Kind(column="message_id"),
    change=CHANGE,
    locale=Kind(str, lambda stored: Locale(stored) if stored else None),
)
_WRITTEN: Final = Parameters(CLAIMED_CALL.names)

_INSERT: Final = f"""
    INSERT INTO claimed_calls ({_WRITTEN.names}, process)
    VALUES ({_WRITTEN.marks}, ${_WRITTEN.count + 1})
"""

# Once: whoever comes later finds what it came to.
_FINISH: Final = """
    UPDATE claimed_calls SET state = $3 WHERE user_id = $1 AND id = $2 AND state = 'claimed' RETURNING id
"""

_DELETE: Final = "DELETE FROM claimed_calls WHERE user_id = $1 AND id = $2"

# One of which nothing is noted yet.
_UNCLAIM: Final = """
    DELETE FROM claimed_calls WHERE user_id = $1 AND id = $2 AND state = 'claimed' RETURNING id
"""

_SELECT_OF_USER: Final = f"SELECT {CLAIMED_CALL.select} FROM claimed_calls WHERE user_id = $1 ORDER BY id"

# Of all users: the table holds only what is on its way. $1 process
ADOPT_CALLS: Final = f"""
    UPDATE claimed_calls SET process = $1 WHERE {left_by_the_dead("claimed_calls")}
    /* all users */
"""
SELECT_CLAIMED: Final = f"""
    SELECT {CLAIMED_CALL.select} FROM claimed_calls WHERE process = $1 ORDER BY id
    /* all users */
"""

# $1 user, $2 the answer's row
_SELECT_CALLS: Final = "SELECT tool_calls FROM messages WHERE user_id = $1 AND id = $2 AND role = 'assistant'"

# What a server gave was written by others. $3 its calls
_PUT_CALLS: Final = """
    UPDATE messages SET tool_calls = $3, tainted = 1
    WHERE user_id = $1 AND id = $2 AND role = 'assistant'
"""

# The same of an answer in a channel, which is nobody's alone. $1 its row
SELECT_CHANNEL_CALLS: Final = """
    SELECT tool_calls FROM messages WHERE id = $1 AND user_id IS NULL AND role = 'assistant' /* channel */
"""

# $2 its calls
PUT_CHANNEL_CALLS: Final = """
    UPDATE messages SET tool_calls = $2, tainted = 1
    WHERE id = $1 AND user_id IS NULL AND role = 'assistant' /* channel */
"""

Revise = Callable[[ToolCall], ToolCall]
"""Says what a call of the answer tells now; the same where it is another one."""


class ClaimedCallStore:
    """The calls of every user that were agreed to."""

    def __init__(self, database: Database, *, process: str = "") -> None:
        """Make the store; `process` is who claims them."""
        self._database = database
        self._process = process

    async def claim(self, proposal: Proposal, call: ClaimedCall) -> bool:
        """Take the proposal, and claim its call. False when somebody else was faster: then nothing is done,
        and the call is not to be made."""

        def steps() -> Steps[bool]:
            if not (yield take(proposal)):
                return False
            yield Statement(_INSERT, (*_WRITTEN.of(CLAIMED_CALL.write(call)), self._process))
            return True

        return await self._database.write(steps, [user(call.key.user_id)])

    async def finish(self, call: ClaimedCall, state: CallState, revise: Revise) -> bool:
        """Note what it came to, and have its answer tell that. False when that was noted before, or all of
        its user's was erased since."""
        user_id = call.key.user_id

        def steps() -> Steps[bool]:
            if not (yield Statement(_FINISH, (user_id, call.id, state))):
                return False
            yield from _revise(user_id, call.answer_id, revise)
            return True

        return await self._database.write(steps, [user(user_id)])

    async def give_back(self, proposal: Proposal, call: ClaimedCall) -> bool:
        """Have a proposal be open again whose call was claimed, and of which nothing was sent. False when it
        was noted what it came to, or all of its user's or the answer was erased since."""
        user_id = call.key.user_id

        def steps() -> Steps[bool]:
            if not (yield Statement(_UNCLAIM, (user_id, call.id))):
                return False
            return bool((yield put_back(proposal)))

        return await self._database.write(steps, [user(user_id)])

    async def leave(self, proposal: Proposal, revise: Revise) -> bool:
        """Drop a proposal whose call is not made, and have its answer tell that. Whether it was open."""
        user_id = proposal.key.user_id

        def steps() -> Steps[bool]:
            if not (yield take(proposal)):
                return False
            yield from _revise(user_id, proposal.answer_id, revise)
            return True

        return await self._database.write(steps, [user(user_id)])

    async def settle(self, call: ClaimedCall) -> None:
        """Forget a call: its user knows what came of it."""
        user_id = call.key.user_id
        await self._database.transaction([Statement(_DELETE, (user_id, call.id))], [user(user_id)])

    async def list_of_user(self, user_id: int) -> tuple[ClaimedCall, ...]:
        """List the user's that are on their way, or that they were not told of."""
        return tuple(map(CLAIMED_CALL.read, await self._database.query(_SELECT_OF_USER, user_id)))

    async def list_claimed(self) -> tuple[ClaimedCall, ...]:
        """List the same of everybody: those of this process, and of those that are dead, whose calls it makes
        its own."""
        me = (self._process,)
        batch = [Statement(ADOPT_CALLS, me), Statement(SELECT_CLAIMED, me)]
        _, rows = await self._database.transaction(batch, [EVERYBODY])
        return tuple(map(CLAIMED_CALL.read, rows))


def _revise(user_id: int, answer_id: int, revise: Revise) -> Steps[None]:
    if rows := (yield Statement(_SELECT_CALLS, (user_id, answer_id))):
        yield Statement(_PUT_CALLS, (user_id, answer_id, _revised(rows, revise)))
    elif rows := (yield Statement(SELECT_CHANNEL_CALLS, (answer_id,))):
        yield Statement(PUT_CHANNEL_CALLS, (answer_id, _revised(rows, revise)))


def _revised(rows: Sequence[Row], revise: Revise) -> str:
    return tool_calls_to_json(tuple(map(revise, tool_calls_of(rows[0][0]))))
