"""The SQL of schedules, and their columns. What runs for all users at once stands in SCHEDULE_STATEMENTS."""
# ruff: noqa: S608 - statements are put together from constants alone

import json
from collections.abc import Collection
from typing import Final

from cc_bot.domain.locale import Locale
from cc_bot.domain.schedule import Quiet, Schedule
from cc_bot.domain.session import SessionKey
from cc_bot.storage import Row
from cc_bot.stores.columns import from_ms, next_number

SCHEDULE_COLUMNS: Final = """
    s.id, s.user_id, s.channel_id, s.agent, s.guild_id, s.kind, s.place, s.visibility, s.text, s.due_at,
    s.repeat, s.timezone, s.quiet, s.status, s.obstacle, s.created_at, s.locale, s.tainted, s.number
"""
_LOCALES: Final = {str(locale): locale for locale in Locale}
_MINUTES: Final = 24 * 60
_AS_INSERTED: Final = SCHEDULE_COLUMNS.replace("s.", "")

# $1 user
COUNT: Final = """
    SELECT count(*) FROM schedules WHERE user_id = $1 AND status IN ('active', 'paused') AND kind = 'reminder'
"""
DROP_HEARTBEAT: Final = "DELETE FROM schedules WHERE user_id = $1 AND kind = 'heartbeat'"

INSERT: Final = f"""
    INSERT INTO schedules (
        user_id, channel_id, agent, guild_id, kind, place, visibility, text,
        due_at, repeat, timezone, quiet, created_at, advanced_at, locale, tainted, number
    )
    VALUES (
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14, $15,
        CASE $5 WHEN 'reminder' THEN {next_number("schedule")} END
    )
    RETURNING {_AS_INSERTED}
"""

# $1 user, $2 id
SELECT: Final = f"SELECT {SCHEDULE_COLUMNS} FROM schedules AS s WHERE s.user_id = $1 AND s.id = $2"
# $2 number. By schedules_by_number.
SELECT_NUMBERED: Final = (
    f"SELECT {SCHEDULE_COLUMNS} FROM schedules AS s WHERE s.user_id = $1 AND s.number = $2"
)
DELETE: Final = f"DELETE FROM schedules WHERE user_id = $1 AND id = $2 RETURNING {_AS_INSERTED}"
FORGET_FIRINGS: Final = "UPDATE firings SET reported = 1 WHERE user_id = $1 AND schedule_id = $2"
PAUSE: Final = f"""
    UPDATE schedules SET status = 'paused', obstacle = ''
    WHERE user_id = $1 AND id = $2 AND status = 'active'
    RETURNING {_AS_INSERTED}
"""

# $1 user, $2 kind
LIST: Final = f"""
    SELECT {SCHEDULE_COLUMNS} FROM schedules AS s
    WHERE s.user_id = $1 AND s.status IN ('active', 'paused') AND s.kind = $2
    ORDER BY s.due_at, s.id
"""

# $1 user, $2 id, $3 due, $4 now
RESUME: Final = f"""
    UPDATE schedules SET status = 'active', obstacle = '', due_at = $3, advanced_at = $4
    WHERE user_id = $1 AND id = $2 AND status = 'paused'
    RETURNING {_AS_INSERTED}
"""

# $1 user
SELECT_REPEATING: Final = f"""
    SELECT {SCHEDULE_COLUMNS} FROM schedules AS s
    WHERE s.user_id = $1 AND s.status IN ('active', 'paused')
"""

# $1 user, $2 id, $3 time zone, $4 due, $5 now
REZONE: Final = """
    UPDATE schedules SET timezone = $3, due_at = $4, advanced_at = $5 WHERE user_id = $1 AND id = $2
"""

# $1 user, $2 id, $3 the next time, $4 status, $5 now
ADVANCE: Final = """
    UPDATE schedules SET due_at = $3, status = $4, advanced_at = $5
    WHERE user_id = $1 AND id = $2 AND status = 'active'
"""

# $1 schedule, $2 due, $3 user, $4 state, $5 process, $6 now. A row comes back to whoever is first.
CLAIM: Final = """
    INSERT INTO firings (schedule_id, due_at, user_id, state, claimed_by, claimed_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (schedule_id, due_at) DO NOTHING
    RETURNING schedule_id
"""

# $1 schedule, $2 due, $3 user, $4 state, $5 message. What counted as uncertain is known now.
SETTLE: Final = """
    UPDATE firings SET state = $4, message_id = $5
    WHERE schedule_id = $1 AND due_at = $2 AND user_id = $3 AND state IN ('claimed', 'uncertain')
    RETURNING schedule_id
"""

# $1 user, $2 id, $3 obstacle
OBSTRUCT: Final = "UPDATE schedules SET status = 'paused', obstacle = $3 WHERE user_id = $1 AND id = $2"

# It belongs to its user and to no session, so it enters no history, no summary and no channel's context. The
# gateway may have told of it first; then that row becomes the user's. Whoever had everything erased meanwhile
# has no claim any more, and nothing is stored.
# $1 user, $2 channel, $3 author, $4 name, $5 Discord's id, $6 text, $7 tool calls, $8 visibility, $9 now,
# $10 schedule, $11 due, $12 tainted
INSERT_SAID: Final = """
    INSERT INTO messages (
        user_id, memory_user_id, channel_id, parent_channel_id, author_id, author_name, discord_id,
        role, content, tool_calls, visibility, timestamp, created_at, tainted
    )
    SELECT $1, $1, $2, $2, $3, $4, $5, 'assistant', $6, $7, $8, $9, $9, $12
    WHERE EXISTS (SELECT 1 FROM firings WHERE schedule_id = $10 AND due_at = $11 AND user_id = $1)
    ON CONFLICT (discord_id) WHERE discord_id IS NOT NULL DO UPDATE SET
        user_id = excluded.user_id, memory_user_id = excluded.memory_user_id,
        visibility = excluded.visibility, tainted = excluded.tainted
    WHERE messages.user_id IS NULL OR messages.user_id = $1
"""

