"""Converting pages of all kinds to text."""

import asyncio
import gc
import json
import sys
from itertools import product
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import DocumentLocked
from cc_bot.features.documents.reader import DocumentReader, reading_command
from cc_bot.features.web_pages import reader as pages
from cc_bot.features.web_pages.addresses import parse_address
from cc_bot.features.web_pages.errors import (
    DocumentPagesNotInstalled,
    PageIsScan,
    PageKindRefused,
    PageReaderBusy,
    PagesNotConfined,
    PagesNotInstalled,
    PageTooLong,
    PageUnreadable,
)
from cc_bot.features.web_pages.reader import FetchedPage, PageReader
from cc_bot.features.web_pages.turn import MAX_CONCURRENT_READS, ReadPage, TurnWebAccess, can_read_pages
from tests.documents import pdf, scanned_pdf
from tests.loopback.web import Answer, LoopbackWeb
from tests.reading.confinement import UNCONFINED, WITHOUT_SECCOMP

BODY = "今日の東京は晴れ、最高気温は二十三度の見込みです。"
PAGE = f"""<!doctype html><html lang="ja"><head><title>東京の天気 | 天気予報</title>
<script>alert(1)</script></head><body><nav><a href="/">ホーム</a><a href="/login">ログイン</a></nav>
<article><h1>東京の天気</h1><p>{BODY}</p><p>{BODY}</p><ul><li>傘は要りません。</li></ul>
<table><tr><th>時刻</th><th>気温</th></tr><tr><td>正午</td><td>二十一度</td></tr></table></article>
<footer>Copyright</footer></body></html>"""


async def read(answer: Answer, command: tuple[str, ...] = (), path: str = "/a") -> ReadPage:
    async with LoopbackWeb({path: answer}) as web:
        reader = PageReader(web.network(), command, unconfined=UNCONFINED)
        return await reader.read(parse_address(f"http://a.example{path}"), asyncio.Semaphore())


def html(text: str, encoding: str, content_type: str = "text/html") -> Answer:
    return Answer(text.encode(encoding), content_type)


def answering(told: dict[str, str]) -> str:
    """Return the command of a program that gives this answer."""
    answer = json.dumps(told).encode()
    return f"import sys; sys.stdout.buffer.write({len(answer).to_bytes(4, 'big') + answer!r})"


ENCODED = [
    *(("cp932", f"text/html{charset}") for charset in ("", "; charset=Shift_JIS", "; charset=utf-8")),
    *(("cp932", f"text/html; charset={codec}") for codec in ("rot13", "idna")),
    ("euc_jp", 'text/html; charset="EUC-JP"'),
    ("euc_jp", "text/html"),
    ("iso2022_jp", "text/html; charset=ISO-2022-JP"),
    ("utf-8-sig", "text/html; charset=Shift_JIS"),
    ("utf-16", "text/html"),
    ("utf-8", "text/html; charset=nonsense"),
    ("utf-8", "application/xhtml+xml"),
]


