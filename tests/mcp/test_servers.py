"""The servers of a file are started, supervised and called; a failing one affects no other."""

import asyncio
import gc
import json
import os
import resource
import sys
import warnings
from pathlib import Path
from typing import Any, Final

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.access import Visitor
from cc_bot.domain.errors import ToolCallLost, ToolGone, ToolServerUnavailable, ToolTimedOut
from cc_bot.features.mcp.file import ServerEntry, ServerRules
from cc_bot.features.mcp.transports import ServerProcess
from tests.mcp.running import HERE, KeptLists, Running, closed_port, hostile, ready, running

NO_PYTHON: Final = {"PYTHONHASHSEED": "no number, so that Python does not start"}


def calls(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


class TestACall:
    async def test_is_made_and_its_result_comes_back(self, tmp_path: Path) -> None:
        async with ready(tmp_path, "--count", tmp_path / "calls", tools=["echo"]) as bot:
            assert (await bot.echo("こんにちは")).text == "こんにちは"
            for server, name in (("hostile", "write"), ("other", "echo")):
                with pytest.raises(ToolGone):
                    await bot.servers.call(server, name, {"text": "a"})
        assert calls(tmp_path / "calls") == [{"name": "echo", "arguments": {"text": "こんにちは"}}]

    async def test_that_is_not_answered_or_is_stopped_is_cancelled_at_the_server(
        self, tmp_path: Path
    ) -> None:
        counted = tmp_path / "calls"
        async with ready(tmp_path, "--never-answer", "--count", counted, timeout_s=1) as bot:
            with pytest.raises(ToolTimedOut):
                await bot.echo()
            await bot.until(lambda: calls(counted).count({"cancelled": True}) == 1)
            assert bot.server().state == "ready"  # it answers other questions
            call = asyncio.create_task(bot.echo())
            await bot.until(lambda: len(calls(counted)) == 3)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await bot.until(lambda: calls(counted).count({"cancelled": True}) == 2)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "switches", [["--die"], ["--flood"], ["--long-line", 500_000_000], ["--deep", 4000]], ids=str
    )
    async def test_in_which_the_server_fails_is_told_as_lost_and_harms_no_other(
        self, tmp_path: Path, switches: list[object]
    ) -> None:
        async with running(tmp_path, hostile=hostile(*switches, timeout_s=5), good=hostile()) as bot:
            await bot.until_ready()
            await bot.until_ready("good")
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            lost = asyncio.create_task(bot.echo())
            for _ in range(20):
                assert (await bot.echo("元気", server="good")).text == "元気"
            with pytest.raises((ToolCallLost, ToolTimedOut)):
                await lost
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024  # KiB
            await bot.until_ready()  # it is started anew

    async def test_that_is_answered_badly_is_that_call_alone(self, tmp_path: Path) -> None:
        async with running(
            tmp_path,
            letters=hostile("--no-characters"),
            text=hostile("--no-json", timeout_s=1),
            failing=hostile("--fail"),
            refusing=hostile("--refuse"),
            unread=hostile("--no-result"),
        ) as bot:
            for name in ("letters", "text", "failing", "refusing", "unread"):
                await bot.until_ready(name)
            for _ in range(2):
                assert (await bot.echo("😀", "letters")).text == "😀 ? \ufffd \\ud83d"
            with pytest.raises(ToolTimedOut):
                await bot.echo(server="text")
            for name, words in (("failing", "それはできません"), ("refusing", "満室です")):
                result = await bot.echo(server=name)
                assert (result.ok, result.text) == (False, words)
            assert (bot.server("failing").call_count, bot.server("failing").failure_count) == (1, 1)
            with pytest.raises(ToolCallLost):
                await bot.echo(server="unread")

    async def test_to_a_server_that_is_away_is_refused_and_its_tools_stay(self, tmp_path: Path) -> None:
        lists = KeptLists()
        async with running(tmp_path, lists=lists, hostile=hostile()) as bot:
            await bot.until_ready()
            before = bot.servers.tools_for(HERE)
        for gone in (hostile("--slow-start", 30), {**hostile(), "env": NO_PYTHON}):
            async with running(tmp_path, lists=lists, hostile=gone) as bot:
                assert bot.servers.tools_for(HERE) == before
                with pytest.raises(ToolServerUnavailable):
                    await bot.echo()
        async with running(tmp_path, lists=lists, hostile=hostile()) as bot:
            assert bot.servers.tools_for(HERE) == before
            await bot.until_ready()
            assert bot.servers.tools_for(HERE) == before

    async def test_in_which_the_server_asks_the_user_the_model_or_the_disk_is_declined(
        self, tmp_path: Path
    ) -> None:
        user, model, disk = map(hostile, ("--elicit", "--sample", "--roots"))
        async with running(tmp_path, user=user, model=model, disk=disk) as bot:
            for name in ("user", "model", "disk"):
                await bot.until_ready(name)
                assert "error" in json.loads((await bot.echo(server=name)).text)


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

    def test_has_ended_after_a_start_or_an_end_that_was_cancelled_at_any_moment(self) -> None:
        async def hold() -> None:
            async with ServerProcess(ServerEntry("cat", ServerRules(), "/bin/cat", environment={})):
                await asyncio.sleep(0)

        async def cancel_after(steps: int) -> None:
            task = asyncio.create_task(hold())
            for step in range(steps + 2):
                if step >= steps:
                    task.cancel()  # twice, as the end of a task group does
                await asyncio.sleep(0)
            await asyncio.wait([task])

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for steps in range(1, 25):  # starting takes up to twenty
                asyncio.run(cancel_after(steps))
            gc.collect()
        assert [warning for warning in caught if "still running" in str(warning.message)] == []

    async def test_leaves_nothing_it_says_on_stderr(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with capture_logs() as records:
            async with ready(tmp_path, "--stderr") as bot:
                await bot.echo("秘密の言葉")
        assert "秘密の言葉" not in str(records) + str(capfd.readouterr())


def process_of(bot: Running, server: str) -> int | None:
    """Return the id of a server's process; None if there is none."""
    connection = bot.servers.managed[server].connection
    process: Any = getattr(connection._transport, "_process", None) if connection else None
    return int(process.pid) if process else None


class TestTheStart:
    async def test_is_waited_for_as_long_as_a_call_may_take(self, tmp_path: Path) -> None:
        async with running(
            tmp_path,
            slow=hostile("--slow-start", 1, timeout_s=60),
            never=hostile("--slow-start", 1000, timeout_s=1),
            broken={**hostile(timeout_s=60), "env": NO_PYTHON},
            greeting=hostile("--no-json-at-start"),
        ) as bot:
            assert bot.servers.is_starting("slow")
            with pytest.raises(ToolGone):
                await bot.echo(server="slow")
            await bot.servers.wait_for("slow")
            assert not bot.servers.is_starting("slow")
            for name in ("never", "broken", "broken"):
                with pytest.raises(ToolServerUnavailable):
                    await bot.servers.wait_for(name)
            assert bot.servers.is_starting("never")
            assert bot.server("broken").state == "away"
            await bot.until_ready("greeting")
            assert (await bot.echo("はい", "greeting")).text == "はい"

    async def test_of_a_server_that_is_away_is_on_record_once_with_the_cause_and_no_value_of_the_file(
        self, tmp_path: Path
    ) -> None:
        away = {
            "ended 7": exiting("raise SystemExit(7)"),
            "ended -9": exiting("import os; os.kill(os.getpid(), 9)"),
            "refused": {"url": f"http://127.0.0.1:{closed_port()}/geheim-1", "headers": {"A": "geheim-2"}},
            "error gaierror": {"url": "http://geheim-1.invalid/mcp"},
        }
        entries: dict[str, Any] = {f"s{number}": entry for number, entry in enumerate(away.values())}
        with capture_logs() as records:
            async with running(tmp_path, hostile=hostile("--die"), **entries) as bot:
                await bot.until_ready()
                with pytest.raises(ToolCallLost):
                    await bot.echo()
                for name in entries:
                    await bot.until(lambda name=name: bot.server(name).state == "away")  # type: ignore[misc]
                await bot.until(lambda: len(problems(records)) > len(away))
        assert sorted(problems(records)) == sorted([*away, "ended 3"])
        assert "geheim" not in str([each for each in records if each["event"] == "tool_server_away"])


def exiting(code: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-c", code, "geheim-1"], "env": {"K": "geheim-2"}}


def problems(records: Any) -> list[str]:
    return [each["problem"] for each in records if each["event"] == "tool_server_away"]


class TestTheLocations:
    async def test_are_where_and_for_whom_the_file_says(self, tmp_path: Path) -> None:
        entries: dict[str, Any] = {
            f"s{number}": hostile(**rules) for number, (rules, *_) in enumerate(LOCATIONS)
        }
        async with running(tmp_path, budget=100_000, **entries) as bot:
            for name, (rules, location, there) in zip(entries, LOCATIONS, strict=True):
                await bot.until_ready(name)
                offered = [each for each in bot.offered(location) if each.startswith(f"{name}__")]
                assert bool(offered) is there, (rules, location)


LOCATIONS: Final[tuple[tuple[dict[str, Any], Visitor, bool], ...]] = (
    ({}, Visitor(1), True),
    ({"guilds": [3]}, Visitor(1, (2,), 3), True),
    ({"guilds": [4]}, Visitor(1, (2,), 3), False),
    ({"guilds": [3], "dms": True}, Visitor(1, (2,)), True),
    ({"channels": [2]}, Visitor(1, (9, 2), 3), True),
    ({"channels": [8]}, Visitor(1, (9, 2), 3), False),
    ({"roles": [7]}, Visitor(1, (2,), 3, frozenset({6, 7})), True),
    ({"roles": [7]}, Visitor(1, (2,), 3, frozenset({6})), False),
)


class TestTheBudget:
    async def test_leaves_out_the_servers_that_are_over_it(self, tmp_path: Path) -> None:
        with capture_logs() as records:
            async with running(tmp_path, budget=150, first=hostile(), second=hostile()) as bot:
                await bot.until_ready("first")
                await bot.until(lambda: bot.server("second").catalog.code)
                await bot.accept("second")
                assert bot.offered() == ["first__echo", "first__write"]
                assert bot.server("second").state == "over_budget"
        assert "tools_over_budget" in [record["event"] for record in records]


class TestTheFile:
    async def test_that_changes_restarts_only_the_servers_that_changed(self, tmp_path: Path) -> None:
        async with running(tmp_path, a=hostile(), b=hostile()) as bot:
            await bot.until_ready("a")
            await bot.until_ready("b")
            a, b = process_of(bot, "a"), process_of(bot, "b")
            bot.write(a=hostile(deny=["write"]), b=hostile("--tool", "more"), c=hostile())
            await bot.until(lambda: "c" in bot.servers.managed)
            await bot.until_ready("c")
            await bot.until_ready("b")
            assert process_of(bot, "a") == a
            assert process_of(bot, "b") != b
            assert bot.offered()[0] == "a__echo"
            assert "a__write" not in bot.offered()
            bot.write(a=hostile())
            await bot.until(lambda: list(bot.servers.managed) == ["a"])
