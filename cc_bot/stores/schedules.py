"""What the bot is to say at a time that a user chose, and what became of each of those times.

A time is claimed before it is said, and what became of it is noted after. If the program dies in between,
nobody can know whether it was said: then it is uncertain, its user is told so, and it is not said again.
"""

import asyncio
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, time, timedelta
from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import EmptyReminder, ReminderTooLong, TooManySchedules
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Message, Visibility, is_blank
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.repeats import in_hours
from cc_bot.domain.schedule import (
    MAX_SCHEDULES,
    MAX_TEXT_CHARACTERS,
    Firing,
    FiringState,
    Obstacle,
    Place,
    Quiet,
    Schedule,
    ScheduleKind,
    Untold,
)
from cc_bot.domain.session import SessionKey
from cc_bot.storage import Database, Statement, Steps
from cc_bot.stores import schedule_statements as sql
from cc_bot.stores.claims import Claimant, claim, following_time
from cc_bot.stores.columns import from_ms, to_ms
from cc_bot.stores.message_columns import read_message, tool_calls_to_json
from cc_bot.stores.proposals import carry_out
from cc_bot.stores.schedule_statements import read_schedule
from cc_bot.stores.secret_rules import SecretRules

KEPT: Final = timedelta(days=30)
"""How long what is over is kept: its buttons still work."""
ANSWERED_WITHIN: Final = timedelta(days=1)
"""What is said in a DM later than this is no answer to a reminder any more."""
LOST_AFTER: Final = timedelta(minutes=5)
"""A time that was claimed so long ago, and of which nothing was noted, was claimed by a process that died."""


