"""The result of a call, cut to what may be told."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from cc_bot.domain.tool_server import ServerResult
from cc_bot.mcp.messages import MAX_TEXT
from cc_bot.mcp.results import MOST_IMAGE_BYTES, cut, result_of

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 100


def result(*blocks: ContentBlock, **rest: object) -> ServerResult:
    return result_of(CallToolResult(content=list(blocks), **rest), most_kb=1)  # type: ignore[arg-type]


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def image(content: bytes, kind: str = "image/png") -> ImageContent:
    return ImageContent(type="image", data=base64.b64encode(content).decode(), mime_type=kind)


class TestText:
    def test_is_all_texts_together(self) -> None:
        assert result(text("一"), text("two")) == ServerResult("一\ntwo")

    def test_of_a_failure_is_told_as_one(self) -> None:
        assert result(text("だめです"), is_error=True) == ServerResult("だめです", ok=False)

    def test_that_is_long_is_cut_between_characters_and_says_how_much_is_missing(self) -> None:
        told = result(text("猫" * 1000)).text
        assert told == "猫" * 341 + "\n[1977 of 3000 bytes were left out here.]"

    def test_that_came_cut_already_says_so(self) -> None:
        told = result_of(CallToolResult(content=[text("a" * (MAX_TEXT + 1))]), most_kb=1).text
        assert told == "a" * 1024 + f"\n[More than {MAX_TEXT - 1024} bytes were left out here.]"

    @given(st.text(), st.integers(1, 50))
    def test_that_is_cut_is_the_beginning_of_the_whole(self, whole: str, limit: int) -> None:
        kept, _, _ = cut(whole, limit).rpartition("\n[")
        size = len(whole.encode("utf-8", "replace"))
        assert size <= limit or (whole.startswith(kept) and len(kept.encode()) <= limit)


class TestPictures:
    def test_are_shown_and_named(self) -> None:
        shown = result(text("絵"), image(PNG))
        assert shown.text == "絵\n[A picture: image-1.png]"
        assert [(each.name, each.content_type, each.data) for each in shown.images] == [
            ("image-1.png", "image/png", PNG)
        ]

    @pytest.mark.parametrize("content", [b"<svg/>", b"MZ\x90", b"", b"RIFF0000WAVE"])
    def test_that_are_none_are_left_out_whatever_they_are_called(self, content: bytes) -> None:
        assert result(image(content)).images == ()

    def test_are_as_many_as_fit(self) -> None:
        large = b"\xff\xd8\xff" + b"0" * (MOST_IMAGE_BYTES // 2)
        shown = result(image(large), image(large), image(PNG))
        assert [each.name for each in shown.images] == ["image-1.jpg", "image-2.png"]
        assert "left out" in shown.text

    def test_that_can_not_be_decoded_are_left_out(self) -> None:
        broken = ImageContent(type="image", data="***", mime_type="image/png")
        assert result(broken).images == ()


def test_other_content_is_named_in_a_line_each() -> None:
    resource = TextResourceContents(uri="note://1", text="本文")
    told = result(
        AudioContent(type="audio", data="", mime_type="audio/wav"),
        ResourceLink(type="resource_link", uri="file:///a", name="a\nb"),
        EmbeddedResource(type="resource", resource=resource),
    ).text
    assert [line.split(",")[0] for line in told.splitlines()] == ["[A recording", "[A link", "[A file"]
    assert "本文" not in told
