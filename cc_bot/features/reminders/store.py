"""Reminders, heartbeats (the bot looks by itself for what to tell its user), and the outcome of each firing.

A row of `firings` with a unique key is written before a message is sent, so each is sent at most once. If the
process dies before it records the outcome, the firing is uncertain, and the user is informed.
"""

import asyncio
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, replace
from datetime import datetime, time, timedelta
from itertools import groupby
from typing import Final, TypedDict, Unpack

from cc_bot.chat.stores.opening import StoreContext
from cc_bot.chat.stores.receipts import mark_receipts_stale
from cc_bot.db import MAINTENANCE_LOCK, Database, Statement, Transaction, user_lock
from cc_bot.db.columns import (
    MS,
    Codec,
    Columns,
    Parameters,
    Store,
    from_ms,
    next_number,
    record_last_number,
    to_ms,
    tool_calls_to_json,
)
from cc_bot.db.personal import PersonalTable
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.message import Message, Target, Visibility, is_blank
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale, printable
from cc_bot.domain.when.repeats import QuietHours, is_hour_based, next_time, parse_hours
from cc_bot.domain.when.resolve import ScheduledTime
from cc_bot.features.memory.stores.limits import SecretRules
from cc_bot.features.reminders.errors import EmptyReminder, ReminderTooLong, TooManySchedules
from cc_bot.features.reminders.model import (
    MAX_LATENESS,
    MAX_SCHEDULES,
    MAX_TEXT_CHARACTERS,
    Firing,
    FiringState,
    Obstacle,
    Schedule,
    ScheduleKind,
    UnreportedFirings,
)

# ruff: noqa: S608 - built only from constants

SCHEDULE: Final = Columns(
    Schedule,
    datetimes=MS,
    locale=Codec(write=str, read={str(locale): locale for locale in Locale}.get),
    quiet=Codec(lambda quiet: json.dumps(asdict(quiet)), lambda stored: QuietHours(**json.loads(stored))),
    number=Codec(read=lambda number: number or 0),
    target=Codec(column="place"),
)
_INSERT_PARAMETERS: Final = Parameters(name for name in SCHEDULE.names if name not in ("id", "number"))
_FIRING: Final = Columns(Firing, datetimes=MS, schedule=SCHEDULE)

# $1 must be the user, as `next_number` expects.
INSERT: Final = f"""
    INSERT INTO schedules ({_INSERT_PARAMETERS.names}, advanced_at, number)
    VALUES (
        {_INSERT_PARAMETERS.placeholders}, {_INSERT_PARAMETERS["created_at"]},
        CASE {_INSERT_PARAMETERS["kind"]} WHEN 'reminder' THEN {next_number("schedule")} END
    )
    RETURNING {SCHEDULE.select}
"""

# $1 user, $2 id
SELECT: Final = f"SELECT {SCHEDULE.with_alias('s')} FROM schedules AS s WHERE s.user_id = $1 AND s.id = $2"
# $1 user
_SELECT_OPEN: Final = f"""
    SELECT {SCHEDULE.with_alias("s")} FROM schedules AS s
    WHERE s.user_id = $1 AND s.status IN ('active', 'paused')
"""

_SELECT_MISSED: Final = f"""
    SELECT {SCHEDULE.with_alias("s")}, f.due_at, f.state
    FROM firings AS f JOIN schedules AS s ON s.id = f.schedule_id AND s.user_id = f.user_id
    WHERE f.state IN ('missed', 'uncertain') AND s.kind = 'reminder'
"""

# $2 kind
_SELECT_KIND: Final = f"{_SELECT_OPEN} AND s.kind = $2 ORDER BY s.status, s.due_at, s.id"

# $1 targets (JSON array), $2 user, or NULL for all users
_SCOPE: Final = "s.place IN @texts($1) AND (CAST($2 AS BIGINT) IS NULL OR s.user_id = $2)"

MAX_IN_FLIGHT: Final = 4  # per channel or DM: Discord takes five messages in five seconds

