"""PostgreSQL behind the Database protocol: the only module that knows asyncpg.

Nothing hangs on a connection's own state: no `LISTEN`, no lock of a session, no `SET`. So a pooler that hands
a connection to somebody else after each transaction can stand between (PgBouncer, in transaction mode).
"""

import asyncio
import random
import re
import socket
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from typing import Any, Final, Literal, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg
import structlog

from cc_bot.domain.errors import (
    CommitUncertain,
    DatabaseCrowded,
    DatabaseForbidden,
    DatabaseFull,
    DatabaseImpatient,
    DatabaseLocked,
    DatabaseReadOnly,
    DatabaseSetReadOnly,
    DatabaseUnreachable,
    InvalidSetting,
    PoolerForgets,
    PostgresNotUtf8,
    PostgresRefused,
    PostgresTooOld,
    StorageError,
)
from cc_bot.storage.database import DatabaseUsage, Row, Statement, Steps, Subject, storable
from cc_bot.storage.dialect import Dialect, expand
from cc_bot.storage.files import URL_SETTING
from cc_bot.storage.rewriting import Rewriting

_log = structlog.get_logger(__name__)

T = TypeVar("T")

_Connection = asyncpg.pool.PoolConnectionProxy

OLDEST: Final = 14
"""The first whose planner does without sorting what an index has in order, for all that is asked here."""
MOST_CONNECTIONS: Final = 10
CONNECTING_S: Final = 10.0
PASSED_OVER_S: Final = 2.0
"""One of several hosts that has not answered by then is passed over."""
SILENT_S: Final = 5
"""A machine that has acknowledged nothing for so long is gone, and its connections with it."""
PATIENCE_S: Final = 10.0
"""A server that is away is waited for so long: one that restarts, or whose standby takes its place."""
IDLE_S: Final = 15.0
"""A process that stops in the middle of a transaction holds what it has locked for so long: less than others
take to find it dead (see domain/process.py)."""
LITTLE_PATIENCE_S: Final = 0.5
"""For a lock of somebody else's, for which others have waited in vain: of many turns that meet it, each would
wait for all those before it."""
HURRY_S: Final = 1.0
"""All that is asked of a server takes no longer once the program is about to end."""
QUEUEING_S: Final = 30.0
"""A connection is waited for so long while others have all of them."""
LOOKING_S: Final = 5.0
"""A server to which nobody can connect within that time is as good as gone, whatever it acknowledges."""
_PAUSES_S: Final = (0.05, 0.1, 0.2, 0.4)
"""Between two attempts; the last one again and again."""
_BEGIN_READING: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
APPLICATION: Final = "cc-bot"
"""The name under which the server lists our connections."""
ENCODING: Final = "UTF8"
"""As the server calls it: PgBouncer would set what asyncpg calls it, `'utf-8'`, before each transaction."""
_MOST_REPEATS: Final = 20
"""Of a transaction that stood in another's way."""

# ---- url ---------------------------------------------------------------------------------------------------
# `postgresql://user:password@host1:5432,host2:5432/name?target_session_attrs=read-write`, as libpq reads it;
# `prepare=off` is ours, for poolers that know nothing of prepared statements.

