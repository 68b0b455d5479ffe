"""The PostgreSQL implementation of Database.

A connection keeps no state between transactions, so that PgBouncer can be used in transaction mode.
"""

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from typing import Any, Final, Literal, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg

from cc_bot.concurrency import KeyedLock
from cc_bot.db.database import (
    MAINTENANCE_LOCK,
    Database,
    Diagnosis,
    Dialect,
    LockKey,
    Row,
    Statement,
    Transaction,
    expand,
    sanitize,
)
from cc_bot.db.files import URL_SETTING
from cc_bot.domain.errors import (
    CommitUncertain,
    DatabaseCrowded,
    DatabaseForbidden,
    DatabaseFull,
    DatabaseImpatient,
    DatabaseLocked,
    DatabaseReadOnly,
    DatabaseUnreachable,
    InvalidSetting,
    PoolerForgets,
    PostgresNotUtf8,
    PostgresRefused,
    PostgresTooOld,
    StorageError,
)

T = TypeVar("T")

_Connection = asyncpg.pool.PoolConnectionProxy

OLDEST_VERSION: Final = 14  # the first that reads all our queries in the order of an index
MAX_CONNECTIONS: Final = 10
TIMEOUT_S: Final = 15.0  # for statements and retries; half of it for a lock, twice to get a connection
LONG_TIMEOUT_S: Final = 120.0  # for `read_long` and writes with MAINTENANCE_LOCK, such as migrations
FAST_FAIL_TIMEOUT_S: Final = 1.0  # while the server is known to be unreachable, and during shutdown
CONNECT_TIMEOUT_S: Final = 5.0
NEXT_HOST_TIMEOUT_S: Final = 2.0  # for each host, if the URL names several
IDLE_TIMEOUT_S: Final = 15.0  # then the server ends a suspended process's transaction, which may hold locks
_MAX_RETRY_PAUSE_S: Final = 0.4
_BEGIN_READING: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
APPLICATION: Final = "cc-bot"
ENCODING: Final = "UTF8"  # with asyncpg's `utf-8`, PgBouncer would set it again before each transaction

