"""Bars that tell how far a long piece of work on a file is."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

Stage = TypeVar("Stage", bound=str)


@contextmanager
def bars(
    names: Mapping[Stage, str], console: Console | None = None
) -> Iterator[Callable[[Stage, int, int], None]]:
    """A line for each stage, on stderr unless told otherwise, which is gone when the work is done.

    What is yielded is told the stage, how much is done, and of how much: 0 where nobody can say, and then the
    bar moves to and fro. During a stage without a name the terminal is left to others.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[amount]}"),
    )
    tasks = dict[Stage, TaskID]()
    with Progress(*columns, console=console or Console(stderr=True), transient=True) as shown:

        def progress(stage: Stage, done: int, total: int) -> None:
            if stage not in tasks:
                for task in tasks.values():  # what came before is done
                    shown.update(task, visible=False)
                if stage not in names:
                    shown.stop()
                    return
                tasks[stage] = shown.add_task(names[stage], total=None, amount="")
                shown.start()
            amount = f"{done / 2**20:,.1f}/{total / 2**20:,.1f} MiB" if total else ""
            shown.update(tasks[stage], completed=done, total=total or None, amount=amount)

        yield progress
