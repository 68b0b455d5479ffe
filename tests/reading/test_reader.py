"""Documents of every kind, each written by a common library, as the reading process reads them."""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import (
    AttachmentNotSupported,
    DocumentLocked,
    DocumentOldFormat,
    DocumentReaderBusy,
    DocumentsNotConfined,
    DocumentsNotInstalled,
    DocumentTooLong,
    DocumentUnreadable,
    InputError,
)
from cc_bot.domain.message import Document
from cc_bot.features.documents import normalize_text
from cc_bot.features.documents import reader as reading
from cc_bot.features.documents.reader import DocumentReader, reading_command
from tests import documents
from tests.reading.confinement import UNCONFINED, WITHOUT_SECCOMP

PAGES = ("第一四半期の売上は千二百万円でした。", "担当は営業部の佐藤です。", "Total 12,345 yen.")


async def read(data: bytes) -> Document:
    return (await DocumentReader(unconfined=UNCONFINED).read(data)).document


def texts(document: Document) -> list[str]:
    return [part.text for part in document.parts]


class TestPdf:
    async def test_is_read_page_by_page_with_what_stands_where(self) -> None:
        document = await read(documents.pdf(PAGES, outline=[("はじめに", 1), ("まとめ", 3)]))
        assert (document.kind, document.unit, texts(document)) == ("pdf", "page", [*PAGES])
        assert [(each.title, each.part) for each in document.headings] == [("はじめに", 1), ("まとめ", 3)]
        assert not document.is_scan
        assert not (await read(documents.pdf(["はい。", "", "月。"]))).is_scan

    async def test_is_read_in_columns_and_from_the_right_in_one_spelling(self) -> None:
        text = "一行目です。" * 8
        assert "".join(texts(await read(documents.pdf([text], columns=2)))).replace("\n", "") == text
        lines = ("吾輩は猫である。名前はまだ無い。", "頓と見当がつかぬ。", "何でも薄暗い所で泣いていた。")
        assert texts(await read(documents.vertical_pdf(lines))) == ["\n".join(lines)]
        assert texts(await read(documents.pdf(["ﾊﾟｿｺﾝとＰＣ、①月"]))) == ["パソコンとＰＣ、①月"]

    async def test_that_is_a_scan_is_told_in_pictures_of_its_first_pages(self) -> None:
        found = await DocumentReader(unconfined=UNCONFINED).read(documents.scanned_pdf(7))
        assert (found.document.pictured, len(found.document.parts)) == (5, 7)
        assert found.document.is_scan
        assert len(found.pictures) == 5
        assert all(len(picture) < 400_000 for picture in found.pictures)

    async def test_that_cannot_be_read_says_why(self) -> None:
        for data, error in (
            (documents.pdf(PAGES, password="ひみつ"), DocumentLocked),
            (documents.pdf(PAGES)[:900], DocumentUnreadable),
            (documents.pdf([""] * 1001), DocumentTooLong),
        ):
            with pytest.raises(error):
                await read(data)


class TestOffice:
    async def test_word_is_read_with_headings_and_tables(self) -> None:
        document = await read(
            documents.word(["# はじめに", "本文です。", [["品目", "金額"], ["りんご", "120"]], "終わり。"])
        )
        assert (document.kind, document.headings[0].title) == ("word", "はじめに")
        expected = "## はじめに\n本文です。\n| 品目 | 金額 |\n| --- | --- |\n| りんご | 120 |\n終わり。"
        assert texts(document) == [expected]

    async def test_word_keeps_the_pages_that_it_tells_of(self) -> None:
        paragraphs = (
            "<w:p><w:r><w:t>一枚目</w:t></w:r></w:p>"
            "<w:p><w:r><w:lastRenderedPageBreak/><w:t>二枚目の頭</w:t></w:r>"
            "<w:ins><w:r><w:t>と追加</w:t></w:r></w:ins><w:del><w:r><w:delText>と削除</w:delText></w:r></w:del></w:p>"
        )
        body = f'<w:document xmlns:w="urn:w"><w:body>{paragraphs}</w:body></w:document>'
        document = await read(documents.zipped({"word/document.xml": body}))
        assert (document.unit, texts(document)) == ("page", ["一枚目", "二枚目の頭と追加"])

    async def test_excel_is_read_sheet_by_sheet_in_stretches_each_with_its_head(self) -> None:
        rows: list[list[object]] = [["品目", "金額"], ["りんご", 120], ["みかん", 80.5], [None, None]]
        names: list[list[object]] = [["番号", "名前"], *([n, f"人{n}"] for n in range(120))]
        sheets: dict[str, list[list[object]]] = {
            "売上": [*rows, ["割引", True]],
            "備考": [[], [], ["三行目"]],
            "名簿": names,
        }
        document = await read(documents.excel(sheets, hidden="備考"))
        assert [part.name for part in document.parts] == [
            *("売上, rows 1–5", "備考 (hidden), rows 3–3"),
            *("名簿, rows 1–50", "名簿, rows 51–100", "名簿, rows 101–121"),
        ]
        assert "| りんご | 120 |\n| みかん | 80.5 |\n| 割引 | TRUE |" in document.parts[0].text
        assert [each.title for each in document.headings] == ["売上", "備考 (hidden)", "名簿"]
        assert all(part.text.startswith("| 番号 | 名前 |\n") for part in document.parts[2:])

    async def test_powerpoint_is_read_slide_by_slide_with_its_notes(self) -> None:
        document = await read(
            documents.powerpoint([("題名", "箇条一\n箇条二"), ("二枚目", "本文")], "話すこと")
        )
        assert (document.unit, texts(document)) == (
            "slide",
            ["## 題名\n箇条一\n箇条二\nNotes: 話すこと", "## 二枚目\n本文"],
        )


