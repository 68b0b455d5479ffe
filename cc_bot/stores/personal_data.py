"""The report to a user of what is stored about them: how much of what, and all of it."""

import base64
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal

from cc_bot.domain.privacy import DataKind, Holdings, StoredAmount
from cc_bot.storage import Database, Row, Statement, Steps
from cc_bot.stores.claimed_calls import CLAIMED_CALL
from cc_bot.stores.columns import MESSAGE, Form, from_ms
from cc_bot.stores.ledger import TURN
from cc_bot.stores.memory.rows import MEMORY, SEARCHED
from cc_bot.stores.proposals import PROPOSAL
from cc_bot.stores.schedules import SCHEDULE

# ---- personal table --------------------------------------------------------------------------------------
# The rows of one table that are about a user: how they are found, counted and read.

# ruff: noqa: S608 - put together from constants alone


TimeForm = Literal["ms", "text", "day"]
"""Unix milliseconds, ISO 8601, or YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class PersonalTable:
    """Rows of one table, as far as they are about a user ($1)."""

    name: str
    """What an export calls them."""
    table: str
    kind: DataKind
    theirs: str
    """The condition that holds them to the user."""
    columns: tuple[str, ...]
    """What is exported."""
    copies: tuple[str, ...] = ()
    """What is not: made of others so that something is found; a key to Discord; where the program runs."""
    forms: Mapping[str, Form] = field(default_factory=dict)
    """Of columns that are described where they are read."""
    at: str = ""
    """The column that tells when; empty where none does."""
    at_form: TimeForm = "text"
    ids: str = ""
    """A query for the ids of the rows, where there may be very many, or they are found by other rows."""
    id_column: str = "id"
    at_a_time: int = 200
    """Ids whose rows are read together, and so held."""

    @property
    def statement(self) -> str:
        """$1 user; with `ids`: $2 an array of some of them, in whose order the rows come."""
        some = f" AND {self.id_column} IN @ids($2) ORDER BY {self.id_column}" if self.ids else ""
        return f"SELECT {', '.join(self.columns)} FROM {self.table} WHERE {self.theirs}{some}"

    @property
    def counting(self) -> str:
        """The statement that counts the rows, with the first and the last moment. $1 user"""
        span = f"min({self.at}), max({self.at})" if self.at else "NULL, NULL"
        chosen = f"{self.id_column} IN ({self.ids})" if self.ids else self.theirs
        held = f"{self.theirs} AND {chosen}" if self.ids else self.theirs
        return f"SELECT count(*), {span} FROM {self.table} WHERE {held}"


# ---- personal tables -------------------------------------------------------------------------------------
# The tables that hold something about a user: all of them, in one place.
#
# What is shown, exported and counted for a user is read by this list alone, so that nothing can be in one and
# not in the other. A test compares it with the schema: a new table with a user's id, or a new column, has to
# be named here, or be excused there with a reason.

_MESSAGE: Final = (
    *MESSAGE.names,
    *("session_id", "user_id", "channel_id", "thread_id", "parent_channel_id", "in_channel"),
    *("timestamp", "erased"),
)
_MESSAGE_COPIES: Final = ("memory_user_id",)

OWN_MESSAGES: Final = """
    SELECT m.id FROM sessions AS s
    JOIN messages AS m ON m.session_id = s.id AND m.user_id = $1
    WHERE s.user_id = $1
    UNION ALL
    SELECT id FROM messages WHERE user_id = $1 AND session_id IS NULL
"""

OWN_FILES: Final = """
    SELECT message_id FROM attachments
    WHERE user_id = $1 AND session_id IN (SELECT id FROM sessions WHERE user_id = $1)
"""

# By attachments_by_user.
COUNT_FILE_BYTES: Final = """
    SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM attachments WHERE user_id = $1 AND bytes IS NOT NULL
"""

SAID_IN_CHANNELS: Final = "SELECT id FROM messages WHERE user_id IS NULL AND author_id = $1 AND role = 'user'"

ANSWERED_IN_CHANNELS: Final = """
    SELECT a.id FROM messages AS q
    @look_up mentions AS w ON w.discord_id = q.discord_id
    @look_up messages AS a ON a.discord_id = w.answer_id AND a.user_id IS NULL AND a.role = 'assistant'
    WHERE q.user_id IS NULL AND q.author_id = $1 AND q.role = 'user'
    UNION ALL
    SELECT id FROM messages WHERE user_id IS NULL AND memory_user_id = $1