SCHEMES: Final = ("postgresql", "postgres")
EXAMPLE: Final = "postgresql://cc_bot:PASSWORD@db.example/cc_bot (/ = %2F, # = %23, ? = %3F, @ = %40)"
"""What has a meaning of its own in a URL is written by its code in a password."""
_HOST: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]++\]|[^\[\]:@]*+)(?::(\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class PostgresUrl:
    """The place of a database."""

    urls: tuple[str, ...] = field(repr=False)
    """As asyncpg reads it, one for each host."""
    shown: str
    """For the operator, without a password."""
    prepare: bool
    """Whether the server may keep statements prepared."""

    @classmethod
    def of(cls, url: str) -> "PostgresUrl":
        """Read a URL. Raises InvalidSetting, which does not repeat it."""
        try:
            parts = urlsplit(url)
            options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
            prepare = {"on": True, "off": False}[options.pop("prepare", "on")]
        except (ValueError, KeyError) as error:
            raise InvalidSetting(name=URL_SETTING, expected=EXAMPLE) from error
        user, _, hosts = parts.netloc.rpartition("@")
        # A password that has a slash in it ends the part that is known to be one: nothing after it is shown.
        if parts.scheme not in SCHEMES or "@" in parts.path or parts.fragment or not _are_hosts(hosts):
            raise InvalidSetting(name=URL_SETTING, expected=EXAMPLE)
        shown = f"{user.partition(':')[0]}@{hosts}" if user else hosts
        asked = urlencode(options, safe="/:,")
        own = parts.netloc.removesuffix(hosts)
        return cls(
            tuple(urlunsplit(parts._replace(netloc=own + host, query=asked)) for host in hosts.split(",")),
            urlunsplit((parts.scheme, shown, parts.path, "", "")),
            prepare,
        )


def _are_hosts(hosts: str) -> bool:
    found = [_HOST.fullmatch(each) for each in hosts.split(",")]
    return all(each and 0 < int(each[1] or 1) < 65536 for each in found)


# ---- trouble -----------------------------------------------------------------------------------------------

_GONE: Final = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleSessionTimeoutError,
    asyncpg.TargetServerAttributeNotMatched,
)
"""What a server says that is away, or about to be."""
_ENDED: Final[dict[type[BaseException], str]] = {
    asyncpg.QueryCanceledError: "statement_timeout",
    asyncpg.IdleInTransactionSessionTimeoutError: "idle_in_transaction_session_timeout",
    asyncpg.TransactionTimeoutError: "transaction_timeout",
}
"""What a server says that has ended something of ours by itself, and the setting that has it do so."""
_IN_THE_WAY: Final = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
_REFUSED: Final = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.InsufficientPrivilegeError,
)
_MISTAKES: Final = (
    asyncpg.ClientConfigurationError,
    asyncpg.UndefinedObjectError,
    asyncpg.CantChangeRuntimeParamError,
    asyncpg.InvalidParameterValueError,
)
"""What is said to an option of a URL that there is not, or not with that value."""
_KINDS: Final[tuple[tuple[tuple[type[BaseException], ...], type[StorageError]], ...]] = (
    ((asyncpg.DiskFullError,), DatabaseFull),
    ((asyncpg.ReadOnlySQLTransactionError,), DatabaseReadOnly),
    ((asyncpg.InsufficientPrivilegeError, asyncpg.InvalidSchemaNameError), DatabaseForbidden),
    ((asyncpg.TooManyConnectionsError,), DatabaseCrowded),
    ((asyncpg.LockNotAvailableError,), DatabaseLocked),
    ((asyncpg.InvalidSQLStatementNameError, asyncpg.DuplicatePreparedStatementError), PoolerForgets),
    ((*_ENDED,), DatabaseImpatient),
    (_GONE, DatabaseUnreachable),
)
_PASSING: Final = (DatabaseUnreachable, DatabaseCrowded)
_SAID: Final = (
    *(asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError),
    *(OSError, OverflowError, ValueError, TypeError),
)
"""All that a statement may end with."""
_CLOSED: Final = ("connection is closed", "released back to the pool")
_MENDED_BY: Final[dict[type[StorageError], str]] = {
    DatabaseFull: "make room on the server's disk; nothing that was committed is lost",
    DatabaseForbidden: "make the role the owner of the database and its tables, or grant it all on both",
    DatabaseReadOnly: "name the primary, or add target_session_attrs=read-write to CC_BOT_DATABASE_URL",
    DatabaseSetReadOnly: "turn default_transaction_read_only off, of the server, the database or the role",
    DatabaseCrowded: "raise max_connections, or let PgBouncer stand between",
    DatabaseLocked: "end the other program that keeps a table to itself",
    DatabaseImpatient: "raise {setting} of the role or the server, or set it to 0",
    DatabaseUnreachable: "start the server, or see why it can't be reached",
    PoolerForgets: "add ?prepare=off to CC_BOT_DATABASE_URL",
    StorageError: "look into the server's log",
}


