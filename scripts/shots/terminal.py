"""`cc-bot chat` with the offline model, and the questions of `cc-bot`, in a terminal of tmux."""

import asyncio
import io
import os
import re
import shlex
import subprocess
import sys
import unicodedata
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from scripts.shots.shooting import Shooter, read_data

QUICK: Final = {"CC_BOT_EMBEDDING_MODEL": "off", "CC_BOT_TIMEZONE": "Asia/Tokyo"}

PAGE: Final = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 12px; background: {background}; color: {foreground}; }}
pre {{ font: 14px/1.45 "DejaVu Sans Mono", monospace; margin: 0; }}
i {{ display: inline-block; width: 2ch; font-style: normal; text-align: center; line-height: 1; }}
</style><pre>{code}</pre>"""
COLUMN_PX: Final = 8.43
PATIENCE_S: Final = 30.0
SETTLED_S: Final = 0.5


@dataclass
class Terminal:
    """A session on a tmux server of its own."""

    name: str

    async def tmux(self, *arguments: str) -> str:
        command = "tmux", "-u", "-L", self.name, "-f", "/dev/null", *arguments
        process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
        return (await process.communicate())[0].decode()

    async def settled(self, until: str = "") -> str:
        """What is to be seen once this is there, and nothing has changed for a moment."""
        seen, since, loop = "", 0.0, asyncio.get_running_loop()
        async with asyncio.timeout(PATIENCE_S):
            while not seen.strip() or until not in seen or loop.time() - since < SETTLED_S:
                now = await self.tmux("capture-pane", "-p", "-e", "-t", "it")
                if now != seen:
                    seen, since = now, loop.time()
                await asyncio.sleep(0.1)
        return seen

    async def enter(self, line: str, until: str = "Ctrl-D") -> str:
        await self.tmux("send-keys", "-t", "it", "C-l")
        await self.settled()
        await self.tmux("send-keys", "-t", "it", "-l", line)
        await asyncio.sleep(0.1)  # typed, not pasted
        await self.tmux("send-keys", "-t", "it", "Enter")
        await asyncio.sleep(SETTLED_S)
        return await self.settled(until)


@asynccontextmanager
async def running(
    folder: Path, columns: int, environ: Mapping[str, str], *command: str
) -> AsyncIterator[Terminal]:
    terminal = Terminal(f"shots-{uuid4().hex[:8]}")
    settings = [f"{name}={value}" for name, value in environ.items()]
    line = shlex.join(["env", *settings, sys.executable, "-m", "cc_bot", *command])
    size = "-x", str(columns), "-y", "100"
    await terminal.tmux("new-session", "-d", "-s", "it", "-c", str(folder), *size, f"{line}; sleep 60")
    try:
        yield terminal
    finally:
        await terminal.tmux("kill-server")


def to_html(ansi: str, columns: int) -> str:
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(re.sub(r"\n\s*\n\s*\n", "\n\n", ansi.rstrip())), soft_wrap=True)
    html = console.export_html(code_format=PAGE, inline_styles=True, theme=MONOKAI)
    head, _, code = html.partition("<pre>")
    return (
        head
        + "<pre>"
        + re.sub(r"(?<=>)[^<]+|^[^<]+", lambda text: "".join(map(_cell, text[0])), code, flags=re.M)
    )


def _cell(character: str) -> str:
    return f"<i>{character}</i>" if unicodedata.east_asian_width(character) in "WF" else character


async def shoot(shooter: Shooter, locale: str, folder: Path) -> None:
    data = read_data(locale)
    root = str(Path(__file__).parents[2])
    environ = {"CC_BOT_LOCALE": locale, "HOME": str(folder), "PYTHONPATH": root, "LANG": "C.UTF-8", **QUICK}
    hello, wish, when = data["say"]
    for columns in (80, 100):
        chat_folder, empty = folder / f"chat{columns}", folder / f"setup{columns}"
        for each in (chat_folder, empty):
            each.mkdir()

        async def draw(name: str, ansi: str, columns: int = columns) -> None:
            html = to_html(ansi, columns)
            await shooter.draw(html, f"terminal-{name}-{locale}-{columns}", round(columns * COLUMN_PX) + 24)

        with shooter.attempt(f"terminal {locale} {columns}"):
            texts = [each.split("|")[0] for each in data["reminders"][:2]]
            await fill(chat_folder, environ, data["memories"], [when, *texts])
            async with running(chat_folder, columns, environ, "chat") as terminal:
                await draw("first", await terminal.settled())
                lines = {
                    "answer": hello,
                    "help": "/help",
                    "memory-list": "/memory list",
                    "memory-search": f"/memory search {data['find']}",
                    "remind-list": "/remind list",
                    "usage": "/usage",
                    "settings": "/settings",
                    "privacy": "/privacy show",
                    "canvas-words": wish,
                    "canvas": "/canvas",
                    "error": "/memory delete 999",
                    "unknown": "/nothing",
                }
                for name, line in lines.items():
                    with shooter.attempt(f"terminal-{name}-{locale}-{columns}"):
                        await draw(name, await terminal.enter(line))
        with shooter.attempt(f"terminal-setup-{locale}-{columns}"):
            offline = {**environ, "DISCORD_API_URL": "http://127.0.0.1:9", "DISCORD_TOKEN": ""}
            async with running(empty, columns, offline) as terminal:
                await draw("setup", await terminal.settled())
                await draw("setup-wrong", await terminal.enter("not a token", "✗"))


async def fill(folder: Path, environ: Mapping[str, str], memories: list[str], reminders: list[str]) -> None:
    """Say to the program what fills its lists."""
    rows = [line.split("|") for line in memories]
    added = [f'/memory add --category "{row[1]}" --tags "{row[2]}" {row[3]}' for row in rows]
    when, once, weekly = reminders
    said = [*added, when, f"/remind add 12/24 10:30 {once}", f"/remind add every Monday 9:00 {weekly}"]
    command = sys.executable, "-m", "cc_bot", "chat"
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env={**os.environ, **environ}, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    await process.communicate("\n".join(said).encode() + b"\n")
