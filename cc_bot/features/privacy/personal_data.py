"""The tables with personal data: overview, export and erasure derive from one list.

An erasure is first recorded in the erasure log and in the table `erasing`: after a kill, the next start
continues it. Messages are deleted in batches, the rest in one transaction. A user's channel messages are
deleted with their answers, frozen blocks and pending mentions. The last id of each channel stays, so that
catching up does not fetch them again. Call MemoryRemovalStore.scrub afterwards.
"""

import base64
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, date, datetime
from functools import cache, partial
from itertools import chain
from typing import Any, Final

from cc_bot.chat.stores.blocks import delete_messages
from cc_bot.chat.stores.canvases import COUNT_SWITCH
from cc_bot.chat.stores.usage import USED_TOKENS
from cc_bot.db import Row, Statement, Transaction, run_all, user_lock
from cc_bot.db.columns import Store, from_ms, to_ms
from cc_bot.db.personal import PersonalTable
from cc_bot.domain.errors import ErasureUnfinished, StorageError
from cc_bot.features import modules
from cc_bot.features.memory.stores.rows import RECORD_ERASURE, SEARCH_DATA
from cc_bot.features.privacy.model import DataKind, Holdings, StoredAmount

# ruff: noqa: S608 - only constants


SELECT_OWN_IDS: Final = """
    SELECT m.id FROM sessions AS s
    JOIN messages AS m ON m.session_id = s.id AND m.user_id = $1
    WHERE s.user_id = $1
    UNION ALL
    SELECT id FROM messages WHERE user_id = $1 AND session_id IS NULL
"""
_SELECT_FILE_IDS: Final = """
    SELECT message_id FROM attachments
    WHERE user_id = $1 AND session_id IN (SELECT id FROM sessions WHERE user_id = $1)
"""
SUM_FILE_BYTES: Final = """
    SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM attachments WHERE user_id = $1 AND bytes IS NOT NULL
"""
SELECT_SAID_IN_CHANNELS: Final = (
    "SELECT id FROM messages WHERE user_id IS NULL AND author_id = $1 AND role = 'user' /* scope: channel */"
)
SELECT_ANSWERS_IN_CHANNELS: Final = """
    SELECT a.id FROM turns AS t
    @cross_join messages AS a ON a.discord_id = t.shown_in AND a.user_id IS NULL AND a.role = 'assistant'
    WHERE t.user_id = $1 AND t.kind = 'mention'
    UNION ALL
    SELECT id FROM messages WHERE user_id IS NULL AND memory_user_id = $1 /* scope: channel */
"""
_IS_CHANNEL_ANSWER: Final = "user_id IS NULL AND role = 'assistant' /* scope: channel */"