"""

PERSONAL_TABLES: Final = (
    PersonalTable(
        "settings",
        "user_settings",
        "settings",
        "user_id = $1",
        (
            *("user_id", "locale", "timezone", "welcomed", "memory_paused", "told_of_menu_at", "spoken"),
            "updated_at",
        ),
        at="updated_at",
    ),
    PersonalTable(
        "sessions",
        "sessions",
        "conversations",
        "user_id = $1",
        (
            *("id", "user_id", "channel_id", "agent", "canvas_state", "created_at", "last_active"),
            *("closed_at", "summarize", "summarized_to", "canvas_revision"),
        ),
        ("canvas_change", "active_hour"),
        at="created_at",
    ),
    PersonalTable(
        "messages",
        "messages",
        "messages",
        "user_id = $1",
        _MESSAGE,
        _MESSAGE_COPIES,
        MESSAGE.forms,
        at="created_at",
        at_form="ms",
        ids=OWN_MESSAGES,
    ),
    PersonalTable(
        "channel_messages",
        "messages",
        "channel_messages",
        "user_id IS NULL AND author_id = $1 AND role = 'user'",
        _MESSAGE,
        _MESSAGE_COPIES,
        MESSAGE.forms,
        at="created_at",
        at_form="ms",
        ids=SAID_IN_CHANNELS,
    ),
    PersonalTable(
        "channel_answers",
        "messages",
        "channel_answers",
        "user_id IS NULL AND role = 'assistant' AND CAST($1 AS BIGINT) IS NOT NULL",
        _MESSAGE,
        _MESSAGE_COPIES,
        MESSAGE.forms,
        at="created_at",
        at_form="ms",
        ids=ANSWERED_IN_CHANNELS,
    ),
    PersonalTable(
        "attachments",
        "attachments",
        "files",
        "user_id = $1 AND session_id IN (SELECT id FROM sessions WHERE user_id = $1)",
        (
            *("message_id", "position", "session_id", "user_id", "name", "content_type", "data", "document"),
            "source_id",
        ),
        ("bytes",),
        ids=OWN_FILES,
        id_column="message_id",
        at_a_time=1,  # a message has 20 MB of them
    ),
    PersonalTable(
        "summaries",
        "summaries",
        "summaries",
        "user_id = $1",
        (
            *("id", "user_id", "channel_id", "agent", "visibility", "session_id", "content"),
            *("first_message_id", "last_message_id", "created_at", "tainted"),
        ),
        at="created_at",
        at_form="ms",
    ),
    PersonalTable(
        "memories",
        "memories",
        "memories",
        "user_id = $1",
        (*MEMORY.names, "status", "deleted_at"),
        SEARCHED.names,
        forms=MEMORY.forms,
        at="created_at",
        ids="SELECT id FROM memories WHERE user_id = $1",
    ),
    PersonalTable(
        "schedules",
        "schedules",
        "schedules",
        "user_id = $1",
        (*SCHEDULE.names, "advanced_at"),
        forms=SCHEDULE.forms,
        at="created_at",
        at_form="ms",
    ),
    PersonalTable(
        "proposals",
        "proposals",
        "proposals",
        "user_id = $1",
        (*PROPOSAL.names, "memory_id"),
        at="made_at",
        at_form="ms",
    ),
    PersonalTable(
        "claimed_calls",
        "claimed_calls",
        "proposals",
        "user_id = $1",
        tuple(name for name in CLAIMED_CALL.names if name != "token"),
        ("token", "process"),
        at="claimed_at",
        at_form="ms",
    ),
    PersonalTable(
        "receipts",
        "receipts",
        "receipts",
        "user_id = $1",
        ("message_id", "line", "user_id", "channel_id", "visibility", "what", "named_id", "button", "stale"),
    ),
    PersonalTable(
        "firings",
        "firings",
        "deliveries",
        "user_id = $1",
        (
            *("schedule_id", "due_at", "user_id", "state", "claimed_at", "message_id", "reported"),
            *("claimed_by", "told_by"),
        ),
        at="due_at",
        at_form="ms",
    ),
    PersonalTable(
        "heartbeat_marks", "heartbeat_marks", "deliveries", "user_id = $1", ("user_id", "name", "until")
    ),
    PersonalTable(
        "agent_choices",
        "agent_choices",
        "choices",
        "user_id = $1",
        ("user_id", "channel_id", "agent", "chosen_at"),
        at="chosen_at",
    ),
    PersonalTable(
        "canvas_messages",
        "canvas_messages",
        "choices",
        "user_id = $1",
        ("user_id", "channel_id", "agent", "message_id", "shown_revision"),
    ),
    PersonalTable(
        "turns",
        "turns",
        "turns",
        "user_id = $1",
        tuple(name for name in TURN.names if name not in ("token", "calls")),
        ("token", "process"),
        at="accepted_at",
        at_form="ms",
    ),
    PersonalTable("turn_calls", "turn_calls", "turns", "user_id = $1", ("turn", "user_id", "calls")),
    PersonalTable(
        "usage",
        "usage",
        "usage",
        "user_id = $1",
        (
            *("day", "user_id", "guild_id", "model", "purpose", "turns", "prompt_tokens"),
            *("cached_tokens", "completion_tokens", "seconds", "cost_micros"),
        ),
        at="day",
        at_form="day",
    ),
    PersonalTable(
        "reservations",
        "reservations",
        "usage",
        "user_id = $1",
        ("id", "user_id", "guild_id", "front_end", "purpose", "model", "tokens", "at"),
        ("process",),
        at="at",
        at_form="ms",
    ),
    PersonalTable(
        "erased_usage",
        "erased_usage",
        "counts",
        "user_id = $1",
        ("user_id", "day", "tokens"),
        at="day",
        at_form="day",
    ),
    PersonalTable(
        "web_codes",
        "web_codes",
        "sign_ins",
        "user_id = $1",
        ("user_id", "channel_id", "guild_id", "made_at", "ends_at"),
        ("hash",),
        at="made_at",
    ),
    PersonalTable(
        "web_sessions",
        "web_sessions",
        "sign_ins",
        "user_id = $1",
        ("id", "user_id", "channel_id", "guild_id", "made_at", "used_at", "ends_at"),
        ("hash",),
        at="made_at",
    ),
    PersonalTable(
        "limits",
        "limits",
        "rules",
        "scope = 'user' AND scope_id = $1",
        ("scope", "scope_id", "name", "value", "set_by", "set_at"),
        at="set_at",
    ),
    PersonalTable(
        "access_rules",
        "access_rules",
        "rules",
        "subject = 'user' AND subject_id = $1",
        ("subject", "subject_id", "rule", "set_by", "set_at"),
        at="set_at",
    ),
    *(
        PersonalTable(name, table, "decisions", "set_by = $1", (*columns, "set_by", "set_at"), at="set_at")
        for name, table, columns in (
            ("decided_agents", "channel_agents", ("channel_id", "guild_id", "agent")),
            ("decided_models", "channel_models", ("channel_id", "models")),
            ("decided_limits", "limits", ("scope", "scope_id", "name", "value")),
            ("decided_access", "access_rules", ("subject", "subject_id", "rule")),
            ("decided_maintenance", "maintenance", ("id", "note")),
        )
    ),
)

DERIVED_TABLES: Final = (
    *("memory_vectors", "memory_terms"),
    *("memory_imports", "numbers"),
)
"""Made of memories (and reminders, proposals) so that they are found, counted and numbered: erased with them,
and nothing that a person could read."""

CHANNEL_READING_STATEMENTS: Final = frozenset(
    statement
    for table in PERSONAL_TABLES
    if table.name in ("channel_messages", "channel_answers")
    for statement in (table.ids, table.statement, table.counting)
)
"""On what was said in channels, which belongs to nobody alone."""

# ---- personal data ---------------------------------------------------------------------------------------

Record = Mapping[str, Any]
"""One row, ready for JSON: times in ISO 8601, ids of Discord as texts, since many programs round numbers of
that size."""

_PIECE_BYTES: Final = 3 * 2**20
"""Of a file: a longer one is told in several records."""

_FORMS: Final[Mapping[str, Form]] = {
    **dict.fromkeys(("canvas_state", "tool_calls", "quiet", "question", "models", "document"), "json"),
    **dict.fromkeys(("change", "pages", "earlier"), "json"),
    **dict.fromkeys(("timestamp", "due_at", "claimed_at", "until", "token_until", "accepted_at"), "ms"),
    **dict.fromkeys(("advanced_at", "at"), "ms"),
}
"""Of the other columns."""
_MS_OR_TEXT: Final = frozenset({"created_at", "made_at"})
_IDS: Final = frozenset({"id", "set_by", "reply_to", "supersedes", "summarized_to", "shown_in", "replaces"})
"""Beside the columns that are called `…_id`."""
_MOST_EXACT: Final = 2**53 - 1
"""The greatest number up to which JavaScript tells each from the next."""


class PersonalDataStore:
    """A reader of what there is about a user, which changes nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get_overview(self, user_id: int) -> Holdings:
        """Count what there is of each kind, all of it at one moment."""
        on_server = self._database.dialect != "sqlite"
        return await self._database.read_long(lambda: _overview(user_id, on_server=on_server))

    async def read_records(self, user_id: int) -> AsyncIterator[tuple[str, Record]]:
        """Yield every record, with the name of the list that it belongs to; the lists one after the other.

        What is written meanwhile may be in it or not.
        """
        for table in PERSONAL_TABLES:
            async for row in self._read_rows(table, user_id):
                for record in _records(table, row):
                    yield table.name, record

    async def _read_rows(self, table: PersonalTable, user_id: int) -> AsyncIterator[Row]:
        if not table.ids:
            for row in await self._database.query(table.statement, user_id):
                yield row
            return
        rows = await self._database.read_long(Statement(table.ids, (user_id,)).as_steps)
        ids = sorted({id_ for (id_,) in rows})
        for first in range(0, len(ids), table.at_a_time):
            some = json.dumps(ids[first : first + table.at_a_time])
            for row in await self._database.query(table.statement, user_id, some):
                yield row


