"""Progress bars for long work on a database."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

Stage = TypeVar("Stage", bound=str)


@contextmanager
def bars(
    names: Mapping[Stage, str], console: Console | None = None, *, counted: Collection[str] = ()
) -> Iterator[Callable[[Stage, int, int], None]]:
    """Show a bar for each stage, on stderr by default, and remove it when the work is done.

    Yields a function that takes the stage, the amount done and the total: bytes, or items in stages that are
    `counted`; 0 if the total is unknown. A stage without a name shows no bar.
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
            if stage in counted:
                amount = f"{done:,}/{total:,}"
            else:
                amount = f"{done / 2**20:,.1f}/{total / 2**20:,.1f} MiB" if total else ""
            shown.update(tasks[stage], completed=done, total=total or None, amount=amount)

        yield progress
