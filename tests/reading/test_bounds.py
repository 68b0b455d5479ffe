"""The bounds of archives and XML, each by itself: in the reading process others would hold as well."""

import tracemalloc
import zipfile
from io import BytesIO

import pytest

from cc_bot.reading.archive import MAX_BYTES, MAX_ENTRIES, Archive, beside
from cc_bot.reading.content import MAX_CHARACTERS, MAX_PARTS, Content, DocumentRefused, normalised
from cc_bot.reading.xml import MAX_DEPTH, parse
from tests.documents import zipped
from tests.reading.test_hostile import LAUGHS, OUTSIDE, bomb, lying


def refused(attempt: object) -> str:
    assert callable(attempt)
    with pytest.raises(DocumentRefused) as refusal:
        attempt()
    return str(refusal.value)


class TestArchive:
    @pytest.mark.slow
    def test_unfolds_no_more_than_it_may_whatever_sizes_it_tells(self) -> None:
        large = bomb("a", MAX_BYTES + 2**20)
        assert refused(lambda: Archive(large).read("a")) == "too_long"
        assert refused(lambda: Archive(lying(large, 10)).read("a")) in {"too_long", "unreadable"}
        part = bytes(MAX_BYTES // 4)
        archive = Archive(zipped({f"{n}": part for n in range(5)}))
        for n in range(4):
            assert len(archive.read(f"{n}")) == len(part)
        assert refused(lambda: archive.read("4")) == "too_long"
        assert refused(lambda: Archive(bomb("xl/a", MAX_BYTES + 2**20)).check_size("xl/")) == "too_long"
        Archive(bomb("media/a", MAX_BYTES + 2**20)).check_size("xl/")

    def test_with_a_part_that_takes_memory_without_bound_is_refused(self) -> None:
        for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
            written = BytesIO(zipped({"word/document.xml": "<w/>"}))
            with zipfile.ZipFile(written, "a") as archive:
                archive.writestr("mimetype", "a", method)
            with pytest.raises(DocumentRefused, match="unreadable"):
                Archive(written.getvalue())

    def test_unfolds_no_more_of_a_part_than_is_asked_for(self) -> None:
        archive = Archive(zipped({"a": b"0123456789"}))
        assert refused(lambda: archive.read("a", 9)) == "too_long"
        assert archive.read("a", 10) == b"0123456789"

    def test_of_too_many_parts_is_refused_before_they_are_listed(self) -> None:
        data = zipped({f"{n}": "" for n in range(MAX_ENTRIES * 2)})
        tracemalloc.start()
        try:
            assert refused(lambda: Archive(data)) == "too_long"
            assert tracemalloc.get_traced_memory()[1] < 2**18
        finally:
            tracemalloc.stop()

    def test_points_nowhere_outside(self) -> None:
        targets = {
            "slides/s1.xml": "ppt/slides/s1.xml",
            "../media/a.png": "media/a.png",
            "/ppt/s.xml": "ppt/s.xml",
            "../../../../etc/passwd": "etc/passwd",
        }
        assert {target: beside("ppt/presentation.xml", target) for target in targets} == targets


class TestXml:
    @pytest.mark.parametrize("text", [LAUGHS, OUTSIDE, LAUGHS.replace('"1.0"?', '"1.0" encoding="utf-16"?')])
    def test_with_entities_is_refused(self, text: str) -> None:
        data = text.encode("utf-16" if "utf-16" in text else "utf-8")
        assert refused(lambda: parse([data])) == "unreadable"

    def test_is_nested_as_deep_as_it_may_be(self) -> None:
        parse([b"<a>"] * (MAX_DEPTH - 1) + [b"</a>"] * (MAX_DEPTH - 1))
        deep = [b"<a>"] * (MAX_DEPTH + 1) + [b"</a>"] * (MAX_DEPTH + 1)
        assert refused(lambda: parse(deep)) == "unreadable"

    def test_leaves_out_what_it_is_told_to_with_all_that_is_in_it(self) -> None:
        root = parse([b"<a>1<b>2<c>3</c></b>4<c>5</c></a>"], frozenset({"b"}))
        assert root.text() == "145"


class TestContent:
    def test_has_no_more_characters_or_parts_than_it_may(self) -> None:
        for text, times in (("a" * MAX_CHARACTERS, 1), ("a", MAX_PARTS)):
            content = Content("rtf", "part")
            for _ in range(times):
                content.add(text)
            with pytest.raises(DocumentRefused, match="too_long"):
                content.add("a")

    def test_is_normalised(self) -> None:
        spellings = {
            "⽉⽇と⻑い⻘空": "月日と長い青空",
            "ｶﾞｷﾞﾊﾟ｡": "ガギパ。",
            "ＡＢＣ１２３①㈱": "ＡＢＣ１２３①㈱",
            "exam\x02\r\nple": "example",
            "a  \r\nb\x0c\n\n\n\nc\0": "a\nb\n\nc",
            "\ud800a\ufeff": "a",
        }
        assert {text: normalised(text) for text in spellings} == spellings
