"""Stores which Discord message shows which changes of memories and reminders. If such an item changes again,
its receipts are stale, and the message is edited."""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal, NamedTuple

from cc_bot.db import Row, Statement, user_lock
from cc_bot.db.columns import Codec, Columns, Store
from cc_bot.domain.change import Change, ChangeKind
from cc_bot.domain.message import Visibility
from cc_bot.features import modules
from cc_bot.features.memory.model import Audience

# ruff: noqa: S608 - SQL is built from constants


@dataclass(frozen=True, slots=True)
class ReceiptMessage:
    user_id: int
    channel_id: int | None  # None: ephemeral, so it can be edited only after a press on it
    message_id: int
    visibility: Visibility
    changes: tuple[Change, ...]  # without texts if read from the database
    stale_count: int = field(default=0, compare=False)  # changes of its items since the message was shown


class MemoryState(NamedTuple):
    id: int
    status: Literal["active", "superseded", "deleted"]
    former_id: int | None  # the version before
    number: int | None  # None for a former version
    content: str
    audience: Audience


class _ReceiptRow(NamedTuple):
    message_id: int
    line: int
    user_id: int
    channel_id: int | None
    visibility: Visibility
    what: str
    kind: ChangeKind
    named_id: int
    former_id: int | None
    number: int
    stale: int = 0


_RECEIPT_ROW: Final = Columns(_ReceiptRow)
_MEMORY: Final = Columns(MemoryState, former_id=Codec(column="supersedes"))


@cache
def _delete_outdated() -> str:
    tables = {what: each.table for module in modules("changes") for what, each in module.CHANGES.items()}
    item_exists = " ".join(
        f"""OR other.what = '{what}' AND EXISTS (
            SELECT 1 FROM {table} AS item WHERE item.user_id = $1 AND item.id = other.named_id
        )"""
        for what, table in tables.items()
    )
    return f"""
        DELETE FROM receipts WHERE user_id = $1 AND NOT EXISTS (
            SELECT 1 FROM receipts AS other
            WHERE other.user_id = $1 AND other.message_id = receipts.message_id
                AND (other.stale > 0 {item_exists})
        )
    """


_INSERT: Final = f"INSERT INTO receipts ({_RECEIPT_ROW.select}) VALUES ({_RECEIPT_ROW.placeholders})"

_SELECT: Final = f"""
    SELECT {_RECEIPT_ROW.select} FROM receipts
    WHERE user_id = $1 AND message_id IN ({{}}) ORDER BY message_id DESC, line
"""
_SELECT_ONE: Final = _SELECT.format("$2")
_SELECT_NEWEST: Final = _SELECT.format("""
    SELECT DISTINCT message_id FROM receipts
    WHERE user_id = $1 AND channel_id IS NOT NULL ORDER BY message_id DESC LIMIT $2
""")

SELECT_STALE_USERS: Final = "SELECT DISTINCT user_id FROM receipts WHERE stale > 0 /* scope: all users */"

_SELECT_STALE: Final = _SELECT.format("SELECT message_id FROM receipts WHERE user_id = $1 AND stale > 0")

_SELECT_MEMORIES: Final = f"SELECT {_MEMORY.select} FROM memories WHERE user_id = $1 AND id IN @ids($2)"


def mark_receipts_stale(user_id: int, what: str, ids: Collection[int]) -> Statement:
    """Run this in the transaction that changes the items."""
    sql = """
        UPDATE receipts SET stale = stale + 1
        WHERE user_id = $1 AND what = $2 AND named_id IN @ids($3) AND channel_id IS NOT NULL
    """
    return Statement(sql, (user_id, what, json.dumps(sorted(ids))))


class ReceiptStore(Store):
    async def put(self, message: ReceiptMessage) -> None:
        sql = "DELETE FROM receipts WHERE user_id = $1 AND message_id = $2"
        delete_former = Statement(sql, (message.user_id, message.message_id))
        delete_outdated = Statement(_delete_outdated(), (message.user_id,))
        batch = [delete_former, delete_outdated]
        for number, each in enumerate(message.changes):
            key = (message.message_id, number, message.user_id, message.channel_id, message.visibility)
            row = _ReceiptRow(*key, each.what, each.kind, each.id, each.former_id, each.number)
            batch.append(Statement(_INSERT, tuple(_RECEIPT_ROW.write(row).values())))
        await self._database.transaction(batch, [user_lock(message.user_id)])

    async def mark_current(self, message: ReceiptMessage) -> None:
        """Record that a message is up to date, unless its items have changed since `message` was read."""
        params = (message.user_id, message.message_id, message.stale_count)
        sql = """
            UPDATE receipts SET stale = 0
            WHERE user_id = $1 AND message_id = $2 AND stale > 0 AND $3 = (
                SELECT CAST(sum(stale) AS BIGINT) FROM receipts AS each
                WHERE each.user_id = $1 AND each.message_id = $2
            )
        """
        await self._change([user_lock(message.user_id)], sql, *params)

    async def get(self, user_id: int, message_id: int) -> ReceiptMessage | None:
        messages = _read_messages(await self._database.query(_SELECT_ONE, user_id, message_id))
        return messages[0] if messages else None

    async def list_newest(self, user_id: int, *, limit: int) -> Sequence[ReceiptMessage]:
        """List the newest messages that the bot can edit at any time."""
        return _read_messages(await self._database.query(_SELECT_NEWEST, user_id, limit))

    async def list_stale(self, user_id: int) -> Sequence[ReceiptMessage]:
        return _read_messages(await self._database.query(_SELECT_STALE, user_id))

    async def list_stale_users(self) -> Sequence[int]:
        return [user_id for (user_id,) in await self._database.query(SELECT_STALE_USERS)]

    async def get_memories(self, user_id: int, ids: Collection[int]) -> dict[int, MemoryState]:
        """Return memories by id, including deleted ones that can still be restored, and former versions."""
        if not ids:
            return {}
        rows = await self._database.query(_SELECT_MEMORIES, user_id, json.dumps(sorted(ids)))
        return {memory.id: memory for memory in map(_MEMORY.read, rows)}


def _read_messages(rows: Sequence[Row]) -> list[ReceiptMessage]:
    lines_by_message = defaultdict[int, list[_ReceiptRow]](list)
    for line in map(_RECEIPT_ROW.read, rows):
        lines_by_message[line.message_id].append(line)
    return [
        ReceiptMessage(
            *(first.user_id, first.channel_id, first.message_id, first.visibility),
            changes=tuple(
                Change(each.what, each.kind, each.named_id, number=each.number, former_id=each.former_id)
                for each in (first, *others)
            ),
            stale_count=sum(each.stale for each in (first, *others)),
        )
        for first, *others in lines_by_message.values()
    ]