def kind_of(error: BaseException) -> type[StorageError]:
    """Return which of our errors stands for one of asyncpg's."""
    if _was_closed(error):
        return DatabaseUnreachable
    reason = _reason_of(error)
    return next((ours for kinds, ours in _KINDS if isinstance(reason, kinds)), StorageError)


def _reason_of(error: BaseException) -> BaseException:
    """Return what ended a connection, where the server has said that it is a setting of its own."""
    cause = error.__cause__
    ended = isinstance(error, asyncpg.ConnectionDoesNotExistError) and isinstance(cause, tuple(_ENDED))
    return cause if ended and cause else error


def _passes(error: BaseException) -> bool:
    """Return whether it may be over with another connection, soon."""
    return kind_of(error) in _PASSING or isinstance(
        _reason_of(error), asyncpg.IdleInTransactionSessionTimeoutError
    )


def _was_closed(error: BaseException) -> bool:
    """Return whether a connection was lost before it was used, or while it was about to be: asyncpg has no
    class of its own for the first, and stumbles over its own state in the second."""
    lost = isinstance(error, asyncpg.InterfaceError) and any(each in str(error) for each in _CLOSED)
    return lost or isinstance(error, asyncpg.InternalClientError)


class _Troubles:
    """The troubles that the operator knows of; each is told once, until something works again. The server's
    own words are left out: they may quote what somebody wrote."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._told = set[type[StorageError]]()
        self.is_primary = False
        """Whether the server that took no changes last is known to be no standby."""

    def translate(self, error: BaseException) -> StorageError:
        kind, error = kind_of(error), _reason_of(error)
        if kind is DatabaseReadOnly and self.is_primary:
            kind = DatabaseSetReadOnly
        if kind is not StorageError and kind not in self._told:
            self._told.add(kind)
            _log.error(
                "database_trouble",
                error=kind.__name__,
                reason=getattr(error, "sqlstate", None) or type(error).__name__,
                path=self._location,
                mended_by=_MENDED_BY[kind].format(setting=_ENDED.get(type(error), "")),
            )
        return kind()

    @property
    def locked(self) -> bool:
        """True while somebody else keeps a table for too long, and nothing was kept since."""
        return DatabaseLocked in self._told

    @property
    def away(self) -> bool:
        """True while the server was waited for in vain, and nothing has worked since."""
        return DatabaseUnreachable in self._told

    def over(self, *, wrote: bool) -> None:
        """Note that something works again. What others keep to themselves, one may still read."""
        if self._told and (wrote or not self.locked):
            self._told.clear()
            _log.info("database_works_again", path=self._location)


# ---- order -------------------------------------------------------------------------------------------------
# What is about one subject is done one after the other, in the order in which it was asked for: first among
# the tasks of this program, then among all programs, by a lock that ends with the transaction. Which rows two
# transactions touch, the subjects tell: nothing else keeps a limit that is counted before it is used up.


def _key(subject: Subject) -> int:
    """The number of a lock. Two subjects with one number would wait for each other, no more."""
    return int.from_bytes(blake2b(repr(tuple(subject)).encode(), digest_size=8).digest(), "big", signed=True)


class _Order:
    """The tasks of this program that wait for each other."""

    def __init__(self) -> None:
        self._locks = defaultdict[Subject, asyncio.Lock](asyncio.Lock)
        self._waiting = defaultdict[Subject, int](int)

    @asynccontextmanager
    async def turn(self, subjects: Sequence[Subject]) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for subject in subjects:
                await stack.enter_async_context(self._one(subject))
            yield

    @asynccontextmanager
    async def _one(self, subject: Subject) -> AsyncIterator[None]:
        self._waiting[subject] += 1
        try:
            async with self._locks[subject]:
                yield
        finally:
            self._waiting[subject] -= 1
            if not self._waiting[subject]:
                del self._waiting[subject], self._locks[subject]


# ---- postgres ----------------------------------------------------------------------------------------------


class PostgresDatabase:
    """A database on a server. Made by `connect_postgres`."""

    dialect: Final[Dialect] = "postgresql"

    def __init__(self, pool: asyncpg.Pool, location: str, patience_s: float) -> None:
        self._pool = pool
        self._location = location
        self._patience_s = patience_s
        self._troubles = _Troubles(location)
        self._order = _Order()
        self._written = asyncio.Event()
        self._wrote_s = time.monotonic()
        self._running = set[asyncio.Task[Any]]()
        self._limit_s: float | None = None
        self._limits = set[asyncio.Timeout]()
        self.repeats = 0
        """Transactions that were begun anew because they stood in another's way."""

    @property
    def location(self) -> str:
        return self._location

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        async def ask(connection: _Connection) -> Sequence[Row]:
            try:
                return await _rows(connection, sql, params, timeout_s=self._patience_s)
            except TimeoutError as error:
                raise _Unanswered from error

        def begin() -> Steps[Sequence[Row]]:
            return (yield Statement(sql, params))

        if not self._troubles.locked:
            with suppress(_Unanswered):
                return await self._patiently(ask, begins=False)
        # In a transaction, which tells what takes long from what waits for somebody else's lock.
        return await self._read(begin, LITTLE_PATIENCE_S)

    async def transaction(
        self, statements: Sequence[Statement], about: Sequence[Subject]
    ) -> list[Sequence[Row]]:
        def begin() -> Steps[list[Sequence[Row]]]:
            found = []
            for statement in statements:
                found.append((yield statement))
            return found

        return await self.write(begin, about)

    async def read(self, begin: Callable[[], Steps[T]]) -> T:
        return await self._read(begin, self._lock_patience_s)

    async def read_long(self, begin: Callable[[], Steps[T]]) -> T:
        return await self.read(begin)

    async def _read(self, begin: Callable[[], Steps[T]], lock_patience_s: float) -> T:
        async def run(connection: _Connection) -> T:
            await connection.execute(f"{_BEGIN_READING}; {_bound(lock_patience_s)}")
            result = await _run_steps(connection, begin)
            await connection.execute("COMMIT")
            return result

        return await self._patiently(run)

    async def write(self, begin: Callable[[], Steps[T]], about: Sequence[Subject]) -> T:
        # In a task of its own: what was handed over runs to its end, whether anybody waits for it or not.
        task = asyncio.create_task(self._write(begin, sorted({*about})))
        self._running.add(task)
        task.add_done_callback(self._on_end)
        result = await asyncio.shield(task)
        self._wrote_s = time.monotonic()
        self._written.set()
        self._written = asyncio.Event()
        return result

    async def wait_for_write(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._written.wait()
        except TimeoutError:
            return False
        return True

    async def preserve(self, version: int) -> None:
        """Do nothing: copies are the operator's affair."""

    async def checkpoint(self) -> bool:
        return True

    async def measure(self) -> DatabaseUsage:
        [(size,)] = await self.query("SELECT pg_database_size(current_database())")
        return DatabaseUsage(int(size), 0, time.monotonic() - self._wrote_s)

    async def rewrite(self) -> Rewriting:
        return "done"

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator["PostgresSnapshot"]:
        """Hold the state that the database has now. Raises StorageError."""
        try:
            async with self._lent() as connection:
                await connection.execute(f"{_BEGIN_READING}; SELECT 1")  # which is when the state is taken
                try:
                    yield PostgresSnapshot(connection, self._location, self._troubles)
                finally:
                    await _roll_back(connection)
        except _SAID as error:
            raise self._troubles.translate(error) from error

    @asynccontextmanager
    async def bulk(self) -> AsyncIterator[_Connection]:
        """Lend a connection in one transaction, for COPY. Raises StorageError: then it is rolled back."""
        try:
            async with self._lent() as connection, connection.transaction():
                yield connection
        except _SAID as error:
            raise self._troubles.translate(error) from error

    def hurry(self) -> None:
        self._limit_s = HURRY_S
        until_s = asyncio.get_running_loop().time() + HURRY_S
        for limit in self._limits:
            if not limit.expired():
                limit.reschedule(min(until_s, limit.when() or until_s))

    async def close(self) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=self._limit_s)
        with suppress(*_SAID):  # a server that is not there can't be told
            async with asyncio.timeout(self._limit_s or LOOKING_S):
                await self._pool.close()

    async def _write(self, begin: Callable[[], Steps[T]], subjects: Sequence[Subject]) -> T:
        locks = [f"SELECT pg_advisory_xact_lock({_key(each)})" for each in subjects]
        commits = False

        async def run(connection: _Connection) -> T:
            nonlocal commits
            commits = False
            await connection.execute("; ".join(("BEGIN", _bound(self._lock_patience_s), *locks)))
            result = await _run_steps(connection, begin)
            commits = True
            try:
                await connection.execute("COMMIT")
            except _SAID as error:
                lost = isinstance(error, asyncpg.PostgresConnectionError)
                if (
                    lost or kind_of(error) is DatabaseUnreachable
                ):  # it may have taken effect, or not: nobody knows
                    raise CommitUncertain from error
                raise
            return result

        until_s = time.monotonic() + self._patience_s
        try:
            async with self._limited(), self._order.turn(subjects):
                return await self._patiently(run, until_s, writes=True)
        except DatabaseUnreachable as error:
            if commits:  # and was given up before the server has answered
                raise CommitUncertain from error
            raise

    def _on_end(self, task: asyncio.Task[Any]) -> None:
        """Forget a task: its error is for whoever waits for it, if anybody does."""
        self._running.discard(task)
        if not task.cancelled():
            task.exception()

    @property
    def _lock_patience_s(self) -> float:
        return min(self._patience_s, LITTLE_PATIENCE_S) if self._troubles.locked else self._patience_s

    @asynccontextmanager
    async def _lent(self, *, begins: bool = True) -> AsyncIterator[_Connection]:
        """Lend a connection, which is ended when its server is not there any more. Whoever is cancelled, or
        has waited long enough, does not wait for the server to take that in. `begins`: its first statement
        begins a transaction."""
        async with asyncio.timeout(QUEUEING_S):
            connection = await self._pool.acquire()
        watch = _Watch(connection, self._patience_s)
        try:
            yield connection
        except BaseException as error:
            in_between = isinstance(error, asyncio.CancelledError | _Unanswered)
            returning = asyncio.create_task(self._take_back(connection, watch, rolls=begins and in_between))
            self._running.add(returning)
            returning.add_done_callback(self._on_end)
            if not in_between:
                await asyncio.wait((returning,))
            raise
        try:
            with suppress(*_SAID):  # what was done is done
                await self._pool.release(connection)
        finally:
            watch.end()

    async def _take_back(self, connection: _Connection, watch: "_Watch", *, rolls: bool) -> None:
        """Leave nothing open on a connection, and put it back. `rolls`: it has begun a transaction, whether
        that is known by now or not."""
        with suppress(*_SAID):
            if rolls or connection.is_in_transaction():
                await connection.execute("ROLLBACK")
        with suppress(*_SAID):
            await self._pool.release(connection)
        watch.end()

    @asynccontextmanager
    async def _limited(self, seconds: float | None = None) -> AsyncIterator[None]:
        """Bound how long something takes, also from a moment on at which it is under way: see `hurry`."""
        if self._limit_s is not None:
            seconds = min(self._limit_s, seconds or self._limit_s)
        try:
            async with asyncio.timeout(seconds) as limit:
                self._limits.add(limit)
                try:
                    yield
                finally:
                    self._limits.discard(limit)
        except TimeoutError as error:
            raise self._troubles.translate(error) from error

    async def _patiently(
        self,
        job: Callable[[_Connection], Awaitable[T]],
        until_s: float | None = None,
        *,
        writes: bool = False,
        begins: bool = True,
    ) -> T:
        """Run a job on a connection; anew on another one while the server is away, or where two stood in each
        other's way. `until_s` is when whoever stood in line has waited for long enough: if others have waited
        for the server in vain by then, it is waited for a moment more."""
        now_s = time.monotonic()
        if until_s is None or not self._troubles.away:
            until_s = now_s + self._patience_s
        late = now_s > until_s
        async with self._limited(HURRY_S if late else None):
            return await self._try(job, until_s, writes=writes, begins=begins)

    async def _try(
        self,
        job: Callable[[_Connection], Awaitable[T]],
        until_s: float,
        *,
        writes: bool,
        begins: bool,
    ) -> T:
        pauses_s, repeats = chain(_PAUSES_S), 0
        pause_s = 0.0
        while True:
            try:
                async with self._lent(begins=begins) as connection:
                    try:
                        result = await job(connection)
                    except asyncpg.ReadOnlySQLTransactionError:
                        self._troubles.is_primary = _is_primary(connection)
                        raise
            except _IN_THE_WAY as error:
                self.repeats += 1
                repeats += 1
                if repeats > _MOST_REPEATS:
                    raise self._troubles.translate(error) from error
                await asyncio.sleep(random.uniform(0, 0.01 * repeats))  # noqa: S311 - so that they part
            except _SAID as error:
                pause_s = next(pauses_s, pause_s)
                if not _passes(error) or time.monotonic() + pause_s > until_s:
                    raise self._troubles.translate(error) from error
                await asyncio.sleep(pause_s)
            else:
                self._troubles.over(wrote=writes)
                return result


