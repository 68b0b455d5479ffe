"""The model's reading in documents that were attached."""

import json
from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import cc_bot.tools
from cc_bot.domain import Locale
from cc_bot.domain.document import Document, DocumentPart
from cc_bot.domain.message import Attachment
from cc_bot.llm.model import ToolRequest
from cc_bot.stores import Stores
from cc_bot.tools.files import MOST_CHARACTERS
from cc_bot.tools.registry import NOBODY, ToolContext, ToolOutcome, discover

TOOLS = discover(cc_bot.tools)


def document(name: str, *texts: str) -> Attachment:
    parts = tuple(DocumentPart("", text) for text in texts)
    return Attachment(name, "application/pdf", b"", Document("pdf", "page", parts))


MANUAL = document("取扱説明書.pdf", *(f"{n}枚目の本文です。" for n in range(1, 9)), "保証期間は二年間です。")
LONG = document("長い.pdf", *("あ" * 4000 for _ in range(9)), "い" * 20_000)
PICTURE = Attachment("絵.png", "image/png", b"\x89PNG")


async def call(
    stores: Stores, files: Sequence[Attachment] = (PICTURE, MANUAL), **arguments: Any
) -> ToolOutcome:
    context = ToolContext(
        NOBODY,
        "public",
        Locale.JA,
        ZoneInfo("Asia/Tokyo"),
        stores.memories,
        tainted=False,
        files=tuple(files),
    )
    return await TOOLS.call(ToolRequest("1", "read_file", json.dumps(arguments)), context, TOOLS.schemas())


async def told(
    stores: Stores, files: Sequence[Attachment] = (PICTURE, MANUAL), **arguments: Any
) -> dict[str, Any]:
    outcome = await call(stores, files, **arguments)
    found: dict[str, Any] = json.loads(outcome.text)
    assert outcome.ok, found
    return found


class TestPages:
    @pytest.mark.parametrize(
        ("pages", "text"),
        [
            ("2", "[page 2]\n2枚目の本文です。"),
            (2, "[page 2]\n2枚目の本文です。"),
            ("2-3", "[page 2]\n2枚目の本文です。\n[page 3]\n3枚目の本文です。"),
            (" 8 〜 99 ", "[page 8]\n8枚目の本文です。\n[page 9]\n保証期間は二年間です。"),
            ("1、9", "[page 1]\n1枚目の本文です。\n[page 9]\n保証期間は二年間です。"),
            (None, "[page 1]\n1枚目の本文です。"),
        ],
    )
    async def test_are_read_as_they_are_named(self, stores: Stores, pages: object, text: str) -> None:
        found = await told(stores, file="取扱説明書.pdf", pages=pages)
        assert found == {"file": "取扱説明書.pdf", "pages": 9, "text": text}

    @pytest.mark.parametrize("pages", ["0", "99", "last", "1-", "-3", "9999999999", "1,x", "1" * 900])
    async def test_that_there_are_none_of_are_refused(self, stores: Stores, pages: str) -> None:
        outcome = await call(stores, file="取扱説明書.pdf", pages=pages)
        assert (outcome.ok, "pages:" in outcome.text) == (False, True)

    async def test_that_are_too_many_are_told_of(self, stores: Stores) -> None:
        found = await told(stores, [LONG], file="長い.pdf", pages="1-9")
        assert found["not_shown"] == "3-9: call again for these."
        assert len(found["text"]) <= MOST_CHARACTERS

    async def test_that_is_too_long_is_cut_and_says_so(self, stores: Stores) -> None:
        found = await told(stores, [LONG], file="長い.pdf", pages="10")
        assert (len(found["text"]), "query" in found["cut"]) == (MOST_CHARACTERS, True)


class TestQuery:
    async def test_finds_the_page(self, stores: Stores) -> None:
        found = await told(stores, file="取扱説明書.pdf", query="保証は何年？")
        assert found["found"][0] == "[page 9]\n保証期間は二年間です。"

    async def test_shows_what_is_around_it_on_a_long_page(self, stores: Stores) -> None:
        text = "前置きです。\n" * 900 + "保証期間は二年間です。\n" + "後書きです。\n" * 900
        found = await told(stores, [document("a.pdf", text)], file="a.pdf", query="保証期間")
        [passage] = found["found"]
        assert "保証期間は二年間" in passage
        assert len(passage) < 4000

    async def test_that_finds_nothing_says_so(self, stores: Stores) -> None:
        found = await told(stores, file="取扱説明書.pdf", query="zebra")
        assert (found["found"], "Nothing is found" in found["note"]) == ([], True)


class TestFile:
    @pytest.mark.parametrize("name", ["取扱説明書.pdf", "取扱説明書", " 説明書 ", "manual.pdf"])
    async def test_that_is_the_only_one_is_meant(self, stores: Stores, name: str) -> None:
        assert (await told(stores, file=name))["file"] == "取扱説明書.pdf"

    async def test_that_is_the_newest_of_its_name_is_meant(self, stores: Stores) -> None:
        newer = document("取扱説明書.pdf", "新しい版です。")
        assert "新しい版" in (await told(stores, [MANUAL, newer], file="取扱説明書.pdf"))["text"]

    async def test_of_another_name_is_refused_with_those_there_are(self, stores: Stores) -> None:
        outcome = await call(stores, [MANUAL, LONG, PICTURE], file="給与.pdf")
        assert not outcome.ok
        assert "長い.pdf, 取扱説明書.pdf" in outcome.text
        assert "絵.png" not in outcome.text

    async def test_that_nobody_attached_is_not_there(self, stores: Stores) -> None:
        assert not (await call(stores, [], file="/etc/passwd")).ok


class TestTool:
    async def test_tells_words_of_others(self, stores: Stores) -> None:
        assert (await call(stores, file="取扱説明書.pdf")).tainted
        assert (await call(stores, file="取扱説明書.pdf", query="保証")).tainted

    def test_is_offered_where_there_is_a_document(self) -> None:
        assert "read_file" not in {schema.name for schema in TOOLS.schemas(file=False)}
        assert "read_file" in {schema.name for schema in TOOLS.schemas(personal=False, writing=False)}
