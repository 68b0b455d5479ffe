"""A database copied into another one, of the same engine or of another.

The source is read on one state, a page after the other in the order of each table's primary key, which is
the same on every engine. A page is stored in one transaction. So what the target holds tells by itself how
far the copy is: one that was cut off, at whatever point, goes on after the last key of each table. That a
copy is on its way stands in the target, with the name of its source, in a table that goes with the copy's
last transaction; until then nobody works with it (`ensure_finished`).

What the schema's triggers do was done in the source: its outcome is among the rows that are copied. So they
are out of force while a page is stored, within its transaction: whoever looks in from outside, or after a
kill, finds the schema that the migrations made.

In the end all rows of both are read and compared, as counts and as a hash of their values. Where somebody
wrote to the source between two parts of a copy, these differ, and it is begun anew on the state of now.

Which tables there are, and of which columns, is read from what the migrations make: none can be forgotten.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import (
    CommitUncertain,
    CopyDiffers,
    CopyOfAnother,
    CopySourceBroken,
    CopySourceForbidden,
    CopySourceOutdated,
    CopyStopped,
    CopyTargetOccupied,
    CopyUnfinished,
    CopyUnreadable,
    StorageError,
)
from cc_bot.storage.database import EVERYBODY, Database, Row, Snapshot, Statement, Steps, storable
from cc_bot.storage.dialect import Dialect
from cc_bot.storage.manifest import MARK, RECORDS, Progress, Stage, ignore_progress
from cc_bot.storage.migrate import (
    apply_pending,
    ensure_own_schema,
    known_migrations,
    list_pending,
    statements_up_to,
)
from cc_bot.storage.schema import ForeignKey, TableLayout, list_tables, rows_made_by, tables_made_by

# ruff: noqa: S608 - put together from names that the migrations give


def copied_tables() -> tuple[TableLayout, ...]:
    """List all tables of the newest schema but for its own records, which each database has made itself."""
    return tuple(table for table in tables_made_by(_newest_schema()) if table.name != RECORDS)


def _newest_schema() -> tuple[str, ...]:
    return statements_up_to(known_migrations()[-1].version)


# ---- the two ends ------------------------------------------------------------------------------------------

_UNREADABLE: Final = """
    SELECT CAST(c.relname AS TEXT)
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND CASE c.relkind
        WHEN 'r' THEN NOT has_table_privilege(c.oid, 'SELECT')
        WHEN 'S' THEN NOT has_sequence_privilege(c.oid, 'SELECT')
        ELSE FALSE
    END
    ORDER BY 1
