"""Permanent erasure of all data of a user.

It is first recorded in the erasure log and in `erasing`. Messages are deleted in batches, so that others need
not wait, and the rest in one transaction over PERSONAL_TABLES. Then it is recorded in the log again, to cover
a backup made in between. After a kill, the row in `erasing` lets the next start continue: see privacy.py.

A user's channel messages are deleted with their answers, the frozen blocks that held them, and their pending
mentions. The id of the last one is kept per channel, not per user, so that catching up does not fetch them
again.

Call `clean` of memory/removal.py afterwards, for SQLite's unused pages.
"""

import json
from datetime import date
from functools import partial
from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import ErasureUnfinished, StorageError
from cc_bot.storage import Database, ErasureLog, Statement, Steps, user
from cc_bot.stores.canvases import MOVE
from cc_bot.stores.channels import deletion_here_alone
from cc_bot.stores.columns import to_ms
from cc_bot.stores.memory.removal import OWE
from cc_bot.stores.personal_data import ANSWERED_IN_CHANNELS, OWN_MESSAGES, PERSONAL_TABLES, SAID_IN_CHANNELS
from cc_bot.stores.usage import COUNTED

# SQL that erases all data of a user ($1).

# ruff: noqa: S608 - put together from constants alone

# $2 now
BEGIN: Final = "INSERT INTO erasing (user_id, since) VALUES ($1, $2) ON CONFLICT (user_id) DO NOTHING"

# All users.
SELECT_BEGUN: Final = "SELECT user_id FROM erasing /* all users */"

# A turn of theirs in another process, or an unfinished one of a dead process. Uses reservations_by_user and
# turns_by_user. $2 process
_SELECT_ELSEWHERE: Final = """
    SELECT 1 FROM reservations AS r JOIN processes AS p ON p.name = r.process
    WHERE r.user_id = $1 AND r.process <> $2 AND r.tokens > 0 AND r.purpose = 'turn'
    UNION ALL
    SELECT 1 FROM turns AS t
    WHERE t.user_id = $1 AND t.process <> $2 AND t.state = 'accepted' AND t.kind <> 'mention'
        AND EXISTS (SELECT 1 FROM processes AS p WHERE p.until > @now)
    LIMIT 1
"""

# The user's channel messages, preceded by their answers, which are found through them. $2 limit
SELECT_IN_CHANNELS: Final = f"""
    SELECT m.id, m.discord_id
    FROM ({ANSWERED_IN_CHANNELS} UNION ALL {SAID_IN_CHANNELS}) AS found
    @look_up messages AS m ON m.id = found.id AND m.user_id IS NULL AND m.discord_id IS NOT NULL
    LIMIT $2 /* channel */
"""

# $2 limit
SELECT_OWN: Final = f"""
    SELECT id, discord_id FROM messages
    WHERE user_id = $1 AND id IN (SELECT * FROM ({OWN_MESSAGES}) AS own LIMIT $2)
"""

# $2 an array of messages
DELETE_OWN: Final = "DELETE FROM messages WHERE user_id = $1 AND id IN @ids($2)"

# Run before usage is deleted. $2 today, $3 the first of its month
KEEP_COUNT: Final = f"""
    INSERT INTO erased_usage AS known (user_id, day, tokens)
    SELECT $1, CASE WHEN day < $2 THEN $3 ELSE day END AS counts_on, CAST(sum(tokens) AS BIGINT)
    FROM (
        SELECT day, {COUNTED} AS tokens FROM usage WHERE user_id = $1 AND day >= $3
        UNION ALL
        SELECT $2, tokens FROM reservations WHERE user_id = $1
    ) AS found
    WHERE tokens > 0
    GROUP BY counts_on
    ON CONFLICT (user_id, day) DO UPDATE SET tokens = known.tokens + excluded.tokens
    WHERE known.user_id = $1
"""

END: Final = "DELETE FROM erasing WHERE user_id = $1"

_ERASED: Final = tuple(table for table in reversed(PERSONAL_TABLES) if table.erasing != "keep")
"""Referencing rows come first."""

USERS: Final = " UNION ".join(dict.fromkeys(table.users for table in _ERASED)) + " /* all users */"
"""All users with stored data. Reads the whole database."""


_AT_A_TIME: Final = 200
"""Messages deleted per transaction."""


class PersonalErasureStore:
    def __init__(
        self, database: Database, *, clock: Clock = utc_now, log: ErasureLog | None = None, process: str = ""
    ) -> None:
        """`log` records the erasures; None if they repeat those of a log after a restore."""
        self._database = database
        self._clock = clock
        self._log = log
        self._process = process

    async def list_users(self) -> frozenset[int]:
        """List the users with stored data. It reads the whole database, so use it only on a copy during a
        restore."""
        return frozenset(id_ for (id_,) in await self._database.query(USERS))

    async def list_begun(self) -> tuple[int, ...]:
        """List the users whose erasure was begun but not finished."""
        return tuple(id_ for (id_,) in await self._database.query(SELECT_BEGUN))

    async def erase(self, user_id: int, *, counting_on: date | None = None, begun: bool = False) -> None:
        """Erase everything; `begun`: after `begin`. Raises ErasureUnfinished if it failed midway, and calling
        `erase` again continues it; another StorageError if nothing was erased.

        `counting_on`: today, if token limits apply, which an erasure must not reset: the token counts of this
        day and month are kept until the month ends.
        """
        if not begun:
            await self.begin(user_id)
        try:
            for select in (SELECT_IN_CHANNELS, SELECT_OWN):
                while await self._database.write(partial(_some_messages, select, user_id), [user(user_id)]):
                    pass
            await self._database.transaction(_erasure(user_id, counting_on), [user(user_id)])
            await self._note(user_id)  # covers a backup made in between
            await self._database.transaction([Statement(END, (user_id,))], [user(user_id)])
        except StorageError as error:
            raise ErasureUnfinished from error

    async def begin(self, user_id: int) -> None:
        """Record that all data of a user is to be erased: processes end their turns, and a restart continues
        it. Raises StorageError."""
        await self._note(user_id)
        await self._database.transaction([Statement(BEGIN, (user_id, to_ms(self._clock())))], [user(user_id)])

    async def runs_elsewhere(self, user_id: int) -> bool:
        """Return whether another process runs a turn of theirs: after `begin` it ends that turn and starts no
        other. Raises StorageError."""
        return bool(await self._database.query(_SELECT_ELSEWHERE, user_id, self._process))

    async def _note(self, user_id: int) -> None:
        if self._log:
            await self._log.note("user", user_id)


def _some_messages(select: str, user_id: int) -> Steps[bool]:
    rows = yield Statement(select, (user_id, _AT_A_TIME))
    yield from deletion_here_alone([discord_id for _, discord_id in rows if discord_id is not None])
    yield Statement(DELETE_OWN, (user_id, json.dumps([id_ for id_, _ in rows])))
    return bool(rows)


def _erasure(user_id: int, counting_on: date | None) -> list[Statement]:
    statements = [
        Statement(table.erase, (user_id,))
        for table in _ERASED
        if not (counting_on and table.table == "erased_usage")
    ]
    if counting_on:
        days = (counting_on.isoformat(), counting_on.replace(day=1).isoformat())
        statements.insert(0, Statement(KEEP_COUNT, (user_id, *days)))
    return [*statements, Statement(OWE), Statement(MOVE)]
