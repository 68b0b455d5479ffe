"""What every request passes and every response carries, whoever asks."""

import asyncio
import io
import logging
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from cc_bot.domain.errors import PortTaken
from cc_bot.domain.locale import Locale
from cc_bot.web.form import MAX_URLENCODED_BYTES, read_form
from cc_bot.web.server import MAX_RECEIVING, MAX_STRANGER_BYTES
from cc_bot.web.site import serve_pages
from cc_bot.web.visitor import locale_of, read_cookie
from tests.web.pages import HANA, TARO, Site, Visit, open_site

HOSTS_OF_OTHERS = [
    "evil.example",
    "127.0.0.1.evil.example",
    "bot.example",
    "",
    "[::1",
    "[::1].evil.example",
    "[::1%25evil.example]",
    "evil.example@localhost",
    "localhost:evil.example",
    "localhost/evil.example",
    "localhost?evil.example",
    "localhost#evil.example",
]
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


async def first_line(site: Site, sent: bytes) -> bytes:
    """The status line of the answer to what is sent over a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(site.url.rpartition(":")[2]))
    writer.write(sent)
    line = await reader.readline()
    writer.close()
    return line


class TestEveryResponse:
    @pytest.mark.parametrize(
        "path", ["/", "/sign-in?code=x", "/static/style.css", "/static/none", "/nowhere", "/%00", "/..%2f"]
    )
    async def test_carries_what_keeps_a_browser_strict(self, site: Site, path: str) -> None:
        async with site.visit(None) as visit, visit.client.get(path, allow_redirects=False) as answer:
            assert answer.headers["Content-Security-Policy"] == POLICY
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Referrer-Policy"] == "no-referrer"

    async def test_has_no_script_or_style_of_its_own(self, taro: Visit) -> None:
        text = await taro.open("/nowhere", status=404)
        assert "<script>" not in text
        assert " style=" not in text
        assert "<style" not in text


class TestAHeader:
    @pytest.mark.parametrize(
        "read",
        [
            lambda request: read_cookie(request, "cc_bot") == "own",
            lambda request: locale_of(request, Locale.JA) is Locale.JA,
        ],
        ids=["cookies", "languages"],
    )
    @pytest.mark.parametrize("filler", ["a=b; ", "a b=c;", ";", ","])
    def test_is_read_in_microseconds(self, read: Callable[[web.Request], bool], filler: str) -> None:
        long = filler * (8000 // len(filler))
        headers = {"Cookie": f"x=cc_bot; cc_bot=own; {long}", "Accept-Language": f"{long}, en"}
        requests = [make_mocked_request("GET", "/", headers=headers) for _ in range(200)]
        begun = time.process_time()
        assert all(read(request) for request in requests)
        assert time.process_time() - begun < 1.5  # a parser of cookies takes 2.8

    @pytest.mark.parametrize("filler", [";", "a=b;"])
    async def test_that_names_a_forms_type_at_length_is_read_in_milliseconds(self, filler: str) -> None:
        headers = {"Content-Type": "text/plain;" + filler * (8000 // len(filler))}
        request = make_mocked_request("POST", "/", headers=headers)
        begun = time.process_time()
        for _ in range(20):
            await read_form(request, 1)
        assert time.process_time() - begun < 5  # a parser of headers takes 55


class TestAHost:
    @pytest.mark.parametrize("host", HOSTS_OF_OTHERS)
    async def test_that_is_not_ours_is_refused(self, site: Site, host: str) -> None:
        async with site.visit(None) as visit:
            assert "このアドレスからは" in await visit.open("/sign-in", status=403, Host=host)

    async def test_that_nobody_names_is_not_ours(self, site: Site) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(site.url.rpartition(":")[2]))
        writer.write(b"GET /sign-in HTTP/1.0\r\n\r\n")
        assert b" 403 " in await reader.readline()
        writer.close()

    @pytest.mark.parametrize("host", ["localhost:9000", "127.0.0.1", "[::1]:8080", "LOCALHOST"])
    async def test_of_this_machine_is_ours_under_any_port(self, site: Site, host: str) -> None:
        async with site.visit(None) as visit:
            await visit.open("/sign-in", status=401, Host=host)

    async def test_of_the_address_is_ours_and_gets_a_cookie_for_https_alone(self, tmp_path: Path) -> None:
        async with (
            open_site(tmp_path, CC_BOT_WEB_URL="https://bot.example") as site,
            site.visit(None) as visit,
        ):
            code = (await site.link()).partition("code=")[2]
            headers = {
                "Host": "bot.example",
                "Origin": "https://bot.example",
                "Sec-Fetch-Site": "same-origin",
            }
            async with visit.client.post(
                "/sign-in", data={"code": code}, headers=headers, allow_redirects=False
            ) as answer:
                cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith("__Host-cc_bot=")
        assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= {*cookie.split("; ")}
        assert "Domain" not in cookie


class TestAWrite:
    @pytest.mark.parametrize(
        "headers",
        [
            {},
            {"Origin": "{url}"},
            {"Sec-Fetch-Site": "same-origin"},
            {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
            {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"},
            {"Origin": "{url}", "Sec-Fetch-Site": "cross-site"},
            {"Origin": "{url}", "Sec-Fetch-Site": "same-site"},
            {"Origin": "{url}", "Sec-Fetch-Site": "none"},
            {"Origin": "{url}.evil.example", "Sec-Fetch-Site": "same-origin"},
        ],
    )
    async def test_that_no_page_of_ours_sends_is_refused(
        self, site: Site, taro: Visit, headers: dict[str, str]
    ) -> None:
        sent = {name: value.format(url=site.url) for name, value in headers.items()}
        async with taro.client.post("/sign-out", headers=sent, allow_redirects=False) as answer:
            assert answer.status == 403
        assert await site.core.stores.web_sessions.list(TARO)

    @pytest.mark.parametrize("name", ["Origin", "Sec-Fetch-Site"])
    async def test_that_says_two_things_is_refused(self, site: Site, taro: Visit, name: str) -> None:
        headers = CIMultiDict(taro.own_headers())
        headers.add(name, "cross-site")
        async with taro.client.post("/sign-out", headers=headers, allow_redirects=False) as answer:
            assert answer.status == 403
        assert await site.core.stores.web_sessions.list(TARO)

    async def test_of_more_than_a_megabyte_is_refused(self, site: Site, taro: Visit) -> None:
        headers = {**taro.own_headers(), "Content-Type": "application/x-www-form-urlencoded"}
        body = io.BytesIO(b"id=" + b"x" * 1_100_000)
        async with taro.client.post("/sessions/end", data=body, headers=headers) as answer:
            assert answer.status == 413
            assert "1 MB" in await answer.text()

    async def test_of_unknown_length_is_refused_under_the_policy_of_every_page(self, taro: Visit) -> None:
        async def chunk() -> AsyncIterator[bytes]:
            yield b"id=1"

        headers = {**taro.own_headers(), "Content-Type": "application/x-www-form-urlencoded"}
        async with taro.client.post("/sessions/end", data=chunk(), headers=headers) as answer:
            assert answer.status == 411
            assert answer.headers["Content-Security-Policy"] == POLICY

    async def test_is_received_beside_few_others_of_its_user(self, site: Site, taro: Visit) -> None:
        [cookie] = [f"{each.key}={each.value}" for each in taro.client.cookie_jar]
        fields = {
            "Host": site.url.removeprefix("http://"),
            "Cookie": cookie,
            "Content-Type": "application/x-www-form-urlencoded",
            "Content-Length": "1000",
            **taro.own_headers(),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        port = int(site.url.rpartition(":")[2])
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(MAX_RECEIVING + 1)]
        for _, writer in held:
            writer.write(f"POST /settings HTTP/1.1\r\n{head}\r\n".encode())
        reading = [asyncio.create_task(reader.readline()) for reader, _ in held]
        [answered], _ = await asyncio.wait(reading, timeout=20, return_when=asyncio.FIRST_COMPLETED)
        assert b" 429 " in answered.result()
        async with site.visit(HANA) as hana:
            assert (await hana.press("/nowhere", id="1")).status == 404
        for each in reading:
            each.cancel()
        for _, writer in held:
            writer.close()
            await writer.wait_closed()
        while (answer := await taro.press("/nowhere", id="1")).status != 404:
            assert answer.status == 429  # until the listener hears that they are gone

    @pytest.mark.parametrize(
        ("headers", "body"),
        [
            ({"Content-Type": "multipart/form-data; boundary=x"}, b"--x\r\nnope"),
            ({"Content-Type": "application/x-www-form-urlencoded; charset=nope"}, b"id=1"),
            ({"Content-Type": "application/x-www-form-urlencoded; charset=punycode"}, b"a" * 400),
            ({"Content-Type": "application/x-www-form-urlencoded"}, b"id=%E3%81"),
            ({"Content-Type": "application/x-www-form-urlencoded"}, b"id=\xff"),
            ({"Content-Type": "application/x-www-form-urlencoded"}, b"id=%"),
            ({"Content-Type": "application/x-www-form-urlencoded"}, b"a&" * 1001),
            ({"Content-Type": "multipart/form-data"}, b"--x\r\n"),
            *(
                ({"Content-Type": "multipart/form-data; boundary=x"}, body)
                for body in (
                    b"\r\n--x--\r\n",
                    b'--x\r\nContent-Disposition: form-data; name="id"\r\n\r\n\xff\r\n--x--\r\n',
                    b"--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--\r\n",
                    b'--x\r\nContent-Disposition: form-data; name="id"\r\n'
                    b"Content-Type: text/plain; charset=punycode\r\n\r\n1\r\n--x--\r\n",
                    b'--x\r\nContent-Disposition: form-data; name="id"\r\n\r\n1\r\n' * 1001 + b"--x--\r\n",
                )
            ),
        ],
    )
    async def test_that_is_no_form_is_refused_with_a_sentence(
        self, taro: Visit, headers: dict[str, str], body: bytes
    ) -> None:
        sent = {**taro.own_headers(), **headers}
        async with taro.client.post("/sessions/end", data=body, headers=sent) as answer:
            assert answer.status == 400
            assert "入力を確かめて" in await answer.text()

    async def test_that_is_escaped_is_refused_beyond_what_is_decoded_at_once(self, taro: Visit) -> None:
        headers = {**taro.own_headers(), "Content-Type": "application/x-www-form-urlencoded"}
        body = io.BytesIO(b"id=" + b"%61" * (MAX_URLENCODED_BYTES // 3))
        async with taro.client.post("/sessions/end", data=body, headers=headers) as answer:
            assert answer.status == 413

    async def test_of_a_stranger_is_refused_beyond_four_kilobytes(self, site: Site) -> None:
        body = {"code": "a" * MAX_STRANGER_BYTES}
        async with site.visit(None) as visit:
            assert (await visit.press("/sign-in", **body)).status == 413

    async def test_of_a_stranger_is_refused_by_its_origin_before_its_body_arrives(self, site: Site) -> None:
        sent = b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
        assert b" 403 " in await first_line(site, sent)

    @pytest.mark.parametrize("line", [b"POST /sign-in", b"GET /static/style.css"])
    async def test_with_a_packed_body_is_refused(self, site: Site, line: bytes) -> None:
        sent = line + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nContent-Encoding: zstd\r\n\r\n"
        assert b" 415 " in await first_line(site, sent)

    async def test_with_a_broken_form_is_refused_with_a_sentence(self, taro: Visit) -> None:
        headers = {**taro.own_headers(), "Content-Type": "multipart/form-data; boundary=x"}
        async with taro.client.post("/sessions/end", data=b"--y\r\n\r\n", headers=headers) as answer:
            assert answer.status == 400
            assert "入力を確かめて" in await answer.text()


class TestASession:
    async def test_asks_twenty_times_a_second_and_no_more(self, taro: Visit) -> None:
        async def ask() -> int:
            async with taro.client.get("/nowhere") as answer:
                return answer.status

        statuses = await asyncio.gather(*(ask() for _ in range(30)))
        assert statuses.count(429) >= 10

    async def test_of_whoever_is_denied_shows_one_sentence(self, site: Site, taro: Visit) -> None:
        site.town.denied.add(TARO)
        await taro.open("/canvas", status=403)
        await taro.press("/sign-out")
        assert not await site.core.stores.web_sessions.list(TARO)

    async def test_that_is_made_up_is_none(self, site: Site) -> None:
        async with site.visit(None) as visit:
            await visit.open("/canvas", status=401, Cookie="cc_bot=" + "a" * 43)

    async def test_ends_with_the_erasure_of_everything(self, site: Site, taro: Visit) -> None:
        await site.core.privacy.erase(TARO)
        await taro.open("/canvas", status=401)

    async def test_is_one_users(self, site: Site, taro: Visit) -> None:
        async with site.visit(HANA):
            [mine] = await site.core.stores.web_sessions.list(TARO)
            assert not await site.core.stores.web_sessions.end(HANA, mine.id)


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
    async def test_counts_as_the_proxy_says_where_it_is_ours(self, tmp_path: Path) -> None:
        async with open_site(tmp_path, CC_BOT_WEB_PROXIES="127.0.0.1") as site, site.visit(None) as visit:
            for number in range(6):
                await visit.open(
                    "/sign-in?code=x", status=410, **{"X-Forwarded-For": f"9.9.9.9, 1.2.3.{number}"}
                )

    async def test_is_not_what_anybody_else_says(self, site: Site) -> None:
        async with site.visit(None) as visit:
            statuses = []
            for number in range(6):
                headers = {"X-Forwarded-For": f"1.2.3.{number}"}
                async with visit.client.get("/sign-in?code=x", headers=headers) as answer:
                    statuses.append(answer.status)
        assert statuses == [*[410] * 5, 429]


class TestAConnection:
    async def test_that_is_no_request_harms_nobody(self, site: Site, taro: Visit) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(site.url.rpartition(":")[2]))
        writer.write(b"\x16\x03\x01\x02\x00 this is no http\r\n\r\n")
        assert b"400" in await reader.read(100)
        writer.close()
        await taro.open("/nowhere", status=404)

    async def test_with_a_broken_header_hears_nothing_of_it_again(self, site: Site) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(site.url.rpartition(":")[2]))
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nCookie: cc_bot=secret\x01word\r\n\r\n")
        answer = (await reader.read(4000)).decode()
        writer.close()
        assert " 400 " in answer.splitlines()[0]
        assert "secret" not in answer
        assert f"Content-Security-Policy: {POLICY}" in answer
        assert "Cache-Control: no-store" in answer
        assert "X-Content-Type-Options: nosniff" in answer

    async def test_that_is_malformed_is_no_record_for_the_owners(
        self, site: Site, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.WARNING):
            reader, writer = await asyncio.open_connection("127.0.0.1", int(site.url.rpartition(":")[2]))
            writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nBroken header\r\n\r\n")
            assert b" 400 " in await reader.readline()
            writer.close()
        assert not caplog.records


class TestAPort:
    async def test_that_is_taken_is_told(self, site: Site) -> None:
        with pytest.raises(PortTaken) as refused:
            async with serve_pages(site.services):
                pytest.fail("the port is another program's")
        assert refused.value.params["setting"] == "CC_BOT_WEB_PORT"

    async def test_serves_nobody_when_it_is_closed(self, tmp_path: Path) -> None:
        async with open_site(tmp_path) as site:
            url = site.url
        async with aiohttp.ClientSession() as client:
            with pytest.raises(aiohttp.ClientConnectorError):
                await client.get(url)