# Uses the index firings_open.
_HAS_ROOM: Final = f"""(
    s.kind <> 'reminder' OR s.place = 'terminal' OR {MAX_IN_FLIGHT} > (
        SELECT count(*) FROM firings AS f
        JOIN schedules AS o ON o.id = f.schedule_id AND o.user_id = f.user_id
        WHERE f.state = 'claimed' AND o.kind = 'reminder' AND o.place = s.place
            AND CASE s.place WHEN 'dm' THEN o.user_id = s.user_id ELSE o.channel_id = s.channel_id END
    )
)"""

# Uses the index firings_open. $1: claims before this time become uncertain even if their process still runs
MARK_UNCERTAIN: Final = """
    UPDATE firings SET state = 'uncertain'
    WHERE state = 'claimed' AND (
        claimed_at < $1
        OR claimed_by <> '' AND NOT EXISTS (SELECT 1 FROM processes AS p WHERE p.name = firings.claimed_by)
    )
    RETURNING schedule_id /* scope: all users */
"""

# Lets other processes make the reports of a dead process. Uses the index firings_being_reported.
RELEASE_REPORTS: Final = """
    UPDATE firings SET reported = 0, reported_by = NULL
    WHERE reported_by IS NOT NULL AND reported_by NOT IN (SELECT name FROM processes)
    /* scope: all users */
"""

MIN_CLOCK_CHANGE: Final = timedelta(minutes=1)  # smaller changes of the clock are ignored
_MAX_DUE_ROWS: Final = 50


def _claim(
    process: str, scope: tuple[str, int | None], now: datetime, limit: int
) -> Transaction[list[Firing]]:
    """Claim due times and advance schedules. If `advanced_at` is in the future, the clock was set back, and
    `due_at` is computed again. `scope`: the parameters of _SCOPE."""
    select_rewound = f"""
        SELECT {SCHEDULE.with_alias("s")} FROM schedules AS s
        WHERE s.status = 'active' AND s.repeat <> '' AND s.advanced_at > $3 AND {_SCOPE}
        /* scope: all users */
    """
    rows = yield Statement(select_rewound, (*scope, to_ms(now + MIN_CLOCK_CHANGE)))
    for schedule in map(SCHEDULE.read, rows):
        yield _advance(schedule, _time_after(schedule, now), now)
    claim = """
        INSERT INTO firings (schedule_id, due_at, user_id, state, claimed_by, claimed_at)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (schedule_id, due_at) DO NOTHING
        RETURNING schedule_id
    """
    claimed: list[Firing] = []
    select_due = f"""
        SELECT {SCHEDULE.with_alias("s")} FROM schedules AS s
        WHERE s.status = 'active' AND s.due_at <= $3 AND {_SCOPE} AND {_HAS_ROOM}
        ORDER BY s.due_at LIMIT $4 /* scope: all users */
    """
    rows = yield Statement(select_due, (*scope, to_ms(now), _MAX_DUE_ROWS))
    for schedule in map(SCHEDULE.read, rows):
        due, next_due = _choose_time(schedule, now)
        if not (yield _advance(schedule, next_due, now)):
            continue
        outcomes: list[tuple[datetime, FiringState]] = [(due, "claimed")] if due else []
        if now - schedule.due_at > MAX_LATENESS:
            outcomes.append((schedule.due_at, "missed" if schedule.kind == "reminder" else "skipped"))
        for moment, state in outcomes:
            values = (to_ms(moment), schedule.key.user_id, state, process, to_ms(now))
            is_first = yield Statement(claim, (schedule.id, *values))
            if is_first and state == "claimed":
                claimed.append(Firing(replace(schedule, due_at=moment), moment))
        if len(claimed) >= limit:
            break
    return claimed


def _time_after(schedule: Schedule, moment: datetime) -> datetime | None:
    return next_time(schedule.repeat, moment, schedule.zone, schedule.quiet)


