"""Erasing everything of a user, so that it stays erased.

First it is noted that the user is being erased; then messages go, some at a time, so that nobody else waits
long; last comes all else in one transaction, with the note. When the program ends in between, the next one
goes on (`begun`). Sessions go last, and with them the right of a turn that is still on its way to be stored:
a turn is stored in its session's row or not at all.

What was said in channels goes with the answers to it, the frozen blocks that held it, and that it waits for
an answer. The id of the last of these messages is kept, the place's and nobody's, so that catching up does
not fetch them from Discord again.

What SQLite may leave in unused room is dealt with as for memories: see memory_removal.py, whose `write_back`
is to be called after this.
"""

import json
from contextlib import nullcontext
from datetime import date
from functools import partial
from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.storage import Database, ErasureLog, Statement, Steps
from cc_bot.stores import personal_erasure_statements as sql
from cc_bot.stores.channel_removal import deletion_here_alone
from cc_bot.stores.columns import to_ms
from cc_bot.stores.memory_removal_statements import OWE

_AT_A_TIME: Final = 200


class PersonalErasureStore:
    def __init__(self, database: Database, *, clock: Clock = utc_now, log: ErasureLog | None = None) -> None:
        """`log` is where it is noted who was erased, so that no restore brings them back; a copy that is to
        take the database's place has none of its own."""
        self._database = database
        self._clock = clock
        self._log = log

    async def users(self) -> frozenset[int]:
        """Everybody about whom something is stored. It reads the whole database: for a copy that is about to
        take its place, not for every day."""
        return frozenset(row[0] for row in await self._database.query(sql.USERS))

    async def begun(self) -> tuple[int, ...]:
        """Users whose erasing was begun and did not end."""
        return tuple(row[0] for row in await self._database.query(sql.SELECT_BEGUN))

    async def erase(self, user_id: int, *, counting_on: date | None = None) -> None:
        """Erase everything. Raises StorageError; what is left then is known, and `erase` goes on with it.

        `counting_on`: today, where limits of tokens hold that are not to begin anew: how many tokens were
        used this day and this month is kept, until the month is over.
        """
        noted = self._log.erasing("user", user_id) if self._log else nullcontext()
        async with noted:
            await self._erase(user_id, counting_on)

    async def _erase(self, user_id: int, counting_on: date | None) -> None:
        await self._database.transaction([Statement(sql.BEGIN, (user_id, to_ms(self._clock())))])
        for step in (_said_in_channels, _answered_in_channels, _own_messages):
            some = partial(step, user_id)
            while await self._database.write(some):
                pass
        rest = [Statement(statement, (user_id,)) for statement in sql.EVERYTHING_ELSE]
        await self._database.transaction([_counting(user_id, counting_on), *rest, Statement(OWE)])


def _counting(user_id: int, day: date | None) -> Statement:
    if day is None:
        return Statement(sql.FORGET_COUNT, (user_id,))
    return Statement(sql.KEEP_COUNT, (user_id, day.isoformat(), day.replace(day=1).isoformat()))


def _said_in_channels(user_id: int) -> Steps[bool]:
    """Some of what the user said in channels, with the answers to it. Whether there was any."""
    said = [row[0] for row in (yield Statement(sql.SELECT_SOME_SAID, (user_id, _AT_A_TIME)))]
    if not said:
        return False
    answers = [row[0] for row in (yield Statement(sql.SELECT_ANSWERS_TO, (json.dumps(said),)))]
    yield from deletion_here_alone([*said, *answers])
    return True


def _answered_in_channels(user_id: int) -> Steps[bool]:
    answers = [row[0] for row in (yield Statement(sql.SELECT_SOME_ANSWERED, (user_id, _AT_A_TIME)))]
    yield from deletion_here_alone(answers)
    return bool(answers)


def _own_messages(user_id: int) -> Steps[bool]:
    rows = yield Statement(sql.SELECT_SOME_OWN, (user_id, _AT_A_TIME))
    yield from deletion_here_alone([discord_id for _, discord_id in rows if discord_id is not None])
    yield Statement(sql.DELETE_SOME_OWN, (user_id, json.dumps([id_ for id_, _ in rows])))
    return bool(rows)