class PostgresSnapshot:
    """A transaction that only reads, on a connection of its own: one that is lost takes it along."""

    dialect: Final[Dialect] = "postgresql"

    def __init__(self, connection: _Connection, location: str, troubles: _Troubles) -> None:
        self.location: Final = location
        self._connection = connection
        self._troubles = troubles

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        try:
            return await _rows(self._connection, sql, params)
        except _SAID as error:
            raise self._troubles.translate(error) from error

    async def stream(self, sql: str) -> AsyncIterator[Row]:
        try:
            async for row in self._connection.cursor(sql, prefetch=20):  # a row may hold a file of megabytes
                yield tuple(row)
        except _SAID as error:
            raise self._troubles.translate(error) from error


def _is_primary(connection: _Connection) -> bool:
    """Return whether a server has told that it is no standby; poolers do not pass that on."""
    return getattr(connection.get_settings(), "in_hot_standby", None) == "off"


class _Unanswered(Exception):
    """A statement was cancelled that had no answer in time."""


class _Watch:
    """Looks every now and then, while a connection is lent, whether its server is still there: one that is
    halted acknowledges what it is sent, and never answers. Its connection is ended then, with whatever waits
    for it. Behind a pooler it is the pooler that is looked for."""

    def __init__(self, connection: _Connection, every_s: float) -> None:
        self._connection = connection
        self._url: str = connection.url  # type: ignore[attr-defined]  # its own, which the pool hands on
        self._every_s = every_s
        self._looking: asyncio.Task[None] | None = None
        self._ended = False
        self._timer = self._in_a_while()

    def end(self) -> None:
        self._ended = True
        self._timer.cancel()

    def _in_a_while(self) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(self._every_s, self._begin)

    def _begin(self) -> None:
        self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        there = await _takes_connections(self._url)
        if self._ended:
            return
        if there:
            self._timer = self._in_a_while()
            return
        with suppress(*_SAID):  # it may be lost by now
            self._connection.terminate()


