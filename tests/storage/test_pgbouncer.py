"""The recipe of deploy/ for PgBouncer: its own configuration and command, before a server with passwords."""

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
import yaml

from cc_bot.chat.stores.opening import open_stores
from cc_bot.db import open_database
from cc_bot.domain.errors import PostgresRefused
from cc_bot.domain.session import SessionKey
from tests.postgres_cluster import (
    HOST,
    POOLER,
    PREPARES_SINCE,
    Server,
    folder,
    free_port,
    hand_over,
    pooler_version,
    privileges,
    require_pooler,
    running_server,
    wait_for,
)
from tests.stores.backends import turn

pytestmark = pytest.mark.postgresql("no file is pooled")

DEPLOY: Final = Path(__file__).parents[2] / "deploy"
PASSWORD: Final = "geheim0123"
KEY: Final = SessionKey(123456789012345678, 2)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """One that asks our role for a password."""
    with folder() as where, running_server(where) as started:
        await started.execute(
            f"CREATE ROLE cc_bot LOGIN PASSWORD '{PASSWORD}'", "ALTER DATABASE cc_bot OWNER TO cc_bot"
        )
        rules = started.data / "pg_hba.conf"
        rules.write_text("host all cc_bot 127.0.0.1/32 scram-sha-256\n" + rules.read_text())
        await started.change("log_min_messages = warning")  # which reads the rules anew as well
        yield started


@contextmanager
def as_deployed(server: Server) -> Iterator[str]:
    """The URL through PgBouncer, which compose.postgresql.yaml starts; without user and password."""
    require_pooler()
    assert POOLER
    port = free_port()
    service = yaml.safe_load((DEPLOY / "compose.postgresql.yaml").read_text("utf-8"))["services"]["pgbouncer"]
    [shell, option, script] = service["command"]
    with folder() as own, (own / "log").open("wb") as log:
        settings = (DEPLOY / "pgbouncer.ini").read_text("utf-8")
        for there, here in (
            ("host=db port=5432", f"host={HOST} port={server.port}"),
            ("listen_addr = *", f"listen_addr = {HOST}"),
            ("listen_port = 6432", f"listen_port = {port}"),
            ("/tmp/userlist.txt", f"{own}/userlist.txt"),
        ):
            assert there in settings
            settings = settings.replace(there, here)
        prepares = pooler_version() >= PREPARES_SINCE
        if not prepares:
            settings = settings.replace("max_prepared_statements = 200", "")
        (own / "pgbouncer.ini").write_text(settings)
        hand_over(own / "pgbouncer.ini")
        script = script.replace("$$", "$").replace("/tmp/userlist.txt", f"{own}/userlist.txt")
        script = script.replace("pgbouncer /etc/pgbouncer.ini", f"{POOLER} {own}/pgbouncer.ini")
        process = subprocess.Popen(
            [shell, option, script],
            env={"PATH": os.environ["PATH"], "POSTGRES_PASSWORD": PASSWORD},
            cwd=own,
            stdout=log,
            stderr=log,
            **privileges(),
        )
        try:
            wait_for(port)
            yield f"{HOST}:{port}/cc_bot{'' if prepares else '?prepare=off'}"
        finally:
            process.kill()
            process.wait()
        assert PASSWORD not in (own / "log").read_text()
        assert (own / "userlist.txt").stat().st_mode & 0o077 == 0


async def test_hands_on_what_the_bot_asks_and_stores(server: Server, tmp_path: Path) -> None:
    with as_deployed(server) as location:
        url = f"postgresql://cc_bot:{PASSWORD}@{location}"
        async with open_stores(url, data_folder=tmp_path, embedder=None) as stores:
            session = await stores.sessions.open(KEY)
            await stores.sessions.commit_turn(session, turn("水曜は在宅"))
            assert (await stores.sessions.open(KEY)).history[0].content == "水曜は在宅"
        with pytest.raises(PostgresRefused) as refused:
            async with open_database(f"postgresql://cc_bot:falsch@{location}"):
                pass
    assert "falsch" not in repr(refused.value.params)
