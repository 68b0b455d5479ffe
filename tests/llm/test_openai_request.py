"""Requests of OpenAIChatModel."""

import asyncio
import json
import sys
import tracemalloc
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import ModelRefusedRequest
from cc_bot.domain.message import Attachment
from cc_bot.llm.model import (
    AssistantPart,
    ChatRequest,
    PromptPart,
    SystemPart,
    ToolRequest,
    ToolResultPart,
    ToolSchema,
    UserPart,
)
from cc_bot.llm.openai import OpenAIChatModel
from tests.llm.asking import QUESTION, hear, loopback
from tests.loopback.model_server import Json, LoopbackModelServer, Reply, fails, says

SCHEMA: Final = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
RECALL: Final = ToolSchema("recall", "Look it up.", SCHEMA)
EVERYTHING: Final = replace(QUESTION, tools=(RECALL,), cache_key="0f3a", temperature=0.3)


async def sent_body(request: ChatRequest) -> Json:
    async with loopback() as (model, server):
        await hear(model, request)
        return server.requests[0].body


class TestPrompt:
    async def test_is_sent_whole_and_in_order(self) -> None:
        recall = ToolRequest("callabc01", "recall", '{"query": "誕生日"}')
        emoji = "𠮷野家で👨‍👩‍👧‍👦と食べた。私の誕生日は？"
        asked = (SystemPart("簡潔に答えてください。"), UserPart("こんにちは"), AssistantPart("こんにちは！"))
        called = (AssistantPart("", (recall,)), ToolResultPart("callabc01", "recall", "3月15日"))
        body = await sent_body(ChatRequest((*asked, UserPart(emoji), *called)))
        function = {"name": "recall", "arguments": '{"query": "誕生日"}'}
        assert body["messages"] == [
            {"role": "system", "content": "簡潔に答えてください。"},
            {"role": "user", "content": "こんにちは"},
            {"role": "assistant", "content": "こんにちは！"},
            {"role": "user", "content": emoji},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "callabc01", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "callabc01", "content": "3月15日"},
        ]
        assert (body["model"], body["stream"]) == ("loopback", True)

    async def test_has_malformed_arguments_as_an_empty_object(self) -> None:
        for arguments in (
            '{"query": "誕',
            "",
            "[]",
            '{"a": NaN}',
            '{"a": "\\ud800"}',
            "[" * 3000,
            '{"a":' * 3000,
        ):
            broken = AssistantPart("", (ToolRequest("callabc01", "recall", arguments),))
            prompt = (UserPart("?"), broken, ToolResultPart("callabc01", "recall", "bad JSON"))
            body = await sent_body(ChatRequest(prompt))
            assert body["messages"][1]["tool_calls"][0]["function"]["arguments"] == "{}", arguments[:20]

    async def test_goes_with_a_key_where_there_is_one(self) -> None:
        async with LoopbackModelServer() as server:
            model = OpenAIChatModel("m", api_key="sk-secret", base_url=server.base_url)
            await hear(model)
            await model.close()
            assert server.requests[0].headers["Authorization"] == "Bearer sk-secret"

    async def test_goes_with_the_options_that_it_has(self) -> None:
        body = await sent_body(EVERYTHING)
        function = {"name": "recall", "description": "Look it up.", "parameters": SCHEMA}
        assert body["tools"] == [{"type": "function", "function": function}]
        assert (body["prompt_cache_key"], body["temperature"]) == ("0f3a", 0.3)
        assert (await sent_body(replace(QUESTION, temperature=0.0)))["temperature"] == 0
        assert not {"tools", "prompt_cache_key", "temperature"} & {*await sent_body(QUESTION)}


NOW: Final = SystemPart("現在の日時: …")
FOLDED: Final = "<context>\n現在の日時: …\n</context>"
FOLDS: Final[dict[str, tuple[tuple[PromptPart, ...], list[tuple[str, object]]]]] = {
    "into the words that follow": ((NOW, UserPart("元気？")), [("user", f"{FOLDED}\n\n元気？")]),
    "several": ((NOW, NOW, UserPart("元気？")), [("user", f"{FOLDED}\n\n{FOLDED}\n\n元気？")]),
    "before an answer": ((NOW, AssistantPart("はい")), [("user", FOLDED), ("assistant", "はい")]),
    "at the end": ((AssistantPart("はい"), NOW), [("assistant", "はい"), ("user", FOLDED)]),
}


