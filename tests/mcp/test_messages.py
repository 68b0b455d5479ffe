"""Messages of servers, cleaned before the library reads them."""

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.mcp.lists import MOST_TOOLS
from cc_bot.mcp.messages import (
    MAX_BLOCKS,
    MAX_INLINE_BYTES,
    MAX_TEXT,
    MAX_VALUES,
    MessageUnreadable,
    clean_message,
    has_too_many_values,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def written(result: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()


async def cleaned(result: object) -> Any:
    return json.loads(await clean_message(written(result)))["result"]


class TestAMessage:
    @pytest.mark.slow
    @given(st.dictionaries(st.text(), JSON))
    async def test_is_what_it_was(self, message: dict[str, Any]) -> None:
        message.pop("result", None)
        text = json.dumps(message).encode("utf-8", "surrogatepass")
        assert json.loads(await clean_message(text)) == json.loads(text)

    @pytest.mark.parametrize(
        "text",
        [
            b"",
            b"[]",
            b"7",
            b"{",
            b'{"a":',
            b"[" * 200_000,
            b'{"a":' * 200_000,
            b'{"a":' + b"[" * 2000,
            b"\xff",
        ],
        ids=range(9),
    )
    async def test_that_is_none_is_refused(self, text: bytes) -> None:
        with pytest.raises(MessageUnreadable):
            await clean_message(text)

    @pytest.mark.parametrize(
        "value",
        [
            "[" + "[]," * MAX_VALUES + "0]",
            "[" + "0," * MAX_VALUES + "0]",
            "[" + '"",' * MAX_VALUES + "0]",
            "[" + '"\\\\",' * MAX_VALUES + "0]",
            "[" + '"\\"",' * MAX_VALUES + "0]",
            "{" + '"a":0,' * MAX_VALUES + '"b":0}',
            '[{"a":' * MAX_VALUES,
        ],
        ids=lambda value: value[:7],
    )
    async def test_of_too_many_values_is_refused_unread(self, value: str) -> None:
        with pytest.raises(MessageUnreadable, match="too many values"):
            await clean_message(f'{{"result":{{"x":{value}}}}}'.encode())

    @pytest.mark.parametrize("text", ["[{,", '\\"[,', "\\\\[{", '\\\\\\"[,{'])
    def test_may_have_as_much_of_anything_in_a_text(self, text: str) -> None:
        assert not has_too_many_values(f'{{"a":"{text * MAX_VALUES}"}}'.encode())

    async def test_has_halves_of_characters_replaced(self) -> None:
        halves = b'{"a":"' + b"\\ud83d\xf0\x9f" * MAX_INLINE_BYTES + b'"}'
        assert json.loads(await clean_message(halves)) == {"a": "\ufffd\ufffd" * MAX_INLINE_BYTES}

    async def test_has_numbers_too_long_to_be_read_as_texts(self) -> None:
        assert sys.get_int_max_str_digits() < 5000
        digits = "1" * 5000
        assert json.loads(await clean_message(f'{{"a":{digits},"b":12}}'.encode())) == {"a": digits, "b": 12}


class TestAResult:
    async def test_has_what_is_structured_as_a_text_where_there_is_none(self) -> None:
        assert await cleaned({"content": [], "structuredContent": {"場所": "東京"}}) == {
            "content": [{"type": "text", "text": '{"場所": "東京"}'}]
        }
        told = {"type": "text", "text": "12時"}
        assert await cleaned({"content": [told], "structuredContent": {"hour": 12}}) == {"content": [told]}

    async def test_has_as_much_as_may_be_told(self) -> None:
        blocks = [{"type": "text", "text": "a" * (MAX_TEXT // 2)} for _ in range(3)]
        told = await cleaned({"content": blocks})
        assert sum(len(each["text"]) for each in told["content"]) == MAX_TEXT + 1

    async def test_has_as_many_parts_as_may_be_told(self) -> None:
        told = (await cleaned({"content": [{"type": "text", "text": "a"}] * (MAX_BLOCKS + 7)}))["content"]
        assert len(told) == MAX_BLOCKS + 1
        assert f"[7 of {MAX_BLOCKS + 7} " in told[-1]["text"]

    @pytest.mark.parametrize("content", ["nope", None, [1, None, {"text": 7}, {"type": "text"}]], ids=str)
    async def test_that_is_none_stays_none(self, content: object) -> None:
        assert (await cleaned({"content": content}))["content"] == content


async def test_a_list_of_tools_has_as_many_as_are_kept() -> None:
    tools = [7, {"name": 7}, *({"name": f"t{n}", "icons": [1]} for n in range(MOST_TOOLS + 1))]
    told = (await cleaned({"tools": tools}))["tools"]
    assert [each["name"] for each in told] == [f"t{n}" for n in range(MOST_TOOLS)]
    assert told[0] == {"name": "t0", "annotations": {}, "inputSchema": {"type": "object", "allOf": [None]}}
