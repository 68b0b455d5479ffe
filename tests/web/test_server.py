import asyncio
import io
import logging
import re
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from cc_bot.domain.access import BotProfile
from cc_bot.domain.text import Locale
from cc_bot.web.form import MAX_URLENCODED_BYTES, read_form
from cc_bot.web.page import STATIC_FOLDER
from cc_bot.web.server import MAX_ANONYMOUS_FORM_BYTES, MAX_FORMS_PER_SENDER
from cc_bot.web.visitor import locale_of, read_cookie
from tests.web.calls import count_calls
from tests.web.pages import HANA, TARO, Site, Visit, open_site

STRICT: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "manifest-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
URLENCODED: Final = {"Content-Type": "application/x-www-form-urlencoded"}
MULTIPART: Final = {"Content-Type": "multipart/form-data; boundary=x"}


async def raw(site: Site, sent: bytes, at_most: int = 4000) -> str:
    """The answer to what is sent over a connection of its own, as far as it comes at once."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(site.url.rpartition(":")[2]))
    writer.write(sent)
    answer = await reader.read(at_most)
    writer.close()
    return answer.decode()


async def test_every_response_carries_what_keeps_a_browser_strict(site: Site, taro: Visit) -> None:
    visited = "/", "/sign-in?code=x", "/static/style.css", "/static/none", "/nowhere", "/%00", "/..%2f"
    async with site.visit(None) as visit:
        for path in visited:
            async with visit.client.get(path, allow_redirects=False) as answer:
                assert {name: answer.headers.get(name) for name in STRICT} == STRICT, path
    text = await taro.open("/nowhere", status=404)
    for inline in ("<script>", " style=", "<style"):
        assert inline not in text


async def test_static_files_are_named_by_their_content_kept_and_compressed(site: Site, taro: Visit) -> None:
    [path] = {*re.findall(r'"(/static/\w+/style\.css)"', await taro.open("/settings"))}
    for encoding in ("identity", "gzip"):
        async with taro.client.get(path, headers={"Accept-Encoding": encoding}) as answer:
            assert (answer.status, "immutable" in answer.headers["Cache-Control"]) == (200, True)
            assert answer.headers.get("Content-Encoding", "identity") == encoding
            assert await answer.read() == (STATIC_FOLDER / "style.css").read_bytes()
    async with taro.client.get("/settings", headers={"Accept-Encoding": "gzip"}) as answer:
        assert "Content-Encoding" not in answer.headers, "the size would tell what is on the page"
    async with taro.client.get("/static/none/style.css") as answer:
        assert (answer.status, answer.headers["Cache-Control"]) == (404, "no-store")


async def test_the_chosen_theme_holds_on_every_page_and_leads_nowhere_else(site: Site) -> None:
    async with site.visit(None) as visit:
        for back, location in (
            ("/sign-in?code=x", "/sign-in?code=x"),
            ("//evil.example", "/"),
            ("/\\\\evil", "/"),
        ):
            answer = await visit.press("/theme", theme="dark", back=back)
            assert answer.headers["Location"] == location
        assert 'data-theme="dark"' in await visit.open("/sign-in", status=401)
        assert (await visit.press("/theme", theme="pink", back="/")).status == 400


async def test_the_bot_has_its_name_and_avatar(site: Site, taro: Visit) -> None:
    site.town.bot = BotProfile("ひつじ", b"png")
    text = await taro.open("/settings")
    assert "ひつじ</span></a>" in text
    assert "太郎</span></summary>" in text
    [avatar] = re.findall(r'src="(/avatar\?v=\w+)"', text)
    async with site.visit(None) as visit, visit.client.get(avatar) as answer:
        assert (await answer.read(), answer.content_type) == (b"png", "image/png")


def test_a_header_is_read_in_few_steps() -> None:
    """A parser of cookies takes 17,000 calls for these, one of headers 360,000."""
    for filler in ("a=b; ", "a b=c;", ";", ","):
        long = filler * (8000 // len(filler))
        headers = {"Cookie": f"x=cc_bot; cc_bot=own; {long}", "Accept-Language": f"{long}, en"}
        request = make_mocked_request("GET", "/", headers=headers)
        assert read_cookie(request, "cc_bot") == "own"
        assert count_calls(partial(read_cookie, request, "cc_bot")) < 10_000, filler
        assert count_calls(partial(locale_of, request, Locale.JA)) < 10_000, filler
        request = make_mocked_request("POST", "/", headers={"Content-Type": "text/plain;" + long})
        assert count_calls(partial(asyncio.run, read_form(request, 1))) < 10_000, filler


class TestAHost:
    async def test_that_is_not_ours_is_refused(self, site: Site) -> None:
        async with site.visit(None) as visit:
            for host in (
                *("evil.example", "127.0.0.1.evil.example", "bot.example", "", "[::1", "[::1].evil.example"),
                *("[::1%25evil.example]", "evil.example@localhost", "localhost:evil.example"),
                *("localhost/evil.example", "localhost?evil.example", "localhost#evil.example"),
            ):
                assert "このアドレスからは" in await visit.open("/sign-in", status=403, Host=host)
            for host in ("localhost:9000", "127.0.0.1", "[::1]:8080", "LOCALHOST"):
                await visit.open("/sign-in", status=401, Host=host)
        assert " 403 " in await raw(site, b"GET /sign-in HTTP/1.0\r\n\r\n"), "nobody named one"

    async def test_of_the_address_is_ours_and_gets_a_cookie_for_https_alone(self, tmp_path: Path) -> None:
        async with (
            open_site(tmp_path, CC_BOT_WEB_URL="https://bot.example") as site,
            site.visit(None) as visit,
        ):
            code = (await site.link()).partition("code=")[2]
            headers = {"Host": "bot.example", "Origin": "https://bot.example"}
            answer = await visit.send("/sign-in", {"code": code}, **headers)
            cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith("__Host-cc_bot=")
        assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= {*cookie.split("; ")}
        assert "Domain" not in cookie


class TestAWrite:
    async def test_that_no_page_of_ours_sends_is_refused(self, site: Site, taro: Visit) -> None:
        ours, own = site.url, {"Sec-Fetch-Site": "same-origin"}
        tried: list[Any] = [
            *(
                {},
                {"Origin": ours},
                own,
                {**own, "Origin": "null"},
                {**own, "Origin": "https://evil.example"},
            ),
            {**own, "Origin": f"{ours}.evil.example"},
            *({"Origin": ours, "Sec-Fetch-Site": each} for each in ("cross-site", "same-site", "none")),
        ]
        for name in ("Origin", "Sec-Fetch-Site"):
            contradicting = CIMultiDict(taro.own_headers())
            contradicting.add(name, "cross-site")
            tried.append(contradicting)
        for headers in tried:
            async with taro.client.post("/sign-out", headers=headers, allow_redirects=False) as answer:
                assert answer.status == 403, headers
        assert await site.core.stores.web_sessions.list(TARO)

    async def test_of_more_than_a_megabyte_is_refused(self, site: Site, taro: Visit) -> None:
        answer = await taro.send("/sessions/end", io.BytesIO(b"id=" + b"x" * 1_100_000), **URLENCODED)
        assert (answer.status, "1 MB" in await answer.text()) == (413, True)
        escaped = io.BytesIO(b"id=" + b"%61" * (MAX_URLENCODED_BYTES // 3))
        assert (await taro.send("/sessions/end", escaped, **URLENCODED)).status == 413
        async with site.visit(None) as visit:
            assert (await visit.press("/sign-in", code="a" * MAX_ANONYMOUS_FORM_BYTES)).status == 413

    async def test_of_unknown_length_is_refused_by_its_head(self, site: Site, taro: Visit) -> None:
        async def chunk() -> AsyncIterator[bytes]:
            yield b"id=1"

        answer = await taro.send("/sessions/end", chunk(), **URLENCODED)
        assert answer.status == 411
        assert answer.headers["Content-Security-Policy"] == STRICT["Content-Security-Policy"]
        rest = b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
        assert " 403 " in await raw(site, b"POST /sign-in" + rest + b"\r\n")
        for line in (b"POST /sign-in", b"GET /static/style.css"):
            assert " 415 " in await raw(site, line + rest + b"Content-Encoding: zstd\r\n\r\n"), line

    async def test_is_received_beside_few_others_of_its_user(self, site: Site, taro: Visit) -> None:
        [cookie] = [f"{each.key}={each.value}" for each in taro.client.cookie_jar]
        _, _, port = site.url.rpartition(":")
        fields = {"Host": f"127.0.0.1:{port}", "Cookie": cookie, "Content-Length": "1000", **URLENCODED}
        head = "".join(f"{name}: {value}\r\n" for name, value in {**fields, **taro.own_headers()}.items())
        held = [
            await asyncio.open_connection("127.0.0.1", int(port)) for _ in range(MAX_FORMS_PER_SENDER + 1)
        ]
        for _, writer in held:
            writer.write(f"POST /settings HTTP/1.1\r\n{head}\r\n".encode())
        reading = [asyncio.create_task(reader.readline()) for reader, _ in held]
        [answered], _ = await asyncio.wait(reading, timeout=60, return_when=asyncio.FIRST_COMPLETED)
        assert b" 429 " in answered.result()
        async with site.visit(HANA) as hana:
            assert (await hana.press("/nowhere", id="1")).status == 404
        for each in reading:
            each.cancel()
        for _, writer in held:
            writer.close()
            await writer.wait_closed()
        assert (await taro.press("/nowhere", id="1")).status == 404

    async def test_that_is_no_form_is_refused_with_a_sentence(self, taro: Visit) -> None:
        part = b'--x\r\nContent-Disposition: form-data; name="id"\r\n'
        for headers, body in (
            *((URLENCODED, body) for body in (b"id=%E3%81", b"id=\xff", b"a&" * 1001)),
            ({"Content-Type": f"{URLENCODED['Content-Type']}; charset=punycode"}, b"a" * 400),
            ({"Content-Type": "multipart/form-data"}, b"--x\r\n"),
            *((MULTIPART, body) for body in (b"--x\r\nnope", part + b"\r\n\xff\r\n--x--\r\n")),
            (MULTIPART, part + b"Content-Type: text/plain; charset=punycode\r\n\r\n1\r\n--x--\r\n"),
            (MULTIPART, (part + b"\r\n1\r\n") * 1001 + b"--x--\r\n"),
        ):
            answer = await taro.send("/sessions/end", body, **headers)
            assert (answer.status, "入力を確かめて" in await answer.text()) == (400, True), body[:80]


class TestASession:
    async def test_asks_twenty_times_a_second_and_no_more(self, taro: Visit) -> None:
        async def ask() -> int:
            async with taro.client.get("/nowhere") as answer:
                return answer.status

        statuses = await asyncio.gather(*(ask() for _ in range(30)))
        assert statuses.count(429) >= 10

    async def test_counts_a_press_as_a_command_and_a_look_as_less(self, site: Site, taro: Visit) -> None:
        await taro.open("/memories")
        await taro.press("/sessions/end", id="x")
        assert site.town.counted[-2:] == ["read", "command"]

    async def test_of_whoever_is_denied_shows_one_sentence(self, site: Site, taro: Visit) -> None:
        site.town.denied.add(TARO)
        refused = await taro.open("/canvas", status=403)
        assert '<a href="/privacy">' in refused
        assert 'action="/sign-out"' in refused
        await taro.open("/privacy/export")
        await taro.press("/sign-out")
        assert not await site.core.stores.web_sessions.list(TARO)
        async with site.visit(None) as visit:
            await visit.open("/canvas", status=401, Cookie="cc_bot=" + "a" * 43)


class TestTheLog:
    async def test_holds_no_code_no_cookie_and_no_number(
        self, site: Site, taro: Visit, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
    ) -> None:
        caplog.set_level(logging.DEBUG)
        code = (await site.link()).partition("code=")[2]
        await taro.open(f"/sign-in?code={code}")
        await taro.open("/canvas/424242424242", status=404)
        [cookie] = [each.value for each in taro.client.cookie_jar]
        told = caplog.text + capsys.readouterr().out
        assert "page_refused" in told
        for secret in (code, cookie, "424242424242"):
            assert secret not in told


class TestAnAddress:
    async def test_counts_as_a_proxy_of_ours_alone_says(self, site: Site, tmp_path: Path) -> None:
        (tmp_path / "proxied").mkdir()
        statuses = []
        async with (
            open_site(tmp_path / "proxied", CC_BOT_WEB_PROXIES="127.0.0.1") as proxied,
            proxied.visit(None) as behind,
            site.visit(None) as visit,
        ):
            for number in range(6):
                forwarded = {"X-Forwarded-For": f"9.9.9.9, 1.2.3.{number}"}
                await behind.open("/sign-in?code=x", status=410, **forwarded)
                async with visit.client.get("/sign-in?code=x", headers=forwarded) as answer:
                    statuses.append(answer.status)
            for number in range(5):
                await behind.open("/sign-in?code=x", status=410, **{"X-Forwarded-For": f"2001:db8::{number}"})
            await behind.open("/sign-in?code=x", status=429, **{"X-Forwarded-For": "2001:db8::ffff:1"})
            await behind.open("/sign-in?code=x", status=410, **{"X-Forwarded-For": "2001:db8:0:1::1"})
        assert statuses == [*[410] * 5, 429]


async def test_a_malformed_connection_harms_nobody(
    site: Site, taro: Visit, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert "400" in await raw(site, b"\x16\x03\x01\x02\x00 this is no http\r\n\r\n")
        head = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
        answer = await raw(site, head + b"Cookie: cc_bot=secret\x01word\r\n\r\n")
    assert not caplog.records
    assert " 400 " in answer.splitlines()[0]
    assert "secret" not in answer
    for name, value in STRICT.items():
        assert f"{name}: {value}" in answer
    await taro.open("/nowhere", status=404)
