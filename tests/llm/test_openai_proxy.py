"""HTTPS_PROXY applies to the model's server: the connection uses CONNECT."""

import asyncio
import os
import ssl
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from shutil import which
from subprocess import run

import pytest

HOST = "model.example"  # no name server knows it: only a proxy finds it
ANSWER = b'data: {"choices": [{"delta": {"content": "Yes."}, "finish_reason": "stop"}]}\n\n'
ASK = f"""
import asyncio
from cc_bot.llm.openai import OpenAIChatModel
from tests.llm.asking import hear

async def ask():
    model = OpenAIChatModel("m", base_url="https://{HOST}/v1", max_retries=0)
    print((await hear(model)).text, end="")
    await model.close()

asyncio.run(ask())
"""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def certificate(folder: Path) -> tuple[Path, Path]:
    """Return a new key for HOST and its certificate."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    options = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    name = ("-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}")
    command = ("openssl", "req", "-x509", *options, *name, "-keyout", key, "-out", cert)
    run(command, check=True, capture_output=True, timeout=30)
    return key, cert


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    await reader.readexactly(int(head.partition(b"content-length:")[2].split(maxsplit=1)[0]))
    writer.write(HEAD + ANSWER)
    await writer.drain()
    writer.close()


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


@pytest.mark.skipif(which("openssl") is None, reason="makes a certificate with openssl")
async def test_a_model_behind_a_proxy_is_asked_over_connect(tmp_path: Path) -> None:
    key, cert = certificate(tmp_path)
    tls, asked, over = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), list[bytes](), asyncio.Event()
    tls.load_cert_chain(cert, key)
    server = await asyncio.start_server(answer, "127.0.0.1", ssl=tls)
    port = server.sockets[0].getsockname()[1]

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")[0])
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(copy(reader, to_writer), copy(to_reader, writer), return_exceptions=True)
        over.set()

    proxy = await asyncio.start_server(connect, "127.0.0.1")
    proxy_url = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
    settings = {**os.environ, "HTTPS_PROXY": proxy_url, "SSL_CERT_FILE": str(cert)}
    async with server, proxy:  # certificates are read when the program is loaded
        child = await asyncio.create_subprocess_exec(sys.executable, "-c", ASK, env=settings, stdout=PIPE)
        assert (await child.communicate())[0] == b"Yes."
        await over.wait()
    assert asked == [f"CONNECT {HOST}:443 HTTP/1.1".encode()]
