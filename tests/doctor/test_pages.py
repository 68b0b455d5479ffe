"""The doctor's look at the pages: the port and the address."""

import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

import pytest
from aiohttp import web

from cc_bot.config import Config, read_config
from cc_bot.domain.text import Locale
from cc_bot.features.doctor.services import check_pages
from cc_bot.texts import texts

WORDS = texts(Locale.JA)
OURS = (files("cc_bot.web") / "static" / "live.js").read_bytes()


@asynccontextmanager
async def served(content: bytes, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=content)

    app = web.Application()
    app.router.add_get("/static/live.js", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    try:
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


def served_at(port: int, url: str = "") -> Config:
    return read_config({"CC_BOT_WEB_PORT": str(port), "CC_BOT_WEB_URL": url})


def certificate(folder: Path, name: str = "IP:127.0.0.1") -> Path:
    """Make one for this machine; key and certificate in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate, and is not here")
    file = folder / "both.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1"),
            *("-addext", f"subjectAltName={name}", "-days", "90"),
            *("-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")),
        ],
        check=True,
        capture_output=True,
    )
    file.write_bytes((folder / "key.pem").read_bytes() + (folder / "cert.pem").read_bytes())
    return file


async def test_the_port_is_free_or_the_bots_own_or_another_programs() -> None:
    [off] = await check_pages(read_config({}), WORDS, offline=False)
    assert off.verdict == "off"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = [*await check_pages(served_at(port), WORDS, offline=False)]
    for content in (OURS, b"<html>"):
        async with served(content) as port:
            found += await check_pages(served_at(port), WORDS, offline=False)
    assert [each.verdict for each in found] == ["ok", "ok", "failed"]
    assert ["空いています" in found[0].detail, "動いています" in found[1].detail] == [True, True]


async def test_the_address_leads_here_by_a_certificate_that_somebody_vouches_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for trusted in (False, True):
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate(tmp_path))
        if trusted:
            monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        async with served(OURS) as port, served(OURS, context) as encrypted:
            own, address = await check_pages(
                served_at(port, f"https://127.0.0.1:{encrypted}"), WORDS, offline=False
            )
        assert own.verdict == "ok"
        found.append(address)
    assert [each.verdict for each in found] == ["failed", "ok"]
    async with served(OURS) as port:
        elsewhere = await check_pages(served_at(port, "https://127.0.0.1:9"), WORDS, offline=False)
        offline = await check_pages(served_at(port, "https://127.0.0.1:9"), WORDS, offline=True)
    assert ([each.verdict for each in elsewhere], len(offline)) == (["ok", "warning"], 1)
