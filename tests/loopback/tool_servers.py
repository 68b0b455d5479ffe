import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from cc_bot.domain.access import Visitor
from cc_bot.domain.errors import ToolCallLost, ToolGone, ToolServerUnavailable, ToolTimedOut
from cc_bot.domain.message import Attachment
from cc_bot.domain.proposal import Approvers
from cc_bot.features.mcp.model import OfferedTool, ServerResult
from cc_bot.features.mcp.servers import Servers
from cc_bot.features.mcp.tools import ServerTools

PICTURE: Final = b"\x89PNG\r\n\x1a\n of a chart"
TEXT: Final = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
    "required": ["text"],
}


def offered(
    name: str,
    *,
    read_only: bool = False,
    waits: bool = True,
    approvers: Approvers = "asker",
    server: str = "notes",
    open_world: bool = False,
) -> OfferedTool:
    """A tool that takes a text, and maybe a path."""
    return OfferedTool(server, name, f"Does {name}.", TEXT, read_only, open_world, waits, approvers)


READ: Final = offered("read", read_only=True, waits=False)
WRITE: Final = offered("write")
SEND: Final = offered("send", approvers="owners")
POST: Final = offered("post", waits=False)


class CountingServers(Servers):
    """The servers of a folder."""

    def __init__(self, folder: Path, tools: Sequence[OfferedTool] = (READ, WRITE, SEND, POST)) -> None:
        self.folder = folder
        self.tools = tools

    def tools_for(self, visitor: Visitor) -> Sequence[OfferedTool]:
        gone, roles = self._read("gone.json", []), self._read("roles.json", {})
        owners = self._read("owners.json", [])
        return [
            replace(self._needing(each), approvers=approvers)
            for each in self.tools
            for approvers in ["owners" if each.name in owners else each.approvers]
            if each.name not in gone and roles.get(each.name, 0) in (0, *(visitor.role_ids or ()))
        ]

    def _needing(self, tool: OfferedTool) -> OfferedTool:
        required = [*tool.parameters["required"], *self._read("needs.json", {}).get(tool.name, [])]
        return replace(tool, parameters={**tool.parameters, "required": required})

    def is_starting(self, server: str) -> bool:
        return bool(self._read("starting.json", otherwise=False))

    async def wait_for(self, server: str) -> None:
        note(self.folder, "waits.jsonl", {"server": server})
        while self.is_starting(server):  # noqa: ASYNC110 - another process takes it away
            await asyncio.sleep(0.01)
        if self._read("away.json", otherwise=False):
            raise ToolServerUnavailable(server=server)

    async def call(self, server: str, name: str, arguments: Mapping[str, Any]) -> ServerResult:
        note(self.folder, "calls.jsonl", {"tool": f"{server}__{name}", "arguments": dict(arguments)})
        try:
            await asyncio.sleep(self._read("slow.json", 0.0))
            while (self.folder / "hold").exists():  # noqa: ASYNC110 - another process takes it away
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            note(self.folder, "cancelled.jsonl", {"tool": f"{server}__{name}"})
            raise
        match answer := self._read("answers.json", {}).get(name, f"{name} は済みました。"):
            case {"error": str(text)}:
                return ServerResult(text, ok=False)
            case {"picture": str(text)}:
                return ServerResult(text, images=(Attachment("chart.png", "image/png", PICTURE),))
            case {"raises": "away"}:
                raise ToolServerUnavailable(server=server)
            case {"raises": "gone"}:
                raise ToolGone(server=server, tool=name)
            case {"raises": "lost"}:
                raise ToolCallLost(server=server)
            case {"raises": "timed out"}:
                raise ToolTimedOut(server=server, seconds=20)
            case _:
                return ServerResult(str(answer))

    def _read(self, name: str, otherwise: Any) -> Any:
        path = self.folder / name
        return json.loads(path.read_text("utf-8")) if path.exists() else otherwise


def note(folder: Path, name: str, line: Mapping[str, Any]) -> None:
    """Write a line that no kill takes back."""
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


def calls_in(folder: Path, name: str = "calls.jsonl") -> list[dict[str, Any]]:
    """The calls so far, of all processes."""
    path = folder / name
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def main() -> int:
    """Be cc-bot, with the servers of the folder that it runs in."""
    from cc_bot.app.discord import run_discord
    from cc_bot.config import read_config
    from cc_bot.log import configure_logging

    config, servers = read_config(), CountingServers(Path.cwd())
    configure_logging(config.log_level, config.log_format)
    asyncio.run(run_discord(config, print, external_tools=ServerTools(servers)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
