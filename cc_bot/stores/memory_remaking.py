"""Making anew what memories are searched by, where other rules made it than those of now, or none yet.

That is so for all rows after an upgrade which changed the rules, and it may be a million of them; so it is
done some at a time, each time in one transaction, while a search makes for itself what it needs. How far it
has come is kept in the database: a start that finds everything done looks at one row.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from cc_bot.storage import Row, Statement, Steps
from cc_bot.stores.memory_index import unfold
from cc_bot.stores.memory_rows import tags_of
from cc_bot.stores.memory_texts import VERSION, search_text

_RANGE: Final = 2000
"""Ids that one transaction looks through, at most."""
_BATCH: Final = 100
"""Rows that it makes anew, at most: some dozen milliseconds."""

# By which rules the rows up to which one are made. One row.
SELECT_REMADE: Final = "SELECT version, remade_to FROM memory_rules WHERE id = 1"

# $1 version, $2 up to which memory
PUT_REMADE: Final = "UPDATE memory_rules SET version = $1, remade_to = $2 WHERE id = 1"

# Of all users, since it is done for all. $1 and $2 the ids, the first not included; $3 version, $4 limit
SELECT_OUTDATED_OF_ALL: Final = """
    SELECT user_id, id, content, tags FROM memories
    WHERE id > $1 AND id <= $2 AND terms_version <> $3
    ORDER BY id LIMIT $4
"""

SELECT_LAST_OF_ALL: Final = "SELECT coalesce(max(id), 0) FROM memories"

# Of what is not in the index. $1 user, $2 version, $3 limit
SELECT_OUTDATED: Final = """
    SELECT user_id, id, content, tags FROM memories
    WHERE user_id = $1 AND place IS NULL AND status = 'active' AND terms_version <> $2
    ORDER BY id DESC LIMIT $3
"""

# $1 user, $2 memory, then the fields of SearchText
_REMAKE: Final = """
    UPDATE memories SET
        search_content = $3, search_tags = $4, likeness = $5, keys = $6, terms_version = $7
    WHERE user_id = $1 AND id = $2
"""

REMAKING_STATEMENTS: Final = (SELECT_OUTDATED_OF_ALL, SELECT_LAST_OF_ALL)

_DONE: Final = -1


def all_remade() -> Steps[bool]:
    """Whether nothing is left to do."""
    [(version, remade_to)] = yield Statement(SELECT_REMADE)
    return bool((version, remade_to) == (VERSION, _DONE))


def remake_some() -> Steps[bool]:
    """Make the next ones of all users; whether there may be more."""
    [(version, remade_to)] = yield Statement(SELECT_REMADE)
    if version != VERSION or remade_to == _DONE:
        remade_to = 0
    [(last,)] = yield Statement(SELECT_LAST_OF_ALL)
    end = min(remade_to + _RANGE, last)
    rows = yield Statement(SELECT_OUTDATED_OF_ALL, (remade_to, end, VERSION, _BATCH))
    yield from _remake(rows)
    come_to = rows[-1][1] if len(rows) == _BATCH else end
    yield Statement(PUT_REMADE, (VERSION, _DONE if come_to == last else come_to))
    return bool(come_to != last)


def remake_waiting(user_id: int) -> Steps[bool]:
    """Make the newest of one user's that a search has to make for itself; whether there may be more."""
    rows = yield Statement(SELECT_OUTDATED, (user_id, VERSION, _BATCH))
    yield from _remake(rows)
    return len(rows) == _BATCH


def _remake(rows: Sequence[Row]) -> Steps[None]:
    of_user: defaultdict[int, list[int]] = defaultdict(list)
    for user_id, id_, *_ in rows:
        of_user[user_id].append(id_)
    for user_id, ids in of_user.items():
        yield from unfold(user_id, ids)
    for user_id, id_, content, tags in rows:
        made = search_text(content, tags_of(tags))
        yield Statement(
            _REMAKE,
            (
                *(user_id, id_, made.search_content, made.search_tags),
                *(made.likeness, made.keys, made.terms_version),
            ),
        )
