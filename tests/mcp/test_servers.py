"""All servers of a file: started, kept, called; whatever one of them does, the others go on."""

import asyncio
import json
import os
import resource
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import (
    InvalidToolServers,
    ToolCallLost,
    ToolGone,
    ToolListNotShown,
    ToolServerAway,
    ToolServerUnknown,
    ToolTimedOut,
)
from cc_bot.domain.tool_server import LeftOutTool, ServerTool, ToolPlace
from cc_bot.mcp.lists import from_text, listed, to_text
from tests.mcp.running import HERE, KeptLists, Running, closed_port, hostile, running


def calls(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def tool(name: str, description: str = "", **schema: Any) -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": {"type": "object", **schema}}


class TestACall:
    async def test_is_made_and_its_result_comes_back(self, tmp_path: Path) -> None:
        async with running(tmp_path, hostile=hostile("--count", tmp_path / "calls")) as bot:
            await bot.until_ready()
            assert (await bot.echo("こんにちは")).text == "こんにちは"
        assert calls(tmp_path / "calls") == [{"name": "echo", "arguments": {"text": "こんにちは"}}]

    async def test_that_is_not_answered_ends_in_time_and_is_cancelled_at_the_server(
        self, tmp_path: Path
    ) -> None:
        counted = tmp_path / "calls"
        async with running(tmp_path, hostile=hostile("--never-answer", "--count", counted)) as bot:
            await bot.until_ready()
            with pytest.raises(ToolTimedOut):
                await bot.echo()
            await bot.until(lambda: {"cancelled": True} in calls(counted))
            assert bot.report().state == "ready"  # it answers other questions

    async def test_that_is_stopped_is_cancelled_at_the_server(self, tmp_path: Path) -> None:
        counted = tmp_path / "calls"
        async with running(tmp_path, hostile=hostile("--never-answer", "--count", counted)) as bot:
            await bot.until_ready()
            call = asyncio.create_task(bot.echo())
            await bot.until(lambda: calls(counted))
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await bot.until(lambda: {"cancelled": True} in calls(counted))

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "switches", [["--die"], ["--flood"], ["--long-line", 50_000_000], ["--deep", 4000]], ids=str
    )
    async def test_in_which_the_server_fails_is_told_as_lost_and_harms_no_other(
        self, tmp_path: Path, switches: list[object]
    ) -> None:
        async with running(tmp_path, hostile=hostile(*switches, timeout_s=20), good=hostile()) as bot:
            await bot.until_ready()
            await bot.until_ready("good")
            lost = asyncio.create_task(bot.echo())
            for _ in range(20):
                assert (await bot.echo("元気", server="good")).text == "元気"
            with pytest.raises(ToolCallLost):
                await lost
            await bot.until_ready()  # it is started anew

    async def test_that_is_answered_with_what_is_no_character_loses_that_alone(self, tmp_path: Path) -> None:
        async with running(tmp_path, hostile=hostile("--no-characters")) as bot:
            await bot.until_ready()
            for _ in range(2):
                assert (await bot.echo("😀")).text == "😀 \ufffd \ufffd \\ud83d"

    async def test_that_is_answered_with_no_json_ends_in_time(self, tmp_path: Path) -> None:
        async with running(tmp_path, hostile=hostile("--no-json")) as bot:
            await bot.until_ready()
            with pytest.raises(ToolTimedOut):
                await bot.echo()

    @pytest.mark.slow
    async def test_takes_no_more_memory_than_there_is_for_an_answer(self, tmp_path: Path) -> None:
        async with running(tmp_path, hostile=hostile("--long-line", 500_000_000, timeout_s=20)) as bot:
            await bot.until_ready()
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            with pytest.raises(ToolCallLost):
                await bot.echo()
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024  # KiB

    async def test_to_a_server_that_is_away_is_refused_before_anything_is_sent(self, tmp_path: Path) -> None:
        lists = KeptLists()
        async with running(tmp_path, lists=lists, hostile=hostile()) as bot:
            await bot.until_ready()
        async with running(tmp_path, lists=lists, hostile=hostile("--slow-start", 30)) as bot:
            with pytest.raises(ToolServerAway):
                await bot.echo()
        async with running(tmp_path, lists=lists, hostile=hostile()) as bot:
            await bot.until_ready()
        gone = hostile()
        gone["env"] = {"PYTHONHASHSEED": "no number, so that Python does not start"}
        async with running(tmp_path, lists=lists, hostile=gone) as bot:
            assert bot.offered() == ["hostile__echo", "hostile__write"]
            with pytest.raises(ToolServerAway):
                await bot.echo()
            await bot.until(lambda: bot.report().state == "away")
            with pytest.raises(ToolServerAway):
                await bot.echo()
            assert bot.offered() == ["hostile__echo", "hostile__write"]

    async def test_of_a_tool_that_is_not_offered_is_not_made(self, tmp_path: Path) -> None:
        entry = hostile("--count", tmp_path / "calls", tools=["echo"])
        async with running(tmp_path, hostile=entry) as bot:
            await bot.until_ready()
            with pytest.raises(ToolGone):
                await bot.servers.call("hostile", "write", {"text": "a"})
            with pytest.raises(ToolGone):
                await bot.servers.call("other", "echo", {"text": "a"})
        assert calls(tmp_path / "calls") == []

    async def test_with_arguments_that_do_not_fit_is_told_to_the_model(self, tmp_path: Path) -> None:
        async with running(tmp_path, hostile=hostile()) as bot:
            await bot.until_ready()
            [echo, _] = [each.tool for each in bot.servers.tools_in(HERE)]
            assert bot.servers.problem_with(echo, {"txt": "秘密"}) == "arguments: missing: text"
            assert bot.servers.problem_with(echo, {"text": "秘密"}) == ""

    async def test_that_the_server_refuses_is_a_failure(self, tmp_path: Path) -> None:
        async with running(tmp_path, hostile=hostile("--fail")) as bot:
            await bot.until_ready()
            result = await bot.echo()
            assert (result.ok, result.text) == (False, "それはできません")
            assert (bot.report().calls, bot.report().failures) == (1, 1)

    async def test_that_the_server_refuses_with_the_code_of_a_closed_way_has_its_words(
        self, tmp_path: Path
    ) -> None:
        async with running(tmp_path, hostile=hostile("--refuse")) as bot:
            await bot.until_ready()
            result = await bot.echo()
            assert (result.ok, result.text) == (False, "満室です")

    async def test_whose_result_cannot_be_read_is_lost_unless_it_only_read(self, tmp_path: Path) -> None:
        async with running(tmp_path, hostile=hostile("--no-result")) as bot:
            await bot.until_ready()
            assert not (await bot.echo()).ok
            with pytest.raises(ToolCallLost):
                await bot.servers.call("hostile", "write", {"text": "a"})

    @pytest.mark.parametrize("switch", ["--sample", "--roots"])
    async def test_in_which_the_server_asks_the_model_or_the_disk_is_declined(
        self, tmp_path: Path, switch: str
    ) -> None:
        async with running(tmp_path, hostile=hostile(switch)) as bot:
            await bot.until_ready()
            assert "error" in json.loads((await bot.echo()).text)