class TestOthers:
    async def test_opendocument_is_read(self) -> None:
        body = (
            '<text:h text:outline-level="1">見出し</text:h><text:p>本文<text:tab/>です</text:p>'
            "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
            "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
        )
        document = await read(documents.opendocument(body))
        table = "| a | b |\n| --- | --- |"
        assert texts(document) == [f"## 見出し\n本文\tです\n{table}"]

    async def test_a_book_is_read_without_the_readings_of_kanji(self) -> None:
        chapters = [
            ("第一章", "<p>吾輩は<ruby>猫<rt>ねこ</rt></ruby>である&nbsp;。</p>"),
            ("第二章", "<p>続き</p>"),
            (
                "第三章",
                "<p><ruby>東<rt>とう<rb>京<rt>きょう</ruby>の<ruby>空<rp>(<rt>そら<rp>)</ruby>だ<rt>x<p>次</p>",
            ),
        ]
        document = await read(documents.epub(chapters))
        assert texts(document) == [
            *("## 第一章\n吾輩は猫である 。", "## 第二章\n続き", "## 第三章\n東京の空だ\n次")
        ]
        assert [each.part for each in document.headings] == [1, 2, 3]

    async def test_values_with_separators_are_read_in_their_encoding(self) -> None:
        for encoding in ("utf-8-sig", "cp932", "euc_jp", "iso2022_jp"):
            data = '品目,金額\r\n"りんご, 青",120\r\n'.encode(encoding)
            assert texts(await read(data)) == ["| 品目 | 金額 |\n| --- | --- |\n| りんご, 青 | 120 |"]

    async def test_commas_in_values_with_tabs_or_semicolons_part_nothing(self) -> None:
        for data in (b"a,x\tb,y\n1,2,3\t4,5\n", b"a,x;b,y\n1,2,3;4,5\n", b"x\ny;\na,x\tb,y\n"):
            assert "| a,x | b,y |" in "".join(texts(await read(data))), data


class TestText:
    def test_is_normalised(self) -> None:
        spellings = {
            "⽉⽇と⻑い⻘空": "月日と長い青空",
            "ｶﾞｷﾞﾊﾟ｡": "ガギパ。",
            "ＡＢＣ１２３①㈱": "ＡＢＣ１２３①㈱",
            "exam\x02\r\nple": "example",
            "a  \r\nb\x0c\n\n\n\nc\0": "a\nb\n\nc",
            "\ud800a\ufeff": "a",
        }
        assert {text: normalize_text(text) for text in spellings} == spellings


class TestBytesDecide:
    async def test_what_is_no_document_or_says_nothing_is_refused(self) -> None:
        old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
        refusals: tuple[tuple[bytes, type[InputError]], ...] = (
            (b"MZ\x90\x00\x03" + bytes(range(256)) * 8, AttachmentNotSupported),
            (documents.zipped({"a.txt": "text", "b.exe": b"MZ"}), AttachmentNotSupported),
            *(
                (old + bytes(1000) + name.encode("utf-16-le"), DocumentOldFormat)
                for name in ("WordDocument", "PowerPoint Document", "Workbook", "")
            ),
            (old + bytes(1000) + "EncryptedPackage".encode("utf-16-le"), DocumentLocked),
            *((data, InputError) for data in (b"", b" \n", documents.word([]))),
            (b"{\\rtf1 text}", DocumentOldFormat),
        )
        for data, error in refusals:
            with pytest.raises(error):
                await read(data)


def program(source: str) -> Sequence[str]:
    return (sys.executable, "-c", source)


ANSWERS = "import sys, os; sys.stdin.buffer.read(); os.write(1, {!r})"


def framed(answer: bytes) -> bytes:
    return len(answer).to_bytes(4, "big") + answer