_CORE_TABLES: Final[tuple[PersonalTable, ...]] = (
    PersonalTable("user_settings", "settings", "updated_at", name="settings"),
    PersonalTable("sessions", "conversations", "created_at", hidden=("canvas_change", "active_hour")),
    PersonalTable("messages", "messages", "created_at", hidden=("memory_user_id",), ids_sql=SELECT_OWN_IDS),
    PersonalTable(
        *("messages", "channel_messages", "created_at", "channel_messages", "author_id"),
        where="user_id IS NULL AND role = 'user' /* scope: channel */",
        hidden=("memory_user_id",),
        ids_sql=SELECT_SAID_IN_CHANNELS,
    ),
    PersonalTable(
        *("messages", "channel_answers", "created_at", "channel_answers", "memory_user_id"),
        where=_IS_CHANNEL_ANSWER,
        hidden=("memory_user_id",),
        ids_sql=SELECT_ANSWERS_IN_CHANNELS,
        read_where=f"{_IS_CHANNEL_ANSWER} AND CAST($1 AS BIGINT) IS NOT NULL",
    ),
    PersonalTable(
        "attachments",
        "files",
        hidden=("bytes",),
        ids_sql=_SELECT_FILE_IDS,
        id_column="message_id",
        read_where="user_id = $1 AND session_id IN (SELECT id FROM sessions WHERE user_id = $1)",
        page_size=1,  # a message may have 20 MB of attachments
    ),
    PersonalTable("summaries", "summaries", "created_at"),
    PersonalTable("numbers", None),
    PersonalTable("proposals", "proposals", "made_at", hidden=("token", "process")),
    PersonalTable("receipts", "receipts"),
    PersonalTable("turns", "turns", "accepted_at", where="kind <> 'mention'", hidden=("token", "process")),
    PersonalTable("turns", None, name="mentions", where="kind = 'mention'"),
    PersonalTable("usage", "usage", "day"),
    PersonalTable("reservations", "usage", "at", hidden=("process",)),
    PersonalTable("erased_usage", "counts", "day"),
    PersonalTable("web_codes", "sign_ins", "made_at", hidden=("hash",)),
    PersonalTable("web_sessions", "sign_ins", "made_at", hidden=("hash",)),
    PersonalTable(*("limits", "rules", "set_at", "", "scope_id"), where="scope = 'user'", erasure="keep"),
    PersonalTable(
        "access_rules", "rules", "set_at", user_column="subject_id", where="subject = 'user'", erasure="keep"
    ),
    *(
        PersonalTable(table, "decisions", "set_at", name=name, user_column="set_by", erasure="unsign")
        for name, table in (
            ("decided_models", "channel_models"),
            ("decided_limits", "limits"),
            ("decided_access", "access_rules"),
            ("decided_maintenance", "maintenance"),
        )
    ),
    PersonalTable(
        *("memories", "memories", "created_at"),
        hidden=SEARCH_DATA.names,
        ids_sql="SELECT id FROM memories WHERE user_id = $1",
    ),
    *(PersonalTable(table, None) for table in ("memory_vectors", "memory_terms", "memory_imports")),
)


@cache
def personal_tables() -> tuple[PersonalTable, ...]:
    """Return the tables, each after those that its rows refer to."""
    return (*_CORE_TABLES, *chain.from_iterable(module.TABLES for module in modules("store")))


def _exported_tables() -> Iterator[PersonalTable]:
    return (table for table in personal_tables() if table.kind)


def _erased_tables() -> Iterator[PersonalTable]:
    """Return the tables to erase, each before those that its rows refer to."""
    return (table for table in reversed(personal_tables()) if table.erasure != "keep")


Record = Mapping[str, Any]
"""A row for JSON: times in ISO 8601, and Discord ids as texts, since many programs round large numbers."""

_PART_BYTES: Final = 3 * 2**20  # of an attachment in one record

_JSON_COLUMNS: Final = frozenset(
    (
        *("canvas_state", "tool_calls", "quiet", "question", "models", "document", "change", "pages"),
        *("earlier", "tags", "metadata", "source"),
    )
)
_ID_COLUMNS: Final = frozenset(
    {"id", "set_by", "reply_to", "supersedes", "summarized_to", "shown_in", "replaces"}
)
"""Columns with Discord ids, besides those named `…_id`."""
_MAX_EXACT_INTEGER: Final = 2**53 - 1  # JavaScript's greatest exact integer

SELECT_UNFINISHED: Final = "SELECT user_id FROM erasing /* scope: all users */"

# $2 limit
SELECT_OWN_MESSAGES: Final = f"""
    SELECT id, discord_id FROM messages
    WHERE user_id = $1 AND id IN (SELECT * FROM ({SELECT_OWN_IDS}) AS own LIMIT $2)
"""


@cache
def users_sql() -> str:
    return (
        " UNION ".join(dict.fromkeys(table.user_ids_sql for table in _erased_tables()))
        + " /* scope: all users */"
    )


_BATCH_SIZE: Final = 200  # messages per transaction