_MESSAGE: Final = """
    m.id, m.role, m.content, m.tool_calls, m.status, m.visibility, m.author_id, m.author_name, m.discord_id,
    m.created_at, m.tainted
"""

# If no session went on there since. $1 user, $2 channel, $3 not before when
LAST_SAID: Final = f"""
    SELECT {_MESSAGE} FROM messages AS m
    WHERE m.user_id = $1 AND m.channel_id = $2 AND m.session_id IS NULL AND m.created_at >= $3
        AND NOT EXISTS (
            SELECT 1 FROM sessions AS s
            WHERE s.user_id = $1 AND s.channel_id = $2
                AND s.last_active > strftime('%Y-%m-%dT%H:%M:%f', m.created_at / 1000.0, 'unixepoch')
        )
    ORDER BY m.id DESC LIMIT 1
"""

# ---- for all users at once: which of them, is up to the time ---------------------------------------------

# Of the places, as a list in JSON, and of one user or (NULL) of all. $1 places, $2 user
_WHOSE: Final = "s.place IN (SELECT value FROM json_each($1)) AND ($2 IS NULL OR s.user_id = $2)"

# $3 now, $4 how many at most
SELECT_DUE: Final = f"""
    SELECT {SCHEDULE_COLUMNS} FROM schedules AS s
    WHERE s.status = 'active' AND s.due_at <= $3 AND {_WHOSE}
    ORDER BY s.due_at LIMIT $4
"""

SELECT_NEXT: Final = f"""
    SELECT s.due_at FROM schedules AS s
    WHERE s.status = 'active' AND s.due_at > 0 AND {_WHOSE}
    ORDER BY s.due_at LIMIT 1
"""

# $3 the latest time that is no sign of a clock put back
SELECT_REWOUND: Final = f"""
    SELECT {SCHEDULE_COLUMNS} FROM schedules AS s
    WHERE s.status = 'active' AND s.repeat <> '' AND s.advanced_at > $3 AND {_WHOSE}
"""

# $1 claimed before when
LOSE: Final = """
    UPDATE firings SET state = 'uncertain' WHERE state = 'claimed' AND claimed_at < $1
    RETURNING schedule_id
"""

SELECT_UNREPORTED: Final = f"""
    SELECT f.state, f.due_at, {SCHEDULE_COLUMNS}
    FROM firings AS f
    JOIN schedules AS s ON s.id = f.schedule_id AND s.user_id = f.user_id
    WHERE f.state IN ('missed', 'uncertain') AND f.reported = 0 AND s.kind = 'reminder' AND {_WHOSE}
    ORDER BY f.user_id, f.due_at
    LIMIT 100
"""

# $1 schedule, $2 due, $3 user
REPORT: Final = """
    UPDATE firings SET reported = 1 WHERE schedule_id = $1 AND due_at = $2 AND user_id = $3 AND reported = 0
"""

# $1 before when
PRUNE_DONE: Final = "DELETE FROM schedules WHERE status = 'done' AND due_at < $1"
PRUNE_FIRINGS: Final = "DELETE FROM firings WHERE due_at < $1 AND state <> 'claimed'"

# $1 Discord's id
SELECT_SAID: Final = f"""
    SELECT m.user_id, {_MESSAGE} FROM messages AS m
    WHERE m.discord_id = $1 AND m.session_id IS NULL AND m.user_id IS NOT NULL AND m.role = 'assistant'
"""

SCHEDULE_STATEMENTS: Final = frozenset(
    {
        *(SELECT_DUE, SELECT_NEXT, SELECT_REWOUND, LOSE, SELECT_UNREPORTED),
        *(PRUNE_DONE, PRUNE_FIRINGS, SELECT_SAID),
    }
)


def read_schedule(row: Row) -> Schedule:
    """What can't be, in a file that was changed by hand, counts as not known: whoever looks for what is due
    reads the rows of all users, and one of them must not keep the others' from being said."""
    id_, user_id, channel_id, agent, guild_id, kind, place, visibility, text = row[:9]
    due_at, repeat, timezone, quiet, status, obstacle, created_at, locale, tainted, number = row[9:]
    return Schedule(
        id_,
        SessionKey(user_id, channel_id, agent),
        kind,
        text,
        from_ms(due_at),
        from_ms(created_at),
        place=place,
        guild_id=guild_id,
        visibility=visibility,
        repeat=repeat,
        timezone=timezone,
        quiet=_quiet(quiet) if quiet else None,
        status=status,
        obstacle=obstacle,
        locale=_LOCALES.get(locale),
        tainted=bool(tainted),
        number=number or 0,
    )


def _quiet(stored: str) -> Quiet | None:
    try:
        quiet = Quiet(**json.loads(stored))
    except (ValueError, TypeError, RecursionError):
        return None
    known = all(type(minute) is int and 0 <= minute < _MINUTES for minute in (quiet.since, quiet.until))
    return quiet if known else None


def as_list(values: Collection[str]) -> str:
    return json.dumps(sorted(values))