class TestLaterSystemParts:
    @pytest.mark.parametrize("case", FOLDS.values(), ids=FOLDS)
    async def test_are_folded_into_the_next_user_message(
        self, case: tuple[tuple[PromptPart, ...], list[tuple[str, object]]]
    ) -> None:
        parts, expected = case
        body = await sent_body(
            ChatRequest((SystemPart("簡潔に。"), UserPart("こんにちは"), AssistantPart("やあ"), *parts))
        )
        sent = [(message["role"], message["content"]) for message in body["messages"]]
        assert sent[3:] == expected
        assert sent[0] == ("system", "簡潔に。")

    async def test_precede_a_picture(self) -> None:
        body = await sent_body(ChatRequest((SystemPart("簡潔に。"), NOW, UserPart("", (photo(b"x"),)))))
        words, picture = body["messages"][1]["content"]
        assert words["text"].startswith(FOLDED)
        assert picture["type"] == "image_url"

    async def test_change_nothing_before_them(self) -> None:
        """So a cached prefix of the conversation holds from turn to turn, also after calls."""
        call = (AssistantPart("", (ToolRequest("a", "recall", "{}"),)), ToolResultPart("a", "recall", "{}"))
        history: tuple[PromptPart, ...] = (
            SystemPart("簡潔に。"),
            UserPart("一"),
            *call,
            AssistantPart("はい"),
        )
        first = await sent_body(ChatRequest((*history, NOW, UserPart("二"))))
        longer = (*history, UserPart("二"), AssistantPart("ええ"), SystemPart("後の日時"), UserPart("三"))
        second = await sent_body(ChatRequest(longer))
        assert first["messages"][:-1] == second["messages"][: len(first["messages"]) - 1]


def without(option: str, text: str = "") -> Callable[[Json], Reply | str]:
    """Return a server that refuses an option with this text."""
    return lambda body: fails(400, text or f"unknown field {option}") if option in body else "東京です。"


class TestAnOptionThatIsRefused:
    async def test_is_left_out_from_then_on_and_that_is_on_record(self) -> None:
        for option, text in (
            ("stream_options", "unknown field stream_options"),
            ("prompt_cache_key", "Unrecognized request argument supplied: prompt_cache_key"),
            ("temperature", "Unsupported value: 'temperature' does not support 0.3 with this model."),
            ("tools", "registry.ollama.ai/library/gemma:2b does not support tools"),
            (
                "tools",
                '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            ),
            ("tools", "Extra inputs are not permitted: body.tools"),
            ("tools", "Unrecognized request argument supplied: tools"),
        ):
            async with loopback(responder=without(option, text)) as (model, server):
                with capture_logs() as records:
                    answers = [(await hear(model, EVERYTHING)).text for _ in range(2)]
                assert answers == ["東京です。"] * 2, text
                assert [option in request.body for request in server.requests] == [True, False, False], text
                others = {"stream_options", "prompt_cache_key", "temperature", "tools"} - {option}
                assert all(others <= {*request.body} for request in server.requests), text
            learned = [each["changes"] for each in records if each["event"] == "model_request_changed"]
            assert learned == [[f"no {option}"]]

    async def test_because_of_what_is_said_with_the_tools_keeps_them(self) -> None:
        for refusal in (
            "An assistant message with 'tool_calls' must be followed by tool messages",
            "Invalid schema for function 'recall': tools[0].function.parameters",
            "Unexpected role 'user' after role 'tool'",
            "unknown tool call id: call_1",
            "",
        ):
            async with loopback(*[fails(400, refusal)] * 5) as (model, server):
                with pytest.raises(ModelRefusedRequest):
                    await hear(model, replace(QUESTION, tools=(RECALL,)))
                assert all("tools" in request.body for request in server.requests), refusal


class TestCacheMarks:
    async def marked(self, model_name: str, request: ChatRequest) -> list[int]:
        async with LoopbackModelServer() as server:
            model = OpenAIChatModel(model_name, base_url=server.base_url)
            await hear(model, request)
            await model.close()
            messages = server.requests[0].body["messages"]
        return [index for index, message in enumerate(messages) if "cache_control" in str(message)]

    async def test_mark_the_end_of_the_stable_parts_for_claude(self) -> None:
        said = tuple(UserPart(f"アイコ: {n}") for n in range(6))
        now = (SystemPart("現在の日時: …"), UserPart("ケン: 元気？"))
        prompt: tuple[PromptPart, ...] = (SystemPart("簡潔に。"), *said, *now)
        request = ChatRequest(prompt, stable=(0, 3))
        assert await self.marked("anthropic/claude-5", request) == [0, 3]
        assert await self.marked("gpt", request) == []
        many = replace(request, stable=(0, 1, 2, 3, 4, 5))
        assert await self.marked("claude-5", many) == [0, 3, 4, 5], "four at most"
        call = ToolRequest("call_1", "recall", "{}")
        called = (UserPart(""), AssistantPart("", (call,)), ToolResultPart("call_1", "recall", "{}"))
        assert await self.marked("claude-5", ChatRequest(called, stable=(0, 1))) == [], "there is no text"


MIB: Final = 2**20
MAX_GROWTH_BYTES: Final = 2 * MIB
ANSWER: Final = json.dumps({"choices": [{"delta": {"content": "猫です。"}, "finish_reason": "stop"}]})
EVENT: Final = f"data: {ANSWER}\n\ndata: [DONE]\n\n".encode()


def photo(data: bytes) -> Attachment:
    return Attachment("猫.png", "image/png", data)


class Sink:
    """Reads a request without storing it, and answers."""

    def __init__(self) -> None:
        self.head = ""
        self.size = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        while self.size < self.announced:
            self.size += len(await reader.read(65536))
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + EVENT
        )
        await writer.drain()
        writer.close()

    @property
    def announced(self) -> int:
        [line] = [line for line in self.head.splitlines() if line.startswith("content-length:")]
        return int(line.partition(":")[2])


