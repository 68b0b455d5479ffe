import asyncio
import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from cc_bot.app.database import run_restore
from cc_bot.config import read_config
from cc_bot.db.backup import announce_nothing

STEPS = {"open", "sqlite3.connect", "shutil.copyfile", "shutil.rmtree"}
STEPS |= {f"os.{name}" for name in ("chmod", "link", "mkdir", "remove", "rename", "rmdir", "truncate")}
LAST = 12
"""From the moment when the copy is done."""


def restore(folder: Path) -> None:
    config = read_config(
        {"CC_BOT_DATABASE_URL": f"sqlite:///{folder / 'bot' / 'sessions.db'}"}, folder / ".env"
    )
    [backup] = (folder / "backups").glob("*.db")
    asyncio.run(run_restore(config, backup, lambda _: True, announce_nothing))


def at_steps(folder: Path, do: Callable[[int, str], None]) -> None:
    numbers = count(1)

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event in STEPS and any(str(folder) in os.fsdecode(arg) for arg in args if is_path(arg)):
            do(next(numbers), event)

    sys.addaudithook(hook)


def killed_at(number: int, folder: Path) -> bool:
    child = os.fork()
    if not child:
        at_steps(folder, lambda step, _: os.kill(os.getpid(), signal.SIGKILL) if step == number else None)
        restore(folder)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def is_path(arg: object) -> bool:
    return isinstance(arg, str | bytes | os.PathLike)


def left(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "bot" / "sessions.db")) as connection:
        if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            return ["damaged"]
        return [content for (content,) in connection.execute("SELECT content FROM memories ORDER BY id")]


def main(template: Path, work: Path) -> None:
    steps = list[str]()
    shutil.copytree(template, work / "0")
    at_steps(work / "0", lambda _, name: steps.append(name))
    restore(work / "0")
    for number in sorted({*range(1, len(steps), 6), *range(len(steps) - LAST + 1, len(steps) + 1)}):
        folder = work / str(number)
        shutil.copytree(template, folder)
        killed = killed_at(number, folder)
        kept = len(list((folder / "bot").glob("sessions.replaced-*.db")))
        found = left(folder)
        if number % 4 == 0:  # and the next restore gets over it
            restore(folder)
            assert left(folder) == ["古い"]
        line = {"step": steps[number - 1], "killed": killed, "left": found, "kept": kept}
        sys.stdout.write(f"{json.dumps(line)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