class TestAProcess:
    async def test_knows_its_own_variables_and_none_of_ours(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DISCORD_TOKEN", "token-of-ours")
        no_shell_has = "npm_config_//registry.example/:_authToken"
        entry = {**hostile("--environment"), "env": {"NOTES": "値", no_shell_has: "t"}}
        async with running(tmp_path, hostile=entry) as bot:
            await bot.until_ready()
            told = dict(line.split("=", 1) for line in (await bot.echo()).text.splitlines())
        own = {"PATH", "HOME", "LANG", "NOTES", no_shell_has}
        assert set(told) - {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"} <= own  # Python sets these itself
        assert (told["NOTES"], told[no_shell_has]) == ("値", "t")

    async def test_ends_with_the_bot_even_if_it_does_not_want_to(self, tmp_path: Path) -> None:
        async with running(tmp_path, hostile=hostile("--stays"), good=hostile()) as bot:
            await bot.until_ready()
            await bot.until_ready("good")
            pids = [process_of(bot, name) for name in ("hostile", "good")]
            assert all(pids)
        for pid in filter(None, pids):
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)

    async def test_is_let_go_of_when_it_answers_nothing_after_a_call(self, tmp_path: Path) -> None:
        stuck = tmp_path / "stuck.py"
        stuck.write_text(STUCK, encoding="utf-8")
        entry = {**hostile(timeout_s=1), "args": [str(stuck)]}
        async with running(tmp_path, hostile=entry) as bot:
            await bot.until_ready()
            before = process_of(bot, "hostile")
            with pytest.raises(ToolTimedOut):
                await bot.echo()
            await bot.until(lambda: process_of(bot, "hostile") not in (before, None))

    async def test_says_on_stderr_what_is_on_record_until_it_was_told_something(self, tmp_path: Path) -> None:
        with capture_logs() as records:
            async with running(tmp_path, hostile=hostile("--stderr")) as bot:
                await bot.until_ready()
                await bot.echo("秘密の言葉")
                await bot.echo("another secret")
        assert not any("秘密の言葉" in str(record) or "another secret" in str(record) for record in records)
        assert [record for record in records if record["event"] == "tool_server_said"] == []


class TestTheStart:
    async def test_is_waited_for(self, tmp_path: Path) -> None:
        async with running(tmp_path, hostile=hostile("--slow-start", 1, timeout_s=60)) as bot:
            assert bot.servers.is_starting("hostile")
            await bot.servers.wait_for("hostile")
            assert not bot.servers.is_starting("hostile")

    async def test_is_waited_for_as_long_as_a_call_may_take(self, tmp_path: Path) -> None:
        async with running(tmp_path, hostile=hostile("--slow-start", 1000, timeout_s=1)) as bot:
            with pytest.raises(ToolServerAway):
                await bot.servers.wait_for("hostile")
            assert bot.servers.is_starting("hostile")

    async def test_of_a_server_that_is_away_is_not(self, tmp_path: Path) -> None:
        broken = {**hostile(timeout_s=60), "env": {"PYTHONHASHSEED": "no number"}}
        async with running(tmp_path, hostile=broken) as bot:
            with pytest.raises(ToolServerAway):
                await bot.servers.wait_for("hostile")
            assert bot.report().state == "away"
            with pytest.raises(ToolServerAway):
                await bot.servers.wait_for("hostile")


STUCK = """
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "tools/call":
        time.sleep(1000)
    if "id" not in message:
        continue
    tools = [{"name": "echo", "inputSchema": {"type": "object"}}]
    results = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "stuck", "version": "1"}},
        "tools/list": {"tools": tools},
    }
    result = results.get(message["method"])
    answer = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


def process_of(bot: Any, server: str) -> int | None:
    """The id of a server's process; None before there is one."""
    link = bot.servers.kept[server].link
    process = link._way._process if link and link._way else None
    return int(process.pid) if process else None


class TestTheTools:
    async def test_are_offered_by_the_names_of_server_and_tool(self, tmp_path: Path) -> None:
        async with running(tmp_path, hostile=hostile("--tool", "read.file", "--tool", "remember")) as bot:
            await bot.until_ready()
            assert bot.offered() == [
                "hostile__echo",
                "hostile__read_file",
                "hostile__remember",
                "hostile__write",
            ]

    async def test_with_names_that_fall_together_are_left_out(self, tmp_path: Path) -> None:
        async with running(tmp_path, hostile=hostile("--fall-together", "--tool", "x" * 60)) as bot:
            await bot.until_ready()
            assert bot.offered() == ["hostile__echo", "hostile__write"]
            assert bot.report().left_out == (
                LeftOutTool("a.b", "alike", 55),
                LeftOutTool("a/b", "alike", 55),
                LeftOutTool("x" * 60, "long_name", 55),
            )

    async def test_wait_unless_they_only_read(self, tmp_path: Path) -> None:
        for approve, waiting in (("writes", [False, True]), ("never", [False] * 2), ("always", [True] * 2)):
            async with running(tmp_path, hostile=hostile(approve=approve)) as bot:
                await bot.until_ready()
                assert [each.waits for each in bot.servers.tools_in(HERE)] == waiting

    @pytest.mark.parametrize(
        ("rules", "place", "there"),
        [
            ({}, ToolPlace(1), True),
            ({"guilds": [3]}, ToolPlace(1, (2,), 3), True),
            ({"guilds": [4]}, ToolPlace(1, (2,), 3), False),
            ({"guilds": [3]}, ToolPlace(1, (2,)), False),
            ({"guilds": [3], "dms": True}, ToolPlace(1, (2,)), True),
            ({"channels": [2]}, ToolPlace(1, (9, 2), 3), True),
            ({"channels": [8]}, ToolPlace(1, (9, 2), 3), False),
            ({"dms": False}, ToolPlace(1, (2,)), False),
            ({"roles": [7]}, ToolPlace(1, (2,), 3, (6, 7)), True),
            ({"roles": [7]}, ToolPlace(1, (2,), 3, (6,)), False),
            ({"roles": [7]}, ToolPlace(1, (2,), 3, None), False),
        ],
    )
    async def test_are_there_where_and_for_whom_the_file_says(
        self, tmp_path: Path, rules: dict[str, Any], place: ToolPlace, there: bool
    ) -> None:
        async with running(tmp_path, hostile=hostile(**rules)) as bot:
            await bot.until_ready()
            assert bool(bot.offered(place)) is there

    async def test_are_the_same_while_their_server_is_away_and_over_a_restart(self, tmp_path: Path) -> None:
        lists = KeptLists()
        async with running(tmp_path, lists=lists, b=hostile(), a=hostile()) as bot:
            await bot.until_ready("a")
            await bot.until_ready("b")
            before = bot.servers.tools_in(HERE)
        async with running(tmp_path, lists=lists, b=hostile(), a=hostile()) as bot:
            assert bot.servers.tools_in(HERE) == before
            with pytest.raises(ToolServerAway):
                await bot.echo(server="a")
            await bot.until_ready("a")
            assert bot.servers.tools_in(HERE) == before

    async def test_come_in_pages_and_an_endless_list_ends(self, tmp_path: Path) -> None:
        async with running(
            tmp_path, budget=100_000, ends=hostile("--paged", "ends"), endless=hostile("--paged", "endless")
        ) as bot:
            await bot.until_ready("ends")
            await bot.until_ready("endless")
            assert bot.report("ends").tools == 2
            assert bot.report("endless").tools <= 200

    async def test_are_as_many_and_as_long_as_can_be_told(self, tmp_path: Path) -> None:
        long = hostile("--long-description", 500_000)
        async with running(tmp_path, budget=100_000, many=hostile("--many", 2000), long=long) as bot:
            await bot.until_ready("many")
            await bot.until_ready("long")
            assert bot.report("many").tools == 200
            assert all(len(each.tool.description) <= 4001 for each in bot.servers.tools_in(HERE))

    @pytest.mark.slow
    async def test_that_take_more_than_a_message_may_are_never_there(self, tmp_path: Path) -> None:
        huge = hostile("--many", 10_000, "--long-description", 1000)
        async with running(tmp_path, huge=huge, good=hostile()) as bot:
            await bot.until(lambda: bot.report("huge").state == "away")
            await bot.until_ready("good")
            assert bot.offered() == ["good__echo", "good__write"]

    async def test_with_a_hostile_pattern_are_checked_without_it(self, tmp_path: Path) -> None:
        async with running(tmp_path, hostile=hostile("--slow-pattern", tools=["matching"])) as bot:
            await bot.until_ready()
            [matching] = bot.servers.tools_in(HERE)
            assert bot.servers.problem_with(matching.tool, {"text": "a" * 50 + "!"}) == ""

    async def test_of_the_same_name_are_left_out_and_told_of_once(self, tmp_path: Path) -> None:
        (listed := tmp_path / "tools.json").write_text(
            json.dumps([tool("echo"), tool("twice"), tool("twice", "another one")]), "utf-8"
        )
        async with running(tmp_path, hostile=hostile("--list", listed)) as bot:
            await bot.until_ready()
            assert bot.offered() == ["hostile__echo"]
            [left_out] = bot.report().left_out
        assert (left_out.name, left_out.reason) == ("twice", "alike")


class TestAListThatChanges:
    async def test_is_withheld_until_it_is_accepted(self, tmp_path: Path) -> None:
        file, lists = tmp_path / "tools.json", KeptLists()
        file.write_text(json.dumps([tool("a", "読みます"), tool("b"), tool("c")]))
        async with running(tmp_path, lists=lists, hostile=hostile("--list", file)) as bot:
            await bot.until_ready()
            assert bot.offered() == ["hostile__a", "hostile__b", "hostile__c"]
        file.write_text(json.dumps([tool("a", "すべて消します"), tool("b"), tool("d")]))
        async with running(tmp_path, lists=lists, hostile=hostile("--list", file)) as bot:
            await bot.until_ready()
            assert bot.offered() == ["hostile__b"]
            assert bot.report().withheld == ("a", "c", "d")
            assert await bot.accept()
            assert bot.offered() == ["hostile__a", "hostile__b", "hostile__d"]
            assert not await bot.accept()

    async def test_while_the_server_runs_is_heard_of(self, tmp_path: Path) -> None:
        file = tmp_path / "tools.json"
        file.write_text(json.dumps([tool("echo")]))
        async with running(tmp_path, hostile=hostile("--list", file, "--list-changed")) as bot:
            await bot.until_ready()
            file.write_text(json.dumps([tool("echo", properties={"text": {"type": "integer"}})]))
            await bot.echo()
            await bot.until(lambda: bot.report().withheld == ("echo",))
            assert bot.offered() == []

    async def test_with_another_command_is_withheld_as_well(self, tmp_path: Path) -> None:
        """It may be another version of the same program, or lead out of what was withheld before."""
        lists = KeptLists()
        async with running(tmp_path, lists=lists, hostile=hostile()) as bot:
            await bot.until_ready()
        async with running(tmp_path, lists=lists, hostile=hostile("--tool", "more")) as bot:
            await bot.until_ready()
            await bot.until(lambda: bot.report().withheld == ("more",))
            assert bot.offered() == ["hostile__echo", "hostile__write"]
            assert await bot.accept()
            assert "hostile__more" in bot.offered()

    @pytest.mark.slow
    async def test_that_is_very_long_is_offered_in_part(self, tmp_path: Path) -> None:
        long = {f"p{number}": {"type": "string", "description": "長" * 20} for number in range(300)}
        file = tmp_path / "tools.json"
        file.write_text(json.dumps([tool(f"t{number:03}", properties=long) for number in range(60)]))
        async with running(tmp_path, hostile=hostile("--list", file)) as bot:
            await bot.until_ready()
            await bot.until(lambda: bot.report().left_out)
            reasons = {each.reason for each in bot.report().left_out}
            assert 0 < bot.report().tools < 60
        assert reasons == {"too_large"}

    @pytest.mark.parametrize(
        ("odd", "reasons"),
        [
            ({"inputSchema": {}}, []),
            ({"inputSchema": {"oneOf": [{"properties": {"text": {"type": "string"}}}]}}, []),
            ({"inputSchema": {"type": "object", "required": "text"}}, ["no_schema"]),
            ({"inputSchema": {"type": "array"}}, ["no_object"]),
            ({"inputSchema": None}, ["no_schema"]),
            ({"inputSchema": {"type": "object", "properties": {"text": 1}}}, ["no_schema"]),
            ({"annotations": "read-only", "icons": 1, "execution": [], "title": 2, "description": {}}, []),
            ({"name": 7}, None),
        ],
    )
    async def test_that_is_not_as_the_protocol_has_it_keeps_no_other_away(
        self, tmp_path: Path, odd: Mapping[str, Any], reasons: Sequence[str] | None
    ) -> None:
        file = tmp_path / "tools.json"
        file.write_text(json.dumps([tool("good"), {**tool("odd"), **odd}]))
        async with running(tmp_path, hostile=hostile("--list", file)) as bot:
            await bot.until_ready()
            assert [each.reason for each in bot.report().left_out] == (reasons or [])
            there = ["hostile__good", *(["hostile__odd"] if reasons == [] else [])]
            assert bot.offered() == there

    async def test_has_names_that_stay_apart_where_no_sign_of_theirs_is_left(self, tmp_path: Path) -> None:
        file = tmp_path / "tools.json"
        file.write_text(json.dumps([tool("検索"), tool("作成"), tool("検索_a"), tool("get.時刻")]))
        async with running(tmp_path, hostile=hostile("--list", file)) as bot:
            await bot.until_ready()
            names = ["hostile__get___", "hostile__t_1b6b1a6f", "hostile__t_900f8294", "hostile_____a"]
            assert sorted(bot.offered()) == sorted(names)
            assert bot.report().left_out == ()

    async def test_of_nobody_can_neither_be_read_nor_accepted(self, tmp_path: Path) -> None:
        async with running(tmp_path) as bot:
            with pytest.raises(ToolServerUnknown):
                await bot.servers.accept("nobody", "")
            with pytest.raises(ToolServerUnknown):
                bot.servers.details("nobody")

    async def test_is_told_as_it_was_agreed_to_and_as_it_is(self, tmp_path: Path) -> None:
        file, lists = tmp_path / "tools.json", KeptLists()
        text = {"text": {"type": "string"}}
        file.write_text(json.dumps([tool("a", "読みます"), tool("b"), tool("c"), tool("e")]))
        entry = hostile("--list", file, deny=["e"])
        async with running(tmp_path, lists=lists, hostile=entry) as bot:
            await bot.until_ready()
        listed = [
            tool("a", "すべて消します", properties=text),
            tool("b"),
            tool("d"),
            tool("e"),
            tool("x" * 70),
        ]
        file.write_text(json.dumps(listed))
        async with running(tmp_path, lists=lists, hostile=entry) as bot:
            await bot.until_ready()
            details = bot.servers.details("hostile")
            assert [(each.full_name[:10], each.standing) for each in details] == [
                ("hostile__a", "changed"),
                ("hostile__c", "gone"),
                ("hostile__d", "new"),
                ("hostile__x", "new"),
                ("hostile__b", "offered"),
                ("hostile__e", "unnamed"),
            ]
            changed, gone, new, *_ = details
            assert changed.agreed
            assert changed.now
            assert (changed.agreed.description, changed.now.description) == ("読みます", "すべて消します")
            assert json.loads(changed.now.schema)["properties"] == text
            assert (changed.now.read_only, changed.now.waits) == (False, True)
            assert (gone.now, new.agreed) == (None, None)
            assert await bot.accept() == ("hostile__a", "hostile__b", "hostile__d")
            [long] = [each for each in bot.servers.details("hostile") if each.full_name[-1] == "x"]
            assert long.standing == "left_out"

    async def test_that_changed_since_it_was_read_is_not_accepted(self, tmp_path: Path) -> None:
        file = tmp_path / "tools.json"
        file.write_text(json.dumps([tool("echo", "読みます")]))
        async with running(tmp_path, hostile=hostile("--list", file, "--list-changed")) as bot:
            await bot.until_ready()
            read = bot.report().code
            file.write_text(json.dumps([tool("echo", "すべて送ります")]))
            await bot.echo()
            await bot.until(lambda: bot.report().withheld == ("echo",))
            for code in (read, "", read[:-1]):
                with pytest.raises(ToolListNotShown):
                    await bot.servers.accept("hostile", code)
            assert bot.offered() == []
            assert bot.report().code != read
            assert await bot.accept() == ("hostile__echo",)
            assert bot.report().code == ""
            assert await bot.servers.accept("hostile", read) is None

    async def test_of_a_server_that_was_never_there_is_not_known(self, tmp_path: Path) -> None:
        async with running(tmp_path, slow=hostile("--slow-start", 60)) as bot:
            assert bot.servers.details("slow") == ()
            assert await bot.servers.accept("slow", "") is None


def exiting(code: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-c", code, "geheim-1"], "env": {"K": "geheim-2"}}


AWAY = [
    (exiting("raise SystemExit(7)"), "ended with code 7"),
    (exiting("import os; os.kill(os.getpid(), 9)"), "ended with code -9"),
    ({"url": "http://127.0.0.1:{port}/geheim-1", "headers": {"A": "geheim-2"}}, "connection refused"),
    ({"url": "http://geheim-1.invalid/mcp"}, "gaierror"),
]


class TestAServerThatIsAway:
    @pytest.mark.parametrize(("entry", "problem"), AWAY, ids=[problem for _, problem in AWAY])
    async def test_is_on_record_once_with_the_cause_and_no_value_of_the_file(
        self, tmp_path: Path, entry: dict[str, Any], problem: str
    ) -> None:
        if "url" in entry:
            entry = {**entry, "url": entry["url"].replace("{port}", str(closed_port()))}
        with capture_logs() as records:
            async with running(tmp_path, hostile=entry) as bot:
                await bot.until(lambda: bot.report().state == "away")
        away = [record for record in records if record["event"] == "tool_server_away"]
        assert [record["problem"] for record in away] == [problem]
        assert "geheim" not in str(away)

    async def test_ended_in_a_call_is_on_record_with_its_code(self, tmp_path: Path) -> None:
        with capture_logs() as records:
            async with running(tmp_path, hostile=hostile("--die")) as bot:
                await bot.until_ready()
                with pytest.raises(ToolCallLost):
                    await bot.echo()
                await bot.until(lambda: [each for each in records if each["event"] == "tool_server_away"])
        [away] = [each for each in records if each["event"] == "tool_server_away"]
        assert away["problem"] == "ended with code 3"


class TestTheBudget:
    async def test_leaves_out_the_servers_that_are_over_it(self, tmp_path: Path) -> None:
        with capture_logs() as records:
            async with running(tmp_path, budget=300, first=hostile(), second=hostile()) as bot:
                await bot.until_ready("first")
                await bot.until(lambda: bot.report("second").tokens)
                assert bot.offered() == ["first__echo", "first__write"]
                assert bot.report("second").state == "over_budget"
        assert "tools_over_budget" in [record["event"] for record in records]

    async def test_refuses_a_start_with_more_than_that_and_says_what_each_takes(self, tmp_path: Path) -> None:
        lists = KeptLists()
        async with running(tmp_path, lists=lists, first=hostile(), second=hostile()) as bot:
            await bot.until_ready("first")
            await bot.until_ready("second")
        with pytest.raises(InvalidToolServers, match=r"400 tokens.*300.*first 200, second 200"):
            async with running(tmp_path, lists=lists, budget=300, first=hostile(), second=hostile()):
                pass


class TestTheFile:
    async def test_that_changes_restarts_only_the_servers_that_changed(self, tmp_path: Path) -> None:
        async with running(tmp_path, a=hostile(), b=hostile()) as bot:
            await bot.until_ready("a")
            await bot.until_ready("b")
            a, b = process_of(bot, "a"), process_of(bot, "b")
            bot.write(a=hostile(deny=["write"]), b=hostile("--tool", "more"), c=hostile())
            await bot.until(lambda: "c" in bot.servers.kept)
            await bot.until_ready("c")
            await bot.until_ready("b")
            assert process_of(bot, "a") == a
            assert process_of(bot, "b") != b
            assert bot.offered()[0] == "a__echo"
            assert "a__write" not in bot.offered()
            bot.write(a=hostile())
            await bot.until(lambda: list(bot.servers.kept) == ["a"])

    async def test_delays_nobody_by_a_server_that_takes_long(self, tmp_path: Path) -> None:
        async with running(tmp_path, slow=hostile("--slow-start", 60), good=hostile()) as bot:
            assert bot.report("slow").state == "starting"
            await bot.until_ready("good")
            assert bot.report("slow").state == "starting"
            with pytest.raises(ToolGone):
                await bot.echo(server="slow")

    async def test_with_a_server_that_greets_in_no_json_is_no_trouble(self, tmp_path: Path) -> None:
        async with running(tmp_path, hostile=hostile("--no-json-at-start")) as bot:
            await bot.until_ready()
            assert (await bot.echo("はい")).text == "はい"


def test_a_name_of_ours_is_no_name_of_a_servers_tool() -> None:
    assert ServerTool("a b", "c.d/え", "", {}).full_name == "a_b__c_d__"


def hints(folder: Path, *open_world: object) -> Path:
    """A list of one tool for each of these hints."""
    tools = [{**tool(f"t{n}"), "annotations": {"openWorldHint": each}} for n, each in enumerate(open_world)]
    path = folder / "hints.json"
    path.write_text(json.dumps([*tools, tool("unsaid")]), encoding="utf-8")
    return path


def local(bot: Running) -> list[str]:
    return [each.tool.name for each in bot.servers.tools_in(HERE) if not each.tool.open_world]


class TestAToolThatIsClosed:
    async def test_is_believed_to_be_once_an_owner_accepted_that(self, tmp_path: Path) -> None:
        listing = hints(tmp_path, False, True, "no", 0, None)
        async with running(tmp_path, hostile=hostile("--list", listing)) as bot:
            await bot.until_ready()
            assert local(bot) == []
            await bot.accept()
            assert local(bot) == ["t0"]

    async def test_is_believed_no_more_once_its_server_says_otherwise(self, tmp_path: Path) -> None:
        lists = KeptLists()
        for open_world, believed in ((False, ["t0"]), (True, []), (False, ["t0"])):
            entry = hostile("--list", hints(tmp_path, open_world))
            async with running(tmp_path, lists=lists, hostile=entry) as bot:
                await bot.until_ready()
                before = local(bot)
                assert bot.report().withheld == ()
                await bot.accept()
                assert (before, local(bot)) == ([], believed)

    @pytest.mark.parametrize(
        ("patterns", "expected"), [(["*"], ["t0", "t1", "unsaid"]), (["t1"], ["t1"]), ([], [])], ids=str
    )
    async def test_is_what_the_operator_says(
        self, tmp_path: Path, patterns: list[str], expected: list[str]
    ) -> None:
        listing = hints(tmp_path, False, True)
        async with running(tmp_path, hostile=hostile("--list", listing, local=patterns)) as bot:
            await bot.until_ready()
            await bot.accept()
            assert local(bot) == expected

    async def test_was_listed_as_it_was_before_hints_were_kept(self, tmp_path: Path) -> None:
        stored = to_text([listed("echo", "", {}, read_only=True)])
        assert stored == to_text(from_text(stored))
        [[*_, digest]] = json.loads(stored)
        assert listed("echo", "", {}, read_only=True, open_world=False).digest == digest


class TestAnOwner:
    async def test_vouches_for_tools_by_accepting_them_and_not_for_what_comes_later(
        self, tmp_path: Path
    ) -> None:
        lists = KeptLists()
        async with running(tmp_path, lists=lists, hostile=hostile()) as bot:
            await bot.until_ready()
            assert not bot.report().vouched
            assert not any(each.vouched for each in bot.servers.tools_in(HERE))
            assert await bot.accept()
            assert all(each.vouched for each in bot.servers.tools_in(HERE))
        async with running(tmp_path, lists=lists, hostile=hostile("--tool", "more")) as bot:
            await bot.until_ready()
            assert [each.tool.full_name for each in bot.servers.tools_in(HERE) if each.vouched] == [
                *("hostile__echo", "hostile__write")
            ]
            assert bot.report().withheld == ("more",)