"""


async def ensure_finished(database: Snapshot) -> None:
    """See that the database is a whole one. Raises CopyUnfinished, or StorageError."""
    if origin := await _origin(database):
        raise CopyUnfinished(path=database.location, url=origin)


async def ensure_copyable(source: Database) -> None:
    """See that a database can be copied as it is; it is only read. Raises CopySourceOutdated,
    CopySourceForbidden, CopySourceBroken, CopyUnfinished, DatabaseNewer, SchemaChanged, or StorageError."""
    await _ensure_readable(source)
    await ensure_finished(source)
    if await list_pending(source):
        raise CopySourceOutdated(path=source.location)
    await ensure_own_schema(source)
    await _ensure_references(source)


async def _ensure_readable(source: Database) -> None:
    """See that the role may read all that is copied: the last number of a sequence that it may not read looks
    like that of a new one. Raises CopySourceForbidden."""
    if source.dialect == "sqlite":
        return
    ours = {RECORDS}
    for table in copied_tables():
        ours |= {table.name, f"{table.name}_{table.key[0]}_seq"} if table.numbered else {table.name}
    for (name,) in await source.query(_UNREADABLE):
        if name in ours:
            raise CopySourceForbidden(path=source.location, name=name)


async def _ensure_references(source: Database) -> None:
    """See that what rows refer to is there: no other database would take them. SQLite lets them stand where
    a program does not ask it to look. Raises CopySourceBroken."""
    for table in copied_tables():
        lost = " OR ".join(map(_is_lost, table.references))
        if not lost:
            continue
        [(count,)] = await source.query(f'SELECT count(*) FROM "{table.name}" AS child WHERE {lost}')
        if count:
            raise CopySourceBroken(path=source.location, name=table.name, count=count)


def _is_lost(to: ForeignKey) -> str:
    parent = f'SELECT 1 FROM "{to.table}" AS parent WHERE parent."{to.key}" = child."{to.column}"'
    return f'(child."{to.column}" IS NOT NULL AND NOT EXISTS ({parent}))'


async def prepare_target(target: Database, origin: str, *, clock: Clock = utc_now) -> str:
    """Make an empty target ready, or one that holds a part of this source. Of one that holds anything else
    only the name of a table is told in which something stands: it may be a copy that is done.

    Raises CopyOfAnother, CopyTargetOccupied, DatabaseNewer, SchemaChanged, or StorageError.
    """
    begun = await _origin(target)
    if begun not in (None, origin):
        raise CopyOfAnother(path=target.location, url=str(begun))
    pending = await list_pending(target)
    if begun is None and (name := await _find_rows(target)):
        if pending:
            raise CopyTargetOccupied(path=target.location, name=name)
        return name
    await apply_pending(target, clock=clock, preserve=False)
    if begun is None:
        await target.write(lambda: _begin(target.dialect, origin), [EVERYBODY])
    return ""


async def _origin(database: Snapshot) -> str | None:
    """Return what the database is an unfinished copy of; None for a whole one."""
    if MARK not in await list_tables(database):
        return None
    [(origin,)] = await database.query(f"SELECT origin FROM {MARK}")
    return str(origin)


async def _find_rows(target: Database) -> str:
    """Return a table in which there is more than the migrations put there; empty where there is none."""
    there = await list_tables(target)
    made = rows_made_by(_newest_schema())
    for table in copied_tables():
        if table.name in there:
            few = f'SELECT count(*) FROM (SELECT 1 FROM "{table.name}" LIMIT $1) AS few'
            [(count,)] = await target.query(few, len(made[table.name]) + 1)
            if count > len(made[table.name]):
                return table.name
    return ""


def _begin(dialect: Dialect, origin: str) -> Steps[None]:
    yield Statement(f"CREATE TABLE {MARK} (origin @text NOT NULL)")
    yield Statement(f"INSERT INTO {MARK} (origin) VALUES ($1)", (origin,))
    yield from _empty(dialect)


# ---- pages -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PageLimit:
    """The size of what is held in memory at a time, and stored in one transaction: as much as either of the
    two allows, and a row at least."""

    rows: int = 5_000
    bytes: int = 4 * 2**20


class _Page(NamedTuple):
    rows: Sequence[Row]
    last: tuple[Any, ...]
    """The key of the last row."""


async def _next_page(
    reader: Snapshot, table: TableLayout, after: tuple[Any, ...] | None, limit: PageLimit
) -> _Page | None:
    """Return the rows that come after a key, or the first ones; None where there are no more.

    How long they are is asked first: files that people sent would fill the memory.
    """
    key, given = ", ".join(f'"{name}"' for name in table.key), after or ()
    size = " + ".join(
        f'coalesce(@bytes("{column.name}"), 0)' for column in table.columns if _is_long(column.kind)
    )
    beyond = f"({key}) > ({_marks(1, len(given))})" if given else "1 = 1"
    lengths = f'SELECT {key}, {size or "0"} FROM "{table.name}" WHERE {beyond}'
    found = await reader.query(f"{lengths} ORDER BY {key} LIMIT ${len(given) + 1}", *given, limit.rows)
    if not found:
        return None
    last = _last_within(found, limit.bytes)
    until = f"({key}) <= ({_marks(len(given) + 1, len(last))})"
    rows = await reader.query(
        f'SELECT {_names(table)} FROM "{table.name}" WHERE {beyond} AND {until} ORDER BY {key}', *given, *last
    )
    return _Page(rows, last)


def _is_long(kind: str) -> bool:
    return kind in ("TEXT", "BLOB")


def _last_within(sizes: Sequence[Row], limit: int) -> tuple[Any, ...]:
    """Return the last key up to which all rows are no longer than that together; the first at least."""
    *last, total = sizes[0]
    for *key, size in sizes[1:]:
        total += size
        if total > limit:
            break
        last = key
    return tuple(last)


async def _last_key(reader: Snapshot, table: TableLayout) -> tuple[Any, ...] | None:
    key = ", ".join(f'"{name}"' for name in table.key)
    backwards = ", ".join(f'"{name}" DESC' for name in table.key)
    rows = await reader.query(f'SELECT {key} FROM "{table.name}" ORDER BY {backwards} LIMIT 1')
    return tuple(rows[0]) if rows else None


def _marks(first: int, count: int) -> str:
    return ", ".join(f"${number}" for number in range(first, first + count))


# ---- values ------------------------------------------------------------------------------------------------
# The same value is the same in Python whichever engine it comes from, once texts are as engines take them.

_NOTHING: Final = type(None)
_TYPES: Final[Mapping[str, frozenset[type]]] = {
    "INTEGER": frozenset({int, _NOTHING}),
    "REAL": frozenset({float, _NOTHING}),
    "TEXT": frozenset({str, _NOTHING}),
    "BLOB": frozenset({bytes, _NOTHING}),
}


class _Values(NamedTuple):
    columns: Sequence[Sequence[Any]]
    mended: int
    """Texts that held what no engine takes."""


def _values(table: TableLayout, rows: Sequence[Row]) -> _Values | None:
    """Return the values of rows, column by column; None where one is not of its column's kind: SQLite lets
    any kind stand anywhere."""
    columns, mended = list[Sequence[Any]](), 0
    for column, values in zip(table.columns, zip(*rows, strict=True), strict=True):
        if not {*map(type, values)} <= _TYPES[column.kind]:
            return None
        if column.kind == "TEXT":
            kept = [*map(storable, values)]
            mended += sum(new != old for new, old in zip(kept, values, strict=True))
            columns.append(kept)
        else:
            columns.append(values)
    return _Values(columns, mended)


# ---- storing -----------------------------------------------------------------------------------------------

_ARRAYS: Final[Mapping[str, str]] = {
    "INTEGER": "BIGINT[]",
    "REAL": "DOUBLE PRECISION[]",
    "TEXT": "TEXT[]",
    "BLOB": "BYTEA[]",
}
_MOST_PARAMETERS: Final = 900
"""Of one statement: SQLite takes some more, and is no faster with them."""


def _store(dialect: Dialect, table: TableLayout, columns: Sequence[Sequence[Any]]) -> Steps[None]:
    if dialect == "sqlite":
        triggers = yield from _drop_triggers(table.name)
        yield from _insert_some_at_a_time(table, columns)
        for trigger in triggers:
            yield Statement(trigger)
    else:
        yield Statement(f'ALTER TABLE "{table.name}" DISABLE TRIGGER USER')
        yield _insert_all(table, columns)
        yield Statement(f'ALTER TABLE "{table.name}" ENABLE TRIGGER USER')


def _insert_all(table: TableLayout, columns: Sequence[Sequence[Any]]) -> Statement:
    arrays = ", ".join(
        f"CAST(${number} AS {_ARRAYS[column.kind]})" for number, column in enumerate(table.columns, 1)
    )
    return Statement(
        f'INSERT INTO "{table.name}" ({_names(table)}) SELECT * FROM unnest({arrays})',
        tuple(map(list, columns)),
    )


def _insert_some_at_a_time(table: TableLayout, columns: Sequence[Sequence[Any]]) -> Iterator[Statement]:
    width, rows = len(table.columns), [*zip(*columns, strict=True)]
    step = max(_MOST_PARAMETERS // width, 1)
    for first in range(0, len(rows), step):
        some = rows[first : first + step]
        groups = ", ".join(f"({_marks(place * width + 1, width)})" for place in range(len(some)))
        values = tuple(value for row in some for value in row)
        yield Statement(f'INSERT INTO "{table.name}" ({_names(table)}) VALUES {groups}', values)


def _names(table: TableLayout) -> str:
    return ", ".join(f'"{column.name}"' for column in table.columns)


def _drop_triggers(*tables: str) -> Steps[Sequence[str]]:
    """Drop the triggers of these tables, in SQLite; the statements that make them again, as they were."""
    made = list[str]()
    for table in tables:
        found = yield Statement(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = $1", (table,)
        )
        for name, sql in found:
            yield Statement(f'DROP TRIGGER "{name}"')
            made.append(sql)
    return made


def _empty(dialect: Dialect) -> Steps[None]:
    """Delete every row, those that migrations have put there as well: the source has its own."""
    names = [table.name for table in copied_tables()]
    if dialect == "postgresql":
        yield Statement("TRUNCATE " + ", ".join(f'"{name}"' for name in names))
        return
    triggers = yield from _drop_triggers(*names)
    for name in reversed(names):  # who refers to others goes before them
        yield Statement(f'DELETE FROM "{name}"')
    for trigger in triggers:
        yield Statement(trigger)


# ---- numbers -----------------------------------------------------------------------------------------------
# A number that was given to a row which is gone is not given again: buttons and people name it.

_LAST_NUMBERS: Final[Mapping[Dialect, str]] = {
    "sqlite": "SELECT name, seq FROM sqlite_sequence",
    "postgresql": """
        SELECT CAST(c.table_name AS TEXT), coalesce(s.last_value, 0)
        FROM information_schema.columns AS c
        JOIN pg_sequences AS s ON format('%I.%I', s.schemaname, s.sequencename)
            = pg_get_serial_sequence(quote_ident(c.table_name), c.column_name)
        WHERE c.is_identity = 'YES' AND c.table_schema = current_schema()
    """,
}


async def _last_numbers(reader: Snapshot) -> dict[str, int]:
    return {name: int(last) for name, last in await reader.query(_LAST_NUMBERS[reader.dialect])}


def _finish(dialect: Dialect, numbers: Mapping[str, int]) -> Steps[None]:
    for table in copied_tables():
        if last := numbers.get(table.name):
            yield from _count_on(dialect, table, last)
        if dialect == "postgresql":
            yield Statement(f'ANALYZE "{table.name}"')  # until then its planner knows nothing of the rows
    yield Statement(f"DROP TABLE {MARK}")


def _count_on(dialect: Dialect, table: TableLayout, last: int) -> Steps[None]:
    if dialect == "postgresql":
        yield Statement("SELECT setval(pg_get_serial_sequence($1, $2), $3)", (table.name, table.key[0], last))
        return
    yield Statement("DELETE FROM sqlite_sequence WHERE name = $1", (table.name,))
    yield Statement("INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)", (table.name, last))


# ---- copying -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table that both ends have alike."""

    name: str
    rows: int
    checksum: str
    """Of its values, as they are whichever engine keeps them."""
    mended: int = 0
    """Texts in the source that held what no engine takes."""


