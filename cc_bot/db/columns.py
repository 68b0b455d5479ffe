"""Maps dataclasses to columns of tables.

With `MEMORY = Columns(Memory)`, `MEMORY.select` lists the columns in SQL, `MEMORY.read` turns a row into a
Memory, and `MEMORY.write` the reverse. To add a column, add it to the schema and to the dataclass.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from types import NoneType, UnionType
from typing import Any, Final, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from cc_bot.db import Database, ErasureLog, LockKey, Row, Statement, channel_lock
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.message import ChannelKey, Message, ToolCall
from cc_bot.domain.session import SessionKey
from cc_bot.domain.tool_calls import strip_memory_texts

_BEGINNING_OF_TIME: Final = ""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS: Final = 221_845_392_000_000  # the year 9000, which datetime can represent in all time zones


class Store:
    def __init__(
        self, database: Database, *, clock: Clock = utc_now, log: ErasureLog | None = None, process: str = ""
    ) -> None:
        """`log`: None while a log's erasures are repeated. `process`: this process's name, stored with its
        work, which other processes finish if it dies."""
        self._database = database
        self._clock = clock
        self._log = log
        self._process = process

    async def _change(self, lock_keys: Sequence[LockKey], sql: str, *params: Any) -> Sequence[Row]:
        [rows] = await self._database.transaction([Statement(sql, params)], lock_keys)
        return rows


def to_text(moment: datetime) -> str:
    """Return ISO 8601 in UTC with microseconds, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def to_ms(moment: datetime) -> int:
    """Return Unix milliseconds, rounded down."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)  # exact, unlike a float


def from_ms(ms: int) -> datetime:
    """Return the time, or the nearest possible, so that one bad row breaks no query."""
    ms = min(max(ms, 0), _LAST_MS)
    return datetime.fromtimestamp(ms / 1000, UTC)  # exact until 2242


def get_idle_cutoff(now: datetime, ttl: timedelta) -> str:
    """Return a time. A session whose last activity was then or earlier has expired."""
    try:
        return to_text(now - ttl)
    except OverflowError:  # a time limit of thousands of years
        return _BEGINNING_OF_TIME


Noun = Literal["memory", "schedule", "proposal"]
_TABLES: Final[Mapping[Noun, str]] = {"memory": "memories", "schedule": "schedules", "proposal": "proposals"}


def next_number(noun: Noun) -> str:
    """Return SQL for the next number of the user $1."""
    last = f"SELECT last FROM numbers WHERE user_id = $1 AND noun = '{noun}'"  # noqa: S608 - one of three words
    return f"1 + coalesce(({last}), 0)"


def record_last_number(noun: Noun) -> str:
    """Return SQL to run after the insert, so that the user's ($1) numbers are never reused."""
    return f"""
        INSERT INTO numbers (user_id, noun, last)
        SELECT $1, '{noun}', number FROM {_TABLES[noun]} WHERE user_id = $1 AND number IS NOT NULL
        ORDER BY number DESC LIMIT 1
        ON CONFLICT (user_id, noun) DO UPDATE SET last = excluded.last
        WHERE numbers.user_id = $1 AND numbers.last < excluded.last
    """  # noqa: S608 - one of three words


@dataclass(frozen=True, slots=True)
class Codec:
    """How a field is stored. None is stored as NULL."""

    write: Callable[[Any], Any] | None = None  # None: the value is stored as it is
    read: Callable[[Any], Any] | None = None  # None: the stored value is the field's
    column: str = ""  # the column's name, if it differs from the field's
    null: str = "NULL"  # with a CAST, unless the column is text


_encode: Final = json.JSONEncoder(ensure_ascii=False).encode


def _list_to_json(values: Iterable[object]) -> str:
    return _encode([*values]) if values else "[]"  # most are empty


def list_from_json(stored: str) -> tuple[Any, ...]:
    return tuple(json.loads(stored)) if stored != "[]" else ()


def object_to_json(value: Mapping[str, object]) -> str:
    return _encode({**value}) if value else "{}"