class TestHtml:
    async def test_is_what_the_page_is_about(self) -> None:
        assert can_read_pages()
        page = await read(html(PAGE, "utf-8"))
        assert (page.title, page.url) == ("東京の天気 | 天気予報", "http://a.example/a")
        assert [words for words in (BODY, "傘は要りません", "二十一度") if words not in page.text] == []
        assert not any(word in page.text for word in ("ログイン", "alert", "<"))
        assert (await read(html("<p>短い</p>", "utf-8"))).text == "短い"

    async def test_is_read_in_the_encoding_that_it_has(self) -> None:
        for encoding, content_type in ENCODED:
            page = await read(html(PAGE, encoding, content_type))
            assert (page.title, BODY in page.text) == ("東京の天気 | 天気予報", True), (
                encoding,
                content_type,
            )

    @pytest.mark.slow
    async def test_is_read_as_the_page_says_where_the_server_does_not(self) -> None:
        declared = PAGE.replace(
            "<title>", '<meta http-equiv="Content-Type" content="text/html; charset=x-sjis"><title>'
        )
        assert BODY in (await read(html(declared, "cp932"))).text
        declared = PAGE.replace("<!doctype html>", '<?xml version="1.0" encoding="EUC-JP"?>')
        assert BODY in (await read(html(declared, "euc_jp"))).text

    @pytest.mark.slow
    async def test_without_text_is_told_of(self) -> None:
        for body in ("", "<html></html>", "<script>document.write('x')</script>", "<!-- only a comment -->"):
            with pytest.raises(PageUnreadable):
                await read(html(body, "utf-8"))

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "body",
        [
            "<div>" * 200_000 + "deep",
            "<p>a" * 300_000,
            "<table>" + "<tr><td>1" * 150_000,
            '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "&b;&b;"><!ENTITY b "&c;&c;">]><a>&a;</a>',
            '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><p>&a;</p>',
        ],
    )
    async def test_that_is_hostile_ends_in_text_or_a_refusal(self, body: str) -> None:
        try:
            page = await read(html(body, "utf-8"))
        except (PageUnreadable, PageTooLong):
            return
        assert "root:" not in page.text

    async def test_of_a_process_that_lies_dies_or_lacks_its_library_is_refused(self) -> None:
        for program, error in (
            ("import sys; sys.exit(1)", PageUnreadable),
            ("import sys; sys.stdout.buffer.write(b'\\0\\0\\0\\4nope')", PageUnreadable),
            ("import sys; sys.stdout.buffer.write(b'\\0\\0\\0\\2[]')", PageUnreadable),
            (answering({"error": "not_installed"}), PagesNotInstalled),
        ):
            with pytest.raises(error):
                await read(html(PAGE, "utf-8"), (sys.executable, "-c", program))

    @pytest.mark.slow
    async def test_with_more_on_it_than_an_article_has_is_read_as_it_stands(self) -> None:
        part, times = "<table><tr><td>気温は<b>18</b>度</td></tr></table>", 12_000
        head = "<title>表</title><style>p {}</style><h1>明日</h1><!-- no -->晴れ "
        page = await read(html(f"{head}{part * times}<script>1</script>", "utf-8"))
        assert page.title == "表"
        assert page.text.split()[:3] == ["明日", "晴れ", "気温は18度"]
        assert page.text.count("気温は18度") > 5000  # as much as is kept
        assert not any(word in page.text for word in ("no", "{}", "1\n"))

    @pytest.mark.slow
    async def test_that_takes_too_much_memory_is_read_as_it_stands_or_refused(self) -> None:
        link = f"<p class='a b'>{BODY}<a href='/x/y'>{BODY}</a></p>"
        assert (await read(html(f"<title>長い</title>{link * 9_000}", "utf-8"))).text.startswith(BODY)
        with pytest.raises(PageTooLong):
            await read(html("<div>a</div>" * 170_000, "ascii"))

    @pytest.mark.slow
    @pytest.mark.skipif(UNCONFINED, reason="takes seccomp away, which is Linux's")
    async def test_is_read_unconfined_only_where_the_operator_permits_it(self) -> None:
        strict, lax = reading_command("page"), reading_command("page", unconfined=True)
        with capture_logs() as log, pytest.raises(PagesNotConfined):
            await read(html(PAGE, "utf-8"), (*WITHOUT_SECCOMP, *strict))
        assert "pages_not_confined" in [each["event"] for each in log]
        assert BODY in (await read(html(PAGE, "utf-8"), (*WITHOUT_SECCOMP, *lax))).text


def reading(seconds: float, noted: Path) -> tuple[str, ...]:
    """Return the command of a slow reading process that writes down which page it begins."""
    program = f"""if True:
        import json, pathlib, sys, time
        page = sys.stdin.read().split()[-1]
        with pathlib.Path({str(noted)!r}).open("a") as file:
            file.write(page + chr(10))
        time.sleep({seconds})
        told = json.dumps(dict(title="", text=page)).encode()
        sys.stdout.buffer.write(len(told).to_bytes(4, "big") + told)"""
    return (sys.executable, "-S", "-c", program)


