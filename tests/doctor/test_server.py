"""What the doctor finds out about a database on a server."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import asyncpg
import pytest

from cc_bot.app.doctor import run_doctor
from cc_bot.config import read_config
from cc_bot.doctor.checkup import Finding
from cc_bot.doctor.server import check_server
from cc_bot.domain import Locale
from cc_bot.domain.process import Process
from cc_bot.storage import EVERYBODY, Statement, apply_pending, open_database
from cc_bot.stores import ProcessStore
from cc_bot.texts import texts
from tests.postgres_cluster import Server, folder, pair, running_server

pytestmark = pytest.mark.postgresql("a file has a check of its own")

EN = texts(Locale.EN)
OURS = "cc_bot"


async def laid_out(server: Server) -> str:
    """The URL of a database that is as it should be, for a role that may do no more than it needs."""
    await server.execute(f"CREATE ROLE {OURS} LOGIN", f"ALTER DATABASE cc_bot OWNER TO {OURS}")
    url = server.url.replace("postgres@", f"{OURS}@")
    async with open_database(url) as database:
        await apply_pending(database)
    return url


async def found(url: str) -> Mapping[str, Finding]:
    """The findings, by what each says."""
    return {finding.detail: finding for finding in await check_server(url, EN)}


def warned(findings: Mapping[str, Finding]) -> list[str]:
    return [detail for detail, finding in findings.items() if finding.verdict != "ok"]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with folder() as where, running_server(where) as started:
        yield started


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    return asyncio.run(laid_out(server))


class TestServer:
    async def test_that_is_well_is_told_with_its_version(self, url: str) -> None:
        findings = await found(url)
        assert warned(findings) == []
        assert re.search(r"PostgreSQL \d+\.\d", next(iter(findings)))
        assert findings.keys() == {next(iter(findings))}

    async def test_that_takes_no_changes_fails(self, server: Server, url: str) -> None:
        await server.execute(f"ALTER ROLE {OURS} SET default_transaction_read_only = on")
        try:
            [refused] = [each for each in (await found(url)).values() if each.verdict == "failed"]
        finally:
            await server.execute(f"ALTER ROLE {OURS} RESET default_transaction_read_only")
        assert "default_transaction_read_only" in refused.detail
        assert OURS in refused.mend

    async def test_whose_role_may_only_read_fails(self, server: Server, url: str) -> None:
        reader = url.replace(f"{OURS}@", "reader@")
        await server.execute(
            "CREATE ROLE reader LOGIN", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader"
        )
        told = [each for each in (await found(reader)).values() if each.verdict == "failed"]
        for each in told:
            assert "reader" in each.detail
            grant = re.search(r"GRANT .*? TO reader", each.mend)
            assert grant
            await server.execute(grant[0])
        assert "failed" not in {each.verdict for each in (await found(reader)).values()}
        assert len(told) == 2

    async def test_without_autovacuum_is_warned_of(self, server: Server, url: str) -> None:
        await server.change("autovacuum = off")
        try:
            assert warned(await found(url)) == [EN.doctor_server.autovacuum]
        finally:
            await server.change("autovacuum = on")

    async def test_that_gives_statements_little_time_is_warned_of(self, server: Server, url: str) -> None:
        await server.execute(f"ALTER ROLE {OURS} SET statement_timeout = '2s'")
        try:
            findings = await found(url)
        finally:
            await server.execute(f"ALTER ROLE {OURS} RESET statement_timeout")
        [short] = warned(findings)
        assert "2000 ms" in short
        assert f"ALTER ROLE {OURS} SET statement_timeout" in findings[short].mend

    async def test_with_many_deleted_rows_is_warned_of(self, server: Server, url: str) -> None:
        await server.change("autovacuum = off")
        rows = "SELECT each, 0 FROM generate_series(1, 20000) AS each"
        await server.execute(f"INSERT INTO erasing (user_id, since) {rows}", "DELETE FROM erasing", "ANALYZE")
        try:
            # With those of whatever was here before, and a moment later.
            told = re.escape(EN.doctor_server.dead.format(dead="#")).replace(r"\#", r"\d\d,\d{3}")
            async with asyncio.timeout(60):
                while not any(re.fullmatch(told, each) for each in warned(await found(url))):  # noqa: ASYNC110
                    await asyncio.sleep(0.2)
        finally:
            await server.execute("VACUUM")
            await server.change("autovacuum = on")

    async def test_with_hardly_a_connection_left_is_warned_of(self, server: Server, url: str) -> None:
        others = [await asyncpg.connect(server.url) for _ in range(55)]
        try:
            [crowded] = warned(await found(url))
        finally:
            await asyncio.gather(*(other.close() for other in others))
        assert "of the server's 60 connections" in crowded

    async def test_without_a_folder_for_what_stands_beside_it_fails(self, url: str, tmp_path: Path) -> None:
        settings = {
            "CC_BOT_DATABASE_URL": url,
            "CC_BOT_DATA_FOLDER": str(tmp_path / "mistyped"),
            "CC_BOT_EMBEDDING_MODEL": "off",
        }
        report = await run_doctor(read_config(settings, tmp_path / "no.env"), offline=True)
        failed = [each.detail for each in report.findings if each.verdict == "failed"]
        assert ["CC_BOT_DATA_FOLDER" in detail and "mistyped" in detail for detail in failed] == [True]

    async def test_that_nobody_answers_at_is_told_without_a_password(self, tmp_path: Path) -> None:
        findings = await found("postgresql://cc_bot:geheim@127.0.0.1:1/cc_bot")
        [failed] = findings.values()
        assert failed.verdict == "failed"
        assert "geheim" not in repr(failed)


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    with pair() as both:
        yield both


class TestStandby:
    async def test_is_told_of_as_far_as_its_role_may_see(self, servers: tuple[Server, Server]) -> None:
        first, second = servers
        url = await laid_out(first)
        [hidden] = [each for each in (await found(url)).values() if each.verdict == "warning"]
        assert hidden.detail == EN.doctor_server.hidden.format(count=1)
        grant = hidden.mend[hidden.mend.index("GRANT") :].rstrip(".")
        await first.execute(grant)
        assert [each for each in await found(url) if each.startswith("The standby standby follows")]
        await second.execute("SELECT pg_wal_replay_pause()")
        await first.execute("SELECT pg_logical_emit_message(false, 'x', repeat('x', 70000000))")
        [behind] = warned(await found(url))
        assert re.search(r"The standby standby is far behind \(7\d MB", behind)

    async def test_in_place_of_the_server_fails(self, servers: tuple[Server, Server]) -> None:
        first, second = servers
        await laid_out(first)
        findings = await found(second.url.replace("postgres@", f"{OURS}@"))
        assert [each.detail for each in findings.values() if each.verdict == "failed"] == [
            EN.doctor_server.standby
        ]


class TestProcesses:
    async def test_are_told_of_with_what_nobody_holds_and_what_differs(self, url: str) -> None:
        async with open_database(url) as database:
            store = ProcessStore(database)
            for name, shards, agents in (("one", (0, 1), "a"), ("two", (2,), "b")):
                assert not await store.join(Process(name, f"{name}.example", "1.0", shards, 5, agents))
            assert not await store.join(Process("off", "off.example", "1.0", (3,), 5, "a"))
            await store.take("reminders", "one")
            sql = "UPDATE processes SET started_at = started_at - 70000 WHERE name = 'off'"
            await database.transaction([Statement(sql)], [EVERYBODY])
            try:
                findings = await found(url)
            finally:
                await store.remove(["one", "two", "off"])
        assert "A process on one.example holds shards: 0-1/5. It does for all: reminders." in findings
        assert "A process on two.example holds shards: 2/5. It does for all: nothing." in findings
        assert warned(findings) == [
            "The process on off.example (shards: 3/5) has not been connected to Discord for a minute.",
            "No process holds shards 4: in their servers the bot does not answer.",
            "The processes do not all have the same agents.toml.",
        ]
