"""What a prompt shows of a document: all of it, or what tells where the rest is."""

import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.context.attachments import (
    LONGEST_TABLE_BYTES,
    MAX_DOCUMENT_TOKENS,
    MAX_DOCUMENTS_TOKENS,
    as_prompt_text,
    document_files,
    is_document,
)
from cc_bot.context.tokens import estimate_tokens, user_part
from cc_bot.domain.document import (
    Document,
    DocumentPart,
    Heading,
    Unit,
    document_from_json,
    document_to_json,
)
from cc_bot.domain.message import Attachment, Message

PAGE = "第{n}ページの本文です。売上は{n}万円でした。" * 20


def document(texts: Sequence[str], headings: Sequence[tuple[str, int]] = (), unit: Unit = "page") -> Document:
    parts = tuple(DocumentPart("", text) for text in texts)
    return Document("pdf", unit, parts, tuple(Heading(*each) for each in headings))


def long_document(pages: int = 100) -> Document:
    return document(
        [PAGE.format(n=n) for n in range(1, pages + 1)], [(f"第{n}章", n * 10) for n in range(1, 10)]
    )


def shown(read: Document, name: str = "報告.pdf") -> str:
    return as_prompt_text(Attachment(name, "application/pdf", b"", read), estimate_tokens)


class TestShortDocument:
    def test_is_shown_whole_page_by_page_in_the_question_that_it_came_with(self) -> None:
        told = (
            'The user attached the document "報告.pdf" (PDF, 2 pages). Name the page that you answer from.\n'
            "```\n[page 1]\n一枚目\n[page 2]\n二枚目\n```"
        )
        read = document(["一枚目", "二枚目"])
        assert shown(read) == told
        files = document_files("報告.pdf", b"%PDF-", read, ())
        part = user_part(Message("user", "これは？", attachments=files))
        assert (part.text, part.tainted) == (f"これは？\n\n{told}", True)

    def test_names_its_sheets(self) -> None:
        read = Document("excel", "part", (DocumentPart("売上, rows 1–3", "| a |"),))
        assert "[part 1: 売上, rows 1–3]\n| a |" in shown(read)


class TestLongDocument:
    def test_is_shown_as_contents_first_pages_and_last_page_and_what_reads_the_rest(self) -> None:
        told = shown(long_document())
        for line in ("第3章: page 30", "[page 1]\n第1ページ", "[page 100]\n第100ページ"):
            assert line in told
        [count] = re.findall(
            r"the first (\d+) pages and page 100\. The rest is left out: [^\n]*read_file", told
        )
        assert f"[page {count}]" in told
        assert f"[page {int(count) + 1}]" not in told
        assert MAX_DOCUMENT_TOKENS * 0.8 < estimate_tokens(told) < MAX_DOCUMENT_TOKENS * 1.02

    def test_of_endless_pages_or_contents_is_cut(self) -> None:
        for read in (
            document(["あ" * 300_000]),
            document(["あ" * 300_000] * 3),
            document(["短い", "い" * 300_000]),
            document(["あ" * 30_000] * 9, [("章" * 60, 1 + n % 9) for n in range(300)]),
        ):
            assert estimate_tokens(shown(read)) < MAX_DOCUMENT_TOKENS * 1.02


class TestSeveralDocuments:
    def test_share_the_room(self) -> None:
        files = [Attachment(f"{n}.pdf", "application/pdf", b"", long_document()) for n in range(10)]
        part = user_part(Message("user", "比べて", attachments=tuple(files)))
        assert estimate_tokens(part.text) < MAX_DOCUMENTS_TOKENS * 1.05
        assert all(f'"{n}.pdf"' in part.text for n in range(10))
        assert part.text.count("[page 100]") == 10


class TestScan:
    def test_is_its_first_pages_as_pictures(self) -> None:
        read = Document("pdf", "page", (DocumentPart("", ""),) * 9, pictured=2)
        files = document_files("紙.pdf", b"%PDF-", read, (b"\xff\xd8\xff1", b"\xff\xd8\xff2"))
        part = user_part(Message("user", "何？", attachments=files))
        assert [image.name for image in part.images] == ["紙.pdf (page 1)", "紙.pdf (page 2)"]
        assert "a scan without text. Pictures show its first 2 pages" in part.text


FENCE = re.compile(r"^(`{3,})\n(.*)\n\1$", re.MULTILINE | re.DOTALL)


class TestHostileDocument:
    @given(
        st.lists(st.text(alphabet="`\n[]page 1あ\"'", max_size=60), min_size=1, max_size=4),
        st.text(max_size=30),
        st.text(max_size=30),
    )
    def test_ends_no_fence(self, texts: Sequence[str], name: str, heading: str) -> None:
        first, rest = shown(document(texts, [(heading, 1)]), name).split("\n", 1)
        assert first.startswith('The user attached the document "')
        [(fence, inner)] = FENCE.findall(rest)
        assert rest == f"{fence}\n{inner}\n{fence}"
        assert fence not in inner


class TestJson:
    @given(
        st.lists(st.tuples(st.text(), st.text()), max_size=5),
        st.lists(st.tuples(st.text(), st.integers(1, 9))),
    )
    def test_brings_a_document_back(
        self, parts: Sequence[tuple[str, str]], headings: Sequence[tuple[str, int]]
    ) -> None:
        read = Document(
            "word",
            "part",
            tuple(DocumentPart(*part) for part in parts),
            tuple(Heading(*heading) for heading in headings),
        )
        assert document_from_json(document_to_json(read)) == read


def test_a_document_is_one_by_its_bytes() -> None:
    table = b"a,b\n"
    ones = [
        *(("a.txt", b"%PDF-1.7"), ("a.txt", b"junk of a printer\n%PDF-1.4"), ("a", b"PK\x03\x04")),
        *(("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), ("a.rtf", b"{\\rtf1")),
        ("a.csv", table * LONGEST_TABLE_BYTES),
    ]
    others = [
        *(("a.pdf", b"MZ\x90\x00"), ("a.pdf", b"plain text"), ("a.pdf", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")),
        *(("a.csv", table), ("a.txt", table * LONGEST_TABLE_BYTES)),
    ]
    assert [is_document(name, data) for name, data in ones] == [True] * len(ones)
    assert [is_document(name, data) for name, data in others] == [False] * len(others)
