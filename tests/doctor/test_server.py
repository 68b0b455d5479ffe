import asyncio
import re
import tempfile
from collections.abc import Iterator, Mapping

import pytest

from cc_bot.chat.checks import Finding
from cc_bot.config import read_config
from cc_bot.db import apply_pending, open_database
from cc_bot.domain.text import Locale
from cc_bot.features.doctor.database import check_database_server
from cc_bot.texts import texts
from tests.postgres_cluster import Server, folder, running_server

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
    config = read_config({"CC_BOT_DATABASE_URL": url, "CC_BOT_DATA_FOLDER": tempfile.gettempdir()})
    return {finding.detail: finding for finding in await check_database_server(config, EN)}


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

    async def test_whose_role_may_only_read_fails(self, server: Server, url: str) -> None:
        reader = url.replace(f"{OURS}@", "reader@")
        await server.execute(
            "CREATE ROLE reader LOGIN", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader"
        )
        [failed] = [each for each in (await found(reader)).values() if each.verdict == "failed"]
        assert "GRANT ALL ON ALL TABLES IN SCHEMA public" in failed.detail
        await server.execute("GRANT ALL ON SCHEMA public TO reader")
        assert "failed" in {each.verdict for each in (await found(reader)).values()}
        await server.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO reader")
        assert "failed" not in {each.verdict for each in (await found(reader)).values()}

    async def test_that_nobody_answers_at_is_told_without_a_password(self) -> None:
        findings = await found("postgresql://cc_bot:geheim@127.0.0.1:1/cc_bot")
        [failed] = findings.values()
        assert failed.verdict == "failed"
        assert "geheim" not in repr(failed)