class ScheduleStore:
    """The schedules of every user."""

    def __init__(
        self, database: Database, *, clock: Clock = utc_now, secret_rules: SecretRules | None = None
    ) -> None:
        self._database = database
        self._clock = clock
        self._rules = secret_rules or SecretRules()
        self._changed = asyncio.Event()

    @property
    def changed(self) -> asyncio.Event:
        """Set as soon as something is written here that may be due earlier than all else; each change has an
        event of its own."""
        return self._changed

    async def add(
        self,
        key: SessionKey,
        text: str,
        due_at: datetime,
        *,
        kind: ScheduleKind = "reminder",
        place: Place = "channel",
        guild_id: int | None = None,
        visibility: Visibility = "public",
        repeat: str = "",
        timezone: str = "Asia/Tokyo",
        quiet: Quiet | None = None,
        locale: Locale | None = None,
        tainted: bool = False,
        proposal: Proposal | None = None,
    ) -> Schedule:
        """A new one. A heartbeat takes the place of its user's former one. What is private and would go to a
        channel goes to its user by DM.

        With a `proposal` it is carried out by that. Raises EmptyReminder, ReminderTooLong, SecretNotStored or
        TooManySchedules, and ProposalGone.
        """
        text = self.check(text) if kind == "reminder" else ""
        place = "dm" if visibility == "private" and place == "channel" else place
        values = (
            *(key.user_id, key.channel_id, key.agent, guild_id, kind, place, visibility, text),
            *(to_ms(due_at), repeat, timezone, json.dumps(asdict(quiet)) if quiet else None),
            *(to_ms(self._clock()), str(locale or ""), int(tainted)),
        )

        def steps() -> Steps[Schedule]:
            if kind == "heartbeat":
                yield Statement(sql.DROP_HEARTBEAT, (key.user_id,))
            else:
                [(count,)] = yield Statement(sql.COUNT, (key.user_id,))
                if count >= MAX_SCHEDULES:
                    raise TooManySchedules(limit=MAX_SCHEDULES)
            [row] = yield Statement(sql.INSERT, values)
            return read_schedule(row)

        schedule = await self._database.write(lambda: carry_out(proposal, steps))
        self._tell()
        return schedule

    async def get(self, user_id: int, schedule_id: int) -> Schedule | None:
        """The user's schedule of this id; also one that is over, for KEPT."""
        rows = await self._database.query(sql.SELECT, user_id, schedule_id)
        return read_schedule(rows[0]) if rows else None

    async def numbered(self, user_id: int, number: int) -> Schedule | None:
        """The user's reminder of this number, as `get` has it."""
        rows = await self._database.query(sql.SELECT_NUMBERED, user_id, number)
        return read_schedule(rows[0]) if rows else None

    async def list(self, user_id: int, *, kind: ScheduleKind = "reminder") -> Sequence[Schedule]:
        """The user's schedules that wait or are paused, the next one first."""
        return [read_schedule(row) for row in await self._database.query(sql.LIST, user_id, kind)]

    async def cancel(
        self, user_id: int, schedule_id: int, *, proposal: Proposal | None = None
    ) -> Schedule | None:
        """Delete it, and tell nothing of it any more. What it was; None where the user has no such one. With
        a `proposal` it is carried out by that; raises ProposalGone or ProposalOutdated."""
        of = (user_id, schedule_id)

        def steps() -> Steps[Schedule | None]:
            rows = yield Statement(sql.DELETE, of)
            yield Statement(sql.FORGET_FIRINGS, of)
            return read_schedule(rows[0]) if rows else None

        return await self._database.write(lambda: carry_out(proposal, steps))

    async def pause(self, user_id: int, schedule_id: int) -> Schedule | None:
        """Say nothing of it until it is resumed. None where the user has no such one that waits."""
        [rows] = await self._database.transaction([Statement(sql.PAUSE, (user_id, schedule_id))])
        return read_schedule(rows[0]) if rows else None

    async def resume(self, user_id: int, schedule_id: int) -> Schedule | None:
        """Go on with a paused one: with its next time, or now where its only time is over. None where the
        user has no such one that is paused."""
        now = self._clock()

        def steps() -> Steps[Schedule | None]:
            rows = yield Statement(sql.SELECT, (user_id, schedule_id))
            if not rows:
                return None
            schedule = read_schedule(rows[0])
            due = max(schedule.due_at, now)
            if schedule.repeat and schedule.due_at <= now:
                due = following_time(schedule, now) or now
            rows = yield Statement(sql.RESUME, (user_id, schedule_id, to_ms(due), to_ms(now)))
            return read_schedule(rows[0]) if rows else None

        schedule = await self._database.write(steps)
        self._tell()
        return schedule

    async def rezone(self, user_id: int, timezone: str) -> None:
        """Count what repeats in another time zone of the user's. What comes once keeps its moment."""
        now = self._clock()

        def steps() -> Steps[None]:
            rows = yield Statement(sql.SELECT_REPEATING, (user_id,))
            for old in map(read_schedule, rows):
                if old.timezone == timezone:
                    continue
                new = replace(old, timezone=timezone)
                moves = old.repeat and not in_hours(old.repeat) and old.due_at > now
                due = (following_time(new, max(now, _day_before(old, new))) if moves else None) or old.due_at
                yield Statement(sql.REZONE, (user_id, old.id, timezone, to_ms(due), to_ms(now)))

        await self._database.write(steps)
        self._tell()

    async def claim_due(
        self,
        now: datetime,
        places: Collection[Place],
        process: str,
        *,
        user_id: int | None = None,
        limit: int = 1,
    ) -> Sequence[Firing]:
        """Times that are to be said now, at most `limit`: nobody else is ever given one of them. What comes
        more than LATEST late is noted as missed and not returned."""
        claimant = Claimant(process, places, user_id)
        return await self._database.write(lambda: claim(claimant, now, limit))

    async def sent(self, firing: Firing, message: Message, *, channel_id: int | None = None) -> None:
        """It was said, in this message: its user's, and no session's. `channel_id` is where, if that is not
        the schedule's own channel."""
        schedule = firing.schedule
        said = (
            *(schedule.key.user_id, channel_id or schedule.key.channel_id, message.author_id),
            *(message.author_name, message.discord_id, message.content),
            *(tool_calls_to_json(message.tool_calls), schedule.heard, to_ms(self._clock())),
            *(schedule.id, to_ms(firing.due_at), int(schedule.tainted or message.tainted)),
        )
        await self._database.transaction(
            [_settled(firing, "sent", message.discord_id), Statement(sql.INSERT_SAID, said)]
        )

    async def skipped(self, firing: Firing) -> None:
        """There was nothing to say."""
        await self._database.transaction([_settled(firing, "skipped")])

    async def failed(self, firing: Firing, obstacle: Obstacle) -> None:
        """It can't be said where it should be: the schedule is paused."""
        of = (firing.schedule.key.user_id, firing.schedule.id)
        await self._database.transaction(
            [_settled(firing, "failed"), Statement(sql.OBSTRUCT, (*of, obstacle))]
        )

    async def lost(self, older_than: datetime) -> int:
        """Give up what was claimed before then and never noted; how many that were."""
        [rows] = await self._database.transaction([Statement(sql.LOSE, (to_ms(older_than),))])
        return len(rows)

    async def unreported(self, places: Collection[Place], *, user_id: int | None = None) -> Untold | None:
        """What one owner is still to be told; noted as told before it is returned, so that nobody is told
        twice. None when there is nothing for anybody."""
        whose = (sql.as_list(places), user_id)

        def steps() -> Steps[Untold | None]:
            rows = yield Statement(sql.SELECT_UNREPORTED, whose)
            found: dict[str, list[Firing]] = {"missed": [], "uncertain": []}
            owner: int | None = None
            for state, due_ms, *columns in rows:
                schedule = read_schedule(columns)
                owner = schedule.key.user_id if owner is None else owner
                if schedule.key.user_id != owner:
                    break
                found[state].append(Firing(schedule, from_ms(due_ms)))
                yield Statement(sql.REPORT, (schedule.id, due_ms, owner))
            if owner is None:
                return None
            return Untold(owner, tuple(found["missed"]), tuple(found["uncertain"]))

        return await self._database.write(steps)

    async def next_due(self, places: Collection[Place], *, user_id: int | None = None) -> datetime | None:
        """The first time of all that wait; it may be over."""
        rows = await self._database.query(sql.SELECT_NEXT, sql.as_list(places), user_id)
        return from_ms(rows[0][0]) if rows else None

    async def prune(self) -> None:
        """Delete what has been over for KEPT."""
        before = to_ms(self._clock() - KEPT)
        await self._database.transaction(
            [Statement(sql.PRUNE_DONE, (before,)), Statement(sql.PRUNE_FIRINGS, (before,))]
        )

    async def said(self, discord_id: int) -> tuple[int, Message] | None:
        """Whose reminder or heartbeat this message of Discord is, and the message."""
        rows = await self._database.query(sql.SELECT_SAID, discord_id)
        return (rows[0][0], read_message(rows[0][1:])) if rows else None

    async def last_said(self, user_id: int, channel_id: int) -> Message | None:
        """The newest reminder or heartbeat of this user in this channel, if they said nothing there since.
        What is older than ANSWERED_WITHIN is none."""
        since = to_ms(self._clock() - ANSWERED_WITHIN)
        rows = await self._database.query(sql.LAST_SAID, user_id, channel_id, since)
        return read_message(rows[0]) if rows else None

    def check(self, text: str) -> str:
        """The text as it is stored. Raises EmptyReminder, ReminderTooLong or SecretNotStored."""
        text = text.strip()
        if is_blank(text):
            raise EmptyReminder
        if len(text) > MAX_TEXT_CHARACTERS:
            raise ReminderTooLong(limit=MAX_TEXT_CHARACTERS, length=len(text))
        self._rules.check(text)
        return text

    def _tell(self) -> None:
        told, self._changed = self._changed, asyncio.Event()
        told.set()


def _settled(firing: Firing, state: FiringState, message_id: int | None = None) -> Statement:
    of = (firing.schedule.id, to_ms(firing.due_at), firing.schedule.key.user_id)
    return Statement(sql.SETTLE, (*of, state, message_id))


def _day_before(old: Schedule, new: Schedule) -> datetime:
    """The end of the day before the one that it comes on, in another time zone: it may begin in a month."""
    day = old.due_at.astimezone(old.zone).date()
    return datetime.combine(day, time(), new.zone).astimezone(UTC) - timedelta(seconds=1)