async def _takes_connections(url: str) -> bool:
    """Return whether a server still answers, and be it that it takes no more connections."""
    try:
        async with asyncio.timeout(LOOKING_S):
            connection = await asyncpg.connect(url)
    except _GONE:
        return False
    except _SAID:
        return True
    connection.terminate()
    return True


def _bound(patience_s: float) -> str:
    """Return the statements that bound, for one transaction, how long it waits for what somebody else keeps,
    and how long a process that sleeps keeps what others wait for."""
    idle_ms = round(IDLE_S * 1000)
    return (
        f"SET LOCAL lock_timeout = {round(patience_s * 1000)};"
        f" SET LOCAL idle_in_transaction_session_timeout = {idle_ms}"
    )


async def _roll_back(connection: _Connection) -> None:
    """Leave nothing open on a connection that goes back. What can't be told any more is gone with it."""
    with suppress(*_SAID):  # a connection that is lost has left the pool by now
        if connection.is_in_transaction():
            await connection.execute("ROLLBACK")


async def _run_steps(connection: _Connection, begin: Callable[[], Steps[T]]) -> T:
    with closing(begin()) as steps:
        try:
            statement = next(steps)
            while True:
                statement = steps.send(await _rows(connection, statement.sql, statement.params))
        except StopIteration as end:
            result: T = end.value
            return result


