"""The erasure of everything of a user, so that it stays erased.

First it is noted that the user is being erased; then messages go, some at a time, so that nobody else waits
long; then all else in one transaction; last goes the note. When it fails or the program ends in between,
what is left is known (`list_begun`), and goes as soon as it can: see privacy.py. Sessions go last, and with
them the right of a turn that is still on its way to be stored: a turn is stored in its session's row or not
at all.

What was said in channels goes with the answers to it, the frozen blocks that held it, and that it waits for
an answer. The id of the last of these messages is kept, the place's and nobody's, so that catching up does
not fetch them from Discord again.

What SQLite may leave in unused room is dealt with as for memories: see memory/removal.py, whose `clean`
is to be called after this.
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
from cc_bot.stores.personal_data import OWN_MESSAGES, PERSONAL_TABLES
from cc_bot.stores.usage import COUNTED

# ---- personal erasure statements -------------------------------------------------------------------------
# SQL that erases all of a user, in the order in which it is run. $1 is the user, unless told otherwise.
#
# Messages go first and some at a time; one transaction over PERSONAL_TABLES erases the rest, with what was
# written meanwhile.

# ruff: noqa: S608 - put together from constants alone


# $2 now
BEGIN: Final = "INSERT INTO erasing (user_id, since) VALUES ($1, $2) ON CONFLICT (user_id) DO NOTHING"

# Of all users.
SELECT_BEGUN: Final = "SELECT user_id FROM erasing /* all users */"

# A turn of theirs that another process makes, or that has to be told of since its process died. By
# reservations_by_user and turns_by_user. $2 process
_SELECT_ELSEWHERE: Final = """
    SELECT 1 FROM reservations AS r JOIN processes AS p ON p.name = r.process
    WHERE r.user_id = $1 AND r.process <> $2 AND r.tokens > 0 AND r.purpose = 'turn'
    UNION ALL
    SELECT 1 FROM turns AS t
    WHERE t.user_id = $1 AND t.process <> $2 AND t.state = 'accepted' AND t.kind <> 'mention'
        AND EXISTS (SELECT 1 FROM processes AS p WHERE p.until > @now)
    LIMIT 1
"""

# $2 how many
SELECT_SOME_SAID: Final = """
    SELECT discord_id FROM messages
    WHERE user_id IS NULL AND author_id = $1 AND role = 'user' AND discord_id IS NOT NULL LIMIT $2
    /* channel */
"""

# $1 an array of questions
SELECT_ANSWERS_TO: Final = """
    SELECT a.discord_id FROM turns AS w
    @look_up messages AS a ON a.discord_id = w.shown_in AND a.user_id IS NULL AND a.role = 'assistant'
    WHERE w.question_id IN @ids($1) AND w.kind = 'mention' /* channel */
"""

# Answers in which tools acted for the user, whose questions were deleted before. $2 how many
SELECT_SOME_ANSWERED: Final = """
    SELECT discord_id FROM messages
    WHERE user_id IS NULL AND memory_user_id = $1 AND discord_id IS NOT NULL LIMIT $2
"""

# $2 how many
SELECT_SOME_OWN: Final = f"""
    SELECT id, discord_id FROM messages
    WHERE user_id = $1 AND id IN (SELECT * FROM ({OWN_MESSAGES}) AS own LIMIT $2)
"""

# $2 an array of messages
DELETE_SOME_OWN: Final = """
    DELETE FROM messages WHERE user_id = $1 AND id IN @ids($2)
