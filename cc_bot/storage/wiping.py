"""Everything of a database is taken away: the file, what SQLite keeps beside it, and every copy beside it.

The log goes first. A log without its file is nothing, but a file that is made anew beside an old log would
read it.
"""

import shutil
from pathlib import Path

from cc_bot.domain.errors import DatabaseUnusable
from cc_bot.storage.copies import copies_of, leftovers_of
from cc_bot.storage.durable import sync_folder
from cc_bot.storage.restoring import SIDECARS, release


def data_of(database: Path, *more: Path) -> list[Path]:
    """What there is of it, and of these other files, in the order in which it is to go."""
    beside = [database.with_name(database.name + suffix) for suffix in SIDECARS]
    litestream = database.with_name(f".{database.name}-litestream")  # what it has not sent elsewhere yet
    candidates = (*beside, database, *copies_of(database), *more, *leftovers_of(database), litestream)
    return [path for path in candidates if path.exists()]


def wipe(database: Path, *more: Path) -> list[Path]:
    """Take it away for good, and return what was taken away.

    Raises DatabaseInUse when somebody has it open, or DatabaseUnusable when something can't be deleted.
    """
    release(database)
    doomed = data_of(database, *more)
    try:
        for path in doomed:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        sync_folder(database.parent)
    except OSError as error:
        raise DatabaseUnusable(path=str(database)) from error
    return doomed