class PersonalDataStore(Store):
    async def get_overview(self, user_id: int) -> Holdings:
        on_server = self._database.dialect != "sqlite"
        return await self._database.read_long(lambda: _overview(user_id, on_server=on_server))

    async def read_records(self, user_id: int) -> AsyncIterator[tuple[str, Record]]:
        """Yield records, each with the name of its list. Rows written meanwhile may be missing."""
        for table in _exported_tables():
            async for row in self._read_rows(table, user_id):
                for record in _make_records(table, row):
                    yield table.list_name, record

    async def _read_rows(self, table: PersonalTable, user_id: int) -> AsyncIterator[Row]:
        if not table.ids_sql:
            for row in await self._database.query(table.rows_sql, user_id):
                yield row
            return
        rows = await self._database.read_long(Statement(table.ids_sql, (user_id,)).as_transaction)
        ids = sorted({id_ for (id_,) in rows})
        for first in range(0, len(ids), table.page_size):
            page = json.dumps(ids[first : first + table.page_size])
            for row in await self._database.query(table.rows_sql, user_id, page):
                yield row

    async def list_users(self) -> frozenset[int]:
        """Return all users. Reads the whole database, so only for a restored one."""
        return frozenset(id_ for (id_,) in await self._database.query(users_sql()))

    async def list_unfinished(self) -> tuple[int, ...]:
        return tuple(id_ for (id_,) in await self._database.query(SELECT_UNFINISHED))

    async def erase(
        self, user_id: int, *, counted_day: date | None = None, already_begun: bool = False
    ) -> None:
        """Erase everything. Raises ErasureUnfinished if another call has to continue, or another StorageError
        if nothing was erased.

        `already_begun`: `begin_erasure` was called. `counted_day`: today, if token limits apply; this month's
        counts then stay until its end.
        """
        if not already_begun:
            await self.begin_erasure(user_id)
        locks = [user_lock(user_id)]
        # Answers are deleted before the messages through which they are found.
        select_in_channels = f"""
            SELECT m.id, m.discord_id
            FROM ({SELECT_ANSWERS_IN_CHANNELS} UNION ALL {SELECT_SAID_IN_CHANNELS}) AS found
            @cross_join messages AS m ON m.id = found.id AND m.user_id IS NULL AND m.discord_id IS NOT NULL
            LIMIT $2 /* scope: channel */
        """
        delete_erasing = "DELETE FROM erasing WHERE user_id = $1"
        try:
            for select in (select_in_channels, SELECT_OWN_MESSAGES):
                while await self._database.write(partial(_delete_batch, select, user_id), locks):
                    pass
            await self._database.transaction(_erasing_statements(user_id, counted_day), locks)
            await self._log_erasure(user_id)  # again, for a backup that was made meanwhile
            await self._change(locks, delete_erasing, user_id)
        except StorageError as error:
            raise ErasureUnfinished from error

    async def begin_erasure(self, user_id: int) -> None:
        """Record the erasure: all processes then end the user's turns, and the next start continues it."""
        await self._log_erasure(user_id)
        sql = "INSERT INTO erasing (user_id, since) VALUES ($1, $2) ON CONFLICT (user_id) DO NOTHING"
        await self._change([user_lock(user_id)], sql, user_id, to_ms(self._clock()))

    async def has_turn_elsewhere(self, user_id: int) -> bool:
        """Return whether another process, even a dead one, runs a turn of the user."""
        # Uses the indexes reservations_by_user and turns_by_user.
        sql = """
            SELECT 1 FROM reservations AS r JOIN processes AS p ON p.name = r.process
            WHERE r.user_id = $1 AND r.process <> $2 AND r.tokens > 0 AND r.purpose = 'turn'
            UNION ALL
            SELECT 1 FROM turns AS t
            WHERE t.user_id = $1 AND t.process <> $2 AND t.state = 'accepted' AND t.kind <> 'mention'
                AND EXISTS (SELECT 1 FROM processes AS p WHERE p.until > @now)
            LIMIT 1
        """
        return bool(await self._database.query(sql, user_id, self._process))

    async def _log_erasure(self, user_id: int) -> None:
        if self._log:
            await self._log.note("user", user_id)