"""

# Before the usage goes. $2 today, $3 the first of its month
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
"""What refers to other rows comes before them."""

USERS: Final = " UNION ".join(dict.fromkeys(table.users for table in _ERASED)) + " /* all users */"
"""All users about whom something is stored. It reads everything, and takes its time."""

# ---- personal erasure ------------------------------------------------------------------------------------

_AT_A_TIME: Final = 200


class PersonalErasureStore:
    def __init__(
        self,
        database: Database,
        *,
        clock: Clock = utc_now,
        log: ErasureLog | None = None,
        process: str = "",
    ) -> None:
        """Make the store for a process. `log` is where it is noted who was erased, so that no restore brings
        them back; a copy that is to take the database's place has none of its own."""
        self._database = database
        self._clock = clock
        self._log = log
        self._process = process

    async def list_users(self) -> frozenset[int]:
        """List everybody about whom something is stored. It reads the whole database: for a copy that is
        about to take its place, not for every day."""
        return frozenset(id_ for (id_,) in await self._database.query(USERS))

    async def list_begun(self) -> tuple[int, ...]:
        """List the users whose erasing was begun and did not end."""
        return tuple(id_ for (id_,) in await self._database.query(SELECT_BEGUN))

    async def erase(self, user_id: int, *, counting_on: date | None = None, begun: bool = False) -> None:
        """Erase everything; `begun`: after `begin`. Raises ErasureUnfinished when it failed on the way:
        `erase` goes on with what is left. Raises another StorageError when nothing was erased.

        `counting_on`: today, where limits of tokens hold that are not to begin anew: how many tokens were
        used this day and this month is kept, until the month is over.
        """
        if not begun:
            await self.begin(user_id)
        try:
            await self._erase_step_by_step(user_id, counting_on)
            await self._note(user_id)  # for a backup that was made meanwhile
            await self._database.transaction([Statement(END, (user_id,))], [user(user_id)])
        except StorageError as error:
            raise ErasureUnfinished from error

    async def begin(self, user_id: int) -> None:
        """Note that all of a user is to be erased: processes end their turns, and a restart continues it.
        Raises StorageError."""
        await self._note(user_id)
        await self._database.transaction([Statement(BEGIN, (user_id, to_ms(self._clock())))], [user(user_id)])

    async def runs_elsewhere(self, user_id: int) -> bool:
        """Return whether another process makes a turn of theirs: with `begin` it is told to end that, and
        begins no other one. Raises StorageError."""
        return bool(await self._database.query(_SELECT_ELSEWHERE, user_id, self._process))

    async def _note(self, user_id: int) -> None:
        if self._log:
            await self._log.note("user", user_id)

    async def _erase_step_by_step(self, user_id: int, counting_on: date | None) -> None:
        for step in (_said_in_channels, _answered_in_channels, _own_messages):
            some = partial(step, user_id)
            while await self._database.write(some, [user(user_id)]):
                pass
        kept = [_keep_count(user_id, counting_on)] if counting_on else []
        rest = [
            Statement(table.erase, (user_id,))
            for table in _ERASED
            if not (counting_on and table.table == "erased_usage")
        ]
        batch = [*kept, *rest, Statement(OWE), Statement(MOVE)]
        await self._database.transaction(batch, [user(user_id)])


def _keep_count(user_id: int, day: date) -> Statement:
    return Statement(KEEP_COUNT, (user_id, day.isoformat(), day.replace(day=1).isoformat()))


def _said_in_channels(user_id: int) -> Steps[bool]:
    """Delete some of what the user said in channels, with the answers to it, and return whether there was
    any."""
    said = [id_ for (id_,) in (yield Statement(SELECT_SOME_SAID, (user_id, _AT_A_TIME)))]
    if not said:
        return False
    answers = [id_ for (id_,) in (yield Statement(SELECT_ANSWERS_TO, (json.dumps(said),)))]
    yield from deletion_here_alone([*said, *answers])
    return True


def _answered_in_channels(user_id: int) -> Steps[bool]:
    answers = [id_ for (id_,) in (yield Statement(SELECT_SOME_ANSWERED, (user_id, _AT_A_TIME)))]
    yield from deletion_here_alone(answers)
    return bool(answers)


def _own_messages(user_id: int) -> Steps[bool]:
    rows = yield Statement(SELECT_SOME_OWN, (user_id, _AT_A_TIME))
    yield from deletion_here_alone([discord_id for _, discord_id in rows if discord_id is not None])
    yield Statement(DELETE_SOME_OWN, (user_id, json.dumps([id_ for id_, _ in rows])))
    return bool(rows)
