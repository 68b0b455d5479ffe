"""How far a long piece of work on a file is, told to whoever wants to show it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Final, Literal

Stage = Literal["copying", "checking", "hashing", "waiting", "upgrading", "erasing"]
"""What is being done; `waiting` is for the operator's word."""

Progress = Callable[[Stage, int, int], None]
"""Told the stage, how many bytes are done, and of how many; of 0 where nobody can say. It may be called from
another thread, and often."""

_LOOK_EVERY_S: Final = 0.1


def silent(_stage: Stage, _done: int, _total: int) -> None:
    """Nobody wants to know."""


@contextmanager
def growing(path: Path, total: int, progress: Progress) -> Iterator[None]:
    """Tell how far a file has grown that SQLite is filling: a copy in one step tells nothing by itself."""
    progress("copying", 0, total)
    done = Event()

    def watch() -> None:
        while not done.wait(_LOOK_EVERY_S):
            progress("copying", min(path.stat().st_size, total), total)

    watching = Thread(target=watch, name="copy-progress", daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()
