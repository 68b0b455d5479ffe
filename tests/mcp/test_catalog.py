"""The tools that servers list: offered, left out, or withheld until an owner accepts them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from cc_bot.features.mcp.errors import ToolListChanged
from cc_bot.features.mcp.model import full_name
from tests.mcp.running import HERE, KeptLists, Running, hostile, ready, running


def tool(name: str, description: str = "", **schema: Any) -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": {"type": "object", **schema}}


def write(folder: Path, *tools: dict[str, Any]) -> Path:
    """Write the tools that a server lists to a file."""
    (path := folder / "tools.json").write_text(json.dumps(tools), "utf-8")
    return path


@asynccontextmanager
async def listing(
    folder: Path, *tools: dict[str, Any], lists: KeptLists | None = None, **rules: Any
) -> AsyncIterator[Running]:
    """Run a server that lists these tools, and reports when the list changes."""
    entry = hostile("--list", write(folder, *tools), "--list-changed", **rules)
    async with running(folder, lists=lists, hostile=entry) as bot:
        await bot.until_ready()
        yield bot


class TestTheTools:
    async def test_are_offered_by_the_names_of_server_and_tool(self, tmp_path: Path) -> None:
        names = ("echo", "get.時刻", "検索", "作成", "検索_a", "twice", "twice")
        async with listing(tmp_path, *map(tool, names)) as bot:
            apart = ["hostile__get___", "hostile__t_1b6b1a6f", "hostile__t_900f8294", "hostile_____a"]
            assert sorted(bot.offered()) == sorted(["hostile__echo", *apart])
            assert bot.server().catalog.left_out == [("twice", "duplicate_name")]
        assert full_name("a b", "c.d/え") == "a_b__c_d__"

    async def test_with_names_that_fall_together_are_left_out(self, tmp_path: Path) -> None:
        async with ready(tmp_path, "--fall-together", "--tool", "x" * 60) as bot:
            assert bot.offered() == ["hostile__echo", "hostile__write"]
            assert bot.server().catalog.left_out == [
                ("a.b", "duplicate_name"),
                ("a/b", "duplicate_name"),
                ("x" * 60, "long_name"),
            ]

    async def test_wait_unless_they_only_read(self, tmp_path: Path) -> None:
        expected = {"writes": [False, True], "never": [False, False], "always": [True, True]}
        entries: dict[str, Any] = {approve: hostile(approve=approve) for approve in expected}
        async with running(tmp_path, **entries) as bot:
            for approve, waiting in expected.items():
                await bot.until_ready(approve)
                tools = [each for each in bot.servers.tools_for(HERE) if each.server == approve]
                assert [each.needs_approval for each in tools] == waiting

    async def test_are_as_many_and_as_long_as_can_be_told(self, tmp_path: Path) -> None:
        entries: dict[str, Any] = {
            "many": hostile("--many", 2000),
            "long": hostile("--long-description", 500_000),
            "ends": hostile("--paged", "ends"),
            "endless": hostile("--paged", "endless"),
        }
        async with running(tmp_path, budget=100_000, **entries) as bot:
            for name in entries:
                await bot.until_ready(name)
            assert len(bot.server("many").catalog.offered) == 200
            assert len(bot.server("ends").catalog.offered) == 2
            assert len(bot.server("endless").catalog.offered) <= 200
            assert all(len(each.description) <= 4001 for each in bot.servers.tools_for(HERE))

    @pytest.mark.slow
    async def test_that_take_more_than_a_message_or_the_rest_of_it_are_never_there(
        self, tmp_path: Path
    ) -> None:
        huge = hostile("--many", 10_000, "--long-description", 1000)
        async with running(tmp_path, huge=huge, good=hostile()) as bot:
            await bot.until(lambda: bot.server("huge").state == "away")
            await bot.until_ready("good")
            assert bot.offered() == ["good__echo", "good__write"]
        long = {f"p{number}": {"type": "string", "description": "長" * 20} for number in range(300)}
        async with listing(
            tmp_path, *(tool(f"t{number:03}", properties=long) for number in range(60))
        ) as bot:
            await bot.until(lambda: bot.server().catalog.left_out)
            assert 0 < len(bot.server().catalog.offered) < 60
            assert {reason for _, reason in bot.server().catalog.left_out} == {"too_large"}

    async def test_that_are_not_as_the_protocol_has_them_keep_no_other_away(self, tmp_path: Path) -> None:
        odd: dict[str, dict[str, Any]] = {
            "plain": {"inputSchema": {}},
            "union": {"inputSchema": {"oneOf": [{"properties": {"text": {"type": "string"}}}]}},
            "hints": dict.fromkeys(("annotations", "icons", "execution", "title", "description"), 7),
            "needs": {"inputSchema": {"type": "object", "required": "text"}},
            "array": {"inputSchema": {"type": "array"}},
            "none": {"inputSchema": None},
            "number": {"inputSchema": {"type": "object", "properties": {"text": 1}}},
            "unnamed": {"name": 7},
        }
        tools = [{**tool(name), **given} for name, given in odd.items()]
        async with listing(tmp_path, tool("good"), *tools) as bot:
            assert dict(bot.server().catalog.left_out) == {
                **dict.fromkeys(("needs", "none", "number"), "no_schema"),
                "array": "no_object",
            }
            assert sorted(bot.offered()) == [
                f"hostile__{each}" for each in ("good", "hints", "plain", "union")
            ]


class TestAListThatChanges:
    async def test_is_withheld_until_it_is_accepted(self, tmp_path: Path) -> None:
        lists, text = KeptLists(), {"text": {"type": "string"}}
        before = [tool("a", "読みます"), tool("b"), tool("c"), tool("e")]
        async with listing(tmp_path, *before, lists=lists, deny=["e"]) as bot:
            assert bot.offered() == ["hostile__a", "hostile__b", "hostile__c"]
        now = [tool("a", "すべて消します", properties=text), *map(tool, ("b", "d", "e", "x" * 70))]
        async with listing(tmp_path, *now, lists=lists, deny=["e"]) as bot:
            assert bot.offered() == ["hostile__b"]
            assert {"a", "c", "d"} <= {*bot.server().catalog.awaiting_owner}
            reviewed = bot.server().catalog.reviewed
            assert " ".join(f"{each.name[0]} {each.status}" for each in reviewed) == (
                "a changed c gone d new x new b offered e not_allowed"
            )
            changed, gone, new, *_ = reviewed
            assert changed.accepted_version
            assert changed.listed_version
            assert (changed.accepted_version.description, changed.listed_version.description) == (
                "読みます",
                "すべて消します",
            )
            assert json.loads(changed.listed_version.schema)["properties"] == text
            assert not changed.listed_version.read_only
            assert (gone.listed_version, new.accepted_version) == (None, None)
            assert await bot.accept() == ("hostile__a", "hostile__b", "hostile__d")
            assert bot.offered() == ["hostile__a", "hostile__b", "hostile__d"]
            assert not await bot.accept()
            [long] = [each for each in bot.server().catalog.reviewed if each.name[0] == "x"]
            assert long.status == "left_out"

    async def test_that_changed_since_it_was_read_is_not_accepted(self, tmp_path: Path) -> None:
        async with listing(tmp_path, tool("echo", "読みます")) as bot:
            read = bot.server().catalog.code
            write(tmp_path, tool("echo", "すべて送ります"))
            await bot.echo()
            await bot.until(lambda: bot.server().catalog.awaiting_owner == ["echo"])
            for code in (read, "", read[:-1]):
                with pytest.raises(ToolListChanged):
                    await bot.servers.accept("hostile", code)
            assert bot.offered() == []
            assert bot.server().catalog.code != read
            assert await bot.accept() == ("hostile__echo",)
            assert bot.server().catalog.code == ""
            assert await bot.servers.accept("hostile", read) is None

    async def test_of_a_new_server_is_withheld_too_and_owners_are_told_once(self, tmp_path: Path) -> None:
        """With another command it may be another version of the same program, or lead out of what was
        withheld before."""
        lists, before = KeptLists(), ["hostile__echo", "hostile__write"]
        for told in (1, 0):
            async with running(tmp_path, lists=lists, hostile=hostile()) as bot:
                await bot.until(partial(lambda bot: bot.server().catalog.awaiting_owner, bot))
                assert bot.offered() == []
                assert bot.servers.servers_to_report.qsize() == told
        async with running(tmp_path, lists=lists, hostile=hostile()) as bot:
            await bot.until_ready()
            assert bot.offered() == before
        async with running(tmp_path, lists=lists, hostile=hostile("--tool", "more")) as bot:
            await bot.until_ready()
            await bot.until(lambda: bot.server().catalog.awaiting_owner == ["more"])
            assert bot.offered() == before
            assert await bot.accept()
            assert "hostile__more" in bot.offered()


EMPTY_ANSWER: Final = tool("unsaid")


def hints(*open_world: object) -> list[dict[str, Any]]:
    """Return a tool for each of these hints."""
    hinted = [{**tool(f"t{n}"), "annotations": {"openWorldHint": each}} for n, each in enumerate(open_world)]
    return [*hinted, EMPTY_ANSWER]


def local(bot: Running) -> list[str]:
    return [each.name for each in bot.servers.tools_for(HERE) if not each.open_world]


class TestAToolThatIsClosed:
    async def test_is_believed_to_be_once_an_owner_accepted_that_and_until_its_server_says_otherwise(
        self, tmp_path: Path
    ) -> None:
        lists = KeptLists()
        for open_world, at_first, believed in ((False, ["t0"], ["t0"]), (True, [], []), (False, [], ["t0"])):
            async with listing(tmp_path, *hints(open_world, True, "no", 0, None), lists=lists) as bot:
                before = local(bot)
                assert bot.server().catalog.awaiting_owner == []
                await bot.accept()
                assert (before, local(bot)) == (at_first, believed)
