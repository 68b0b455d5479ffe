"""What OpenAIChatModel sends."""

from base64 import b64decode
from dataclasses import replace

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
from tests.loopback.model_server import Json, LoopbackModelServer, Reply, fails, message_text, says


async def body_of(request: ChatRequest) -> Json:
    async with loopback() as (model, server):
        await hear(model, request)
        return server.requests[0].body


class TestPrompt:
    async def test_each_part_becomes_a_message_in_order(self) -> None:
        recall = ToolRequest("call_1", "recall", '{"query": "誕生日"}')
        body = await body_of(
            ChatRequest(
                prompt=(
                    SystemPart("簡潔に答えてください。"),
                    UserPart("こんにちは"),
                    AssistantPart("こんにちは！"),
                    UserPart("私の誕生日は？"),
                    AssistantPart("", (recall,)),
                    ToolResultPart("call_1", "recall", "3月15日"),
                )
            )
        )
        assert body["messages"] == [
            {"role": "system", "content": "簡潔に答えてください。"},
            {"role": "user", "content": "こんにちは"},
            {"role": "assistant", "content": "こんにちは！"},
            {"role": "user", "content": "私の誕生日は？"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "recall", "arguments": '{"query": "誕生日"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "3月15日"},
        ]

    @pytest.mark.slow
    async def test_of_many_large_images_the_newest_are_sent(self) -> None:
        """Each request brings those of its history along anew."""
        image = Attachment("猫.png", "image/png", b"\x89PNG\r\n\x1a\n" + bytes(6 * 2**20))
        asked = UserPart("二枚とも見て", (image, image))
        body = await body_of(ChatRequest(prompt=(UserPart("一", (image,)), UserPart("二", (image,)), asked)))
        [first, second, last] = [message["content"] for message in body["messages"]]
        assert first.startswith("一\n\n[An image that was here")
        assert [part["type"] for part in second] == ["text", "image_url"]
        assert [part["type"] for part in last] == ["text", "image_url", "image_url"]
        assert last[0]["text"] == "二枚とも見て"

    async def test_images_follow_the_text_as_data_urls(self) -> None:
        image = Attachment("猫.png", "image/png", b"\x89PNG\r\n\x1a\n\x00\xff")
        body = await body_of(ChatRequest(prompt=(UserPart("これは何？", (image,)),)))
        text, picture = body["messages"][0]["content"]
        assert text == {"type": "text", "text": "これは何？"}
        media_type, data = picture["image_url"]["url"].split(",")
        assert media_type == "data:image/png;base64"
        assert b64decode(data) == image.data

    @pytest.mark.parametrize(
        "arguments",
        ['{"query": "誕', "", "[]", '{"limit": NaN}', '{"query": "\\ud800"}', "[" * 3000, '{"a":' * 3000],
    )
    async def test_malformed_arguments_go_back_as_an_empty_object(self, arguments: str) -> None:
        broken = ToolRequest("call_1", "recall", arguments)
        prompt = (
            UserPart("?"),
            AssistantPart("", (broken,)),
            ToolResultPart("call_1", "recall", "bad JSON"),
        )
        body = await body_of(ChatRequest(prompt=prompt))
        assert body["messages"][1]["tool_calls"][0]["function"]["arguments"] == "{}"

    async def test_the_model_and_streaming_are_asked_for(self) -> None:
        body = await body_of(QUESTION)
        assert (body["model"], body["stream"]) == ("loopback", True)


class TestTools:
    async def test_a_tool_is_described_by_its_schema(self) -> None:
        schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
        body = await body_of(ChatRequest(QUESTION.prompt, (ToolSchema("recall", "Look it up.", schema),)))
        assert body["tools"] == [
            {
                "type": "function",
                "function": {"name": "recall", "description": "Look it up.", "parameters": schema},
            }
        ]

    async def test_without_tools_the_key_is_left_out(self) -> None:
        assert "tools" not in await body_of(QUESTION)


class TestKey:
    async def test_the_key_is_sent_as_a_bearer_token(self) -> None:
        async with LoopbackModelServer() as server:
            model = OpenAIChatModel("m", api_key="sk-secret", base_url=server.base_url)
            await hear(model)
            await model.close()
            assert server.requests[0].headers["Authorization"] == "Bearer sk-secret"

    async def test_a_server_without_keys_is_asked_all_the_same(self) -> None:
        async with loopback(says("どうぞ")) as (model, _):
            assert (await hear(model)).text == "どうぞ"


class TestUsageOption:
    async def test_a_server_that_refuses_it_is_asked_without_from_then_on(self) -> None:
        def strict(body: Json) -> Reply | str:
            return fails(400, "unknown field stream_options") if "stream_options" in body else "東京です。"

        async with loopback(responder=strict) as (model, server):
            first, second = await hear(model), await hear(model)
            assert (first.text, second.text) == ("東京です。", "東京です。")
            assert ["stream_options" in request.body for request in server.requests] == [True, False, False]

    async def test_a_request_refused_for_another_reason_does_not_give_it_up(self) -> None:
        async with loopback(fails(400), fails(400)) as (model, server):
            with pytest.raises(ModelRefusedRequest):
                await hear(model)
            await hear(model)
            assert ["stream_options" in request.body for request in server.requests] == [True, False, True]

    async def test_a_request_refused_once_and_then_taken_does_not_give_it_up(self) -> None:
        """It was a hiccup: without the option there is no usage, and nothing to count a limit by."""
        async with loopback(fails(400)) as (model, server):
            assert [(await hear(model)).finish.usage.prompt_tokens for _ in range(2)] == [0, 11]
            assert ["stream_options" in request.body for request in server.requests] == [True, False, True]

    async def test_a_second_hiccup_after_it_was_taken_does_not_either(self) -> None:
        taken = says("はい。")
        async with loopback(fails(400), taken, taken, fails(400), taken, taken) as (model, server):
            for _ in range(4):
                await hear(model)
            asked = ["stream_options" in request.body for request in server.requests]
            assert asked == [True, False, True, True, False, True]

    async def test_a_server_that_refuses_it_without_a_word_is_asked_without_from_the_third_request_on(
        self,
    ) -> None:
        def strict(body: Json) -> Reply | str:
            return fails(400) if "stream_options" in body else "東京です。"

        async with loopback(responder=strict) as (model, server):
            with capture_logs() as records:
                for _ in range(4):
                    await hear(model)
            asked = ["stream_options" in request.body for request in server.requests]
            assert asked == [True, False, True, False, False, False]
            refused = [each["options"] for each in records if each["event"] == "options_refused"]
            assert refused == [["stream_options"]]


class TestToolsThatAreRefused:
    REQUEST = ChatRequest(QUESTION.prompt, (ToolSchema("recall", "Look it up.", {"type": "object"}),))

    @pytest.mark.parametrize(
        "refusal",
        [
            "registry.ollama.ai/library/gemma:2b does not support tools",
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            "Extra inputs are not permitted: body.tools",
            "Unrecognized request argument supplied: tools",
        ],
    )
    async def test_are_left_out_from_then_on_and_that_is_on_record(self, refusal: str) -> None:
        def strict(body: Json) -> Reply | str:
            return fails(400, refusal) if "tools" in body else "東京です。"

        async with loopback(responder=strict) as (model, server):
            with capture_logs() as records:
                assert [(await hear(model, self.REQUEST)).text for _ in range(2)] == ["東京です。"] * 2
            assert ["tools" in request.body for request in server.requests] == [True, False, False]
            assert all("stream_options" in request.body for request in server.requests)
            assert [each["options"] for each in records if each["event"] == "options_refused"] == [["tools"]]

    @pytest.mark.parametrize(
        "refusal",
        [
            "An assistant message with 'tool_calls' must be followed by tool messages",
            "Invalid schema for function 'recall': tools[0].function.parameters",
            "Unexpected role 'user' after role 'tool'",
            "unknown tool call id: call_1",
            "",
        ],
    )
    async def test_because_of_what_is_said_with_them_stay(self, refusal: str) -> None:
        async with loopback(responder=lambda _: fails(400, refusal)) as (model, server):
            with pytest.raises(ModelRefusedRequest):
                await hear(model, self.REQUEST)
            assert all("tools" in request.body for request in server.requests)


class TestCacheKey:
    REQUEST = ChatRequest((UserPart("日本の首都は？"),), cache_key="0f3a")

    async def test_goes_with_the_request(self) -> None:
        assert (await body_of(self.REQUEST))["prompt_cache_key"] == "0f3a"

    async def test_is_not_there_without_one(self) -> None:
        assert "prompt_cache_key" not in await body_of(ChatRequest((UserPart("やあ"),)))

    async def test_a_server_that_refuses_it_is_asked_without_from_then_on(self) -> None:
        refusal = "Unrecognized request argument supplied: prompt_cache_key"

        def strict(body: Json) -> Reply | str:
            return fails(400, refusal) if "prompt_cache_key" in body else "東京です。"

        async with loopback(responder=strict) as (model, server):
            assert [(await hear(model, self.REQUEST)).text for _ in range(2)] == ["東京です。"] * 2
            assert ["prompt_cache_key" in request.body for request in server.requests] == [True, False, False]
            assert all("stream_options" in request.body for request in server.requests)

    async def test_a_server_that_refuses_every_option_is_asked_without_any(self) -> None:
        def strict(body: Json) -> Reply | str:
            known = {"model", "messages", "stream"}
            return fails(422, "unknown field") if set(body) - known else "東京です。"

        async with loopback(responder=strict) as (model, server):
            assert [(await hear(model, self.REQUEST)).text for _ in range(3)] == ["東京です。"] * 3
            assert [len(set(request.body)) for request in server.requests] == [5, 4, 3, 5, 4, 3, 3]


class TestTemperature:
    REQUEST = ChatRequest((UserPart("日本の首都は？"),), temperature=0.3)

    async def test_goes_with_the_request(self) -> None:
        assert (await body_of(self.REQUEST))["temperature"] == 0.3

    async def test_is_not_there_without_one(self) -> None:
        assert "temperature" not in await body_of(ChatRequest((UserPart("やあ"),)))

    async def test_of_nought_is_one(self) -> None:
        assert (await body_of(replace(self.REQUEST, temperature=0.0)))["temperature"] == 0

    async def test_a_model_that_has_its_own_is_asked_without_from_then_on(self) -> None:
        refusal = "Unsupported value: 'temperature' does not support 0.3 with this model."

        def reasoning(body: Json) -> Reply | str:
            return fails(400, refusal) if "temperature" in body else "東京です。"

        async with loopback(responder=reasoning) as (model, server):
            with capture_logs() as records:
                assert [(await hear(model, self.REQUEST)).text for _ in range(2)] == ["東京です。"] * 2
            [record] = [each for each in records if each["event"] == "options_refused"]
            assert record["options"] == ["temperature"]
            assert ["temperature" in request.body for request in server.requests] == [True, False, False]
            assert all("stream_options" in request.body for request in server.requests)


class TestCacheMarks:
    PROMPT: tuple[PromptPart, ...] = (
        SystemPart("簡潔に。"),
        *(UserPart(f"アイコ: {n}") for n in range(6)),
        SystemPart("現在の日時: …"),
        UserPart("ケン: 元気？"),
    )

    async def marked(self, request: ChatRequest, *, cache_control: bool = True) -> list[int]:
        async with LoopbackModelServer() as server:
            model = OpenAIChatModel("m", base_url=server.base_url, cache_control=cache_control)
            await hear(model, request)
            await model.close()
            messages = server.requests[0].messages
        return [index for index, message in enumerate(messages) if "cache_control" in str(message)]

    async def test_stand_at_the_end_of_what_is_stable(self) -> None:
        assert await self.marked(ChatRequest(self.PROMPT, stable=(0, 3))) == [0, 3]

    async def test_are_four_at_most_the_first_and_the_last_ones(self) -> None:
        assert await self.marked(ChatRequest(self.PROMPT, stable=(0, 1, 2, 3, 4, 5))) == [0, 3, 4, 5]

    async def test_are_left_out_unless_the_operator_wants_them(self) -> None:
        assert await self.marked(ChatRequest(self.PROMPT, stable=(0, 3)), cache_control=False) == []

    async def test_change_nothing_of_what_is_said(self) -> None:
        async with LoopbackModelServer() as server:
            model = OpenAIChatModel("m", base_url=server.base_url, cache_control=True)
            await hear(model, ChatRequest(self.PROMPT, stable=(0, 3)))
            await model.close()
            texts = [message_text(message) for message in server.requests[0].messages]
        assert texts == [part.text for part in self.PROMPT]

    async def test_are_not_put_where_there_is_no_text(self) -> None:
        request = ToolRequest("call_1", "recall", "{}")
        prompt = (UserPart(""), AssistantPart("", (request,)), ToolResultPart("call_1", "recall", "{}"))
        assert await self.marked(ChatRequest(prompt, stable=(0, 1))) == []


class TestBodyOnTheWire:
    async def test_japanese_and_emoji_arrive_unharmed(self) -> None:
        text = "𠮷野家で👨‍👩‍👧‍👦と食べた"
        body = await body_of(ChatRequest(prompt=(UserPart(text),)))
        assert body["messages"][0]["content"] == text
