"""Servers with tools, put together with the rest: only where a file names one, and by the operator's word."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cc_bot.app.core import Core, open_core
from cc_bot.config import Config, read_config
from cc_bot.domain.clock import utc_now
from cc_bot.features.mcp.servers import Servers
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
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"PATH": str(Path(sys.executable).parent), "CC_BOT_LOCALE": "en", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Where a program in `tmp_path` looks for its files."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


class TestTheLibrary:
    @pytest.mark.slow
    @pytest.mark.usefixtures("data")
    def test_is_loaded_only_for_a_server_that_is_switched_on(self, tmp_path: Path) -> None:
        write(tmp_path / "mcp.json", {"notes": {"command": "is-not-there", "disabled": True}})
        for settings in ({}, {"CC_BOT_MCP_FILE": "mcp.json"}):
            done = opened(tmp_path, **settings)
            assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["loaded:"])


class TestTheStart:
    @pytest.mark.parametrize(
        ("entry", "named", "locale"),
        [
            ({"command": "is-not-there"}, ["notes", "command"], "ja"),
            ({"command": "python", "env": {"K": "${NOWHERE_SET}"}}, ["notes", "env.K", "NOWHERE_SET"], "en"),
            ({"command": "python", "comand": ""}, ["notes", "comand"], "ja"),
        ],
    )
    async def test_ends_with_one_sentence_for_what_can_not_be(
        self, tmp_path: Path, data: Path, entry: dict[str, Any], named: list[str], locale: str
    ) -> None:
        write(data / "mcp.json", {"notes": entry})
        code, output = await Program(tmp_path, {"CC_BOT_LOCALE": locale}).run("chat")
        assert code == 2
        assert all(word in output for word in ("mcp.json", *named))
        assert len(output.strip().splitlines()) == 1


async def accept(core: Core) -> None:
    """Accept the tools of the one server, once it is there."""
    async with asyncio.timeout(60):
        while not core[Servers].managed["hostile"].catalog.code:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.02)
    assert await core[Servers].accept("hostile", core[Servers].managed["hostile"].catalog.code)


class TestTheTools:
    @pytest.fixture
    def config(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
        monkeypatch.chdir(tmp_path)
        return read_config({"PATH": str(Path(sys.executable).parent)})

    async def test_are_kept_in_the_database_for_the_next_start(self, data: Path, config: Config) -> None:
        write(data / "mcp.json", {"hostile": hostile()})
        async with open_core(config, utc_now) as core:
            await accept(core)
            before = core[Servers].tools_for(HERE)
            assert [each.full_name for each in before] == ["hostile__echo", "hostile__write"]
            assert core[Servers].managed["hostile"].tokens > 20
        async with open_core(config, utc_now) as core:
            after = core[Servers].tools_for(HERE)
            shown = [json.dumps([dict(each.parameters) for each in tools]) for tools in (before, after)]
            assert shown[0] == shown[1]

    async def test_are_there_at_the_first_question_that_comes_through_a_pipe(
        self, tmp_path: Path, data: Path, config: Config
    ) -> None:
        write(data / "mcp.json", {"hostile": hostile()})
        async with open_core(config, utc_now) as core:
            await accept(core)
        write(data / "mcp.json", {"hostile": hostile("--slow-start", 2)})
        script = calls(Call("hostile__echo", {"text": "猫"})), says("猫です。")
        async with LoopbackModelServer(*script) as model:
            settings = {"OPENAI_BASE_URL": model.base_url, "CC_BOT_MODEL": "loopback", "CC_BOT_LOCALE": "ja"}
            code, output = await Program(tmp_path, settings).run("chat", stdin="猫と言って\n".encode())
            assert code == 0
            assert "ツールのサーバーにつないでいます…" in output
            assert "猫" in new_tool_results(model.requests[-1].body)[0]
            assert "no such tool" not in str(model.requests[-1].body)


async def examine(
    folder: Path, settings: Mapping[str, str], *options: str
) -> tuple[int, dict[str, str], str]:
    """Have the doctor look, and return what it says of servers with tools by the sign before it, and all that
    it says. It takes the time that servers need to start on a busy machine, which `--json` does not."""
    code, output = await Program(folder, settings).run("doctor", *options)
    told = dict.fromkeys("✓!✗", "")
    for line in output.splitlines():
        if re.match(r"[✓!✗] \S+\s+(ツールのサーバー|Servers with tools): ", line):
            told[line[0]] += line + "\n"
    return code, told, output


class TestTheDoctor:
    @pytest.mark.slow
    async def test_tries_each_server_and_warns_of_those_without_a_tool_that_fits_and_tells_no_value(
        self, tmp_path: Path, data: Path
    ) -> None:
        tried = ["good: 起動して確かめました。ツール 2", "プログラムがコード 1 で", "接続を拒否"]
        warned = [
            "typo: 使えるツールがありません",
            "echo, write",
            "empty: ツールが1つも",
            "a.b",
            ": good__ecko",
        ]
        (tmp_path / "tools.json").write_text("[]")
        program = {"command": sys.executable, "args": ["-c", "raise SystemExit('geheim-1')"]}
        entries = {
            "good": hostile(timeout_s=60),
            "bad": program | {"env": {"K": "geheim-2"}},
            "shut": {"url": f"http://127.0.0.1:{closed_port()}/geheim-3"},
            "odd": hostile("--fall-together", timeout_s=60),
            "typo": hostile(timeout_s=60, tools=["eko"]),
            "empty": hostile("--list", tmp_path / "tools.json", timeout_s=60),
        }
        write(data / "mcp.json", entries)
        agent = "[agents.tutor]\nprompt = 'x'\ntools = ['good__echo', 'good__ecko']\n"
        (data / "agents.toml").write_text(agent)
        _, found, output = await examine(tmp_path, {"CC_BOT_LOCALE": "ja"})
        assert [words for words in tried if words not in output] == []
        assert [words for words in warned if words not in found["!"]] == []
        assert "geheim" not in output
