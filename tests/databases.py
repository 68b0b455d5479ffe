"""Databases for tests that are about something else than how a database comes to be.

Migrating an empty file takes twelve milliseconds of processor time, and some two thousand tests and examples
want a file of their own. Here it is done once for each process that runs tests, and copied. That a file gets
its schema, from nothing and from every older one, is shown in tests/storage and by the end-to-end tests.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from cc_bot.db import apply_pending, open_database

DatabaseSettings = Callable[[], dict[str, str]]


def laid_out(file: Path) -> str:
    """The URL of this database. A file that is not there yet is made: with the newest schema, and empty."""
    if not file.exists():
        file.touch(0o600)
        file.write_bytes(_newest())
    return f"sqlite:///{file}"


@cache
def _newest() -> bytes:
    with ThreadPoolExecutor(1) as beside:  # where no event loop runs
        return beside.submit(lambda: asyncio.run(_migrated())).result()


async def _migrated() -> bytes:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "newest.db"
        async with open_database(f"sqlite:///{file}") as database:
            await apply_pending(database)
        return file.read_bytes()
