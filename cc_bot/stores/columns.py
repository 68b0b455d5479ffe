"""The columns of tables, and how values stand in them.

The columns of a table that become a value are its fields, `Columns(Memory, …)`: the lists in SQL, the value
of a row and the columns of a value all follow from that one description, and nothing counts columns. To add a
column, write the migration and add the field to the value in `domain/`, under the column's name; say how it
stands in its column where the `Columns` of the table can't tell that from the field's type.

A memory's new column is written, read, exported, compared and kept in its history by that alone. What people
are to give it by is a key of `MemoryFields` (memory/store.py), and what files of memories are to carry is a
field of `PortableMemory` (domain/memory_transfer.py).
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from operator import attrgetter, itemgetter
from types import NoneType, UnionType
from typing import Any, Final, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from cc_bot.domain.memory_calls import without_texts
from cc_bot.domain.message import ChannelKey, Message, ToolCall
from cc_bot.domain.session import SessionKey
from cc_bot.storage import Row

_BEGINNING_OF_TIME: Final = ""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS: Final = 221_845_392_000_000  # the year 9000: all clocks of the world can tell it


def to_text(moment: datetime) -> str:
    """UTC in ISO 8601, always with microseconds: of one width, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def to_ms(moment: datetime) -> int:
    """Unix milliseconds, the rest cut off. In integers: a float loses a millisecond now and then."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def from_ms(ms: int) -> datetime:
    """Return the moment, or the nearest that clocks tell: in a file that was changed by hand, one row of one
    user must not break what reads those of all."""
    told = min(max(ms, 0), _LAST_MS)
    return datetime.fromtimestamp(told / 1000, UTC)  # rounds to microseconds: exact until 2242


def idle_since(now: datetime, ttl: timedelta) -> str:
    """The last moment of activity that is too long ago for a session to be open still."""
    try:
        return to_text(now - ttl)
    except OverflowError:  # a time to live of thousands of years: sessions never expire
        return _BEGINNING_OF_TIME


Noun = Literal["memory", "schedule", "proposal"]
_NUMBERED: Final[Mapping[Noun, str]] = {
    "memory": "memories",
    "schedule": "schedules",
    "proposal": "proposals",
}


def next_number(noun: Noun) -> str:
    """The number of a new row of a user, as SQL. $1 is the user. By the primary key of `numbers`."""
    last = f"SELECT last FROM numbers WHERE user_id = $1 AND noun = '{noun}'"  # noqa: S608 - one of three words
    return f"1 + coalesce(({last}), 0)"


def keep_number(noun: Noun) -> str:
    """SQL that keeps the last number given, so that none is given twice. To be run in the transaction that
    gave a row its `next_number`, after that. $1 is the user."""
    return f"""
        INSERT INTO numbers (user_id, noun, last)
        SELECT $1, '{noun}', number FROM {_NUMBERED[noun]} WHERE user_id = $1 AND number IS NOT NULL
        ORDER BY number DESC LIMIT 1
        ON CONFLICT (user_id, noun) DO UPDATE SET last = excluded.last
        WHERE numbers.user_id = $1 AND numbers.last < excluded.last
    """  # noqa: S608 - one of three words


# ---- columns of a value ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kind:
    """The way in which a field stands in its column. A field that may be None is NULL then."""

    write: Callable[[Any], Any] | None = None
    """None: as it is; `read` too."""
    read: Callable[[Any], Any] | None = None
    column: str = ""
    """The column, where it has not the field's name."""
    empty: tuple[str, Any] | None = None
    """What stands there of nothing, and what that is read as: it is in most rows, and is not parsed."""
    nothing: str = "NULL"
    """No value at all, of the column's type: an engine that is not told takes it for a text."""


_encode: Final = json.JSONEncoder(ensure_ascii=False).encode


def _list_to_json(values: Iterable[object]) -> str:
    return _encode([*values]) if values else "[]"  # as most are


def list_of(stored: str) -> tuple[Any, ...]:
    return tuple(json.loads(stored)) if stored != "[]" else ()


def object_to_json(value: Mapping[str, object]) -> str:
    return _encode({**value}) if value else "{}"