async def _rows(
    connection: _Connection, sql: str, params: Iterable[Any], timeout_s: float | None = None
) -> Sequence[Row]:
    found: list[Any] = await connection.fetch(
        expand(sql, "postgresql"), *map(storable, params), timeout=timeout_s
    )
    return found


# ---- opening -----------------------------------------------------------------------------------------------


class _Watched(asyncpg.Connection):
    """A connection that ends soon after the machine at its other end is gone. That one says nothing: left to
    itself the system takes a quarter of an hour to see it, and whoever waits for an answer waits as long."""

    url = ""
    """Where its server is."""

    def __init__(self, protocol: Any, transport: asyncio.Transport, *rest: Any) -> None:
        super().__init__(protocol, transport, *rest)
        connected: socket.socket = transport.get_extra_info("socket")
        if connected.family not in (socket.AF_INET, socket.AF_INET6):
            return
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _WATCHING.items():
            if hasattr(socket, name):  # each system has others of them
                connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


_WATCHING: Final = {
    "TCP_KEEPIDLE": SILENT_S,
    "TCP_KEEPALIVE": SILENT_S,  # the same on macOS
    "TCP_KEEPINTVL": 1,
    "TCP_KEEPCNT": SILENT_S,
    "TCP_USER_TIMEOUT": SILENT_S * 1000,
}