SCHEMES: Final = ("postgresql", "postgres")
EXAMPLE: Final = "postgresql://cc_bot:PASSWORD@db.example/cc_bot (/ = %2F, # = %23, ? = %3F, @ = %40)"
_HOST: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]++\]|[^\[\]:@]*+)(?::(\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class PostgresUrl:
    """`postgresql://user:password@host1:5432,host2:5432/name?target_session_attrs=read-write`, as in libpq;
    `prepare=off` is our own option, for poolers without prepared statements."""

    urls: tuple[str, ...] = field(repr=False)  # one for each host
    without_password: str  # also without options
    prepare: bool  # whether to use prepared statements

    @classmethod
    def parse(cls, url: str) -> "PostgresUrl":
        """Raises InvalidSetting."""
        try:
            parts = urlsplit(url)
            options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
            prepare = {"on": True, "off": False}[options.pop("prepare", "on")]
        except (ValueError, KeyError) as error:
            raise InvalidSetting(name=URL_SETTING, expected=EXAMPLE) from error
        user, _, hosts = parts.netloc.rpartition("@")
        # After an unescaped slash, the rest of a password would be taken for the path, and be shown.
        if parts.scheme not in SCHEMES or "@" in parts.path or parts.fragment or not _are_hosts(hosts):
            raise InvalidSetting(name=URL_SETTING, expected=EXAMPLE)
        name_and_hosts = f"{user.partition(':')[0]}@{hosts}" if user else hosts
        query = urlencode(options, safe="/:,")
        login = parts.netloc.removesuffix(hosts)
        return cls(
            tuple(urlunsplit(parts._replace(netloc=login + host, query=query)) for host in hosts.split(",")),
            urlunsplit((SCHEMES[0], name_and_hosts, parts.path, "", "")),
            prepare,
        )


def _are_hosts(hosts: str) -> bool:
    matches = [_HOST.fullmatch(each) for each in hosts.split(",")]
    return all(each and 0 < int(each[1] or 1) < 65536 for each in matches)


_UNREACHABLE_ERRORS: Final = (
    OSError,
    TimeoutError,
    asyncpg.InternalClientError,  # the connection was lost while in use
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleSessionTimeoutError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.TargetServerAttributeNotMatched,
)
_CONFLICTS: Final = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
Reason = Literal["password", "database", "role", "permission"]
_REFUSALS: Final[Mapping[type[BaseException], Reason]] = {
    asyncpg.InvalidCatalogNameError: "database",
    asyncpg.InvalidPasswordError: "password",
    asyncpg.InvalidAuthorizationSpecificationError: "role",
    asyncpg.InsufficientPrivilegeError: "permission",
}
_INVALID_OPTIONS: Final = (
    asyncpg.ClientConfigurationError,
    asyncpg.UndefinedObjectError,
    asyncpg.CantChangeRuntimeParamError,
    asyncpg.InvalidParameterValueError,
)
_TROUBLES: Final[Mapping[type[StorageError], tuple[tuple[type[BaseException], ...], str]]] = {
    DatabaseFull: (
        (asyncpg.DiskFullError,),
        "make room on the server's disk; nothing that was committed is lost",
    ),
    DatabaseReadOnly: (
        (asyncpg.ReadOnlySQLTransactionError,),
        "name the primary, add target_session_attrs=read-write to CC_BOT_DATABASE_URL, or turn"
        " default_transaction_read_only off",
    ),
    DatabaseForbidden: (
        (asyncpg.InsufficientPrivilegeError, asyncpg.InvalidSchemaNameError),
        "make the role the owner of the database and its tables, or grant it all on both",
    ),
    DatabaseCrowded: (
        (asyncpg.TooManyConnectionsError,),
        "raise max_connections, use PgBouncer, or see which statements take long",
    ),
    DatabaseLocked: ((asyncpg.LockNotAvailableError,), "end the other program that locks a table"),
    PoolerForgets: (
        (asyncpg.InvalidSQLStatementNameError, asyncpg.DuplicatePreparedStatementError),
        "add ?prepare=off to CC_BOT_DATABASE_URL",
    ),
    DatabaseImpatient: (
        (asyncpg.QueryCanceledError, asyncpg.TransactionTimeoutError),
        "raise statement_timeout and transaction_timeout of the role or the server",
    ),
    DatabaseUnreachable: (_UNREACHABLE_ERRORS, "start the server, or see why it does not answer"),
}
_TRANSIENT: Final = (DatabaseUnreachable, DatabaseCrowded)
_DRIVER_ERRORS: Final = (
    *(asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError),
    *(OSError, OverflowError, ValueError, TypeError),
)
_CLOSED_MESSAGES: Final = ("connection is closed", "released back to the pool")


def classify(error: BaseException) -> Diagnosis:
    reason = getattr(error, "sqlstate", None) or type(error).__name__
    if isinstance(error, asyncpg.InterfaceError) and any(each in str(error) for each in _CLOSED_MESSAGES):
        error = OSError()  # asyncpg has no class for a closed connection
    for kind, (errors, remedy) in _TROUBLES.items():
        if isinstance(error, errors):
            return Diagnosis(kind, reason, remedy)
    return Diagnosis(StorageError, reason)


def _lock_number(key: LockKey) -> int:
    """Return the number of an advisory lock. Two keys may share a number: then they wait for each other."""
    return int.from_bytes(blake2b(repr(tuple(key)).encode(), digest_size=8).digest(), "big", signed=True)


class PostgresDatabase(Database):
    """Writes with the same lock key run one at a time: in this process by a lock in memory, which needs no
    connection to wait, and between processes by an advisory lock."""

    dialect: Dialect = "postgresql"

    def __init__(self, pool: asyncpg.Pool, location: str, timeout_s: float) -> None:
        super().__init__(location, classify)
        self._pool = pool
        self._full_timeout_s = timeout_s
        self._locks = KeyedLock()
        self._writes = set[asyncio.Task[Any]]()
        self._is_stopping = False
        self._deadlines = set[asyncio.Timeout]()
        self._lock_timeout_ms = round(timeout_s * 1000 / 2)
        self._set_timeouts = (
            f"SET LOCAL lock_timeout = {self._lock_timeout_ms};"
            f" SET LOCAL idle_in_transaction_session_timeout = {round(IDLE_TIMEOUT_S * 1000)}"
        )

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        if self._is_known_trouble(DatabaseLocked):  # only a transaction can have a lock_timeout
            return await self.read(Statement(sql, params).as_transaction)
        return await self._with_retries(lambda connection: _fetch(connection, sql, params, self._timeout_s))

    async def read(self, steps: Callable[[], Transaction[T]]) -> T:
        return await self._read(steps, self._timeout_s)

    async def read_long(self, steps: Callable[[], Transaction[T]]) -> T:
        return await self._read(steps, self._shorten(LONG_TIMEOUT_S))

    async def _read(self, steps: Callable[[], Transaction[T]], timeout_s: float) -> T:
        async def run(connection: _Connection) -> T:
            await connection.execute(f"{_BEGIN_READING}; {self._set_timeouts}", timeout=self._timeout_s)
            result = await _run_steps(connection, steps, timeout_s)
            await connection.execute("COMMIT", timeout=self._timeout_s)
            return result

        return await self._with_retries(run)

    async def stream(self, sql: str) -> AsyncIterator[Row]:
        async with self.bulk() as connection:
            async for row in connection.cursor(sql, prefetch=20):  # a row may hold megabytes
                yield tuple(row)

    async def write(self, steps: Callable[[], Transaction[T]], lock_keys: Sequence[LockKey]) -> T:
        # Finishes even if the caller is cancelled.
        task = asyncio.create_task(self._write(steps, sorted({*lock_keys})))
        self._writes.add(task)
        task.add_done_callback(self._on_write_end)
        return await asyncio.shield(task)

    def _on_write_end(self, task: asyncio.Task[Any]) -> None:
        self._writes.discard(task)
        if not task.cancelled() and not task.exception():  # the caller handles exceptions
            self._note_write()

    async def size(self) -> int:
        [(size,)] = await self.query("SELECT pg_database_size(current_database())")
        return int(size)

    @asynccontextmanager
    async def bulk(self) -> AsyncIterator[_Connection]:
        """Yield a connection in a transaction, without retries or a time limit."""
        try:
            async with self._acquire() as connection, connection.transaction():
                await connection.execute(f"SET LOCAL lock_timeout = {self._lock_timeout_ms}")
                yield connection
        except _DRIVER_ERRORS as error:
            raise self._translate(error) from error

    def begin_shutdown(self) -> None:
        self._is_stopping = True
        until_s = asyncio.get_running_loop().time() + FAST_FAIL_TIMEOUT_S
        for deadline in self._deadlines:
            if not deadline.expired():
                deadline.reschedule(min(until_s, deadline.when() or until_s))

    async def close(self) -> None:
        if self._writes:
            await asyncio.wait(self._writes, timeout=FAST_FAIL_TIMEOUT_S if self._is_stopping else None)
        with suppress(*_DRIVER_ERRORS):  # the server may be unreachable
            async with asyncio.timeout(FAST_FAIL_TIMEOUT_S if self._is_stopping else CONNECT_TIMEOUT_S):
                await self._pool.close()

    async def _write(self, steps: Callable[[], Transaction[T]], lock_keys: Sequence[LockKey]) -> T:
        select_locks = [f"SELECT pg_advisory_xact_lock({_lock_number(each)})" for each in lock_keys]

        async def run(connection: _Connection) -> T:
            begin = "; ".join(("BEGIN", self._set_timeouts, *select_locks))
            await connection.execute(begin, timeout=self._timeout_s)
            timeout_s = LONG_TIMEOUT_S if MAINTENANCE_LOCK in lock_keys else self._full_timeout_s
            result = await _run_steps(connection, steps, self._shorten(timeout_s))
            try:
                await connection.execute("COMMIT", timeout=self._timeout_s)
            except (*_DRIVER_ERRORS, asyncio.CancelledError) as error:
                if isinstance(error, asyncio.CancelledError) or classify(error).kind is DatabaseUnreachable:
                    raise CommitUncertain from error
                raise
            return result

        until_s = time.monotonic() + self._full_timeout_s
        async with AsyncExitStack() as locks:
            for key in lock_keys:
                await locks.enter_async_context(self._locks.hold(key))
            return await self._with_retries(run, until_s)

    @property
    def _timeout_s(self) -> float:
        return self._shorten(self._full_timeout_s)

    def _shorten(self, seconds: float) -> float:
        must_be_fast = self._is_stopping or self._is_known_trouble(DatabaseUnreachable)
        return min(FAST_FAIL_TIMEOUT_S, seconds) if must_be_fast else seconds

    @asynccontextmanager
    async def _deadline(self) -> AsyncIterator[None]:
        """Limit the body's time once the shutdown has begun."""
        try:
            async with asyncio.timeout(FAST_FAIL_TIMEOUT_S if self._is_stopping else None) as deadline:
                self._deadlines.add(deadline)
                try:
                    yield
                finally:
                    self._deadlines.discard(deadline)
        except TimeoutError as error:
            raise self._translate(error) from error

    @asynccontextmanager
    async def _acquire(self) -> AsyncIterator[_Connection]:
        try:
            connection = await self._pool.acquire(timeout=2 * self._full_timeout_s)
        except TimeoutError:
            if self._pool.get_size() < MAX_CONNECTIONS:
                raise
            raise asyncpg.TooManyConnectionsError("all of the pool are in use") from None
        try:
            yield connection
        finally:
            with suppress(*_DRIVER_ERRORS):  # the body's own result or error counts
                await _reset(connection)  # at `release`, asyncpg logs an open transaction as an error
            with suppress(*_DRIVER_ERRORS):
                await self._pool.release(connection, timeout=FAST_FAIL_TIMEOUT_S)

    async def _with_retries(self, job: Callable[[_Connection], Awaitable[T]], until_s: float = 0.0) -> T:
        """Retry after conflicts, and while the server is unreachable unless that was known before."""
        until_s = until_s or time.monotonic() + self._full_timeout_s
        if self._is_known_trouble(DatabaseUnreachable):
            until_s = 0.0
        pause_s = 0.025
        async with self._deadline():
            while True:
                try:
                    async with self._acquire() as connection:
                        result = await job(connection)
                except _DRIVER_ERRORS as error:
                    is_conflict = isinstance(error, _CONFLICTS)
                    pause_s = random.uniform(0, 0.1) if is_conflict else min(2 * pause_s, _MAX_RETRY_PAUSE_S)  # noqa: S311
                    is_transient = is_conflict or classify(error).kind in _TRANSIENT
                    if not is_transient or time.monotonic() + pause_s > until_s:
                        raise self._translate(error) from error
                    await asyncio.sleep(pause_s)
                else:
                    self._note_success()
                    return result


async def _run_steps(connection: _Connection, steps: Callable[[], Transaction[T]], timeout_s: float) -> T:
    with closing(steps()) as transaction:
        try:
            statement = next(transaction)
            while True:
                rows = await _fetch(connection, statement.sql, statement.params, timeout_s)
                statement = transaction.send(rows)
        except StopIteration as end:
            result: T = end.value
            return result


async def _fetch(
    connection: _Connection, sql: str, params: Iterable[Any], timeout_s: float | None = None
) -> Sequence[Row]:
    rows: list[Any] = await connection.fetch(
        expand(sql, "postgresql"), *map(sanitize, params), timeout=timeout_s
    )
    return rows


async def _connect(urls: list[str], *_: Any, **options: Any) -> "asyncpg.Connection[Any]":
    """Connect to the first host that answers, and move its URL to the front of `urls`."""
    # asyncpg has one timeout for all hosts, which the first could use up.
    timeout_s = CONNECT_TIMEOUT_S if len(urls) == 1 else NEXT_HOST_TIMEOUT_S
    failure: BaseException = OSError()
    for url in [*urls]:
        try:
            connection: asyncpg.Connection[Any] = await asyncpg.connect(url, timeout=timeout_s, **options)
        except _UNREACHABLE_ERRORS as error:
            failure = error
        else:
            urls.sort(key=url.__ne__)
            return connection
    raise failure


@asynccontextmanager
async def connect_postgres(url: str, *, timeout_s: float = TIMEOUT_S) -> AsyncIterator[PostgresDatabase]:
    """Raises InvalidSetting, PostgresRefused, PostgresTooOld, PostgresNotUtf8, or another StorageError."""
    address = PostgresUrl.parse(url)
    pool = asyncpg.create_pool(
        address.urls[0],
        connect=partial(_connect, [*address.urls]),
        min_size=0,  # otherwise the pool logs errors while the server is unreachable
        max_size=MAX_CONNECTIONS,
        statement_cache_size=1000 if address.prepare else 0,
        reset=_reset,
        server_settings={"application_name": APPLICATION, "client_encoding": ENCODING},
    )
    try:
        try:
            await pool
            async with pool.acquire() as connection:
                version = connection.get_server_version().major
                encoding = str(getattr(connection.get_settings(), "server_encoding", ENCODING))
        except _INVALID_OPTIONS as error:
            raise InvalidSetting(name=URL_SETTING, expected=EXAMPLE) from error
        except _DRIVER_ERRORS as error:
            if reason := _find_refusal(error):
                raise PostgresRefused(
                    url=address.without_password, reason=reason, setting=URL_SETTING
                ) from error
            raise classify(error).kind() from error
        if version < OLDEST_VERSION:
            raise PostgresTooOld(found=version, needed=OLDEST_VERSION)
        if encoding != ENCODING:
            raise PostgresNotUtf8(url=address.without_password, found=encoding)
    except BaseException:
        pool.terminate()
        raise
    database = PostgresDatabase(pool, address.without_password, timeout_s)
    try:
        yield database
    finally:
        await database.close()


async def _reset(connection: "asyncpg.Connection[Any] | _Connection") -> None:
    if connection.is_in_transaction():
        await connection.execute("ROLLBACK", timeout=FAST_FAIL_TIMEOUT_S)


def _find_refusal(error: BaseException) -> Reason | None:
    if isinstance(error, asyncpg.ProtocolViolationError) and "authentication failed" in str(error):
        return "password"  # PgBouncer sends no error code for it
    return next((reason for kind, reason in _REFUSALS.items() if isinstance(error, kind)), None)