def _next_time_in_rhythm(schedule: Schedule, now: datetime) -> datetime | None:
    if not is_hour_based(schedule.repeat):
        return _time_after(schedule, now)
    interval = timedelta(hours=parse_hours(schedule.repeat))
    lateness = max(now - schedule.due_at, timedelta())
    return _time_after(schedule, schedule.due_at + lateness // interval * interval)


def _choose_time(schedule: Schedule, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Return the time to send now, if any, and the next time. Of several late times, the last is sent."""
    due: datetime | None = schedule.due_at
    after = schedule.due_at
    if now - schedule.due_at > MAX_LATENESS:
        due, after = None, now - MAX_LATENESS - timedelta(milliseconds=1)
    if not schedule.repeat:
        return due, None
    if is_hour_based(schedule.repeat):
        return due, _next_time_in_rhythm(schedule, now)
    while (next_due := _time_after(schedule, after)) and next_due <= now:
        due = after = next_due
    return due, next_due


def _advance(schedule: Schedule, next_due: datetime | None, now: datetime) -> Statement:
    """Return a statement that sets the next time, unless the user has changed the schedule meanwhile."""
    due, status = (next_due, "active") if next_due else (schedule.due_at, "done")
    values = (to_ms(due), status, to_ms(now), to_ms(schedule.due_at))
    advance = """
        UPDATE schedules SET due_at = $3, status = $4, advanced_at = $5
        WHERE user_id = $1 AND id = $2 AND status = 'active' AND due_at = $6
        RETURNING id
    """
    return Statement(advance, (schedule.key.user_id, schedule.id, *values))


RETENTION: Final = timedelta(days=30)  # after the last time, as a message's buttons need the schedule
CLAIM_TIMEOUT: Final = timedelta(minutes=5)  # then a claim is uncertain, even if its process still runs


class ScheduleFields(TypedDict, total=False):
    guild_id: int | None
    visibility: Visibility
    repeat: str
    timezone: str
    quiet: QuietHours | None
    locale: Locale | None
    tainted: bool


class ScheduleStore(Store):
    def __init__(
        self,
        database: Database,
        *,
        clock: Clock = utc_now,
        secret_rules: SecretRules | None = None,
        process: str = "",
    ) -> None:
        super().__init__(database, clock=clock, process=process)
        self._rules = secret_rules or SecretRules()
        self.changed = asyncio.Event()  # replaced after each change

    async def add(
        self,
        key: SessionKey,
        text: str,
        due_at: datetime,
        *,
        kind: ScheduleKind = "reminder",
        target: Target = "channel",
        **fields: Unpack[ScheduleFields],
    ) -> Schedule:
        """Add a schedule; a heartbeat replaces the old. Raises TooManySchedules, or as `check` does."""
        text = self.check(text) if kind == "reminder" else ""
        target = "dm" if fields.get("visibility") == "private" and target == "channel" else target
        return await self._insert(
            Schedule(0, key, kind, text, due_at, self._clock(), target=target, **fields)
        )

    async def add_copy(self, schedule: Schedule) -> Schedule:
        """Add a copy with another id and number. Raises TooManySchedules."""
        return await self._insert(replace(schedule, created_at=self._clock()))

    async def _insert(self, new: Schedule) -> Schedule:
        key, kind = new.key, new.kind
        columns = SCHEDULE.write(new) | {"locale": str(new.locale or "")}

        def steps() -> Transaction[Schedule]:
            if kind == "heartbeat":
                drop = "DELETE FROM schedules WHERE user_id = $1 AND kind = 'heartbeat'"
                yield Statement(drop, (key.user_id,))
            elif len((yield Statement(_SELECT_KIND, (key.user_id, kind)))) >= MAX_SCHEDULES:
                raise TooManySchedules(limit=MAX_SCHEDULES)
            [row] = yield Statement(INSERT, _INSERT_PARAMETERS.pick(columns))
            yield Statement(record_last_number("schedule"), (key.user_id,))
            return SCHEDULE.read(row)

        schedule = await self._database.write(steps, [user_lock(key.user_id)])
        self._notify()
        return schedule

    async def get(self, user_id: int, schedule_id: int) -> Schedule | None:
        """Return a user's schedule, including one that ended within RETENTION."""
        return SCHEDULE.read_first(await self._database.query(SELECT, user_id, schedule_id))

    async def get_by_number(self, user_id: int, number: int) -> Schedule | None:
        sql = f"SELECT {SCHEDULE.with_alias('s')} FROM schedules AS s WHERE s.user_id = $1 AND s.number = $2"
        return SCHEDULE.read_first(await self._database.query(sql, user_id, number))

    async def list(self, user_id: int, *, kind: ScheduleKind = "reminder") -> Sequence[Schedule]:
        """List the user's active schedules, then the paused ones, by next time."""
        return [*map(SCHEDULE.read, await self._database.query(_SELECT_KIND, user_id, kind))]

    async def cancel(self, user_id: int, schedule_id: int) -> Schedule | None:
        delete = f"DELETE FROM schedules WHERE user_id = $1 AND id = $2 RETURNING {SCHEDULE.select}"
        suppress_reports = "UPDATE firings SET reported = 1 WHERE user_id = $1 AND schedule_id = $2"

        def steps() -> Transaction[Schedule | None]:
            rows = yield Statement(delete, (user_id, schedule_id))
            yield Statement(suppress_reports, (user_id, schedule_id))
            yield mark_receipts_stale(user_id, "schedule", [schedule_id] if rows else [])
            return SCHEDULE.read_first(rows)

        return await self._database.write(steps, [user_lock(user_id)])

    async def resume(self, user_id: int, schedule_id: int) -> Schedule | None:
        """Resume at the next time, or now if the only time has passed. None if it is not paused."""
        now = self._clock()
        resume = f"""
            UPDATE schedules SET status = 'active', obstacle = '', due_at = $3, advanced_at = $4
            WHERE user_id = $1 AND id = $2 AND status = 'paused'
            RETURNING {SCHEDULE.select}
        """

        def steps() -> Transaction[Schedule | None]:
            schedule = SCHEDULE.read_first((yield Statement(SELECT, (user_id, schedule_id))))
            if schedule is None:
                return None
            due = max(schedule.due_at, now)
            if schedule.repeat and schedule.due_at <= now:
                due = _next_time_in_rhythm(schedule, now) or now
            params = (user_id, schedule_id, to_ms(due), to_ms(now))
            return SCHEDULE.read_first((yield Statement(resume, params)))

        schedule = await self._database.write(steps, [user_lock(user_id), MAINTENANCE_LOCK])
        self._notify()
        return schedule

    async def change(
        self,
        user_id: int,
        schedule_id: int,
        *,
        text: str,
        planned: ScheduledTime | None = None,
        timezone: str = "",
    ) -> Schedule | None:
        """Change the text; with `planned`, also set time, repeat and zone, and resume. Raises as `check`."""
        ids = (user_id, schedule_id)
        where = f"""
            WHERE user_id = $1 AND id = $2 AND kind = 'reminder' AND status IN ('active', 'paused')
            RETURNING {SCHEDULE.select}
        """
        reword = f"""
            UPDATE schedules SET text = $3, tainted = CASE WHEN text = $3 THEN tainted ELSE 0 END {where}
        """
        batch = [Statement(reword, (*ids, self.check(text)))]
        if planned is not None:
            due_at, repeat = planned
            retime = f"""
                UPDATE schedules
                SET due_at = $3, repeat = $4, timezone = $5, advanced_at = $6,
                    status = 'active', obstacle = '' {where}
            """
            times = (to_ms(due_at), repeat, timezone, to_ms(self._clock()))
            batch.append(Statement(retime, (*ids, *times)))
        *_, rows = await self._database.transaction(batch, [user_lock(user_id)])
        self._notify()
        return SCHEDULE.read_first(rows)

    async def rezone(self, user_id: int, timezone: str) -> None:
        """Move a user's repeats to another time zone. A one-time reminder keeps its moment."""
        now = self._clock()
        last_sent = """
            SELECT max(due_at) FROM firings
            WHERE user_id = $1 AND schedule_id = $2 AND state IN ('claimed', 'sent', 'uncertain')
        """
        move = """
            UPDATE schedules SET timezone = $3, due_at = $4, advanced_at = $5 WHERE user_id = $1 AND id = $2
        """

        def steps() -> Transaction[None]:
            rows = yield Statement(_SELECT_OPEN, (user_id,))
            for old in map(SCHEDULE.read, rows):
                if old.timezone == timezone:
                    continue
                [[sent]] = yield Statement(last_sent, (user_id, old.id))
                due = _next_time_in_zone(timezone, old, now, None if sent is None else from_ms(sent))
                yield Statement(move, (user_id, old.id, timezone, to_ms(due), to_ms(now)))

        await self._database.write(steps, [user_lock(user_id), MAINTENANCE_LOCK])
        self._notify()

    async def claim_due(
        self, now: datetime, targets: Collection[Target], *, user_id: int | None = None, limit: int = 1
    ) -> Sequence[Firing]:
        """Claim due times. Record times that are more than MAX_LATENESS ago as missed."""
        scope = (json.dumps([*targets]), user_id)
        return await self._database.write(
            lambda: _claim(self._process, scope, now, limit), [MAINTENANCE_LOCK]
        )

    async def mark_sent(self, firing: Firing, message: Message, *, channel_id: int | None = None) -> None:
        """Record the outcome, and store the message. `channel_id`: its channel, if not the schedule's."""
        schedule = firing.schedule
        values = (
            *(schedule.key.user_id, channel_id or schedule.key.channel_id, message.author_id),
            *(message.author_name, message.discord_id, message.content),
            *(tool_calls_to_json(message.tool_calls), schedule.audience, to_ms(self._clock())),
            *(schedule.id, to_ms(firing.due_at), int(schedule.tainted or message.tainted)),
        )
        # A row that the gateway has stored is given to the user. If the firing was erased, nothing is stored.
        sql = """
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
        await self._database.transaction(
            [_record_outcome(firing, "sent", message.discord_id), Statement(sql, values)],
            [user_lock(schedule.key.user_id)],
        )
        self._notify()

    async def mark_skipped(self, firing: Firing) -> None:
        await self._database.transaction(
            [_record_outcome(firing, "skipped")], [user_lock(firing.schedule.key.user_id)]
        )

    async def mark_failed(self, firing: Firing, obstacle: Obstacle) -> None:
        user_id = firing.schedule.key.user_id
        pause = "UPDATE schedules SET status = 'paused', obstacle = $3 WHERE user_id = $1 AND id = $2"
        batch = [_record_outcome(firing, "failed"), Statement(pause, (user_id, firing.schedule.id, obstacle))]
        await self._database.transaction(batch, [user_lock(user_id)])

    async def mark_uncertain(self, older_than: datetime) -> int:
        """Mark old claims and claims of dead processes as uncertain. Returns the number marked."""
        batch = [Statement(MARK_UNCERTAIN, (to_ms(older_than),)), Statement(RELEASE_REPORTS)]
        rows, _ = await self._database.transaction(batch, [MAINTENANCE_LOCK])
        return len(rows)

    async def take_unreported(
        self, targets: Collection[Target], *, user_id: int | None = None
    ) -> UnreportedFirings:
        """Take one user's missed and uncertain times, each once unless a crash precedes `mark_reported`."""
        unreported = f"""
            {_SELECT_MISSED} AND f.reported = 0 AND {_SCOPE}
            ORDER BY f.user_id, f.due_at LIMIT 100 /* scope: all users */
        """
        report = """
            UPDATE firings SET reported = 1, reported_by = $4
            WHERE schedule_id = $1 AND due_at = $2 AND user_id = $3 AND reported = 0
        """

        def steps() -> Transaction[UnreportedFirings]:
            rows = yield Statement(unreported, (json.dumps([*targets]), user_id))
            by_user = groupby(map(_FIRING.read, rows), key=lambda each: each.schedule.key.user_id)
            missed = next((tuple(firings) for _, firings in by_user), ())
            for each in missed:
                yield Statement(report, (*_firing_key(each), self._process or None))
            return missed

        return await self._database.write(steps, [MAINTENANCE_LOCK])

    async def list_missed(self, user_id: int, since: datetime) -> Sequence[Firing]:
        sql = f"{_SELECT_MISSED} AND s.user_id = $1 AND f.user_id = $1 AND f.due_at >= $2 ORDER BY f.due_at"
        return [*map(_FIRING.read, await self._database.query(sql, user_id, to_ms(since)))]

    async def mark_reported(self, missed: UnreportedFirings) -> None:
        sql = "UPDATE firings SET reported_by = NULL WHERE schedule_id = $1 AND due_at = $2 AND user_id = $3"
        batch = [Statement(sql, _firing_key(each)) for each in missed]
        await self._database.transaction(batch, [user_lock(missed[0].schedule.key.user_id)])

    async def get_next_due(
        self, targets: Collection[Target], *, user_id: int | None = None
    ) -> datetime | None:
        """Return the earliest next time, which may be in the past."""
        next_due = f"""
            SELECT s.due_at FROM schedules AS s
            WHERE s.status = 'active' AND s.due_at > 0 AND {_SCOPE} AND {_HAS_ROOM}
            ORDER BY s.due_at LIMIT 1 /* scope: all users */
        """
        rows = await self._database.query(next_due, json.dumps([*targets]), user_id)
        return from_ms(rows[0][0]) if rows else None

    async def prune(self) -> None:
        schedules = "DELETE FROM schedules WHERE status = 'done' AND due_at < $1 /* scope: all users */"
        firings = "DELETE FROM firings WHERE due_at < $1 AND state <> 'claimed' /* scope: all users */"
        batch = [Statement(each, (to_ms(self._clock() - RETENTION),)) for each in (schedules, firings)]
        await self._database.transaction(batch, [MAINTENANCE_LOCK])

    def check(self, text: str) -> str:
        """Return the text as stored. Raises EmptyReminder, ReminderTooLong or SecretNotStored."""
        text = printable(text).strip()
        if is_blank(text):
            raise EmptyReminder
        if len(text) > MAX_TEXT_CHARACTERS:
            raise ReminderTooLong(limit=MAX_TEXT_CHARACTERS, length=len(text))
        self._rules.check(text)
        return text

    def _notify(self) -> None:
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()


def _firing_key(firing: Firing) -> tuple[int, int, int]:
    return (firing.schedule.id, to_ms(firing.due_at), firing.schedule.key.user_id)


def _record_outcome(firing: Firing, state: FiringState, message_id: int | None = None) -> Statement:
    update = """
        UPDATE firings SET state = $4, message_id = $5
        WHERE schedule_id = $1 AND due_at = $2 AND user_id = $3 AND state IN ('claimed', 'uncertain')
        RETURNING schedule_id
    """
    return Statement(update, (*_firing_key(firing), state, message_id))


_MIN_INTERVAL_TO_SKIP: Final = timedelta(hours=4)  # more frequent repeats skip no time in a new zone


def _next_time_in_zone(timezone: str, old: Schedule, now: datetime, sent: datetime | None) -> datetime:
    """Return the next time in a new zone: tomorrow's 7:00 if today's was sent. A repeat that begins later
    keeps its first day."""
    if not old.repeat or is_hour_based(old.repeat) or old.due_at <= now:
        return old.due_at
    new, after = replace(old, timezone=timezone), now
    if old.due_at != _time_after(old, now):
        day = old.due_at.astimezone(old.zone).date()
        after = datetime.combine(day, time(), new.zone) - timedelta(seconds=1)
    elif sent and old.due_at - sent >= _MIN_INTERVAL_TO_SKIP:
        after = sent.astimezone(old.zone).replace(tzinfo=new.zone)
    return _time_after(new, max(now, after)) or old.due_at


TABLES: Final = (
    PersonalTable("schedules", kind="schedules", time_column="created_at"),
    PersonalTable("firings", kind="deliveries", time_column="due_at"),
)


def make_stores(storage: StoreContext) -> Iterable[object]:
    yield ScheduleStore(
        storage.database, clock=storage.clock, secret_rules=storage.secret_rules, process=storage.process
    )