class TestPictures:
    async def test_follow_the_text_and_are_whole_when_they_are_sent_again(self) -> None:
        images = tuple(photo(b"x" * size) for size in (1, 48 * 1024, 48 * 1024 + 1, 100_000))
        async with loopback(fails(500), says("猫です。")) as (model, server):
            assert (await hear(model, ChatRequest((UserPart("これは？", images),)))).text == "猫です。"
            first, second = [request.body for request in server.requests]
        assert first == second
        words, *pictures = second["messages"][0]["content"]
        assert words == {"type": "text", "text": "これは？"}
        urls = [part["image_url"]["url"].split(",") for part in pictures]
        assert {kind for kind, _ in urls} == {"data:image/png;base64"}
        assert [b64decode(data) for _, data in urls] == [image.data for image in images]

    @pytest.mark.slow
    async def test_of_many_large_ones_the_newest_are_sent(self) -> None:
        image = photo(b"\x89PNG\r\n\x1a\n" + bytes(6 * MIB))
        asked = UserPart("二枚とも見て", (image, image))
        body = await sent_body(
            ChatRequest(prompt=(UserPart("一", (image,)), UserPart("二", (image,)), asked))
        )
        [first, second, last] = [message["content"] for message in body["messages"]]
        assert first.startswith("一\n\n[An image that was here")
        assert [part["type"] for part in second] == ["text", "image_url"]
        assert [part["type"] for part in last] == ["text", "image_url", "image_url"]

    async def test_are_encoded_while_they_are_sent_with_a_content_length(self) -> None:
        images = tuple(photo(b"\x89PNG" + bytes(range(256)) * (4 * MIB // 256)) for _ in range(4))
        sink = Sink()
        async with await asyncio.start_server(sink.serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            model = OpenAIChatModel("m", base_url=f"http://127.0.0.1:{port}/v1", timeout_s=30)
            tracemalloc.start()
            try:
                before, _ = tracemalloc.get_traced_memory()
                heard = await hear(model, ChatRequest((UserPart("これは？", images),)))
                _, most = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
                await model.close()
        assert heard.text == "猫です。"
        assert sink.size == sink.announced > 16 * MIB * 4 // 3
        assert "transfer-encoding" not in sink.head
        assert most - before < MAX_GROWTH_BYTES, "no copy of them is held"

    @pytest.mark.usefixtures("uncollected")
    async def test_are_released_with_the_answer(self) -> None:
        data = b"\x89PNG" + bytes(MIB)
        held = sys.getrefcount(data)
        async with loopback(says("猫です。")) as (model, _):
            await hear(model, ChatRequest((UserPart("これは？", (photo(data),)),)))
            assert sys.getrefcount(data) == held
