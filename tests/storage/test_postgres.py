"""PostgreSQL as the stores' engine: what it is asked, what it looks like, and what comes of trouble."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.db import Database, Row, Statement, Transaction, apply_pending, open_database
from cc_bot.db.database import expand, user_lock
from cc_bot.db.postgres import MAX_CONNECTIONS, PostgresDatabase, PostgresUrl, connect_postgres
from cc_bot.domain.errors import (
    CcBotError,
    ConversationGone,
    DatabaseCrowded,
    DatabaseImpatient,
    DatabaseLocked,
    DatabaseReadOnly,
    DatabaseUnreachable,
    InvalidSetting,
    PostgresNotUtf8,
    PostgresRefused,
)
from cc_bot.domain.session import SessionKey
from tests.postgres_cluster import Server, folder, running_server
from tests.stores.backends import Recorder, turn
from tests.stores.everything import do_everything

pytestmark = pytest.mark.postgresql("its own engine")

ME = 123456789012345678
KEY = SessionKey(ME, 2)
RESULTS = frozenset({"int4", "int8", "text", "bytea", "float8"})
"""The types of results that SQLite has as well: no true and false, no decimals."""


@pytest.fixture
async def database(url: str) -> AsyncIterator[PostgresDatabase]:
    async with open_database(url) as opened:
        assert isinstance(opened, PostgresDatabase)
        yield opened


@pytest.fixture
async def stores(url: str, tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(url, data_folder=tmp_path, embedder=None) as opened:
        yield opened


def other_database(url: str, name: str) -> str:
    return re.sub(r"/\w+\?", f"/{name}?", url)


class TestEveryStatement:
    async def test_is_understood_and_has_results_as_sqlite_has_them(self, database: PostgresDatabase) -> None:
        recorder = Recorder(database)
        await do_everything(recorder)
        asked = {expand(statement.sql, "postgresql") for statement in recorder.statements}
        assert len(asked) > 250
        odd = {}
        async with database._pool.acquire() as connection:
            for sql in asked:
                prepared = await connection.prepare(sql)
                types = {each.type.name for each in prepared.get_attributes()} - RESULTS
                if types:
                    odd[sql] = types
        assert odd == {}


class TestTheSchema:
    async def test_compares_texts_byte_by_byte(self, database: Database) -> None:
        rows = await database.query(
            "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'public'"
            " AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'"
            " AND table_name <> 'session_history'"
        )
        assert rows[0][0] == 0


class TestUrl:
    def test_is_shown_without_a_password_and_handed_on_without_what_is_ours(self) -> None:
        read = PostgresUrl.parse(
            "postgresql://cc:p%40w@a:1,b:2/cc?prepare=off&target_session_attrs=read-write"
        )
        assert (read.without_password, read.prepare) == ("postgresql://cc@a:1,b:2/cc", False)
        assert "p%40w" not in repr(read)
        rest = "cc?target_session_attrs=read-write"
        assert read.urls == (f"postgresql://cc:p%40w@a:1/{rest}", f"postgresql://cc:p%40w@b:2/{rest}")
        assert PostgresUrl.parse("postgres://db:5433/cc_bot").prepare

    def test_that_is_none_is_refused_and_not_repeated(self) -> None:
        for url in (
            *("mysql://db/cc", "postgresql://db/cc?prepare=maybe", "postgresql://db:x]/cc?a", ""),
            *(f"postgresql://cc_bot:geheim{each}rest@db/cc" for each in "/#?["),
            *(f"postgresql://cc_bot@db:{port}/cc" for port in ("port", "99999", "0")),
        ):
            with pytest.raises(InvalidSetting) as refused:
                PostgresUrl.parse(url)
            assert refused.value.params["name"] == "CC_BOT_DATABASE_URL"
            assert "geheim" not in str(refused.value)

    async def test_with_anything_wrong_tells_what_that_is(self, url: str) -> None:
        with pytest.raises(PostgresRefused) as refused:
            async with open_database(other_database(url, "nowhere")):
                pass
        assert refused.value.params["reason"] == "database"
        refusals: tuple[tuple[str, type[CcBotError]], ...] = (
            (url.replace("postgres:@", "nobody:@"), PostgresRefused),
            ("postgresql://postgres@127.0.0.1:1/cc_bot", DatabaseUnreachable),
            *((f"{url}&{option}", InvalidSetting) for option in ("foo=x", "work_mem=lots", "block_size=1")),
        )
        for wrong, refusal in refusals:
            with pytest.raises(refusal):
                async with open_database(wrong):
                    pass
        with capture_logs() as logs, pytest.raises(DatabaseReadOnly):
            async with open_database(f"{url}&default_transaction_read_only=on") as opened:
                await apply_pending(opened)
        assert "default_transaction_read_only" in logs[0]["mended_by"]

    async def test_of_a_database_that_holds_no_japanese_is_refused(
        self, url: str, database: PostgresDatabase
    ) -> None:
        async with database._pool.acquire() as connection:
            await connection.execute(
                "CREATE DATABASE western TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'"
            )
            try:
                with pytest.raises(PostgresNotUtf8) as refused:
                    async with open_database(other_database(url, "western")):
                        pass
            finally:
                await connection.execute("DROP DATABASE western WITH (FORCE)")
        assert refused.value.params["found"] == "LATIN1"


async def end_connections(database: PostgresDatabase) -> None:
    """As a server does that restarts: all but the one that asks."""
    async with database._pool.acquire() as connection:
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


class TestALostConnection:
    async def test_is_made_anew_for_reads_and_writes(
        self, stores: Stores, database: PostgresDatabase
    ) -> None:
        session = await stores.sessions.open(KEY)
        for text in ("一", "二", "三"):
            await end_connections(database)
            session = await stores.sessions.commit_turn(session, turn(text))
            await end_connections(database)
            session = await stores.sessions.open(KEY)
        assert [each.content for each in session.history if each.role == "user"] == ["一", "二", "三"]

    async def test_in_the_middle_of_a_change_has_it_begun_anew(
        self, url: str, database: PostgresDatabase
    ) -> None:
        lost = list[bool]()

        def steps() -> Transaction[int]:
            yield Statement("INSERT INTO erasing (user_id, since) VALUES ($1, 1)", (ME,))
            if not lost:
                lost.append(True)
                yield Statement("SELECT pg_terminate_backend(pg_backend_pid())")
            rows = yield Statement("SELECT count(*) FROM erasing")
            return int(rows[0][0])

        assert await database.write(steps, (user_lock(ME),)) == 1


@pytest.fixture
def server() -> Iterator[Server]:
    with folder() as where, running_server(where) as started:
        yield started


class TestAServerThatIsHalted:
    """It acknowledges what it is sent, and never answers."""

    async def test_is_told_to_whoever_reads_and_writes_and_over_as_soon_as_it_goes_on(
        self, server: Server
    ) -> None:
        async with connect_postgres(server.url, timeout_s=0.2) as database:
            await asyncio.gather(*(database.write(_one, (user_lock(each),)) for each in range(4)))
            asked = (
                database.query("SELECT 1"),
                database.read(_one),
                database.write(_one, (user_lock(1),)),
                database.write(_one, (user_lock(1),)),
            )
            with server.halted():
                errors = await asyncio.gather(*asked, return_exceptions=True)
            assert [*map(type, errors)] == [DatabaseUnreachable] * len(asked)
            assert [tuple(row) for row in await database.query("SELECT 1")] == [(1,)]
            assert [tuple(row) for row in await database.write(_one, (user_lock(1),))] == [(1,)]


class TestThePool:
    async def test_that_is_in_use_for_long_is_told_as_crowded(self, url: str) -> None:
        async with connect_postgres(url, timeout_s=0.2) as database, AsyncExitStack() as held:
            for _ in range(MAX_CONNECTIONS):
                await held.enter_async_context(database.bulk())
            with pytest.raises(DatabaseCrowded):
                await database.query("SELECT 1")
            await held.aclose()
            assert [tuple(row) for row in await database.query("SELECT 1")] == [(1,)]


class TestAStatement:
    async def test_ends_soon_once_the_program_is_to_end(self, database: PostgresDatabase) -> None:
        asking = asyncio.create_task(database.query("SELECT 1 FROM pg_sleep(60)"))
        await asyncio.sleep(0)
        database.begin_shutdown()
        with pytest.raises(DatabaseUnreachable):
            await asyncio.wait_for(asking, 5)  # else it would go on for twice as long

    async def test_that_is_given_up_leaves_nothing_open(self, url: str, database: PostgresDatabase) -> None:
        def reading() -> Transaction[None]:
            yield Statement("SELECT pg_sleep(60)")

        async with connect_postgres(url) as other:
            for _ in range(MAX_CONNECTIONS + 1):
                asking = asyncio.create_task(other.read(reading))
                await asyncio.sleep(0.05)
                asking.cancel()
                await asyncio.wait((asking,))
            assert [tuple(row) for row in await other.write(_one, (user_lock(ME),))] == [(1,)]
            open_ = (
                "SELECT state FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'"
            )
            async with asyncio.timeout(60):
                while len(await database.query(open_)) != 1:  # noqa: ASYNC110 - the one that asks
                    await asyncio.sleep(0.02)  # the server takes a moment to end the last one

    async def test_that_a_setting_of_the_server_ends_is_told_with_that_setting(
        self, database: PostgresDatabase
    ) -> None:
        def steps() -> Transaction[None]:
            yield Statement("SET LOCAL statement_timeout = 50")
            yield Statement("SELECT pg_sleep(60)")

        with capture_logs() as logs, pytest.raises(DatabaseImpatient):
            await database.write(steps, (user_lock(ME),))
        [trouble] = [log for log in logs if log["event"] == "database_trouble"]
        assert "raise statement_timeout " in trouble["mended_by"]
        assert [tuple(row) for row in await database.write(_one, (user_lock(ME),))] == [(1,)]


class TestATransaction:
    async def test_that_stands_in_anothers_way_is_run_anew(
        self, url: str, database: PostgresDatabase
    ) -> None:
        """Two that lock the same rows in another order, of different subjects."""
        await database.transaction(
            [Statement("INSERT INTO erasing (user_id, since) VALUES (1, 0), (2, 0)")], ()
        )

        def moving(first: int, second: int) -> Transaction[None]:
            add = "UPDATE erasing SET since = since + 1 WHERE user_id = $1"
            yield Statement(add, (first,))
            yield Statement("SELECT 1 FROM pg_sleep(0.2)")
            yield Statement(add, (second,))

        await asyncio.gather(
            database.write(lambda: moving(1, 2), (user_lock(1),)),
            database.write(lambda: moving(2, 1), (user_lock(2),)),
        )
        rows = await database.query("SELECT since FROM erasing ORDER BY user_id")
        assert [since for (since,) in rows] == [2, 2]

    async def test_that_waits_for_what_somebody_else_keeps_is_told_and_over_with_that(
        self, url: str, database: PostgresDatabase
    ) -> None:
        note = Statement("INSERT INTO erasing (user_id, since) VALUES ($1, 1)", (ME,))
        async with connect_postgres(url, timeout_s=0.2) as hasty:
            async with database._pool.acquire() as connection, connection.transaction():
                await connection.execute("LOCK TABLE erasing IN ACCESS EXCLUSIVE MODE")
                with capture_logs() as logs:
                    for _ in range(2):
                        with pytest.raises(DatabaseLocked):
                            await hasty.transaction([note], (user_lock(ME),))
                for _ in range(MAX_CONNECTIONS + 1):  # more than there are connections
                    with pytest.raises(DatabaseLocked):
                        await hasty.query("SELECT user_id FROM erasing")
                waiting = "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
                assert await database.query(f"{waiting} AND wait_event_type = 'Lock'") == []
            await hasty.transaction([note], (user_lock(ME),))
            assert len(await hasty.query("SELECT user_id FROM erasing")) == 1
        assert [log["error"] for log in logs if log["event"] == "database_trouble"] == ["DatabaseLocked"]

    async def test_that_is_refused_is_rolled_back_without_a_record(self, database: PostgresDatabase) -> None:
        records = list[object]()
        asyncio.get_running_loop().set_exception_handler(lambda _, context: records.append(context))

        def steps() -> Transaction[None]:
            yield Statement("CREATE TABLE refused (n BIGINT)")
            raise ConversationGone

        with pytest.raises(ConversationGone):
            await database.write(steps, [])
        assert records == []
        assert (await database.query("SELECT to_regclass('refused')"))[0][0] is None

    async def test_that_is_handed_over_runs_to_its_end(self, database: PostgresDatabase) -> None:
        def steps() -> Transaction[None]:
            yield Statement("SELECT 1 FROM pg_sleep(0.2)")
            yield Statement("INSERT INTO erasing (user_id, since) VALUES ($1, 1)", (ME,))

        writing = asyncio.create_task(database.write(steps, (user_lock(ME),)))
        await asyncio.sleep(0.05)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        await database.write(_one, (user_lock(ME),))  # which comes after it
        assert len(await database.query("SELECT user_id FROM erasing")) == 1

    async def test_sees_one_state_where_it_only_reads(self, url: str, database: PostgresDatabase) -> None:
        looked = asyncio.Event()

        def reading() -> Transaction[list[int]]:
            counts = []
            for _ in range(2):
                counts.append(len((yield Statement("SELECT user_id FROM erasing"))))
                looked.set()
                yield Statement("SELECT 1 FROM pg_sleep(0.3)")
            return counts

        async with open_database(url) as other:
            task = asyncio.create_task(database.read(reading))
            await looked.wait()
            await other.transaction([Statement("INSERT INTO erasing (user_id, since) VALUES (1, 0)")], ())
            assert await task == [0, 0]


def _one() -> Transaction[Sequence[Row]]:
    return (yield Statement("SELECT 1"))
