"""The logs of erasures of all processes that are one bot. See storage/erasures.py.

A database that is restored has the lines of that time. So what counts is the files: the lines stand here only
on their way to the other machines.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from cc_bot.storage import Database, Statement
from cc_bot.storage.erasures import LogLines, erased_at
from cc_bot.stores.columns import to_ms

OVERLAP: Final = 1000
"""Numbers that are looked at again: who took one first may have committed last."""
_AT_ONCE: Final = 1000
"""Lines in one statement."""

# What is there already stays. By the unique index. $1 log, $2 pairs of line and time
_ADD: Final = """
    INSERT INTO erasure_lines (log, line, at)
    SELECT $1, @text_at(one.value, 0), @number_at(one.value, 1) FROM @rows($2) AS one WHERE true
    ON CONFLICT (log, line) DO NOTHING
"""

# By the primary key. $1 id
_SELECT_NEW: Final = "SELECT id, log, line FROM erasure_lines WHERE id > $1 ORDER BY id"

# By erasure_lines_by_time. $1 milliseconds
THIN: Final = "DELETE FROM erasure_lines WHERE at > 0 AND at < $1 RETURNING id"


class ErasureLineStore:
    """The lines of all logs. They name nobody."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen = 0
        self._told = set[int]()
        """The numbers of those that were listed, as far as they are looked at again."""

    async def add(self, log: str, lines: Sequence[str]) -> None:
        """Put lines of a log there for the others. Raises StorageError."""
        for some in (lines[first : first + _AT_ONCE] for first in range(0, len(lines), _AT_ONCE)):
            told = json.dumps([[line, to_ms(at) if (at := erased_at(line)) else 0] for line in some])
            await self._database.transaction([Statement(_ADD, (log, told))], ())

    async def list_new(self) -> tuple[LogLines, ...]:
        """List what the logs have got since this was asked last. That of the own name is among them: another
        machine has it too if it began with a copy of this one's folder. Raises StorageError."""
        rows = await self._database.query(_SELECT_NEW, self._seen - OVERLAP)
        found = dict[str, list[str]]()
        for id_, name, line in rows:
            if id_ not in self._told:
                found.setdefault(name, []).append(line)
        self._seen = max((self._seen, *(id_ for id_, _, _ in rows)))
        self._told = {id_ for id_, _, _ in rows if id_ > self._seen - OVERLAP}
        return tuple(LogLines(name, tuple(lines)) for name, lines in found.items())

    def start_over(self) -> None:
        """List everything the next time: what was listed last did not get where it belongs."""
        self._seen, self._told = 0, set()

    async def thin(self, before: datetime) -> int:
        """Take out what was erased before that moment, and tell how many lines that were. Raises
        StorageError."""
        [rows] = await self._database.transaction([Statement(THIN, (to_ms(before),))], ())
        return len(rows)
