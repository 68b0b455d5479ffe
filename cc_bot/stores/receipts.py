"""The messages on Discord that tell what was done to memories and reminders, and what has become of those."""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final, Literal, NamedTuple

from cc_bot.domain.memory import MemoryState, ReceiptLine, ReceiptMessage
from cc_bot.domain.message import Visibility
from cc_bot.storage import Database, Row, Statement, Steps, user
from cc_bot.stores.columns import Columns, Kind

# ruff: noqa: S608 - put together from constants alone


class _Receipt(NamedTuple):
    user_id: int
    channel_id: int
    message_id: int
    visibility: Visibility
    told: ReceiptLine
    stale: int = 0


_RECEIPT: Final = Columns(_Receipt, id=Kind(column="named_id"))

# By the key of receipts. $1 user, $2 message
_DROP: Final = "DELETE FROM receipts WHERE user_id = $1 AND message_id = $2"

# What tells of a memory that is gone for good was brought up to date when that was hidden, or erased. By
# receipts_by_named. $1 user
_DROP_OVER: Final = """
    DELETE FROM receipts
    WHERE user_id = $1 AND what = 'memory' AND stale = 0 AND NOT EXISTS (
        SELECT 1 FROM memories AS held WHERE held.user_id = $1 AND held.id = named_id
    )
"""

# A reminder that was cancelled does not come back. By the key of receipts. $1 user, $2 message
_DROP_CANCELLED: Final = """
    DELETE FROM receipts
    WHERE user_id = $1 AND message_id = $2 AND what = 'schedule' AND NOT EXISTS (
        SELECT 1 FROM schedules AS held WHERE held.user_id = $1 AND held.id = named_id
    )
"""

_INSERT: Final = f"""
    INSERT INTO receipts ({_RECEIPT.select}) VALUES ({_RECEIPT.marks})
    ON CONFLICT (message_id, line) DO NOTHING
"""

# $1 user, $2 message
_SELECT_OF: Final = f"""
    SELECT {_RECEIPT.select} FROM receipts WHERE user_id = $1 AND message_id = $2 ORDER BY line
"""

# $1 user, $2 how many messages
_SELECT_NEWEST: Final = f"""
    SELECT {_RECEIPT.select} FROM receipts
    WHERE user_id = $1 AND message_id IN (
        SELECT DISTINCT message_id FROM receipts WHERE user_id = $1 ORDER BY message_id DESC LIMIT $2
    )
    ORDER BY message_id DESC, line
"""

# What its line names has changed since its message was last shown anew. By receipts_stale, then by the key.
SELECT_STALE_RECEIPTS: Final = f"""
    SELECT {_RECEIPT.select} FROM receipts
    WHERE message_id IN (SELECT message_id FROM receipts WHERE stale > 0)
    ORDER BY message_id, line /* channel */
"""

# The same of one user. By receipts_stale, then by the key. $1 user
_SELECT_STALE: Final = f"""
    SELECT {_RECEIPT.select} FROM receipts
    WHERE user_id = $1 AND message_id IN (SELECT message_id FROM receipts WHERE user_id = $1 AND stale > 0)
    ORDER BY message_id DESC, line
"""

# By the key of receipts. $1 user, $2 message
_SELECT_CHANGES: Final = (
    "SELECT CAST(coalesce(sum(stale), 0) AS BIGINT) FROM receipts WHERE user_id = $1 AND message_id = $2"
)

# By receipts_by_named. $1 user, $2 what they name, $3 an array of ids
_STALE: Final = """
    UPDATE receipts SET stale = stale + 1 WHERE user_id = $1 AND what = $2 AND named_id IN @ids($3)
"""

# By the key of receipts. $1 user, $2 message
_FRESH: Final = "UPDATE receipts SET stale = 0 WHERE user_id = $1 AND message_id = $2 AND stale > 0"


def mark_stale(user_id: int, what: Literal["memory", "schedule"], ids: Collection[int]) -> Statement:
    """Have the messages shown again that name these memories or reminders. To be run in the transaction that
    changes them, or deletes them."""
    return Statement(_STALE, (user_id, what, json.dumps(sorted(ids))))


class _State(NamedTuple):
    id: int
    state: MemoryState


_STATE: Final = Columns(_State)

# $1 user, $2 an array of memories and versions
_SELECT_STATES: Final = f"""
    SELECT {_STATE.filled(id="id", status="status", former_id="coalesce(supersedes, 0)")} FROM memories
    WHERE user_id = $1 AND id IN @ids($2)
"""


class ReceiptStore:
    """The lines of every user's answers, and only ever the owner's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, told: ReceiptMessage) -> None:
        """Note what a message tells from now on, in place of what it told before."""
        place = (told.user_id, told.channel_id, told.message_id, told.visibility)
        rows = (tuple(_RECEIPT.write(_Receipt(*place, each)).values()) for each in told.lines)
        await self._database.transaction(
            [
                Statement(_DROP, (told.user_id, told.message_id)),
                Statement(_DROP_OVER, (told.user_id,)),
                *(Statement(_INSERT, row) for row in rows),
            ],
            [user(told.user_id)],
        )

    async def settle(self, told: ReceiptMessage) -> None:
        """Note that a message was brought up to date with what was read of it, unless that has changed since.
        What it tells as cancelled is no receipt any more."""
        params = (told.user_id, told.message_id)

        def steps() -> Steps[None]:
            [(changes,)] = yield Statement(_SELECT_CHANGES, params)
            if changes == told.changes:
                yield Statement(_DROP_CANCELLED, params)
                yield Statement(_FRESH, params)

        await self._database.write(steps, [user(told.user_id)])

    async def get(self, user_id: int, message_id: int) -> ReceiptMessage | None:
        """Return what a message tells its user; None where nothing is known of it."""
        found = _read(await self._database.query(_SELECT_OF, user_id, message_id))
        return found[0] if found else None

    async def list_newest(self, user_id: int, *, most: int) -> Sequence[ReceiptMessage]:
        """List the user's newest messages that tell of anything."""
        return _read(await self._database.query(_SELECT_NEWEST, user_id, most))

    async def list_stale(self, user_id: int) -> Sequence[ReceiptMessage]:
        """List the user's messages that tell of what has changed since they were shown, the newest first."""
        return _read(await self._database.query(_SELECT_STALE, user_id))

    async def list_all_stale(self) -> Sequence[ReceiptMessage]:
        """List the messages of all users that tell of what has changed since they were shown."""
        return _read(await self._database.query(SELECT_STALE_RECEIPTS))

    async def get_states(self, user_id: int, memory_ids: Collection[int]) -> dict[int, MemoryState]:
        """Return what has become of memories and their former versions; nothing of what is gone for good."""
        rows = await self._database.query(_SELECT_STATES, user_id, json.dumps(sorted(memory_ids)))
        return dict(map(_STATE.read, rows))


def _read(rows: Sequence[Row]) -> list[ReceiptMessage]:
    messages = defaultdict[int, list[_Receipt]](list)
    for receipt in map(_RECEIPT.read, rows):
        messages[receipt.message_id].append(receipt)
    return [
        ReceiptMessage(
            *(first.user_id, first.channel_id, first.message_id, first.visibility),
            lines=tuple(each.told for each in (first, *others)),
            changes=sum(each.stale for each in (first, *others)),
        )
        for first, *others in messages.values()
    ]
