"""Messages of servers are cleaned before the library reads them, and results are cut."""

import base64
import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types import (
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from cc_bot.features.mcp.catalog import MAX_TOOLS
from cc_bot.features.mcp.messages import (
    MAX_CONTENT_BLOCKS,
    MAX_IMAGE_BYTES,
    MAX_INLINE_BYTES,
    MAX_RESULT_CHARACTERS,
    MAX_VALUES,
    MessageUnreadable,
    clean_message,
    convert_result,
    has_too_many_values,
)
from cc_bot.features.mcp.model import ServerResult

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


async def cleaned(result: object) -> Any:
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()
    return json.loads(await clean_message(message))["result"]


class TestAMessage:
    @pytest.mark.slow
    @settings(max_examples=50)
    @given(st.dictionaries(st.text(), JSON))
    async def test_is_what_it_was(self, message: dict[str, Any]) -> None:
        message.pop("result", None)
        text = json.dumps(message).encode("utf-8", "surrogatepass")
        assert json.loads(await clean_message(text)) == json.loads(text)

    async def test_that_is_none_or_has_too_many_values_is_refused_unread(self) -> None:
        deep = (b"[" * 200_000, b'{"a":' * 200_000, b'{"a":' + b"[" * 2000)
        for text in (b"", b"[]", b"7", b"{", b'{"a":', b"\xff", *deep):
            with pytest.raises(MessageUnreadable):
                await clean_message(text)
        for value in ("[],", "0,", '"",', '"\\\\",', '"\\"",'):
            many = f'{{"result":{{"x":[{value * MAX_VALUES}0]}}}}'
            with pytest.raises(MessageUnreadable, match="too many values"):
                await clean_message(many.encode())
        for values in ("{" + '"a":0,' * MAX_VALUES + '"b":0}', '[{"a":' * MAX_VALUES):
            with pytest.raises(MessageUnreadable, match="too many values"):
                await clean_message(f'{{"result":{{"x":{values}}}}}'.encode())
        for signs in ("[{,", '\\"[,', "\\\\[{", '\\\\\\"[,{'):
            assert not has_too_many_values(f'{{"a":"{signs * MAX_VALUES}"}}'.encode()), "it is in a text"

    async def test_has_halves_of_characters_replaced_and_numbers_too_long_as_texts(self) -> None:
        halves = b'{"a":"' + b"\\ud83d\xf0\x9f" * MAX_INLINE_BYTES + b'"}'
        assert json.loads(await clean_message(halves)) == {"a": "?\ufffd" * MAX_INLINE_BYTES}
        assert sys.get_int_max_str_digits() < 5000
        digits = "1" * 5000
        assert json.loads(await clean_message(f'{{"a":{digits},"b":12}}'.encode())) == {"a": digits, "b": 12}

    async def test_has_as_much_as_may_be_told(self) -> None:
        words = {"text": "a" * (MAX_RESULT_CHARACTERS // 2 + 7)}
        file = {"type": "resource", "resource": {"uri": "note://1", **words}}
        blocks = [{"type": "text", **words}, {"type": "text", **words, "resource": {}}, file]
        told = [
            {**each.get("resource", {}), **each} for each in (await cleaned({"content": blocks}))["content"]
        ]
        assert sum(len(each["text"]) for each in told) == MAX_RESULT_CHARACTERS
        told = (await cleaned({"content": [{"type": "text", "text": "a"}] * (MAX_CONTENT_BLOCKS + 7)}))[
            "content"
        ]
        assert len(told) == MAX_CONTENT_BLOCKS + 1
        assert f"[7 of {MAX_CONTENT_BLOCKS + 7} " in told[-1]["text"]
        tools = [7, {"name": 7}, *({"name": f"t{n}", "icons": [1]} for n in range(MAX_TOOLS + 1))]
        told = (await cleaned({"tools": tools}))["tools"]
        assert [each["name"] for each in told] == [f"t{n}" for n in range(MAX_TOOLS)]
        schema = {"type": "object", "allOf": [None]}
        assert told[0] == {"name": "t0", "annotations": {}, "inputSchema": schema}


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"0" * 100


def result(*blocks: ContentBlock, **rest: Any) -> ServerResult:
    return convert_result(CallToolResult(content=list(blocks), **rest), max_kb=1)


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def image(content: bytes) -> ImageContent:
    return ImageContent(type="image", data=base64.b64encode(content).decode(), mime_type="image/png")


class TestAResult:
    def test_is_all_texts_together_or_a_failure(self) -> None:
        assert result(text("一"), text("two")) == ServerResult("一\ntwo")
        assert result(text("だめです"), is_error=True) == ServerResult("だめです", ok=False)

    def test_that_is_long_is_cut_between_characters_and_says_how_much_is_missing(self) -> None:
        told = result(text("猫" * 1000)).text
        assert told == "猫" * 341 + "\n[The rest was left out here: 1977 bytes or more.]"

    def test_shows_as_many_pictures_as_fit_and_nothing_that_is_only_called_one(self) -> None:
        shown = result(text("絵"), image(PNG))
        assert shown.text == "絵\n[A picture: image-1.png]"
        assert [(each.name, each.content_type, each.data) for each in shown.images] == [
            ("image-1.png", "image/png", PNG)
        ]
        for content in (b"<svg/>", b"MZ\x90", b"", b"RIFF0000WAVE"):
            assert result(image(content)).images == (), content
        assert result(ImageContent(type="image", data="***", mime_type="image/png")).images == ()
        large = b"\xff\xd8\xff" + b"0" * (MAX_IMAGE_BYTES // 2)
        shown = result(image(large), image(large), image(PNG))
        assert [each.name for each in shown.images] == ["image-1.jpeg", "image-2.png"]
        assert "left out" in shown.text

    def test_has_the_text_of_files_and_names_other_content_in_a_line_each(self) -> None:
        note = TextResourceContents(uri="note://1", text="本文\n二行目")
        sound = BlobResourceContents(uri="note://2", blob="AAAA")
        link = ResourceLink(type="resource_link", uri="file:///a", name="a\nb")
        files = (EmbeddedResource(type="resource", resource=each) for each in (note, sound))
        told = result(link, *files).text.splitlines()
        assert [line.split(",")[0] for line in told] == ["[A link", "[A file", "本文", "二行目", "[A file"]