def _object_from_json(stored: str) -> Any:
    return json.loads(stored) if stored != "{}" else {}


ISO: Final = Codec(to_text, datetime.fromisoformat)
_NULL_NUMBER: Final = "CAST(NULL AS BIGINT)"
MS: Final = Codec(to_ms, from_ms, null=_NULL_NUMBER)
_LIST: Final = Codec(_list_to_json, list_from_json)

_CODECS: Final[Mapping[Any, Codec]] = {
    **dict.fromkeys((str, float, bytes), Codec()),
    int: Codec(null=_NULL_NUMBER),
    bool: Codec(int, bool, null=_NULL_NUMBER),
    tuple[str, ...]: _LIST,
    tuple[int, ...]: _LIST,
    Mapping[str, str]: Codec(object_to_json, _object_from_json),
}

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    field: str  # may be nested: `key.user_id`
    codec: Codec
    optional: bool

    def write(self, value: Any) -> Any:
        write = self.codec.write
        return value if write is None or (value is None and self.optional) else write(value)


class Columns(Generic[V]):
    """The columns for a class, in the order of its fields and those of nested classes."""

    def __init__(
        self,
        value: type[V],
        *,
        datetimes: Codec | None = None,
        without: Collection[str] = (),
        **codecs: "Codec | Columns[Any]",
    ) -> None:
        """`datetimes`: the Codec of datetime fields. `without`: fields to skip. `codecs`: for fields whose
        type has none. Raises TypeError."""
        self._value = value
        self._without = without
        self._codecs = codecs
        self._by_type = {**_CODECS, datetime: datetimes} if datetimes else _CODECS
        self._columns: list[_Column] = []
        self._scope: dict[str, Any] = {}
        self.read: Final[Callable[[Row], V]] = self._compile("row", self._build_expression(self, value, ""))
        items = ", ".join(f"{each.name!r}: {self._write_expression(each)}" for each in self._columns)
        self.write: Final[Callable[[V], dict[str, Any]]] = self._compile("value", f"{{{items}}}")
        self.names: Final = tuple(column.name for column in self._columns)
        self.select: Final = ", ".join(self.names)  # for SELECT, RETURNING and INSERT
        self.placeholders: Final[str] = Parameters(self.names).placeholders  # for VALUES, from $1
        self.nullable: Final = frozenset(column.name for column in self._columns if column.optional)

    def with_alias(self, alias: str) -> str:
        return ", ".join(f"{alias}.{name}" for name in self.names)

    def select_values(self, **values: str) -> str:
        """Return a list for SELECT with these values by column, and NULL in other columns."""
        return ", ".join(values.get(each.name, each.codec.null) for each in self._columns)

    def getter(self, name: str) -> Callable[[Row], Any]:
        return itemgetter(self.names.index(name))

    def read_first(self, rows: Sequence[Row]) -> V | None:
        return self.read(rows[0]) if rows else None

    def by_name(self, row: Row) -> dict[str, Any]:
        return dict(zip(self.names, row, strict=True))

    def write_some(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {each.name: each.write(values[each.field]) for each in self._columns if each.field in values}

    def _build_expression(self, columns: "Columns[Any]", value: type, prefix: str) -> str:
        """Add the columns of a class. Returns an expression that makes its object from a `row`. `prefix`: the
        outer fields, such as `key.`"""
        arguments = []
        for name, hint in _field_types(value).items():
            if name in columns._without:
                continue
            plain, optional = _without_none(hint)
            codec = columns._codecs.get(name) or columns._by_type.get(plain)
            if isinstance(codec, Columns):
                argument = self._build_expression(codec, codec._value, f"{prefix}{name}.")
            elif codec:
                field = f"{prefix}{name}"
                argument = self._add_column(_Column(codec.column or name, field, codec, optional))
            elif is_dataclass(plain) and isinstance(plain, type):
                argument = self._build_expression(columns, plain, f"{prefix}{name}.")
            else:
                raise TypeError(f"{value.__name__}.{name} needs a Codec")
            arguments.append(f"{name}={argument}")
        self._scope[value.__name__] = value
        return f"{value.__name__}({', '.join(arguments)})"

    def _add_column(self, column: _Column) -> str:
        number = len(self._columns)
        self._columns.append(column)
        stored = f"row[{number}]"
        if column.codec.read is None:
            return stored
        self._scope[f"read_{number}"] = column.codec.read
        read = f"read_{number}({stored})"
        return f"None if {stored} is None else {read}" if column.optional else read

    def _write_expression(self, column: _Column) -> str:
        if column.codec.write is None:
            return f"value.{column.field}"
        self._scope[f"write_{column.name}"] = column.write
        return f"write_{column.name}(value.{column.field})"

    def _compile(self, argument: str, expression: str) -> Callable[..., Any]:
        """Compile a function, as dataclasses do: it is as fast as a handwritten one."""
        compiled: Callable[..., Any] = eval(f"lambda {argument}: {expression}", self._scope)  # noqa: S307 - only names of fields
        return compiled


def _field_types(value: type) -> dict[str, Any]:
    hints = get_type_hints(value)
    names = [each.name for each in fields(value)] if is_dataclass(value) else getattr(value, "_fields", ())
    return {name: hints[name] for name in names}


def _without_none(hint: Any) -> tuple[Any, bool]:
    """Return the type without None (for a Literal, the type of its values), and whether None was allowed."""
    optional = get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)
    if optional:
        hint = Union[tuple(each for each in get_args(hint) if each is not NoneType)]  # noqa: UP007 - of a list of types
    return (type(get_args(hint)[0]) if get_origin(hint) is Literal else hint), optional


