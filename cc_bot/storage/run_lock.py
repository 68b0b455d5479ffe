"""One bot per database: two would answer every question twice.

The lock is the operating system's, on a file beside the database, so it ends with the process however
that ends. `chat`, `backup` and `migrate` may stand beside a running bot and don't take it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from cc_bot.domain.errors import AlreadyRunning, DatabaseUnusable
from cc_bot.storage.location import need_folder


@contextmanager
def sole_bot(database: Path) -> Iterator[None]:
    """Hold the database's lock. Raises AlreadyRunning when another process does, and what opening the
    database would raise for a folder that is missing or can't be written to."""
    need_folder(database)
    lock = FileLock(f"{database}.lock", timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout as error:
        raise AlreadyRunning(path=str(database)) from error
    except OSError as error:
        raise DatabaseUnusable(path=str(database)) from error
    try:
        yield
    finally:
        lock.release()