class Copying:
    """A copy on its way into a target that `prepare_target` has looked at.

    Raises CopyStopped where one of the two ends fails, which may be begun again, and CopyUnreadable.
    """

    def __init__(
        self,
        source: Snapshot,
        target: Database,
        *,
        limit: PageLimit = PageLimit(),
        progress: Progress = ignore_progress,
    ) -> None:
        self._source = source
        self._target = target
        self._limit = limit
        self._progress = progress
        self._tables = copied_tables()
        self._rows = 0

    async def run(self) -> tuple[CopiedTable, ...]:
        """Copy what is not in the target yet, compare, and make the target a database of its own. Raises
        CopyDiffers as well."""
        self._rows = sum(await self._count(self._source))
        await self._copy()
        done = await self._compare()
        if _differing(done):
            with _telling(self._target):
                await self._target.write(lambda: _empty(self._target.dialect), [EVERYBODY])
            await self._copy()
            done = await self._compare()
        if differing := _differing(done):
            raise CopyDiffers(path=self._target.location, name=differing)
        await self._finish()
        return tuple(ours for ours, _ in done)

    async def check(self, occupied: str) -> tuple[CopiedTable, ...]:
        """Compare with a target in which there was something before. Raises CopyTargetOccupied where that is
        not all that the source has, by the name of this table."""
        counts = await self._count(self._source)
        if counts == await self._count(self._target):
            self._rows = sum(counts)
            done = await self._compare()
            if not _differing(done):
                return tuple(ours for ours, _ in done)
        raise CopyTargetOccupied(path=self._target.location, name=occupied)

    async def _count(self, reader: Snapshot) -> list[int]:
        """Count the rows of each table."""
        with _telling(reader):
            counts = [await reader.query(f'SELECT count(*) FROM "{table.name}"') for table in self._tables]
        return [int(count) for [(count,)] in counts]

    async def _copy(self) -> None:
        told = _Told(self._progress, "rows", sum(await self._count(self._target)), self._rows)
        for table in self._tables:
            after = await self._find_last(table)
            while page := await self._read(self._source, table, after):
                after = await self._write(table, page)
                told.add(len(page.rows))

    async def _find_last(self, table: TableLayout) -> tuple[Any, ...] | None:
        with _telling(self._target):
            return await _last_key(self._target, table)

    async def _read(
        self, reader: Snapshot, table: TableLayout, after: tuple[Any, ...] | None
    ) -> _Page | None:
        with _telling(reader):
            return await _next_page(reader, table, after, self._limit)

    async def _write(self, table: TableLayout, page: _Page) -> tuple[Any, ...] | None:
        """Store a page, and return the last key that is there then."""
        columns = self._values(self._source, table, page).columns
        with _telling(self._target):
            try:
                await self._target.write(lambda: _store(self._target.dialect, table, columns), [EVERYBODY])
            except CommitUncertain:  # the page is there, or it is not: that can be seen
                return await _last_key(self._target, table)
        return page.last

    def _values(self, reader: Snapshot, table: TableLayout, page: _Page) -> _Values:
        values = _values(table, page.rows)
        if values is None:
            raise CopyUnreadable(path=reader.location, name=table.name)
        return values

    async def _compare(self) -> list[tuple[CopiedTable, CopiedTable]]:
        told = _Told(self._progress, "comparing", 0, 2 * self._rows)
        compared = list[tuple[CopiedTable, CopiedTable]]()
        for table in self._tables:
            ours, theirs = await asyncio.gather(
                self._sum(self._source, table, told), self._sum(self._target, table, told)
            )
            compared.append((ours, theirs))
        return compared

    async def _sum(self, reader: Snapshot, table: TableLayout, told: "_Told") -> CopiedTable:
        digest, rows, mended = hashlib.blake2b(digest_size=8), 0, 0
        after: tuple[Any, ...] | None = None
        while page := await self._read(reader, table, after):
            values = self._values(reader, table, page)
            for row in zip(*values.columns, strict=True):
                digest.update(repr(row).encode())
            rows, mended, after = rows + len(page.rows), mended + values.mended, page.last
            told.add(len(page.rows))
        return CopiedTable(table.name, rows, digest.hexdigest(), mended)

    async def _finish(self) -> None:
        with _telling(self._source):
            numbers = await _last_numbers(self._source)
        with _telling(self._target):
            for name, last in (await _last_numbers(self._target)).items():
                numbers[name] = max(last, numbers.get(name, 0))
            for table in self._tables:
                if table.numbered and (key := await _last_key(self._target, table)):
                    numbers[table.name] = max(key[0], numbers.get(table.name, 0))
            while await _origin(self._target):
                with suppress(CommitUncertain):  # it is done, or it is not: that can be seen
                    await self._target.write(lambda: _finish(self._target.dialect, numbers), [EVERYBODY])
            await self._target.checkpoint()


class _Told:
    """The progress of a stage."""

    def __init__(self, progress: Progress, stage: Stage, done: int, total: int) -> None:
        self._progress = progress
        self._stage: Stage = stage
        self._done = done
        self._total = total
        self.add(0)

    def add(self, rows: int) -> None:
        self._done += rows
        self._progress(self._stage, min(self._done, self._total), self._total)


@contextmanager
def _telling(end: Snapshot) -> Iterator[None]:
    """Have trouble tell which of the two ends it is about."""
    try:
        yield
    except StorageError as error:
        raise CopyStopped(path=end.location) from error


def _differing(compared: Sequence[tuple[CopiedTable, CopiedTable]]) -> str:
    """Return the name of a table that the two ends don't have alike; empty where there is none."""
    for ours, theirs in compared:
        if (ours.rows, ours.checksum) != (theirs.rows, theirs.checksum):
            return ours.name
    return ""
