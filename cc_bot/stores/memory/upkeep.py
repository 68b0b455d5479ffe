"""The upkeep that searches of memories need, but nobody should wait for: folding into the index, making anew.

One background task for all users. It never knows more than that something may be due: what is, it reads from
the database in the transaction that does it. So nothing is lost when the program ends in between, and two
programs on one file are in each other's way no more than two writers are. It rests after each transaction for
as long as that took.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import Final, NamedTuple

import structlog

from cc_bot.storage import EVERYBODY, Database, Statement, Steps, user
from cc_bot.stores.columns import Columns
from cc_bot.stores.memory.index import SEGMENTS, WAITING, WAITING_BYTES, fold_in, join_segments, unfold
from cc_bot.stores.memory.rows import REMAKE, SEARCHED
from cc_bot.stores.memory.texts import KEY_BYTES, VERSION, search_text

# ---- memory remaking -------------------------------------------------------------------------------------
# Making anew what memories are searched by, where other rules made it than those of now, or none yet.
#
# That is so for all rows after an upgrade which changed the rules, and it may be a million of them; so it is
# done some at a time, each time in one transaction, while a search makes for itself what it needs. How far it
# has come is kept in the database: a start that finds everything done looks at one row.

_RANGE: Final = 2000
"""Ids that one transaction looks through, at most."""
_BATCH: Final = 100
"""Rows that it makes anew, at most: some dozen milliseconds."""

# By which rules the rows up to which one are made. One row.
SELECT_REMADE: Final = "SELECT version, remade_to FROM memory_rules WHERE id = 1"

# $1 version, $2 up to which memory
PUT_REMADE: Final = "UPDATE memory_rules SET version = $1, remade_to = $2 WHERE id = 1"


class _Outdated(NamedTuple):
    user_id: int
    id: int
    content: str
    tags: tuple[str, ...]


_OUTDATED: Final = Columns(_Outdated)

# Of all users, since it is done for all. $1 and $2 the ids, the first not included; $3 version, $4 limit
SELECT_OUTDATED_OF_ALL: Final = f"""
    SELECT {_OUTDATED.select} FROM memories
    WHERE id > $1 AND id <= $2 AND terms_version <> $3
    ORDER BY id LIMIT $4
"""  # noqa: S608 - put together from constants alone

SELECT_LAST_OF_ALL: Final = "SELECT coalesce(max(id), 0) FROM memories"

# Of what is not in the index. $1 user, $2 version, $3 limit
SELECT_OUTDATED: Final = f"""
    SELECT {_OUTDATED.select} FROM memories
    WHERE user_id = $1 AND place IS NULL AND status = 'active' AND terms_version <> $2
    ORDER BY id DESC LIMIT $3
"""  # noqa: S608 - put together from constants alone

REMAKING_STATEMENTS: Final = (SELECT_OUTDATED_OF_ALL, SELECT_LAST_OF_ALL)

_DONE: Final = -1


class _Next(NamedTuple):
    """The ones that are looked at next, of all users."""

    outdated: Sequence[_Outdated]
    come_to: int
    """Up to which memory all are made once these are."""
    last: int

    @property
    def users(self) -> frozenset[int]:
        return frozenset(each.user_id for each in self.outdated)


def find_next() -> Steps[_Next | None]:
    """Find it; None when nothing is left to do."""
    [(version, remade_to)] = yield Statement(SELECT_REMADE)
    if (version, remade_to) == (VERSION, _DONE):
        return None
    if version != VERSION:
        remade_to = 0
    [(last,)] = yield Statement(SELECT_LAST_OF_ALL)
    end = min(remade_to + _RANGE, last)
    rows = yield Statement(SELECT_OUTDATED_OF_ALL, (remade_to, end, VERSION, _BATCH))
    outdated = [*map(_OUTDATED.read, rows)]
    return _Next(outdated, outdated[-1].id if len(outdated) == _BATCH else end, last)


def remake_some(users: Collection[int]) -> Steps[bool]:
    """Make the next ones of all users; whether there may be more. `users` are those that `find_next` has told
    of: where another one's have come between, they are looked for anew."""
    found = yield from find_next()
    if found is None:
        return False
    if not found.users <= set(users):
        return True
    yield from _remake(found.outdated)
    done = found.come_to == found.last
    yield Statement(PUT_REMADE, (VERSION, _DONE if done else found.come_to))
    return not done


