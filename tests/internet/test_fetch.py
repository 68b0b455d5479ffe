"""Fetching pages from untrusted servers."""

import asyncio
import gzip
import shutil
import ssl
import zlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest
from structlog.testing import capture_logs

from cc_bot.features.web_pages import reader as pages
from cc_bot.features.web_pages.addresses import parse_address
from cc_bot.features.web_pages.errors import (
    AddressNotPublic,
    AddressRefused,
    PageError,
    PageGarbled,
    PageKindRefused,
    PageNotThere,
    PageTemporarilyUnavailable,
    PageTooLarge,
    PageTooSlow,
    PageUnreachable,
    TooManyRedirects,
)
from cc_bot.features.web_pages.http import PUBLIC_NETWORK
from cc_bot.features.web_pages.reader import MAX_REDIRECTS, FetchedPage, PageReader, fetch
from tests.loopback.web import INSIDE, OUTSIDE, Answer, LoopbackWeb
from tests.reading.confinement import UNCONFINED

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
BOMB = gzip.compress(bytes(300 << 20), 9)
"""300 MB of nothing, in 300 KB."""


def redirect(to: str, status: int = 302) -> Answer:
    return Answer(b"moved", status=status, headers={"Location": to})


async def get(web: LoopbackWeb, url: str = "http://a.example/a", limit_s: float = 5.0) -> FetchedPage:
    with patch.object(pages, "FETCH_TIMEOUT_S", limit_s):
        return await fetch(parse_address(url), web.network())


async def refusal(web: LoopbackWeb, url: str = "http://a.example/a", limit_s: float = 5.0) -> PageError:
    with pytest.raises(PageError) as caught:
        await get(web, url, limit_s)
    return caught.value


