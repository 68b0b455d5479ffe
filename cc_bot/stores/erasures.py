"""The logs of erasures of all processes that are one bot. See storage/erasures.py.

A database that is restored has the lines of that time. So what counts is the files: the lines stand here only
on their way to the other machines.
"""

import json
from collections.abc import Sequence
from typing import Final

from cc_bot.storage import ERASURES, Database, Statement
from cc_bot.storage.erasures import LogLines

_AT_ONCE: Final = 1000
"""Lines in one statement."""

# What is there already stays. By the unique index. $1 log, $2 lines
ADD_LINES: Final = """
    INSERT INTO erasure_lines (log, line)
    SELECT $1, one.value FROM @texts($2) AS one WHERE true
    ON CONFLICT (log, line) DO NOTHING
"""

# By the primary key. $1 id
_SELECT_NEW: Final = "SELECT id, log, line FROM erasure_lines WHERE id > $1 ORDER BY id"


class ErasureLineStore:
    """The lines of all logs. They name nobody.

    They are added by one process after the other, so ids come in the order in which they can be read: what
    was not seen yet has greater ones, however far apart they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen = 0

    async def add(self, log: str, lines: Sequence[str]) -> None:
        """Put lines of a log there for the others. Raises StorageError."""
        for some in (lines[first : first + _AT_ONCE] for first in range(0, len(lines), _AT_ONCE)):
            statement = Statement(ADD_LINES, (log, json.dumps(some)))
            await self._database.transaction([statement], [ERASURES])

    async def list_new(self) -> tuple[LogLines, ...]:
        """List what the logs have got since this was asked last. That of the own name is among them: another
        machine has it too if it began with a copy of this one's folder. Raises StorageError."""
        rows = await self._database.query(_SELECT_NEW, self._seen)
        found = dict[str, list[str]]()
        for _, name, line in rows:
            found.setdefault(name, []).append(line)
        self._seen = max((self._seen, *(id_ for id_, _, _ in rows)))
        return tuple(LogLines(name, tuple(lines)) for name, lines in found.items())

    def start_over(self) -> None:
        """List everything the next time: what was listed last did not get where it belongs."""
        self._seen = 0