def _overview(user_id: int, *, on_server: bool) -> Transaction[Holdings]:
    kinds: dict[DataKind, StoredAmount] = {}
    for table in _exported_tables():
        [(count, first, last)] = yield Statement(table.count_sql, (user_id,))
        if count and table.kind:
            amount = kinds.get(table.kind, StoredAmount(0))
            times = sorted(filter(None, (amount.first, amount.last, _parse_time(first), _parse_time(last))))
            kinds[table.kind] = StoredAmount(amount.count + count, *times[:1], *times[-1:])
    [(file_bytes,)] = yield Statement(SUM_FILE_BYTES, (user_id,))
    return Holdings(kinds, file_bytes, on_server)


def _parse_time(value: Any) -> datetime | None:
    if not value:
        return None
    if isinstance(value, int):
        return from_ms(value)
    moment = datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _make_records(table: PersonalTable, row: Row) -> list[Record]:
    fields = {name: _json_value(name, value) for name, value in zip(table.columns, row, strict=True)}
    if "data" not in fields:
        return [fields]
    data: bytes = fields.pop("data")
    parts = [data[begin : begin + _PART_BYTES] for begin in range(0, len(data), _PART_BYTES)] or [b""]
    records = list[Record]()
    for number, part in enumerate(parts, 1):
        encoded = base64.b64encode(part).decode()
        records.append(fields | {"piece": number, "pieces": len(parts), "data_base64": encoded})
        fields.pop("document", None)  # only in the first record
    return records


def _json_value(name: str, value: Any) -> Any:
    if name in _JSON_COLUMNS and value:
        return json.loads(
            value,
            parse_int=lambda digits: _id_as_text("", int(digits)),
            object_pairs_hook=lambda pairs: {name: _id_as_text(name, value) for name, value in pairs},
        )
    is_time = name.endswith("_at") or name in ("at", "timestamp", "until", "token_until")
    return from_ms(value).isoformat() if is_time and isinstance(value, int) else _id_as_text(name, value)


def _id_as_text(name: str, value: Any) -> Any:
    """Return an id, or a number that JavaScript can't represent, as text."""
    is_id = name in _ID_COLUMNS or name.endswith("_id")
    return str(value) if isinstance(value, int) and (is_id or abs(value) > _MAX_EXACT_INTEGER) else value


def _delete_batch(select: str, user_id: int) -> Transaction[bool]:
    """Delete selected messages. Returns False if there are none."""
    rows = yield Statement(select, (user_id, _BATCH_SIZE))
    yield from run_all(delete_messages([discord_id for _, discord_id in rows if discord_id is not None]))
    sql = "DELETE FROM messages WHERE user_id = $1 AND id IN @ids($2)"
    yield Statement(sql, (user_id, json.dumps([id_ for id_, _ in rows])))
    return bool(rows)


def _erasing_statements(user_id: int, counted_day: date | None) -> list[Statement]:
    statements = [
        Statement(table.erase_sql, (user_id,))
        for table in _erased_tables()
        if not (counted_day and table.table == "erased_usage")
    ]
    if counted_day:
        # This must run before usage is deleted.
        sql = f"""
            INSERT INTO erased_usage AS known (user_id, day, tokens)
            SELECT $1, CASE WHEN day < $2 THEN $3 ELSE day END AS counts_on, CAST(sum(tokens) AS BIGINT)
            FROM (
                SELECT day, {USED_TOKENS} AS tokens FROM usage WHERE user_id = $1 AND day >= $3
                UNION ALL
                SELECT $2, tokens FROM reservations WHERE user_id = $1
            ) AS found
            WHERE tokens > 0
            GROUP BY counts_on
            ON CONFLICT (user_id, day) DO UPDATE SET tokens = known.tokens + excluded.tokens
            WHERE known.user_id = $1
        """
        days = (counted_day.isoformat(), counted_day.replace(day=1).isoformat())
        statements.insert(0, Statement(sql, (user_id, *days)))
    return [*statements, Statement(RECORD_ERASURE), Statement(COUNT_SWITCH)]
