"""Tool calls, assembled from whatever fragments servers send."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cc_bot.llm.model import Finish, ToolRequest
from cc_bot.llm.openai.chat import ToolCallAssembler
from cc_bot.llm.openai.wire import CallFragment
from tests.llm.asking import hear, loopback
from tests.loopback.model_server import (
    Call,
    Chunk,
    End,
    Fragment,
    Reply,
    Say,
    Step,
    calls,
)

CAT = '{"query": "猫"}'
DOG = '{"query": "犬"}'


async def finish_of(reply: Reply) -> Finish:
    async with loopback(reply) as (model, _):
        return (await hear(model)).finish


async def requests_of(*steps: Step) -> list[tuple[str, str]]:
    """Names and arguments of the calls; their ids must all differ and not be empty."""
    finish = await finish_of(Reply(*steps, End("tool_calls")))
    assert finish.reason == "tools"
    ids = {request.id for request in finish.tool_requests}
    assert len(ids) == len(finish.tool_requests)
    assert all(ids)
    return [(request.name, request.arguments) for request in finish.tool_requests]


class TestWellBehavedServer:
    async def test_one_call_in_fragments(self) -> None:
        finish = await finish_of(calls(Call("recall", {"query": "誕生日"}, id="call_1")))
        assert finish.reason == "tools"
        assert finish.tool_requests == (ToolRequest("call_1", "recall", '{"query": "誕生日"}'),)

    async def test_several_at_once_whose_fragments_alternate(self) -> None:
        steps = [
            Fragment("", "recall", "call_a", 0),
            Fragment("", "recall", "call_b", 1),
            Fragment(CAT[:5], index=0),
            Fragment(DOG[:7], index=1),
            Fragment(CAT[5:], index=0),
            Fragment(DOG[7:], index=1),
        ]
        assert await requests_of(*steps) == [("recall", CAT), ("recall", DOG)]

    async def test_text_before_a_call_is_kept(self) -> None:
        async with loopback(calls(Call("recall", {}), text="調べます。")) as (model, _):
            heard = await hear(model)
        assert (heard.text, heard.finish.reason) == ("調べます。", "tools")


class TestSloppyServer:
    async def test_no_id(self) -> None:
        steps = [Fragment(CAT[:5], "recall"), Fragment(CAT[5:]), Fragment(DOG, "recall", index=1)]
        assert await requests_of(*steps) == [("recall", CAT), ("recall", DOG)]

    async def test_the_same_id_for_each_call(self) -> None:
        steps = [Fragment(CAT, "recall", "call_0", 0), Fragment(DOG, "recall", "call_0", 1)]
        assert await requests_of(*steps) == [("recall", CAT), ("recall", DOG)]

    async def test_no_index(self) -> None:
        steps = [
            Fragment(CAT[:5], "recall", "call_a", None),
            Fragment(CAT[5:], index=None),
            Fragment(DOG, "remember", "call_b", None),
        ]
        assert await requests_of(*steps) == [("recall", CAT), ("remember", DOG)]

    async def test_whole_calls_without_id_and_index(self) -> None:
        steps = [Fragment(CAT, "recall", index=None), Fragment(DOG, "recall", index=None)]
        assert await requests_of(*steps) == [("recall", CAT), ("recall", DOG)]

    async def test_index_0_for_each_call(self) -> None:
        steps = [Fragment(CAT, "recall", "call_a", 0), Fragment(DOG, "recall", "call_b", 0)]
        assert await requests_of(*steps) == [("recall", CAT), ("recall", DOG)]

    async def test_two_whole_calls_in_one_chunk(self) -> None:
        both = [{"function": {"name": "recall", "arguments": arguments}} for arguments in (CAT, DOG)]
        chunk = Chunk({"choices": [{"delta": {"tool_calls": both}}]})
        assert await requests_of(chunk) == [("recall", CAT), ("recall", DOG)]

    async def test_the_name_and_id_in_each_fragment(self) -> None:
        steps = [Fragment(part, "recall", "call_a") for part in (CAT[:3], CAT[3:6], CAT[6:])]
        assert await requests_of(*steps) == [("recall", CAT)]

    async def test_a_name_in_pieces(self) -> None:
        steps = [Fragment(name="rec", id="call_a"), Fragment(name="all"), Fragment(CAT)]
        assert await requests_of(*steps) == [("recall", CAT)]

    async def test_arguments_as_an_object(self) -> None:
        call = {"index": 0, "function": {"name": "recall", "arguments": {"query": "猫"}}}
        chunk = Chunk({"choices": [{"delta": {"tool_calls": [call]}}]})
        assert await requests_of(chunk) == [("recall", CAT)]

    async def test_no_arguments(self) -> None:
        assert await requests_of(Fragment(name="list_memories", id="call_a")) == [("list_memories", "{}")]

    async def test_several_without_arguments_at_index_0(self) -> None:
        steps = [Fragment("", "count", "call_a", 0), Fragment("", "count", "call_b", 0)]
        assert await requests_of(*steps) == [("count", "{}"), ("count", "{}")]

    async def test_several_without_arguments_index_and_id(self) -> None:
        steps = [Fragment("", "count", index=None), Fragment("", "list", index=None)]
        assert await requests_of(*steps) == [("count", "{}"), ("list", "{}")]

    async def test_malformed_arguments_are_left_for_the_model_to_be_told_of(self) -> None:
        assert await requests_of(Fragment("{'query': 猫}", "recall")) == [("recall", "{'query': 猫}")]

    async def test_stop_as_the_finish_reason(self) -> None:
        finish = await finish_of(Reply(Fragment(CAT, "recall"), End("stop")))
        assert (finish.reason, len(finish.tool_requests)) == ("tools", 1)

    async def test_a_call_without_a_name_is_left_out(self) -> None:
        finish = await finish_of(Reply(Say("はい"), Fragment(CAT), End("tool_calls")))
        assert finish.reason == "stop"

    @pytest.mark.parametrize("index", [0, None])
    async def test_ids_made_up_here_please_the_strictest_server(self, index: int | None) -> None:
        (request,) = (await finish_of(Reply(Fragment(CAT, "recall", index=index), End()))).tool_requests
        assert len(request.id) == 9
        assert request.id.isalnum()


class TestAnyCut:
    @settings(max_examples=50)
    @given(
        queries=st.lists(st.text(max_size=8), min_size=1, max_size=4),
        cuts=st.lists(st.integers(min_value=0, max_value=30), max_size=6),
    )
    def test_wherever_the_arguments_are_cut_they_come_out_whole(
        self, queries: list[str], cuts: list[int]
    ) -> None:
        assembler = ToolCallAssembler()
        for index, query in enumerate(queries):
            arguments = json.dumps({"query": query})
            edges = sorted({0, len(arguments), *(cut for cut in cuts if cut < len(arguments))})
            assembler.add(CallFragment(index, f"call_{index}", "recall"))
            for start, end in pairwise(edges):
                assembler.add(CallFragment(index, arguments=arguments[start:end]))
        assert [json.loads(request.arguments) for request in assembler.requests()] == [
            {"query": query} for query in queries
        ]
