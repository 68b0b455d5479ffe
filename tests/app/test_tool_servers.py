"""Servers with tools, put together with the rest: only where a file names one, and by the operator's word."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from cc_bot.app.core import open_core
from cc_bot.config import read_config
from cc_bot.domain.clock import utc_now
from tests.end_to_end.program import Program
from tests.loopback.model_requests import new_tool_results
from tests.loopback.model_server import Call, LoopbackModelServer, calls, says
from tests.mcp.running import HERE, closed_port, hostile, write

OPEN = """
import asyncio, sys
from cc_bot.app.core import open_core
from cc_bot.config import read_config
from cc_bot.domain.clock import utc_now

async def main():
    async with open_core(read_config(), utc_now):
        await asyncio.sleep(0.1)

asyncio.run(main())
names = ("mcp", "mcp_types", "jsonschema", "referencing")
print("loaded:", *[name for name in names if name in sys.modules])
"""


def opened(folder: Path, code: str = OPEN, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "data").mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"PATH": str(Path(sys.executable).parent), "CC_BOT_LOCALE": "en", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


class TestWithoutAFile:
    @pytest.mark.slow
    def test_nothing_of_the_library_is_loaded(self, tmp_path: Path) -> None:
        done = opened(tmp_path)
        assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["loaded:"])

    @pytest.mark.slow
    def test_nor_with_one_in_which_every_server_is_switched_off(self, tmp_path: Path) -> None:
        write(tmp_path / "mcp.json", {"notes": {"command": "is-not-there", "disabled": True}})
        done = opened(tmp_path, CC_BOT_MCP_FILE="mcp.json")
        assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["loaded:"])


class TestTheStart:
    @pytest.mark.parametrize(
        ("entry", "named"),
        [
            ({"command": "is-not-there"}, ["notes", "command"]),
            ({"command": "python", "env": {"KEY": "${NOWHERE_SET}"}}, ["notes", "env.KEY", "NOWHERE_SET"]),
            ({"command": "python", "comand": ""}, ["notes", "comand"]),
        ],
    )
    @pytest.mark.parametrize("locale", ["ja", "en"])
    async def test_ends_with_one_sentence_for_what_can_not_be(
        self, tmp_path: Path, entry: dict[str, Any], named: list[str], locale: str
    ) -> None:
        (tmp_path / "data").mkdir()
        write(tmp_path / "data" / "mcp.json", {"notes": entry})
        code, output = await Program(tmp_path, {"CC_BOT_LOCALE": locale}).run("chat")
        assert code == 2
        assert all(word in output for word in ("mcp.json", *named))
        assert len(output.strip().splitlines()) == 1

    @pytest.mark.slow
    def test_says_what_is_to_be_installed_where_the_library_is_missing(self, tmp_path: Path) -> None:
        write(tmp_path / "mcp.json", {"notes": {"command": "python"}})
        missing = "import sys; sys.modules['mcp'] = None\n" + OPEN
        done = opened(tmp_path, missing, CC_BOT_MCP_FILE="mcp.json")
        assert done.returncode != 0
        assert "cc-bot[mcp]" in done.stderr


class TestTheTools:
    async def test_are_kept_in_the_database_for_the_next_start(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "data").mkdir()
        write(tmp_path / "data" / "mcp.json", {"hostile": hostile()})
        config = read_config({"PATH": str(Path(sys.executable).parent)})
        async with open_core(config, utc_now) as core:
            async with asyncio.timeout(60):
                while core.servers.reports()[0].state != "ready":  # noqa: ASYNC110 - it tells nobody
                    await asyncio.sleep(0.02)
            before = core.servers.tools_in(HERE)
            assert [each.tool.full_name for each in before] == ["hostile__echo", "hostile__write"]
            assert core.servers.reports()[0].tokens > 20
        async with open_core(config, utc_now) as core:
            assert json.dumps([dict(each.tool.parameters) for each in core.servers.tools_in(HERE)]) == (
                json.dumps([dict(each.tool.parameters) for each in before])
            )

    async def test_that_an_agent_names_and_no_server_has_are_on_record_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "data").mkdir()
        write(tmp_path / "data" / "mcp.json", {"good": hostile()})
        (tmp_path / "data" / "agents.toml").write_text(
            '[agents.tester]\ntools = ["recall", "good__echo", "good__ekko", "nosuch__*"]\n'
        )
        config = read_config({"PATH": str(Path(sys.executable).parent)})
        with capture_logs() as records:
            async with open_core(config, utc_now) as core, asyncio.timeout(60):
                await core.servers.settle()
                while not (told := named(records)):  # noqa: ASYNC110 - it tells nobody
                    await asyncio.sleep(0.02)
                await asyncio.sleep(0.2)
        assert told == [("tester", ("good__ekko", "nosuch__*"))]
        assert named(records) == told


def named(records: Sequence[Any]) -> list[tuple[str, tuple[str, ...]]]:
    """Who names which tools that are not there."""
    return [
        (each["agent"], each["tools"]) for each in records if each["event"] == "agent_names_missing_tools"
    ]


class TestTheTerminal:
    async def test_has_them_at_the_first_question_that_comes_through_a_pipe(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        write(tmp_path / "data" / "mcp.json", {"hostile": hostile("--slow-start", 2)})
        async with LoopbackModelServer(
            calls(Call("hostile__echo", {"text": "猫"})), says("猫です。")
        ) as model:
            settings = {"OPENAI_BASE_URL": model.base_url, "CC_BOT_MODEL": "loopback", "CC_BOT_LOCALE": "ja"}
            code, output = await Program(tmp_path, settings).run("chat", stdin="猫と言って\n".encode())
            assert code == 0
            assert "ツールのサーバーにつないでいます…" in output
            assert "猫" in new_tool_results(model.requests[-1].body)[0]
            assert "no such tool" not in str(model.requests[-1].body)


async def examine(
    folder: Path, settings: Mapping[str, str], *options: str
) -> tuple[int, dict[str, list[str]]]:
    """Have the doctor look, and return what it says of servers with tools by the sign before it. It takes the
    time that servers need to start on a busy machine, which `--json` does not."""
    code, output = await Program(folder, settings).run("doctor", *options)
    told: dict[str, list[str]] = {"✓": [], "!": [], "✗": []}
    for line in output.splitlines():
        if re.match(r"[✓!✗] \S+\s+(ツールのサーバー|Servers with tools): ", line):
            told[line[0]].append(line)
    return code, told


class TestTheDoctor:
    @pytest.mark.parametrize(
        ("locale", "told"),
        [
            (
                "en",
                [
                    *(
                        "good was started and answers; tools: 2",
                        "bad is not there: its program ended with code 1",
                    ),
                    *("shut is not there: connection refused", "odd has tools", "a.b"),
                ],
            ),
            (
                "ja",
                [
                    *("good: 起動して確かめました。ツール 2", "bad: つながりません。プログラムがコード 1 で"),
                    *("shut: つながりません。接続を拒否", "odd: 使えないツール", "a.b"),
                ],
            ),
        ],
    )
    async def test_tries_each_server_and_tells_no_value(
        self, tmp_path: Path, locale: str, told: list[str]
    ) -> None:
        (tmp_path / "data").mkdir()
        bad = {
            "command": sys.executable,
            "args": ["-c", "raise SystemExit('geheim-1')"],
            "env": {"K": "geheim-2"},
        }
        shut = {"url": f"http://127.0.0.1:{closed_port()}/geheim-3"}
        odd = hostile("--fall-together", timeout_s=60)
        entries = {"good": hostile(timeout_s=60), "bad": bad, "shut": shut, "odd": odd}
        write(tmp_path / "data" / "mcp.json", entries)
        _, output = await Program(tmp_path, {"CC_BOT_LOCALE": locale}).run("doctor")
        assert all(words in output for words in told), output
        assert "geheim" not in output

    @pytest.mark.parametrize(
        ("locale", "told"),
        [
            (
                "en",
                [
                    "typo has no tool that may be used",
                    "echo, write",
                    "empty has no tools at all",
                    "once each",
                ],
            ),
            (
                "ja",
                ["typo: 使えるツールがありません", "echo, write", "empty: ツールが1つも", "記号を _ に"],
            ),
        ],
    )
    async def test_warns_of_servers_without_a_tool_that_fits(
        self, tmp_path: Path, locale: str, told: list[str]
    ) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "tools.json").write_text("[]")
        empty = hostile("--list", tmp_path / "tools.json", timeout_s=60)
        odd, typo = hostile("--fall-together", timeout_s=60), hostile(timeout_s=60, tools=["eko"])
        write(tmp_path / "data" / "mcp.json", {"typo": typo, "empty": empty, "odd": odd})
        _, found = await examine(tmp_path, {"CC_BOT_LOCALE": locale})
        warned = "\n".join(found["!"])
        assert all(words in warned for words in told), found

    @pytest.mark.parametrize("options", [["--offline"], []])
    async def test_warns_of_tools_that_an_agent_names_and_no_server_has(
        self, tmp_path: Path, options: list[str]
    ) -> None:
        (tmp_path / "data").mkdir()
        write(tmp_path / "data" / "mcp.json", {"good": hostile(timeout_s=60)})
        names = '["good__echo", "good__ekko", "good__*", "nosuch__*"]'
        (tmp_path / "data" / "agents.toml").write_text(f"[agents.tester]\ntools = {names}\n")
        _, found = await examine(tmp_path, {"CC_BOT_LOCALE": "ja"}, *options)
        [warned] = found["!"]
        assert "tester" in warned
        assert warned.endswith(": nosuch__*" if options else ": good__ekko, nosuch__*")

    async def test_says_what_each_server_takes_where_it_is_too_much(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        write(tmp_path / "data" / "mcp.json", {"good": hostile(timeout_s=60)})
        settings = {"CC_BOT_LOCALE": "en", "CC_BOT_TOOL_TOKENS": "10"}
        code, found = await examine(tmp_path, settings)
        [failed] = found["✗"]
        assert "more than the 10 of CC_BOT_TOOL_TOKENS (good " in failed
        assert code == 1
