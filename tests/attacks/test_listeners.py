import asyncio
import itertools
import re
import resource
import zlib
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from typing import Final

import pytest
import pytest_asyncio

from cc_bot.features.canvas.web import MAX_OPEN_PAGES
from cc_bot.listener import MAX_STREAM_BYTES, STREAM_BYTES_PER_S
from cc_bot.web.server import MAX_ANONYMOUS_FORM_BYTES, MAX_FORMS_PER_SENDER
from tests.attacks.bystander import at_once, bystander
from tests.end_to_end.stage import Stage, set_stage
from tests.loopback.discord import Channel, LoopbackDiscord, User
from tests.web.pages import free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")

OPEN_FILES: Final = 256
"""The program's own limit here, so that an attack need not open thousands."""
FORM: Final = "application/x-www-form-urlencoded"
Body = tuple[str, bytes]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def attacked(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    settings = {"CC_BOT_WEB_PORT": str(free_port()), "CC_BOT_METRICS_PORT": str(free_port())}
    folder = tmp_path_factory.mktemp("listeners")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with set_stage(folder, settings, LoopbackDiscord(patience_s=60.0)) as stage:
        stage.program.from_nothing = True  # it takes over this process's limits
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, limits[1]))
        try:
            await stage.start()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        yield stage


def port_of(stage: Stage, listener: str) -> int:
    return int(stage.program.environment[f"CC_BOT_{listener}_PORT"])