def _object_of(stored: str) -> Any:
    return json.loads(stored) if stored != "{}" else {}


ISO: Final = Kind(to_text, datetime.fromisoformat)
_NO_NUMBER: Final = "CAST(NULL AS BIGINT)"
MS: Final = Kind(to_ms, from_ms, nothing=_NO_NUMBER)
_LIST: Final = Kind(_list_to_json, list_of, empty=("[]", ()))

_KINDS: Final[Mapping[Any, Kind]] = {
    **dict.fromkeys((str, float, bytes), Kind()),
    int: Kind(nothing=_NO_NUMBER),
    bool: Kind(int, bool, nothing=_NO_NUMBER),
    tuple[str, ...]: _LIST,
    tuple[int, ...]: _LIST,
    Mapping[str, str]: Kind(object_to_json, _object_of),
}

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    field: str
    """Of the value, or of one within it: `key.user_id`."""
    of: Callable[[Any], Any]
    """Tells the field of a value."""
    kind: Kind
    optional: bool

    def written(self, value: Any) -> Any:
        write = self.kind.write
        return value if write is None or (value is None and self.optional) else write(value)


class Columns(Generic[V]):
    """The columns that a value stands in, in the order of its fields."""

    def __init__(
        self,
        value: type[V],
        *,
        moments: Kind | None = None,
        without: Collection[str] = (),
        **kinds: "Kind | Columns[Any]",
    ) -> None:
        """Describe the columns of `value` (a dataclass or NamedTuple): one for each field but those it is
        `without`; of a dataclass in it, one for each field. `moments` is how datetimes stand in the table,
        `kinds` are those of fields whose type does not tell. Raises TypeError for a field of which nothing
        tells."""
        self._value = value
        self._without = without
        self._kinds = kinds
        self._by_type = {**_KINDS, datetime: moments} if moments else _KINDS
        self._columns: list[_Column] = []
        self._scope: dict[str, Any] = {}
        self._parts: dict[str, str] = {}
        made = self._made(self, value, "")
        self._make: Callable[..., V] = self._compiled(made)
        self.names: Final = tuple(column.name for column in self._columns)
        self.select: Final = ", ".join(self.names)
        """As SELECT, RETURNING and INSERT list them."""
        self.marks: Final = Parameters(self.names).marks
        """As VALUES lists them, where nothing stands before them."""
        self.nullable: Final = frozenset(column.name for column in self._columns if column.optional)

    def of(self, alias: str) -> str:
        """The same as `select`, of a table that has another name in the statement."""
        return ", ".join(f"{alias}.{name}" for name in self.names)

    def filled(self, **given: str) -> str:
        """A list in the place of `select`, for rows that have something else in these columns, or NULL."""
        return ", ".join(given.get(each.name, each.kind.nothing) for each in self._columns)

    def column(self, name: str) -> Callable[[Row], Any]:
        """Return a function that tells one column of a row."""
        return itemgetter(self.names.index(name))

    def part(self, name: str) -> Callable[..., Any]:
        """Return a function that makes one field of the value, and no more, of all columns of a row."""
        return self._compiled(self._parts[name])

    def read(self, row: Row) -> V:
        """The value of a row of these columns."""
        return self._make(*row)

    def first(self, rows: Sequence[Row]) -> V | None:
        """The value of the first of them; None where there is none."""
        return self._make(*rows[0]) if rows else None

    def by_name(self, row: Row) -> dict[str, Any]:
        """Return the columns of a row by their names."""
        return dict(zip(self.names, row, strict=True))

    def write(self, value: V) -> dict[str, Any]:
        """Return the columns of a value by their names, in order."""
        return {each.name: each.written(each.of(value)) for each in self._columns}

    def write_some(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The same of some fields, by their names."""
        return {each.name: each.written(given[each.field]) for each in self._columns if each.field in given}

    def _made(self, described: "Columns[Any]", value: type, within: str) -> str:
        """The expression that makes a value of its columns, as they are described; those are noted."""
        parts = []
        for name, hint in _hints(value).items():
            if name in described._without:
                continue
            bare, optional = _bare(hint)
            kind = described._kinds.get(name) or described._by_type.get(bare)
            if isinstance(kind, Columns):
                part = self._made(kind, kind._value, f"{within}{name}.")
            elif kind:
                field = f"{within}{name}"
                part = self._noted(_Column(kind.column or name, field, attrgetter(field), kind, optional))
            elif is_dataclass(bare) and isinstance(bare, type):
                part = self._made(described, bare, f"{within}{name}.")
            else:
                raise TypeError(f"how does {value.__name__}.{name} stand in its column?")
            parts.append(f"{name}={part}")
            if not within:
                self._parts[name] = part
        self._scope[value.__name__] = value
        return f"{value.__name__}({', '.join(parts)})"

    def _noted(self, column: _Column) -> str:
        """The expression that makes a field of its column."""
        stored = f"c{len(self._columns)}"
        self._columns.append(column)
        if column.kind.read is None:
            return stored
        self._scope[f"read_{stored}"] = column.kind.read
        read = f"read_{stored}({stored})"
        if column.kind.empty:
            self._scope[f"text_{stored}"], self._scope[f"empty_{stored}"] = column.kind.empty
            read = f"(empty_{stored} if {stored} == text_{stored} else {read})"
        return f"None if {stored} is None else {read}" if column.optional else read

    def _compiled(self, made: str) -> Callable[..., Any]:
        """Compile the expression, as the methods of a dataclass are: so a row is read as fast as by code for
        it alone."""
        given = ", ".join(f"c{at}" for at in range(len(self._columns)))
        compiled: Callable[..., Any] = eval(f"lambda {given}: {made}", self._scope)  # noqa: S307 - of fields' names alone
        return compiled


def _hints(value: type) -> dict[str, Any]:
    hints = get_type_hints(value)
    names = [each.name for each in fields(value)] if is_dataclass(value) else getattr(value, "_fields", ())
    return {name: hints[name] for name in names}


def _bare(hint: Any) -> tuple[Any, bool]:
    """A type without None, and whether that was among it; of literals the type that they have."""
    optional = get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)
    if optional:
        hint = Union[tuple(each for each in get_args(hint) if each is not NoneType)]  # noqa: UP007 - of a list of types
    return (type(get_args(hint)[0]) if get_origin(hint) is Literal else hint), optional


class Parameters:
    """The parameters that stand for columns, in order: `$1`, or the `first` one, and so on."""

    def __init__(self, names: Iterable[str], first: int = 1) -> None:
        self._marks = {name: f"${number}" for number, name in enumerate(names, first)}
        self.count: Final = len(self._marks)
        self.names: Final = ", ".join(self._marks)
        self.marks: Final = ", ".join(self._marks.values())
        self.assignments: Final = ", ".join(f"{name} = {mark}" for name, mark in self._marks.items())
        """As UPDATE has them after SET."""
        self.excluded: Final = ", ".join(f"{name} = excluded.{name}" for name in self._marks)
        """As ON CONFLICT DO UPDATE has them, which takes what was to be inserted."""

    def __getitem__(self, name: str) -> str:
        """The parameter of one column."""
        return self._marks[name]

    def of(self, columns: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values of these columns that the parameters stand for, in their order."""
        return tuple(columns[name] for name in self._marks)


KEY: Final = Columns(SessionKey)
CHANNEL: Final = Columns(ChannelKey)


def key_columns(key: SessionKey) -> tuple[int, int, str]:
    """Return what stands in the columns of KEY."""
    return (key.user_id, key.channel_id, key.agent)


# ---- messages --------------------------------------------------------------------------------------------
# The columns of `messages`, which every store reads alike.


def tool_calls_to_json(calls: Iterable[ToolCall]) -> str:
    """Write tool calls, with references in place of the memories' texts (domain/memory_calls.py)."""
    return json.dumps([asdict(without_texts(call)) for call in calls], ensure_ascii=False)


def tool_calls_of(text: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(**call) for call in json.loads(text))


MESSAGE: Final = Columns(
    Message,
    moments=MS,
    without=("attachments", "references"),
    tool_calls=Kind(tool_calls_to_json, tool_calls_of, empty=("[]", ())),
)