def remake_waiting(user_id: int) -> Steps[bool]:
    """Make the newest of one user's that a search has to make for itself; whether there may be more."""
    outdated = [*map(_OUTDATED.read, (yield Statement(SELECT_OUTDATED, (user_id, VERSION, _BATCH))))]
    yield from _remake(outdated)
    return len(outdated) == _BATCH


def _remake(outdated: Sequence[_Outdated]) -> Steps[None]:
    of_user: defaultdict[int, list[int]] = defaultdict(list)
    for each in outdated:
        of_user[each.user_id].append(each.id)
    for user_id, ids in of_user.items():
        yield from unfold(user_id, ids)
    for each in outdated:
        made = SEARCHED.write(search_text(each.content, each.tags))
        yield Statement(REMAKE, (each.user_id, each.id, *made.values()))


# ---- memory upkeep ---------------------------------------------------------------------------------------

_LOOK_EVERY: Final = 64
"""Memories: after one in so many it is looked whether its user's have to be folded in."""
_MOST_DUE: Final = 10_000
"""Users; a search says again what is due for those beyond."""
_MANY_TERMS: Final = WAITING_BYTES // KEY_BYTES
_PAUSE_S: Final = 30.0

_log = structlog.get_logger(__name__)


class MemoryUpkeep:
    """The upkeep, done in the background while `running`, or at once by `catch_up`."""

    def __init__(self, database: Database, *, waiting: int = WAITING, segments: int = SEGMENTS) -> None:
        """Make the upkeep. `waiting` is how many rows of a user may stay out of the index, `segments` how
        many segments."""
        self._database = database
        self._waiting = waiting
        self._segments = segments
        self._due: dict[int, bool] = {}
        self._woken = asyncio.Event()
        self._all_remade = False

    def note_written(self, user_id: int, memory_id: int) -> None:
        """Note that a memory was written just now. Returns at once."""
        if memory_id % _LOOK_EVERY == 0:
            self._look_at(user_id, outdated=False)

    def note_searched(self, user_id: int, *, waiting: int, waiting_terms: int, outdated: bool) -> None:
        """Note that a search had to read so many rows with so many terms; `outdated`: and to make something
        of their texts. Returns at once."""
        if waiting >= self._waiting or waiting_terms >= _MANY_TERMS or outdated:
            self._look_at(user_id, outdated=outdated)

    async def catch_up(self, user_id: int | None = None) -> None:
        """Do all that is due, for this user as well. Raises StorageError."""
        if user_id is not None:
            self._look_at(user_id, outdated=True)
        while await self._step():
            pass

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _look_at(self, user_id: int, *, outdated: bool) -> None:
        if len(self._due) < _MOST_DUE:
            self._due[user_id] = outdated or self._due.get(user_id, False)
            self._woken.set()

    async def _run(self) -> None:
        while True:
            begun = monotonic()
            try:
                more = await self._step()
            except Exception as error:  # noqa: BLE001 - it is for all users, and ends with the program alone
                _log.warning("memory_upkeep_put_off", error=type(error).__name__, pause_s=_PAUSE_S)
                await asyncio.sleep(_PAUSE_S)
                continue
            if more:
                await asyncio.sleep(monotonic() - begun)
            else:
                await self._woken.wait()

    async def _step(self) -> bool:
        """Run one transaction, and return whether there may be more to do. Users who were just here go
        first."""
        self._woken.clear()
        for user_id in self._due:
            await self._step_for(user_id, outdated=self._due.pop(user_id))
            return True
        if not self._all_remade:
            self._all_remade = not await self._remake_some()
            return True
        return False

    async def _remake_some(self) -> bool:
        found = await self._database.read(find_next)
        if found is None:
            return False
        users = found.users
        return await self._database.write(lambda: remake_some(users), [EVERYBODY, *map(user, users)])

    async def _step_for(self, user_id: int, *, outdated: bool) -> None:
        about = [user(user_id)]
        if outdated and await self._database.write(lambda: remake_waiting(user_id), about):
            self._look_at(user_id, outdated=True)
            return
        folded = await self._database.write(lambda: fold_in(user_id, waiting=self._waiting), about)
        if folded or await self._database.write(lambda: join_segments(user_id, most=self._segments), about):
            self._look_at(user_id, outdated=False)