def request(port: int, line: str, body: bytes = b"", **headers: str) -> bytes:
    """A request as a page of ours would send it."""
    sent = {
        "Host": f"127.0.0.1:{port}",
        "Origin": f"http://127.0.0.1:{port}",
        "Sec-Fetch-Site": "same-origin",
        **({"Content-Length": str(len(body))} if body else {}),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    return f"{line} HTTP/1.1\r\n{head}\r\n".encode() + body


async def exchange(port: int, sent: bytes, wait_s: float = 15) -> bytes:
    """Send it over a connection of its own. Returns what comes back until the connection ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    received = b""
    with suppress(ConnectionError, TimeoutError):
        async with asyncio.timeout(wait_s):
            writer.write(sent)
            await writer.drain()
            while piece := await reader.read(65536):
                received += piece
    writer.close()
    return received


def part(headers: str, content: bytes) -> bytes:
    return f"--x\r\n{headers}\r\n\r\n".encode() + content + b"\r\n"


MULTIPART: Final = "multipart/form-data; boundary=x"
FIELD: Final = 'Content-Disposition: form-data; name="code"'
BODIES: Final[dict[str, Body]] = {
    "punycode in escapes": (f"{FORM}; charset=punycode", b"code=1&" * 500 + b"%61" * 260_000),
    "idna": (f"{FORM}; charset=idna", b"a." * 400_000),
    "punycode in a part": (
        MULTIPART,
        part(f"{FIELD}\r\nContent-Type: text/plain; charset=punycode", b"a" * 800_000) + b"--x--\r\n",
    ),
    "quoted-printable in a part": (
        MULTIPART,
        part(f"{FIELD}\r\nContent-Transfer-Encoding: quoted-printable", b"=61" * 260_000) + b"--x--\r\n",
    ),
    "sixteen thousand parts": (MULTIPART, part(FIELD, b"") * 16_000 + b"--x--\r\n"),
    "a file name in punycode": (
        MULTIPART,
        part(FIELD + "; filename*=punycode''" + "a" * 7_000, b"a") * 120 + b"--x--\r\n",
    ),
}


def packed(encoding: str) -> bytes:
    """A megabyte or less that unfolds to gigabytes."""
    if encoding == "zstd":  # RFC 8878: a frame of blocks, each a byte that is repeated 128 KiB long
        repeated = (2**17 << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
        return b"\x28\xb5\x2f\xfd\x00\x38" + repeated * 250_000
    zeros = bytes(2**20)
    deflate = zlib.compressobj(9, wbits=31 if encoding == "gzip" else 15)
    return b"".join(deflate.compress(zeros) for _ in range(2**10)) + deflate.flush()


class TestABody:
    @pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
    async def test_of_a_stranger_holds_up_nobody(self, stage: Stage, body: Body) -> None:
        port = port_of(stage, "WEB")
        sent = request(port, "POST /sign-in", body[1], Content_Type=body[0], Connection="close")
        async with bystander(stage):
            await at_once(lambda: exchange(port, sent), 8)

    @pytest.mark.parametrize("encoding", ["zstd", "gzip", "deflate"])
    async def test_that_is_packed_is_not_unpacked(self, stage: Stage, encoding: str) -> None:
        body = packed(encoding)
        async with bystander(stage):
            for line in ("GET /static/style.css", "POST /sign-in"):
                port = port_of(stage, "WEB")
                sent = request(port, line, body, Content_Type=FORM, Content_Encoding=encoding)
                await at_once(partial(exchange, port, sent), 2)

    async def test_that_never_ends_holds_up_nobody_and_is_one_of_few_of_its_address(
        self, stage: Stage
    ) -> None:
        """A thousand that all broke off in one moment would hold up everybody for a second."""
        port, begun = port_of(stage, "WEB"), b"a" * (MAX_ANONYMOUS_FORM_BYTES - 1)
        sent = request(port, "POST /sign-in", Content_Type=FORM, Content_Length="4096") + begun
        async with bystander(stage):
            held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3 * MAX_FORMS_PER_SENDER)]
            for _, writer in held:
                writer.write(sent)
            reading = [asyncio.ensure_future(reader.readline()) for reader, _ in held]
            refused = itertools.islice(asyncio.as_completed(reading), 2 * MAX_FORMS_PER_SENDER)
            answered = [await each for each in refused]
            waiting = sum(not each.done() for each in reading)
            for _, writer in held:
                writer.close()
            await asyncio.gather(*reading, return_exceptions=True)
        assert {line.split()[1] for line in answered} == {b"429"}
        assert waiting == MAX_FORMS_PER_SENDER


CHUNKS: Final = b"1\r\na\r\n" * 150_000
BAD_COOKIE: Final = "a b=c;" * 1320
REQUESTS: Final[dict[str, tuple[str, dict[str, str], bytes]]] = {
    "one-byte chunks": ("POST /sign-in", {"Transfer_Encoding": "chunked"}, CHUNKS),
    "chunks and a cookie": ("POST /", {"Transfer_Encoding": "chunked", "Cookie": BAD_COOKIE}, CHUNKS),
    "a malformed cookie": ("GET /", {"Cookie": BAD_COOKIE, "Connection": "close"}, b""),
    "a long type": ("POST /sign-in", {"Content_Type": ";" * 8000, "Connection": "close"}, b""),
    "many languages": ("GET /", {"Accept_Language": "," * 8000, "Connection": "close"}, b""),
    "pipelined requests": ("GET /", {}, b"GET / HTTP/1.1\r\n\r\n" * 56_000),
}


class TestARequest:
    @pytest.mark.parametrize(("line", "headers", "more"), REQUESTS.values(), ids=REQUESTS)
    async def test_of_a_stranger_holds_up_nobody(
        self, stage: Stage, line: str, headers: dict[str, str], more: bytes
    ) -> None:
        port = port_of(stage, "WEB")
        sent = request(port, line, b"", **headers) + more
        async with bystander(stage):
            for _ in range(5):
                await at_once(lambda: exchange(port, sent), 100)


async def second_request_trickles(port: int, whole: bytes) -> None:
    """Send a whole request, then a byte of the next one at a time, until the connection ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(whole)
    await reader.readuntil(b"\r\n\r\n")
    ending = asyncio.create_task(reader.read())
    with suppress(ConnectionError):
        writer.write(b"GET / HTTP/1.1\r\nX: ")
        while not ending.done():
            writer.write(b"x")
            await writer.drain()
            await asyncio.wait([ending], timeout=0.2)
    await asyncio.gather(ending, return_exceptions=True)
    writer.close()


class TestConnections:
    async def test_whose_second_request_trickles_are_closed(self, stage: Stage) -> None:
        port = port_of(stage, "WEB")
        whole = request(port, "GET /static/style.css")
        async with bystander(stage), asyncio.timeout(60):
            await at_once(lambda: second_request_trickles(port, whole), 20)

    async def test_leave_files_for_everything_else(self, stage: Stage) -> None:
        """And room for a monitor, not only once they have been closed."""
        monitor, held = port_of(stage, "METRICS"), []
        async with bystander(stage):
            for _ in range(2 * OPEN_FILES):
                _, writer = await asyncio.open_connection("127.0.0.1", port_of(stage, "WEB"))
                writer.write(b"GET /healthz HTTP/1.1\r\nX: ")
                held.append(writer)
            async with asyncio.timeout(5):
                answer = await exchange(monitor, request(monitor, "GET /healthz", Connection="close"))
        for writer in held:
            writer.close()
        assert b" 200 " in answer.partition(b"\r\n")[0]


async def link_of(stage: Stage, user: User, channel: Channel) -> str:
    reply = await stage.discord.slash(user, channel, "web")
    await reply.finished()
    [link] = [each.url for each in reply.message.buttons if each.url]
    return link


class TestALink:
    async def test_that_is_good_signs_in_beside_made_up_ones(self, stage: Stage, channel: Channel) -> None:
        port = port_of(stage, "WEB")
        made_up = request(port, "GET /sign-in?code=" + "a" * 43, Connection="close")
        link = await link_of(stage, stage.discord.user("Ben"), channel)
        async with bystander(stage):
            for _ in range(10):
                await at_once(lambda: exchange(port, made_up), 20)
        answer = await exchange(port, request(port, f"GET /{link.split('/', 3)[3]}", Connection="close"))
        assert b" 200 " in answer.partition(b"\r\n")[0]


async def sign_in(stage: Stage, channel: Channel) -> str:
    """Sign a member in. Returns their cookie."""
    port, aiko = port_of(stage, "WEB"), stage.discord.user("Aiko", locale="ja")
    code = (await link_of(stage, aiko, channel)).partition("code=")[2]
    signed_in = await exchange(
        port, request(port, "POST /sign-in", f"code={code}".encode(), Content_Type=FORM, Connection="close")
    )
    cookie = re.search(rb"Set-Cookie: ([^;]+)", signed_in)
    assert cookie is not None
    return cookie[1].decode()


async def stream(port: int, handshake: bytes, frames: list[bytes]) -> None:
    """Open a WebSocket and send these, half a second apart, until the listener ends it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with suppress(ConnectionError, TimeoutError):
        writer.write(handshake)
        assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
        reading = asyncio.create_task(reader.read())
        for each in frames:
            writer.write(each)
            await writer.drain()
            await asyncio.wait([reading], timeout=0.5)
        reading.cancel()
    writer.close()


class TestAMember:
    @pytest.mark.parametrize(
        "body",
        [
            (FORM, b"content=" + b"%" * 1_000_000),
            (FORM, b"a&" * 900 + b"content=" + b"%E3%81%82" * 14_000),
            (MULTIPART, part(FIELD, "あ".encode() * 340_000) + b"--x--\r\n"),
        ],
        ids=["per cent signs", "many fields", "a long part"],
    )
    async def test_holds_up_nobody(self, stage: Stage, channel: Channel, body: Body) -> None:
        port, cookie = port_of(stage, "WEB"), await sign_in(stage, channel)
        sent = request(
            port, "POST /memories/new", body[1], Content_Type=body[0], Cookie=cookie, Connection="close"
        )
        async with bystander(stage):
            for _ in range(5):
                await at_once(lambda: exchange(port, sent), 20)

    @pytest.mark.parametrize(
        "frame",
        [b"\x89\x80\0\0\0\0", b"\x01\x80\0\0\0\0", b"\x81\x82\0\0\0\0{}"],
        ids=["pings", "pieces", "messages"],
    )
    @pytest.mark.parametrize("within", [False, True], ids=["a flood", "all that is let through"])
    async def test_with_open_canvases_holds_up_nobody(
        self, stage: Stage, channel: Channel, frame: bytes, within: bool
    ) -> None:
        port, cookie = port_of(stage, "WEB"), await sign_in(stage, channel)
        handshake = request(
            port,
            f"GET /canvas/{channel.id}/socket",
            Cookie=cookie,
            Upgrade="websocket",
            Connection="Upgrade",
            Sec_WebSocket_Version="13",
            Sec_WebSocket_Key="A" * 22 + "==",
        )
        first = frame * (MAX_STREAM_BYTES // len(frame))
        more = frame * (STREAM_BYTES_PER_S // 2 // len(frame) - 10)
        frames = [first, *[more] * 10] if within else [first * 40] * 40
        async with bystander(stage):
            await at_once(lambda: stream(port, handshake, frames), MAX_OPEN_PAGES)