_SELECT_FACTS: Final = """
    SELECT
        CAST(current_setting('server_version_num') AS INTEGER),
        current_setting('server_encoding'),
        pg_backend_pid()
"""


class _Hosts:
    """The hosts of a URL: the one that was connected to last is asked first. asyncpg goes through them as
    well, but has one limit of time for all, which the first uses up where nobody is there to refuse."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = [*urls]
        self._left = set[asyncio.Task[Any]]()

    async def connect(self, *_: Any, **options: Any) -> "asyncpg.Connection[Any]":
        patience_s = CONNECTING_S if len(self._urls) == 1 else PASSED_OVER_S
        refused: BaseException = OSError()
        for url in [*self._urls]:
            try:
                connecting = asyncio.create_task(asyncpg.connect(url, timeout=patience_s, **options))
                connected: _Watched = await self._whole(connecting)
            except _GONE as error:
                refused = error
            else:
                self._urls.sort(key=url.__ne__)
                connected.url = url
                return connected
        raise refused

    async def _whole(self, connecting: asyncio.Task[T]) -> T:
        """Wait for a connection, without cancelling whoever opens it: asyncpg would leave an error behind of
        which nobody hears, where that one is lost in the same moment."""
        try:
            return await asyncio.shield(connecting)
        except asyncio.CancelledError:
            self._left.add(connecting)
            connecting.add_done_callback(self._close)
            raise

    def _close(self, connecting: asyncio.Task[Any]) -> None:
        self._left.discard(connecting)
        if not connecting.cancelled() and connecting.exception() is None:
            connecting.result().terminate()


@asynccontextmanager
async def connect_postgres(url: str, *, patience_s: float = PATIENCE_S) -> AsyncIterator[PostgresDatabase]:
    """Open the database at a URL.

    Raises InvalidSetting, PostgresRefused (a password, a role or a name that the server does not take),
    PostgresTooOld, PostgresNotUtf8, or a StorageError that tells why it can't be opened now: PoolerForgets
    where that can be seen at once.
    """
    where = PostgresUrl.of(url)
    pool = asyncpg.create_pool(
        where.urls[0],
        connect=_Hosts(where.urls).connect,
        connection_class=_Watched,
        min_size=0,  # else the pool complains by itself, over and over, while the server is away
        max_size=MOST_CONNECTIONS,
        statement_cache_size=1000 if where.prepare else 0,
        reset=_reset_nothing,
        server_settings={"application_name": APPLICATION, "client_encoding": ENCODING},
    )
    try:
        try:
            await pool
            facts = await _look(pool)
            if where.prepare and facts.is_pooled:
                await _ensure_prepared(pool)
        except _MISTAKES as error:
            raise InvalidSetting(name=URL_SETTING, expected=EXAMPLE) from error
        except _REFUSED as error:
            raise PostgresRefused(url=where.shown, reason=_reason(error), setting=URL_SETTING) from error
        except _SAID as error:
            if _is_refused_by_pooler(error):
                raise PostgresRefused(url=where.shown, reason="password", setting=URL_SETTING) from error
            raise kind_of(error)() from error
        if facts.version < OLDEST:
            raise PostgresTooOld(found=facts.version, needed=OLDEST)
        if facts.encoding != "UTF8":
            raise PostgresNotUtf8(url=where.shown, found=facts.encoding)
    except BaseException:
        pool.terminate()
        raise
    database = PostgresDatabase(pool, where.shown, patience_s)
    try:
        yield database
    finally:
        await database.close()


async def _reset_nothing(_: "asyncpg.Connection[Any]") -> None:
    """Leave a connection as it is: nothing was set, and a pooler may hand the statement to another one."""


class _ServerFacts(NamedTuple):
    """The server at the other end."""

    version: int
    encoding: str
    is_pooled: bool
    """Whether somebody else answers for it."""


async def _look(pool: asyncpg.Pool) -> _ServerFacts:
    async with pool.acquire() as connection:
        [(number, encoding, process)] = await connection.fetch(_SELECT_FACTS)
        # A pooler tells a number of its own, by which it would be asked to cancel something.
        return _ServerFacts(number // 10_000, encoding, process != connection.get_server_pid())


async def _ensure_prepared(pool: asyncpg.Pool) -> None:
    """Have two connections prepare a statement of the same name. A pooler that gives both the same connection
    of the server's, one after the other, and keeps no statements itself, has it refuse the second one. Raises
    asyncpg's errors."""
    prepared = []
    async with pool.acquire() as one, pool.acquire() as other:
        for each in (one, other):
            prepared.append(await each.prepare("SELECT 1", name=APPLICATION))
            await prepared[-1].fetchval()  # until then the server's connection is kept for this one


def _is_refused_by_pooler(error: BaseException) -> bool:
    """Return whether PgBouncer did not take the password: it has no class of errors for that."""
    return isinstance(error, asyncpg.ProtocolViolationError) and "authentication failed" in str(error)


Reason = Literal["password", "database", "role", "permission"]


def _reason(error: BaseException) -> Reason:
    if isinstance(error, asyncpg.InvalidCatalogNameError):
        return "database"
    if isinstance(error, asyncpg.InvalidPasswordError):
        return "password"
    return "permission" if isinstance(error, asyncpg.InsufficientPrivilegeError) else "role"
