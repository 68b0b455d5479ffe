"""The model's reading in documents that were attached."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from cc_bot.chat.tools import ToolContext, ToolOutcome
from cc_bot.domain.message import Attachment, Document, DocumentPart
from cc_bot.features.documents.tools import MAX_CHARACTERS
from tests.tools.conftest import TOOLS, call, result_of


def document(name: str, *texts: str) -> Attachment:
    parts = tuple(DocumentPart("", text) for text in texts)
    return Attachment(name, "application/pdf", b"", Document("pdf", "page", parts))


MANUAL = document("取扱説明書.pdf", *(f"{n}枚目の本文です。" for n in range(1, 9)), "保証期間は二年間です。")
LONG = document("長い.pdf", *("あ" * 4000 for _ in range(9)), "い" * 20_000)
PICTURE = Attachment("絵.png", "image/png", b"\x89PNG")


Read = Callable[..., Awaitable[ToolOutcome]]


@pytest.fixture
def read(context: ToolContext) -> Read:
    async def read(*files: Attachment, **arguments: Any) -> ToolOutcome:
        return await call(replace(context, files=files or (PICTURE, MANUAL)), "read_file", **arguments)

    return read


async def found(outcome: Awaitable[ToolOutcome]) -> dict[str, Any]:
    done = await outcome
    assert done.ok, done.text
    return result_of(done)


class TestPages:
    async def test_are_read_as_they_are_named(self, read: Read) -> None:
        two = "[page 2]\n2枚目の本文です。"
        last = "[page 9]\n保証期間は二年間です。"
        texts = {
            "2": two,
            2: two,
            "2-3": f"{two}\n[page 3]\n3枚目の本文です。",
            " 8 〜 99 ": f"[page 8]\n8枚目の本文です。\n{last}",
            "1、9": f"[page 1]\n1枚目の本文です。\n{last}",
            None: "[page 1]\n1枚目の本文です。",
        }
        for pages, text in texts.items():
            told = await found(read(file="取扱説明書.pdf", pages=pages))
            assert told == {"file": "取扱説明書.pdf", "pages": 9, "text": text}

    async def test_that_there_are_none_of_are_refused(self, read: Read) -> None:
        for pages in ("0", "99", "last", "1-", "-3", "9999999999", "1,x", "1" * 900):
            outcome = await read(file="取扱説明書.pdf", pages=pages)
            assert (outcome.ok, "pages:" in outcome.text) == (False, True)

    async def test_that_are_too_many_or_too_long_are_told_of(self, read: Read) -> None:
        many = await found(read(LONG, file="長い.pdf", pages="1-9"))
        assert many["not_shown"] == "3-9: call again for these."
        assert len(many["text"]) <= MAX_CHARACTERS
        long = await found(read(LONG, file="長い.pdf", pages="10"))
        assert (len(long["text"]), "query" in long["cut"]) == (MAX_CHARACTERS, True)


class TestQuery:
    async def test_finds_the_page_or_says_that_there_is_none(self, read: Read) -> None:
        told = await found(read(file="取扱説明書.pdf", query="保証は何年？"))
        assert told["found"][0] == "[page 9]\n保証期間は二年間です。"
        told = await found(read(file="取扱説明書.pdf", query="zebra"))
        assert (told["found"], "Nothing matches" in told["note"]) == ([], True)

    async def test_shows_what_is_around_it_on_a_long_page(self, read: Read) -> None:
        answer, filler = "保証期間は二年間です。", "あいうえお。\n" * 1000
        for page, beginning in ((answer + filler, answer), (filler + answer + filler, "")):
            told = await found(read(document("長い.pdf", page), file="長い.pdf", query="保証期間"))
            shown = told["found"][0].removeprefix("[page 1]\n")
            assert shown.startswith(beginning)
            assert answer in shown
            assert 1200 < len(shown) < 3500


class TestFile:
    async def test_that_nobody_attached_is_not_there(self, context: ToolContext) -> None:
        assert not (await call(context, "read_file", file="/etc/passwd")).ok


async def test_what_is_read_are_words_of_others(read: Read) -> None:
    assert (await read(file="取扱説明書.pdf")).tainted
    assert (await read(file="取扱説明書.pdf", query="保証")).tainted


def test_the_tool_is_offered_where_there_is_a_document() -> None:
    assert "read_file" not in {schema.name for schema in TOOLS.schemas(file=False)}
    assert "read_file" in {schema.name for schema in TOOLS.schemas(writing=False)}