class TestMany:
    async def test_of_one_turn_are_all_read_and_let_the_page_of_another_in_between(
        self, tmp_path: Path
    ) -> None:
        noted = tmp_path / "noted"
        many, another = asyncio.Semaphore(MAX_CONCURRENT_READS), asyncio.Semaphore(MAX_CONCURRENT_READS)
        texts = [f"page{n}" for n in range(8)]
        async with LoopbackWeb({f"/{text}": html(text, "ascii") for text in (*texts, "mine")}) as web:
            reader = PageReader(web.network(), reading(0.4, noted))
            addresses = [parse_address(f"http://a.example/{text}") for text in (*texts, "mine")]
            pages = await asyncio.gather(
                *(reader.read(each, many) for each in addresses[:-1]), reader.read(addresses[-1], another)
            )
        assert [page.text for page in pages] == [*texts, "mine"]
        assert noted.read_text().split().index("mine") < len(texts) - 2

    async def test_that_wait_too_long_say_so(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pages, "TOTAL_TIMEOUT_S", 0.5)
        async with LoopbackWeb({"/a": html("天気", "utf-8")}) as web:
            reader = PageReader(web.network(), reading(60, tmp_path / "noted"))
            with capture_logs() as records:
                for locations in (0, 1):  # for others, or for a busy machine
                    with pytest.raises(PageReaderBusy):
                        await reader.read(parse_address("http://a.example/a"), asyncio.Semaphore(locations))
        assert [(each["event"], each["error"]) for each in records] == [
            ("page_not_read", "PageReaderBusy")
        ] * 2

    @pytest.mark.usefixtures("uncollected")
    async def test_that_are_late_are_freed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pages, "TOTAL_TIMEOUT_S", 0.5)
        async with LoopbackWeb({"/a": html("天気", "utf-8")}) as web:
            reader = PageReader(web.network(), reading(60, tmp_path / "noted"))
            with pytest.raises(PageReaderBusy) as waited:
                await TurnWebAccess().read(reader, parse_address("http://a.example/a"))
            del waited
            assert not any(isinstance(each, FetchedPage) for each in gc.get_objects())


class TestText:
    @pytest.mark.slow
    async def test_is_read_in_the_encoding_that_it_has(self) -> None:
        for encoding, charset in product(
            ("utf-8", "cp932", "euc_jp", "utf-8-sig"), ("", "; charset=utf-8", "; charset=Shift_JIS")
        ):
            page = await read(Answer(BODY.encode(encoding), f"text/plain{charset}"))
            assert (page.title, page.text) == ("", BODY), (encoding, charset)
        for text, encoding in (("Crème brûlée à la carte", "iso-8859-1"), ("погода", "koi8-r")):
            page = await read(Answer(text.encode(encoding), f"text/plain; charset={encoding}"))
            assert page.text == text
        json_text = json.dumps({"天気": "晴れ"}, ensure_ascii=False)
        for kind in ("application/json", "application/problem+json"):
            assert (await read(Answer(json_text.encode(), kind))).text == json_text

    async def test_that_is_none_is_refused(self) -> None:
        with pytest.raises(PageUnreadable):
            await read(Answer(bytes(range(256)) * 20, "text/plain"))
        with pytest.raises(PageKindRefused):
            await read(Answer(b"MZ", "application/octet-stream"))


class TestDocuments:
    async def test_are_read_with_the_numbers_of_their_pages(self) -> None:
        page = await read(Answer(pdf([BODY, "二枚目です。"]), "application/pdf"))
        assert page.text.split("\n")[0::2] == ["[page 1]", "[page 2]"]
        assert BODY in page.text.replace("\n", "")
        assert "二枚目です。" in page.text
        for kind, path in (("application/octet-stream", "/a"), (None, "/a"), ("image/x-pdf", "/A.PDF")):
            assert "[page 1]" in (await read(Answer(pdf([BODY]), kind), path=path)).text
        for refused, error in (
            (b"%PDF-1.7 broken", PageUnreadable),
            (pdf([BODY], password="x"), DocumentLocked),
            (scanned_pdf(), PageIsScan),
        ):
            with pytest.raises(error):
                await read(Answer(refused, "application/pdf"))

    async def test_of_which_the_extra_is_missing_are_told_of(self) -> None:
        documents = DocumentReader((sys.executable, "-c", answering({"error": "not_installed"})))
        async with LoopbackWeb({"/a": Answer(b"%PDF-1.7", "application/pdf")}) as web:
            reader = PageReader(web.network(), documents=documents)
            with pytest.raises(DocumentPagesNotInstalled):
                await reader.read(parse_address("http://a.example/a"), asyncio.Semaphore())