class Parameters:
    def __init__(self, names: Iterable[str], first: int = 1) -> None:
        self._by_name = {name: f"${number}" for number, name in enumerate(names, first)}
        self.count: Final = len(self._by_name)
        self.names: Final = ", ".join(self._by_name)
        self.placeholders: Final = ", ".join(self._by_name.values())
        self.assignments: Final = ", ".join(f"{name} = {each}" for name, each in self._by_name.items())
        self.excluded: Final = ", ".join(f"{name} = excluded.{name}" for name in self._by_name)

    def __getitem__(self, name: str) -> str:
        return self._by_name[name]

    def pick(self, columns: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(columns[name] for name in self._by_name)


def upsert(table: str, keys: str, values: str) -> str:
    """Return SQL that inserts a row, or updates it by its keys. Names are separated by spaces."""
    row, changes = Parameters((*keys.split(), *values.split())), Parameters(values.split()).excluded
    condition = f"WHERE {table}.user_id = $1" if keys.startswith("user_id") else ""
    return f"""
        INSERT INTO {table} ({row.names}) VALUES ({row.placeholders})
        ON CONFLICT ({", ".join(keys.split())}) DO UPDATE SET {changes} {condition}
    """  # noqa: S608 - only constants


KEY: Final = Columns(SessionKey)
CHANNEL: Final = Columns(ChannelKey)


def key_columns(key: SessionKey) -> tuple[int, int, str]:
    return (key.user_id, key.channel_id, key.agent)


def channel_locks(key: ChannelKey) -> tuple[LockKey, ...]:
    """Return the locks of a channel, or of a thread and its channel: some events name only the thread."""
    return (channel_lock(key.channel_id), channel_lock(key.location_id))


def tool_calls_to_json(calls: Iterable[ToolCall]) -> str:
    """Return JSON without the texts of memories."""
    return _list_to_json([asdict(strip_memory_texts(call)) for call in calls])


def tool_calls_from_json(text: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(**call) for call in json.loads(text)) if text != "[]" else ()


MESSAGE: Final = Columns(
    Message,
    datetimes=MS,
    without=("attachments", "references"),
    reference_kind=Codec(column="pointing"),
    tool_calls=Codec(tool_calls_to_json, tool_calls_from_json),
)