class TestRequest:
    async def test_tells_who_asks_and_nothing_else(self) -> None:
        async with LoopbackWeb({"/a?b=%E3%81%82": Answer(b"<p>a</p>")}) as web:
            await get(web, "http://A.example/a?b=あ#c")
        [request] = web.requests
        assert (request.target, request.host) == ("/a?b=%E3%81%82", "a.example")
        assert request.headers["user-agent"].startswith("cc-bot")
        assert request.headers.keys() == {"host", "user-agent", "accept", "accept-encoding", "connection"}

    async def test_goes_through_no_proxy_and_sends_no_cookie(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        first = Answer(status=302, headers={"Location": "/b", "Set-Cookie": "a=b"})
        async with LoopbackWeb({"/a": first, "/b": Answer(b"<p>b</p>")}) as web:
            assert (await get(web)).data == b"<p>b</p>"
        assert "cookie" not in web.requests[1].headers


INSIDE_URLS = [
    *("http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0/"),
    *("http://localhost/", "http://169.254.169.254/latest/meta-data/", "http://[::1]/", "https://10.0.0.1/"),
    *("http://[::ffff:127.0.0.1]/", "http://[64:ff9b::7f00:1]/"),
]


class TestPublic:
    async def test_addresses_alone_are_asked_as_the_system_resolves_them(self) -> None:
        for url in INSIDE_URLS:
            with pytest.raises((AddressNotPublic, PageUnreachable)) as caught:
                await fetch(parse_address(url), PUBLIC_NETWORK)
            # Odd spellings of numbers are refused as such, and a system without IPv6 reaches no such address.
            odd = ("http://[", "http://0", "http://127.1/", "http://2130706433/")
            assert isinstance(caught.value, AddressNotPublic) or url.startswith(odd)

    async def test_addresses_are_all_that_a_name_has_or_nothing_is_asked(self) -> None:
        async with LoopbackWeb({"/a": Answer(b"a")}) as web:
            web.names["a.example"] = [[OUTSIDE, INSIDE]]
            assert isinstance(await refusal(web), AddressNotPublic)
        assert web.connections == []

    async def test_addresses_are_asked_for_again_at_each_redirect(self) -> None:
        async with LoopbackWeb({"/a": redirect("/b"), "/b": Answer(b"secret")}) as web:
            web.names["a.example"] = [[OUTSIDE], [INSIDE]]
            assert isinstance(await refusal(web), AddressNotPublic)
        assert web.connections == [OUTSIDE]

    async def test_address_is_looked_at_once_more_on_the_socket_before_a_byte_is_sent(self) -> None:
        asked = list[str]()

        async with LoopbackWeb({"/a": Answer(b"secret")}) as web:
            network = web.network()

            def at_first(address: object) -> bool:
                asked.append(str(address))
                return len(asked) == 1

            with pytest.raises(AddressNotPublic):
                await fetch(parse_address("http://a.example/a"), type(network)(network.resolve, at_first))
        assert asked == [OUTSIDE, OUTSIDE]
        assert (bytes(web.received), web.requests) == (b"", [])


class TestRedirect:
    async def test_is_followed_to_where_the_page_is(self) -> None:
        for status in (301, 302, 303, 307, 308):
            pages = {"/a": redirect("http://b.example/b", status), "/b": Answer(b"<p>b</p>")}
            async with LoopbackWeb(pages) as web:
                fetched = await get(web)
            assert (fetched.address.url, fetched.data) == ("http://b.example/b", b"<p>b</p>")
        pages = {"/a": redirect("/b c?d=雨 雪"), "/b%20c?d=%E9%9B%A8%20%E9%9B%AA": Answer(b"<p>b</p>")}
        async with LoopbackWeb(pages) as web:
            assert (await get(web)).data == b"<p>b</p>"

    async def test_to_what_is_no_page_of_the_web_is_refused(self) -> None:
        for location in (
            "file:///etc/passwd",
            "http://user:word@b.example/",
            "http://b.example:6379/",
            "http://[::1",
        ):
            async with LoopbackWeb({"/a": redirect(location)}) as web:
                assert isinstance(await refusal(web), AddressRefused)
            assert len(web.requests) == 1

    async def test_to_a_machine_inside_is_refused(self) -> None:
        async with LoopbackWeb({"/a": redirect(f"http://{INSIDE}/b")}) as web:
            assert isinstance(await refusal(web), AddressNotPublic)
        assert web.connections == [OUTSIDE]

    async def test_is_followed_so_often_and_no_more(self) -> None:
        pages = {f"/{n}": redirect(f"/{n + 1}") for n in range(MAX_REDIRECTS)}
        async with LoopbackWeb({**pages, f"/{MAX_REDIRECTS}": Answer(b"there")}) as web:
            assert (await get(web, "http://a.example/0")).data == b"there"
        async with LoopbackWeb({"/a": redirect("/a")}) as web:
            assert isinstance(await refusal(web), TooManyRedirects)
            assert len(web.requests) == MAX_REDIRECTS + 1


class TestBody:
    async def test_is_unpacked(self) -> None:
        data = "天気".encode()
        for packing, body in (("gzip", gzip.compress(data)), ("deflate", zlib.compress(data))):
            packed = Answer(body, headers={"Content-Encoding": packing})
            async with LoopbackWeb({"/a": packed}) as web:
                assert (await get(web)).data.decode() == "天気"
        async with LoopbackWeb({"/a": Answer(b"x", headers={"Content-Encoding": "br"})}) as web:
            assert isinstance(await refusal(web), PageGarbled)

    async def test_that_is_a_bomb_is_refused_when_it_is_too_large(self) -> None:
        bomb = Answer(BOMB, headers={"Content-Encoding": "gzip"})
        async with LoopbackWeb({"/a": bomb}) as web:
            assert isinstance(await refusal(web), PageTooLarge)

    @pytest.mark.parametrize(
        ("head", "unit", "end"),
        [
            (CHUNKED + b"0\r\n", b"A: b\r\n", b"\r\n"),
            (OK, b"A: b\r\n", b"\r\na"),
            (OK + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b""), gzip.compress(b"a")),
        ],
        ids=["trailers", "headers", "gzip members"],
    )
    async def test_that_is_little_beside_what_is_around_it_is_refused(
        self, head: bytes, unit: bytes, end: bytes
    ) -> None:
        for size, refused in ((100, False), (1 << 20, True)):
            raw = head + unit * (size // len(unit) or 1) + end
            async with LoopbackWeb({"/a": Answer(raw=raw)}) as web:
                if refused:
                    assert isinstance(await refusal(web), PageGarbled)
                else:
                    assert set((await get(web)).data) <= {*b"a"}

    async def test_that_comes_in_drops_is_given_up(self) -> None:
        drops = Answer(b"<p>slow</p>", piece=1, pause_s=0.2, for_ever=True)
        async with LoopbackWeb({"/a": drops}) as web:
            error = await refusal(web, limit_s=1.0)
        assert (type(error), error.params) == (PageTooSlow, {"host": "a.example", "seconds": 1})

    async def test_that_is_broken_is_told_of(self) -> None:
        for raw in (
            b"",
            b"no HTTP at all\r\n\r\n",
            OK + b"Content-Length: 99\r\n\r\nbroken off",
            CHUNKED + b"zz\r\n",
            b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * (1 << 18),
            OK + b"Content-Encoding: gzip\r\n\r\nabc",
        ):
            async with LoopbackWeb({"/a": Answer(raw=raw)}) as web:
                assert isinstance(await refusal(web), PageGarbled), raw[:90]


class TestAnswer:
    async def test_of_another_kind_or_with_an_error_is_refused(self) -> None:
        here = {"host": "a.example"}
        kinds = ("application/zip", "image/png; a=b", "text/css")
        for answer, error, params in (
            *((Answer(b"%PDF-1.7", kind), PageKindRefused, {}) for kind in kinds),
            (Answer(b"sign in", status=403), PageNotThere, here | {"status": 403}),
            *(
                (Answer(b"later", status=n), PageTemporarilyUnavailable, here | {"status": n})
                for n in (429, 500, 503)
            ),
        ):
            async with LoopbackWeb({"/a": answer}) as web:
                refused = await refusal(web)
            assert (type(refused), refused.params) == (error, params)
        async with LoopbackWeb({"/a": Answer(b"no media type at all", "x" * 500)}) as web:
            assert (await get(web)).kind == "text"

    async def test_that_is_refused_tells_no_word_of_its_server(self) -> None:
        """A turn in which a page was refused goes on as one that has read nothing of anybody else's."""
        said = "tell-me-your-secret"
        answers = {
            "/kind": Answer(b"a", f"application/{said}"),
            "/packing": Answer(b"a", headers={"Content-Encoding": said}),
            "/gone": redirect(f"http://{said}.example/nowhere"),
            "/refused": redirect(f"http://{INSIDE}/{said}"),
            "/broken": Answer(raw=f"{said}\r\n\r\n".encode()),
        }
        async with LoopbackWeb(answers) as web:
            told = {path: str(await refusal(web, f"http://a.example{path}")) for path in answers}
        assert [path for path, words in told.items() if said in words] == []

    async def test_of_nobody_is_told_of_and_not_waited_for_for_ever(self) -> None:
        async with LoopbackWeb({"/a": Answer(b"x", pause_s=3600)}) as web, asyncio.timeout(60):
            assert isinstance(await refusal(web, limit_s=0.3), PageTooSlow)
            assert isinstance(await refusal(web, "http://nobody.invalid/"), PageUnreachable)
            web.port = 1
            assert isinstance(await refusal(web), PageUnreachable)


def _given(context: ssl.SSLContext) -> ssl.SSLContext:
    return context


class TestTls:
    async def test_is_spoken_with_whom_the_name_belongs_to_and_nobody_else(self, tmp_path: Path) -> None:
        if shutil.which("openssl") is None:
            pytest.skip("openssl makes the certificate, and is not here")
        made = await asyncio.create_subprocess_exec(
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=a.example"),
            *("-addext", "subjectAltName=DNS:a.example", "-keyout", "key.pem", "-out", "cert.pem"),
            cwd=tmp_path,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert await made.wait() == 0
        served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        served.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
        trusting = ssl.create_default_context(cafile=tmp_path / "cert.pem")
        async with LoopbackWeb({"/a": Answer(b"hello")}, tls=served) as web:
            for context in (trusting, ssl.create_default_context()):
                network = replace(web.network(), tls=partial(_given, context))
                for host in ("a.example", "b.example"):
                    trusted = context is trusting and host == "a.example"
                    try:
                        fetched = await fetch(parse_address(f"https://{host}/a"), network)
                    except PageUnreachable:
                        assert not trusted
                    else:
                        assert (trusted, fetched.data) == (True, b"hello")
        assert [request.host for request in web.requests] == ["a.example"]


class TestLog:
    async def test_has_the_host_and_neither_path_nor_query(self) -> None:
        url = "http://a.example/private/path?token=secret"
        async with LoopbackWeb({"/private/path?token=secret": Answer(b"hello", "text/plain")}) as web:
            reader = PageReader(web.network(), unconfined=UNCONFINED)
            with capture_logs() as records:
                await reader.read(parse_address(url), asyncio.Semaphore())
                with pytest.raises(PageNotThere):
                    await reader.read(
                        parse_address("http://a.example/gone?token=secret"), asyncio.Semaphore()
                    )
        assert [(each["event"], each["host"]) for each in records] == [
            ("page_read", "a.example"),
            ("page_not_read", "a.example"),
        ]
        assert records[1]["error"] == "PageNotThere"
        assert not any(word in str(records) for word in ("private", "gone", "secret"))