def _overview(user_id: int, *, on_server: bool) -> Steps[Holdings]:
    kinds: dict[DataKind, StoredAmount] = {}
    for table in PERSONAL_TABLES:
        [(count, first, last)] = yield Statement(table.counting, (user_id,))
        if count:
            found = StoredAmount(count, _moment(first, table.at_form), _moment(last, table.at_form))
            kinds[table.kind] = _together(kinds[table.kind], found) if table.kind in kinds else found
    [(file_bytes,)] = yield Statement(COUNT_FILE_BYTES, (user_id,))
    return Holdings(kinds, file_bytes, on_server)


def _together(one: StoredAmount, other: StoredAmount) -> StoredAmount:
    firsts = [held.first for held in (one, other) if held.first]
    lasts = [held.last for held in (one, other) if held.last]
    return StoredAmount(one.count + other.count, min(firsts, default=None), max(lasts, default=None))


def _moment(value: Any, form: TimeForm) -> datetime | None:
    if not value:
        return None
    if form == "ms":
        return from_ms(value)
    moment = datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _records(table: PersonalTable, row: Row) -> list[Record]:
    forms = {**_FORMS, **table.forms}
    fields = {
        name: _told(name, value, forms.get(name, "")) for name, value in zip(table.columns, row, strict=True)
    }
    if "data" not in fields:
        return [fields]
    data: bytes = fields.pop("data")
    pieces = [data[at : at + _PIECE_BYTES] for at in range(0, len(data), _PIECE_BYTES)] or [b""]
    rest = {name: value for name, value in fields.items() if name != "document"}  # it is told once
    return [
        {
            **(fields if n == 1 else rest),
            "piece": n,
            "pieces": len(pieces),
            "data_base64": base64.b64encode(piece).decode(),
        }
        for n, piece in enumerate(pieces, 1)
    ]


def _told(name: str, value: Any, form: Form) -> Any:
    if value is None:
        return None
    if form == "json" and value:
        return json.loads(
            value,
            parse_int=lambda digits: _id_as_text("", int(digits)),
            object_pairs_hook=_with_text_ids,
        )
    if form == "ms" or (name in _MS_OR_TEXT and isinstance(value, int)):
        return from_ms(value).isoformat()
    return _id_as_text(name, value)


def _with_text_ids(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {name: _id_as_text(name, value) for name, value in pairs}


def _id_as_text(name: str, value: Any) -> Any:
    """Write an id as a text, and any number that JavaScript could not hold."""
    is_id = name in _IDS or name.endswith("_id")
    return str(value) if isinstance(value, int) and (is_id or abs(value) > _MOST_EXACT) else value
