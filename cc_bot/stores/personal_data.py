"""What is stored about a user, told to that user: how much of what, and all of it."""

import base64
import json
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from cc_bot.domain.privacy import DataKind, Held, Holdings
from cc_bot.storage import Database, Row, Statement, Steps
from cc_bot.stores.columns import from_ms
from cc_bot.stores.personal_table import PersonalTable, TimeForm
from cc_bot.stores.personal_tables import PERSONAL_TABLES

Record = Mapping[str, Any]
"""One row, ready for JSON: times in ISO 8601, ids of Discord as texts, since many programs round numbers of
that size."""

_PIECE_BYTES: Final = 3 * 2**20
"""Of a file: a longer one is told in several records."""

_JSON: Final = frozenset(
    {"canvas_state", "tool_calls", "tags", "metadata", "source", "quiet", "question", "models"}
)
_MS: Final = frozenset(
    {"timestamp", "due_at", "claimed_at", "until", "token_until", "accepted_at", "advanced_at", "at"}
)
_MS_OR_TEXT: Final = frozenset({"created_at"})


class PersonalDataStore:
    """Reads what there is about a user, and changes nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def overview(self, user_id: int) -> Holdings:
        """How much there is of each kind, all of it at one moment."""
        return await self._database.read(lambda: _overview(user_id))

    async def records(self, user_id: int) -> AsyncIterator[tuple[str, Record]]:
        """Everything, with the name of the list that each record belongs to; the lists one after the other.

        What is written meanwhile may be in it or not.
        """
        for table in PERSONAL_TABLES:
            async for row in self._rows(table, user_id):
                for record in _records(table, row):
                    yield table.name, record

    async def _rows(self, table: PersonalTable, user_id: int) -> AsyncIterator[Row]:
        if not table.ids:
            for row in await self._database.query(table.statement, user_id):
                yield row
            return
        ids = sorted({row[0] for row in await self._database.query(table.ids, user_id)})
        for first in range(0, len(ids), table.at_a_time):
            some = json.dumps(ids[first : first + table.at_a_time])
            for row in await self._database.query(table.statement, user_id, some):
                yield row


def _overview(user_id: int) -> Steps[Holdings]:
    kinds: dict[DataKind, Held] = {}
    for table in PERSONAL_TABLES:
        [(count, first, last)] = yield Statement(table.counting, (user_id,))
        if count:
            found = Held(count, _moment(first, table.at_form), _moment(last, table.at_form))
            kinds[table.kind] = _together(kinds[table.kind], found) if table.kind in kinds else found
    return Holdings(kinds)


def _together(one: Held, other: Held) -> Held:
    firsts = [held.first for held in (one, other) if held.first]
    lasts = [held.last for held in (one, other) if held.last]
    return Held(one.count + other.count, min(firsts, default=None), max(lasts, default=None))


def _moment(value: Any, form: TimeForm) -> datetime | None:
    if not value:
        return None
    if form == "ms":
        return from_ms(value)
    moment = datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _records(table: PersonalTable, row: Row) -> list[Record]:
    fields = {name: _told(name, value) for name, value in zip(table.columns, row, strict=True)}
    if "data" not in fields:
        return [fields]
    data: bytes = fields.pop("data")
    pieces = [data[at : at + _PIECE_BYTES] for at in range(0, len(data), _PIECE_BYTES)] or [b""]
    return [
        {**fields, "piece": n, "pieces": len(pieces), "data_base64": base64.b64encode(piece).decode()}
        for n, piece in enumerate(pieces, 1)
    ]


def _told(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in _JSON and value:
        return json.loads(value)
    if name in _MS or (name in _MS_OR_TEXT and isinstance(value, int)):
        return from_ms(value).isoformat()
    return str(value) if name.endswith("_id") or name == "set_by" else value