def pdf_of(*parts: str, **more: object) -> bytes:
    told = {"kind": "pdf", "unit": "page", "parts": [["", part] for part in parts], "headings": []}
    return framed(json.dumps({**told, "pictures": [], **more}).encode())


SENSELESS = [
    b"",
    b"\x00\x00",
    (2**31).to_bytes(4, "big") + b"{}",
    *map(framed, (b"no json", b"[]", b'{"kind": "pdf"}', b"[" * 100_000, b'{"error": "of a new kind"}')),
    pdf_of(parts=[[1, 2]]),
    pdf_of("a", kind="exe"),
    pdf_of("a", pictures=["PHNjcmlwdD4="]),
]


class TestReader:
    async def test_believes_no_answer_that_makes_no_sense(self) -> None:
        for answer in SENSELESS:
            with pytest.raises(DocumentUnreadable):
                await DocumentReader(program(ANSWERS.format(answer))).read(b"data")

    async def test_goes_on_after_a_process_that_failed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reading, "TIMEOUT_S", 0.3)
        for source in (
            "import time; time.sleep(600)",
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        ):
            with pytest.raises(DocumentUnreadable):
                await DocumentReader(program(source)).read(bytes(10**6))
        monkeypatch.undo()
        answer = framed(b'{"error": "not_installed"}')
        with capture_logs() as log, pytest.raises(DocumentsNotInstalled):
            await DocumentReader(program(ANSWERS.format(answer))).read(b"data")
        assert [each["extra"] for each in log if each["event"] == "documents_not_installed"] == ["documents"]

    async def test_bounds_its_processes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each notes its begin and its end in one file."""
        source = (
            "import sys, os, time; sys.stdin.buffer.read()\n"
            f"note = os.open({str(tmp_path / 'noted')!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)\n"
            f"os.write(note, b'+'); time.sleep(0.1); os.write(note, b'-'); os.write(1, {pdf_of('a')!r})"
        )
        monkeypatch.setattr(reading, "MAX_CONCURRENT_READS", 2)
        reader = DocumentReader(program(source))
        await asyncio.gather(*(reader.read(b"data") for _ in range(6)))
        noted = (tmp_path / "noted").read_text()
        running = [noted[: end + 1].count("+") - noted[: end + 1].count("-") for end in range(len(noted))]
        assert (len(noted), max(running)) == (12, 2)

    async def test_refuses_what_waits_too_long(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reading, "QUEUE_TIMEOUT_S", 0.2)
        monkeypatch.setattr(reading, "TIMEOUT_S", 2)
        reader = DocumentReader(program("import time; time.sleep(600)"))
        busy = asyncio.create_task(reader.read(b"data"))
        await asyncio.sleep(0.1)
        with pytest.raises(DocumentReaderBusy):
            await reader.read(b"data")
        with pytest.raises(DocumentUnreadable):
            await busy

    async def test_ends_the_process_when_nobody_waits_any_more(self) -> None:
        reader = DocumentReader(program("import time; time.sleep(600)"))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(b"data"), 0.3)
        with pytest.raises(TimeoutError):  # it waits for the process, not for its place
            await asyncio.wait_for(reader.read(b"data"), 0.3)

    @pytest.mark.skipif(UNCONFINED, reason="takes seccomp away, which is Linux's")
    async def test_looks_at_nothing_before_it_is_confined_or_the_operator_permits_it(self) -> None:
        """Or it would say that this is damaged."""
        reader = DocumentReader((*WITHOUT_SECCOMP, *reading_command()))
        for data in (b"%PDF-1.4", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\0"):
            with capture_logs() as log, pytest.raises(DocumentsNotConfined):
                await reader.read(data)
            assert [each["event"] for each in log] == ["documents_not_confined"]
        permitted = DocumentReader((*WITHOUT_SECCOMP, *reading_command(unconfined=True)))
        assert "本文" in texts((await permitted.read(documents.pdf(["本文"]))).document)[0]

    async def test_hands_over_nothing_of_its_own_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DISCORD_TOKEN", "secret")
        told = (
            "import json, os, sys; sys.stdin.buffer.read(); "
            "a = json.dumps({'kind': 'pdf', 'unit': 'page', 'headings': [], 'pictures': [], "
            "'parts': [['', ' '.join(os.environ)]]}).encode(); os.write(1, len(a).to_bytes(4, 'big') + a)"
        )
        document = (await DocumentReader(program(told)).read(b"data")).document
        allowed = {"PYTHONPATH", "PYTHONIOENCODING", "SYSTEMROOT", "LC_CTYPE"}
        assert {*document.parts[0].text.split()} <= allowed

    async def test_logs_nothing_of_what_it_reads(self) -> None:
        with capture_logs() as log, pytest.raises(DocumentUnreadable):
            await read(b"%PDF-1.7 himitsu")
        assert "himitsu" not in repr(log)
